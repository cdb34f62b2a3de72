"""Define row recurrences: matrices whose rows depend on earlier rows (incomplete factorizations).

The generator of a recurrence reads entries of earlier rows, and is traced like any other. The
entries that must be stored are determined by `storage.pattern`. They become fields, computed by
a program that completes all entries of a row before the next row. With these fields as its data,
a recurrence is an ordinary matrix.
"""

from __future__ import annotations

import functools
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from .. import ir
from ..algebra.matrix_data import MatrixData
from ..compiling import compiling
from ..errors import ArgumentError
from ..matrices.matrix import Matrix
from ..matrices.rows import Reading, giving
from ..points.numbers import allocated
from ..programs.expression import Field
from ..programs.matrix_rows import bound_value
from ..programs.program import Program, array_program
from ..programs.recorder import Recorder, current, recorder_of_program
from ..programs.vectors import Vector
from ..spaces.space import Space, VectorSpace
from ..trace.captured import captured
from ..trace.trace import ScalarType, Split, trace, undivided
from .done import DONE, Recursion, Symbolic
from .storage import Pattern, pattern


def define(
    function: Callable[..., Any], space: Space, own: Mapping[str, Space | ScalarType]
) -> Recurrence:
    """Return the recurrence of a row generator."""
    definition, found = traced(function, captured(function), space, own)
    return Recurrence(definition, found.made)


@compiling()
def traced(
    function: Callable[..., Any],
    kept: Callable[..., Any],
    space: Space,
    own: Mapping[str, Space | ScalarType],
    split: Split = undivided,
    components: int = 0,
) -> tuple[MatrixData, Pattern]:
    """Return a recurrence as matrix data, and the pattern of its stored entries.

    ``kept`` is the generator that is run on integers. Entries are blocks of several ``components``,
    which ``split`` takes apart, or numbers.
    """
    reading, done, name = Reading(own), Symbolic(space, components), function.__name__

    @functools.wraps(function)
    def generator(*index: Any, **given: Any) -> Any:
        return function(*index, done, **{n: given[n] for n in own})

    with giving(reading):
        paths = trace(generator, space, space, ChainMap(reading.data, {DONE: space}), split)
    found = pattern(name, paths, space, done.places, blocks=components > 0)
    check_name(name, space, reading.data)
    names = tuple((n, n) for n in reading.data)
    definition = MatrixData(
        name=name,
        rows=space,
        cols=space,
        families=found.families.get((), ()),
        origin=Recursion(kept, space, names, tuple(own), frozenset(reading.spaces), components),
        data=MappingProxyType({**reading.data, **dict.fromkeys(found.made, space)}),
        bound=MappingProxyType(reading.bound),
        paths=paths,
    )
    return definition, found


def check_name(name: str, space: Space, data: Collection[str]) -> None:
    """Raise an error if the name of a recurrence, also that of its entries, is in use."""
    for what, taken in (("one of its data", data), ("a size of its space", space.sizes)):
        if name in taken:
            raise ArgumentError(
                f"{name!r} is the name of the recurrence and of {what}.",
                note="The stored entries of a recurrence are data by its own name.",
                hint="Rename the function.",
            )


class Recurrence(Matrix):
    """A matrix whose rows are computed in C order, each from entries of earlier rows.

    Made by `ssr.recurrence`. The stored entries are data with the name of the recurrence: a vector
    field with one component for each. `compute` computes them; then the matrix has parts, products
    and solves like other matrices. `to_scipy` runs the definition.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> line = ssr.Space(4)
    >>> @ssr.recurrence(rows=line, cols=line)
    ... def pivots(i, done):
    ...     yield i, 2.0 if i == 0 else 2.0 - 1.0 / done[i - 1, i - 1]
    >>> pivots.compute() @ np.ones(4)
    array([2.        , 1.5       , 1.33333333, 1.25      ])
    """

    def __init__(self, definition: MatrixData, made: Mapping[str, ir.Value]) -> None:
        super().__init__(definition)
        self.made = made

    @property
    def entries(self) -> VectorSpace:
        """The space of the stored entries, to declare a field for them: ``v=LU.entries``."""
        return VectorSpace(len(self.made), self.rows)

    def bind(self, **data: Any) -> Recurrence:
        """Return the recurrence with values for its data; see `Matrix.bind`."""
        return Recurrence(super().bind(**data).definition, self.made)

    def compute(self, out: Any = None, dtype: Any = np.float64) -> Recurrence:
        """Return the matrix with its entries computed from the present values of its data.

        In a program this is a step of the program, run at each call.

        Parameters
        ----------
        out
            The array on `entries` that receives the entries, in a program a vector field. By
            default it is new; outside of programs all sizes must then be known.
        dtype
            The type of a new array.

        Raises
        ------
        UnboundError
            If data or sizes have no value.
        """
        if not self.made:
            return self
        recorder = recorder_of_program()
        if recorder is None:
            if out is None:
                extent = self.rows.extent(self.definition.all_sizes())
                out = allocated((len(self.made), *extent), dtype)
            self.program("compute")(out)
            return self.bind(**{self.name: out})
        made = self.bind(**{self.name: self._temporary(recorder) if out is None else out})
        made._record(recorder)
        return made

    def program(self, what: Literal["apply", "solve", "compute"]) -> Program:
        """Return the program of ``A @ x``, ``A.solve(b)`` or ``A.compute(out)``, named by ``what``.

        Raises
        ------
        ArgumentError
            If no entries must be computed.
        """
        if what != "compute":
            return super().program(what)
        if not self.made:
            raise ArgumentError(
                f"The recurrence {self.name} has no entries to compute.",
                note="All of its entries have a closed form.",
                hint="Use it as it is; compute() returns it unchanged.",
            )
        if what not in self._programs:

            def compute(entries: Any) -> None:
                self.bind(**{self.name: entries})._record(current())

            kinds = {self.name: self.entries}
            self._programs[what] = array_program(f"{self.name} compute", compute, kinds)
        return self._programs[what]

    def _temporary(self, recorder: Recorder) -> Vector:
        """Return a vector of new temporaries of a program."""
        names = [recorder.fresh(name) for name in self.entries.names(self.name)]
        recorder.temporaries |= dict.fromkeys(names, self.rows)
        return Vector([Field(name, self.rows, recorder) for name in names])

    def _record(self, recorder: Recorder) -> None:
        """Record the sweep that computes the numbers."""
        meaning = recorder.data(self.definition)
        values = {str(meaning[n]): bound_value(v, meaning) for n, v in self.made.items()}
        read = {load.array for v in values.values() for load in ir.loads(v) if not load.new}
        for name in sorted(read & set(values)):
            raise ArgumentError(
                f"{self.name} is computed into {name!r}, from which it is computed.",
                hint="Give it a field of its own.",
            )
        recorder.assign_jointly(self.rows, values)
