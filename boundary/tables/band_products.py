"""Kernel IR of band products: weighted sums of neighbours along lines, and small matrices.

The names of variables are those of `machine_functions`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ssr.extension import ALWAYS, choice, compare, kernel, let, load, loop, plus, store, times

from .machine import TAPS
from .statements import (
    ZERO,
    Block,
    added,
    along_line,
    fma,
    function,
    label,
    on_line,
    operands,
    over_lines,
    weight,
)


def product(group: Sequence[int]) -> kernel.Function:
    """Return the function that sums neighbours on lines for a group of values.

    A recipe is a list of stretches of lines, laid out as in `_stretch`. The recipe is repeated for
    each of the equal lines. ``made`` is the same memory as ``scratch``, which holds the sources.
    The separate argument saves the compiler a proof that sources and results do not overlap.
    """
    values, entries = range(sum(group)), range(sum(n * n for n in group if n > 1))
    places = [name for v in values for name in (f"slot{v}", f"source{v}")]
    stretch = [*_stretch(group, len(entries)), let("stretch", plus("stretch", 6))]
    return function(
        label("product", group),
        ["links", "at", "weights", "scratch", "made"],
        [
            *operands("recipe", "more", "times", "slot_step", "source_step", "entry_step"),
            *operands(*places, *(f"entry{e}" for e in entries), first=6),
            ZERO,
            let("stretch", plus("recipe", 1)),
            loop("n", (0, load("links", "recipe")), stretch),
        ],
    )


def _stretch(group: Sequence[int], entries: int) -> Block:
    """Return the statements that sum one stretch for a group of values.

    A stretch is a line, the position of the first value on it, the number of values, the first
    weight, the position of the first source, and whether the sums start from the values in the
    slots. The weights are ordered by neighbour. Only a group of one value can continue sums.
    """
    sums: Block = [_sums(group, entries, [let(f"v{v}_0", "zero") for v in range(sum(group))])]
    if tuple(group) == (1,):
        old = _sums(group, entries, [let("v0_0", load("made", on_line("x0")))])
        fresh = compare(plus("more", load("links", plus("stretch", 5))), "==", 0)
        sums = choice([(fresh, sums), (ALWAYS, [old])])
    first_entry = plus(times("line", "entry_step"), "place")
    return [
        *operands("line", "place", "length", "weight0", "first", base="stretch"),
        *(let(f"weight{k}", plus(f"weight{k - 1}", "length")) for k in range(1, TAPS)),
        let("begin", plus(times("line", "slot_step"), "place")),
        *([let("first_entry", first_entry)] if entries else []),
        *sums,
    ]


def _sums(group: Sequence[int], entries: int, begin: Block) -> kernel.Statement:
    """Return the loop over the values of a stretch; some statements begin each point."""
    values, step = range(sum(group)), times("a", "slot_step")
    neighbours: list[kernel.Statement] = []
    for k in range(TAPS):
        neighbours.append(let(f"w{k}", weight(f"weight{k}")))
        for v in values:
            source = load("scratch", plus(f"y{v}", "t", k))
            neighbours.append(let(f"n{v}_{k}", source))
        for v in values:
            neighbours.append(let(f"v{v}_{k + 1}", added(f"w{k}", f"n{v}_{k}", f"v{v}_{k}")))
    turned: list[kernel.Statement] = []
    results: list[str] = []
    entry = 0
    for size in group:
        vector = range(len(results), len(results) + size)
        if size > 1:
            turned += multiplied(vector, entry)
            entry += size * size
        results += [f"{'u' if size > 1 else 'v'}{v}" for v in vector]
    point = [
        *begin,
        *neighbours,
        *(let(f"v{v}", f"v{v}_{TAPS}") for v in values),
        *turned,
        *(store("made", on_line(f"x{v}"), result) for v, result in enumerate(results)),
    ]
    line = [
        *(let(f"x{v}", plus(f"slot{v}", "begin", step)) for v in values),
        *(let(f"y{v}", plus(f"source{v}", "first", times("a", "source_step"))) for v in values),
        *(
            let(f"m{e}", plus(f"entry{e}", "first_entry", times("a", "entry_step")))
            for e in range(entries)
        ),
        along_line(point, "independent"),
    ]
    return over_lines(line, "times")


def multiplied(components: Sequence[int], first: int) -> Block:
    """Return the statements for u, a matrix times a vector v; entries count from the first."""
    made: list[kernel.Statement] = []
    for row, c in enumerate(components):
        for column, d in enumerate(components):
            entry = weight(f"m{first + row * len(components) + column}")
            more = fma(entry, f"v{d}", f"u{c}_{column - 1}") if column else times(entry, f"v{d}")
            made.append(let(f"u{c}_{column}", more))
    return [*made, *(let(f"u{c}", f"u{c}_{len(components) - 1}") for c in components)]
