"""Loops over vectors compute what the same loops compute row by row, on every processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ssr.kernel import ir
from ssr.kernel.from_python import functions_of
from ssr.kernel.print_python import expression_text, function_lines
from ssr.kernel.vector_target import AVX2, AVX512, GENERIC, Target
from ssr.kernel.vectorize import line_sides, plans, requests, windows
from tests.ssr.vector_kernels import (
    INTEGER,
    TARGETS,
    TRUTH,
    both,
    check_same,
    field,
    lengths,
    own,
    shifted,
)

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
    "choices in choices": (
        "range",
        "s = ld(x, off + i)",
        "t = ld(c, off + i) if s < third else (ld(x, off + i + 1) if test1 else third)",
        "st(y, off + i, third if test1 else (t if s > -third else ld(x, off + i - 1) + t))",
    ),
    "the same for all rows": (
        "range",
        "s = third * ld(x, 3)",
        "p = s < third",
        "t = s if p & test1 else -third",
        "st(y, off + i, np.sqrt(t) if not p else ld(c, off + i))",
        "st(c, off + i, minimum(t, s))",
    ),
    "sides": (
        "range",
        "s = (fma(third, ld(x, off + i - 1), -third)) if (i >= 4) & test1 else third",
        "t = (s + ld(c, off + i)) if (i <= hi - 3) else s",
        "st(y, off + i, (fma(third, ld(x, off + i + 1), t)) if (i <= 17) else t)",
    ),
    "two sides": (
        "range",
        "s = third + ld(x, off + i - 1) if (i >= 5) else third",
        "t = s + ld(c, off + i) if (i <= hi - 3) else s",
        "st(y, off + i, fma(third, ld(x, off + i + 1), t))",
    ),
    "sides nowhere": (
        "range", "st(y, off + i, third + ld(x, off + i) if (i >= 9) & (i <= 6) else third)",
    ),
    "sides in turn": (
        "range", "st(y, off + i, ld(y, off + i - 1) + ld(x, off + i) if (i >= 4) else third)",
    ),
    "extremes": (
        "range",
        "s = minimum(ld(x, off + i), third) - maximum(ld(c, off + i), third)",
        "st(y, off + i, sign(s) if ld(x, off + i) != third else third)",
    ),
    "a field at one place": ("range", "st(c, off + i, ld(x, 3) * third)"),
    "a number": ("range", "st(c, off + i, third)"),
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
        "range",
        "r = ld(x, off + i - 2) * third + ld(x, off + i + 2) - ld(c, off + i - 1)",
        "s = r + ld(x, off + i - 1) + third * ld(x, off + i) - ld(x, off + i + 1)",
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
    "two at a time": (
        "range",
        "s0 = third",
        *(f"s{n} = fma(third, ld(x, off + i + {n}), s{n - 1})" for n in range(1, 5)),
        *(f"s{n} = fma(third, ld(c, off + i - {n - 4}), s{n - 1})" for n in range(5, 9)),
        *(f"s{n} = fma(third, ld(x, i + {n - 9}), s{n - 1})" for n in range(9, 13)),
        "st(y, off + i, s12)",
    ),
}  # fmt: skip


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


SERIAL = {
    "recurrence": ("range", "st(y, off + i, ld(y, off + i - 1) + ld(x, off + i))"),
    "an element of an array that is written": (
        "range", "st(y, off + i, ld(y, 60) + ld(x, off + i))",
    ),
    "step": ("range", "st(y, off + i, ld(x, 3 * i - 2))"),
    "backwards": ("range", "st(y, off + i, ld(x, off + 20 - i))"),
    "one place": ("range", "st(y, off, ld(x, off + i))"),
    "carried": ("range", "s = ld(x, off + i)", "st(y, off + i, s)", "s = s + third"),
    "read afterwards": ("range", "s = ld(x, off + i)", "st(y, off + i, s)"),
}  # fmt: skip


def kernel(body: tuple[str, ...], after: str = "") -> str:
    """Return the text of a function with one loop."""
    kind, *lines = body
    inner = "".join(f"        {line}\n" for line in lines)
    return (
        "def kernel(x, y, c, off, lo, hi, test1):\n"
        f"    for i in {kind}(lo, hi):\n{inner}{after}    return 0\n"
    )


def made(text: str, target: Target, dtype: str = "float64") -> tuple[Any, Any, str]:
    """Return a function of three arrays row by row, on vectors, and the text of the latter."""
    types = field(dtype), field(dtype), own(dtype), INTEGER, INTEGER, INTEGER, TRUTH
    return both(text, types, target, dtype)


def check_bits(rows: Any, vectors: Any, dtype: str, target: Target) -> None:
    """Check that both compute the same on lines of many lengths, wherever they begin."""
    rng = np.random.default_rng(1)
    lanes = target.lanes(8 * np.dtype(dtype).itemsize) or 4
    for count in lengths(lanes):
        for shift, lo in ((0, 2), (1, 3), (lanes - 1, 2)):
            given = [rng.standard_normal(3 * count + 40).astype(dtype) for _ in range(3)]
            arrays = [shifted(array, shift) for array in given]
            rows(*given, count + 7, lo, lo + count, bool(count & 1))
            vectors(*arrays, count + 7, lo, lo + count, bool(count & 1))
            check_same(given, arrays)


every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@every_target
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", list(BODIES))
def test_bits_are_those_of_rows(name: str, dtype: str, target: Target) -> None:
    rows, vectors, text = made(kernel(BODIES[name]), target, dtype)
    assert ("vector_store" in text) == (target is not GENERIC and name != "sides in turn")
    check_bits(rows, vectors, dtype, target)


@every_target
@pytest.mark.parametrize("seed", range(3))
def test_long_bodies_run_in_parts(
    seed: int, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "LONG", 100)
    body = long_body(seed, 100 + 20 * seed)
    rows, vectors, text = made(kernel(body), target)
    assert ("scratch_numbers" in text) == (target.registers >= 32 and target is not GENERIC)
    check_bits(rows, vectors, "float64", target)


@pytest.mark.parametrize(("limit", "size"), [("SHORT", 0), ("FEW", 0), ("FEW", 2**40)])
@pytest.mark.parametrize("name", [name for name in BODIES if name != "a field at one place"])
def test_bits_do_not_depend_on_the_size_of_fields(
    name: str, limit: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where fields are near, loops are left to LLVM; where they are far, they request memory."""
    monkeypatch.setattr(plans, limit, 0)
    monkeypatch.setattr(requests, "FAR", size)
    rows, vectors, text = made(kernel(BODIES[name]), AVX512)
    check_bits(rows, vectors, "float64", AVX512)
    if not any(word in name for word in ("sides", "inside", "number")):
        assert ("seldom" in text) == (limit == "FEW" or len(BODIES[name]) > 1)


@every_target
@pytest.mark.parametrize("name", list(SERIAL))
def test_rows_that_may_depend_on_each_other_stay_in_turn(name: str, target: Target) -> None:
    after = "    st(c, 0, s)\n" if name == "read afterwards" else ""
    text = kernel(SERIAL[name], after).replace("    for", "    s = ld(x, 0)\n    for", bool(after))
    rows, vectors, found = made(text, target)
    assert "vector_" not in found
    given = [np.random.default_rng(2).standard_normal(200) for _ in range(3)]
    arrays = [array.copy() for array in given]
    rows(*given, 50, 1, 60, True)
    vectors(*arrays, 50, 1, 60, True)
    check_same(given, arrays)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("several", True), ("sums", True), ("choices", True), ("in place", False)],
)
def test_loops_request_the_lines_of_fields_ahead(name: str, wanted: bool) -> None:
    """Loops that access each field at one place, and read nothing else, request nothing."""
    _, _, text = made(kernel(BODIES[name]), AVX512)
    assert ("request(x, " in text) == ("request(y, " in text) == wanted
    assert "request(c, " not in text  # which is not a field


@pytest.mark.parametrize("terms", [3, 6, 12, 30])
@every_target
def test_long_sums_are_computed_several_vectors_at_a_time(terms: int, target: Target) -> None:
    lines = [f"s{n + 1} = fma(third, ld(x, off + i + {n % 20}), s{n})" for n in range(terms)]
    body = ("range", "s0 = third", *lines, f"st(y, off + i, s{terms})")
    rows, vectors, text = made(kernel(body), target)
    together = max(1, min(target.together, terms // plans.PER_VECTOR))
    assert text.count("vector_store") == (0 if target is GENERIC else 1 + together)
    if target is not GENERIC:
        check_bits(rows, vectors, "float64", target)


@pytest.mark.parametrize("name", ["windows", "windows two at a time"])
@pytest.mark.parametrize("target", [AVX512, AVX2], ids=lambda target: target.name)
def test_loads_along_a_line_are_one(
    name: str, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each window the last element is loaded; others are made of it and the one before."""
    found = made(kernel(BODIES[name]), target)[2].count("vector_load")
    monkeypatch.setattr(windows, "MANY", 100)
    assert found < made(kernel(BODIES[name]), target)[2].count("vector_load")


def body_of(*lines: str) -> tuple[ir.Statement, ...]:
    """Return statements in kernel IR."""
    (function,) = functions_of("def f():\n" + "".join(f"    {line}\n" for line in lines))
    return function.body


def test_rows_inside_have_no_tests() -> None:
    body = body_of(
        "s = a + ld(x, (i - 1 if i >= 1 else i)) if (i >= 1) else a",
        "t = (s if i <= n else b) if test1 & (i <= n - 2) else s",
        "st(y, i, c if u < v else t)",
    )
    found = line_sides.inside(body, "i")
    assert found is not None
    assert [(s.after, expression_text(s.place)) for s in found.sides] == [
        (True, "1"), (False, "n - 2"), (False, "n"),
    ]  # fmt: skip
    assert function_lines(ir.Function("f", (), found.body))[1:] == [
        "    s = a + ld(x, i - 1 if i >= 1 else i)",
        "    t = s if test1 else s",
        "    st(y, i, c if u < v else t)",
    ]


def test_loops_without_sides() -> None:
    assert line_sides.inside(body_of("st(y, i, a if u < v else b)"), "i") is None
    assert line_sides.inside(body_of("st(y, i, ld(x, i if i >= 0 else n))"), "i") is None
    assert line_sides.inside(body_of("st(y, i, a if j >= 0 else b)"), "i") is None


WHOLE = {
    "own place": "st(y, i, ld(x, i) + ld(c, i) if ld(x, i) > third else third)",
    "sides": "st(y, i, (ld(x, i - 1) if (i >= 1) else third)"
    " + (ld(c, i + 1) if (i <= hi - 2) else third))",
    "every second": "st(y, off + 2*i, ld(x, off + 2*i) + ld(c, off + 2*i))",
    "windows": "st(y, i, " + " + ".join(f"ld({a}, i + {n})" for a in "xc" for n in range(5)) + ")",
    "wide windows": "st(y, i, "
    + " + ".join(f"ld({a}, i + {n})" for a in "xc" for n in (0, 1, 2, 4, 8))
    + ")",
}


@every_target
@pytest.mark.parametrize("name", list(WHOLE))
@pytest.mark.parametrize("few", [plans.FEW, 0])
def test_nothing_outside_of_arrays_is_touched(
    name: str, few: int, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines begin and end where arrays do, which are as long as rows need them."""
    monkeypatch.setattr(plans, "FEW", few)
    monkeypatch.setattr(requests, "FAR", -1)
    rows, vectors, _ = made(kernel(("range", WHOLE[name])), target)
    rng = np.random.default_rng(3)
    for count in range(1, 3 * (target.lanes(64) or 2) + 3):
        long = {"every second": 2 * count - 1, "windows": count + 4, "wide windows": count + 8}
        length = long.get(name, count)
        for shift in 0, 3:
            given = [rng.standard_normal(length) for _ in range(3)]
            given[1] = given[1][: 2 * count - 1 if name == "every second" else count]
            arrays = [shifted(array, shift) for array in given]
            rows(*given, 0, 0, count, True)
            vectors(*arrays, 0, 0, count, True)
            check_same(given, arrays)
