"""Vectorize loops over rows for the vector length of the processor. Bit-exact.

before:  for i in range(n): st(t, i, a * ld(t, i))
after:   for i in vectors(0, n, 8): vector_store(t, i, a * vector_load8(t, i))
"""

from __future__ import annotations

from dataclasses import replace

from .. import ir
from ..fresh_names import Names
from ..inference import Functions, Scope
from ..rewriting import mentioned
from ..types import Type
from ..uses import Uses
from ..vector_target import Target
from .context import Context
from .functions import vectorized


def vectorize(module: ir.Module, target: Target) -> ir.Module:
    r"""Return a module with its loops over rows as loops over vectors of a processor.

    Its array arguments must not share memory with each other. A function that is called with
    arguments of several types is not changed.

    Examples
    --------
    >>> from ssr.kernel.from_python import functions_of
    >>> from ssr.kernel.print_python import function_lines
    >>> from ssr.runtime.target import AVX512
    >>> functions = functions_of(
    ...     "def f(t, n, a):\n    for i in range(n): st(t, i, a * ld(t, i))"
    ... )
    >>> types = ir.Array("f8"), ir.Scalar("i8"), ir.Scalar("f8")
    >>> module = ir.Module("", "float64", False, (), (), (), functions, types)
    >>> for line in function_lines(vectorize(module, AVX512).functions[0]):
    ...     print(line)
    def f(t, n, a):
        early_1 = (address(t) & 63) >> 3 if line_steps(t) & 63 == 0 else 0
        first_1 = -early_1 if n >= 48 or early_1 + (n - 1 & 7) < 8 else 0
        i_1 = first_1
        i_past_1 = n - 7
        while i_1 < n:
            if i_1 < 0 or i_1 >= i_past_1:
                i = i_1
                rows_1 = rows_between8(-i, n - i)
                vector_store(t, i, a * vector_load8(t, i, rows_1), rows_1)
                i_1 = i_1 + 8
            for i in vectors(i_1, i_past_1, 8):
                vector_store(t, i, a * vector_load8(t, i))
                i_1 = i + 8
    """
    scopes: dict[str, dict[tuple[Type, ...], Scope]] = {}
    functions = Functions(module)
    for name, types in functions.variables:
        scopes.setdefault(name, {})[tuple(map(_as_read, types))] = functions.scope(name, types)
    found = tuple(
        _function(module, function, target, *scopes[function.name].values())
        if len(scopes.get(function.name, ())) == 1
        else function
        for function in module.functions
    )
    return replace(module, functions=found)


def _as_read(type_: Type) -> Type:
    """Return the type of a value that is read; vectors do not depend on whether it is written."""
    return replace(type_, written=False) if isinstance(type_, ir.Array) else type_


def _function(
    module: ir.Module, function: ir.Function, target: Target, scope: Scope
) -> ir.Function:
    uses = Uses(function)
    types = {name: scope.variables[name] for name in function.arguments}
    arrays = {name: type_ for name, type_ in types.items() if isinstance(type_, ir.Array)}
    known = (*module.constants, *module.doubles, *module.labels)
    taken = {*function.arguments, *mentioned(function.body), *(name for name, _ in known)}
    context = Context(
        target=target,
        scope=scope,
        uses=uses,
        names=Names(taken | {each.name for each in module.functions}),
        arrays=len(arrays.keys() & uses.in_loops),
        fields=tuple(name for name, type_ in arrays.items() if not type_.contiguous),
    )
    return vectorized(context, function)
