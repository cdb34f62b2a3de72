"""Code of solves along lines: bundles of lines are copied to a buffer, swept and copied back.

The buffer of a nest stores the line variables of each point consecutively. Each is a bundle, which
holds one value for each of as many lines as a vector register has lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from .. import ir
from ..ir import LineLoops
from ..kernel import ir as kernel
from ..kernel.building import Operand, binary, call, do, let, load, loop, minus, plus, times
from ..kernel.kernel_names import mangled
from ..kernel.operations import BUNDLE
from ..points.affine import Affine
from ..points.expressions import expression, moved
from ..points.loop_tree import For, If, Loop, Run
from .builder import Builder
from .rows import emit_instance, value_of

BUFFER = "%lines"
"""The line buffer of a nest."""


@dataclass
class LineBuilder(Builder):
    """The statements of a nest of systems along lines.

    Attributes
    ----------
    slots
        The positions of line variables at a point.
    here
        The point along the line.
    begin
        Returns the start of another point in the buffer.
    """

    slots: Mapping[str, int] = field(default_factory=dict)
    here: Affine = field(default_factory=lambda: Affine.of(0))
    begin: Callable[[kernel.Expression], kernel.Expression] = field(default=lambda place: place)

    @property
    def width(self) -> int:
        """The number of lines of a bundle, whose values fill a cache line."""
        return self.near

    @property
    def step(self) -> int:
        """The numbers of a point in the buffer."""
        return len(self.slots) * self.width

    @property
    def start(self) -> kernel.Statement:
        """The statement that finds where the buffer begins: at a whole line of the cache."""
        name, bytes_ = self.buffer(BUFFER), BUNDLE // self.width
        lines = kernel.Negative(binary("//", call("address", name), bytes_))
        return let(f"{name}_0", binary("%", lines, self.width))

    def point(self, place: Operand, axis: str, beyond: int) -> kernel.Expression:
        """Return where a point of a line begins in the buffer."""
        number = minus(place, f"{axis}_lo")
        number = plus(number, beyond) if beyond else number
        return plus(f"{self.buffer(BUFFER)}_0", times(number, self.step))

    def fresh(self, stem: str) -> str:
        """Return a new variable name, one that no other nest has: it may hold a bundle."""
        return f"{super().fresh(stem)}{self.suffix}"

    def place(self, array: str, index: Sequence[Affine]) -> kernel.Expression:
        """Return the flat offset of an element of an array, or of a bundle."""
        if array not in self.slots:
            return super().place(array, index)
        slot = self.slots[array] * self.width
        if not (index[0] - self.here).is_constant:  # a fixed point of the line
            return plus(self.begin(expression(index[0])), slot)
        return moved("at", (index[0] - self.here).constant * self.step + slot)

    def loaded(self, array: str, index: Sequence[Affine]) -> kernel.Expression:
        """Return a bundle, or an element."""
        if array not in self.slots:
            return super().loaded(array, index)
        return call("take", self.buffer(BUFFER), self.place(array, index))

    def stored(
        self, array: str, index: Sequence[Affine], value: kernel.Expression
    ) -> kernel.Statement:
        """Return the statement that stores a bundle, or an element."""
        if array not in self.slots:
            return super().stored(array, index, value)
        return do("put", self.buffer(BUFFER), self.place(array, index), value)


def slots_of(nest: ir.LineNest) -> dict[str, int]:
    """Return the positions of line variables at a point of the buffer of a nest."""
    return {name: n for n, name in enumerate(nest.variables)}


def emit_lines(builder: LineBuilder, made: LineLoops) -> None:
    """Add the loops over lines with the solves of their bundles."""
    for name, value in made.nest.numbers:
        builder.add(let(mangled(name), value_of(builder, value, {})))
    if not made.tree:
        _emit_bundle(builder, made, made.kinds["lines_0"], kernel.Integer(1), 1)
    for node in made.tree:
        _emit_tree(builder, node, partial(_emit_lines_of, builder, made))


Emitted: TypeAlias = Callable[[Loop], bool]
"""A function that emits a node of a loop tree; false if it does not handle the node."""


def _emit_tree(builder: LineBuilder, node: Loop, alone: Emitted) -> None:
    """Add loops and branches, except the nodes that ``alone`` has added."""
    if alone(node):
        return

    def block(nodes: Sequence[Loop]) -> tuple[kernel.Statement, ...]:
        with builder.block() as body:
            for inner in nodes:
                _emit_tree(builder, inner, alone)
        return tuple(body)

    match node:
        case For(variable, start, stop, step, body):
            ends = builder.own(start), builder.own(stop), step
            builder.add(loop(variable, ends, block(body)))
        case If(condition, then, orelse):
            builder.add(kernel.If(builder.own(condition), block(then), block(orelse)))


def _emit_lines_of(builder: LineBuilder, made: LineLoops, node: Loop) -> bool:
    """Add a loop over lines side by side in bundles, or a single line."""
    match node:
        case For(variable, start, stop, step, (Run(kind),)):
            start, stop = builder.own(start), builder.own(stop)
            count = minus(stop, variable)
            count = count if step == 1 else binary("//", plus(count, step - 1), step)
            with builder.block() as body:
                builder.add(let("many", call("min", builder.width, count)))
                _emit_bundle(builder, made, made.kinds[kind], kernel.Name("many"), step)
            builder.add(loop(variable, (start, stop, step * builder.width), body))
        case Run(kind, (index,)):
            last = made.nest.outer[-1]
            if index != Affine.name(last):
                builder.add(let(last, builder.own(expression(index))))
            _emit_bundle(builder, made, made.kinds[kind], kernel.Integer(1), 1)
        case _:
            return False
    return True


def _emit_bundle(
    builder: LineBuilder, made: LineLoops, lines: ir.Lines, many: kernel.Expression, every: int
) -> None:
    """Add the solve of a bundle of ``many`` lines with distance ``every``."""
    nest = made.nest
    axis = nest.axes[nest.along]
    points = minus(f"{axis}_hi", f"{axis}_lo")
    builder.add(do("poll", "watch", times(points, builder.width)))
    loads, given = {t.variable: t.load for t in nest.taken}, dict(nest.given)
    for name, loops in lines.taken:
        for node in loops:
            _emit_copy(builder, nest, "gather", (name, loads[name]), node, (many, every))
    for node in (*lines.forward, *lines.backward, *lines.closing):
        _emit_tree(builder, node, partial(_emit_rows, builder, made))
    row = tuple(map(Affine.name, nest.axes))
    for name, array in given.items():
        for node in lines.given:
            _emit_copy(builder, nest, "scatter", (name, ir.Load(array, row)), node, (many, every))


def _emit_copy(
    builder: LineBuilder,
    nest: ir.LineNest,
    function: str,
    element: tuple[str, ir.Load],
    node: Loop,
    bundle: tuple[kernel.Expression, int],
) -> None:
    """Add the copy of points of a bundle of lines between a line variable and an array."""
    variable, copied = element
    axis = nest.axes[nest.along]
    count: Operand
    match node:
        case For(_, start, stop, 1, (Run(),)):
            first = builder.let("f", builder.own(start))
            count = minus(builder.own(stop), first)
        case Run(_, (point,)):
            first = builder.let("f", builder.own(expression(point)))
            count = 1
        case _:
            raise AssertionError("points of lines that are copied stand side by side")
    index = [*copied.index]
    index[nest.along] = Affine.name(first.name)
    slot = builder.slots[variable] * builder.width
    begin = builder.point(first, axis, nest.beyond)
    begin = plus(begin, slot) if slot else begin
    place = builder.place(copied.array, index)
    many, every = bundle
    along = _stride(builder, copied.array, nest.along, nest)
    across = 0 if nest.across is None else _stride(builder, copied.array, nest.across, nest)
    across = across if every == 1 else times(every, across)
    array = mangled(copied.array)
    lines = builder.buffer(BUFFER), begin, builder.step
    builder.add(do(function, *lines, array, place, along, across, count, many))
    made = copied.array, nest.origin
    if function == "scatter" and made in builder.looks:
        near, other = builder.fresh("f"), builder.fresh("f")
        at: list[Operand] = [*nest.axes]
        at[nest.along] = plus(first, near)
        if nest.across is not None:
            at[nest.across] = plus(at[nest.across], times(every, other))
        here = plus(place, times(near, along), times(other, across))
        with builder.block() as look:
            builder.examine(made, at, load(array, here))
        builder.add(loop(near, (0, count), [loop(other, (0, many), look)]))


def _stride(builder: LineBuilder, array: str, axis: int, nest: ir.LineNest) -> Operand:
    """Return the distance of neighbours along an axis of an array."""
    return 1 if axis == len(nest.axes) - 1 else builder.stride(array, axis)


def _emit_rows(builder: LineBuilder, made: LineLoops, node: Loop) -> bool:
    """Add the computations of a sweep at a point of the lines."""
    match node:
        case Run(_, (index,)):
            nest = made.nest
            builder.begin = partial(builder.point, axis=nest.axes[nest.along], beyond=nest.beyond)
            builder.add(let("at", builder.begin(builder.own(expression(index)))))
            own = {name: Affine.name(other) for name, other in builder.sizes.items()}
            builder.here = index.substitute(own)
            with builder.block() as body:
                emit_instance(builder, made, node)
            builder.add(*builder.functions.outline(body))
            return True
    return False
