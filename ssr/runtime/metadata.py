"""The description of a kernel (metadata) that its callers need in addition to the function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from .reach import Reach

T = TypeVar("T")

ROW = 2
"""The index of the row in a finding of the debug build."""

KIND = 6
"""The index of the kind of value in a finding: 1 and -1 for infinities, 0 for NaN."""

APART = 16
"""Rows whose distance is a multiple of this number of cache lines share few cache sets."""


@dataclass(frozen=True, slots=True)
class BufferMeta:
    """A scratch buffer: its argument, the number of its nest, and its form as in `ir.Buffer`.

    Its rows run along an ``axis``; ``rows`` may be numbers of each point. Cache lines of ``near``
    numbers begin with the first point of each row, unless this is 1.
    """

    argument: str
    nest: int
    rows: int
    pad: int
    lines: int | None
    near: int
    axis: int = -1

    @property
    def before(self) -> int:
        """How many numbers stand before the first point of the first row."""
        return -(-self.pad // self.near) * self.near

    @property
    def between(self) -> int:
        """How many cache lines more than its points need lie from one row to the next."""
        return -(-2 * self.pad // self.near)

    def width(self, points: int) -> int:
        """Return how many numbers lie from one row to the next, for so many points."""
        if self.near == 1:
            return points + 2 * self.pad
        lines = -(-points // self.near) + self.between
        return (lines + (lines % APART == 0)) * self.near


@dataclass(frozen=True, slots=True)
class NestMeta:
    """A nest: what it makes, and which boxes it may run on, as in `ir.Nest`.

    ``rows`` names what has the points of its rows, where they are not those of its target. Systems
    are solved along the axis ``along``, if there is one: no box cuts their lines. What is ``local``
    takes the bounds of the box that owns its rows, too. While the outermost index advances, rows
    need so many ``planes`` of all arrays together, where boxes that are cut may have smaller ones
    and some of these are needed again.
    """

    target: str
    order: str
    earlier: tuple[tuple[int, ...], ...] | None
    whole_lines: bool
    fused: bool
    rows: str | None = None
    along: int | None = None
    local: bool = False
    planes: int = 0

    @property
    def alike(self) -> str:
        """The name of what has the points of the nest's rows."""
        return self.rows or self.target


@dataclass(frozen=True, slots=True)
class CallMeta:
    """A function of another package that the kernel calls: its name, and the fields it updates."""

    name: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredMeta:
    """An array of a stored matrix: which one, for which operand, and whether integers are wide."""

    matrix: str
    what: str
    operand: str
    wide: bool


@dataclass(frozen=True, slots=True)
class Look:
    """An array or a scalar that a step defines in a nest, and that the debug build examines.

    The ``origin`` is the number of the step in the declared program. A ``pivot`` is one over a
    pivot of systems along lines.
    """

    nest: int
    target: str
    origin: int
    pivot: bool = False


@dataclass(frozen=True, slots=True)
class UnitMeta:
    """A unit of a kernel for boxes with memory of their own: a nest, a call or a transfer.

    Attributes
    ----------
    kind
        What it is. Moves stand between all others, and before and behind them.
    number
        The number of its table among those of nests; that of calls and moves in `KernelMeta.calls`.
    reads, writes
        What a nest reads and writes of fields and temporaries. What a call reads and writes is not
        known: see its fields.
    folds
        The reductions that are made: name, kind, and row of the state, for each of its rows.
    numbers
        The names of reductions that are read.
    """

    kind: Literal["nest", "call", "move"]
    number: int
    reads: tuple[Reach, ...] = ()
    writes: tuple[Reach, ...] = ()
    folds: tuple[tuple[str, str, int], ...] = ()
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelMeta:
    """The description of a kernel for its callers.

    Attributes
    ----------
    fields
        The fields in the order of the arguments.
    temporaries
        The temporaries, each with the name of something that has the same points.
    written
        The fields and temporaries that are written.
    buffers, scalars, sizes, nests
        Scratch buffers, numbers and sizes in the order of the arguments, and nests as they run.
    loops
        How many innermost loops are expected to vectorise.
    reductions, results
        How many rows the states of reductions have, and how many numbers a call returns.
    stored
        The arrays of stored matrices, in the order of the arguments.
    debug
        Whether it is a kernel of the debug build.
    functions
        The names of the functions that the kernel is cut into.
    calls
        The functions of other packages that the kernel calls, in order.
    looks
        What the debug build examines, in the order of the steps of the program.
    whole
        The vector fields that the module's ``call`` takes as one array each.
    units
        What a kernel for boxes with memory of their own runs, in order; of other kernels nothing.
    wide
        Fields that have more points there than their caller's, each with the name of what has these
        points in the program as it was declared.
    slabs
        Temporaries that have some lines of something only: its name, an axis, the first index along
        this axis, and the one behind the last.
    made_once
        The fields that a single statement of a kernel for boxes changes.
    """

    fields: tuple[str, ...]
    temporaries: Mapping[str, str]
    written: tuple[str, ...]
    buffers: tuple[BufferMeta, ...]
    scalars: tuple[str, ...]
    sizes: tuple[str, ...]
    nests: tuple[NestMeta, ...]
    loops: int
    reductions: int
    results: int
    stored: tuple[StoredMeta, ...]
    debug: bool
    functions: tuple[str, ...]
    calls: tuple[CallMeta, ...] = ()
    looks: tuple[Look, ...] = ()
    whole: tuple[str, ...] = ()
    units: tuple[UnitMeta, ...] = ()
    wide: tuple[tuple[str, str], ...] = ()
    slabs: Mapping[str, tuple[str, int, int, int]] = field(default_factory=dict)
    made_once: tuple[str, ...] = ()

    def written_first(self, given: Sequence[T]) -> list[T]:
        """Return what is given for each field: first that of fields that are written."""
        pairs = zip(self.fields, given, strict=True)
        return [one for _, one in sorted(pairs, key=lambda pair: pair[0] not in self.written)]

    @property
    def states(self) -> int:
        """The rows of states: those of reductions, and one for what the debug build finds."""
        return self.reductions + self.debug
