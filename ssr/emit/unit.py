"""The input of code generation: a program, its steps as loops, and the form of its kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal, TypeAlias

from .. import ir
from ..ir import LineLoops, LoopNest
from ..kernel.ir import Function
from ..runtime.metadata import Look
from ..runtime.sums import ROWS
from .debug_checks import looks_of

Form: TypeAlias = Literal["fast", "checked", "debug"]
"""Ordinary kernels, kernels that check the row of each statement, and debug kernels."""


@dataclass(frozen=True)
class Unit:
    """A program, its steps in order, the type of values, a title, and the form.

    It is ``distributed`` if its boxes have separate memory. The debug build ignores infinities
    and NaN in some temporaries.
    """

    program: ir.Program
    steps: tuple[ir.Ran, ...]
    dtype: str
    title: str
    form: Form = "fast"
    distributed: bool = False
    ignored: frozenset[str] = frozenset()

    @property
    def debug(self) -> bool:
        """Whether the values that steps compute are examined."""
        return self.form == "debug"

    @property
    def checked(self) -> bool:
        """Whether rows are checked."""
        return self.form != "fast"

    @property
    def element(self) -> str:
        """Numba's name of the type of numbers."""
        return {"float64": "f8", "float32": "f4"}[self.dtype]

    @cached_property
    def nests(self) -> tuple[LoopNest | LineLoops, ...]:
        """The steps that are loops."""
        return tuple(step for step in self.steps if not isinstance(step, ir.Call))

    @cached_property
    def calls(self) -> tuple[ir.Call, ...]:
        """The steps that are calls of functions of other packages."""
        return tuple(step for step in self.steps if isinstance(step, ir.Call))

    @cached_property
    def called(self) -> tuple[str, ...]:
        """The name of the function of each call: that of the first call with an equal function."""
        known: dict[tuple[Function, ...], str] = {}
        functions = (call.external.functions("step") for call in self.calls)
        return tuple(known.setdefault(each, f"c{n}_step") for n, each in enumerate(functions))

    def numbered(self) -> Iterator[tuple[int, ir.Ran]]:
        """Yield the steps in order, each with its number among those of its class."""
        nests, calls = enumerate(self.nests), enumerate(self.calls)
        for step in self.steps:
            yield next(calls) if isinstance(step, ir.Call) else next(nests)

    @cached_property
    def arrays(self) -> dict[str, ir.Field]:
        """The fields and temporaries by name, in the order of the kernel's arguments."""
        return {f.name: f for f in (*self.program.fields, *self.program.temporaries)}

    @cached_property
    def alike(self) -> dict[str, str]:
        """For arrays whose offsets and strides are those of another one always, its name.

        Such are the components of a vector field, which are one array.
        """
        found: dict[str, str] = {}
        for _, parts in self.program.vectors:
            first: dict[object, str] = {}
            found |= {part: first.setdefault(self.arrays[part].points, part) for part in parts}
        return found

    @cached_property
    def written(self) -> tuple[str, ...]:
        """The fields and temporaries that are written."""
        stored = [name for n in self.nests for name in n.nest.made if name in self.arrays]
        called = [name for call in self.calls for name in call.fields]
        return tuple(dict.fromkeys([*stored, *called]))

    @cached_property
    def folds(self) -> dict[str, ir.Fold]:
        """The reductions by name, in order."""
        nests = (n.nest for n in self.nests)
        return {fold.name: fold for n in nests if isinstance(n, ir.Nest) for fold in n.folds}

    @cached_property
    def reductions(self) -> dict[str, int]:
        """The names of reductions, each with the first row of its state."""
        rows = accumulate((ROWS[fold.kind] for fold in self.folds.values()), initial=0)
        return dict(zip(self.folds, rows, strict=False))

    @property
    def states(self) -> int:
        """The rows of the states of all reductions."""
        return sum(ROWS[fold.kind] for fold in self.folds.values())

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """The values that the debug build examines."""
        nests = [made.nest for made in self.nests]
        return looks_of(nests, self.ignored) if self.debug else ()
