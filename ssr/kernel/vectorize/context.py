"""The context of vectorization: the function under rewriting."""

from __future__ import annotations

from dataclasses import dataclass

from .. import ir
from ..fresh_names import Names
from ..inference import Scope
from ..types import Type
from ..uses import Uses
from ..vector_target import Target


@dataclass
class Context:
    """The function that is vectorised.

    Attributes
    ----------
    target
        The processor.
    scope
        The types of variables.
    uses
        The assignments and reads of variables.
    names
        The names of variables.
    arrays
        The number of array arguments that its loops use.
    fields
        The arguments that are fields: arrays which need not be contiguous.
    backwards
        Whether a loop around the current statement runs backwards.
    """

    target: Target
    scope: Scope
    uses: Uses
    names: Names
    arrays: int
    fields: tuple[str, ...]
    backwards: bool = False

    def type_of(self, name: str) -> Type:
        """Return the type of a variable or a name of the module."""
        return self.scope.of(ir.Name(name))

    def is_field(self, array: str) -> bool:
        """Whether an array is a field or a component of one, not an array of the kernel itself."""
        found = self.type_of(array)
        return isinstance(found, ir.Array) and not found.contiguous

    def axes_of(self, array: str) -> int:
        """Return the number of axes of an array."""
        return self.scope.array(ir.Name(array)).axes
