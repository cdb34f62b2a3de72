"""Value numbering: common subexpressions of a row are computed once.

Equal operations on equal values have the same number. Loads of an element have the same number
until the array is stored to. A load of an element that was just stored has the number of the
stored value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from .. import ir
from ..kernel.ir import Expression


class Numbers:
    """The numbers of all values in the parts of a piece, and the variables that hold them."""

    def __init__(self, parts: Sequence[ir.Part]) -> None:
        self._uses: Counter[int] = Counter()
        self._table: dict[Hashable, int] = {}
        self._stores: Counter[str] = Counter()
        self._of: dict[int, int] = {}
        self._parts: list[dict[int, int]] = []
        self._names: dict[int, Expression] = {}
        for part in parts:
            self._of = {}
            root = self._number(part.value)
            self._uses[root] += 1
            array = part.statement.array
            self._stores[array] += 1
            self._table[self._load(array, part.statement.index)] = root
            self._parts.append(self._of)

    def enter(self, part: int) -> None:
        """Proceed to the values of a part."""
        self._of = self._parts[part]

    def shared(self, value: ir.Value) -> bool:
        """Whether a value is used more than once."""
        return self._uses[self._of[id(value)]] > 1

    def name(self, value: ir.Value) -> Expression | None:
        """Return the variable, or the short expression, that holds a value, if one does."""
        return self._names.get(self._of[id(value)])

    def hold(self, value: ir.Value, name: Expression) -> Expression:
        """Record the variable that holds a value, and return it."""
        self._names[self._of[id(value)]] = name
        return name

    def _load(self, array: str, index: Hashable) -> Hashable:
        return "load", array, index, self._stores[array]

    def _number(self, value: ir.Value) -> int:
        if id(value) in self._of:
            return self._of[id(value)]
        inside = [self._number(child) for child in ir.children(value)]
        key: Hashable
        match value:
            case ir.Load(array, index):
                key = self._load(array, index)
            case ir.Gather(array=array):
                key = value, self._stores[array]
            case ir.Op(name):
                key = name, *inside
            case ir.Sum(terms):
                key = (
                    "sum",
                    tuple((t.operand is None, t.tests, repr(t.otherwise)) for t in terms),
                    *inside,
                )
            case ir.Rounded():
                key = "rounded", *inside
            case ir.Const(constant):
                key = "number", repr(constant)
            case _:
                key = value
        known = self._table.get(key)
        if known is None:
            known = self._table[key] = len(self._uses)
            self._uses[known] = 0
            self._uses.update(inside)
        self._of[id(value)] = known
        return known
