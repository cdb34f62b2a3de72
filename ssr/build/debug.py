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
from ..runtime.checked import unfit
from ..runtime.intrinsics import Memory
from ..runtime.metadata import KernelMeta


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
    steps = [step for step in program.steps if not isinstance(step, ir.Call)]
    made = [ir.made(step) for step in steps]
    read = {n for s in steps for value in ir.values(s) for n in ir.arrays(value)}

    def call(*args: Any) -> int:
        arrays = dict(zip(names, args, strict=False))
        given = [note for n in meta.fields if n in read for note in _held(n, program, arrays[n])]
        code = run(*args)
        if code < BAD:
            return code
        bad, place = divmod(code - BAD, len(meta.looks))
        target = meta.looks[place].target
        step = _step_of(meta.looks[place].nest, made, meta)
        name = target if target in made[step] else made[step][0]
        where, value = "", "an infinity or nan"
        if target in arrays:
            point = np.unravel_index(bad, arrays[target].shape)
            value = str(arrays[target][point])
            first, *_ = ir.parts(steps[step])
            made_here = program.field(name) if target == name else program.rows(first)
            where = f" at {_point(point, made_here.lower)}"
        note = "; ".join(given) or None
        solve = steps[step]
        if isinstance(solve, ir.Solve) and target not in made[step]:
            if np.isinf(arrays[target][point]):
                raise _vanishing(program, solve, point, places[step], note)
            name = f"a pivot of {name}"
        raise NonFiniteError(
            f"The program {program.name} makes {value} in {name}{where}.",
            span=places[step],
            note=note,
        )

    return call


def _vanishing(
    program: ir.Program, solve: ir.Solve, point: Sequence[Any], place: Span | None, note: str | None
) -> SingularMatrixError:
    """Return the error of a pivot that is zero, with its line and where it is on it."""
    first = solve.assignments[0]
    lower = program.rows(first).lower
    line = [str(int(p) + low) for p, low in zip(point, lower, strict=True)]
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


def _point(place: Sequence[Any], lower: Sequence[int]) -> str:
    return f"({', '.join(str(int(p) + low) for p, low in zip(place, lower, strict=True))})"


def _step_of(nest: int, made: Sequence[Sequence[str]], meta: KernelMeta) -> int:
    """Return the number of the step that a nest runs; one into a temporary belongs to the next."""
    step = 0
    for earlier in meta.nests[:nest]:
        step += made[step][0] == earlier.target
    return step
