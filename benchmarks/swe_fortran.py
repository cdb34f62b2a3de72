"""Our Fortran version of the shallow-water solver, with the same interface.

``benchmarks/fortran/swe.f90`` works on arrays that are made here, from the geometry and the flows
of the application. Its boundary part is in separate subroutines, and can be timed alone.
``python -m benchmarks.swe_fortran [--n 96] [--weights weno]`` times a step and that part of it.
"""

import argparse
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from apps import commands
from apps.swe import geometry
from apps.swe.cases import Case, Scalar, at_centres, case
from apps.swe.constants import Constants
from apps.swe.geometry import PANELS, SIDES
from benchmarks import fortran, timing
from benchmarks.fortran import Call

Array = NDArray[np.float64]


class Reference:
    """The solver: a state (3, 6, n, n), advanced in place.

    Parameters
    ----------
    weights
        How values at faces are reconstructed.
    build
        The compiler's flags, a name of `benchmarks.fortran.BUILDS`.
    """

    def __init__(
        self, n: int, case: Case, weights: Literal["linear", "weno"] = "linear", build: str = "O3"
    ) -> None:
        if case.passive:
            raise ValueError(
                f"{case.name} only advects the depth; the reference changes the wind too."
            )
        self.state = fortran.aligned(np.asarray(case.state(n), np.float64))
        self._build = build
        self._other = fortran.aligned(np.zeros(self.state.shape))
        self._q = fortran.aligned(np.full((6, 4, n + 6, n + 6), np.nan))
        self._mass = np.zeros((6, 4, n))
        self._sizes = int(weights == "weno"), n
        self._fields = _fields(n, case)
        self._tables = _tables(n, case)
        self._work = np.zeros((10, n + 1, n + 1))
        self._bound: tuple[float, Call] | None = None

    def step(self, dt: float) -> None:
        """Advance by one step of SSP-RK3."""
        if self._bound is None or self._bound[0] != dt:
            self._bound = dt, self.stepping(dt)
        self._bound[1]()

    def stepping(self, dt: float) -> Call:
        """Bind a step."""
        return self._call("step", float(dt), *self._all())

    def rhs(self) -> Array:
        """Return the change of the state in a second."""
        self.changing()()
        return self.change.copy()

    def changing(self) -> Call:
        """Bind the computation of a right-hand side into `change`."""
        return self._call("rhs", *self._all())

    @property
    def change(self) -> Array:
        """The right-hand side that was computed last."""
        return self._other

    def boundary(self) -> Call:
        """Bind the boundary part of one stage: ghosts, and the mass through the panels' edges."""
        return self._call(
            "boundary", *self._sizes[1:], *self._tables, self._q, self._mass, self._other
        )

    def _all(self) -> tuple[Any, ...]:
        scratch = self._q, self._work, self._mass, self.state, self._other
        return *self._sizes, *self._fields, *self._tables, *scratch

    def _call(self, part: str, *data: Any) -> Call:
        return fortran.bind("swe", part, self._build, *data)


def _fields(n: int, case: Case) -> tuple[Array, ...]:
    """Return the constants of the interior: cell, place, facea and faceb in the source."""
    G, gamma = geometry.metric(*geometry.grid(n)), geometry.christoffel(*geometry.grid(n))
    known, (p, j, i) = Constants(n, case), np.ogrid[:6, :n, :n]
    J, b = np.float64(known.area(j, i)), np.float64(known.bottom(p, j, i))
    cell = np.stack([1 / J, G.J, *G.upper, *gamma])
    place = np.stack([b, at_centres(case.coriolis, n)])
    along, beside = geometry.faces(n), geometry.centres(n)
    Fa = geometry.metric(along[None, :], beside[:, None])
    Fb = geometry.metric(beside[None, :], along[:, None])
    sa, sb = np.sqrt(Fa.upper[0]), np.sqrt(Fb.upper[2])
    return cell, place, np.stack([Fa.J * sa, 1 / sa]), np.stack([Fb.J * sb, 1 / sb])


def _tables(n: int, case: Case) -> tuple[NDArray[Any], ...]:
    """Return the constants of the boundary: links, first, w, turn and bghost in the source."""
    links = np.empty((6, 4, 3), np.int64)
    for panel in range(6):
        for e, side in enumerate(SIDES):
            other = geometry.link(panel, side)
            links[panel, e] = other.panel + 1, SIDES.index(other.side) + 1, other.reversed
    first, w = geometry.interpolation(n)
    w = np.ascontiguousarray(np.moveaxis(w, -1, 0))
    return links, first, w, geometry.rotations(n), ghost_values(case.bottom, n)


def ghost_values(function: Scalar, n: int) -> Array:
    """Return a function at the ghosts, shape (6, 4, 3, n): panel, side, k, t."""
    sides = [
        function(*geometry.lonlat(geometry.position(PANELS, *geometry.ghosts(n, side))))
        for side in SIDES
    ]
    return np.ascontiguousarray(np.stack(sides, axis=1))


def boundary_size() -> tuple[int, int]:
    """Return the lines and tokens of the boundary part of the source, without comments."""
    source = (Path(fortran.__file__).parent / "fortran" / "swe.f90").read_text(encoding="utf-8")
    part = source.partition("! Boundary:")[2].partition("! Interior.")[0]
    lines = [line.partition("!")[0].strip() for line in part.splitlines()[1:]]
    code = [line for line in lines if line]
    token = re.compile(r"\d+(?:\.\d*)?(?:_\w+)?|\w+|==|/=|<=|>=|::|\*\*|[^\s&]")
    return len(code), sum(len(token.findall(line)) for line in code)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the Fortran shallow-water solver.")
    parser.add_argument("--n", type=int, default=96, help="cells along a panel")
    parser.add_argument("--weights", choices=("linear", "weno"), default="linear")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    calls: dict[str, Call] = {}
    for build in fortran.BUILDS:
        solver = Reference(given.n, case("tc5"), given.weights, build)
        calls |= {f"step {build}": solver.stepping(1.0), f"boundary {build}": solver.boundary()}
    found = timing.measure(calls, given.rounds)
    cells = 6 * given.n**2
    rows = []
    for step, part in zip(found[::2], found[1::2], strict=True):
        each, share = step.median / cells, 3 * part.over(step).median
        rows.append([step.name, f"{1e3 * step.median:.3f}", f"{1e9 * each:.1f}", f"{share:.3f}"])
    print(timing.table(("build", "ms/step", "ns/cell", "share of boundaries"), rows))
    print("The boundary part of the source has {} lines and {} tokens.".format(*boundary_size()))


if __name__ == "__main__":
    commands.run(main)
