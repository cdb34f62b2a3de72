"""The pass over a module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .. import ir
from ..inference import Functions, Scope
from ..operations import VECTORS
from ..rewriting import mentioned
from ..types import Type
from ..uses import Uses
from .context import Context
from .functions import vectorized
from .naming import Names
from .target import Target


def vectorize(module: ir.Module, target: Target) -> ir.Module:
    r"""Return a module with its loops over rows as loops over vectors of a processor.

    Its array arguments must not share memory with each other. A function that is called with
    arguments of several types stays as it is.

    Parameters
    ----------
    module
        The module.
    target
        The processor.

    Examples
    --------
    >>> from ssr.kernel.from_python import functions_of
    >>> from ssr.kernel.print_python import function_lines
    >>> from ssr.runtime.target import AVX512
    >>> functions = functions_of(
    ...     "def f(t, n, a):\n    for i in range(n): st(t, i, a * ld(t, i))"
    ... )
    >>> types = ir.Array("f8"), ir.Scalar("i8"), ir.Scalar("f8")
    >>> signature = ir.Signature("SIGNATURE", "f", types)
    >>> module = ir.Module("", "float64", (), (), (), (), functions, (signature,))
    >>> for line in function_lines(vectorize(module, AVX512).functions[0]):
    ...     print(line)
    """
    scopes: dict[str, dict[tuple[Type, ...], Scope]] = {}
    for (name, types), scope in Functions(module).scopes.items():
        scopes.setdefault(name, {})[tuple(map(_as_read, types))] = scope
    found = tuple(
        _function(module, function, target, *scopes[function.name].values())
        if len(scopes.get(function.name, ())) == 1
        else function
        for function in module.functions
    )
    return replace(module, functions=found, imports=(*module.imports, *_imports(found)))


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
        sums={},
        begun=set(),
    )
    return vectorized(context, function)


def _imports(functions: tuple[ir.Function, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the module of the operations on vectors, with the names that functions use."""
    nodes = [node for function in functions for node in ir.statements(function.body)]
    ranges = {node.order for node in nodes if isinstance(node, ir.For)}
    called = {
        part.function
        for node in nodes
        for expression in ir.expressions(node)
        for part in ir.walk(expression)
        if isinstance(part, ir.Call)
    }
    used = (ranges & {"vectors", "few"}) | (called & VECTORS.keys())
    if used:
        yield "ssr.runtime.vectors", tuple(sorted(used))
