"""Loops over vectors compute what the same source computes row by row."""

from __future__ import annotations

import ctypes
import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from ssr.build import requests, vector_loops, vector_plans, windows
from ssr.runtime import internals, intrinsics, target
from tests.ssr import generated
from tests.ssr.generated import compiled, functions

pytestmark = pytest.mark.skipif(
    not (internals.are_known() and vector_loops.available()),
    reason="No loops over vectors are written for this target.",
)

HALF = target.current().lanes(64) // 2
"""Half of the doubles of a vector."""

FAR, SOON, TO_WRITE = "i32 0, i32 2", "i32 0, i32 3", "i32 1, i32 3"
"""Requests into the second-level cache and the first-level one, as LLVM writes them."""

KERNEL = """\
import numpy as np
from numba.types import Array, b1, f4, f8, i8

from ssr.runtime.intrinsics import (
    fma, independent, interleaved, ld, maximum, minimum, sign, st
)

third = {dtype}(1 / 3)


def kernel(x, y, c, off, lo, hi, test1):
    for i in {kind}(lo, hi):
{body}
    return 0


SIGNATURE = i8({array}, {array}, {own}, i8, i8, i8, b1)
"""

BODIES = {
    "sums": ("range", "st(y, off + i, ld(x, off + i - 1) + third * ld(x, off + i + 1))"),
    "several": (
        "range",
        "s = ld(x, i + off)",
        "t = fma(third, ld(x, off + i - 2), s) - ld(x, 3)",
        "st(y, off + i, (-t) / (ld(x, off + i) + third))",
        "st(c, i + off, abs(s) * np.sqrt(t))",
    ),
    "choices": (
        "range",
        "p = (ld(x, off + i) < third) | (not (ld(x, off + i + 1) >= third)) & test1",
        "st(y, off + i, (ld(x, off + i - 1) if p else ld(c, off + i)))",
    ),
    "sides": (
        "range",
        "s = (fma(third, ld(x, off + i - 1), -third)) if (i >= 4) & test1 else third",
        "t = (s + ld(c, off + i)) if (i <= hi - 3) else s",
        "st(y, off + i, (fma(third, ld(x, off + i + 1), t)) if (i <= 17) else t)",
    ),
    "extremes": (
        "range",
        "s = minimum(ld(x, off + i), third) - maximum(ld(c, off + i), third)",
        "st(y, off + i, sign(s) if ld(x, off + i) != third else third)",
    ),
    "a field at one place": ("range", "st(c, off + i, ld(x, 3) * third)"),
    "in place": ("range", "st(y, off + i, ld(y, off + i) * third)"),
    "other line": ("independent", "st(y, off + i, ld(y, i) + ld(x, off + i))"),
    "every second": ("range", "st(y, off + 2*i, ld(x, 2*i + 1) + third * ld(c, off + i))"),
    "two of each row": (
        "independent",
        "s = ld(x, 2*i) - ld(x, 2*i - 1)",
        "st(y, 2*i + off, s)",
        "st(y, off + 2*i + 1, s + ld(x, 2*i + 1))",
    ),
    "no other": ("range", "st(c, 2*i, (ld(x, 2*i + 3) if ld(x, 2*i) < third else third))"),
    "windows": (
        "range",
        "s = ld(x, off + i - 2) + third * ld(x, off + i - 1) - ld(x, off + i) * ld(x, off + i + 1)",
        "t = ld(x, i - 1) - fma(third, ld(x, i + 3), ld(x, i)) + s",
        "p = ld(c, off + i) < third",
        "u = (ld(c, off + i + 5) if p else ld(c, off + i - 3)) + ld(c, off + i + 1)",
        "st(y, off + i, (ld(x, i - 2) if p else t) + ld(x, i + 2) * u)",
    ),
    "windows two at a time": (
        "interleaved",
        "s = ld(x, off + i - 1) + third * ld(x, off + i) - ld(x, off + i + 1)",
        "t = ld(x, i - 2) - fma(third, ld(x, i + 2), ld(x, i)) + s",
        "u = ld(c, off + i) + ld(c, off + i + 1) * ld(c, i) + third * ld(c, i - 1)",
        "st(y, off + i, t * u)",
    ),
    "windows inside": (
        "range",
        "s = (ld(x, off + i - 1) if (i >= 4) & test1 else third) + ld(x, off + i)",
        "t = (s + ld(x, off + i + 1)) if (i <= hi - 3) else s",
        "u = ld(x, i - 1) + ld(x, i) * ld(x, i + 1) - ld(c, i) * ld(c, i + 1)",
        "st(y, off + i, fma(t, u, ld(c, off + i)) - ld(c, off + i - 1) * third)",
    ),
    "window of two vectors": (
        "range",
        f"s = ld(x, off + i - {HALF}) + third * ld(x, off + i - {HALF - 1}) - ld(x, off + i)",
        f"r = s * ld(x, off + i + {HALF})",
        f"t = ld(c, i - 1) - fma(third, ld(c, i + {HALF - 1}), ld(c, i))",
        f"u = t + ld(c, i + {2 * HALF - 1})",
        "st(y, off + i, r + u + ld(x, i - 2) * ld(x, i + 2) + ld(x, i))",
    ),
    "two at a time": ("interleaved", "st(y, off + i, fma(third, ld(x, off + i + 2), third))"),
}


def long_body(seed: int, length: int) -> tuple[str, ...]:
    """Return a body of many statements, whose values are used near and far.

    It changes an array at the row's own place, and reads it there before and afterwards.
    """
    rng = np.random.default_rng(seed)
    numbers, truths, lines = ["third"], ["test1"], []

    def one(names: list[str]) -> str:
        reach = len(names) if rng.random() < 0.1 else 6
        return str(rng.choice(names[-reach:]))

    for n in range(length):
        a, b, c = (one(numbers) for _ in range(3))
        match rng.integers(9):
            case 0:
                lines.append(f"p{n} = {a} < {b}")
                truths.append(f"p{n}")
                continue
            case 1:
                lines.append(f"st({rng.choice(['y', 'c'])}, off + i, {a})")
                continue
            case 2:
                value = f"ld(x, off + i + {rng.integers(-3, 4)})".replace("+ -", "- ")
            case 3:
                value = f"ld({rng.choice(['y', 'c'])}, off + i)"
            case 4:
                value = f"({a} if {one(truths)} else {b})"
            case 5:
                value = str(rng.choice([f"np.sqrt(abs({a}))", "third", a]))
            case 6:
                value = f"{a} / (third + abs({b}))"
            case _:
                value = f"fma({a}, third, {b} - {c})"
        lines.append(f"s{n} = {value}")
        numbers.append(f"s{n}")
    return "range", *lines, f"st(y, off + i, {numbers[-1]})"


SMALL = [name for name in BODIES if name != "a field at one place"]
BODIES |= {f"long {seed}": long_body(seed, vector_plans.LONG + 40 * seed) for seed in range(5)}

SERIAL = {
    "recurrence": ("range", "st(y, off + i, ld(y, off + i - 1) + ld(x, off + i))"),
    "an element of what is written": ("range", "st(y, off + i, ld(y, 60) + ld(x, off + i))"),
    "step": ("range", "st(y, off + i, ld(x, 3 * i - 2))"),
    "backwards": ("range", "st(y, off + i, ld(x, off + 20 - i))"),
    "one place": ("range", "st(y, off, ld(x, off + i))"),
    "long": (*long_body(1, 200), "st(y, off + i, ld(y, off + i - 1))"),
    "carried": ("range", "s = ld(x, off + i)", "st(y, off + i, s)", "s = s + third"),
}


def made(name: str, dtype: str, kind: str, body: tuple[str, ...]) -> dict[str, Any]:
    """Return the module of a kernel."""
    array = f"Array({'f8' if dtype == 'np.float64' else 'f4'}, 1, 'A')"
    own = array.replace("'A'", "'C'")  # of the kernel, which is no field
    lines = "\n".join(f"        {line}" for line in body)
    source = KERNEL.format(dtype=dtype, kind=kind, body=lines, array=array, own=own)
    return functions(source, {"__name__": name})


def vector_stores(module: dict[str, Any], dtype: str) -> int:
    """Return how many stores of a kernel are of whole registers, with a mask or without one."""
    bits = 64 if dtype == "np.float64" else 32
    lanes, name = target.current().lanes(bits), "double" if bits == 64 else "float"
    stores = rf"store <{lanes} x {name}>|@llvm\.masked\.store\.v{lanes}f{bits}"
    return len(re.findall(stores, optimised(module)))


def optimised(module: dict[str, Any]) -> str:
    """Return the kernel of a module as LLVM leaves it."""
    return generated.optimised(module["kernel"], module["SIGNATURE"])


@pytest.mark.parametrize("dtype", ["np.float64", "np.float32"])
@pytest.mark.parametrize("name", list(BODIES))
def test_bits_are_those_of_rows(name: str, dtype: str) -> None:
    module = made(name, dtype, *_parts(BODIES[name]))
    run = compiled(module["kernel"], module["SIGNATURE"])
    plain = intrinsics.plain(module["kernel"])
    assert vector_stores(module, dtype)
    check_bits(run, plain, dtype)


@pytest.mark.parametrize("dtype", ["np.float64", "np.float32"])
@pytest.mark.parametrize(("limit", "size"), [("SHORT", 0), ("FEW", 0), ("FEW", 2**40)])
@pytest.mark.parametrize("name", [*SMALL, "long 0"])
def test_bits_do_not_depend_on_the_size_of_fields(
    name: str, limit: str, size: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where fields are near, loops are left to LLVM; where they are far, they ask for memory."""
    monkeypatch.setattr(vector_plans, limit, 0)
    monkeypatch.setattr(requests, "FAR", size)
    module = made(f"{limit} {size} {name}", dtype, *_parts(BODIES[name]))
    run = compiled(module["kernel"], module["SIGNATURE"])
    plain = intrinsics.plain(module["kernel"])
    assert ("prefetch" in optimised(module)) <= target.current().requests
    check_bits(run, plain, dtype)


with_requests = pytest.mark.skipif(
    not target.current().requests, reason="Loops ask for no memory ahead on this target."
)


@with_requests
@pytest.mark.parametrize(("name", "few", "wanted"), [
    ("several", 0, [FAR, FAR, SOON, TO_WRITE]),  # of x and y; c is no field
    ("sums", vector_plans.FEW, [FAR, FAR, SOON, TO_WRITE]),
    ("in place", vector_plans.FEW, []),
    ("choices", vector_plans.FEW, [FAR, FAR, SOON, TO_WRITE]),
    ("other line", vector_plans.FEW, [FAR, FAR, SOON, TO_WRITE]),
])  # fmt: skip
def test_loops_ask_for_the_lines_of_fields_ahead(
    name: str, few: int, wanted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loops that read each field at one place, and nothing else, ask for nothing."""
    monkeypatch.setattr(vector_plans, "FEW", few)
    module = made(f"asks {name}", "np.float64", *_parts(BODIES[name]))
    text = optimised(module)
    found = re.findall(
        r"call void @llvm\.prefetch\.p0\(ptr [^,]+, (i32 \d, i32 \d), i32 1\)", str(text)
    )
    times = len(found) // max(len(wanted), 1)  # once in each copy of the body
    assert sorted(found) == sorted(wanted * times)
    assert bool(found) == bool(wanted)


@pytest.mark.parametrize("dtype", ["np.float64", "np.float32"])
def test_long_sums_are_computed_several_vectors_at_a_time(dtype: str) -> None:
    def stored(terms: int) -> int:
        lines = [f"s{n + 1} = fma(third, ld(x, off + i + {n % 20}), s{n})" for n in range(terms)]
        body = ("s0 = third", *lines, f"st(y, off + i, s{terms})")
        module = made(f"sums of {terms}", dtype, "range", body)
        run = compiled(module["kernel"], module["SIGNATURE"])
        check_bits(run, intrinsics.plain(module["kernel"]), dtype)
        return vector_stores(module, dtype)

    short, long = stored(3), stored(6 * target.current().together)
    assert long - short == target.current().together - 1


def check_bits(run: Any, plain: Any, dtype: str) -> None:
    """Check that a kernel computes on lines of many lengths what its source does row by row."""
    rng = np.random.default_rng(1)
    lanes = 64 // np.dtype(eval(dtype)).itemsize
    whole = 4 * lanes, 7 * lanes, 8 * lanes, 16 * lanes
    for count in (0, 1, 2, lanes - 1, lanes, lanes + 1, 3 * lanes + 5, *whole, 17 * lanes + 3):
        for first in (0, 1, lanes - 1):
            # rows beyond the arrays' ends would be found by NaNs and by what is around the views
            room = [rng.standard_normal(3 * count + 40).astype(eval(dtype)) for _ in range(3)]
            copies = [a.copy() for a in room]
            offset, lo = first + count + 4, 2
            for arrays, kernel in ((room, run), (copies, plain)):
                with np.errstate(all="ignore"):
                    kernel(*arrays, offset, lo, lo + count, bool(count & 1))
            for one, other in zip(room, copies, strict=True):
                np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8))


@pytest.mark.parametrize("name", list(SERIAL))
def test_rows_that_may_depend_on_each_other_stay_in_turn(name: str) -> None:
    module = made(name, "np.float64", *_parts(SERIAL[name]))
    run = compiled(module["kernel"], module["SIGNATURE"])
    plain = intrinsics.plain(module["kernel"])
    rng = np.random.default_rng(2)
    room = [rng.standard_normal(200) for _ in range(3)]
    copies = [a.copy() for a in room]
    run(*room, 50, 1, 60, True)
    plain(*copies, 50, 1, 60, True)
    for one, other in zip(room, copies, strict=True):
        np.testing.assert_array_equal(one, other)


@contextmanager
def guarded(count: int) -> Iterator[list[Any]]:
    """Yield some arrays of one page, which begin and end with pages that may not be touched."""
    page = mmap.PAGESIZE
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    wholes = [np.frombuffer(mmap.mmap(-1, 3 * page), np.float64) for _ in range(count)]
    each = page // 8
    edges = [edge for whole in wholes for edge in (whole[:each], whole[2 * each :])]
    for edge in edges:
        assert protect(edge.ctypes.data, page, 0) == 0
    try:
        yield [whole[each : 2 * each] for whole in wholes]
    finally:
        for edge in edges:
            protect(edge.ctypes.data, page, mmap.PROT_READ | mmap.PROT_WRITE)


@pytest.mark.parametrize("few", [vector_plans.FEW, 0])
def test_nothing_outside_of_a_line_is_touched(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few arrays vectors are the same for all fields, with more they are those of far ones."""
    monkeypatch.setattr(vector_plans, "FEW", few)
    monkeypatch.setattr(requests, "FAR", 0)
    body = "st(y, i, ld(x, i) + ld(c, i) if ld(x, i) > third else third)"
    module = made(f"guarded {few}", "np.float64", "range", (body,))
    run = compiled(module["kernel"], module["SIGNATURE"])
    with guarded(3) as arrays:
        each = len(arrays[0])
        for lo, hi in ((0, each), (0, 5), (each - 5, each), (3, each - 1), (7, 7)):
            for array in arrays:
                array[:] = 1.0
            run(*arrays, 0, lo, hi, False)
            np.testing.assert_array_equal(arrays[1][lo:hi], 2.0)


def test_of_what_tests_leave_out_nothing_is_touched() -> None:
    lines = (
        "s = (third + ld(x, i - 1)) if (i >= 1) else third",
        "st(y, i, (s + ld(c, i + 1)) if (i <= off - 2) else s)",
    )
    module = made("guarded sides", "np.float64", "range", lines)
    run = compiled(module["kernel"], module["SIGNATURE"])
    with guarded(3) as arrays:
        each = len(arrays[0])
        for array in arrays:
            array[:] = 1.0
        run(*arrays, each, 0, each, False)
        third = 1 / 3
        np.testing.assert_array_equal(arrays[1][1:-1], third + 1.0 + 1.0)
        np.testing.assert_array_equal(arrays[1][[0, -1]], third + 1.0)


@pytest.mark.parametrize("reach", [HALF + 1, 2 * HALF])
@pytest.mark.parametrize("kind", ["range", "interleaved"])
def test_outside_of_windows_nothing_is_touched(kind: str, reach: int) -> None:
    """Of the last vector of a line and the one before the first, too."""
    reads = " + ".join(f"ld({a}, i + {n})" for a in "xc" for n in range(reach + 1))
    reads += " + ld(x, i) - ld(x, i) + ld(c, i) - ld(c, i)"  # as many as windows need
    module = made(f"guarded windows {kind} {reach}", "np.float64", kind, (f"st(y, i, {reads})",))
    assert "shufflevector" in optimised(module)
    run = compiled(module["kernel"], module["SIGNATURE"])
    with guarded(3) as arrays:
        each = len(arrays[0]) - reach
        ends = [(0, stop) for stop in range(40)] + [(each - n, each) for n in range(40)]
        for lo, hi in (*ends, (0, each), (3, each - 1), (7, 7)):
            for array in arrays:
                array[:] = 1.0
            run(*arrays, 0, lo, hi, False)
            expected = np.ones(len(arrays[1]))
            expected[lo:hi] = 2.0 * (reach + 1)
            np.testing.assert_array_equal(arrays[1], expected)


@pytest.mark.parametrize("few", [vector_plans.FEW, 0])
@pytest.mark.parametrize("last", [0, 1])
def test_of_every_second_element_nothing_outside_of_a_line_is_touched(
    last: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first element is the first one of an array, and the last one the last."""
    monkeypatch.setattr(vector_plans, "FEW", few)
    monkeypatch.setattr(requests, "FAR", 0)
    body = "st(y, off + 2*i, ld(x, off + 2*i) + ld(c, off + i))"
    module = made(f"second {few}", "np.float64", "range", (body,))
    run = compiled(module["kernel"], module["SIGNATURE"])
    with guarded(3) as arrays:
        half = len(arrays[0]) // 2
        for lo, hi in ((0, half), (0, 5), (half - 5, half), (3, half - 1), (7, 7)):
            for array in arrays:
                array[:] = 1.0
            run(*arrays, last, lo, hi, False)
            expected = np.ones(2 * half)
            expected[last + 2 * lo : last + 2 * hi : 2] = 2.0
            np.testing.assert_array_equal(arrays[1], expected)


def _parts(body: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    kind, *lines = body
    return kind, tuple(lines)


@pytest.mark.parametrize("name", ["windows", "windows two at a time", "window of two vectors"])
def test_loads_along_a_line_are_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each window the last element is loaded, and others are made of it and the one before."""

    def loads() -> int:
        module = made(name, "np.float64", *_parts(BODIES[name]))
        return len(re.findall(r" = load <\d x double>", optimised(module)))

    found = loads()
    monkeypatch.setattr(windows, "MANY", 100)
    assert found < loads()
