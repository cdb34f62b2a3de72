"""Split long loop bodies into parts, each of which runs on a few vectors before the next part.

The out-of-order window of a processor holds some hundred instructions. In a longer body, no
instruction of the next vector has started when the last divisions of a vector execute, whereas the
vectors of shorter bodies overlap. Parts pass values to later parts through memory, a few values
for each vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .. import ir

LENGTH = 60
"""Approximate number of statements of a part."""


class Part(NamedTuple):
    """Some statements of a body, and the names of the values that they take and hand on."""

    body: Sequence[ir.Statement]
    taken: Sequence[str] = ()
    kept: Sequence[str] = ()


def parts(body: Sequence[ir.Statement], length: int = LENGTH) -> list[Part]:
    """Return the parts of a body, cut near multiples of a length where few values are handed on.

    A value that is another name of a value from before the loop is assigned again in each part. A
    body in which a name is assigned twice is one part.

    >>> from ssr.kernel.from_python import functions_of
    >>> lines = "a = w", "b = x + a", "c = b / y", "d = c + a", "e = d / y", "f = e + c"
    >>> (function,) = functions_of(f"def f(w, x, y): {'; '.join(lines)}")
    >>> for part in parts(function.body, 3):
    ...     print([name for node in part.body for name in node.targets], part.taken, part.kept)
    ['a', 'b', 'c'] () ('c',)
    ['a', 'd', 'e', 'f'] ('c',) ()
    """
    made: dict[str, int] = {}
    for place, node in enumerate(body):
        match node:
            case ir.Let((name,)):
                if name in made:
                    return [Part(body)]
                made[name] = place
    used = [ir.names(node) & made.keys() for node in body]
    last = made | {name: place for place, some in enumerate(used) for name in some}
    again = {name for name, place in made.items() if _is_alias(body[place], made)}

    def crossing(cut: int) -> list[str]:
        return [n for n, place in made.items() if place < cut <= last[n] and n not in again]

    def cheapest(ideal: int) -> int:
        near = range(ideal - length // 4, ideal + length // 4 + 1)
        return min(near, key=lambda cut: (len(crossing(cut)), abs(cut - ideal)))

    count = max(1, round(len(body) / length))
    inner = [cheapest(n * len(body) // count) for n in range(1, count)]
    found = []
    for low, high in pairwise((0, *inner, len(body))):
        needed = set().union(*used[low:high])
        before = [name for name, place in made.items() if place < low and name in needed]
        repeated = [body[made[name]] for name in before if name in again]
        taken = tuple(name for name in before if name not in again)
        kept = tuple(name for name in crossing(high) if made[name] >= low)
        found.append(Part((*repeated, *body[low:high]), taken, kept))
    return found


def _is_alias(node: ir.Statement, made: dict[str, int]) -> bool:
    """Whether a statement gives another name to a value from outside of the body."""
    match node:
        case ir.Let(value=ir.Name(name)):
            return name not in made
    return False
