"""Code of scalar arithmetic: in double precision, executed once, before the loops that use it.

Every operation is a statement. A statement is placed as soon as its operands are available: at the
start of the kernel, or after the nest that computes the last reduction among its operands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .. import ir
from ..kernel import ir as kernel
from ..kernel.building import call, element, let
from ..kernel.kernel_names import mangled
from ..kernel.outline import Functions
from ..kernel.program_operations import operation
from ..points.affine import Affine
from ..points.expressions import expression
from ..symbols.operations import is_condition
from .unit import Unit

START = -1
"""The place of statements at the start of a kernel; other places are numbers of nests."""


@dataclass
class Scalars:
    """The statements of a kernel that compute with scalars.

    Attributes
    ----------
    functions
        The functions and constants of the module.
    reductions
        For each reduction the number of the nest that computes it.
    sizes
        For each size its value.
    statements
        The statements by their place.
    """

    functions: Functions
    reductions: Mapping[str, int]
    sizes: Mapping[str, kernel.Expression]
    statements: dict[int, list[kernel.Statement]] = field(default_factory=dict)
    _names: dict[kernel.Expression, str] = field(default_factory=dict)
    _known: dict[int, tuple[ir.Value, kernel.Expression, int]] = field(default_factory=dict)

    def double(self, value: ir.Value) -> kernel.Expression:
        """Return a value in double precision."""
        return self._found(value)[0]

    def rounded(self, value: ir.Value) -> kernel.Expression:
        """Return a value in the type of the fields."""
        found, place = self._found(value)
        if is_condition(value):
            return found
        return kernel.Name(self._named(call("real", found), place))

    def _found(self, value: ir.Value) -> tuple[kernel.Expression, int]:
        """Return a value, and where it is known."""
        if id(value) not in self._known:
            self._known[id(value)] = value, *self._computed(value)
        return self._known[id(value)][1:]

    def _computed(self, value: ir.Value) -> tuple[kernel.Expression, int]:
        match value:
            case ir.Const(number):
                return self.functions.double(number), START
            case ir.Scalar(name):
                return kernel.Name(mangled(name)), self.reductions.get(name, START)
            case ir.Coordinate(index):
                names = {n: Affine.name(self._named(self.sizes[n], START)) for n in index.names()}
                located = call("np.float64", expression(index.substitute(names)))
                return kernel.Name(self._named(located, START)), START
            case ir.Op(name, args):
                operands = [self._found(a) for a in args]
                place = max((place for _, place in operands), default=START)
                found = operation(name, [operand for operand, _ in operands])
                return kernel.Name(self._named(found, place)), place
        raise AssertionError(f"{value!r} is not a value of scalars")

    def _named(self, value: kernel.Expression, place: int) -> str:
        """Return the variable that holds a value."""
        if value not in self._names:
            self._names[value] = f"scalar{len(self._names)}"
            self.statements.setdefault(place, []).append(let(self._names[value], value))
        return self._names[value]


def scalars_of(unit: Unit, functions: Functions) -> Scalars:
    """Return the arithmetic of scalars of a kernel, with no statement yet."""
    nests = [made.nest for made in unit.nests]
    folds = {f.name: n for n, m in enumerate(nests) if isinstance(m, ir.Nest) for f in m.folds}
    sizes: dict[str, kernel.Expression] = {
        n: element("layout", place) for n, place in _places(unit).items()
    }
    return Scalars(functions, folds, sizes)


def _places(unit: Unit) -> dict[str, int]:
    """Return where the layout of the arrays has the sizes: at its end."""
    first = sum(1 + 2 * len(f.shape) for f in unit.program.fields)
    return {name: first + n for n, name in enumerate(unit.program.sizes)}
