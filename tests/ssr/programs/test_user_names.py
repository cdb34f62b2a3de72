"""Names of sizes, fields, scalars and functions: each works, or is refused with the reason."""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr
from ssr.errors import ArgumentError
from ssr.kernel.kernel_names import RESERVED, mangled
from ssr.symbols.names import LONGEST

(n,) = ssr.sizes("n")
line = ssr.Space(n)

MARKED = ["x\u0304", "\u03c1\u0304", "\u2118", "ρ", "größe", "変数", "x\u0304_0", "_\u0304"]
"""Identifiers with letters beyond ASCII: some have combining marks, or are no letters to `re`."""

GENERATED = """
i j k l p u v w n one box real np st ld z x_0 x_s0 x_lo i_lo i_hi v1 w0 w__3c1_ u__x v__u__0 part_0
piece_0 x__0 _ __ _x __x__
""".split()  # noqa: SIM905
"""Names like those in generated source."""


def doubled(names: list[str], scalar: str) -> None:
    """Check a program whose fields and scalar have given names."""
    scope: dict[str, Any] = {}
    lines = [f"    {name}[:] = {number} * {scalar}" for number, name in enumerate(names)]
    exec("\n".join([f"def run({', '.join([*names, scalar])}):", *lines]), scope)
    kinds: dict[str, Any] = {**dict.fromkeys(names, line), scalar: ssr.scalar}
    arrays = [np.zeros(3) for _ in names]
    ssr.program(**kinds)(scope["run"])(*arrays, 2.0)
    assert [a[0] for a in arrays] == [2.0 * number for number in range(len(names))]


def test_names_beyond_ascii() -> None:
    doubled(MARKED, "dt\u0304")


def test_names_like_those_in_generated_source() -> None:
    doubled([name for name in GENERATED if name != "n"], "box_")


def test_names_of_builtins_and_of_modules() -> None:
    names = {*dir(math), *RESERVED, "njit", "math", "numba", "numpy", "self", "print", "len"}
    doubled(sorted(name for name in names if not name.startswith("__")), "float")


def test_all_names_of_python_are_spelled_apart() -> None:
    names = {*dir(builtins), *RESERVED, *GENERATED, *MARKED, "u[0]", "u[1]", "u__0", "v__u__0"}
    names |= {f"{name}[0]" for name in (*GENERATED, *MARKED)} | {"<lambda>[0]", "a_[0]", "a[0][1]"}
    made = {mangled(name) for name in names if not keyword.iskeyword(name)}
    assert len(made) == sum(not keyword.iskeyword(name) for name in names)
    assert all(name.isascii() and name.isidentifier() for name in made)
    assert not made & {*RESERVED, *dir(builtins)}


def test_data_beyond_ascii() -> None:
    scope: dict[str, Any] = {}
    exec("def scaled(i, *, ρ\u0304): yield i, ρ\u0304[i]", scope)
    scaled = ssr.matrix(rows=line, cols=line, **{"ρ\u0304": line})(scope["scaled"])
    found = scaled.bind(**{"ρ\u0304": np.array([1.0, 2.0, 3.0])}) @ np.ones(3)
    assert found.tolist() == [1, 2, 3]


def test_a_vector_field_beyond_ascii() -> None:
    scope: dict[str, Any] = {}
    exec("def run(ū, x\u0304): ū[:] = 2 * x\u0304", scope)
    x, y = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    ssr.program(**{"ū": line.vector(2), "x\u0304": line.vector(2)})(scope["run"])(y, x)
    assert (y == 2 * x).all()


ISL = """
and or not exists implies mod floor ceil floord ceild min max rat true false infty infinity nan
""".split()  # noqa: SIM905


@pytest.mark.parametrize(
    "name",
    [
        *ISL, "NaN", "NAN", "True", "None", "False", "lambda", "class", "EXISTS", "Mod", "Inf_y ",
        "i", "l_lo", "_n", "__n__", "a-b", "1n", "", "n m", "größe", "ﬁ", "n" * (LONGEST + 1),
        None, 3, 2.0, b"n", ["n"],
    ],
)  # fmt: skip
def test_names_that_cannot_name_a_size(name: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        ssr.size(name)
    assert caught.value.span is not None
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize("names", [dir(builtins), [*RESERVED, *dir(math)], GENERATED])
def test_other_names_of_sizes_work(names: list[str]) -> None:
    """Sizes have their names in sets and in kernels; names that are refused are refused early."""
    for name in names:
        try:
            size = ssr.size(name)
        except ArgumentError:
            continue
        space = ssr.Space(size, size + 1)
        A = ssr.stencil(space, space, {(0, 0): 2.0, (0, 1): 1.0}, outside="zero")
        assert A.bind(**{name: 1}).to_scipy().toarray().tolist() == [[2, 1], [0, 2]]


def test_compiled_sizes_with_names_of_builtins() -> None:
    space = ssr.Space(*ssr.sizes("range inf abs"))
    assert (ssr.stencil(space, space, {(0, 0, 0): 2.0}) @ np.ones((2, 3, 4)) == 2).all()


@pytest.mark.parametrize("name", ["ﬁ", "µ", "ª"])
def test_names_that_python_reads_as_others(name: str) -> None:
    """Python normalises names in source, so such a name cannot be that of a parameter."""

    def run(x: Any) -> None:
        x[:] = 1.0

    for declare in (
        lambda: ssr.matrix(rows=line, cols=line, **{name: line})(run),
        lambda: bc.parameter(name),
    ):
        with pytest.raises(ArgumentError, match="Python reads it as"):
            declare()
    with pytest.raises(ArgumentError):
        ssr.program(**{name: line})(run)


@pytest.mark.parametrize(
    "name", [None, 3, "", "a b", "lambda", "None", "1x", "x\n", "x" * (LONGEST + 1)]
)
def test_names_that_cannot_name_a_parameter(name: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        bc.parameter(name)
    assert caught.value.span is not None


def test_parameters_beyond_ascii() -> None:
    fill = bc.fill(ssr.Space(2).grow(1), bc.ghost_value(bc.parameter("q\u0304")))
    assert (fill.bind(**{"q\u0304": 7.0}) @ np.ones(2)).tolist() == [7, 1, 1, 7]


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, 3000])
def test_long_names(length: int) -> None:
    name = "x" * length
    scope: dict[str, Any] = {}
    exec(f"def {name}({name}): {name}[:] = 2.0\ndef run({name}): {name}[:] = 2.0", scope)
    x = np.ones(2)
    if length > LONGEST:
        for function in (scope[name], scope["run"]):
            with pytest.raises(ArgumentError, match=f"has {length} characters"):
                ssr.program(**{name: line})(function)
        return
    ssr.program(**{name: line})(scope[name])(x)
    assert (x == 2).all()


def test_a_field_with_the_name_of_a_size() -> None:
    def run(n: Any) -> None:
        n[:] = 1.0

    with pytest.raises(ArgumentError, match="The name n is both a size and a field"):
        ssr.program(n=line)(run)


def test_a_recurrence_with_the_name_of_a_size_or_of_its_data() -> None:
    def n(i: Any, done: Any) -> Any:
        yield i, 1.0 if i == 0 else 1.0 / done[i - 1, i - 1]

    with pytest.raises(ArgumentError, match="'n' is the name of the recurrence and of a size"):
        ssr.recurrence(rows=line, cols=line)(n)

    def a(i: Any, done: Any, *, a: Any) -> Any:
        yield i, a[i] if i == 0 else a[i] / done[i - 1, i - 1]

    with pytest.raises(ArgumentError, match="'a' is the name of the recurrence and of one of its"):
        ssr.recurrence(rows=line, cols=line, a=line)(a)


def second(space: ssr.Space) -> ssr.Matrix:
    return ssr.stencil(space, space, {-1: -1.0, 0: 4.0, 1: -1.0}, outside="zero")


def ends(space: ssr.Space) -> bc.Fill:
    return bc.fill(space.grow(1), bc.dirichlet(0.0))


def stored(space: ssr.Space) -> Any:
    return ssr.from_scipy(scipy.sparse.eye_array(4).tocsr(), rows=space, cols=space)


CALLS: list[tuple[str, Callable[[ssr.Space, Any], Any]]] = [
    ("x", lambda space, x: stored(space) @ x),
    ("b", lambda space, x: stored(space).tril().solve(x)),
    ("r", lambda space, x: ssr.solvers.cg(second(space), x).x),
    ("z", lambda space, x: ssr.solvers.gmres(second(space), x, M=ssr.solvers.Jacobi()).x),
    ("u", lambda space, x: ends(space) @ x),
    ("w", lambda space, x: ends(space).ghosts(x)),
    ("y", lambda space, x: (second(space.grow(1)) @ ends(space)) @ x),
]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_a_size_may_have_the_name_of_a_field(
    name: str, call: Callable[[ssr.Space, Any], Any]
) -> None:
    x = np.arange(1.0, 5.0)
    found = call(ssr.Space(ssr.size(name)), x)
    np.testing.assert_array_equal(found, call(ssr.Space(ssr.size("n")), np.arange(1.0, 5.0)))


def test_fields_of_users_keep_their_names() -> None:
    with pytest.raises(ArgumentError, match="x is both a size and a field"):

        @ssr.program(x=ssr.Space(ssr.size("x")))
        def own(x: Any) -> None:
            x[:] = 2.0 * x
