"""Programs on ranks against the programs themselves, and what every schedule keeps to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.parallel.partition.boxes import Box, volume
from boundary.parallel.schedules.messages import Post
from ssr.compiler.kernel import Kernel, build_plain
from ssr.compiler.names import Request

from ...ssr import memory, plain

Array = np.ndarray[Any, Any]

# -- kernels -------------------------------------------------------------------------------------

_KERNELS: dict[str, Kernel] = {}


def _plain_kernel(program: Any, options: ssr.Options, dtype: str) -> Kernel:
    name = Request.of(program, options, dtype).name()
    if name not in _KERNELS:
        _KERNELS[name] = build_plain(program, options, dtype)
    return _KERNELS[name]


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Let ranks run checked source as plain Python, which compiles nothing."""
    with (
        patch("boundary.parallel.schedules.plan.build", _plain_kernel),
        patch("ssr.compiler.kernel.build", _plain_kernel),  # one rank runs programs on arrays
        patch("ssr.compiler.kernel.begin", lambda *_: None),
        patch(
            "boundary.parallel.schedules.plan.describe", lambda *given: _plain_kernel(*given).meta
        ),
    ):
        yield


@contextmanager
def plain_programs() -> Iterator[None]:
    """Let programs run as plain Python, on ranks and on arrays."""
    on_fields = ssr.Program.__call__

    def run(program: ssr.Program, *args: Any) -> Any:
        arrays = not any(isinstance(a, ssr.Value | ssr.Field | bc.Field) for a in args)
        return program.run_plain(*args) if arrays else on_fields(program, *args)

    with patch.object(ssr.Program, "__call__", run), plain_kernels():
        yield


# -- partitions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """How a grid or a space is shared out: what `boundary.distribute` takes."""

    ranks: int
    cut: tuple[int, ...] | None = None
    boxes: tuple[tuple[int, int, Box], ...] | None = None

    def spread(self, cells: Any, sizes: Mapping[str, int]) -> Any:
        return bc.distribute(
            cells, bc.simulated_ranks(self.ranks), cut=self.cut, boxes=self.boxes, **sizes
        )


def kinds_of(cells: Any) -> tuple[ssr.Space, ...]:
    """Return the cells of the blocks of each kind."""
    return cells.kinds if isinstance(cells, bc.Grid) else (cells,)


@st.composite
def parts(draw: st.DrawFn, cells: Any, sizes: Mapping[str, int], most: int = 6) -> Parts:
    """Draw a partition: the chosen one, equal parts, boxes of any sizes, or single points."""
    ranks = draw(st.integers(1, most))
    whole = [space.box(sizes) for space in kinds_of(cells)]
    axes = len(whole[0]) - int(hasattr(kinds_of(cells)[0], "blocks"))
    how = draw(st.sampled_from(["chosen", "cut", "boxes", "boxes", "points"]))
    if how == "chosen":
        return Parts(ranks)
    if how == "cut":
        return Parts(ranks, cut=draw(st.tuples(*(st.integers(1, 4) for _ in range(axes)))))
    owners = st.integers(0, ranks - 1)
    if how == "points" and sum(map(volume, whole)) <= 40:
        each = [
            [tuple((n, n + 1) for n in i) for i in product(*(range(*e) for e in w))] for w in whole
        ]
    else:
        each = [list(draw(memory.cuts(w, 5))) for w in whole]
    boxes = tuple((draw(owners), kind, box) for kind, some in enumerate(each) for box in some)
    return Parts(ranks, boxes=boxes)


# -- comparisons ---------------------------------------------------------------------------------


def serial(program: ssr.Program, args: Sequence[Any], *, compiled: bool) -> tuple[Any, ...]:
    """Run a program on arrays; return its numbers."""
    with np.errstate(all="ignore"):
        found = program(*args) if compiled else plain.run(program, *args)
    return found if isinstance(found, tuple) else () if found is None else (found,)


def scattered(on: Any, program: ssr.Program, args: Sequence[Any]) -> list[Any]:
    """Return arguments with a field instead of each array."""
    kinds = [kind for _, kind in program.signature.kinds]
    return [
        on.scatter(kind, a) if isinstance(a, np.ndarray) else a
        for kind, a in zip(kinds, args, strict=True)
    ]


def check_equal(fields: Sequence[Any], arrays: Sequence[Any], what: str) -> None:
    """Fail unless fields hold the bits of arrays."""
    for number, (field, array) in enumerate(zip(fields, arrays, strict=True)):
        if isinstance(array, np.ndarray):
            found = field.gather()
            assert found.shape == array.shape
            assert found.dtype == array.dtype
            assert plain.same(found, array), (
                f"{what}: argument {number} differs:\n{found}\nnot\n{array}\n{found - array}"
            )


def check_numbers(found: Any, wanted: tuple[Any, ...]) -> None:
    """Fail unless a program returned the bits of numbers; all NaN are one."""
    many = found if isinstance(found, tuple) else () if found is None else (found,)
    plain.check_same(np.array(many, float), np.array(wanted, float))


def check(
    program: ssr.Program,
    args: Sequence[Any],
    cells: Any,
    sizes: Mapping[str, int],
    parts: Parts,
    *,
    compiled: bool = False,
    times: int = 2,
) -> Any:
    """Fail unless a program on ranks makes the bits of the program; return it bound to fields."""
    arrays = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    on = parts.spread(cells, sizes)
    fields = scattered(on, program, args)
    bound = program.bind(*fields)
    for time in range(times):
        wanted = serial(program, arrays, compiled=compiled)
        with np.errstate(all="ignore"):
            found = bound()
        check_equal(fields, arrays, f"run {time}")
        check_numbers(found, wanted)
    check_mail(bound)
    return bound


# -- messages ------------------------------------------------------------------------------------


def check_mail(bound: Any) -> None:
    """Fail unless what ranks send is what others expect, and no value is in a message twice."""
    plan = bound._plan
    partition = plan.footprint.partition
    ranks = partition.ranks
    for made in (plan.schedule(), bound.schedule.schedule):
        for exchange in made.exchanges:
            mails = [Post(plan.footprint, exchange).mail(rank) for rank in range(ranks)]
            sent = {(m.source, m.target): m for mail in mails for m in mail.sends}
            got = {(m.source, m.target): m for mail in mails for m in mail.receives}
            assert sent == got
            assert all(source != target for source, target in sent)
            for message in sent.values():
                values = [
                    (part.array, point)
                    for part in message.parts
                    for point in product(*(range(*edge) for edge in part.points))
                ]
                assert len(values) == len(set(values)) == message.count
                places = [part.place for part in message.parts]
                ends = np.cumsum([0, *(volume(part.points) for part in message.parts)])
                assert places == ends[:-1].tolist()
                assert all(partition.owners[p.owner] == message.source for p in message.parts)
