"""The debug build: kernels that check each row, each access to memory, and what statements made.

Its source differs from that of other kernels in the functions it imports, in a check before each
row of a statement, and in a look at the target after each statement. It is compiled without the
promise that arrays do not overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ir
from ..emit.debug_checks import BAD
from ..errors import NonFiniteError, SingularMatrixError, Span
from ..ir.liveness import read_fields
from ..runtime.checked import unfit
from ..runtime.intrinsics import Memory
from ..runtime.metadata import KernelMeta, Look


def watched(
    run: Callable[..., int],
    program: ir.Program,
    meta: KernelMeta,
    places: Sequence[Span | None],
) -> Callable[..., int]:
    """Return a kernel of the debug build that raises an error of ours when it finds a bad value.

    Parameters
    ----------
    run
        The kernel.
    program, meta
        What it computes, and its layout.
    places
        Where the user wrote the program's steps, those that are no calls.
    """
    names = [*meta.fields, *meta.temporaries]
    read = read_fields(program)

    def call(*args: Any) -> int:
        arrays = dict(zip(names, args, strict=False))
        given = [note for n in meta.fields if n in read for note in _held(n, program, arrays[n])]
        code = run(*args)
        if code < BAD:
            return code
        bad, place = divmod(code - BAD, len(meta.looks))
        look = meta.looks[place]
        found: tuple[Sequence[Any], float] | None = None
        if look.target in arrays:
            point = np.unravel_index(bad, arrays[look.target].shape)
            lower = _rows(program, meta, look).lower
            index = [int(p) + low for p, low in zip(point, lower, strict=True)]
            found = index, arrays[look.target][point]
        raise bad_value(program, meta, places, look, found, given)

    return call


def bad_value(
    program: ir.Program,
    meta: KernelMeta,
    places: Sequence[Span | None],
    look: Look,
    found: tuple[Sequence[int], float] | None,
    notes: Sequence[str],
) -> NonFiniteError | SingularMatrixError:
    """Return the error of a value that is infinite or NaN.

    Parameters
    ----------
    program, meta
        What the kernel computes, and its layout.
    places
        Where the user wrote the program's steps, those that are no calls.
    look
        What was looked at.
    found
        The index of the first such element, and its value; None for a number.
    notes
        What fields held before.
    """
    number, step = _looked_at(program, meta, look)
    made, place = ir.made(step), places[number]
    name = look.target if look.target in made else made[0]
    note = "; ".join(notes) or None
    where, value = "", "an infinity or nan"
    if found is not None:
        value, where = str(found[1]), f" at ({', '.join(map(str, found[0]))})"
        if isinstance(step, ir.Solve) and look.target not in made:
            if np.isinf(found[1]):
                return _vanishing(program, step, found[0], place, note)
            name = f"a pivot of {name}"
    return NonFiniteError(
        f"The program {program.name} makes {value} in {name}{where}.", span=place, note=note
    )


def _rows(program: ir.Program, meta: KernelMeta, look: Look) -> ir.Field:
    """Return the points of an array that is looked at."""
    _, step = _looked_at(program, meta, look)
    if look.target in ir.made(step):
        return program.field(look.target)
    first, *_ = ir.parts(step)
    return program.rows(first)


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


def _held(name: str, program: ir.Program, array: Any) -> list[str]:
    """Return a note on a bad value that an array holds before the call."""
    found = unfit(Memory(array))
    if found < 0:
        return []
    place = np.unravel_index(found, array.shape)
    where = _point(place, program.field(name).lower)
    return [f"{name} held {array[place]} at {where} when the program was called"]


def _point(place: Sequence[Any], lower: Sequence[Any]) -> str:
    return f"({', '.join(str(int(p) + low) for p, low in zip(place, lower, strict=True))})"


def _looked_at(program: ir.Program, meta: KernelMeta, look: Look) -> tuple[int, ir.Step]:
    """Return the step that a nest runs, and its number; one into a temporary is the next one's."""
    steps = [step for step in program.steps if not isinstance(step, ir.Call)]
    number = 0
    for earlier in meta.nests[: look.nest]:
        number += ir.made(steps[number])[0] == earlier.target
    return number, steps[number]
