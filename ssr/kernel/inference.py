"""Type inference for the variables of kernel IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from . import ir
from .operations import result
from .types import (
    DOUBLE,
    INTEGER,
    TRUTH,
    Text,
    Tuple,
    Type,
    TypeMismatch,
    Vector,
    common,
    compared,
    number,
)


@dataclass
class Scope:
    """The types of the variables of a function, as far as they are known.

    Attributes
    ----------
    module
        The types of names that are visible in all functions.
    real
        The type of the fields' numbers.
    variables
        The types of the function's own variables.
    functions
        Returns the type of the result of a function of the module, given its argument types.
    """

    module: Mapping[str, Type]
    real: ir.Scalar
    functions: Functions
    variables: dict[str, Type] = field(default_factory=dict)

    def of(self, node: ir.Expression) -> Type:
        """Return the type of an expression."""
        match node:
            case ir.Integer():
                return INTEGER
            case ir.Real():
                return DOUBLE
            case ir.Truth() | ir.Not() | ir.All() | ir.Any():
                return self._truth(node)
            case ir.Name(name):
                return self.variables[name] if name in self.variables else self.module[name]
            case ir.Binary(_, left, right):
                return common((self.of(left), self.of(right)))
            case ir.Negative(operand):
                return self.of(operand)
            case ir.Compare(_, left, right):
                return compared((self.of(left), self.of(right)))
            case ir.Select(_, then, orelse):
                chosen, other = self.of(then), self.of(orelse)
                return chosen if chosen == other else common((chosen, other))
            case ir.Load(array):
                return number(self.array(array).element)
            case ir.Element(whole, index):
                return self._element(self.of(whole), index)
            case ir.Extent():
                return INTEGER
            case ir.Group(parts):
                return Tuple(tuple(map(self.of, parts)))
            case ir.Call(function, arguments):
                given = tuple(map(self.of, arguments))
                if function in self.functions.found:
                    return self.functions.result(function, given)
                return self._result(function, given)

    def array(self, node: ir.Expression) -> ir.Array:
        """Return the type of an array."""
        found = self.of(node)
        if not isinstance(found, ir.Array):
            raise TypeMismatch(f"{node} has the type {found}; it is not an array.")
        return found

    def _result(self, function: str, given: tuple[Type, ...]) -> Type:
        return self.real if function == "real" else result(function, given)

    def _truth(self, node: ir.Expression) -> Type:
        """Return the type of a condition: the type of its first part, a predicate or a vector."""
        parts = ir.parts(node)
        found = self.of(parts[0]) if parts else TRUTH
        return found if isinstance(found, Vector) else TRUTH

    def _element(self, whole: Type, index: Sequence[ir.Expression]) -> Type:
        match whole, index:
            case Tuple(parts), [ir.Integer(place)]:
                return parts[place]
            case ir.Array(element), _:
                return number(element)
        raise TypeMismatch(f"A value of the type {whole} has no element.")

    def run(self, body: Sequence[ir.Statement]) -> None:
        """Find the types of the variables that statements assign."""
        for node in body:
            found = [self.of(part) for part in ir.expressions(node)]
            match node, found:
                case ir.Let((name,)), [type_]:
                    self._assign(name, type_)
                case ir.Let(names), [Tuple(types)]:
                    for name, type_ in zip(names, types, strict=True):
                        self._assign(name, type_)
                case ir.For(variable), _:
                    self._assign(variable, INTEGER)
            for block in ir.blocks(node):
                self.run(block)

    def _assign(self, name: str, found: Type) -> None:
        known = self.variables.setdefault(name, found)
        if known != found and common((known, found)) != known:
            raise TypeMismatch(f"The variable {name} of type {known} is assigned one of {found}.")


class Functions:
    """The functions of a module with the types of their variables, found from their callers."""

    def __init__(self, module: ir.Module) -> None:
        self.found = {function.name: function for function in module.functions}
        self.variables: dict[tuple[str, tuple[Type, ...]], dict[str, Type]] = {}
        self.real = ir.Scalar({"float64": "f8", "float32": "f4"}[module.dtype])
        self._names: dict[str, Type] = {
            **{name: self.real for name, _ in module.constants},
            **{name: DOUBLE for name, _ in module.doubles},
            **{name: Text(text) for name, text in module.labels},
        }
        self.result(module.functions[-1].name, module.types)

    def scope(self, name: str, types: Sequence[Type]) -> Scope:
        """Return the types of the variables of a function, given the types of its arguments."""
        key = name, tuple(types)
        known = self.variables.get(key)
        if known is None:
            function = self.found[name]
            known = dict(zip(function.arguments, types, strict=True))
            self.variables[key] = known
            Scope(self._names, self.real, self, known).run(function.body)
        return Scope(self._names, self.real, self, known)

    def result(self, name: str, types: Sequence[Type]) -> Type:
        """Return the type of the result of a function: an integer, or None without a result."""
        self.scope(name, types)
        nodes = ir.statements(self.found[name].body)
        values = (node.value is not None for node in nodes if isinstance(node, ir.Return))
        return INTEGER if any(values) else None
