"""Programs as functions of compiled code: for Numba functions of users, for ctypes and for C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedError
from ..options import Options
from ..points.numbers import Array
from ..public import Immutable
from .check_arrays import addresses
from .launch import Launch
from .native_slots import Slots

if TYPE_CHECKING:
    from ..native.python_entry import Compiled
    from ..numba_backend.program_call import NativeType

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """A parameter that is an array: its type, layout, and whether the program assigns it."""

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    written: bool

    def check(self, array: object) -> None:
        """Raise if an array has another shape or other strides."""
        if not isinstance(array, np.ndarray):
            raise ArgumentError(f"{self.name!r} is {type(array).__name__}, not a NumPy array.")
        if (array.shape, array.strides) != (self.shape, self.strides):
            raise ShapeError(
                f"Array {self.name!r} has shape {array.shape} and strides {array.strides}, not "
                f"{self.shape} and {self.strides}.",
                hint="Call Program.native with arrays of this layout for another native program.",
            )


class NativeProgram(Immutable, Generic[R]):
    """A program as a function of compiled code, for arrays of one layout.

    Made by `Program.native`. It is called with the arguments of the program, from Python and inside
    functions that `numba.njit` compiles, and has an address for C, Fortran and ctypes.

    Attributes
    ----------
    address
        The address of the C function ``int64_t call(void *handle, void *const *arrays, const double
        *scalars, double *results)``. Arrays and scalars are in the order of the parameters;
        ``results`` has room for all values that the program returns. The function returns 0 after
        a run. It returns 1 if an array that is assigned overlaps another one in memory or an array
        is not aligned, and 6 if memory ran out; nothing has been done then. It returns -1 if a
        signal handler has raised an exception, such as KeyboardInterrupt, which is set for the
        thread as C extensions of Python set it.
    handle
        The first argument of this function.
    """

    def __init__(
        self,
        program: Callable[..., R],
        run: Compiled,
        launch: Launch,
        parameters: Sequence[ArrayLayout | str],
        given: Sequence[Array],
        *,
        many: bool,
    ) -> None:
        from ..native.program_call import call_address

        self._program = program
        self._parameters = tuple(parameters)
        arrays = [p for p in parameters if isinstance(p, ArrayLayout)]
        scalars = len(parameters) - len(arrays)
        self._slots = slots = Slots(run, launch, given, scalars)
        self.address = call_address()
        counts = len(arrays), scalars, launch.results
        head = self.address, slots.kernel, slots.first, slots.append, *counts
        layouts = [number for a in arrays for number in (*a.shape, *a.strides)]
        self._memory = np.array([*head, *slots.places, *layouts], np.int64)
        (self.handle,) = addresses([self._memory])
        self._results = launch.results if many else None if launch.results else 0

    @cached_property
    def _numba_type_(self) -> NativeType:
        """The Numba type of the program."""
        from ..numba_backend.program_call import ArrayParameter, NativeType

        parameters = (
            ArrayParameter(p.name, p.dtype.name, len(p.shape), p.written)
            if isinstance(p, ArrayLayout)
            else p
            for p in self._parameters
        )
        return NativeType(tuple(parameters), self._results)

    def __repr__(self) -> str:
        return f"<NativeProgram of {self._program!r}>"

    def __call__(self, *args: object, **named: object) -> R:
        """Run the program from Python."""
        names = [p.name if isinstance(p, ArrayLayout) else p for p in self._parameters]
        given = {**dict(zip(names, args, strict=False)), **named}
        for parameter in self._parameters:
            if isinstance(parameter, ArrayLayout) and parameter.name in given:
                parameter.check(given[parameter.name])
        return self._program(*args, **named)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise UnsupportedError(
            "A native program cannot be pickled.",
            note="It holds compiled code and memory of its process.",
            hint="Make it in each process; kernels come from the cache.",
        )


def check_native(name: str, options: Options) -> None:
    """Check that a program can be a function of compiled code."""
    if options.debug:
        raise UnsupportedError(
            f"{name} has the debug build, whose findings Python reports.",
            hint="Use with_options(ssr.Options(debug=False)).",
        )
    if options.chosen_compiler() == "numba":
        raise UnsupportedError(
            f"{name} is compiled by numba.njit; its kernel can be called from Python only.",
            hint='Use with_options(ssr.Options(compiler="llvm")).',
        )
