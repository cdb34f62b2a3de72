"""Run a program on arrays: select its kernel, and cache a launch for each array layout."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .. import ir
from ..options import Options
from ..points.boxes import Box
from ..points.numbers import Array, aligned
from .bound import Bound
from .call_layout import normal
from .check_arrays import addresses, diagnose, number_of, overlap
from .declaration import Declaration
from .entry import is_compiled
from .guard import needed_flags
from .launch import Argument, Empty, Launch, Results
from .native_program import ArrayLayout, NativeProgram, check_native
from .prepare import prepare

if TYPE_CHECKING:
    from ..compiler.kernel import Kernel

R = TypeVar("R")

LAUNCHES = 64
"""Limit of the array layouts for which a program keeps a launch."""

KEPT = 2**26
"""Limit in bytes of all launches but the largest, unless the largest holds more."""


VERDICTS = 16
"""Size of the cache of relative array addresses that are known not to overlap."""


class Launcher:
    """The kernels of a program, and its launches: one for each layout of arrays.

    Parameters
    ----------
    build
        Builds the kernel for options and the name of a type.
    empty
        Allocates scratch memory.
    reuse
        Whether scratch memory is kept from call to call.

    Attributes
    ----------
    kernels
        The kernels by the names of their types.
    launches
        The launches, the most recently used ones last.
    last
        The launch of the previous call with the types of its arguments: a call with the same types
        may try it on any arrays.
    """

    def __init__(
        self,
        declaration: Declaration,
        build: Callable[[ir.Program, Options, str], Kernel],
        empty: Empty = aligned,
        *,
        reuse: bool = True,
    ) -> None:
        self.declaration = declaration
        self.kernels: dict[str, Kernel] = {}
        self.launches: dict[Hashable, Launch] = {}
        self.last: tuple[Launch, list[type]] | None = None
        self._needed = needed_flags(declaration)
        self._build = build
        self._empty = empty
        self._reuse = reuse

    def kernel(self, dtype: str) -> Kernel:
        """Return the kernel for the name of a type; it is built if necessary."""
        known = self.kernels.get(dtype)
        if known is None:
            made = self._build(self.declaration.program, self.declaration.options, dtype)
            known = self.kernels.setdefault(dtype, made)
        return known

    def call(
        self, args: tuple[Argument, ...], arrays: list[Array], boxes: Sequence[Box] | None
    ) -> Results:
        """Run the program."""
        launch = self.launch(arrays, boxes)
        args = self._converted(args)
        results = launch(args)
        if results is None:
            self._check_overlap(launch, args, arrays)
            results = launch(args, overlapping=True)
            assert results is not None, "the kernel refused arrays of its layout"
        elif boxes is None and self._reuse:
            numbers = self.declaration.numbers
            self.last = launch, [float if n in numbers else type(a) for n, a in enumerate(args)]
        if not self._reuse:
            launch.release()
        return results

    def bind(
        self,
        args: tuple[Argument | None, ...],
        arrays: list[Array],
        returned: Callable[[Results], R],
    ) -> Bound[R]:
        """Return the program bound to arrays; scalars that are None are passed at each call."""
        declaration, launch = self.declaration, self.launch(arrays, None)
        self._check_overlap(launch, args, arrays)
        numbers: dict[str, float | None] = {}
        for place in declaration.numbers:
            name, value = declaration.parameters[place].name, args[place]
            numbers[name] = None if value is None else number_of(name, value)
        return Bound(launch, self._fields(args), numbers, returned)

    def native(
        self,
        program: Callable[..., R],
        args: tuple[Argument | None, ...],
        arrays: list[Array],
        *,
        many: bool,
    ) -> NativeProgram[R]:
        """Return the program as a function of compiled code, for arrays of one layout."""
        declaration = self.declaration
        check_native(declaration.program.name, declaration.options)
        launch = self.launch(arrays, None)
        self._check_overlap(launch, args, arrays)
        run = self.kernel(arrays[0].dtype.name).run
        assert is_compiled(run)
        components, written = dict(declaration.program.vectors), declaration.written
        fields = self._fields(args)
        layouts = {
            p.name: ArrayLayout(
                p.name,
                a.dtype,
                a.shape,
                a.strides,
                not written.isdisjoint(components.get(p.name, (p.name,))),
            )
            for p, a in zip(declaration.fields, fields, strict=True)
        }
        parameters = [layouts.get(p.name, p.name) for p in declaration.parameters]
        return NativeProgram(program, run, launch, parameters, fields, many=many)

    def launch(self, arrays: list[Array], boxes: Sequence[Box] | None) -> Launch:
        """Return the launch for arrays of a layout, prepared if they are the first of it.

        The key of a launch has all that `diagnose` looks at, so arrays of a known one are right.
        """
        cutting = None if boxes is None else normal(boxes)
        if not all(isinstance(a, np.ndarray) for a in arrays):
            diagnose(self.declaration.named(arrays), self.declaration.written)
        key = (
            cutting,
            *[
                (type(a), a.shape, a.strides, a.dtype, a.flags.num & needed)
                for a, needed in zip(arrays, self._needed, strict=True)
            ],
        )
        known = self.launches.pop(key, None)
        if known is None:
            known = prepare(self.declaration, self.kernel, arrays, cutting, self._empty)
            make_room(self.launches, known)
        self.launches[key] = known
        return known

    def _check_overlap(
        self, launch: Launch, args: Sequence[Argument | None], arrays: list[Array]
    ) -> None:
        """Raise if arrays share memory that is written; they are compared once for each layout."""
        starts = self._starts(args)
        places = tuple(start - starts[0] for start in starts)
        if places not in launch.apart:
            overlap(self.declaration.named(arrays), starts, self.declaration.written)
            if len(launch.apart) >= VERDICTS:
                launch.apart.clear()
            launch.apart.add(places)

    def _starts(self, args: Sequence[Argument | None]) -> list[int]:
        """Return the addresses of all arrays of a call; components are computed from strides."""
        starts: list[int] = []
        for value, parameter in zip(self._fields(args), self.declaration.fields, strict=True):
            (start,) = addresses([value])
            if parameter.kind == "vector":
                step = value.strides[0]
                starts += range(start, start + parameter.components * step, step)
            else:
                starts.append(start)
        return starts + addresses(self.declaration.captured)

    def _fields(self, args: Sequence[Argument | None]) -> list[Array]:
        """Return the arrays among the arguments of a call, vector fields whole."""
        pairs = zip(args, self.declaration.parameters, strict=True)
        return [a for a, p in pairs if p.kind != "number" and isinstance(a, np.ndarray)]

    def _converted(self, args: tuple[Argument, ...]) -> tuple[Argument, ...]:
        """Return arguments with scalars converted to Python numbers."""
        given = list(args)
        for place in self.declaration.numbers:
            name = self.declaration.parameters[place].name
            given[place] = number_of(name, given[place])
        return tuple(given)


def make_room(launches: dict[Hashable, Launch], new: Launch) -> None:
    """Drop the launches that were not used for longest, until a new one may be kept with them."""
    held = {key: launch.held for key, launch in list(launches.items())}  # threads may add some
    largest = max([new.held, *held.values()])
    for key in list(held):
        others = new.held + sum(held.values()) - largest
        if len(launches) < LAUNCHES and others <= max(KEPT, largest):
            break
        launches.pop(key, None)
        held.pop(key)
