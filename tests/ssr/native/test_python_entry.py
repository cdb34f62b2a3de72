"""The function by which Python calls a kernel reads arrays as NumPy keeps them."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from ssr.kernel import ir
from ssr.native.python_entry import Compiled
from ssr.run.call_layout import layout_of
from ssr.run.entry import entry_point
from ssr.runtime import checked
from ssr.runtime.check_layout import refused
from ssr.runtime.constants import REFUSED
from ssr.runtime.intrinsics import ld, st
from tests.ssr.generated import DOUBLE, INTEGERS, entered, functions

SOURCE = """
def seen(a, found, number):
    found[7] = a.shape[0]
    found[8] = a.shape[1]
    found[9] = a.shape[2]
    found[10] = 0 if refused((a,), found, 1) else 1
    if number == number:
        st(a, 0, number)
    return a.shape[0] * a.shape[1] * a.shape[2]
"""


@pytest.fixture(scope="module", params=["f8", "f4"])
def seen(request: pytest.FixtureRequest) -> tuple[Compiled, np.dtype[Any]]:
    """Return the function for arrays of a type, and the type."""
    function = functions(SOURCE, {"refused": refused, "st": st})["seen"]
    array = ir.Array(request.param, 3, contiguous=False, written=True)
    return entered(function, [array, INTEGERS, DOUBLE]), np.dtype(request.param)


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
    run, dtype = seen
    for a in views(dtype):
        found = layout(a)
        assert run(a, found, np.nan) == a.size
        assert tuple(found[7:]) == (*a.shape, 1)
        found[6] += dtype.itemsize
        run(a, found, np.nan)
        assert found[10] == 0


def test_the_first_element_is_where_numpy_has_it(seen: Any) -> None:
    run, dtype = seen
    for a in views(dtype):
        if a.size:
            run(a, layout(a), 2.5)
            assert a[0, 0, 0] == 2.5


def test_arrays_of_other_types_are_refused(seen: Any) -> None:
    """Whatever they are, before anything is read; those of one form do not change the next."""
    kernel, dtype = seen
    run = entry_point(kernel)
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
        assert found[10] == 1
    assert not a.any()


def test_numbers_of_python_are_taken(seen: Any) -> None:
    kernel, dtype = seen
    a = np.zeros((2, 2, 2), dtype)
    for number, meant in (2.5, 2.5), (np.float64(2.5), 2.5), (np.float32(2.5), 2.5), (-1, -1.0):
        a[...] = 0.0
        entry_point(kernel)(a, layout(a), number)
        assert a[0, 0, 0] == meant


def test_other_arguments_are_errors_of_python(seen: Any) -> None:
    kernel, dtype = seen
    a = np.zeros((2, 2, 2), dtype)
    with pytest.raises(TypeError, match="real number"):
        kernel(a, layout(a), "2.5")
    with pytest.raises(TypeError, match="another number of arguments"):
        kernel(a, layout(a))
    with pytest.raises(TypeError, match="another number of arguments"):
        kernel(a, layout(a), 1.0, 2.0)
    assert not a.any()


def test_references_are_neither_kept_nor_lost(seen: Any) -> None:
    kernel, dtype = seen
    a, found, number = np.zeros((2, 2, 2), dtype), np.array([0] * 12), float("1e3")
    kernel(a, found, number)
    before = [sys.getrefcount(each) for each in (a, found, number)]
    for _ in range(1000):
        kernel(a, found, number)
    after = [sys.getrefcount(each) for each in (a, found, number)]
    assert after == before


def test_kernels_share_one_function(seen: Any) -> None:
    """Those with other arguments, which live on when the first kernel has gone."""
    array = ir.Array("f8", written=True)
    first = entered(functions("def f(a):\n    st(a, 0, 1.0)\n", {"st": st})["f"], [array])
    text = "def g(a, b):\n    st(b, 1, ld(a, 0))\n    return 5\n"
    second = entered(functions(text, {"st": st, "ld": ld})["g"], [array, array])
    a, b = np.zeros(2), np.zeros(2)
    assert first(a) == 0
    del first
    gc.collect()
    assert second.call(a, b) == 5
    assert (a.tolist(), b.tolist()) == ([1.0, 0.0], [0.0, 1.0])


def test_an_exception_of_a_kernel_is_raised() -> None:
    text = "def f(a, s):\n    st(a, 2, s)\n    return 1\n"
    run = entered(
        functions(text, {"st": checked.st, "ld": checked.ld})["f"], [ir.Array("f8"), DOUBLE]
    )
    a = np.zeros(3)
    assert run(a, 2.0) == 1
    assert a[2] == 2.0
    for _ in range(3):
        with pytest.raises(AssertionError, match="reaches outside an array"):
            run(np.zeros(2), 2.0)
