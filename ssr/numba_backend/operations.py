"""The operations of the kernel IR as functions that `numba.njit` can compile."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from inspect import Parameter, Signature, signature
from itertools import product
from typing import Any

from numba import types
from numba.extending import lower_builtin, type_callable

from ..kernel import ir
from ..kernel.operations import MODULES, result
from ..kernel.types import TypeMismatch, Vector, common, number
from ..native import arithmetic, control
from ..native.builder import Builder
from ..native.function import WRITERS
from ..native.values import Value, loaded, rounded
from ..runtime import checked, intrinsics
from .types import VectorType, of_numba, returned, to_numba, value


@cache
def register() -> None:
    """Register the operations with Numba."""
    for name, function in _functions():
        _define(function, partial(result, name), WRITERS[name])
    for module in (intrinsics, checked):
        is_checked = module is checked
        _define(module.ld, partial(_of_access, "ld"), partial(_write_ld, is_checked=is_checked))
        _define(module.st, partial(_of_access, "st"), partial(_write_st, is_checked=is_checked))
    for name, function in (("+", operator.add), ("-", operator.sub), ("*", operator.mul),
                           ("/", operator.truediv)):  # fmt: skip
        _define_on_vectors(function, 2, partial(_write_binary, symbol=name))
    _define_on_vectors(operator.neg, 1, lambda b, given, _: arithmetic.negative(b, *given).bits)
    _define_on_vectors(abs, 1, WRITERS["abs"])


def _functions() -> Iterator[tuple[str, Any]]:
    """Yield the operations in printed kernels that are functions of ours, with their names."""
    for module, rules in MODULES.items():
        if module != "vectors":
            defined = import_module(f"..runtime.{module}", __package__)
            yield from ((name, getattr(defined, name)) for name in rules)


def _of_access(name: str, given: Any) -> Any:
    array = given[0]
    return number(array.element) if name == "ld" else None


def _write_ld(b: Builder, given: list[Value], type_: Any, *, is_checked: bool) -> Any:
    array, offset = given
    if is_checked:
        control.check_inside(b, array, offset.bits)
    return loaded(b, array, b.gep(array.memory.data, [offset.bits], inbounds=True))


def _write_st(b: Builder, given: list[Value], type_: Any, *, is_checked: bool) -> None:
    array, offset, stored = given
    if is_checked:
        control.check_inside(b, array, offset.bits)
    assert isinstance(array.type, ir.Array)
    bits = rounded(b, stored, ir.Scalar(array.type.element))
    b.store(bits, b.gep(array.memory.data, [offset.bits], inbounds=True))


def _write_binary(b: Builder, given: list[Value], type_: Any, *, symbol: Any) -> Any:
    return arithmetic.binary(b, symbol, *given).bits


def _define(function: Any, rule: Callable[[Any], Any], write: Any) -> None:
    """Register an operation with Numba."""

    def typer(*given: Any) -> Any:
        try:
            return to_numba(rule(tuple(map(of_numba, given))))
        except (KeyError, TypeMismatch, AttributeError):
            return None

    parameters = signature(function).parameters.values()  # for Numba's argument folding
    vars(typer)["__signature__"] = Signature([Parameter(p.name, p.kind) for p in parameters])
    type_callable(function)(lambda context: typer)
    lower_builtin(function, types.VarArg(types.Any))(_lowered(write))


def _define_on_vectors(function: Any, count: int, write: Any) -> None:
    """Register an operation on vectors, or on vectors and scalars, with Numba."""

    def typer(*given: Any) -> Any:
        try:
            found = common(tuple(map(of_numba, given)))
        except (KeyError, TypeMismatch):
            return None
        return to_numba(found) if isinstance(found, Vector) else None

    typers: dict[int, Any] = {1: lambda a: typer(a), 2: lambda a, b: typer(a, b)}
    type_callable(function)(lambda context: typers[count])
    for kinds in product((VectorType, types.Float), repeat=count):
        if VectorType in kinds:
            lower_builtin(function, *kinds)(_lowered(write))


def _lowered(write: Any) -> Callable[..., Any]:
    """Return the writer of an operation with the signature that Numba requires."""

    def lower(context: Any, builder: Any, signed: Any, args: Any) -> Any:
        b = _Builder(builder.block)
        b.position_at_end(builder.block)
        b.end = lambda: context.call_conv.return_exc(b)
        values = [value(context, b, *each) for each in zip(signed.args, args, strict=True)]
        type_ = None if signed.return_type == types.void else of_numba(signed.return_type)
        found = returned(context, b, signed.return_type, write(b, values, type_))
        builder.position_at_end(b.block)
        return found

    return lower


class _Builder(Builder):
    """A writer of instructions in a function of Numba's."""

    own_functions = True
    end: Callable[[], None]

    def leave(self) -> None:
        """Write the end of the function after Python has raised an exception."""
        self.end()
