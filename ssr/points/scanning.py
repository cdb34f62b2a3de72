"""Loops that run through sets of points, and conditions on them, by isl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import islpy as isl

from ..kernel import ir
from ..kernel.building import compare, every, plus
from .affine import Affine
from .effort import EFFORT, attempted, in_turn
from .expressions import expression
from .loop_tree import For, If, Loop, Run, named, runs_of
from .sets import REMEMBERED, Domain

_CONTEXT = isl.DEFAULT_CONTEXT
_NODE: Any = isl.ast_node_type
_OP: Any = isl.ast_expr_op_type

CONDITION = EFFORT // 10
"""Operations of isl after which a condition is written as it stands."""


ALWAYS = ir.Truth(True)
"""The condition that holds everywhere."""


@in_turn
@lru_cache(maxsize=REMEMBERED)
def condition_on(domain: Domain, context: Domain) -> ir.Expression:
    """Return the condition on parameters and axes that a point lies in a set.

    It is `ALWAYS` where it holds throughout the context. Where isl gives up making it short, it is
    all that the set says.
    """
    raw, known = _as_parameters(domain.isl), _as_parameters(context.isl)

    def shortest() -> ir.Expression:
        if known.is_subset(raw):
            return ALWAYS
        build = isl.AstBuild.from_context(known)
        return _expression(build.expr_from_set(raw.gist(known).coalesce()))

    return attempted(shortest, CONDITION) or constraints(domain)


def constraints(domain: Domain) -> ir.Expression:
    """Return the condition that a point lies in a set, with all that the set says.

    >>> from ..kernel.print_python import expression_text
    >>> rows = Domain.where(("i",), "0 <= i < n and i mod 2 = 1", ("n",))
    >>> print(expression_text(constraints(rows)))
    2 * ((i + 1) // 2) - i - 1 == 0 and i >= 0 and -i + n - 1 >= 0
    """
    cases = [
        every(
            [compare(expression(test), relation, 0) for test, relation in case]
            or [compare(0, "==", 0)]
        )
        for case in domain.cases()
    ]
    if not cases:
        return compare(0, "==", 1)
    return cases[0] if len(cases) == 1 else ir.Any(tuple(cases))


def guarded_loop(
    context: Domain,
    pieces: Sequence[tuple[str, Domain]],
    variable: str,
    ends: tuple[Affine, Affine],
) -> For:
    """Return one loop along the last axis in which conditions at each row choose the piece.

    It is slower than `line_loops`, but as long as the pieces are many, however they lie.
    """
    body: list[Loop] = []
    for name, domain in pieces:
        condition = condition_on(domain, context)
        run = Run(name, (Affine.name(variable),))
        body.append(run if condition == ALWAYS else If(condition, (run,), ()))
    first, last = map(expression, ends)
    return For(variable, first, last, 1, tuple(body))


@in_turn
def line_loops(
    context: Domain, pieces: Sequence[tuple[str, Domain]], variable: str
) -> tuple[Loop, ...]:
    """Return the loops that run pieces along the last axis, in ascending order.

    Notes
    -----
    One tree for all pieces shares conditions, but isl writes a piece once for each case of a
    condition that it takes out of the others. A tree for each piece has it once. The one with fewer
    instances is returned.
    """
    loops = _line_loops(context, tuple(domain for _, domain in pieces), variable)
    return named(loops, {f"p{n}": name for n, (name, _) in enumerate(pieces)})


@lru_cache(maxsize=REMEMBERED)
def _line_loops(context: Domain, pieces: tuple[Domain, ...], variable: str) -> tuple[Loop, ...]:
    """Return the loops of pieces that are called p0, p1 and so on."""
    known = _as_parameters(context.isl)
    rows = {f"p{n}": _along_line(domain, known) for n, domain in enumerate(pieces)}
    together = _scanned(rows, known, variable)
    if _instances(together) <= len(pieces):
        return together
    groups = _in_order({name: found.intersect_params(known) for name, found in rows.items()})
    apart = tuple(
        loop
        for group in groups
        for loop in _scanned({name: rows[name] for name in group}, known, variable)
    )
    return min(together, apart, key=_instances)


def _along_line(domain: Domain, known: Any) -> Any:
    """Return the rows on a line, with the outer axes turned into parameters.

    Where they are one conjunction, given what is known of the parameters, they are written as one.
    """
    first, count = domain.isl.dim(isl.dim_type.param), len(domain.axes) - 1
    rows = domain.isl.move_dims(isl.dim_type.param, first, isl.dim_type.set, 0, count)
    rows = rows.reset_tuple_id().gist_params(known).coalesce()
    if rows.n_basic_set() > 1:
        hull = isl.Set.from_basic_set(rows.simple_hull())
        if hull.intersect_params(known).is_subset(rows):
            return hull
    return rows


def _scanned(rows: Mapping[str, Any], known: Any, variable: str) -> tuple[Loop, ...]:
    """Return the loops that run the rows of some pieces in ascending order."""
    union = isl.UnionMap.empty(known.get_space())
    for name, found in rows.items():
        union = union.union(found.identity().set_tuple_name(isl.dim_type.in_, name))
    build = isl.AstBuild.from_context(known)
    build = build.set_options(isl.UnionMap.read_from_str(_CONTEXT, "{ [i] -> separate[0] }"))
    names = isl.IdList.alloc(_CONTEXT, 1).add(isl.Id.read_from_str(_CONTEXT, variable))
    return _nodes(build.set_iterators(names).node_from_schedule_map(union))


def _instances(loops: Sequence[Loop]) -> int:
    return sum(len(runs_of(loop)) for loop in loops)


def _in_order(rows: Mapping[str, Any]) -> list[list[str]]:
    """Return groups of pieces, one after the other in ascending order on every line.

    Pieces are in one group if each has rows before some of the other, or if others connect them.
    """
    before = {
        name: {
            other
            for other, theirs in rows.items()
            if other != name and not theirs.lex_lt_set(own).is_empty()
        }
        for name, own in rows.items()
    }
    for middle in rows:
        for found in before.values():
            if middle in found:
                found |= before[middle]
    groups: dict[frozenset[str], list[str]] = {}
    for name in sorted(rows, key=lambda name: len(before[name] | {name})):
        groups.setdefault(frozenset(before[name] | {name}), []).append(name)
    return list(groups.values())


def _as_parameters(raw: Any) -> Any:
    """Return a set with all its axes turned into parameters."""
    count = raw.dim(isl.dim_type.set)
    return raw.move_dims(
        isl.dim_type.param, raw.dim(isl.dim_type.param), isl.dim_type.set, 0, count
    ).params()


def _nodes(node: Any) -> tuple[Loop, ...]:
    kind = node.get_type()
    if kind == isl.ast_node_type.block:
        children = node.block_get_children()
        found = (_nodes(children.get_at(n)) for n in range(children.n_ast_node()))
        return tuple(loop for part in found for loop in part)
    if kind == _NODE.if_:
        then = _nodes(node.if_get_then_node())
        orelse = _nodes(node.if_get_else_node()) if node.if_has_else_node() else ()
        return then if then == orelse else (If(_expression(node.if_get_cond()), then, orelse),)
    if kind == _NODE.for_:
        return _for(node)
    assert kind == isl.ast_node_type.user
    call = node.user_get_expr()
    name = call.get_op_arg(0).get_id().get_name()
    count = call.get_op_n_arg()
    return (Run(name, tuple(_affine(call.get_op_arg(n)) for n in range(1, count))),)


def _for(node: Any) -> tuple[Loop, ...]:
    variable = node.for_get_iterator().get_id().get_name()
    start = _expression(node.for_get_init())
    body = _nodes(node.for_get_body())
    if node.for_is_degenerate():
        return (For(variable, start, plus(start, 1), 1, body),)
    condition = node.for_get_cond()
    bound = _expression(condition.get_op_arg(1))
    if condition.get_op_type() == isl.ast_expr_op_type.le:
        bound = plus(bound, 1)
    step = int(node.for_get_inc().get_val().to_python())
    return (For(variable, start, bound, step, body),)


_INFIX: dict[Any, ir.Infix] = {
    _OP.add: "+", _OP.sub: "-", _OP.mul: "*", _OP.div: "//", _OP.fdiv_q: "//", _OP.pdiv_q: "//",
    _OP.pdiv_r: "%", _OP.zdiv_r: "%",
}  # fmt: skip
_RELATIONS: dict[Any, ir.Relation] = {
    _OP.eq: "==", _OP.le: "<=", _OP.lt: "<", _OP.ge: ">=", _OP.gt: ">",
}  # fmt: skip
_CALLS = {_OP.max: "max", _OP.min: "min"}


def _expression(found: Any) -> ir.Expression:
    """Return an expression of isl."""
    kind = found.get_type()
    if kind == isl.ast_expr_type.id:
        return ir.Name(str(found.get_id().get_name()))
    if kind == isl.ast_expr_type.int:
        return ir.Integer(int(found.get_val().to_python()))
    operator = found.get_op_type()
    args = tuple(_expression(found.get_op_arg(n)) for n in range(found.get_op_n_arg()))
    if operator in _CALLS:
        return ir.Call(_CALLS[operator], args)
    if operator in _INFIX:
        return ir.Binary(_INFIX[operator], *args)
    if operator in _RELATIONS:
        return ir.Compare(_RELATIONS[operator], *args)
    if operator in (_OP.and_, _OP.and_then):
        return ir.All(args)
    if operator in (_OP.or_, _OP.or_else):
        return ir.Any(args)
    if operator == _OP.minus:
        return ir.Negative(*args)
    assert operator in (_OP.cond, _OP.select)
    return ir.Select(*args)


def _affine(expression: Any) -> Affine:
    kind = expression.get_type()
    if kind == isl.ast_expr_type.id:
        return Affine.name(str(expression.get_id().get_name()))
    if kind == isl.ast_expr_type.int:
        return Affine((), int(expression.get_val().to_python()))
    operator = expression.get_op_type()
    args = [_affine(expression.get_op_arg(n)) for n in range(expression.get_op_n_arg())]
    match operator:
        case isl.ast_expr_op_type.add:
            return args[0] + args[1]
        case isl.ast_expr_op_type.sub:
            return args[0] - args[1]
        case isl.ast_expr_op_type.minus:
            return -args[0]
        case isl.ast_expr_op_type.mul:
            return args[0] * args[1].constant if args[1].is_constant else args[1] * args[0].constant
        case isl.ast_expr_op_type.pdiv_r | isl.ast_expr_op_type.zdiv_r:
            return args[0] % args[1].constant
    assert operator in (
        isl.ast_expr_op_type.div,
        isl.ast_expr_op_type.fdiv_q,
        isl.ast_expr_op_type.pdiv_q,
    )
    return args[0] // args[1].constant
