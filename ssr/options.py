"""Compiler options, which apply to all kernels of a program."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace

from .errors import ArgumentError

WIDE = 8
"""Least number of rows of wide boxes along each of their last two axes, unless they have all."""

COMPILERS = "llvm", "numba"
"""The compilers of kernels."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the compiler.

    Parameters
    ----------
    exact
        Keep the arithmetic of a row as it is written: its terms in canonical order (those of the
        row's own line last), one fused multiply-add for each, divisions as divisions. Without it,
        partial sums are shared, divisions become multiplications by reciprocals, recurrences are
        doubled, and products with a field that is known to be zero are dropped. Results then
        differ by rounding, but in the same way for all rows, boxes and runs.
    split
        Separate interior rows from boundary rows, so that loops have no conditions. Results are
        bitwise identical.
    partial_sums, recurrence
        Run the passes of these names. With ``exact`` results are bitwise identical.
    fuse
        Run assignments and reductions line by line in one nest where dependences allow it;
        temporaries then need a few lines or planes instead of an array. Results are bitwise
        identical. A nest that updates a field in place from its neighbours cannot be divided
        into boxes.
    fold
        Inline points that a step of another package makes, such as ghosts: expressions read the
        field itself instead of a copy with ghosts, and the defining formula instead of each ghost.
        Results are bitwise identical.
    cache
        Keep compiled kernels on disk.
    distributed
        Compile for subdomains with separate arrays, between which values are transferred: no step
        is inlined, every nest may be divided, and each subdomain computes the rows beyond it that
        it needs. Results are bitwise identical. It is set by packages that distribute programs.
    wide_boxes
        Assume that each box with separate arrays has all rows, or at least 8, along each of its
        last two axes. Fewer rows beyond boxes are then computed. Results are bitwise identical.
    cpu
        Compile for a processor, as LLVM names it: ``"x86-64-v3"`` for all with AVX2. Kernels use
        only instructions of this processor. Results are bitwise identical. By default it is the
        one that ``SSR_CPU`` or ``NUMBA_CPU_NAME`` in the environment names, or else this machine's.
        The stage "assembly" of `Program.explain` also shows kernels that cannot run here.
    compiler
        ``"llvm"``, which is the default, or ``"numba"``: `numba.njit` compiles the Python source of
        kernels, in each process. Results are bitwise identical, but compilation takes several
        times as long. ``SSR_COMPILER`` in the environment sets the default of all programs.
    debug
        Build kernels that check each access to memory, and report the first infinity or NaN that a
        statement makes as a NonFiniteError, and a pivot along a line that is zero as a
        SingularMatrixError. Keeps bits, but is much slower. ``SSR_DEBUG=1`` in
        the environment does this for all programs.

    Raises
    ------
    ArgumentError
        If an option is neither True nor False, the processor is not a string, or the compiler is
        unknown.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(*ssr.sizes("n"))
    >>> @ssr.program(y=cells, x=cells, options=ssr.Options(cpu="x86-64-v3"))
    ... def double(y, x):
    ...     y[:] = 2.0 * x
    >>> "zmm" in double.explain("assembly")
    False
    >>> double.with_options(ssr.Options(cpu="x86-64-v33"))
    Traceback (most recent call last):
        ...
    ssr.errors.ArgumentError: cpu is 'x86-64-v33', which is not a name of a processor in LLVM.
    ...
    """

    exact: bool = False
    split: bool = True
    partial_sums: bool = True
    recurrence: bool = True
    fuse: bool = True
    fold: bool = True
    cache: bool = True
    distributed: bool = False
    wide_boxes: bool = False
    cpu: str | None = None
    compiler: str | None = None
    debug: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name == "cpu":
                if value is not None and not isinstance(value, str):
                    raise ArgumentError(f"Option cpu must be a name or None, not {value!r}.")
            elif option.name == "compiler":
                if value is not None:
                    _check_compiler(value, "Option compiler")
            elif not isinstance(value, bool):
                raise ArgumentError(f"Option {option.name} must be True or False, not {value!r}.")

    def chosen_compiler(self) -> str:
        """Return the compiler of kernels: that of the options, or of the environment.

        Raises
        ------
        ArgumentError
            If the environment names one that is unknown.
        """
        found = self.compiler or os.environ.get("SSR_COMPILER") or COMPILERS[0]
        _check_compiler(found, "SSR_COMPILER")
        return found

    def settled(self) -> Options:
        """Return the options together with those that the environment sets."""
        return replace(self, debug=True) if os.environ.get("SSR_DEBUG") == "1" else self


def _check_compiler(name: object, given_by: str) -> None:
    if name not in COMPILERS:
        known = " or ".join(map(repr, COMPILERS))
        raise ArgumentError(f"{given_by} must be {known}, not {name!r}.")
