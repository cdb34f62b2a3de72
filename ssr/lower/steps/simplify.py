"""Propagate zeros and copies, and inline temporaries that are read once.

    before:  x[:] = 0;  t[i] = u[i];  s[i] = f(t[i]);  y[i] = s[2 i] + a x[i]
    after:   y[i] = f(u[2 i])

- Zero propagation: terms that read a field are dropped if the field was set to zero and not
  written since. A sweep that starts from zero then reads no old values. This changes bits where
  a weight is infinite or NaN, or where a sum is a zero of the other sign.
- Inlining: a temporary is computed at its use if every point is read at most once, and all reads
  are in one expression. A residual that is read at every second point is computed only there.
  Bit-exact.
- Copy propagation: reads of a temporary that is a copy of a field become reads of the field, as
  long as the field is not written. Bit-exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import ir
from ...algebra.analyse import reads
from ...algebra.own_box import is_local
from ...elementary import FUNCTIONS
from ...ir.liveness import read
from ...points.affine import Affine
from ...symbols.operations import fold
from .place_calls import copied, renamed

_NOTHING = ir.Const(0.0)
"""The constant that replaces loads of zero fields; it is recognized by object identity."""

_ZERO_AT_ZERO = frozenset({"neg", "abs", "sign"}) | {
    name for name, f in FUNCTIONS.items() if len(f.operands) == 1 and fold(name, 0.0) == 0.0
}
"""Unary functions that map zero to zero."""


def simplify(program: ir.Program, *, exact: bool) -> ir.Program:
    """Return a program that computes less; with ``exact`` the same to the last bit."""
    steps = program.steps if exact else _without_zeros(program.steps)
    steps = _without_copies(steps, program)
    steps = _where_read(steps, {f.name for f in program.temporaries})
    return replace(program, steps=steps)


# -- zero propagation ----------------------------------------------------------------------------


def _without_zeros(steps: Sequence[ir.Step]) -> tuple[ir.Step, ...]:
    zero: set[str] = set()
    found: list[ir.Step] = []
    for step in steps:
        if isinstance(step, (ir.Group, ir.Solve, ir.Call)):
            zero -= {*ir.made(step)}
            found.append(step)
            continue
        if zero & read(step):
            step = replace(step, value=_folded(step.value, zero))
        found.append(step)
        if isinstance(step, ir.Assignment):
            zero.discard(step.target)
            if step.value == ir.ZERO and step.part is None:
                zero.add(step.target)
    return tuple(found)


def _folded(value: ir.Value, zero: set[str]) -> ir.Value:
    """Return a value without the parts that hold a field known to be zero."""

    def change(node: ir.Value) -> ir.Value | None:
        match node:
            case ir.Load(array, _, False) | ir.Gather(array=array, new=False) if array in zero:
                return _NOTHING
            case ir.Sum(terms):
                kept = tuple(t for t in terms if not _none(t.weight, t.operand))
                return ir.Sum(kept) if kept else _NOTHING
            case ir.Op("mul", args) if _none(*args):
                return _NOTHING
            case ir.Op("div", (a, _)) if _none(a):
                return _NOTHING
            case ir.Op(name, (a,)) if name in _ZERO_AT_ZERO and _none(a):
                return _NOTHING
        return None

    return ir.rewrite(value, change)


def _none(*values: ir.Value | None) -> bool:
    """Whether one of some values represents a zero."""
    return any(v is _NOTHING for v in values)


# -- copy propagation ----------------------------------------------------------------------------


def _without_copies(steps: Sequence[ir.Step], program: ir.Program) -> tuple[ir.Step, ...]:
    """Return steps that read fields where they have read copies of them."""
    found = list(steps)
    for temporary in program.temporaries:
        name = temporary.name
        places = [n for n, s in enumerate(found) if name in ir.made(s)]
        readers = [n for n, s in enumerate(found) if name in read(s)]
        source = _copied(found[places[0]]) if len(places) == 1 else None
        if source is None or not readers or readers[0] < places[0]:
            continue
        last = readers[-1] + (not isinstance(found[readers[-1]], ir.Assignment))
        between = {made for s in found[places[0] : last] for made in ir.made(s)}
        if source in between or program.field(source).points != temporary.points:
            continue
        found = [s if n in places else renamed(s, name, source) for n, s in enumerate(found)]
    return tuple(found)


def _copied(step: ir.Step) -> str | None:
    """Return the field of which a step copies all points."""
    if isinstance(step, ir.Assignment) and isinstance(step.value, ir.Sum):
        match step.value.terms:
            case (ir.Term(rows, ir.ONE, ir.Load() as load),) if step.domain <= rows:
                step = replace(step, value=load)
    return copied(step)


# -- inlining ------------------------------------------------------------------------------------


def _where_read(steps: Sequence[ir.Step], temporaries: set[str]) -> tuple[ir.Step, ...]:
    found = list(steps)
    for name in sorted(temporaries):
        places = [n for n, s in enumerate(found) if name in ir.made(s)]
        if len(places) == 1 and isinstance(found[places[0]], ir.Assignment):
            _move(found, places[0], name)
    return tuple(found)


def _move(steps: list[ir.Step], place: int, name: str) -> None:
    """Move the value of a temporary into the one expression that reads it, if it is one."""
    made = steps[place]
    assert isinstance(made, ir.Assignment)
    readers = [n for n, s in enumerate(steps) if n != place and name in read(s)]
    if len(readers) != 1 or readers[0] < place or made.order != "any" or is_local(made.domain):
        return
    reader = steps[readers[0]]
    if isinstance(reader, (ir.Group, ir.Solve, ir.Call)) or any(
        g.array == name for g in ir.gathers(reader.value)
    ):
        return
    between = {name for s in steps[place + 1 : readers[0]] for name in ir.made(s)}
    if between & read(made):
        return
    found = [
        (rows, load) for rows, load in reads(reader.value, reader.domain) if load.array == name
    ]
    index = found[0][1].index
    if any(load.index != index for _, load in found) or _pointless(index, reader):
        return
    rows = found[0][0]
    for more, _ in found[1:]:
        rows = rows | more
    if rows.injective(index) and rows.image(index, made.axes) <= made.domain:
        value = ir.value_at(made.value, made.axes, index, rows)
        steps[readers[0]] = replace(reader, value=_put(reader.value, name, value))


def _pointless(index: tuple[Affine, ...], reader: ir.Assignment | ir.Reduction) -> bool:
    """Whether a temporary is read at the own row of a step that can share its loops."""
    own = index == tuple(Affine.name(a) for a in reader.axes)
    return own and (isinstance(reader, ir.Reduction) or reader.order == "any")


def _put(value: ir.Value, name: str, meaning: ir.Value) -> ir.Value:
    def change(node: ir.Value) -> ir.Value | None:
        return meaning if isinstance(node, ir.Load) and node.array == name else None

    return ir.rewrite(value, change)
