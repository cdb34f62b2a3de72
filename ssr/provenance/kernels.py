"""Kernels on terms: checked source in plain Python that records the operations of each value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir
from ..algebra.stored import argument
from ..compiler.kernel import Kernel, generated
from ..kernel.kernel_names import mangled
from ..options import Options
from ..points.numbers import Array
from ..run.declaration import Declaration
from ..run.prepare import prepare
from ..runtime.intrinsics import Memory
from ..runtime.metadata import KernelMeta
from .operations import LABELS, Terms, scope
from .terms import of_number, term

DTYPE = "float64"
"""The dtype of arrays that hold term numbers."""


def kernel(
    program: ir.Program, options: Options, captured: int = 0, *, labelled: bool = False
) -> Kernel:
    """Return the kernel of a program on terms."""
    module, meta = generated(program, options, DTYPE)
    names = vars(module)
    names.update({name: f for name, f in scope(labelled).items() if name in names})
    if labelled:
        steps = {f"c{n}_step": call.name for n, call in enumerate(meta.calls)}
        names.update({f: LABELS.within(n, names[f]) for f, n in steps.items() if f in names})
    run = _on_terms(names[meta.entry], meta, captured)
    return Kernel(program.name, "", meta, lambda: run, from_cache=True)


def _on_terms(function: Callable[..., int], meta: KernelMeta, captured: int) -> Callable[..., int]:
    """Return a function of a module as one of arrays that hold the numbers of terms."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    as_given = {"weights", *(f"c{n}_weights" for n in range(len(meta.calls)))}
    as_given |= {mangled(name) for name in meta.fields[len(meta.fields) - captured :]}
    as_given |= {argument(s.matrix, s.what, s.operand and mangled(s.operand)) for s in meta.stored}

    def taken(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return (
                Terms(value) if value.dtype.kind == "f" and name not in as_given else _flat(value)
            )
        return of_number(float(value)) if isinstance(value, float) else value

    def run(*args: Any) -> int:
        return function(*map(taken, names, args))

    return run


def _flat(array: Array) -> Any:
    """Return an array of numbers as a kernel takes it in plain Python."""
    return Memory(array) if array.dtype.kind == "f" else array


def on_terms(declaration: Declaration) -> Declaration:
    """Return a declaration whose constants are numbers of terms; its data has the type of these."""
    return replace(
        declaration,
        constants=tuple(float(term(value).number) for value in declaration.constants),
        captured=tuple(np.asarray(a, DTYPE) for a in declaration.captured),
    )


def run_on_arrays(
    declaration: Declaration,
    arrays: Mapping[str, Array],
    scalars: Sequence[float],
) -> tuple[float, ...]:
    """Run a program on arrays of term numbers; return the term numbers of its results."""
    captured = len(declaration.captured)

    def build(_: str) -> Kernel:
        return kernel(declaration.program, declaration.options, captured)

    fields = declaration.program.fields
    given = [arrays[f.name] for f in fields[: len(fields) - captured]]
    launch = prepare(declaration, build, [*given, *declaration.captured], None, _unwritten)
    initial = tuple((n, index, _numbers(values)) for n, index, values in launch.initial)
    memory = replace(launch, initial=initial).memory()
    taken = *_parts(declaration, arrays), *memory.middle, *scalars, *memory.end
    assert not launch.ready()(*taken), "a kernel has refused arrays"
    return memory.found()


def _parts(declaration: Declaration, arrays: Mapping[str, Array]) -> list[Array]:
    """Return the arrays of a declaration's parameters, vector fields whole."""
    return [arrays[p.name] for p in declaration.fields]


def _numbers(values: Any) -> Array:
    """Return values as the numbers of their terms."""
    found = [term(value).number for value in np.ravel(values)]
    return np.array(found, DTYPE).reshape(np.shape(values))


def _unwritten(shape: Any, dtype: Any) -> Array:
    """Return memory whose initial values make uninitialized reads visible."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else 0, dtype)
