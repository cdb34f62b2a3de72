"""Linear forms of integer expressions: sums of products, their differences, and strides."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from . import ir

Product: TypeAlias = tuple[ir.Expression, ...]
"""Factors in a fixed order. None of them is a sum, a product or a known integer; () is 1."""

Sum: TypeAlias = dict[Product, int]
"""Products with their coefficients, none of which is zero."""

_WRITTEN_OUT = ir.Binary, ir.Name, ir.Integer, ir.Select
"""Definitions of integers in terms of others."""


def expanded(
    node: ir.Expression, definitions: Mapping[str, ir.Expression], usual: bool = False
) -> Sum:
    """Return an integer as a sum of products.

    A defined name is replaced by its definition. A choice is one factor, or with ``usual`` its
    first value, since most rows and their neighbours lie inside.

    >>> from ssr.kernel.from_python import expression
    >>> found = expanded(expression("2 * (k + 1) * s - k * s"), {"k": expression("j - 1")})
    >>> [([factor.name for factor in product], n) for product, n in found.items()]
    [(['j', 's'], 1), (['s'], 1)]
    """
    match node:
        case ir.Integer(number):
            return {(): number} if number else {}
        case ir.Name(name):
            meant = definitions.get(name)
            if isinstance(meant, _WRITTEN_OUT):
                return expanded(meant, definitions, usual)
            return {(node,): 1}
        case ir.Select(then=usually) if usual:
            return expanded(usually, definitions, usual)
        case ir.Binary("+" | "-" as operator, left, right):
            found = expanded(left, definitions, usual)
            sign = 1 if operator == "+" else -1
            for product, number in expanded(right, definitions, usual).items():
                found[product] = found.get(product, 0) + sign * number
        case ir.Binary("*", left, right):
            found = {}
            others = expanded(right, definitions, usual)
            for product, number in expanded(left, definitions, usual).items():
                for other, factor in others.items():
                    both = tuple(sorted(product + other, key=repr))
                    found[both] = found.get(both, 0) + number * factor
        case _:
            return {(node,): 1}
    return {product: number for product, number in found.items() if number}


def difference(
    node: ir.Expression, other: ir.Expression, definitions: Mapping[str, ir.Expression]
) -> int | None:
    """Return the difference of two integers if it is the same always.

    >>> from ssr.kernel.from_python import expression
    >>> difference(expression("r + i"), expression("i - 2"), {"r": expression("3")})
    5
    >>> difference(expression("r + i"), expression("i - 2"), {})
    """
    found = expanded(ir.Binary("-", node, other), definitions)
    number = found.pop((), 0)
    return None if found else number


def step_of(offset: ir.Expression, variable: str, others: Collection[str] = ()) -> int | None:
    """Return the increment of an integer when a variable grows by one, if known.

    It is unknown if the integer also depends on ``others``, which may change.

    >>> from ssr.kernel.from_python import expression
    >>> [step_of(expression(text), "i") for text in ("r + 2*i + 1", "k - i", "k", "i % 2")]
    [2, -1, 0, None]
    """
    match offset:
        case ir.Integer():
            return 0
        case ir.Name(name):
            return 1 if name == variable else None if name in others else 0
        case ir.Binary("+" | "-" as operator, left, right):
            a, b = (step_of(side, variable, others) for side in (left, right))
            if a is None or b is None:
                return None
            return a + b if operator == "+" else a - b
        case ir.Binary("*", ir.Integer(factor), right):
            found = step_of(right, variable, others)
            return None if found is None else factor * found
    return None if ir.names(offset) & {variable, *others} else 0


def line_of(offset: ir.Expression) -> ir.Expression:
    """Return the offset of a row's own place on the line that an access is on.

    >>> from ssr.kernel.from_python import expression
    >>> line_of(expression("r + i - 2")) == expression("r + i")
    True
    """
    match offset:
        case ir.Binary("+" | "-", own, ir.Integer(number)) if number:
            return own
    return offset


def shift_of(offset: ir.Expression) -> int:
    """Return the constant added to the position of a row along its line.

    >>> from ssr.kernel.from_python import expression
    >>> [shift_of(expression(text)) for text in ("r + i - 2", "r + i", "i + 1")]
    [-2, 0, 1]
    """
    match offset:
        case ir.Binary("+", _, ir.Integer(number)):
            return number
        case ir.Binary("-", _, ir.Integer(number)):
            return -number
    return 0


def furthest(
    offsets: Sequence[ir.Expression],
    definitions: Mapping[str, ir.Expression],
    backwards: bool = False,
) -> ir.Expression:
    """Return the offset of the line that sweeps access first: the last one in memory.

    Backward sweeps access the first line in memory first.

    Lines are compared if their offsets differ by multiples of strides only, which are names; the
    largest group of such lines is used. Names of offsets have ``definitions``. If a neighbour is a
    choice, as on a torus, its first value is taken, which is that of rows inside.

    >>> from ssr.kernel.from_python import expression
    >>> from ssr.kernel.print_python import expression_text
    >>> lines = [expression(text) for text in ("r + i", "(k + 1) * s + i", "k * s + i")]
    >>> expression_text(furthest(lines, {"r": expression("(k - 1) * s")}))
    '(k + 1) * s + i'
    """
    groups: dict[frozenset[tuple[Product, int]], list[tuple[Sum, ir.Expression]]] = {}
    for offset in offsets:
        found = expanded(offset, definitions, usual=True)
        steps: Sum = {product: n for product, n in found.items() if len(product) == 1}
        rest = frozenset((product, n) for product, n in found.items() if len(product) != 1)
        groups.setdefault(rest, []).append((steps, offset))
    lines = max(groups.values(), key=len)
    strides = sorted({stride for steps, _ in lines for stride in steps}, key=repr)
    choose = min if backwards else max
    return choose(lines, key=lambda line: [line[0].get(stride, 0) for stride in strides])[1]
