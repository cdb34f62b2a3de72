"""Symbolic derivatives of pointwise functions, and conversion to and from SymPy expressions.

A function is run once on symbols and converted to SymPy expressions. SymPy expressions become
functions of numbers, arrays, run-time values of a generator, or fields of a program.
"""

from __future__ import annotations

import functools
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..elementary import FUNCTIONS, STEPS
from ..errors import ArgumentError, UnsupportedError
from ..points.numbers import plain
from . import functions, nodes
from .printing import show
from .values import Operand, Row, Symbol, Value, node, power


def jacobian(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that gives the derivatives of a function of several values.

    If ``function(q, *more)`` maps a sequence q of m values to n values, the result maps the same
    arguments to the n x m matrix of the derivatives by q, as a tuple of rows; if it gives a single
    value, to its m derivatives. Values are numbers, arrays, run-time values of a generator or
    fields of a program. Where q is an array of one axis, such as ``u[:, i]`` of a vector field in a
    generator, the result is an array too.

    Parameters
    ----------
    function
        Arithmetic and functions of this package. It runs once, on symbols; at the kinks of `abs`,
        `minimum`, `maximum` and `where` the derivative is that of the value chosen.

    Raises
    ------
    UnsupportedError
        If SymPy has no derivative of a function.

    Examples
    --------
    >>> def flux(q, g):
    ...     h, hu = q
    ...     return hu, hu**2 / h + g * h**2 / 2
    >>> F = jacobian(flux)
    >>> for row in F((2.0, 4.0), 10.0):
    ...     print(*map(float, row))
    0.0 1.0
    16.0 4.0

    In a generator it gives run-time values:

    >>> import ssr
    >>> line = ssr.Space(ssr.size("n"))
    >>> @ssr.matrix(rows=line, cols=line, h=line, hu=line)
    ... def A(i, *, h, hu):
    ...     yield i, F((h[i], hu[i]), 10.0)[1][1]
    >>> A
    <Matrix A: Space(n) -> Space(n), 1 family, h=Space(n), hu=Space(n)>
    """
    if not callable(function):
        raise ArgumentError(f"ssr.jacobian differentiates a function, not {function!r}.")
    known: dict[tuple[int, int], Callable[..., Any]] = {}

    def derivatives(q: Any, *more: Any) -> Any:
        array = isinstance(q, np.ndarray) and q.ndim > 0
        if not (array or isinstance(q, (tuple, list, Row))) or not len(q):
            raise ArgumentError(f"ssr.jacobian takes a sequence of values, not {q!r}.")
        count = len(q), len(more)
        if count not in known:
            known[count] = _derived(function, *count)
        found = known[count](*q, *more)
        return np.array(found) if isinstance(q, np.ndarray) and q.ndim == 1 else found

    return functools.update_wrapper(derivatives, function, updated=())


def _derived(function: Callable[..., Any], count: int, more: int) -> Callable[..., Any]:
    """Return the derivatives by the first arguments, as a function of all arguments."""
    import sympy

    given = [Value(nodes.Scalar(f"q{n}")) for n in range(count + more)]
    made = function(tuple(given[:count]), *given[count:])
    symbols = {v.node: sympy.Symbol(str(v), real=True) for v in given}
    by = [symbols[v.node] for v in given[:count]]

    def row(value: object) -> list[Any]:
        expression = to_sympy(node(value, "Results of a function"), symbols)
        return [sympy.diff(expression, q) for q in by]

    several = isinstance(made, (tuple, list))
    rows = [row(v) for v in made] if several else row(made)
    outer = [Value(n) for n in symbols if all(n != v.node for v in given)]
    compute = lambdify(list(symbols.values()), rows)
    return lambda *args: compute(*args, *outer)


def lambdify(arguments: Sequence[Any], expressions: Any) -> Callable[..., Any]:
    """Return SymPy expressions as a function of symbols of this package, arrays and numbers.

    Common subexpressions are computed once, and so is the reciprocal of a repeated denominator.

    Parameters
    ----------
    arguments
        SymPy symbols, in the order of the function's parameters.
    expressions
        An expression, or a list, tuple or SymPy matrix of them, nested; the function gives the
        same with tuples.

    Raises
    ------
    ArgumentError
        If an expression holds another symbol.
    UnsupportedError
        If a function has no counterpart here.

    Examples
    --------
    The right side of a Poisson equation whose solution is known:

    >>> import numpy as np, sympy
    >>> x, y = sympy.symbols("x y")
    >>> u = sympy.sin(sympy.pi * x) * sympy.exp(y)
    >>> f = lambdify([x, y], -sympy.diff(u, x, x) - sympy.diff(u, y, y))
    >>> f(np.array([0.0, 0.5]), 0.0).round(4)
    array([0.    , 8.8696])
    """
    import sympy

    if not isinstance(arguments, (tuple, list)):
        raise ArgumentError(f"arguments must be a list of SymPy symbols, not {arguments!r}.")
    flat: list[Any] = []

    def number(part: Any) -> Any:
        if isinstance(part, sympy.MatrixBase):
            part = part.tolist()
        if isinstance(part, (list, tuple)):
            return tuple(map(number, part))
        flat.append(_sympified(part))
        return len(flat) - 1

    shape = number(expressions)
    unknown = set[Any]().union(*(e.free_symbols for e in flat)) - set(arguments)
    if unknown:
        raise ArgumentError(f"No argument stands for {', '.join(sorted(map(str, unknown)))}.")
    inverse = _inverses(flat, arguments)
    powers = {p: r**-p.exp for p in _divisors(flat) if (r := inverse.get(p.base)) is not None}
    flat = [expression.xreplace(powers) for expression in flat]
    shared, results = sympy.cse(flat, symbols=sympy.numbered_symbols(cls=sympy.Dummy))
    shared = [*((r, 1 / base) for base, r in inverse.items()), *shared]
    for expression in (*(e for _, e in shared), *results):
        _check(expression)

    def compute(*args: Any) -> Any:
        if len(args) != len(arguments):
            raise ArgumentError(f"The function takes {len(arguments)} values, not {len(args)}.")
        for a in args:
            if not isinstance(plain(a), (numbers.Number, np.ndarray, Operand, Symbol)):
                raise ArgumentError(f"A value of the function is {a!r}, not a number or an array.")
        values = dict(zip(arguments, args, strict=True))
        for symbol, expression in shared:
            values[symbol] = evaluate(expression, values)
        found = [evaluate(e, values) for e in results]

        def arranged(part: Any) -> Any:
            return tuple(map(arranged, part)) if isinstance(part, tuple) else found[part]

        return arranged(shape)

    return compute


def _sympified(part: Any) -> Any:
    """Return an expression of SymPy, or a number as one."""
    import sympy

    try:
        found = sympy.sympify(part, strict=True)
    except sympy.SympifyError:
        found = None
    if not isinstance(found, (sympy.Expr, sympy.logic.boolalg.Boolean)):
        raise ArgumentError(f"{part!r} is not an expression of SymPy.")
    return found


def _divisors(flat: Sequence[Any]) -> set[Any]:
    """Return the powers in expressions by which they are divided."""
    import sympy

    powers = set[Any]().union(*(e.atoms(sympy.Pow) for e in flat))
    return {p for p in powers if p.exp.is_Integer and p.exp.is_negative}


def _inverses(flat: Sequence[Any], arguments: Sequence[Any]) -> dict[Any, Any]:
    """Return symbols for the reciprocals of arguments of which several powers are divisors."""
    import sympy

    bases = [power.base for power in _divisors(flat)]
    return {a: sympy.Dummy(f"over_{a}", real=True) for a in arguments if bases.count(a) > 1}


def to_sympy(value: nodes.Value, symbols: dict[nodes.Value, Any]) -> Any:
    """Return a value as a SymPy expression; nodes that are not operations become symbols.

    Functions with kinks become piecewise ones, which SymPy derives without distributions.
    """
    import sympy

    match value:
        case nodes.Const(number):
            return sympy.Integer(int(number)) if number.is_integer() else sympy.Float(number)
        case nodes.Op(name, args) if name not in STEPS:
            parts = [to_sympy(a, symbols) for a in args]
        case _:
            return symbols.setdefault(value, sympy.Dummy(show(value), real=True))

    def choice(condition: Any, a: Any, b: Any) -> Any:
        return sympy.Piecewise((a, condition), (b, True), evaluate=False)

    meaning: dict[str, Callable[..., Any]] = {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
        "neg": operator.neg, "pow": operator.pow, "lt": sympy.Lt, "le": sympy.Le,
        "gt": sympy.Gt, "ge": sympy.Ge, "eq": sympy.Eq, "ne": sympy.Ne, "and": sympy.And,
        "or": sympy.Or, "not": sympy.Not, "where": choice,
        "min": lambda a, b: choice(a < b, a, b), "max": lambda a, b: choice(a > b, a, b),
        "abs": lambda a: choice(a < 0, -a, a),
        "sign": lambda a: choice(a > 0, 1, choice(a < 0, -1, 0)),
    }  # fmt: skip
    if name in FUNCTIONS:
        return FUNCTIONS[name].in_sympy(sympy, *parts)
    return meaning[name](*parts)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f.sympy: getattr(functions, name) for name, f in FUNCTIONS.items() if f.sympy},
    "Abs": abs, "sign": functions.sign,
    "Min": lambda *args: functools.reduce(functions.minimum, args),
    "Max": lambda *args: functools.reduce(functions.maximum, args),
    "Pow": power, "Add": lambda *args: functools.reduce(operator.add, args),
    "StrictLessThan": operator.lt, "LessThan": operator.le, "StrictGreaterThan": operator.gt,
    "GreaterThan": operator.ge, "Equality": operator.eq, "Unequality": operator.ne,
    "And": lambda *args: functools.reduce(operator.and_, args),
    "Or": lambda *args: functools.reduce(operator.or_, args),
    "Not": lambda a: not a if isinstance(a, bool) else ~a,
}  # fmt: skip
"""SymPy classes and the functions that evaluate them."""

_STRUCTURE = frozenset({"Mul", "Piecewise", "ExprCondPair", "BooleanTrue", "BooleanFalse"})


def _check(expression: Any) -> None:
    """Raise an error if an expression cannot be evaluated."""
    import sympy

    for part in sympy.preorder_traversal(expression):
        name = type(part).__name__
        known = part.is_Symbol or part.is_number or name in _FUNCTIONS or name in _STRUCTURE
        if not known or (part.is_number and part.is_extended_real is False):
            raise UnsupportedError(
                f"SymPy's {part} has no counterpart in kernels.",
                hint="There are arithmetic, powers, comparisons, Piecewise, exp, log, sin and the "
                "like; see the functions of ssr.",
            )


def evaluate(expression: Any, values: Mapping[Any, Any]) -> Any:
    """Return the value of an expression, given those of its symbols."""
    if expression.is_Symbol:
        return values[expression]
    name = type(expression).__name__
    if name in ("BooleanTrue", "BooleanFalse"):
        return bool(expression)
    if expression.is_number and not expression.is_Relational:
        return float(expression)
    if name == "Mul":
        return _product(expression.args, values)
    if name == "Piecewise":
        return _piecewise(expression.args, values)
    return _FUNCTIONS[name](*(evaluate(a, values) for a in expression.args))


def _product(factors: Sequence[Any], values: Mapping[Any, Any]) -> Any:
    """Return a product, divided once by the product of the factors with negative powers."""
    above, below, negative = [], [], False
    for factor in factors:
        if factor.is_Pow and factor.exp.is_number and factor.exp.is_negative:
            below.append(evaluate(1 / factor, values))
        elif factor == -1:
            negative = not negative
        else:
            above.append(evaluate(factor, values))
    result = functools.reduce(operator.mul, above) if above else 1.0
    if below:
        result = result / functools.reduce(operator.mul, below)
    return -result if negative else result


def _piecewise(pairs: Sequence[Any], values: Mapping[Any, Any]) -> Any:
    """Return the first value whose condition holds, NaN if none does."""
    if not pairs:
        return float("nan")
    first, condition = pairs[0].args
    if condition == True:  # noqa: E712  (SymPy's own truth)
        return evaluate(first, values)
    holds = plain(evaluate(condition, values))
    if isinstance(holds, bool):
        return evaluate(first, values) if holds else _piecewise(pairs[1:], values)
    return functions.where(holds, evaluate(first, values), _piecewise(pairs[1:], values))
