"""The problem: its points, their distribution over ranks, its operators, its right side."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import boundary as bc
import ssr

from .layout import Grid, Shape, boxes, process_grid
from .operators import operators, shapes
from .solver import Solver, fine

SMALLEST = 16


class ProblemError(ValueError):
    """Raised where the benchmark is not defined for a box of points, or these ranks."""


@dataclass(frozen=True)
class Problem:
    """The box of points of each rank, and how the operator is given.

    Raises
    ------
    ProblemError
        If an extent is smaller than 16 or not divisible by 8, if one is more than 8 times another,
        also of the grid of ranks, or if several ranks are to share a matrix that is data.
    """

    nx: int
    ny: int
    nz: int
    matrix: Literal["staged", "csr"] = "staged"
    world: Any = None

    def __post_init__(self) -> None:
        for name, n in ("nx", self.nx), ("ny", self.ny), ("nz", self.nz):
            if n < SMALLEST:
                raise ProblemError(f"{name} is {n}; the smallest extent is {SMALLEST}.")
            if n % 8:
                raise ProblemError(
                    f"{name} is {n}, which is not divisible by 8: the grid is halved three times."
                )
        if max(self.box) > 8 * min(self.box):
            raise ProblemError(
                f"The box {self.nx} x {self.ny} x {self.nz} is too long: its largest extent is "
                "more than 8 times its smallest."
            )
        if max(self.grid) > 8 * min(self.grid):
            shown = " x ".join(map(str, reversed(self.grid)))
            raise ProblemError(f"The grid of ranks {shown} is too long, as a box would be.")
        if self.matrix == "csr" and self.ranks > 1:
            raise ProblemError("The matrix as data is for one rank.")

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return bc.distribute(ssr.Space(1), self.world).world.ranks

    @property
    def box(self) -> Shape:
        """The extents of the box of a rank in the order of array axes."""
        return self.nz, self.ny, self.nx

    @property
    def grid(self) -> Grid:
        """The ranks in the order of array axes."""
        return process_grid(self.ranks)

    @property
    def shape(self) -> Shape:
        """The extents of the whole in the order of array axes."""
        return tuple(n * p for n, p in zip(self.box, self.grid, strict=True))

    @property
    def rows(self) -> list[int]:
        """The number of rows on each grid."""
        return [math.prod(s) for s in shapes(self.shape)]

    @property
    def entries(self) -> list[int]:
        """The number of entries of the operator on each grid."""
        return [math.prod(3 * n - 2 for n in s) for s in shapes(self.shape)]

    @cached_property
    def operators(self) -> list[Any]:
        """The operators of all grids."""
        return operators(self.matrix, self.shape)

    def solver(self, options: ssr.Options | None = None) -> Solver:
        """Return a solver that has its own fields."""
        return Solver(self.operators, self.on, options or ssr.Options())

    @cached_property
    def on(self) -> bc.Distribution:
        """The points of the finest grid, a box for each rank."""
        nz, ny, nx = (n // 2 for n in self.shape)
        shares = boxes(self.grid, self.box)
        return bc.distribute(fine, self.world, boxes=shares, nz=nz, ny=ny, nx=nx)

    def field(self, values: Callable[..., Any]) -> bc.Field:
        """Return a field on the finest grid, given by a function of the indices."""
        made = self.on.empty(fine)
        made.fill(values)
        return made

    @cached_property
    def right_side(self) -> bc.Field:
        """The right side for which the solution is one: 27 less the entries of each row."""

        def values(*point: Any) -> Any:
            inside = (1.0 + (i > 0) + (i < n - 1) for i, n in zip(point, self.shape, strict=True))
            return 27.0 - math.prod(inside)

        return self.field(values)
