"""Costly values that a program computes at several places are stored, with the same bits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.compiler.pipeline import lower, simple
from ssr.lower.steps import stored_values

from .. import memory, plain
from .. import strategies as some
from ..interpret import interpret_program

Body = Callable[..., Any]

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(1)
CROSS = {(-1, 0): -1.0, (0, -1): 0.5, (0, 0): 4.0, (0, 1): -1.0, (1, 0): 0.25}
A = ssr.stencil(cells, cells, CROSS, outside="zero")


def minmod(a: Any, b: Any) -> Any:
    return ssr.where(a * b > 0.0, ssr.where(abs(a) < abs(b), a, b), 0.0)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "quotient": lambda a, b: a / (1.0 + b * b),
    "root": lambda a, b: ssr.sqrt(1.0 + a * a) + b,
    "minmod": lambda a, b: minmod(a, minmod(b, a - b)),
    "exponential": lambda a, b: ssr.exp(-a * a) / (1.0 + b * b),
}


def scaled(function: Callable[[Any, Any], Any], columns: Any = cells, *, own: bool = True) -> Any:
    """Return a matrix whose entries are values of a function at their columns."""

    @ssr.matrix(rows=cells, cols=columns, k=columns, q=columns)
    def matrix(j: Any, i: Any, *, k: Any, q: Any) -> Any:
        for (dj, di), weight in CROSS.items():
            here = j + dj, i + di
            if here in columns and (own or (dj, di) != (0, 0)):
                yield here, weight * function(k[here], q[here])

    return matrix


def stored(program: ssr.Program) -> int:
    """Return how many temporaries the program has beside those of its text."""
    before = len(program.ir.temporaries)
    return len(stored_values.stored_values(program.ir).temporaries) - before


@pytest.mark.parametrize(("name", "count"), [("sum", 0), ("root", 1), ("exponential", 1)])
def test_entries_at_their_columns_are_computed_once(name: str, count: int) -> None:
    M = scaled(FUNCTIONS[name])

    @ssr.program(y=cells, x=cells, k=cells, q=cells)
    def product(y: Any, x: Any, k: Any, q: Any) -> None:
        y[:] = M.bind(k=k, q=q) @ x

    assert stored(product) == count
    text = product.explain("program")
    assert ("once[:] is stored: 5 places read it, and computing it costs" in text) == bool(count)
    assert text.count("exp(") == (name == "exponential")
    rng = np.random.default_rng(0)
    y, x, k, q = rng.random((4, 5, 6))
    plain.run(product, y, x, k, q)
    bound = M.bind(k=k, q=q, ny=5, nx=6).to_scipy()
    np.testing.assert_allclose(y.ravel(), bound @ x.ravel(), rtol=1e-13)


def test_values_are_stored_only_at_the_points_where_they_are_read() -> None:
    """No row reads its own point, so none reads that of a space of one point."""
    M = scaled(FUNCTIONS["exponential"], own=False)

    @ssr.program(y=cells, x=cells, k=cells, q=cells)
    def product(y: Any, x: Any, k: Any, q: Any) -> None:
        y[:] = M.bind(k=k, q=q) @ x

    assert not stored(product)
    assert "its points are those of no field" in product.explain("program")


def test_values_under_a_condition_are_not_stored() -> None:
    M = scaled(lambda a, b: ssr.where(a > 0.0, ssr.log(a), b))

    @ssr.program(y=cells, x=cells, k=cells, q=cells, options=ssr.Options(debug=True))
    def product(y: Any, x: Any, k: Any, q: Any) -> None:
        y[:] = M.bind(k=k, q=q) @ x

    assert "once[j, i] = where(" in product.explain("program")  # the whole choice is
    y, x, k, q = np.ones((4, 5, 6))
    k[:] = -1.0
    product(y, x, k, q)  # no logarithm of a negative number, which would be an error


def test_an_expression_is_stored_if_it_is_read_on_several_lines() -> None:
    def body(function: Callable[[Any, Any], Any]) -> Body:
        def run(y: Any, x: Any, k: Any) -> None:
            z = function(x, k)
            y[:] = (A @ (z * k)) * z

        return run

    declare = ssr.program(y=cells, x=cells, k=cells)
    assert [stored(declare(body(f))) for f in FUNCTIONS.values()] == [0, 0, 0, 0, 1]
    text = declare(body(FUNCTIONS["root"])).explain("program")
    assert "is computed at 2 places: storing it saves 24 and costs 40." in text


def test_an_expression_of_one_line_is_not_stored() -> None:
    @ssr.program(u=cells, v=cells, x=cells, k=cells)
    def both(u: Any, v: Any, x: Any, k: Any) -> None:
        z = FUNCTIONS["exponential"](x, k)
        u[:] = z + x
        v[:] = z * k

    assert not stored(both)
    assert both.explain("source").count("np.exp(") == 1


def test_an_expression_is_not_stored_across_a_change_of_what_it_reads() -> None:
    """The matrix reads the new values at other points, and the first step the old ones."""
    M = scaled(FUNCTIONS["exponential"])

    @ssr.program(y=cells, x=cells, k=cells, q=cells)
    def change(y: Any, x: Any, k: Any, q: Any) -> None:
        y[:] = M.bind(k=k, q=q) @ x
        k[:] = k + y
        x[:] = M.bind(k=k, q=q) @ y

    assert stored(change) == 0
    rng = np.random.default_rng(0)
    given = {n: rng.random((5, 6)) for n in "yxkq"}
    meant = {n: a.copy() for n, a in given.items()}
    exact = change.with_options(ssr.Options(exact=True))
    plain.run(exact, *given.values())
    interpret_program(change.ir, meant, {}, {"ny": 5, "nx": 6})
    for name, array in given.items():
        plain.check_same(array, meant[name])


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("entries", "ghosts", "share", "use", "line", "change")),
        st.sampled_from(sorted(FUNCTIONS)),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


def body(steps: list[Any]) -> Body:
    """Return a body over fields on cells and one with ghosts."""

    def run(x: Any, y: Any, g: Any) -> None:
        shared = [x + y]
        for kind, name, first in steps:
            function = FUNCTIONS[name]
            u, v = (x, y) if first else (y, x)
            if kind == "entries":
                u[:] = scaled(function).bind(k=v, q=v) @ (u + v)
            elif kind == "ghosts":
                u[:] = u + scaled(function, wide).bind(k=g, q=g) @ g
            elif kind == "share":
                shared.append(function(u, v))
                v[:] = A @ (shared[-1] * v)
            elif kind == "use":
                z = function(u, v)
                g[cells] = z * (A @ (z + shared[-1]))
            elif kind == "line":
                u[:] = scaled(function).tril().bind(k=v, q=v).solve(shared[-1])
            else:
                g[cells] = u - v
        x[:] = shared[-1] + A @ y

    return run


@some.examples(25)
@given(STEPS, memory.seeds, st.booleans())
def test_random_programs(steps: list[Any], seed: int, fuse: bool) -> None:
    declare = ssr.program(x=cells, y=cells, g=wide, options=ssr.Options(exact=True, fuse=fuse))
    program = declare(body(steps))
    rng = np.random.default_rng(seed)
    shapes = {"x": (4, 5), "y": (4, 5), "g": (6, 7)}
    given = {n: 1.0 + memory.array(rng, shape, "float64") for n, shape in shapes.items()}
    meant = {n: a.copy() for n, a in given.items()}
    plain.run(program, *given.values())
    interpret_program(program.ir, meant, {}, {"ny": 4, "nx": 5})
    for name, array in given.items():
        plain.check_same(array, meant[name])


def test_the_random_programs_store_values() -> None:
    kinds = ("entries", "ghosts", "share", "use")
    steps = [(kind, "exponential", True) for kind in kinds]
    program = ssr.program(x=cells, y=cells, g=wide)(body(steps))
    assert stored(program) >= 2


def test_storing_keeps_the_bits_of_all_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [("entries", "root", True), ("share", "exponential", True), ("use", "root", False)]
    arrays = [np.random.default_rng(n).random((7, 9)) for n in range(2)]
    arrays.append(np.random.default_rng(2).random((9, 11)))

    def results(options: ssr.Options) -> list[bytes]:
        program = ssr.program(x=cells, y=cells, g=wide, options=options)(body(steps))
        given = [a.copy() for a in arrays]
        program(*given)
        return [a.tobytes() for a in given]

    every = [ssr.Options(cache=False), ssr.Options(cache=False, debug=True)]
    every.append(replace(every[0], fuse=False))
    found = [results(options) for options in every]
    monkeypatch.setattr(stored_values, "STORING", 10**9)
    assert [results(options) for options in every] == found
    assert found.count(found[0]) == len(found)


def test_kernels_hold_what_is_stored_in_lines() -> None:
    M = scaled(FUNCTIONS["exponential"])

    @ssr.program(y=cells, x=cells, k=cells, q=cells)
    def product(y: Any, x: Any, k: Any, q: Any) -> None:
        y[:] = M.bind(k=k, q=q) @ x

    assert len(simple(product.ir, product.options).temporaries) == 1
    lowered = lower(product.ir, product.options, "float64", "title")
    assert not lowered.program.temporaries
    assert len(lowered.nests) == 1
