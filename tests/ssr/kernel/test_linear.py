"""Integers as sums of products."""

from __future__ import annotations

import pytest

from ssr.kernel import linear
from ssr.kernel.from_python import expression
from ssr.kernel.print_python import expression_text


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        (["a", "b", "c"], "b"),
        (["a + n", "(k + 1) * s + j * t", "k * s + (j + 9) * t"], "(k + 1) * s + j * t"),
        (["wrapped * s", "k * s", "(k + 1) * s"], "(k + 1) * s"),
        (["k * s"], "k * s"),
        (["k * s", "before * s", "k * s + 1", "after * s"], "after * s"),
    ],
)
def test_the_line_that_is_met_first(lines: list[str], last: str) -> None:
    texts = {
        "a": "k * s - t",
        "b": "k * s + 2 * t",
        "c": "(k - 1) * s + 5 * t",
        "before": "k - 1 if k >= 1 else k + n - 1",
        "after": "k + 1 if k <= n - 2 else k - n + 1",
    }
    definitions = {name: expression(text) for name, text in texts.items()}
    found = linear.furthest([expression(line) for line in lines], definitions)
    assert expression_text(found) == last


def test_the_line_that_sweeps_meet_first_that_run_backwards() -> None:
    offsets = [expression(line) for line in ("k * s", "(k - 1) * s", "a * s")]
    assert expression_text(linear.furthest(offsets, {}, backwards=True)) == "(k - 1) * s"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("(a + b) * (a - b)", "a * a - b * b", 0),
        ("2 * (n // 2) + 1", "n // 2 + n // 2", 1),
        ("n // 2", "m // 2", None),
        ("min(a, b) * 3", "3 * min(a, b) - 4", 4),
        ("(i if i >= 0 else 0) + 1", "i", None),
        ("a * b * c", "c * (b * a)", 0),
    ],
)
def test_differences(one: str, other: str, same: int | None) -> None:
    assert linear.difference(expression(one), expression(other), {}) == same


def test_definitions_of_names_are_written_out() -> None:
    definitions = {
        "r": expression("k * s + 2"),
        "k": expression("j - 1"),
        "x": expression("ld(t, 0)"),
    }
    assert linear.difference(expression("r + i"), expression("j * s + i"), definitions) is None
    assert linear.difference(expression("r + s"), expression("j * s"), definitions) == 2
    assert linear.difference(expression("x + 3"), expression("x"), definitions) == 3
