"""Bound programs: a program and its arrays, checked once, so that calls have little overhead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedError
from ..points.numbers import Array
from .check_arrays import number_of

if TYPE_CHECKING:
    from .launch import Argument, Launch, Memory

R = TypeVar("R")


class Bound(Generic[R]):
    """A program and the arrays it runs on, made by `Program.bind`.

    Call it with the scalars that were not bound, in the order of the program's parameters.
    """

    def __init__(
        self,
        launch: Launch,
        fields: Sequence[Array],
        scalars: Mapping[str, float | None],
        returned: Callable[[tuple[float, ...]], R],
    ) -> None:
        self._launch = launch
        self._fields = tuple(fields)
        self._scalars = dict(scalars)
        self._open = [name for name, value in scalars.items() if value is None]
        first = len(self._fields) + len(launch.bound[0]) + len(launch.scratch[0])
        self._places = [first + n for n, value in enumerate(scalars.values()) if value is None]
        self._returned = returned
        self._results = bool(launch.results)
        self._nothing = returned(())  # is returned if there are no results
        self._kept: list[tuple[list[Argument | None], Memory]] = []  # one for each concurrent call

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""
        return tuple(self._open)

    def __call__(self, *scalars: float) -> R:
        """Run the program."""
        try:
            kept = self._kept.pop()
        except IndexError:
            kept = self._arguments()
        arguments = kept[0]
        if scalars or self._open:
            check_row(scalars, self._open)
            for place, name, value in zip(self._places, self._open, scalars, strict=True):
                arguments[place] = number_of(name, value)
        if self._launch.run(*arguments):
            raise ShapeError(
                "An array has another shape, other strides or another dtype than when it was "
                "bound, or is read-only now.",
                hint="Bind the program again.",
            )
        self._kept.append(kept)
        return self._returned(kept[1].found()) if self._results else self._nothing

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise UnsupportedError(
            "A bound program cannot be pickled.",
            note="It holds arrays and compiled code of its process.",
            hint="Bind the program in each process; kernels come from the cache.",
        )

    def repeat(self, rows: Iterable[Sequence[float]]) -> Array:
        """Run the program for each row of scalars, one after the other, with the bits of calls.

        On many ranks this is one call of compiled code, messages included.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> cells = ssr.Space(3)
        >>> @ssr.program(u=cells, dt=ssr.scalar)
        ... def decay(u, dt):
        ...     u[:] = u - dt * u
        ...     return ssr.sum(u)
        >>> decay.bind(np.ones(3)).repeat([(0.5,), (0.5,), (0.25,)])
        array([[1.5   ],
               [0.75  ],
               [0.5625]])
        """
        every = scalar_rows(rows, self._open).tolist()
        found = [self(*row) for row in every]
        if not self._launch.results:
            return np.empty((len(every), 0))
        return np.array(found, np.float64).reshape(len(every), self._launch.results)

    def _arguments(self) -> tuple[list[Argument | None], Memory]:
        """Return the kernel's arguments, with new scratch memory; None for scalars of a call."""
        memory = self._launch.memory(overlapping=True)
        return [*self._fields, *memory.middle, *self._scalars.values(), *memory.end], memory


def scalar_rows(rows: Iterable[Sequence[float]], names: Sequence[str]) -> Array:
    """Return rows of numbers for scalars as an array."""
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "iuf":
        check_row(range(rows.shape[1]), names)
        return rows.astype(np.float64)
    found = []
    if not isinstance(rows, Iterable):
        raise ArgumentError(
            f"repeat takes a row of scalars for each run, not {rows!r}.",
            hint="Write repeat([()] * 10) for ten runs without scalars.",
        )
    for row in rows:
        check_row(row, names)
        found.append([number_of(name, value) for name, value in zip(names, row, strict=True)])
    return np.array(found, np.float64).reshape(len(found), len(names))


def check_row(scalars: object, names: Sequence[str]) -> None:
    """Raise unless there is a number for each scalar that was not bound."""
    if not isinstance(scalars, Sized):
        raise ArgumentError(
            f"{scalars!r} is not a row of scalars.",
            hint="Write [(0.1,), (0.2,)] for two runs with a scalar.",
        )
    if len(scalars) != len(names):
        raise ArgumentError(
            f"The bound program takes {len(names)} numbers, not {len(scalars)}.",
            note=f"They are {', '.join(names)}." if names else None,
        )
