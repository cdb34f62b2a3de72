"""Sizes, arrays and options of the runs of a program."""

from __future__ import annotations

from random import Random

from .arrays import LAYOUTS
from .cases import Run
from .spreads import ALONE
from .text import Draft

VARIANTS = (
    (("exact",), ("exact", "fuse")),
    (("exact",), ("exact", "split")),
    ((), ("fuse",)),
    ((), ("split",)),
    (("exact", "fuse"), ("exact", "recurrence")),
    (("exact",), ("exact", "partial_sums")),
    (("recurrence",), ("recurrence", "split")),
    ((), ("fold",)),
)
"""Options that are changed, in pairs that must give the same bits."""


def runs(rng: Random, draft: Draft, compiled: bool) -> tuple[Run, ...]:
    """Draw the runs of a program: other sizes, arrays and layouts under a few options."""
    names = sorted(set(draft.sizes))
    largest = draft.largest or {0: 1, 1: 11, 2: 7, 3: 4, 4: 3}[len(names)]
    dtype = rng.choice(["float64", "float64", "float64", "float32"])
    variants = [(), *(rng.choice(VARIANTS))] if not compiled else [*rng.choice(VARIANTS)]
    if compiled and rng.random() < 0.5:
        variants = [rng.choice(variants)]
    found = []
    many = 4 if not names else 8 if draft.largest else 24
    if compiled and (draft.captured or draft.local):  # there are kernels for ranks, too
        variants = variants[-1:]
    if draft.captured:  # each run is a program of its own
        many = 1 if compiled else 3
    waits = any(".solve(" in line for line in draft.lines)  # for rows of other ranks, perhaps
    likely = 1.0 if draft.captured else 0.6 if draft.local or waits else 0.15
    for seed in range(many):
        sizes = tuple((n, size(rng, largest)) for n in names)
        layouts = tuple(rng.choice(LAYOUTS) for _ in range(3))
        cuts = tuple(rng.randint(1, 3) for _ in range(4)) if rng.random() < 0.3 else ()
        before = (rng.choice(variants[-2:]),) if rng.random() < 0.15 else ()  # with its bits
        for options in dict.fromkeys(variants):
            found.append(Run(sizes, seed, dtype, layouts, options))
            if before and options == variants[-1]:
                found.append(Run(sizes, seed, dtype, layouts, options, before=before))
            if cuts and options == variants[-1]:
                found.append(Run(sizes, seed, dtype, layouts[1:], options, cuts))
            if rng.random() < likely and options == variants[-1]:
                each = tuple(rng.randint(1, 3) for _ in range(4)) if rng.random() < 0.7 else ()
                counts = [rng.randint(1, 5)]
                if draft.local and each:  # the same boxes, owned in another way
                    counts.append(ALONE if compiled and rng.random() < 0.3 else rng.randint(1, 5))
                last = (variants[-1],) * rng.choice([0, 0, 1])  # what ranks know behind a call
                turns = before + last if before else ()
                found += [Run(sizes, seed, dtype, layouts, options, each, n, turns) for n in counts]
                if turns:
                    found.append(Run(sizes, seed, dtype, layouts, options, before=turns))
    if names and rng.random() < 0.05:
        none = tuple((n, 0 if n == names[0] else 3) for n in names)
        found.append(Run(none, 0, dtype, ("plain",), variants[0]))
    return tuple(found)


def size(rng: Random, largest: int) -> int:
    """Draw an extent: small ones are likely."""
    return rng.choice([1, 2, 3, rng.randint(1, largest), rng.randint(1, largest)])
