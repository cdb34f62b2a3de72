"""The debug build: checked accesses, and the first infinity or NaN a statement makes."""

import re
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import NonFiniteError
from ssr.kernel import ir
from ssr.runtime import checked
from ssr.runtime.intrinsics import Memory, ld, st

from .. import plain
from ..generated import INTEGER, compiled, functions, optimised

Array = np.ndarray[Any, Any]
n, m = ssr.sizes("n m")
line, cells = ssr.Space(n), ssr.Space(m, n)
A = ssr.stencil(cells, cells, {(-1, 0): -1, (0, -1): -1, (0, 0): 4, (0, 1): -1}, outside="zero")
DEBUG = ssr.Options(debug=True)


@ssr.program(x=cells, b=cells, y=cells, options=DEBUG)
def step(x: Any, b: Any, y: Any) -> Any:
    x[:] = A.tril().solve(b - A.triu(1) @ x)
    y[:] = b + 0.5 * (A @ x)
    x[:] = ssr.sqrt(abs(A @ (x * y)))
    y[:] = x / b
    return ssr.max(y)


def data(dtype: str = "float64") -> tuple[Array, Array, Array]:
    x, b, y = np.random.default_rng(0).uniform(1, 2, size=(3, 4, 7)).astype(dtype)
    x[:] = 0
    return x, b, y


def run(program: ssr.Program, way: str, *args: Array) -> Any:
    return program(*args) if way == "compiled" else program.run_plain(*args)


WAYS = pytest.mark.parametrize("way", ["compiled", "plain"])


@WAYS
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_same_bits(way: str, dtype: str) -> None:
    made, usual = data(dtype), data(dtype)
    usual[1][:] += 3
    made[1][:] += 3
    assert run(step, way, *made) == step.with_options(ssr.Options())(*usual)
    for a, b in zip(made, usual, strict=True):
        plain.check_same(a, b)
    assert run(step, way, *made) is not None


@WAYS
def test_a_statement_that_runs_through_a_temporary(way: str) -> None:
    @ssr.program(x=cells, y=cells, options=DEBUG)
    def p(x: Any, y: Any) -> None:
        y[:] = x * x
        x[:] = ssr.sqrt(A @ x)

    assert "x_new" in p.explain("program")
    x = np.eye(4, 7)
    with pytest.raises(NonFiniteError) as caught:
        run(p, way, x, np.zeros((4, 7)))
    text = str(caught.value)
    assert "The program p makes nan in x at (0, 1)." in text
    assert "| x[:] = ssr.sqrt(A @ x)" in text
    assert "Note" not in text


@WAYS
def test_the_index_and_line(way: str) -> None:
    @ssr.program(x=cells.grow((1, 0), 0), y=cells.grow((1, 0), 0), options=DEBUG)
    def p(x: Any, y: Any) -> None:
        x[:] = x + 1
        y[:] = 1 / x

    x, y = np.ones((2, 4, 7))
    x[2, 5] = x[3, 0] = -1
    wide = np.zeros((4, 14))[:, ::1][:, :7]
    wide[:] = x
    with pytest.raises(NonFiniteError) as caught:
        run(p, way, wide, y)
    text = str(caught.value)
    assert "The program p makes inf in y at (1, 5)." in text
    assert "| y[:] = 1 / x" in text
    assert y[3, 1] == 0.5


@WAYS
def test_a_value_that_was_given(way: str) -> None:
    x, b, y = data()
    b[1, 2] = np.nan
    with pytest.raises(NonFiniteError) as caught:
        run(step, way, x, b, y)
    text = str(caught.value)
    assert "makes nan in x at (1, 2)" in text
    assert "| x[:] = A.tril().solve(b - A.triu(1) @ x)" in text
    assert "Note: b held nan at (1, 2) when the program was called" in text


@WAYS
def test_reductions(way: str) -> None:
    @ssr.program(x=line, options=DEBUG)
    def p(x: Any) -> Any:
        x[:] = x + 0.0
        return ssr.dot(x, x)

    with pytest.raises(NonFiniteError, match="makes inf in dot"):
        run(p, way, np.full(3, 1e200))


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_DEBUG", "1")

    @ssr.program(x=line)
    def p(x: Any) -> None:
        x[:] = ssr.log(x)

    assert p.options.debug
    assert "from ssr.runtime.checked import ld, require, st" in p.explain("source")
    with pytest.raises(NonFiniteError, match=r"makes -inf in x at \(1\)"):
        p(np.array([1.0, 0.0, -1.0]))
    with pytest.raises(NonFiniteError, match="makes nan in y"):
        ssr.diagonal(line, np.array([1.0, np.nan])) @ np.ones(2)


def test_accesses_are_checked() -> None:
    def peek(a: Any, place: int) -> int:
        checked.st(a, place, checked.ld(a, place) + 1.0)
        return 0

    scope = {"ld": checked.ld, "st": checked.st, "real": np.float64}
    source = "def kernel(a, place):\n    st(a, place, ld(a, place) + real(1.0))\n    return 0\n"
    made = functions(source, scope)["kernel"]
    kernel = compiled(made, [ir.Array("f8", 2, contiguous=False), INTEGER], overlapping=True)
    array = np.zeros((3, 4))[:, :3]
    for place in 0, 10:
        kernel(array, place)
        assert array.ravel()[0 if place == 0 else -1] == 1.0
    for place in -1, 11, 2**40:
        with pytest.raises(AssertionError, match="reaches outside an array"):
            kernel(array, place)
        with pytest.raises(AssertionError):
            peek(Memory(array), place)


def test_checks_raise_in_a_process_that_has_loaded_numba() -> None:
    """Numba gives LLVM other addresses for the names that Python has for its exceptions."""
    numba = pytest.importorskip("numba")
    assert numba.njit(lambda x: x + 1)(1) == 2
    test_accesses_are_checked()


def promised(text: str) -> bool:
    return re.search(r"define internal .*@scaled\(.*noalias", text) is not None


def test_kernels_of_the_debug_build_have_no_aliasing_promise() -> None:
    text = "def scaled(a, b):\n    st(a, 0, 2.0 * ld(b, 1))\n"
    scaled = functions(text, {"ld": ld, "st": st})["scaled"]
    types = [ir.Array("f8", contiguous=False)] * 2
    assert promised(optimised(scaled, types))
    assert not promised(optimised(scaled, types, overlapping=True))


def test_it_runs_the_loops_of_every_other_build() -> None:
    @ssr.program(x=cells, b=cells, y=cells)
    def p(x: Any, b: Any, y: Any) -> Any:
        t = ssr.materialize(b * x)
        x[:] = x + 0.5 * t
        x[:] = A.tril().solve(b - A.triu(1) @ x)
        y[:] = A @ t + x
        return ssr.dot(x, y)

    for stage in "program", "loops":
        assert p.with_options(DEBUG).explain(stage) == p.explain(stage)


@WAYS
def test_a_temporary_that_is_not_stored(way: str) -> None:
    """What is bad is a value of the temporary, which no field is given."""

    @ssr.program(x=cells, y=cells, options=DEBUG)
    def p(x: Any, y: Any) -> None:
        t = ssr.materialize(1 / x)
        y[:] = ssr.where(x > 0, A @ t, 0.0)

    x = np.ones((4, 7))
    x[2, 5] = 0
    with pytest.raises(NonFiniteError, match=r"makes inf in \w+ at \(2, 5\)"):
        run(p, way, x, np.zeros((4, 7)))


@WAYS
def test_the_first_step_and_row_are_told(way: str) -> None:
    """Steps share loops: the second one makes a bad value at a row before the first one does."""

    @ssr.program(x=cells, y=cells, z=cells, options=DEBUG)
    def p(x: Any, y: Any, z: Any) -> None:
        y[:] = 1 / x
        z[:] = ssr.log(x - 1)

    x = np.full((4, 7), 2.0)
    x[3, 1] = x[3, 0] = 0
    x[0, 0] = 1
    with pytest.raises(NonFiniteError, match=r"makes inf in y at \(3, 0\)"):
        run(p, way, x, np.zeros((4, 7)), np.zeros((4, 7)))
