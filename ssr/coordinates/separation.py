"""Separation of variables: factorize expressions of coordinates by the variables they contain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def separated(expression: Any, symbols: Sequence[Any]) -> dict[tuple[int, ...], Any]:
    """Return the factors of an expression by the numbers of the symbols that they hold.

    Factors that share a symbol are one. The constant factor, if it is not 1, has the key ().

    >>> import sympy
    >>> r, theta, phi = sympy.symbols("r theta phi")
    >>> separated(2 * r**2 * sympy.sin(theta), [r, theta, phi])
    {(): 2, (0,): r**2, (1,): sin(theta)}
    """
    if isinstance(expression, int):
        return {} if expression == 1 else {(): expression}
    import sympy

    terms: list[tuple[frozenset[int], Any]] = []
    for part in sympy.Mul.make_args(_factored(expression)):
        axes = frozenset(n for n, s in enumerate(symbols) if s in part.free_symbols)
        together = [term for term in terms if term[0] & axes or term[0] == axes]
        for term in together:
            terms.remove(term)
            axes, part = axes | term[0], part * term[1]
        terms.append((axes, part))
    return {tuple(sorted(axes)): part for axes, part in sorted(terms, key=_order) if part != 1}


def _order(term: tuple[frozenset[int], Any]) -> list[int]:
    return sorted(term[0])


def _factored(expression: Any) -> Any:
    """Return an expression as a product, with powers, roots and values of products apart."""
    import sympy

    simple = sympy.factor(expression)
    simple = simple.replace(sympy.Abs, lambda inner: sympy.Abs(sympy.factor(inner)))
    return sympy.expand_power_base(simple)
