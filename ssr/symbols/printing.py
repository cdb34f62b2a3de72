"""Print values in mathematical notation."""

from __future__ import annotations

from . import nodes

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "pow": "**", "and": "&", "or": "|",
}  # fmt: skip


_PARTS = {
    (0, 3): "", (0, 2): ".tril()", (0, 1): ".tril(-1)", (1, 2): ".diagonal()", (1, 3): ".triu()",
    (2, 3): ".triu(1)",
}  # fmt: skip


def show(value: nodes.Value) -> str:
    """Return a value as a person writes it."""
    match value:
        case nodes.Const(number):
            return repr(number)
        case nodes.Scalar(name):
            return name
        case nodes.Rounded(inner):
            return show(inner)
        case nodes.Coordinate(index):
            return f"({index})"
        case nodes.Load(array, index, new):
            return f"{array}{'′' if new else ''}[{', '.join(map(str, index))}]"
        case nodes.Op("neg", (a,)):
            return f"(-{show(a)})"
        case nodes.Op("not", (a,)):
            return f"~{show(a)}"
        case nodes.Op(name, (a, b)) if name in _INFIX:
            return f"({show(a)} {_INFIX[name]} {show(b)})"
        case nodes.Op(name, args):
            return f"{name}({', '.join(map(show, args))})"
        case nodes.Gather(matrix, row, array=array, part=part, new=new):
            place = ", ".join(map(str, row))
            return f"{matrix}{_PARTS[part]}[{place}] @ {array}{'′' if new else ''}"
        case nodes.Diagonal(matrix, row):
            return f"{matrix}.diagonal()[{', '.join(map(str, row))}]"
        case nodes.Sum(terms):
            return "sum(" + "; ".join(map(show_term, terms)) + ")"


def show_term(term: nodes.Term) -> str:
    """Return one term of a sum with its region."""
    body = show(term.weight)
    if term.operand is not None:
        body += f" * {show(term.operand)}"
    return f"{body} where {term.domain.notation()}"
