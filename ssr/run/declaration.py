"""The definition of a program with its parameters and options, shared by all its calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .. import ir
from ..algebra.stored import Stored
from ..errors import Span
from ..options import Options
from ..points.numbers import Array
from ..spaces.space import Space


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: a scalar, a field, or a vector field with a number of components."""

    name: str
    kind: Literal["number", "field", "vector"]
    components: int = 1


@dataclass(frozen=True)
class Declaration:
    """A program as it was traced.

    Attributes
    ----------
    program
        The assignments. Its fields are those of the parameters and then the captured ones, with
        vector fields split into components.
    options
        Choices of the compiler.
    places
        The source location of each step.
    parameters
        The parameters of a call, in order.
    spaces
        The points of fields, temporaries, reductions and parts, by name.
    captured
        Arrays of matrices that are fields of the program.
    constants
        Constants of matrices that are scalars of the program.
    stored
        Stored matrices by their names in the program.
    sizes
        Sizes that are bound.
    local
        Whether the program depends on the boxes into which spaces are cut.
    """

    program: ir.Program
    options: Options
    places: tuple[Span | None, ...]
    parameters: tuple[Parameter, ...]
    spaces: Mapping[str, Space]
    captured: tuple[Array, ...]
    constants: tuple[float, ...]
    stored: Mapping[str, Stored]
    sizes: Mapping[str, int]
    local: bool

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Places of numbers among the parameters."""
        return tuple(n for n, p in enumerate(self.parameters) if p.kind == "number")

    @cached_property
    def fields(self) -> tuple[Parameter, ...]:
        """The parameters that are arrays."""
        return tuple(p for p in self.parameters if p.kind != "number")

    @cached_property
    def written(self) -> frozenset[str]:
        """The names of the fields that a call changes."""
        return frozenset(name for step in self.program.steps for name in ir.made(step))

    def named(self, arrays: list[Array]) -> list[tuple[str, Space, Array]]:
        """Return arrays in the order of the program's fields with their names and spaces."""
        fields = self.program.fields
        return [(f.name, self.spaces[f.name], a) for f, a in zip(fields, arrays, strict=True)]
