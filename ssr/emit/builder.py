"""The statements of a nest under construction, and the addresses of array elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from .. import ir
from ..ir.value_numbering import Numbers
from ..kernel import ir as kernel
from ..kernel.building import Operand, binary, do, let, load, plus, store, times
from ..kernel.kernel_names import mangled
from ..kernel.outline import Functions
from ..kernel.rewriting import substituted
from ..points.affine import Affine, Choice
from ..points.expressions import added, expression
from ..runtime.metadata import BufferMeta
from .debug_checks import function_of


@dataclass
class Builder:
    """The statements of a nest under construction.

    Attributes
    ----------
    arrays, buffers
        The fields and temporaries of the kernel, and the buffers of the nest.
    suffix
        The suffix of the names of buffers, which distinguishes the buffers of different nests.
    near
        The number of values in a cache line.
    sizes
        The names in the kernel of the sizes that are renamed there.
    reductions
        The first row of the state of each reduction.
    functions
        The functions and constants of the module.
    checked
        Whether the row of each instance is checked.
    even
        The buffers whose rows begin with cache lines.
    alike
        For each array with the same offsets and strides as another one, the other array.
    body
        The statements.
    rows
        The variables that hold offsets of lines.
    decided
        The variables that hold choices and tests which are the same throughout a loop; values are
        known by their representation, in which 0.0 and -0.0 differ.
    looks
        The numbers of the examinations of the debug build, by the name and origin of a value.
    numbers
        The values of a row that are known.
    rounded
        Returns a value of scalars in the type of the fields.
    """

    arrays: Mapping[str, ir.Field]
    buffers: Mapping[str, ir.Buffer]
    suffix: str
    near: int
    sizes: Mapping[str, str]
    reductions: Mapping[str, int]
    functions: Functions
    checked: bool = False
    even: frozenset[str] = frozenset()
    alike: Mapping[str, str] = field(default_factory=dict)
    body: list[kernel.Statement] = field(default_factory=list)
    rows: dict[kernel.Expression, kernel.Name] = field(default_factory=dict)
    decided: dict[str | Choice | Affine, str] = field(default_factory=dict)
    looks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    numbers: Numbers | None = None
    rounded: Callable[[ir.Value], kernel.Expression] | None = None
    counter: int = 0

    def add(self, *statements: kernel.Statement) -> None:
        """Add statements."""
        self.body += statements

    def let(self, stem: str, value: Operand) -> kernel.Name:
        """Assign a value to a new variable, and return it."""
        name = self.fresh(stem)
        self.add(let(name, value))
        return kernel.Name(name)

    @contextmanager
    def block(self) -> Iterator[list[kernel.Statement]]:
        """Collect the statements that are added meanwhile in a separate block."""
        outer, self.body = self.body, []
        yield self.body
        self.body = outer

    def fresh(self, stem: str) -> str:
        """Return a new variable name."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def constant(self, value: float) -> kernel.Name:
        """Return the variable that holds a number in the kernel's type; 0.0 and -0.0 differ."""
        return self.functions.constant(value)

    def own(self, found: kernel.Expression) -> kernel.Expression:
        """Return an expression with the kernel's own names of sizes."""
        return substituted(found, {name: kernel.Name(own) for name, own in self.sizes.items()})

    def buffer(self, name: str) -> str:
        """Return a buffer's argument name."""
        return name.removeprefix("%") + self.suffix

    def described(self, buffer: ir.Buffer, nest: int) -> BufferMeta:
        """Return the metadata of a buffer for callers of the kernel; ``nest`` is a number."""
        name, near = self.buffer(buffer.name), self.near if buffer.name in self.even else 1
        return BufferMeta(name, nest, buffer.rows, buffer.pad, buffer.lines, near)

    def row(self, array: str, index: Sequence[Affine]) -> kernel.Expression:
        """Return the flat offset at which a row of an array starts."""
        if array in self.buffers:
            return self._buffer_row(array, index)
        row: kernel.Expression = kernel.Name(f"{self.offsets(array)}_0")
        for axis, position in enumerate(index[:-1]):
            if not position.is_constant or position.constant:
                distance = times(expression(self.known(position)), self.stride(array, axis))
                row = plus(row, distance)
        return row

    def _buffer_row(self, array: str, index: Sequence[Affine]) -> kernel.Expression:
        """Return where a row of a buffer starts, whose lines or planes are used in rotation."""
        name, rotation = self.buffer(array), self.buffers[array]
        start: kernel.Expression = kernel.Name(f"{name}_0")
        if rotation.lines is not None:
            if rotation.rows > 1:
                plane = binary("%", expression(index[0]), rotation.rows)
                start = plus(start, times(plane, f"{name}_p"))
            return plus(start, times(expression(index[1]), f"{name}_w"))
        if rotation.rows == 1:
            return start
        line = binary("&", expression(index[0]), rotation.rows - 1)
        return plus(start, times(line, f"{name}_w"))

    def offsets(self, array: str) -> str:
        """Return the array that provides the offsets and strides of an array."""
        return mangled(self.alike.get(array, array))

    def stride(self, array: str, axis: int) -> kernel.Expression:
        """Return the distance of neighbours along an axis but the last."""
        return kernel.Name(f"{self.offsets(array)}_s{axis}")

    def known(self, position: Affine) -> Affine:
        """Return an expression with the variables that hold choices in it."""
        if not any(atom in self.decided for atom, _ in position.terms):
            return position
        found = Affine((), position.constant)
        for atom, coefficient in position.terms:
            name = self.decided.get(atom) if isinstance(atom, Choice) else None
            found += Affine((((name or atom), coefficient),))
        return found

    def place(self, array: str, index: Sequence[Affine]) -> kernel.Expression:
        """Return an element's flat offset, with the row hoisted if it was."""
        row = self.row(array, index)
        return added(self.rows.get(row, row), index[-1])

    def loaded(self, array: str, index: Sequence[Affine]) -> kernel.Expression:
        """Return an element."""
        return load(self.argument(array), self.place(array, index))

    def stored(
        self, array: str, index: Sequence[Affine], value: kernel.Expression
    ) -> kernel.Statement:
        """Return the statement that stores an element."""
        return store(self.argument(array), self.place(array, index), value)

    def examine(self, made: tuple[str, int], row: Sequence[Operand], value: Operand) -> None:
        """Add the examination of a value computed at a row, if the debug build examines it."""
        if made in self.looks:
            self.add(do(function_of(len(row)), "state", self.looks[made], *row, value))

    def argument(self, array: str) -> str:
        """Return the argument an array or buffer is."""
        return self.buffer(array) if array in self.buffers else mangled(array)
