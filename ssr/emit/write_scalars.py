"""Write the arithmetic of scalars: in double precision, once, before the loops that use it.

Every operation is a line. The lines stand where all that they use is known: at the start of the
kernel, or after the nest that makes the last of the reductions they use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .. import ir
from ..points.affine import Affine
from ..runtime.constants import LENGTHS
from ..symbols.operations import is_condition
from .operations import operation_text
from .outline import Functions
from .unit import Unit
from .writer import spelled

START = -1
"""The place of lines at the start of a kernel; others stand after the nest with their number."""


@dataclass
class Scalars:
    """The lines of a kernel that compute with scalars.

    Attributes
    ----------
    functions
        The functions and constants of the module.
    reductions
        For each reduction the number of the nest that makes it.
    sizes
        For each size the source of its value.
    lines
        The lines by their place.
    """

    functions: Functions
    reductions: Mapping[str, int]
    sizes: Mapping[str, str]
    lines: dict[int, list[str]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _known: dict[int, tuple[ir.Value, str, int]] = field(default_factory=dict)

    def double(self, value: ir.Value) -> str:
        """Return the source of a value in double precision."""
        return self._found(value)[0]

    def rounded(self, value: ir.Value) -> str:
        """Return the source of a value in the type of the fields."""
        text, place = self._found(value)
        return text if is_condition(value) else self._named(f"real({text})", place)

    def _found(self, value: ir.Value) -> tuple[str, int]:
        """Return the source of a value, and where it is known."""
        if id(value) not in self._known:
            self._known[id(value)] = value, *self._computed(value)
        return self._known[id(value)][1:]

    def _computed(self, value: ir.Value) -> tuple[str, int]:
        match value:
            case ir.Const(number):
                return self.functions.double(number), START
            case ir.Scalar(name):
                return spelled(name), self.reductions.get(name, START)
            case ir.Coordinate(index):
                names = {n: Affine.name(self._named(self.sizes[n], START)) for n in index.names()}
                return self._named(f"np.float64({index.substitute(names)})", START), START
            case ir.Op(name, args):
                found = [self._found(a) for a in args]
                place = max((place for _, place in found), default=START)
                return self._named(operation_text(name, [text for text, _ in found]), place), place
        raise AssertionError(f"{value!r} is no value of scalars")

    def _named(self, text: str, place: int) -> str:
        """Return the variable that holds what a source computes."""
        if text not in self._names:
            self._names[text] = f"scalar{len(self._names)}"
            self.lines.setdefault(place, []).append(f"    {self._names[text]} = {text}")
        return self._names[text]


def scalars_of(unit: Unit, functions: Functions) -> Scalars:
    """Return what writes the arithmetic of scalars of a kernel."""
    nests = [made.nest for made in unit.nests]
    folds = {f.name: n for n, m in enumerate(nests) if isinstance(m, ir.Nest) for f in m.folds}
    sizes = {n: f"layout[{place}]" for n, place in _places(unit).items()}
    return Scalars(functions, folds, sizes)


def _places(unit: Unit) -> dict[str, int]:
    """Return where the layout of the arrays has the sizes: at its end."""
    first = LENGTHS + sum(1 + 2 * len(f.shape) for f in unit.program.fields)
    return {name: first + n for n, name in enumerate(unit.program.sizes)}
