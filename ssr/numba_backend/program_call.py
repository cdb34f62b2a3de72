"""Calls of native programs (`ssr.run.native_program`) in functions compiled by `numba.njit`.

In such a function, the value of a native program is the address of its handle
(`ssr.native.program_call`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import lower_constant
from numba.core.registry import cpu_target
from numba.core.typing.templates import Signature as CallTypes
from numba.extending import NativeValue, lower_builtin, models, register_model, unbox
from numba.np.arrayobj import make_array

from ..native.builder import BIT, WORD
from ..native.program_call import Handle
from ..runtime.constants import FINISHED, NO_MEMORY, RAISED
from .types import memory

OTHER_LAYOUT = (
    "An array has another shape or other strides than the one that the native program was made for."
)
OVERLAP = "An array that is assigned overlaps another one in memory, or an array is not aligned."
OUT_OF_MEMORY = "There is no scratch memory for another call of a native program at the same time."

_constants: list[Any] = []
"""Native programs whose handles are constants of compiled functions, kept alive for these."""


@dataclass(frozen=True, slots=True)
class ArrayParameter:
    """A parameter that is an array."""

    name: str
    dtype: str
    axes: int
    written: bool

    def check(self, found: Any) -> None:
        """Raise unless an argument has a type that fits."""
        if not isinstance(found, types.Array):
            raise TypingError(f"{self.name!r} is {found}, not an array.")
        if str(found.dtype) != self.dtype or found.ndim != self.axes:
            raise TypingError(
                f"{self.name!r} is an array of {found.dtype} with {found.ndim} axes; the native "
                f"program takes one of {self.dtype} with {self.axes}."
            )
        if self.written and not found.mutable:
            raise TypingError(f"{self.name!r} is assigned, but it is read-only.")


class NativeType(types.Callable):
    """The type of native programs with the same parameters and results.

    Parameters
    ----------
    parameters
        The parameters: an array, or the name of a scalar.
    results
        The length of the tuple that a call returns, 0 for None; None for a float.
    """

    def __init__(self, parameters: tuple[ArrayParameter | str, ...], results: int | None) -> None:
        self.parameters = parameters
        self.results = results
        super().__init__(f"NativeProgram({parameters}, {results})")

    @property
    def values(self) -> int:
        """The number of values that a call returns."""
        return 1 if self.results is None else self.results

    def get_call_type(self, context: Any, args: Sequence[Any], kws: Mapping[str, Any]) -> Any:
        """Return the types of a call."""
        names = [p if isinstance(p, str) else p.name for p in self.parameters]
        declared = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in names])
        try:
            given = declared.bind(*args, **kws).arguments
        except TypeError as error:
            raise TypingError(f"The native program {declared}: {error}.") from None
        taken = []
        for parameter, found in zip(
            self.parameters, map(types.unliteral, given.values()), strict=True
        ):
            if isinstance(parameter, ArrayParameter):
                parameter.check(found)
                taken.append(found)
                continue
            if not isinstance(found, (types.Integer, types.Float)):
                raise TypingError(f"The scalar {parameter!r} is {found}, not a real number.")
            taken.append(types.float64)
        results = types.UniTuple(types.float64, self.results) if self.results else types.none
        returned = types.float64 if self.results is None else results
        return CallTypes(returned, tuple(taken), recvr=self, pysig=declared)

    def get_call_signatures(self) -> tuple[tuple[()], bool]:
        """Return no signatures: they depend on the arrays."""
        return (), True

    def get_impl_key(self, found: Any) -> type[NativeType]:
        """Return the key under which calls are translated."""
        return type(self)


register_model(NativeType)(models.OpaqueModel)


@unbox(NativeType)
def _unbox(kind: Any, program: Any, c: Any) -> Any:
    handle = c.pyapi.object_getattr_string(program, "handle")
    found = c.pyapi.long_as_voidptr(handle)
    c.pyapi.decref(handle)
    return NativeValue(found)


@lower_constant(NativeType)
def _lower_constant(context: Any, builder: Any, kind: Any, program: Any) -> Any:
    _constants.append(program)
    return context.add_dynamic_addr(builder, program.handle, info="a native program")


@lower_builtin(NativeType, NativeType, types.VarArg(types.Any))
def _lower_call(context: Any, builder: Any, found: Any, args: Any) -> Any:
    program: NativeType = found.args[0]
    handle = builder.bitcast(args[0], WORD.as_pointer())
    given = list(zip(program.parameters, found.args[1:], args[1:], strict=True))
    arrays = [(kind, value) for p, kind, value in given if isinstance(p, ArrayParameter)]
    scalars = [value for p, _, value in given if isinstance(p, str)]
    with cgutils.if_unlikely(
        builder, builder.not_(_fit(context, builder, handle, program, arrays))
    ):
        context.call_conv.return_user_exc(builder, ValueError, (OTHER_LAYOUT,))
    starts = [builder.ptrtoint(memory(context, builder, *a).data, WORD) for a in arrays]
    results = cgutils.alloca_once(builder, llvm.DoubleType(), max(1, program.values))
    tables = [
        builder.bitcast(_table(builder, values, kind), WORD.as_pointer())
        for values, kind in ((starts, WORD), (scalars, llvm.DoubleType()))
    ]
    tables.append(builder.bitcast(results, WORD.as_pointer()))
    kind = llvm.FunctionType(WORD, [WORD.as_pointer()] * 4).as_pointer()
    call = builder.inttoptr(builder.load(builder.gep(handle, [WORD(Handle.CALL)])), kind)
    code = builder.call(call, [handle, *tables])
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", code, WORD(FINISHED))):
        _raise(context, builder, code)
    values = [builder.load(builder.gep(results, [WORD(n)])) for n in range(program.values)]
    if program.results is None:
        return values[0]
    if not values:
        return context.get_dummy_value()
    return context.make_tuple(builder, found.return_type, values)


def _fit(
    context: Any, builder: Any, handle: Any, program: NativeType, arrays: Sequence[Any]
) -> Any:
    """Write the comparison of arrays with the layout of a handle; return whether all fit."""
    place = len(Handle) + len(program.parameters)
    fit = BIT(1)
    for kind, array in arrays:
        found = make_array(kind)(context, builder, array)
        for numbers in found.shape, found.strides:
            for number in cgutils.unpack_tuple(builder, numbers):
                known = builder.load(builder.gep(handle, [WORD(place)]))
                fit = builder.and_(fit, builder.icmp_signed("==", number, known))
                place += 1
    return fit


def _table(builder: Any, values: Sequence[Any], kind: Any) -> Any:
    """Return the address of values on the stack."""
    table = cgutils.alloca_once(builder, kind, max(1, len(values)))
    for place, value in enumerate(values):
        builder.store(value, builder.gep(table, [WORD(place)]))
    return table


def _raise(context: Any, builder: Any, code: Any) -> None:
    """Write the exceptions of a call that has not finished."""
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", code, WORD(RAISED))):
        context.call_conv.return_exc(builder)
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", code, WORD(NO_MEMORY))):
        context.call_conv.return_user_exc(builder, MemoryError, (OUT_OF_MEMORY,))
    context.call_conv.return_user_exc(builder, ValueError, (OVERLAP,))


cpu_target.target_context.refresh()  # Numba may be compiling a caller
