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
        """The number of elements before the first point of the first row."""
        return -(-self.pad // self.near) * self.near

    @property
    def between(self) -> int:
        """The number of additional cache lines between rows beyond the lines of their points."""
        return -(-2 * self.pad // self.near)

    def width(self, points: int) -> int:
        """Return the distance in elements between rows with a number of points."""
        if self.near == 1:
            return points + 2 * self.pad
        lines = -(-points // self.near) + self.between
        return (lines + (lines % APART == 0)) * self.near


@dataclass(frozen=True, slots=True)
class NestMeta:
    """A nest: its target, and the boxes on which it may run, as in `ir.Nest`.

    ``rows`` is the name of an array with the points of its rows, if they are not those of its
    target. Systems are solved along the axis ``along``, if there is one; boxes contain whole lines
    along this axis. A ``local`` nest also takes the bounds of the box that owns its rows.
    ``planes`` is the number of planes of all arrays that are in use at a time while the outermost
    index advances, if blocking can make planes smaller and some of them are reused.
    """

    target: str
    earlier: tuple[tuple[int, ...], ...] | None
    whole_lines: bool
    fused: bool
    rows: str | None = None
    along: int | None = None
    local: bool = False
    planes: int = 0

    @property
    def alike(self) -> str:
        """The name of an array with the points of the nest's rows."""
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

    The ``origin`` is the number of the step in the traced program. A ``pivot`` is the reciprocal
    of a pivot of systems along lines.
    """

    nest: int
    target: str
    origin: int
    pivot: bool = False


@dataclass(frozen=True, slots=True)
class UnitMeta:
    """A unit of a kernel for boxes with separate memory: a nest, a call or a transfer.

    Attributes
    ----------
    kind
        The kind of the unit. There is a move before, between and after all other units.
    number
        The number of a nest's table among all nests; of calls and moves, in `KernelMeta.calls`.
    reads, writes
        The reads and writes of fields and temporaries by a nest. Those of a call are unknown; see
        its fields.
    folds
        The reductions that are computed: name, kind, and row of the state, for each of its rows.
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
        The temporaries, each with the name of an array with the same points.
    written
        The fields and temporaries that are written.
    buffers, scalars, sizes, nests
        Scratch buffers, scalars and sizes in the order of the arguments, and nests as they run.
    reductions, results
        The number of rows of the states of reductions, and of values that a call returns.
    stored
        The arrays of stored matrices, in the order of the arguments.
    debug
        Whether it is a kernel of the debug build.
    functions
        The names of the functions that the kernel is cut into.
    calls
        The functions of other packages that the kernel calls, in order.
    looks
        The values that the debug build examines, in the order of the steps of the program.
    whole
        The vector fields that the module's ``call`` takes as one array each.
    units
        The units of a kernel for boxes with separate memory, in order; empty for other kernels.
    wide
        Fields with more points than the caller's, each with the name of an array with these points
        in the program as it was traced.
    slabs
        Temporaries with only some lines of an array: its name, an axis, the first index along this
        axis, and the index after the last.
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
        """Return one item for each field, those of written fields first."""
        pairs = zip(self.fields, given, strict=True)
        return [one for _, one in sorted(pairs, key=lambda pair: pair[0] not in self.written)]

    @property
    def entry(self) -> str:
        """The name of the function that is called from outside."""
        return "call" if self.whole or self.units else "kernel"

    @property
    def states(self) -> int:
        """The number of rows of states: those of reductions, and one for the debug build."""
        return self.reductions + self.debug
