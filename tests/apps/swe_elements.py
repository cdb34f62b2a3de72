"""Spectral elements once more, element by element: slow, and what the fast ones must equal."""

import numpy as np

from apps.swe import geometry
from apps.swe.cases import GRAVITY
from apps.swe.geometry import Array
from apps.swe.spectral import LAGRANGE, Constants

WEIGHTS = np.array([1.0, 5.0, 5.0, 1.0]) / 6


class ElementByElement:
    """Tendencies made in each element alone, then averaged over all that share a point.

    Points are the same if their places on the sphere are.
    """

    def __init__(self, known: Constants) -> None:
        self.known, self.width = known, 2 * geometry.EDGE / known.n
        size = 3 * known.n + 1
        p, j, i = np.ogrid[:6, :size, :size]
        where = known.places(p, j, i)
        r = np.moveaxis(geometry.position(*where), 0, -1).reshape(-1, 3)
        _, numbers = np.unique(r.round(9) + 0.0, axis=0, return_inverse=True)
        self.numbers = numbers.reshape(6, size, size)
        self.basis, self.f, self.b = (
            geometry.basis(*where),
            known.rotation(p, j, i),
            known.bottom(p, j, i),
        )
        self.J, *self.G = known.metric(*np.ogrid[:size, :size])[1:]

    def rhs(self, state: Array) -> Array:
        """Return dU/dt: the mean over the elements of a point, weighted by their masses there."""
        count, n = self.numbers.max() + 1, self.known.n
        total, water, motion = np.zeros(count), np.zeros(count), np.zeros((3, count))
        for panel in range(6):
            for b in range(n):
                for a in range(n):
                    at = np.s_[3 * b : 3 * b + 4, 3 * a : 3 * a + 4]
                    m = self.J[at] * np.outer(WEIGHTS, WEIGHTS)
                    dh, *du = self.element(state[:, panel][:, *at], panel, at)
                    numbers = self.numbers[panel][at]
                    np.add.at(total, numbers, m)
                    np.add.at(water, numbers, m * dh)
                    for axis, x in enumerate(self.vectors(np.stack(du), panel, at)):
                        np.add.at(motion[axis], numbers, m * x)
        h, v = (water / total)[self.numbers], (motion / total)[:, self.numbers]
        return np.stack([h, *np.einsum("crpji,rpji->cpji", self.basis, v)])

    def vectors(self, u: Array, panel: int, at: tuple[slice, slice]) -> Array:
        """Return vectors of covariant components in space."""
        G = [g[at] for g in self.G]
        up = np.stack([G[0] * u[0] + G[1] * u[1], G[1] * u[0] + G[2] * u[1]])
        return np.asarray(np.einsum("cji,crji->rji", up, self.basis[:, :, panel][:, :, *at]))

    def element(self, state: Array, panel: int, at: tuple[slice, slice]) -> tuple[Array, ...]:
        """Return dU/dt in one element."""
        (h, u1, u2), D = state, 2 / self.width * LAGRANGE
        J, G = self.J[at], [g[at] for g in self.G]
        v1, v2 = G[0] * u1 + G[1] * u2, G[1] * u1 + G[2] * u2
        E = GRAVITY * (h + self.b[panel][at]) + (u1 * v1 + u2 * v2) / 2
        Z = u2 @ D.T - D @ u1 + self.f[panel][at]
        dh = -((J * h * v1) @ D.T + D @ (J * h * v2)) / J
        return dh, Z * v2 - E @ D.T, -Z * v1 - D @ E
