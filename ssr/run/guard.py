"""Guards of launches: check that arrays have the layout for which a launch was prepared.

A compiled kernel compares its arrays with this layout itself: types and flags
(`ssr.native.python_entry`), shapes and strides (`ssr.native.control`). The guards here serve other
kernels: those in plain Python, those of the debug build, and those compiled by Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..points.numbers import Array
from ..runtime.constants import ALIGNED, REFUSED, WRITEABLE
from .declaration import Declaration


def needed_flags(declaration: Declaration) -> tuple[int, ...]:
    """Return the flags that the arrays of a program need, vector fields as their components."""
    written = declaration.written
    return tuple(
        ALIGNED | (WRITEABLE if field.name in written else 0)
        for field in declaration.program.fields
    )


@dataclass(frozen=True, slots=True)
class Form:
    """The properties of an array that a launch was prepared for, except its address.

    Attributes
    ----------
    dtype
        The type of elements.
    strides
        The strides of the last axes; components of a vector field may have any distance.
    flags
        The flags that are set.
    """

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    flags: int

    def fits(self, array: object) -> bool:
        """Whether an array is of this form."""
        return (
            isinstance(array, np.ndarray)
            and array.dtype == self.dtype
            and array.shape == self.shape
            and array.strides[-len(self.strides) :] == self.strides
            and array.flags.num & self.flags == self.flags
        )


def forms(declaration: Declaration, arrays: Sequence[Array]) -> tuple[Form, ...]:
    """Return the forms of the arrays that a launch calls its kernel with, vector fields whole."""
    fields, needed = declaration.program.fields, needed_flags(declaration)
    known = {
        field.name: Form(array.dtype, array.shape, array.strides, flags)
        for field, array, flags in zip(fields, arrays, needed, strict=True)
    }
    for name, parts in declaration.program.vectors:
        components = [known.pop(part) for part in parts]
        first = components[0]
        flags = max(one.flags for one in components)
        known[name] = Form(first.dtype, (len(parts), *first.shape), first.strides, flags)
    parameters = [parameter.name for parameter in declaration.fields]
    return tuple(known.pop(name) for name in parameters) + tuple(known.values())


def guarded(run: Callable[..., int], known: Sequence[Form]) -> Callable[..., int]:
    """Return a kernel that refuses arrays of other forms among its first arguments."""

    def call(*args: object) -> int:
        fit = all(form.fits(array) for form, array in zip(known, args, strict=False))
        return run(*args) if fit else REFUSED

    return call
