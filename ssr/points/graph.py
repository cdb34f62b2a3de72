"""Affine index maps as isl maps: from index tuples to tuples of expressions."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any

import islpy as isl

from .affine import Affine, Choice, Floor, atom_ways

_CONTEXT = isl.DEFAULT_CONTEXT

MANY = 64
"""Number of combinations of choices in an index beyond which isl combines them."""


@lru_cache(maxsize=4096)
def graph(axes: tuple[str, ...], image: tuple[Affine, ...]) -> Any:
    """Return the map from axes to expressions of them, as isl has it."""
    names: set[str] = set()
    for expression in image:
        names |= expression.names()
    parameters = sorted(names - set(axes))
    prefix = f"[{', '.join(parameters)}] -> " if parameters else ""
    source = f"[{', '.join(axes)}]"
    if math.prod(e.ways for e in image) > MANY:
        return _combined(prefix, source, image)
    pieces = []
    for cases in product(*(e.cases() for e in image)):
        target = ", ".join(e.isl() for _, e in cases)
        tests = " and ".join(f"{t.isl()} >= 0" for found, _ in cases for t in found)
        pieces.append(f"{source} -> [{target}]{' : ' if tests else ''}{tests}")
    return isl.Map.read_from_str(_CONTEXT, f"{prefix}{{ {'; '.join(pieces)} }}")


def _combined(prefix: str, source: str, image: tuple[Affine, ...]) -> Any:
    """Return the map to expressions with many choices, of which few apply at any point."""
    known: dict[Affine, Any] = {}

    def value(expression: Affine) -> Any:
        if expression not in known:
            rest = [(atom, factor) for atom, factor in expression.terms if atom_ways(atom) > 1]
            plain = Affine(
                tuple(term for term in expression.terms if term not in rest), expression.constant
            )
            made = isl.PwAff.read_from_str(_CONTEXT, f"{prefix}{{ {source} -> [{plain.isl()}] }}")
            for atom, factor in rest:
                assert not isinstance(atom, str)
                part = chosen(atom) if isinstance(atom, Choice) else rounded(atom)
                made = made.add(part.scale_val(isl.Val.int_from_si(_CONTEXT, factor)))
            known[expression] = made.coalesce()
        return known[expression]

    def chosen(choice: Choice) -> Any:
        tests = " and ".join(f"{test.isl()} >= 0" for test in choice.tests)
        where = isl.Set.read_from_str(_CONTEXT, f"{prefix}{{ {source} : {tests} }}")
        then = value(choice.then).intersect_domain(where)
        return then.union_add(value(choice.orelse).subtract_domain(where))

    def rounded(floor: Floor) -> Any:
        divisor = isl.Val.int_from_si(_CONTEXT, floor.divisor)
        return value(floor.numerator).scale_down_val(divisor).floor()

    first, *others = (isl.Map.from_pw_aff(value(expression)) for expression in image)
    for other in others:
        first = first.flat_range_product(other)
    return first.coalesce()
