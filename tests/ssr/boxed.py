"""Run kernels for boxes with memory of their own, and do the exchanges slowly, unit by unit.

Before each unit every storage is made again: it holds what the unit says that it reads, and `HOLE`
everywhere else. After it, what has changed must be what the unit says that it writes. Each element
is taken from the box that owns it: beyond their rows boxes leave values that later steps of the
nest would change.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

import ssr
from ssr import ir
from ssr.extension import AXES, Run, declaration
from ssr.run.call_layout import buffer_elements
from ssr.run.check_arrays import read_first
from ssr.runtime.metadata import UnitMeta
from ssr.runtime.reach import Reach, region
from ssr.runtime.sums import STATE, combined, shares
from ssr.spaces.binding import match_sizes
from ssr.spaces.space import Box

from . import driven

Array = np.ndarray[Any, Any]
Cuts = Sequence[Sequence[int]]
"""For each axis the indices at which boxes begin, but the first ones."""

HOLE = {
    np.dtype("float64"): np.array(0x7FF8DEADBEEF0001, np.uint64).view(np.float64)[()],
    np.dtype("float32"): np.array(0x7FC5BEEF, np.uint32).view(np.float32)[()],
}
"""NaN with bits that no arithmetic makes."""

GAP = 3
"""Numbers between storages that belong to none."""


class Boxed:
    """A program that runs on boxes with memory of their own.

    Parameters
    ----------
    program
        The program, compiled for such boxes.
    args
        Its arguments, of which arrays are changed as by the program itself.
    cuts
        Where the axes are cut.
    compiled
        Whether to run machine code, or plain Python, which alone takes vector fields apart.
    """

    def __init__(
        self, program: ssr.Program, args: Sequence[Any], cuts: Cuts, *, compiled: bool = False
    ) -> None:
        self.declaration = declared = declaration(program)
        arrays = program._arrays(tuple(args))
        self.dtype = arrays[0].dtype
        launcher = program._launcher if compiled else program._plain
        self.kernel = launcher.kernel(self.dtype.name)
        self.meta = self.kernel.meta
        named = read_first(declared.named(arrays), declared.written)
        self.sizes = match_sizes([(n, s, a.shape) for n, s, a in named], declared.sizes)
        self.spaces = declared.spaces
        self.points = dict(zip(self.meta.fields, arrays, strict=True))
        for name, alike in self.meta.temporaries.items():
            shape = self.spaces[alike].extent(self.sizes)
            self.points[name] = np.full(shape, np.nan, self.dtype)
        self.wide = dict(self.meta.wide)
        self.callers = {name: self.points[name] for name in self.wide}
        for name, alike in self.wide.items():
            shape = self.spaces[alike].extent(self.sizes)
            self.points[name] = np.full(shape, np.nan, self.dtype)
        for name, values in self.callers.items():
            self.points[name][self.there(name, self.spaces[name].box(self.sizes))] = values
        numbers = [args[place] for place in declared.numbers]
        self.scalars = [self.dtype.type(v) for v in (*numbers, *declared.constants)]
        self.cuts = cuts
        self.state = np.zeros((self.meta.reductions, STATE), np.int64)
        self.results = np.zeros(self.meta.results)

    # -- where things lie ------------------------------------------------------------------------

    def lower(self, array: str) -> tuple[int, ...]:
        """Return the first index of an array's points."""
        alike = self.wide.get(array, self.meta.temporaries.get(array, array))
        return tuple(self.spaces[alike].lower)

    def there(self, name: str, part: Box) -> tuple[slice, ...]:
        """Return where a region lies in a whole array."""
        ends = zip(part, self.lower(name), strict=True)
        return tuple(slice(low - first, high - first) for (low, high), first in ends)

    def boxes(self, number: int) -> list[Box]:
        """Return the boxes of a nest that are not empty."""
        nest = self.meta.nests[number]
        alike = self.meta.temporaries.get(nest.alike, nest.alike)
        whole = self.spaces[alike].box(self.sizes)
        ranges = []
        for (low, high), cuts in zip(whole, self.cuts, strict=False):
            ends = [low, *sorted(c for c in set(cuts) if low < c < high), high]
            ranges.append([*pairwise(ends)])
        return list(product(*ranges))

    def values(self, box: Box) -> dict[str, int]:
        """Return what reaches are evaluated with for a box."""
        axes = AXES[len(box)]
        found = dict(self.sizes)
        for axis, (low, high) in zip(axes, box, strict=True):
            found |= {f"{axis}_lo": low, f"{axis}_hi": high}
        return found

    # -- units -----------------------------------------------------------------------------------

    def run(self) -> tuple[float, ...]:
        """Run all units; return the results."""
        for unit in self.meta.units:
            if unit.kind == "nest":
                self.nest(unit)
            elif unit.kind == "call":
                self.call(unit)
        self.launch(self.points, {}, {})
        for name, values in self.callers.items():
            values[...] = self.points[name][self.there(name, self.spaces[name].box(self.sizes))]
        return tuple(self.results.tolist())

    def nest(self, unit: UnitMeta) -> None:
        """Run a nest: two parts of the boxes one after the other, as on two ranks."""
        boxes = self.boxes(unit.number)
        axes = range(len(boxes[0]))
        states, changes = [], []
        for part in (boxes[::2], boxes[1::2]):
            for _, _, row in unit.folds:
                self.state[row] = 0
            changes += self.part(unit, part) if part else []
            states.append(self.state.copy())
        for _, kind, row in unit.folds:
            self.state[row] = combined(
                [kind], *shares([kind], [state[row : row + 1] for state in states])
            )
        whole = [(min(b[a][0] for b in boxes), max(b[a][1] for b in boxes)) for a in axes]
        for box, name, index, value in changes:
            if self.owns(box, whole, name, index):
                self.points[name][index] = value

    def owns(self, box: Box, whole: Box, name: str, place: tuple[int, ...]) -> bool:
        """Whether an element is a box's own: one beyond all rows is that of the nearest box."""
        index = [n + low for n, low in zip(place, self.lower(name), strict=True)]
        return all(
            (low <= n or low == first) and (n < high or high == last)
            for n, (low, high), (first, last) in zip(index, box, whole, strict=True)
        )

    def part(self, unit: UnitMeta, boxes: Sequence[Box]) -> list[tuple[Any, ...]]:
        """Run a nest on some boxes; return what has changed."""
        storages = [Storages(self, unit, box) for box in boxes]
        ends = dict.fromkeys(self.points, GAP)
        starts = []
        for each in storages:
            starts.append(dict(ends))
            for name, values in each.values.items():
                ends[name] += values.size + GAP
        arenas = {}
        for name, points in self.points.items():
            size = max(ends.values())
            arenas[name] = np.full((1,) * (points.ndim - 1) + (size,), HOLE[self.dtype], self.dtype)
        rows = []
        for each, start in zip(storages, starts, strict=True):
            edges = [edge for axis in each.box for edge in axis]
            rows.append([*map(self.sizes.__getitem__, self.meta.sizes), *edges])
            for name in self.points:
                values = each.values.get(name)
                ndim = self.points[name].ndim
                strides = [0] * ndim
                origin = 0
                if values is not None:
                    place = slice(start[name], start[name] + values.size)
                    arenas[name].ravel()[place] = values.ravel()
                    strides = [s // values.itemsize for s in values.strides]
                    shifts = zip(each.first[name], strides, strict=True)
                    origin = start[name] - sum(f * s for f, s in shifts)
                rows[-1] += [origin, *strides[:-1]]
        table = np.array(rows, np.int64).reshape(len(rows), self.columns(unit))
        before = {name: arena.copy() for name, arena in arenas.items()}
        self.launch(arenas, {unit.number: table}, {}, boxes)
        changes = []
        for each, start in zip(storages, starts, strict=True):
            for name, old in each.values.items():
                place = slice(start[name], start[name] + old.size)
                new = arenas[name].ravel()[place].reshape(old.shape).copy()
                before[name].ravel()[place] = new.ravel()
                changes += [(each.box, *change) for change in each.changed(name, old, new)]
        for name, arena in arenas.items():
            assert before[name].tobytes() == arena.tobytes(), f"{name} is written between storages"
        return changes

    def columns(self, unit: UnitMeta) -> int:
        """Return the number of columns of a nest's table."""
        axes = len(self.boxes(unit.number)[0])
        return len(self.meta.sizes) + 2 * axes + sum(a.ndim for a in self.points.values())

    def call(self, unit: UnitMeta) -> None:
        """Run a call of another package on whole arrays."""
        call = self.meta.calls[unit.number]
        steps = (s for s in self.declaration.program.steps if isinstance(s, ir.Call))
        external = next(s.external for s in steps if s.name == call.name)
        layouts = []
        for name in call.fields:
            strides = [s // self.dtype.itemsize for s in self.points[name].strides]
            shifts = zip(self.lower(name), strides, strict=True)
            layouts.append((-sum(low * s for low, s in shifts), *strides))
        tables = external.tables(self.sizes, layouts, self.dtype)
        for number, index, values in tables.initial:
            self.points[call.fields[number]][index] = values
        self.launch(self.points, {}, {unit.number: tables})

    def launch(
        self,
        arrays: Mapping[str, Array],
        tables: Mapping[int, Array],
        links: Mapping[int, Any],
        boxes: Sequence[Box] = (),
    ) -> None:
        """Call the kernel with tables for some nests and calls."""
        needed = [
            max((buffer_elements(b, box) for box in boxes if b.nest in tables), default=0)
            for b in self.meta.buffers
        ]
        vectors = {parts[0]: parts for _, parts in self.declaration.program.vectors}
        whole = {first: np.stack([arrays[n] for n in parts]) for first, parts in vectors.items()}
        components = {n for parts in vectors.values() for n in parts[1:]}
        fields = [whole.get(n, arrays[n]) for n in self.meta.fields if n not in components]
        run = Run(tables, {n: (made.links, made.weights) for n, made in links.items()})
        given = driven.arguments(
            self.meta,
            [*arrays.values()],
            [None, run],
            driven.start(step=1),  # the first one clears the states
            buffers=[np.full(size, np.nan, self.dtype) for size in needed],
            scalars=[self.scalars],
            state=self.state,
            results=self.results[np.newaxis],
            scratch=max((made.scratch for made in links.values()), default=0),
            fields=fields,
        )
        code = self.kernel.run(*given)
        assert code == 0, f"the kernel returned {code}"
        for first, parts in vectors.items():
            for name, values in zip(parts, whole[first], strict=True):
                arrays[name][...] = values


class Storages:
    """What a box holds of each array: the hull of what it reads and writes.

    The components of a vector field are held alike, as they are one array.
    """

    def __init__(self, run: Boxed, unit: UnitMeta, box: Box) -> None:
        self.run, self.box = run, box
        known = run.values(box)
        self.read = [(reach.array, self.inside(reach, known)) for reach in unit.reads]
        self.written = [(reach.array, self.inside(reach, known)) for reach in unit.writes]
        self.values: dict[str, Array] = {}
        self.first: dict[str, tuple[int, ...]] = {}
        regions: dict[str, list[Box]] = {}
        for name, part in (*self.read, *self.written):
            if all(low < high for low, high in part):
                regions.setdefault(name, []).append(part)
        for _, vector in run.declaration.program.vectors:
            together = [part for name in vector for part in regions.get(name, ())]
            regions |= dict.fromkeys(vector, together) if together else {}
        for name, parts in regions.items():
            ends = [*zip(*parts, strict=True)]
            hull = [(min(e[0] for e in axis), max(e[1] for e in axis)) for axis in ends]
            self.first[name] = tuple(low for low, _ in hull)
            shape = [high - low for low, high in hull]
            self.values[name] = np.full(shape, HOLE[run.dtype], run.dtype)
        for name, part in self.read:
            if all(low < high for low, high in part):
                self.values[name][self.at(name, part)] = run.points[name][run.there(name, part)]

    def inside(self, reach: Reach, known: Mapping[str, int]) -> Box:
        """Return the region of a reach within its array."""
        shape, lower = self.run.points[reach.array].shape, self.run.lower(reach.array)
        ends = zip(region(reach, known), lower, shape, strict=True)
        return tuple(
            (max(int(first), low), min(int(last), low + extent))
            for (first, last), low, extent in ends
        )

    def at(self, name: str, part: Box) -> tuple[slice, ...]:
        """Return where a region lies in a storage."""
        ends = zip(part, self.first[name], strict=True)
        return tuple(slice(low - first, high - first) for (low, high), first in ends)

    def changed(self, name: str, old: Array, new: Array) -> list[tuple[str, tuple[int, ...], Any]]:
        """Return the elements that have changed; only those that are written may."""
        bits = np.dtype(f"u{old.itemsize}")
        changed = old.view(bits) != new.view(bits)
        allowed = np.zeros_like(changed)
        for written, part in self.written:
            if written == name and all(low < high for low, high in part):
                allowed[self.at(name, part)] = True
        assert not (changed & ~allowed).any(), f"{name} is written where no reach says so"
        shift = [f - low for f, low in zip(self.first[name], self.run.lower(name), strict=True)]
        return [
            (name, tuple(int(n) + s for n, s in zip(index, shift, strict=True)), new[tuple(index)])
            for index in np.argwhere(changed)
        ]
