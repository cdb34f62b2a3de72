"""Kernel IR building blocks of the virtual machine: branches, operands, loops over lines.

A line has ``length`` points with the loop index ``t``. There are ``lines`` lines with the loop
index ``a``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ssr.extension import (
    ALWAYS,
    Branch,
    call,
    choice,
    compare,
    kernel,
    let,
    load,
    loop,
    plus,
    times,
)

Block: TypeAlias = Sequence[kernel.Statement]

ZERO = let("zero", load("weights", 0))
"""The first entry of the table of weights is always zero."""


def numbered(statements: Iterable[kernel.Statement]) -> Block:
    """Return the statements that run one of several, whose number is the next operand."""
    each = list(statements)
    if len(each) == 1:
        return each
    branches: list[Branch] = [(compare("which", "==", n), [one]) for n, one in enumerate(each)]
    return [let("which", load("links", "at")), *choice([*branches[:-1], (ALWAYS, each[-1:])])]


def operands(*names: str, base: str = "at", first: int = 0) -> Block:
    """Return the statements that fetch operands."""
    return [let(name, load("links", plus(base, n))) for n, name in enumerate(names, first)]


def on_line(place: str, step: str | None = None) -> kernel.Expression:
    """Return the place of a point of a line that begins at a place; the step is 1 if not given."""
    return plus(place, "t" if step is None else times("t", step))


def of_line(place: str, step: str) -> kernel.Expression:
    """Return the place of the first point of a line."""
    return plus(place, times("a", step))


def along_line(body: Block, order: kernel.Order = "serial") -> kernel.Statement:
    """Return the loop over the points of a line."""
    return loop("t", (0, "length"), body, order)


def over_lines(
    body: Block, count: str = "lines", order: kernel.Order = "serial"
) -> kernel.Statement:
    """Return the loop over lines."""
    return loop("a", (0, count), body, order)


def weight(line: str) -> kernel.Expression:
    """Return the weight of a point of a line, whose weights begin at a place."""
    return load("weights", on_line(line))


def fma(*factors_and_sum: kernel.Expression | str) -> kernel.Expression:
    """Return a product plus a number, rounded once."""
    return call("fma", *factors_and_sum)


def added(weight: str, value: str, total: kernel.Expression | str) -> kernel.Expression:
    """Return a total plus a weight times a value, or plus zero where the weight is zero.

    Lines have zero weights where they read nothing: an infinity there must not produce NaN.
    """
    read = compare(weight, "!=", "zero")
    return fma(weight, kernel.Select(read, kernel.Name(value), kernel.Name("zero")), total)


def label(kind: str, numbers: Sequence[int]) -> str:
    """Return the name of a function that depends on some numbers."""
    return kind + "_".join(map(str, numbers))


def function(name: str, arguments: Sequence[str], body: Block) -> kernel.Function:
    """Return a function."""
    return kernel.Function(name, tuple(arguments), tuple(body))
