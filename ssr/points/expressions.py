"""Translate affine expressions to integer expressions of kernel IR: sums, floors and choices."""

from __future__ import annotations

from ..kernel import ir
from ..kernel.building import compare, every
from .affine import Affine, Atom, Choice, Floor


def expression(value: Affine) -> ir.Expression:
    """Return a sum as an expression.

    >>> from ..kernel.print_python import expression_text
    >>> i = Affine.name("i")
    >>> expression_text(expression(2 * ((i + 1) // 2) - i - 1))
    '2 * ((i + 1) // 2) - i - 1'
    """
    if not value.terms:
        return ir.Integer(value.constant)
    (atom, factor), *_ = value.terms
    return added(_multiple(atom, factor), Affine(value.terms[1:], value.constant))


def added(start: ir.Expression, value: Affine) -> ir.Expression:
    """Return an expression with the terms of a sum added, one after the other."""
    for atom, factor in value.terms:
        start = ir.Binary("-" if factor < 0 else "+", start, _multiple(atom, abs(factor)))
    if value.constant:
        sign: ir.Infix = "-" if value.constant < 0 else "+"
        start = ir.Binary(sign, start, ir.Integer(abs(value.constant)))
    return start


def _multiple(atom: Atom, factor: int) -> ir.Expression:
    found = _atom(atom)
    if abs(factor) == 1:
        return found if factor > 0 else ir.Negative(found)
    return ir.Binary("*", ir.Integer(factor), found)


def _atom(atom: Atom) -> ir.Expression:
    match atom:
        case str():
            return ir.Name(atom)
        case Floor(numerator, divisor):
            return ir.Binary("//", expression(numerator), ir.Integer(divisor))
        case Choice(tests, then, orelse):
            signs = [compare(expression(test), ">=", 0) for test in tests]
            return ir.Select(every(signs), expression(then), expression(orelse))


def moved(name: str, shift: int) -> ir.Expression:
    """Return the expression of a variable plus a constant."""
    return added(ir.Name(name), Affine((), shift))


def place_test(test: Affine, axis: str) -> ir.Compare:
    """Return the test that a sum is >= 0, as one of the place along an axis where that is in it.

    >>> from ..kernel.print_python import expression_text
    >>> i, n = Affine.name("i"), Affine.name("n")
    >>> for test in (i - 1, n - i - 2, Affine.name("k")):
    ...     print(expression_text(place_test(test, "i")))
    i >= 1
    i <= n - 2
    k >= 0
    """
    along = dict(test.terms).get(axis, 0)
    place = test - along * Affine.name(axis)
    if abs(along) != 1:
        return compare(expression(test), ">=", 0)
    if along > 0:
        return compare(axis, ">=", expression(-place))
    return compare(axis, "<=", expression(place))
