"""Our Fortran version of the spectral elements, with the same interface.

``benchmarks/fortran/sem.f90`` works on arrays that are made here, from the constants of the
application; which points are the same is found by their places on the sphere.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.swe import geometry
from apps.swe.cases import Case
from apps.swe.spectral import Constants
from benchmarks import fortran
from benchmarks.fortran import Call

Array = NDArray[np.float64]


class Reference:
    """The solver: a state (3, 6, m, m) of depth and covariant velocity, advanced in place.

    Parameters
    ----------
    build
        The compiler's flags, a name of `benchmarks.fortran.BUILDS`.
    """

    def __init__(self, n: int, case: Case, viscosity: float = 0.0, build: str = "O3") -> None:
        if case.passive:
            raise ValueError(f"{case.name} only advects the depth; the reference does not.")
        known, size = Constants(n, case), 3 * n + 1
        every, panel = np.ogrid[:6, :size, :size], np.ogrid[:size, :size]
        place = [known.rotation(*every), known.bottom(*every)]
        dual = np.stack([known.dual(p, *panel) for p in range(6)], axis=1)
        parts = np.array([1.0, 5.0, 5.0, 1.0]) / 12
        line = (2 * geometry.EDGE / n) / known.weights
        tables = known.metric(*panel), np.stack(place), dual, line, parts, *_shared(known)
        self.state = fortran.aligned(np.asarray(known.state(*every), np.float64))
        shapes = self.state.shape, self.state.shape, (5, 6, size, size)
        self._others = [fortran.aligned(np.zeros(shape)) for shape in shapes]
        self._numbers = n, float(viscosity)
        self._per = float(n / (2 * geometry.EDGE))
        self._tables = [t if isinstance(t, int) else fortran.aligned(t) for t in tables]
        self._build = build

    def stepping(self, dt: float) -> Call:
        """Bind a step."""
        data: list[Any] = [*self._numbers, float(dt), self._per, *self._tables]
        return fortran.bind("sem", "step", self._build, *data, self.state, *self._others)


def _shared(known: Constants) -> tuple[Any, ...]:
    """Return pairs and triples of equal points, with the matrices of their means."""
    size = 3 * known.n + 1
    p, j, i = np.indices((6, size, size))
    rim = (np.minimum(j, i) == 0) | (np.maximum(j, i) == size - 1)
    numbers = np.flatnonzero(rim.ravel())
    p, j, i = (x[rim] for x in (p, j, i))
    r = np.stack(
        [geometry.position(a, known.at[c], known.at[b]) for a, b, c in zip(p, j, i, strict=True)]
    )
    dual = np.stack([known.basis(a, b, c) for a, b, c in zip(p, j, i, strict=True)])
    _, group, count = np.unique(r.round(9) + 0.0, axis=0, return_inverse=True, return_counts=True)
    found: list[Any] = []
    for copies in 2, 3:
        classes = [np.flatnonzero(group.ravel() == g) for g in np.flatnonzero(count == copies)]
        points = np.array(classes)
        turns = np.empty((len(points), 2 * copies, 2 * copies))
        for k, members in enumerate(points):
            vectors = np.concatenate([dual[m].T for m in members])  # (2 copies, 3)
            back = np.concatenate([np.linalg.pinv(dual[m]) for m in members])
            turns[k] = back @ vectors.T / copies
        found += [len(points)] if copies == 2 else []
        found += [numbers[points] + 1, turns]
    return tuple(found)
