"""What Python calls to run a kernel reads arrays as NumPy keeps them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import types
from numba.types import Array, f4, f8, i8

from ssr.run.call_layout import layout_of
from ssr.run.entry import entry_point
from ssr.runtime.constants import REFUSED
from ssr.runtime.intrinsics import st
from ssr.runtime.refusals import refused
from tests.ssr.generated import compiled, functions

SOURCE = """
def seen(a, found, number):
    found[8] = a.shape[0]
    found[9] = a.shape[1]
    found[10] = a.shape[2]
    found[11] = 0 if refused((a,), found, 1) else 1
    if number == number:
        st(a, 0, number)
    return a.shape[0] * a.shape[1] * a.shape[2]
"""


@pytest.fixture(scope="module", params=["f8", "f4"])
def seen(request: pytest.FixtureRequest) -> Callable[..., int]:
    """Return the function for arrays of a type."""
    kind = {"f8": f8, "f4": f4}[request.param]
    function = functions(SOURCE, {"refused": refused, "st": st})["seen"]
    run: Callable[..., int] = compiled(function, i8(Array(kind, 3, "A"), i8[::1], kind))
    vars(run)["dtype"] = np.dtype(request.param)
    return run


def views(dtype: Any) -> list[np.ndarray[Any, Any]]:
    """Return arrays of all forms."""
    whole = np.zeros((6, 8, 10), dtype)
    return [
        whole, whole[::2, 1:, ::3], whole[::-1, :, ::-1], whole.transpose(2, 0, 1), whole[:0],
        whole[:, :1, :1], np.broadcast_to(np.zeros((1, 1, 1), dtype), (2, 3, 4)).copy("F"),
        np.frombuffer(bytearray(64 * dtype.itemsize), dtype).reshape(4, 4, 4),
        np.zeros((2, 3, 4), dtype).view(np.recarray).view(np.ndarray),
    ]  # fmt: skip


def layout(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the layout of an array, and room for what the function finds."""
    return np.array([*layout_of([a], 1), 0, 0, 0, 0])


def test_shape_and_strides_are_those_of_the_array(seen: Any) -> None:
    dtype = seen.dtype
    for a in views(dtype):
        found = layout(a)
        assert seen(a, found, dtype.type(np.nan)) == a.size
        assert tuple(found[8:]) == (*a.shape, 1)
        found[7] += dtype.itemsize
        seen(a, found, dtype.type(np.nan))
        assert found[11] == 0


def test_the_first_element_is_where_numpy_has_it(seen: Any) -> None:
    for a in views(seen.dtype):
        if a.size:
            found = layout(a)
            seen(a, found, seen.dtype.type(2.5))
            assert a[0, 0, 0] == 2.5


def test_arrays_of_other_types_are_refused(seen: Any) -> None:
    """Whatever they are, before anything is read; those of one form do not change the next."""
    dtype = seen.dtype
    run = entry_point(seen)
    a = np.zeros((2, 2, 2), dtype)
    protected = a.copy()
    protected.flags.writeable = False
    memory = np.zeros(8 * dtype.itemsize + 8, np.uint8)
    astray = memory[1 : 1 + 8 * dtype.itemsize].view(dtype).reshape(2, 2, 2)
    others = [np.zeros((2, 2, 2), kind) for kind in ("f4", "f8", "i8", "c8", "?", "O", "f2", "g")]
    wrong = [
        *(other for other in others if other.dtype != dtype), a[0], a[None], a.astype(">f8"),
        a.astype(">f4"), protected, astray, protected.astype(dtype.newbyteorder()), np.array(1.0),
    ]  # fmt: skip
    for given in (*wrong, *wrong[::-1]):
        assert run(given, layout(a), 1.0) == REFUSED
        found = layout(a)
        assert run(a, found, float("nan")) == 8
        assert found[11] == 1
    assert not a.any()


def test_numbers_of_python_are_taken(seen: Any) -> None:
    a = np.zeros((2, 2, 2), seen.dtype)
    for number in 2.5, np.float64(2.5), np.float32(2.5):
        a[...] = 0.0
        entry_point(seen)(a, layout(a), number)
        assert a[0, 0, 0] == 2.5


def test_references_are_neither_kept_nor_lost(seen: Any) -> None:
    a, found = np.zeros((2, 2, 2), seen.dtype), np.array([0] * 12)
    number = seen.dtype.type(3.0)
    seen(a, found, number)
    before = [sys.getrefcount(each) for each in (a, found, number)]
    for _ in range(1000):
        seen(a, found, number)
    after = [sys.getrefcount(each) for each in (a, found, number)]
    assert after == before


def test_a_function_without_a_result_returns_none() -> None:
    function = functions("def clear(a):\n    st(a, 0, 0.0)\n", {"st": st})["clear"]
    a = np.ones(3)
    run = compiled(function, types.none(f8[::1]))
    assert run(a) is None
    assert a.tolist() == [0.0, 1.0, 1.0]
