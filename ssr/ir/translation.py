"""Value numbering modulo translation: values that are equal up to an offset share one form.

``exp(k[j, i + 1])`` and ``exp(k[j - 1, i])`` have one form, at the offsets (0, 1) and (-1, 0).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from .. import ir
from ..points.affine import Affine, Offset, offset_of
from ..points.sets import Domain


@dataclass(frozen=True, slots=True)
class Form:
    """The number of a form, and the offset of a value from its row; None if without a row."""

    number: int
    offset: Offset | None


@dataclass
class Forms:
    """The forms of the values of a program.

    A value that depends on the row in another way than by reads at constant offsets - by
    coordinates, or by terms that some rows do not have - is not equal to any at other points.
    Values computed in the step itself or read through a stored matrix do not have a form.
    """

    _table: dict[Hashable, int] = field(default_factory=dict)
    _known: dict[tuple[int, Domain], Form | None] = field(default_factory=dict)
    _total: dict[tuple[Domain, Domain], bool] = field(default_factory=dict)

    def of(self, value: ir.Value, rows: Domain) -> Form | None:
        """Return the form of a value of a step over some rows; the value must stay alive."""
        key = id(value), rows
        if key not in self._known:
            self._known[key] = self._found(value, rows)
        return self._known[key]

    def _found(self, value: ir.Value, rows: Domain) -> Form | None:
        match value:
            case ir.Const(number):
                return self._form(("number", repr(number)), None)
            case ir.Scalar() | ir.Rounded():
                return self._form(value, None)
            case ir.Coordinate():
                return self._form(value, (0,) * len(rows.axes))
            case ir.Load(array, index, False):
                offset = offset_of(index, tuple(map(Affine.name, rows.axes)))
                return None if offset is None else self._form(("load", array), offset)
            case ir.Op(name, args):
                return self._joined((name,), args, rows)
            case ir.Sum(terms):
                key = "sum", *((t.operand is None) for t in terms)
                if all(self._everywhere(t.domain, rows) for t in terms):
                    return self._joined(key, ir.children(value), rows)
                domains = (t.domain for t in terms)
                here = (0,) * len(rows.axes)
                return self._joined((*key, *domains), ir.children(value), rows, here)
        return None

    def _joined(
        self,
        key: tuple[Hashable, ...],
        parts: Sequence[ir.Value],
        rows: Domain,
        point: Offset | None = None,
    ) -> Form | None:
        """Return the form of an operation on values, seen from a point: their first one."""
        found = []
        for part in parts:
            form = self.of(part, rows)
            if form is None:
                return None
            found.append(form)
        first = point or min((f.offset for f in found if f.offset is not None), default=None)
        seen = tuple((f.number, _between(first, f.offset)) for f in found)
        return self._form((*key, seen), first)

    def _form(self, key: Hashable, offset: Offset | None) -> Form:
        return Form(self._table.setdefault(key, len(self._table)), offset)

    def _everywhere(self, domain: Domain, rows: Domain) -> bool:
        key = domain, rows
        if key not in self._total:
            self._total[key] = domain == rows or rows <= domain
        return self._total[key]


def _between(first: Offset | None, offset: Offset | None) -> Offset | None:
    if first is None or offset is None:
        return None
    return tuple(b - a for a, b in zip(first, offset, strict=True))
