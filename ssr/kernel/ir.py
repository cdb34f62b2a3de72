"""The kernel IR: functions of loops, branches, assignments and memory accesses.

It is the last representation of a kernel. `print_python` prints it as Python source, which runs in
plain Python and compiles with Numba; the back end translates it to LLVM IR. Nodes are immutable and
compare by value. A variable has one type throughout a function: integer, boolean, number of the
fields' type, double, bundle of numbers, or array.

Integers are written with ``+ - * // %``, ``min`` and ``max``; ``//`` and ``%`` round down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Infix: TypeAlias = Literal["+", "-", "*", "/", "//", "%", "&", "|", "<<", ">>"]
Relation: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
Order: TypeAlias = Literal["serial", "independent", "vectors", "rolled"]
"""The execution order of a loop: the rows of a serial loop run in sequence, and an independent loop
has no dependences between rows. A loop over vectors is not unrolled further, and a rolled loop (one
with few rows, or with strided accesses) is neither vectorized nor unrolled."""

# -- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Integer:
    """A known integer."""

    value: int


@dataclass(frozen=True, slots=True)
class Real:
    """A constant in double precision; ``repr`` distinguishes 0.0 and -0.0."""

    text: str


@dataclass(frozen=True, slots=True)
class Truth:
    """A known truth."""

    value: bool


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, an argument, or a constant of the module."""

    name: str


@dataclass(frozen=True, slots=True)
class Binary:
    """An operation on two numbers, or on two truths with ``&`` and ``|``: both are computed."""

    operator: Infix
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative:
    """A number with the other sign."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Not:
    """The other truth."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """Whether a relation between two numbers holds."""

    relation: Relation
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class All:
    """The conjunction of predicates; those after the first false one are not evaluated."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """The disjunction of predicates; those after the first true one are not evaluated."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Select:
    """One of two values, of which the other is not computed."""

    test: Expression
    then: Expression
    orelse: Expression


@dataclass(frozen=True, slots=True)
class Load:
    """The element of an array at a flat offset, which may be a table of integers."""

    array: Expression
    offset: Expression


@dataclass(frozen=True, slots=True)
class Element:
    """The element of an array at an index, or a part of a group."""

    array: Expression
    index: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent of an array along an axis."""

    array: str
    axis: int


@dataclass(frozen=True, slots=True)
class Group:
    """Several values as one."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation by its name, such as ``fma`` or ``np.exp``, or of a function."""

    function: str
    arguments: tuple[Expression, ...]


Expression: TypeAlias = (
    "Integer | Real | Truth | Name | Binary | Negative | Not | Compare | All | Any | Select | Load"
    " | Element | Extent | Group | Call"
)

# -- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Let:
    """An assignment to a variable, or to several the parts of a group."""

    targets: tuple[str, ...]
    value: Expression


@dataclass(frozen=True, slots=True)
class Store:
    """An assignment to the element of an array at a flat offset."""

    array: Expression
    offset: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class SetElement:
    """An assignment to the element of an array at an index."""

    array: str
    index: tuple[Expression, ...]
    value: Expression


@dataclass(frozen=True, slots=True)
class Do:
    """A call for its effects."""

    call: Call
    comment: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """A loop of a variable over the integers from ``start`` to before ``stop``."""

    variable: str
    start: Expression
    stop: Expression
    step: Expression
    body: tuple[Statement, ...]
    order: Order = "serial"
    comment: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """A loop that runs while a truth holds."""

    test: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If:
    """A branch."""

    test: Expression
    then: tuple[Statement, ...]
    orelse: tuple[Statement, ...] = ()
    comment: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a function, with or without a result."""

    value: Expression | None = None


Statement: TypeAlias = "Let | Store | SetElement | Do | For | While | If | Return"


# -- functions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """A function with the names of its arguments."""

    name: str
    arguments: tuple[str, ...]
    body: tuple[Statement, ...]


# -- modules ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalar:
    """The type of a number: ``f4``, ``f8``, ``i4`` or ``i8``."""

    element: str


@dataclass(frozen=True, slots=True)
class Array:
    """The type of an array: of its elements, its axes, and whether it is contiguous or written."""

    element: str
    axes: int = 1
    contiguous: bool = True
    written: bool = False


Type: TypeAlias = "Scalar | Array"


@dataclass(frozen=True, slots=True)
class Module:
    """The functions of a kernel, with callees before their callers; the last is its entry.

    Attributes
    ----------
    title
        The first line of the printed module.
    dtype
        The type of the fields' numbers, by NumPy's name.
    checked
        Whether the accesses to memory are checked.
    constants, doubles
        Names of numbers of the fields' type, and of doubles.
    labels
        Names of texts.
    types
        The types of the arguments of the entry.
    """

    title: str
    dtype: str
    checked: bool
    constants: tuple[tuple[str, float], ...]
    doubles: tuple[tuple[str, float], ...]
    labels: tuple[tuple[str, str], ...]
    functions: tuple[Function, ...]
    types: tuple[Type, ...]


# -- parts and changes -----------------------------------------------------------------------------

Node: TypeAlias = "Expression | Statement"


def parts(node: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression in the order of their evaluation."""
    match node:
        case Name() | Integer() | Real():
            return ()
        case Binary() | Compare():
            return node.left, node.right
        case Load():
            return node.array, node.offset
        case Call():
            return node.arguments
        case Negative() | Not():
            return (node.operand,)
        case All() | Any() | Group():
            return node.parts
        case Select():
            return node.test, node.then, node.orelse
        case Element():
            return node.array, *node.index
    return ()


def expressions(node: Statement) -> tuple[Expression, ...]:
    """Return the expressions of a statement, except those of nested statements."""
    match node:
        case Let(value=value):
            return (value,)
        case Store(array, offset, value):
            return array, offset, value
        case SetElement(_, index, value):
            return *index, value
        case Do(call):
            return (call,)
        case For(start=start, stop=stop, step=step):
            return start, stop, step
        case While(test=test) | If(test=test):
            return (test,)
        case Return(value):
            return () if value is None else (value,)


def blocks(node: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Return the blocks of a statement."""
    match node:
        case For(body=body) | While(body=body):
            return (body,)
        case If(_, then, orelse):
            return then, orelse
    return ()


def walk(node: Expression) -> Iterator[Expression]:
    """Yield an expression and all its subexpressions."""
    left = [node]
    while left:
        here = left.pop()
        yield here
        left += parts(here)[::-1]


def statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield statements and all inside them, in the order of the text."""
    for node in body:
        yield node
        for block in blocks(node):
            yield from statements(block)


def names(node: Node) -> set[str]:
    """Return the names that an expression or a statement reads, including nested ones."""
    if isinstance(node, Let | Store | SetElement | Do | For | While | If | Return):
        found = {node.array} if isinstance(node, SetElement) else set()
        for part in expressions(node):
            found |= names(part)
        for block in blocks(node):
            for inner in block:
                found |= names(inner)
        return found
    found = {part.name for part in walk(node) if isinstance(part, Name)}
    return found | {part.array for part in walk(node) if isinstance(part, Extent)}
