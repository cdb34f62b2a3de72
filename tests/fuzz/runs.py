"""Sizes, arrays and options of the runs of a program."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

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
                found += [
                    Run(sizes, seed, dtype, layouts, options, each, n, turns, threads=seed % 2 > 0)
                    for n in counts
                ]
                if turns:
                    found.append(Run(sizes, seed, dtype, layouts, options, before=turns))
    if names and rng.random() < 0.05:
        none = tuple((n, 0 if n == names[0] else 3) for n in names)
        found.append(Run(none, 0, dtype, ("plain",), variants[0]))
    return tuple(found)


def size(rng: Random, largest: int) -> int:
    """Draw an extent: small ones are likely."""
    return rng.choice([1, 2, 3, rng.randint(1, largest), rng.randint(1, largest)])


PAIRS = (
    ((),),
    ((),),
    ((),),
    ((), ("fuse",)),
    (("exact",),),
    (("exact",), ("exact", "fuse")),
    (("recurrence",),),
    (("partial_sums",),),
)
"""Options of programs on ranks, fused and not."""
COMPILED = (((),), ((),), (("exact",),), ((), ("debug",)))
PARTITIONS = 2
"""Partitions of each set of calls: what a partition costs is most of what a program costs."""


def distributed_runs(rng: Random, draft: Draft, compiled: bool) -> tuple[Run, ...]:
    """Draw the runs of programs on ranks: on arrays, and on several partitions of their points."""
    names = sorted(set(draft.sizes))
    dtype = rng.choice(["float64", "float64", "float32"])
    variants = rng.choice(COMPILED if compiled else PAIRS)
    largest = {1: 11, 2: 6, 3: 3}[len(names)]
    found = []
    for _ in range(2):
        calls = rng.choice(["p", "pp", "pqp", "pqp", "ppp", "pqpq"])
        sizes = tuple((n, rng.choice([1, 2, 3, *range(2, largest + 1)])) for n in names)
        changed = rng.randrange(2) if len(calls) > 1 and rng.random() < 0.5 else None
        run = Run(sizes, rng.randrange(1000), dtype, calls=tuple(calls), changed=changed)
        parts = [run, *(partition(rng, run) for _ in range(PARTITIONS))]
        found += [
            replace(each, options=options, before=(options,) * (len(calls) - 1))
            for each in parts
            for options in variants
        ]
    return tuple(found)


def partition(rng: Random, run: Run) -> Run:
    """Return a run on ranks: one box for each, boxes of many cuts, or boxes of any sizes."""
    ranks, threads = rng.choice([1, 2, 2, 3, 4, 6]), rng.random() < 0.15
    shape = tuple(n for _, n in run.sizes)
    kind = rng.choice(["chosen", "cuts", "cuts", "one axis", "boxes", "boxes"])
    cuts: tuple[int, ...] = ()
    boxes: tuple[Any, ...] = ()
    if kind == "cuts":
        cuts = tuple(rng.choice([1, 2, 3, n]) for n in shape)
    elif kind == "one axis":
        axis = rng.randrange(len(shape))
        cuts = tuple(rng.choice([2, 3, n]) if a == axis else 1 for a, n in enumerate(shape))
    elif kind == "boxes":
        whole = [tuple((0, n) for n in shape)]
        pieces = halved(rng, whole, rng.choice([2, 3, 4, 6, 9]))
        owners = list(range(len(pieces)))
        rng.shuffle(owners)
        boxes = tuple((n % ranks, 0, box) for n, box in zip(owners, pieces, strict=True))
    return replace(run, ranks=ranks, threads=threads and ranks > 1, cuts=cuts, boxes=boxes)


def halved(rng: Random, boxes: list[Any], count: int) -> list[Any]:
    """Return boxes of any sizes: one after the other is cut in two."""
    for _ in range(count - 1):
        box = boxes.pop(rng.randrange(len(boxes)))
        axis = rng.randrange(len(box))
        low, high = box[axis]
        if high - low < 2:
            boxes.append(box)
            continue
        at = rng.choice([low + 1, high - 1, rng.randint(low + 1, high - 1)])
        boxes += [(*box[:axis], part, *box[axis + 1 :]) for part in ((low, at), (at, high))]
    return boxes
