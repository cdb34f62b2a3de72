"""Functions of a text, which have a source as those of kernels have, and machine code of them."""

from __future__ import annotations

import ctypes
import inspect
import itertools
import linecache
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ssr.kernel import ir
from ssr.kernel.from_python import functions_of
from ssr.kernel.types import Type
from ssr.native import machine_code, python_entry, translate
from ssr.runtime import checked

_COUNT = itertools.count()

INTEGER, DOUBLE = ir.Scalar("i8"), ir.Scalar("f8")
INTEGERS, DOUBLES, SINGLES = ir.Array("i8"), ir.Array("f8"), ir.Array("f4")
"""Types of contiguous arrays with one axis."""


def functions(text: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the functions that a text defines, and the names that it may use."""
    number, text = next(_COUNT), textwrap.dedent(text)
    file = f"<generated {number}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"__name__": f"generated_{number}", "__text__": text, **names}
    exec(compile(text, file, "exec"), scope)
    return scope


def module_of(function: Any, types: Sequence[Type], dtype: str = "float64") -> ir.Module:
    """Return the module of a function: it, those of the same text, and constants that it uses."""
    scope = function.__globals__
    text = scope.get("__text__") or textwrap.dedent(inspect.getsource(function))
    return ir.Module(
        title="A test.",
        dtype=dtype,
        checked=scope.get("ld") is checked.ld,
        constants=(),
        doubles=tuple((n, float(v)) for n, v in scope.items() if isinstance(v, float)),
        labels=tuple((n, v) for n, v in scope.items() if isinstance(v, str) and n[0] != "_"),
        functions=tuple(sorted(functions_of(text), key=lambda f: f.name == function.__name__)),
        types=tuple(types),
    )


def translated(
    function: Any, types: Sequence[Type], *, overlapping: bool = False, dtype: str = "float64"
) -> Any:
    """Return the module of a function in LLVM's language."""
    module = module_of(function, types, dtype)
    return translate.translated(
        module, function.__name__, types, overlapping=overlapping, inside=False
    )


def optimised(
    function: Any, types: Sequence[Type], *, overlapping: bool = False, dtype: str = "float64"
) -> str:
    """Return a function in LLVM's language, as LLVM leaves it."""
    return machine_code.optimised(translated(function, types, overlapping=overlapping, dtype=dtype))


def entered(function: Any, types: Sequence[Type], *, dtype: str = "float64") -> Any:
    """Return a function as Python calls kernels: with arrays and doubles."""
    code = python_entry.begin(translated(function, types, dtype=dtype))()
    return python_entry.compiled(code, types)


_CALL = ctypes.PYFUNCTYPE(ctypes.c_longlong, ctypes.c_void_p)


def compiled(
    function: Any, types: Sequence[Type], *, overlapping: bool = False, dtype: str = "float64"
) -> Callable[..., int]:
    """Return a function compiled for arguments of some types, which may be integers too."""
    module = translated(function, types, overlapping=overlapping, dtype=dtype)
    loaded = machine_code.load(machine_code.begin(module)())
    call = _CALL(loaded.address(translate.ENTRY))

    def run(*given: Any) -> int:
        words: list[int] = []
        for type_, value in zip(types, given, strict=True):
            words += _words(type_, value)
        table = (ctypes.c_longlong * len(words))(*words)
        return call(ctypes.addressof(table))

    vars(run)["loaded"] = loaded
    return run


def _words(type_: Type, value: Any) -> list[int]:
    """Return an argument as the integers that a kernel takes for it."""
    if type_ == INTEGER:
        return [int(value)]
    if not isinstance(type_, ir.Array):
        assert type_ == DOUBLE
        return [int(np.float64(value).view(np.int64))]
    assert (value.dtype, value.ndim) == (np.dtype(type_.element), type_.axes)
    assert value.flags.c_contiguous or not type_.contiguous
    start, _ = value.__array_interface__["data"]
    return [start, *value.shape, *value.strides]
