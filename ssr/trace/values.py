"""Run-time values inside a generator: matrix data and arithmetic on it.

A `Value` is known only when a kernel runs. It can be computed with, but not be the condition of a
Python `if`; `where` chooses between values.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .. import ir
from ..errors import (
    ArgumentError,
    DtypeError,
    OutOfSpaceError,
    RuntimeConditionError,
    SpaceError,
    UnsupportedError,
)
from ..points.affine import Affine
from ..points.index import Index, affine, plain
from ..points.sets import Domain
from ..points.space import Space

FOLD: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "pow": np.power, "neg": np.negative, "abs": np.absolute, "sign": np.sign,
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "tanh": np.tanh, "arctan2": np.arctan2,
    "min": np.minimum, "max": np.maximum, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "where": np.where,
}  # fmt: skip
"""What operations mean."""

CONDITIONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"})
"""Operations whose result is true or false."""

LOGICAL = frozenset({"and", "or", "not"})
"""Operations on conditions."""

FUNCTIONS = "ssr.sqrt, ssr.log, ssr.sin, ssr.maximum, ssr.where and the like"


def fold(name: str, *args: float) -> float:
    """Return an operation on numbers, with NumPy's infinities and NaN and without its warnings."""
    with np.errstate(all="ignore"):
        return float(FOLD[name](*args))


class Symbol:
    """What stands for a number that is known at run time: the functions it knows, and not."""

    __slots__ = ()

    def told(self) -> str:
        """Return the symbol as messages call it."""
        return f"run-time value {self!r}"

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **options: Any) -> Any:
        from .functions import ufunc

        return ufunc(function, method, args, options)

    def __pow__(self, exponent: object) -> Any:
        from .functions import power

        return power(self, exponent)

    def __rpow__(self, base: object) -> Any:
        from .functions import power

        return power(base, self)

    def __floordiv__(self, other: object) -> NoReturn:
        raise UnsupportedError(
            f"The {self.told()} is divided by // or %.", hint="Only + - * / ** and abs."
        )

    __rfloordiv__ = __mod__ = __rmod__ = __floordiv__

    def __and__(self, other: object) -> Any:
        from .functions import logical

        return logical("and", self, other)

    def __or__(self, other: object) -> Any:
        from .functions import logical

        return logical("or", self, other)

    __rand__, __ror__ = __and__, __or__

    def __xor__(self, other: object) -> NoReturn:
        raise UnsupportedError(
            f"The {self.told()} is combined by ^.", hint="Conditions are combined by & | ~."
        )

    __rxor__ = __xor__

    def __invert__(self) -> Any:
        from .functions import logical

        return logical("not", self)

    def __getitem__(self, place: object) -> Any:
        raise ArgumentError(f"The {self.told()} has no elements.")

    def __float__(self) -> NoReturn:
        raise RuntimeConditionError(
            f"The {self.told()} is used where Python needs a number.",
            hint=f"Use {FUNCTIONS} instead of math.",
        )

    __int__ = __index__ = __complex__ = __trunc__ = __floor__ = __ceil__ = __float__

    def __round__(self, digits: int | None = None) -> NoReturn:
        self.__float__()


def _element(name: str) -> Callable[[Value], Any]:
    """Return a function as NumPy asks the elements of an array for it."""
    return lambda element: operation(name, element)


class Value(Symbol):
    """A number known at run time: a scalar, an element of a field, or arithmetic of these."""

    __slots__ = ("node",)

    sqrt, exp, log, sin, cos, tan, tanh = map(
        _element, ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh")
    )

    def __init__(self, node: ir.Value) -> None:
        self.node = node

    def __repr__(self) -> str:
        return show(self.node)

    def __add__(self, other: object) -> Any:
        return _binary("add", self, other)

    def __radd__(self, other: object) -> Any:
        return _binary("add", other, self)

    def __sub__(self, other: object) -> Any:
        return _binary("sub", self, other)

    def __rsub__(self, other: object) -> Any:
        return _binary("sub", other, self)

    def __mul__(self, other: object) -> Any:
        return _binary("mul", self, other)

    def __rmul__(self, other: object) -> Any:
        return _binary("mul", other, self)

    def __truediv__(self, other: object) -> Any:
        return _binary("div", self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _binary("div", other, self)

    def __neg__(self) -> Any:
        return operation("neg", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Any:
        return operation("abs", self)

    def __lt__(self, other: object) -> Any:
        return _binary("lt", self, other)

    def __le__(self, other: object) -> Any:
        return _binary("le", self, other)

    def __gt__(self, other: object) -> Any:
        return _binary("gt", self, other)

    def __ge__(self, other: object) -> Any:
        return _binary("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return _binary("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return _binary("ne", self, other)

    def __hash__(self) -> int:
        return hash(self.node)

    def __bool__(self) -> bool:
        raise RuntimeConditionError(
            f"A Python condition depends on the run-time value {self}.",
            note="The generator runs once, when the matrix is declared, not for each row.",
            hint="Choose between values with ssr.where(condition, a, b).",
        )


class Row(Symbol):
    """What stands for a number at every row of a space: functions are applied row by row."""

    __slots__ = ()

    def pointwise(self, name: str, *args: object) -> Any:
        """Return an operation on numbers, values and rows, of which this is one."""
        raise NotImplementedError

    def lift(self, other: object) -> Any:
        """Return a number or value as the same at every row; arrays and matrices are refused."""
        raise NotImplementedError

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise RuntimeConditionError(
            f"The {self.told()} is used where NumPy needs an array.",
            hint=f"Values are numbers, one for each row: use {FUNCTIONS}.",
        )


class FieldData:
    """A field given to a generator: ``u[i, j]`` is its value at a point, relative to the row."""

    __slots__ = ("name", "outside", "space")

    def __init__(
        self,
        name: str,
        space: Space,
        outside: Callable[[Space, tuple[Affine, ...]], Domain | None],
    ) -> None:
        self.name = name
        self.space = space
        self.outside = outside

    def __repr__(self) -> str:
        return f"<Field {self.name}>"

    def _without_a_point(self, *_: object) -> NoReturn:
        raise DtypeError(
            f"Field {self.name!r} is used as a number.",
            hint=f"Read it at a point: {self.name}[...].",
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _without_a_point
    __truediv__ = __rtruediv__ = __pow__ = __neg__ = __abs__ = _without_a_point
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = _without_a_point

    def __getitem__(self, point: object) -> Value:
        index = point if isinstance(point, tuple) else (point,)
        if len(index) != self.space.ndim:
            raise SpaceError(
                f"Field {self.name!r} is read with {len(index)} of {self.space.ndim} indices."
            )
        column = tuple(affine(p) for p in index)
        outside = self.outside(self.space, column)
        if outside is not None:
            raise OutOfSpaceError(
                f"Field {self.name!r} is read outside its space, "
                f"at ({', '.join(map(str, column))}).",
                note=f"That is outside for {outside.notation()}.",
                hint="Guard the read with `if`, or give the field on space.grow(width).",
            )
        return Value(ir.Load(self.name, column))


def node(value: object, what: str = "Matrix entries") -> ir.Value:
    """Return a number, index or value as an IR node.

    Raises
    ------
    DtypeError
        If it is none of these, or complex.
    """
    if isinstance(value, Value):
        return value.node
    if isinstance(value, Index):
        return ir.Coordinate(value.affine)
    if isinstance(value, Affine):
        return ir.Coordinate(value)
    number = plain(value)
    if isinstance(number, Value):
        return number.node
    if isinstance(number, FieldData):
        number._without_a_point()
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise DtypeError(
            f"{value!r} is not a real number.",
            hint=f"{what} are numbers, scalars, fields and arithmetic of these.",
        )
    return ir.Const(float(number))


def known_early(value: ir.Value) -> bool:
    """Whether a value is made of indices, sizes and numbers alone."""
    return not any(isinstance(part, (ir.Load, ir.Scalar)) for part in ir.walk(value))


def is_condition(value: ir.Value) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, ir.Op) and value.name in CONDITIONS


def _binary(name: str, *args: object) -> Any:
    """Return an operation, or NotImplemented if the other operand knows better."""
    if not all(isinstance(plain(a), (Value, Index, FieldData, numbers.Number)) for a in args):
        return NotImplemented
    return operation(name, *args)


def operation(name: str, *args: object) -> Any:
    """Return an operation on values, computed at once if all are numbers."""
    nodes = tuple(node(a) for a in args)
    if all(isinstance(n, ir.Const) for n in nodes):
        return Value(ir.Const(fold(name, *(n.value for n in nodes if isinstance(n, ir.Const)))))
    return Value(ir.Op(name, nodes))


_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "pow": "**", "and": "&", "or": "|",
}  # fmt: skip


_PARTS = {
    (0, 3): "", (0, 2): ".tril()", (0, 1): ".tril(-1)", (1, 2): ".diagonal()", (1, 3): ".triu()",
    (2, 3): ".triu(1)",
}  # fmt: skip


def show(value: ir.Value) -> str:
    """Return a value as a person writes it."""
    match value:
        case ir.Const(number):
            return repr(number)
        case ir.Scalar(name):
            return name
        case ir.Coordinate(index):
            return f"({index})"
        case ir.Load(array, index, new):
            return f"{array}{'′' if new else ''}[{', '.join(map(str, index))}]"
        case ir.Op("neg", (a,)):
            return f"(-{show(a)})"
        case ir.Op("not", (a,)):
            return f"~{show(a)}"
        case ir.Op(name, (a, b)) if name in _INFIX:
            return f"({show(a)} {_INFIX[name]} {show(b)})"
        case ir.Op(name, args):
            return f"{name}({', '.join(map(show, args))})"
        case ir.Gather(matrix, row, array=array, part=part, new=new):
            place = ", ".join(map(str, row))
            return f"{matrix}{_PARTS[part]}[{place}] @ {array}{'′' if new else ''}"
        case ir.Diagonal(matrix, row):
            return f"{matrix}.diagonal()[{', '.join(map(str, row))}]"
        case ir.Sum(terms):
            return "sum(" + "; ".join(map(show_term, terms)) + ")"


def show_term(term: ir.Term) -> str:
    """Return one term of a sum with its region."""
    body = show(term.weight)
    if term.operand is not None:
        body += f" * {show(term.operand)}"
    return f"{body} where {term.domain.notation()}"
