"""The solver on many ranks: the same stage, on fields whose values are made box by box.

    mpiexec -n 4 python -m apps.swe.ranks --case tc5 --n 24 --steps 20

prints a digest of the state after some steps, which is the same for every number of ranks.
"""

import argparse
import hashlib
import sys
from typing import Any

import boundary as bc
import ssr

from . import cases, geometry
from .cases import Case
from .constants import Constants
from .solver import STAGES, Weights, cells, grid, program, ring


@ssr.program(U=cells.vector(3), V=ring.vector(3))
def begin(U, V):  # type: ignore[no-untyped-def]
    V[cells] = U


@ssr.program(U=cells.vector(3), V=ring.vector(3))
def keep(U, V):  # type: ignore[no-untyped-def]
    U[:] = V[cells]


class RankSolver:
    """A flow on a cubed sphere of 6 x n x n cells whose points are shared by ranks.

    It takes the steps of `solver.Solver`, with the same bits for any number of ranks, and no rank
    holds an array of the whole.

    Parameters
    ----------
    n, case, weights
        As for `Solver`.
    ranks
        What `boundary.world` returns, or `boundary.simulated`.
    cut
        In how many parts panels are cut along each axis; by default as suits the ranks.

    Attributes
    ----------
    on
        The points of each rank.
    """

    def __init__(
        self,
        n: int,
        case: Case,
        weights: Weights = "linear",
        ranks: Any = None,
        cut: tuple[int, int] | None = None,
    ) -> None:
        self.on = bc.spread(grid, ranks, cut=cut, more=n - 5)
        stage, known = program(n, case.passive, weights), Constants(n, case)
        kinds: dict[str, Any] = dict(stage.signature.kinds)
        fields = {name: self.on.empty(kinds[name]) for name in known.functions()}
        for name, values in known.functions().items():
            fields[name].fill(values)
        self._old, self._wider = self.on.zeros(kinds["U"]), self.on.zeros(kinds["V"])
        self._old.fill(lambda p, j, i: case.state(n, known.centres(p, j, i)))
        begin(self._old, self._wider)
        self._keep = keep.bind(self._old, self._wider)
        per = n / (2 * geometry.EDGE)
        self._stage = stage.bind(self._old, self._wider, **fields, per=per)

    @property
    def state(self) -> bc.Field:
        """The averages of J h, J h u1, J h u2 over the cells."""
        self._keep()
        return self._old

    def step(self, dt: float) -> None:
        """Advance by one step of dt seconds."""
        self._keep()
        for a, c in STAGES:
            self._stage(a, c, dt)


def main() -> None:
    """Take some steps on the ranks of the job; rank 0 prints the digest of the state."""
    parser = argparse.ArgumentParser(prog="python -m apps.swe.ranks")
    parser.add_argument("--case", default="tc5", help="the flow")
    parser.add_argument("--n", type=int, default=24, help="the cells along a panel")
    parser.add_argument("--steps", type=int, default=20, help="the number of steps")
    parser.add_argument("--weights", default="linear", choices=["linear", "weno"])
    parser.add_argument("--simulate", type=int, metavar="P", help="simulate P ranks")
    given = parser.parse_args()
    case = cases.case(given.case)
    ranks = bc.world() if given.simulate is None else bc.simulated(given.simulate)
    solver = RankSolver(given.n, case, given.weights, ranks)
    for _ in range(given.steps):
        solver.step(case.dt(given.n))
    state = solver.state.gather(root=0)
    if state is not None:
        sys.stdout.write(f"{hashlib.sha256(state.tobytes()).hexdigest()}\n")


if __name__ == "__main__":
    main()
