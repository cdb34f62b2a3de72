"""Sequences of bound programs that run as a single call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from ..errors import ArgumentError
from .bound import check_row
from .check_arrays import number_of

R = TypeVar("R")
Found = TypeVar("Found", covariant=True)


class BoundProgram(Protocol[Found]):
    """A bound program, which runs on arrays or on ranks."""

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""

    def __call__(self, *scalars: float) -> Found:
        """Run the program."""


def sequence(*programs: BoundProgram[R]) -> Programs[R]:
    """Return bound programs that run one after the other as one.

    On several ranks they are one call of compiled code, messages and reductions included, if
    compiled code can call the MPI library. This removes the Python overhead between programs, which
    is a large part of a step where a rank has few points.

    Parameters
    ----------
    *programs
        Bound programs, made by `Program.bind`, in order. Each may occur only once: bind a program
        once for each time that it runs.

    Returns
    -------
    Programs
        A callable that takes the scalars that were not bound, those of the first program before
        those of the second one. A call returns a tuple of the results of the programs.

    Raises
    ------
    ArgumentError
        If there is no program, one is not bound, or one occurs twice.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(ssr.size("n"))
    >>> @ssr.program(u=cells, dt=ssr.scalar)
    ... def decay(u, dt):
    ...     u[:] = u - dt * u
    >>> @ssr.program(u=cells)
    ... def total(u):
    ...     return ssr.sum(u)
    >>> u = np.ones(8)
    >>> step = ssr.sequence(decay.bind(u), decay.bind(u, 0.5), total.bind(u))
    >>> step(0.75)
    (None, None, 1.0)
    """
    if not programs:
        raise ArgumentError(
            "sequence needs at least one program.", hint="Write ssr.sequence(step.bind(u), ...)."
        )
    for program in programs:
        _check_bound(program)
    names = [program.scalars for program in programs]
    if len({id(program) for program in programs}) < len(programs):
        raise ArgumentError(
            "A bound program comes twice in a sequence.",
            hint="Bind the program once for each time that it runs.",
        )
    chained = getattr(type(programs[0]), "__ssr_sequence__", None)
    return Programs(programs, names, chained and chained(programs))


def _check_bound(program: object) -> None:
    if not (callable(program) and hasattr(program, "repeat")):
        raise ArgumentError(
            f"{program!r} is not a bound program.",
            hint="Bind it first: sequence(step.bind(u, v), ...).",
        )


class Programs(Generic[R]):
    """Bound programs that run one after the other; made by `sequence`."""

    def __init__(
        self,
        programs: Sequence[BoundProgram[R]],
        names: Sequence[Sequence[str]],
        run: Callable[[Sequence[Sequence[float]]], tuple[R, ...]] | None,
    ) -> None:
        self._programs = tuple(programs)
        self._names = [name for several in names for name in several]
        ends = [sum(map(len, names[:n])) for n in range(len(names) + 1)]
        self._parts = [slice(*ends[n : n + 2]) for n in range(len(names))]
        self._run = self._one_by_one if run is None else run

    def __repr__(self) -> str:
        return f"<{len(self._programs)} bound programs, one after the other>"

    def __call__(self, *scalars: float) -> tuple[R, ...]:
        """Run the programs; return what each of them returns."""
        check_row(scalars, self._names)
        pairs = zip(self._names, scalars, strict=True)
        numbers = [number_of(name, value) for name, value in pairs]
        return self._run([numbers[part] for part in self._parts])

    def _one_by_one(self, rows: Sequence[Sequence[float]]) -> tuple[R, ...]:
        pairs = zip(self._programs, rows, strict=True)
        return tuple([program(*row) for program, row in pairs])
