"""Hoist computations without loop-carried dependences on the line out of a recurrence. Bit-exact.

    before:  for i: d = f(u[i]); x[j, i] = (b[i] - a(u[i]) x′[j - 1, i] - c(u[i]) x′[j, i - 1]) / d
    after:   for i: %d[i] = f(u[i]); %c[i] = c(u[i])
                    %t[i] = b[i] - a(u[i]) x′[j - 1, i]                             (vectorized)
             for i: x[j, i] = (%t[i] - %c[i] x′[j, i - 1]) / %d[i]                  (the chain)

The pass splits the statements of joint nests; `recurrence` does the same for a single statement.
The order of the terms of each sum does not change, so results are bitwise identical.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain
from ...symbols.operations import is_condition
from ..nests import covered
from .order_terms import own_line


def hoist_independent(nest: ir.Nest) -> ir.Nest:
    """Return a joint nest whose rows wait for each other in as little as possible."""
    if not nest.joint:
        return nest
    split = _Split(nest, list(nest.buffers))
    for statement in nest.statements:
        split.add(statement)
    statements = (*split.early, *split.late)
    return replace(nest, statements=statements, buffers=tuple(split.buffers))


@dataclass
class _Split:
    """The statements of a nest in two groups: hoisted ones, first on each line, and the rest."""

    nest: ir.Nest
    buffers: list[ir.Buffer]
    early: list[ir.Statement] = field(default_factory=list)
    late: list[ir.Statement] = field(default_factory=list)
    known: dict[ir.Value, tuple[int, ir.Load]] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)

    def add(self, statement: ir.Statement) -> None:
        """Add a statement to the early or the late ones, with its independent parts hoisted."""
        kept = statement.array in self._names()
        if kept and not self._waits(statement.value, statement.domain):
            self.early.append(replace(statement, parallel=True))
            return
        self.waiting |= {statement.array} if kept else set()
        value = self._rest(statement.value, statement.domain, statement)
        self.late.append(replace(statement, value=value))

    def _waits(self, value: ir.Value, rows: Domain) -> bool:
        """Whether a value waits for other rows of its line, at some rows."""
        match value:
            case ir.Load(array=array):
                return array in self.waiting or own_line(ir.Term(rows, ir.ONE, value), self.nest)
            case ir.Gather(new=new):
                return new
            case ir.Sum(terms):
                return any(self._term_waits(t, rows) for t in terms)
        return any(self._waits(part, rows) for part in ir.children(value))

    def _term_waits(self, term: ir.Term, rows: Domain) -> bool:
        parts = (part for part in (term.weight, term.operand) if part is not None)
        return any(self._waits(part, rows & term.domain) for part in parts)

    def _rest(self, value: ir.Value, rows: Domain, of: ir.Statement) -> ir.Value:
        """Return a value that reads its hoisted parts from buffers."""
        if not isinstance(value, (ir.Op, ir.Sum)):
            return value
        if not self._waits(value, rows) and not is_condition(value):
            return self._first(value, rows, of)
        if isinstance(value, ir.Op):
            return ir.Op(value.name, tuple(self._rest(a, rows, of) for a in value.args))
        terms = [*value.terms]
        count = next(n for n, t in enumerate(terms) if self._term_waits(t, rows))
        if count > 1 or (count and terms[0].weight != ir.ONE):
            total = covered(ir.Sum(tuple(terms[:count])), rows, -0.0)
            terms[:count] = [ir.Term(rows, ir.ONE, self._first(total, rows, of))]
        return ir.Sum(tuple(self._with_rest(t, rows, of) for t in terms))

    def _with_rest(self, term: ir.Term, rows: Domain, of: ir.Statement) -> ir.Term:
        here = rows & term.domain
        weight = self._rest(term.weight, here, of)
        operand = None if term.operand is None else self._rest(term.operand, here, of)
        return replace(term, weight=weight, operand=operand)

    def _names(self) -> set[str]:
        """Return the names of the nest's buffers."""
        return {buffer.name for buffer in self.buffers}

    def _reads_buffers(self, value: ir.Value) -> bool:
        return not self._names().isdisjoint(load.array for load in ir.loads(value))

    def _first(self, value: ir.Value, rows: Domain, of: ir.Statement) -> ir.Value:
        """Return a load of a hoisted value from a line buffer.

        A value of fields that occurs in several terms, each for different rows, has one buffer.
        """
        if value in self.known:
            place, load = self.known[value]
            made = self.early[place]
            if rows <= made.domain or not self._reads_buffers(value):
                self.early[place] = replace(made, domain=made.domain | rows)
                return load
        if isinstance(value, ir.Op) and any(part in self.known for part in value.args):
            parts = (self._first(a, rows, of) if a in self.known else a for a in value.args)
            return ir.Op(value.name, tuple(parts))
        name, last = ir.scratch("a", self.buffers), (Affine.name(self.nest.axes[-1]),)
        self.buffers.append(ir.Buffer(name, 1, 0))
        made = replace(of, name=f"ahead_{name[1:]}", domain=rows, array=name, index=last)
        self.known[value] = len(self.early), ir.Load(name, last)
        self.early.append(replace(made, value=value, parallel=True))
        return self.known[value][1]
