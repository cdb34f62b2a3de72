"""The debug build: kernels that check rows, memory accesses and the values of statements.

Debug kernels run the same loops as other kernels. Their source differs in the functions that it
imports, in a check before each row of a statement, and in a test of each value that a step
computes. They are compiled without the assumption that arrays do not overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from .. import ir
from ..emit.debug_checks import BAD
from ..errors import NonFiniteError, SingularMatrixError, Span
from ..ir.liveness import read_fields
from ..points.affine import Affine
from ..points.numbers import Array
from ..runtime.metadata import KIND, ROW, KernelMeta, Look

VALUES = {0: "nan", 1: "inf", -1: "-inf"}
"""The names of the kinds of non-finite values."""


def watched(
    run: Callable[..., int],
    program: ir.Program,
    meta: KernelMeta,
    places: Sequence[Span | None],
    state: int,
) -> Callable[..., int]:
    """Return a kernel of the debug build that raises an error of ours when it finds a bad value.

    The number ``state`` is the index of the states among the arguments.
    """
    read = read_fields(program)

    def call(*args: Array) -> int:
        fields = [field for field in _fields(program, args) if field[0] in read]
        given = [note for name, array in fields for note in _held(name, program, array)]
        code = run(*args)
        if code != BAD:
            return code
        finding = [int(number) for number in args[state][-1]]
        raise bad_value(program, places, meta.looks[finding[1]], finding, given)

    return call


def _fields(program: ir.Program, args: Sequence[Array]) -> Iterator[tuple[str, Array]]:
    """Yield the fields of a program with their arrays, vector fields as their components."""
    counts = {parts[0]: len(parts) for _, parts in program.vectors}
    given, names = iter(args), iter(field.name for field in program.fields)
    for name in names:
        array = next(given)
        if name in counts:
            yield from zip((name, *islice(names, counts[name] - 1)), array, strict=True)
        else:
            yield name, array


def bad_value(
    program: ir.Program,
    places: Sequence[Span | None],
    look: Look,
    finding: Sequence[int],
    notes: Sequence[str],
) -> NonFiniteError | SingularMatrixError:
    """Return the error of a value that is infinite or NaN."""
    step, place = program.steps[look.origin], places[look.origin]
    first, *_ = ir.parts(step)
    made, value = ir.made(step), VALUES[finding[KIND]]
    known = {*made, *(field.name for field in program.fields)}
    name = look.target if look.target in known else made[0]
    note = "; ".join(notes) or None
    if isinstance(first, ir.Reduction):
        return NonFiniteError(
            f"The program {program.name} makes {value} in {name}.", span=place, note=note
        )
    point = finding[ROW : ROW + len(first.axes)]
    if look.pivot and isinstance(step, ir.Solve):
        if value != "nan":
            return _vanishing(program, step, point, place, note)
        name = f"a pivot of {name}"
    where = ", ".join(map(str, point))
    return NonFiniteError(
        f"The program {program.name} makes {value} in {name} at ({where}).", span=place, note=note
    )


def _vanishing(
    program: ir.Program, solve: ir.Solve, point: Sequence[int], place: Span | None, note: str | None
) -> SingularMatrixError:
    """Return the error of a pivot that is zero, with its line and where it is on it."""
    first = solve.assignments[0]
    line = [*map(str, point)]
    position, line[solve.axis] = line[solve.axis], ":"
    return SingularMatrixError(
        f"The program {program.name} meets a pivot that is zero, on the line ({', '.join(line)}) "
        f"at {first.axes[solve.axis]} = {position}.",
        span=place,
        note=note,
        hint="Elimination along lines is without pivoting; the matrix should be diagonally "
        "dominant, by blocks.",
    )


def _held(name: str, program: ir.Program, array: Array) -> list[str]:
    """Return a note on a bad value that an array holds before the call."""
    bad = np.argwhere(~np.isfinite(array))
    if not len(bad):
        return []
    place = tuple(bad[0].tolist())
    where = _point(place, program.field(name).lower)
    return [f"{name} held {array[place]} at {where} when the program was called"]


def _point(place: Sequence[int], lower: Sequence[int | Affine]) -> str:
    return f"({', '.join(str(p + low) for p, low in zip(place, lower, strict=True))})"
