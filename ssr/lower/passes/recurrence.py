"""Split recurrences along a line into a dependence-free part and a serial chain.

    before:  x[i] = (b[i] + sum of other terms + w x[i-1]) / d
    after:   t[i] = b[i] + sum of other terms                 (vectorized)
             x[i] = (t[i] + w x[i-1]) / d                     (the chain)

The split is bit-exact, since the terms of the row's own line come last (`order_terms`). With
`factor` (reassociates) the division is moved out of the chain. With `doubling` (reassociates)
a chain with one constant coefficient a, |a| < 0.3, becomes vectorized steps u[i] += a^s u[i-s],
s = 1, 2, 4 ... m/2, two of them per loop; terms below the rounding error are omitted. Doubling is
applied only where boxes cannot split the line in any case, so that a box always holds whole lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ... import ir
from ...algebra.families import multiply
from ...algebra.own_box import is_local
from ...distributed.row_bounds import regions
from ...points.affine import Affine
from ..nests import covered
from .order_terms import own_line

NEGLIGIBLE = {"float64": 2.0**-55, "float32": 2.0**-26}
"""Relative size below which a term is lost in rounding: a quarter of half an ulp."""

LARGEST = 0.3
"""Largest coefficient of a chain for doubling; larger coefficients would need too many terms."""


def recurrence(
    nest: ir.Nest, fields: Mapping[str, ir.Field], *, factor: bool, negligible: float
) -> ir.Nest:
    """Return the nest with chains split off."""
    if nest.joint:
        return nest
    statements: list[ir.Statement] = []
    buffers = list(nest.buffers)
    for statement in nest.statements:
        statements += _split(statement, nest, fields, buffers, factor, negligible)
    doubled = any(b.pad for b in buffers[len(nest.buffers) :]) and not is_local(nest.context)
    return replace(nest, statements=tuple(statements), buffers=tuple(buffers), whole_lines=doubled)


def _split(
    statement: ir.Statement,
    nest: ir.Nest,
    fields: Mapping[str, ir.Field],
    buffers: list[ir.Buffer],
    factor: bool,
    negligible: float,
) -> list[ir.Statement]:
    parts = _parts(statement.value)
    if statement.array != nest.target or parts is None:
        return [statement]
    total, operation, divisor = parts
    chain = tuple(t for t in total.terms if own_line(t, nest))
    if not chain:
        return [statement]
    rest = covered(ir.Sum(tuple(t for t in total.terms if t not in chain)), statement.domain, -0.0)
    name = ir.scratch("t", buffers)
    last = Affine.name(nest.axes[-1])
    from_buffer = ir.Term(statement.domain, ir.ONE, ir.Load(name, (last,)))
    ahead = replace(statement, name=f"ahead_{name[1:]}", array=name, index=(last,), parallel=True)
    if operation is None:
        factor = True
    if not factor:
        buffers.append(ir.Buffer(name, 1, 0))
        value = ir.Op(operation or "", (ir.Sum((from_buffer, *chain)), divisor))
        return [replace(ahead, value=rest), replace(statement, value=value)]
    scaled = rest if operation is None else ir.Op(operation, (rest, divisor))
    made = [replace(ahead, value=scaled)]
    coefficients, more = _coefficients(chain, operation, divisor, ahead, buffers)
    steps = 0
    if negligible and not more:
        steps = _steps(coefficients, statement, nest, fields[nest.target], negligible)
    buffers.append(ir.Buffer(name, 1, 2**steps if steps else 0, cleared=steps > 0))
    if steps:
        return [
            *made,
            *_doubled(name, coefficients[0], steps, statement, nest, buffers, negligible),
        ]
    total = ir.Sum((from_buffer, *coefficients))
    return [*made, *more, replace(statement, value=total)]


def _parts(value: ir.Value | None) -> tuple[ir.Sum, str | None, ir.Value] | None:
    """Return (sum, operation, other operand) of ``sum``, ``sum / d`` or ``sum * a``."""
    match value:
        case ir.Sum():
            return value, None, ir.ONE
        case ir.Op("div" | "mul" as name, (ir.Sum() as total, divisor)):
            return total, name, divisor
    return None


def _coefficients(
    chain: tuple[ir.Term, ...],
    operation: str | None,
    divisor: ir.Value,
    ahead: ir.Statement,
    buffers: list[ir.Buffer],
) -> tuple[tuple[ir.Term, ...], list[ir.Statement]]:
    """Return the chain's terms with the division in their weights, and the weights' statements."""
    found: list[ir.Term] = []
    made: list[ir.Statement] = []
    for term in chain:
        if operation is None:
            found.append(term)
        elif operation == "mul" and isinstance(divisor, ir.Const):
            found.append(replace(term, weight=multiply(divisor, term.weight)))
        else:
            name = ir.scratch("q", buffers)
            buffers.append(ir.Buffer(name, 1, 0))
            weight = ir.Op(operation, (term.weight, divisor))
            made.append(
                replace(
                    ahead,
                    name=f"ahead_{name[1:]}",
                    array=name,
                    domain=ahead.domain & term.domain,
                    value=weight,
                )
            )
            found.append(replace(term, weight=ir.Load(name, ahead.index)))
    return tuple(found), made


def _steps(
    chain: tuple[ir.Term, ...],
    statement: ir.Statement,
    nest: ir.Nest,
    field: ir.Field,
    negligible: float,
) -> int:
    """Return the number of doubling steps, 0 if the chain has no such form."""
    if len(chain) != 1 or not isinstance(chain[0].weight, ir.Const) or nest.earlier is None:
        return 0
    if is_local(nest.context) and not statement.local:  # the terms depend on the box
        return 0
    load = chain[0].operand
    direction = -1 if nest.order == "backward" else 1
    last = Affine.name(nest.axes[-1])
    assert isinstance(load, ir.Load)
    before = (*map(Affine.name, nest.axes[:-1]), load.index[-1])
    coefficient = abs(chain[0].weight.value)
    if load.index[-1] != last - direction or not 0 < coefficient < LARGEST:
        return 0
    if not any(offset[-1] * direction > 0 for offset in nest.earlier):
        return 0
    rows = statement.domain
    lines = (r.on_line(nest.axes).preimage(before, nest.axes) for r in regions(field, nest))
    if not any((rows & line).equals(rows & chain[0].domain) for line in lines):
        return 0
    steps = 1
    while coefficient ** (2**steps) > negligible:
        steps += 1
    return steps


def _doubled(
    name: str,
    term: ir.Term,
    steps: int,
    statement: ir.Statement,
    nest: ir.Nest,
    buffers: list[ir.Buffer],
    negligible: float,
) -> list[ir.Statement]:
    """Return the doubling steps, two in one loop where possible; the last writes the target."""
    assert isinstance(term.weight, ir.Const)
    direction = -1 if nest.order == "backward" else 1
    last = Affine.name(nest.axes[-1])
    other = ir.scratch("u", buffers)
    buffers.append(ir.Buffer(other, 1, 2**steps, cleared=True))
    source, target = name, other
    made = []
    distance = 1
    while distance < 2**steps:
        radix = 4 if distance * 4 <= 2**steps else 2
        terms = []
        for n in range(radix):
            weight = ir.Const(term.weight.value ** (n * distance)) if n else ir.ONE
            if abs(weight.value) < negligible:
                break
            shifted = ir.Load(source, (last - direction * n * distance,))
            terms.append(ir.Term(statement.domain, weight, shifted))
        final = distance * radix == 2**steps
        made.append(
            replace(
                statement,
                name=statement.name if final else f"step_{distance}",
                array=statement.array if final else target,
                index=statement.index if final else (last,),
                value=ir.Sum(tuple(terms)),
                parallel=True,
            )
        )
        source, target = target, source
        distance *= radix
    return made
