"""The programs and solvers of the gallery: on ranks the bits of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.extension import VectorSpace, match_sizes
from ssr.solvers.solver import Solver

from ...test_gallery import problem
from . import ranks

RUNS: dict[str, tuple[tuple[Any, ...], int]] = {
    "acoustics": ((9,), 1),
    "cavity": ((8, 0.04, 2e-2, 1e-3, 2), 3),
    "cylinder": (((4,),), 2),
    "diffusion": ((6,), 2),
    "gray_scott": ((9,), 2),
    "imex": ((9, 2.0, (1.0,)), 2),
    "membrane": ((3,), 2),
    "multigrid": ((3, 2), 5),
    "obstacles": ((4,), 3),
    "sphere": ((4,), 1),
    "tsunami": ((7,), 2),
    "waves": ((7,), 1),
}
"""Arguments of each problem, its size first, and how many of its first calls are compared.

The drifters call no program; `tests.test_gallery` runs them on ranks.
"""
WORLDS = bc.simulated_ranks(3), bc.threads(2)
ITERATIONS = 2
"""Iterations of each solver."""


class Enough(Exception):
    """All calls that are compared have been made."""


class Compared:
    """Calls of programs and solvers on arrays, each repeated on ranks and compared.

    Parameters
    ----------
    cells
        The grid or space that ranks share.
    count
        How many calls are compared; the last one raises `Enough`.
    """

    def __init__(self, cells: Any, count: int) -> None:
        self.cells, self.left, self.busy = cells, count, False
        self.program, self.solver = ssr.Program.__call__, Solver.__call__

    def call(self, called: ssr.Program, *args: Any) -> Any:
        """Take the place of the call of a program."""
        if self.busy or not any(isinstance(a, np.ndarray) for a in args):
            return self.program(called, *args)
        sizes = sizes_of([kind for _, kind in called.signature.kinds], args)
        if not sizes.keys() <= set(ranks.kinds_of(self.cells)[0].sizes):  # of coarser grids
            return self.program(called, *args)
        return self.compare(lambda: self.run(called, args, sizes))

    def call_solver(self, called: Solver, b: Any, x0: Any = None, **more: Any) -> Any:
        """Take the place of the call of a solver."""
        if self.busy:
            return self.solver(called, b, x0, **more)
        return self.compare(lambda: self.solve(called, b, x0, more | {"maxiter": ITERATIONS}))

    def compare(self, call: Callable[[], Any]) -> Any:
        """Return what a call gives; calls that it makes itself are not compared."""
        self.left, self.busy = self.left - 1, True
        try:
            found = call()
        finally:
            self.busy = False
        if not self.left:
            raise Enough
        return found

    def run(self, program: ssr.Program, args: Any, sizes: Any) -> Any:
        """Run a program on arrays and on ranks."""
        each = [(on, ranks.scattered(on, program, args)) for on in self.spreads(sizes)]
        found = self.program(program, *args)
        numbers = found if isinstance(found, tuple) else () if found is None else (found,)
        for on, fields in each:
            ranks.check_numbers(self.program(program, *fields), numbers)
            ranks.check_equal(fields, args, repr(on))
        return found

    def solve(self, solver: Solver, b: Any, x0: Any, more: Any) -> Any:
        """Solve for arrays and on ranks."""
        found = self.solver(solver, b, x0, **more)
        for on in self.spreads(sizes_of([solver.space], [b])):
            fields = [a if a is None else on.scatter(solver.space, a) for a in (b, x0)]
            many = self.solver(solver, *fields, **more)
            assert (many.info, many.history) == (found.info, found.history)
            ranks.check_equal([many.x], [found.x], repr(on))
        return found

    def spreads(self, sizes: Any) -> Iterator[Any]:
        """Yield the cells, shared by ranks in each way."""
        for world in WORLDS:
            yield bc.distribute(self.cells, world, **sizes)


def sizes_of(kinds: Any, args: Any) -> Any:
    """Return the sizes of spaces and vector spaces, from the shapes of arrays on them."""
    arrays = [(k, a.shape) for k, a in zip(kinds, args, strict=True) if isinstance(a, np.ndarray)]
    scalar = [(k.space, s[1:]) if isinstance(k, VectorSpace) else (k, s) for k, s in arrays]
    return match_sizes([("", space, shape) for space, shape in scalar], {})


@pytest.mark.parametrize("name", RUNS)
def test_gallery(name: str) -> None:
    module, (arguments, count) = problem(name), RUNS[name]
    with ranks.plain_programs():
        compared = Compared(getattr(module, "cells", None) or module.points, count)
        calls = patch.object(ssr.Program, "__call__", lambda *args: compared.call(*args))
        solvers = patch.object(Solver, "__call__", lambda *a, **k: compared.call_solver(*a, **k))
        with calls, solvers, suppress(Enough):
            module.run(*arguments)
    assert not compared.left
