"""Stores past the caches change neither what is computed nor where it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr.build import streaming, vector_loops
from ssr.runtime import internals, intrinsics
from tests.ssr import generated
from tests.ssr.generated import functions

pytestmark = pytest.mark.skipif(
    not (internals.are_known() and vector_loops.available()),
    reason="Loops over vectors need vectors with masks.",
)

KERNEL = """\
import numpy as np
from numba.types import Array, f4, f8, i8

from ssr.runtime.intrinsics import fma, ld, st
{part}

def kernel(y, z, x, c, start, pitch, lo, hi):
    {around}
        for i in range(lo, hi):
{body}
    return 0


SIGNATURE = i8({array}, {array}, {array}, {own}, i8, i8, i8, i8)
"""

HERE = "start + j * pitch + i"
STREAMED = {
    "a copy": f"st(y, {HERE}, ld(x, {HERE}))",
    "neighbours": f"st(y, {HERE}, ld(x, {HERE} - 1) + fma(ld(x, {HERE}), ld(z, {HERE} + 1), c0))",
    "beside others": f"st(y, {HERE} + 1, -ld(x, {HERE}))",
}
USUAL = {
    "two arrays": f"st(y, {HERE}, ld(x, {HERE}))\nst(z, {HERE}, ld(x, {HERE}))",
    "in place": f"st(y, {HERE}, ld(x, {HERE}) + ld(y, {HERE}))",
    "an array of its own": f"st(y, {HERE}, ld(x, {HERE}) + ld(c, i))",
    "to one of its own": f"st(c, i, ld(x, {HERE}))",
}


def compiled(
    body: str, dtype: str, around: str = "for j in range(3):"
) -> tuple[Callable[..., Any], Callable[..., Any], str]:
    """Return a kernel as machine code, as plain Python, and its assembly."""
    array = f"Array({'f8' if dtype == 'float64' else 'f4'}, 1, 'A')"
    lines = "\n".join(f"            {line}" for line in body.splitlines())
    own, part = array.replace("'A'", "'C'"), f"c0 = np.{dtype}(1 / 3)\n"
    text = KERNEL.format(around=around, part=part, body=lines, array=array, own=own)
    module = functions(text, {"__name__": "streaming"})
    signature = module["SIGNATURE"]
    made = generated.compiled(module["kernel"], signature)
    text = generated.optimised(module["kernel"], signature)
    return made, intrinsics.plain(module["kernel"]), text


@pytest.fixture(autouse=True, scope="module")
def stores() -> Iterator[list[Any]]:
    """Let loops store past the caches on all processors, and arrays of all sizes; note stores."""
    noted = []
    write = streaming.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "is_available", lambda: True)
        patch.setattr(streaming, "LARGE", 0)
        patch.setattr(streaming, "write", lambda *given: noted.append(write(*given)))
        yield noted


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [*STREAMED, *USUAL])
def test_bits_are_those_of_rows(name: str, dtype: str) -> None:
    """Lines have all lengths and begin everywhere, alike or not; what lies around them stays."""
    run, plain, text = compiled((STREAMED | USUAL)[name], dtype)
    assert ("!nontemporal" in text) == (name in STREAMED)
    assert ("llvm.x86.sse.sfence" in text) == (name in STREAMED)
    rng = np.random.default_rng(3)
    for _ in range(150):
        start, lo, count = (int(rng.integers(most)) for most in (20, 5, 200))
        pitch = lo + count + int(rng.integers(20))
        room = [
            rng.standard_normal(3 * pitch + 60).astype(dtype)[int(rng.integers(8)) :]
            for _ in range(4)
        ]
        copies = [array.copy() for array in room]
        run(*room, start + 2, pitch, lo, lo + count)
        plain(*copies, start + 2, pitch, lo, lo + count)
        for one, other in zip(room, copies, strict=True):
            np.testing.assert_array_equal(one, other)


def test_small_arrays_are_stored_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LARGE", 2**60)
    run, plain, text = compiled(STREAMED["a copy"], "float64")
    assert "!nontemporal" in text
    x = np.arange(400.0)
    made, expected = (np.zeros(400) for _ in range(2))
    for kernel, y in ((run, made), (plain, expected)):
        kernel(y, x, x, x, 3, 130, 0, 125)
    np.testing.assert_array_equal(made, expected)


def test_a_loop_outside_of_others_has_no_such_stores() -> None:
    """A function that is called on each line would wait for its stores each time."""
    *_, text = compiled(STREAMED["a copy"], "float64", "j = 0\n    if lo < hi:")
    assert "!nontemporal" not in text


CELLS = ssr.Space(*ssr.sizes("ny nx"))
STAR = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
ZEROS = ssr.stencil(CELLS, CELLS, STAR, outside="drop")
AROUND = ssr.stencil(CELLS, CELLS.grow(1), STAR) @ bc.fill(CELLS.grow(1), bc.periodic())


@ssr.program(v=CELLS, u=CELLS, options=ssr.Options(cache=False))
def step(v: Any, u: Any) -> None:
    """Take a step between two fields."""
    v[:] = u + 0.25 * (ZEROS @ u)


@ssr.program(v=CELLS, w=CELLS, u=CELLS, options=ssr.Options(cache=False))
def across(v: Any, w: Any, u: Any) -> None:
    """Store two fields, one of which is read again."""
    v[:] = u + 0.25 * (ZEROS @ u)
    w[:] = v - 0.5 * (AROUND @ u)


def test_a_step_between_two_arrays_has_such_stores(stores: list[Any]) -> None:
    before, u = len(stores), np.ones((30, 40))
    step.with_options(ssr.Options(cache=False))(np.zeros_like(u), u)
    assert len(stores) > before


@given(st.integers(1, 9), st.integers(1, 90), st.integers(0, 9), st.integers(0, 9), st.data())
def test_programs(ny: int, nx: int, before: int, behind: int, data: st.DataObject) -> None:
    """Fields are parts of larger arrays, of which nothing else is written."""
    seed = data.draw(st.integers(0, 2**32 - 1))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    has_both = data.draw(st.booleans())
    rng = np.random.default_rng(seed)
    wide = [rng.integers(-9, 9, (ny + 2, before + nx + behind)).astype(dtype) for _ in range(3)]
    v, w, u = (array[1:-1, before : before + nx] for array in wide)
    expected = [array.copy() for array in wide]
    v0, w0, u0 = (array[1:-1, before : before + nx] for array in expected)
    if has_both:
        across(v, w, u)
    else:
        step(v, u)
    padded = np.pad(u0, 1)
    beside = padded[1:-1, :-2] + padded[1:-1, 2:] + padded[:-2, 1:-1] + padded[2:, 1:-1]
    v0[:] = u0 + 0.25 * (4 * u0 - beside)
    if has_both:
        turned = sum(np.roll(u0, n, axis) for n in (1, -1) for axis in (0, 1))
        w0[:] = v0 - 0.5 * (4 * u0 - turned)
    for one, other in zip(wide, expected, strict=True):
        np.testing.assert_array_equal(one, other)
