"""Compiled kernels refuse the arrays that the definition refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ssr.kernel import ir
from ssr.run.call_layout import layout_of
from ssr.runtime.check_layout import meet, refused
from tests.ssr.generated import INTEGER, INTEGERS, compiled, functions

View = np.ndarray[Any, Any]

KINDS = {"float64": "f8", "float32": "f4"}


@cache
def kernel(dtype: str, axes: tuple[int, ...]) -> Callable[..., int]:
    """Return a compiled function that tells whether it refuses arrays with so many axes."""
    names = [f"a{n}" for n in range(len(axes))]
    given = f"({', '.join(names)},)"
    source = f"""
def run({", ".join(names)}, layout, written):
    return 1 if refused({given}, layout, written) else 0
"""
    function = functions(source, {"refused": refused})["run"]
    arrays = [ir.Array(KINDS[dtype], n, contiguous=False) for n in axes]
    return compiled(function, [*arrays, INTEGERS, INTEGER])


@st.composite
def views(draw: st.DrawFn) -> list[View]:
    """Return views of one piece of memory, which may be misaligned and may overlap."""
    dtype = np.dtype(draw(st.sampled_from(sorted(KINDS))))
    memory = np.zeros(draw(st.sampled_from([64, 512])) * dtype.itemsize + 1, np.uint8)
    whole = memory[draw(st.sampled_from([0, 0, 0, 1])) :]
    flat = whole[: whole.size // dtype.itemsize * dtype.itemsize].view(dtype)
    made = []
    for axes in draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)):
        shape = draw(st.tuples(*[st.integers(0, 3)] * axes))
        steps = draw(st.tuples(*[st.integers(0, 9)] * axes))
        last = sum(max(n - 1, 0) * step for n, step in zip(shape, steps, strict=True))
        start = draw(st.integers(0, flat.size - last - 1))
        strides = [step * dtype.itemsize for step in steps]
        made.append(np.lib.stride_tricks.as_strided(flat[start:], shape, strides))
    return made


@given(views(), st.data())
def test_the_machine_code_refuses_what_the_definition_refuses(arrays: Any, data: Any) -> None:
    written = data.draw(st.integers(0, len(arrays)))
    layout = layout_of(arrays, data.draw(st.sampled_from([0, 1, 1])))
    if data.draw(st.booleans()):
        layout[data.draw(st.integers(2, len(layout) - 1))] += data.draw(st.sampled_from([-8, 1, 8]))
    run = kernel(arrays[0].dtype.name, tuple(a.ndim for a in arrays))
    expected = refused([SimpleNamespace(array=a) for a in arrays], layout, written)
    assert run(*arrays, layout, written) == expected


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=5), st.integers(0, 5))
def test_arrays_meet_if_a_byte_that_is_written_is_in_two(parts: Any, written: int) -> None:
    bytes_of = [set(range(start, start + length)) for start, length in parts]
    shared = any(
        bytes_of[one] & bytes_of[other]
        for one in range(min(written, len(parts)))
        for other in range(one + 1, len(parts))
    )
    lengths = [length for _, length in parts]
    inside = any(not length for length in lengths)  # what has no bytes may lie within another
    found = meet([start for start, _ in parts], lengths, min(written, len(parts)))
    assert found == shared or (found and inside)
