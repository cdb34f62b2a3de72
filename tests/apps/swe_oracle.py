"""The shallow-water solver once more, as plain array code: slow, and what the fast ones must equal.

Averages of ``J h, J h u1, J h u2`` over cells become point values, these are filled into three
layers of ghosts by interpolation along a line of the neighbour and rotation, reconstructed at
faces, and make fluxes (LMARS), pressure gradients and sources. The axes of all arrays are
``[panel, beta, alpha]``; a direction is the axis -1 for alpha and -2 for beta.
"""

from typing import Any, Literal, Self

import numpy as np

from apps.swe import geometry
from apps.swe.cases import GRAVITY, Case, case, mean
from apps.swe.checkpoint import Setting
from apps.swe.geometry import SIDES, Array
from apps.swe.volumes import Volumes

Weights = Literal["linear", "weno"]


def second(v: Array, axis: int) -> Array:
    """Return second differences along an axis, at its ends from the four values next to them."""
    v = np.moveaxis(v, axis, -1)
    d = np.empty_like(v)
    d[..., 1:-1] = v[..., :-2] - 2 * v[..., 1:-1] + v[..., 2:]
    d[..., 0] = 2 * v[..., 0] - 5 * v[..., 1] + 4 * v[..., 2] - v[..., 3]
    d[..., -1] = 2 * v[..., -1] - 5 * v[..., -2] + 4 * v[..., -3] - v[..., -4]
    return np.moveaxis(d, -1, axis)


def points(averages: Array) -> Array:
    return averages - (second(averages, -1) + second(averages, -2)) / 24


def means(values: Array) -> Array:
    return values + (second(values, -1) + second(values, -2)) / 24


def lines(v: Array, side: str, width: int) -> Array:
    """Return the lines of cells along an edge of a panel, [k, t], from the edge inwards."""
    inward = {"W": v.T, "E": v.T[::-1], "S": v, "N": v[::-1]}[side]
    return inward[:width]


def linear(a: Array, b: Array, c: Array, d: Array, e: Array) -> Array:
    return (3 * a - 20 * b + 90 * c + 60 * d - 5 * e) / 128


def weno(a: Array, b: Array, c: Array, d: Array, e: Array) -> Array:
    """Return the WENO-Z value at the face between c and d."""
    q = [
        (3 * a - 10 * b + 15 * c) / 8,
        (-b + 6 * c + 3 * d) / 8,
        (3 * c + 6 * d - e) / 8,
    ]
    smooth = [
        13 / 12 * (a - 2 * b + c) ** 2 + (a - 4 * b + 3 * c) ** 2 / 4,
        13 / 12 * (b - 2 * c + d) ** 2 + (b - d) ** 2 / 4,
        13 / 12 * (c - 2 * d + e) ** 2 + (3 * c - 4 * d + e) ** 2 / 4,
    ]
    tau, eps = abs(smooth[0] - smooth[2]), 1e-40 + 1e-16 * (c**2 + 1e-30)
    ideal = 1 / 16, 10 / 16, 5 / 16
    w = [i * (1 + (tau / (s + eps)) ** 2) for i, s in zip(ideal, smooth, strict=True)]
    return sum(wi * qi for wi, qi in zip(w, q, strict=True)) / sum(w)


class Solver:
    """The solver: a state (3, 6, n, n) and steps in place."""

    def __init__(self, n: int, case: Case, weights: Weights = "linear") -> None:
        self.n, self.case = n, case
        self.state = case.state(n)
        self.reconstruct = {"linear": linear, "weno": weno}[weights]
        self.step_size = np.pi / 2 / n
        alpha, beta = geometry.grid(n)
        self.G = geometry.metric(alpha, beta)
        self.gamma = geometry.christoffel(alpha, beta)
        self.f = case.coriolis(*geometry.lonlat(geometry.position(geometry.PANELS, alpha, beta)))
        one = mean(lambda lon, lat: np.ones_like(lon), n)
        self.J = points(one)
        self.b = points(mean(case.bottom, n)) / self.J
        self.velocity = case.velocity(n) if case.passive else None
        self.i0, self.w = geometry.interpolation(n)
        self.T = geometry.rotations(n)
        self.b_ghost = {
            (p, side): case.bottom(
                *geometry.lonlat(geometry.position(p, *geometry.ghosts(n, side)))
            )
            for p in range(6)
            for side in SIDES
        }

    def step(self, dt: float) -> None:
        """Advance by one step of SSP-RK3."""
        U = self.state
        V = U + dt * self.rhs(U)
        V = 3 / 4 * U + 1 / 4 * (V + dt * self.rhs(V))
        self.state[:] = 1 / 3 * U + 2 / 3 * (V + dt * self.rhs(V))

    def rhs(self, U: Array) -> Array:
        """Return dU/dt."""
        g, D, n = GRAVITY, self.step_size, self.n
        Uc = points(U)
        h = Uc[0] / self.J
        u = Uc[1:] / Uc[0] if self.velocity is None else self.velocity
        H = h + self.b
        padded = self.fill(h, H, u)
        fluxes, gradients = [], []
        for normal, axis in ((0, -1), (1, -2)):
            F, P = self.riemann(padded, normal, axis)
            fluxes.append(F + second(F, -3 - axis) / 24)
            Hs = inner(padded[1], axis)
            across = take(Hs, axis, 4, n) - take(Hs, axis, 2, n)
            gradients.append((8 * np.diff(P, axis=axis) - g * across) / (6 * D))
        self.synchronize(fluxes[0][0], fluxes[1][0])
        dU = -(np.diff(fluxes[0], axis=-1) + np.diff(fluxes[1], axis=-2)) / D
        if self.velocity is None:
            dU[1:] += means(self.source(h, u, *gradients))
        else:
            dU[1:] = 0.0
        return dU

    def source(self, h: Array, u: Array, Pa: Array, Pb: Array) -> Array:
        J, (G11, G12, G22), c = self.G.J, self.G.upper, self.gamma
        S1 = -(c.g1_11 * u[0] ** 2 + 2 * c.g1_12 * u[0] * u[1]) - (G11 * Pa + G12 * Pb)
        S2 = -(2 * c.g2_12 * u[0] * u[1] + c.g2_22 * u[1] ** 2) - (G12 * Pa + G22 * Pb)
        S1 += self.f * J * (G11 * u[1] - G12 * u[0])
        S2 += self.f * J * (G12 * u[1] - G22 * u[0])
        return J * h * np.stack([S1, S2])

    def fill(self, h: Array, H: Array, u: Array) -> Array:
        """Return h, H, u1, u2 with three layers of ghosts; NaN at the corners."""
        n = self.n
        wide = np.full((4, 6, n + 6, n + 6), np.nan)
        wide[:, :, 3:-3, 3:-3] = h, H, *u
        for p in range(6):
            for e, side in enumerate(SIDES):
                other = geometry.link(p, side)
                ghost = np.empty((4, 3, n))
                for m in 1, 2, 3:
                    line = lines((H, *u)[m - 1][other.panel], other.side, 3)
                    line = line[:, ::-1] if other.reversed else line
                    taps = self.i0[..., None] + np.arange(self.w.shape[-1])
                    ghost[m] = np.sum(self.w * line[np.arange(3)[:, None, None], taps], axis=-1)
                ghost[2:] = np.einsum("ijkt,jkt->ikt", self.T[:, :, p, e], ghost[2:])
                ghost[0] = ghost[1] - self.b_ghost[p, side]
                for m in range(4):
                    lines_out(wide[m, p], side)[:] = ghost[m]
        return wide

    def riemann(self, padded: Array, normal: int, axis: int) -> tuple[Array, Array]:
        """Return fluxes (3, 6, ...) and the pressure g H at the faces along an axis."""
        n, g = self.n, GRAVITY
        along, across = geometry.faces(n), geometry.centres(n)
        at = (along[None, :], across[:, None]) if axis == -1 else (across[None, :], along[:, None])
        G = geometry.metric(*at)
        s = np.sqrt(G.upper[2 * normal])
        q = inner(padded, axis)
        tap = [take(q, axis, k, n + 1) for k in range(6)]
        left, right = self.reconstruct(*tap[:5]), self.reconstruct(*tap[:0:-1])
        (hL, HL, *uL), (hR, HR, *uR) = left, right
        speed, height = (uL[normal] + uR[normal]) / (2 * s), (HL + HR) / 2
        if self.velocity is None:
            c = np.sqrt(g * (hL + hR) / 2)
            speed = speed - g / (2 * c) * (HR - HL)
            height = height + c / (2 * g) * (uL[normal] - uR[normal]) / s
        up = np.where(speed > 0, left, right)
        F0 = G.J * s * speed * up[0]
        return np.stack([F0, F0 * up[2], F0 * up[3]]), g * height

    def synchronize(self, F: Array, G: Array) -> None:
        """Make the mass flux through each panel edge the mean of what both panels say."""
        edge = {"W": F[:, :, 0], "E": F[:, :, -1], "S": G[:, 0], "N": G[:, -1]}
        sign = {"W": -1, "E": 1, "S": -1, "N": 1}
        for p in range(6):
            for side in SIDES:
                q, its, backwards = geometry.link(p, side)
                if p < q:
                    there = edge[its][q, ::-1] if backwards else edge[its][q]
                    m = (sign[side] * edge[side][p] - sign[its] * there) / 2
                    edge[side][p] = sign[side] * m
                    there[:] = -sign[its] * m


class FieldSolver(Volumes):
    """The same steps on a field, for runs: they compile nothing."""

    def __init__(self, n: int, case: Case, weights: Weights = "linear", ranks: Any = None) -> None:
        super().__init__(n, case, weights, ranks)
        self.oracle = Solver(n, case, weights)

    @classmethod
    def of(cls, setting: Setting, ranks: Any = None) -> Self:
        """Return the solver of a setting."""
        flow = case(setting.case, setting.angle)
        return cls(setting.n, flow, setting.weights, ranks)

    def step(self, dt: float) -> None:
        self.oracle.state[:] = self.state.gather()
        self.oracle.step(dt)
        self.state.set(self.oracle.state)


def inner(padded: Array, axis: int) -> Array:
    """Return a padded array without the ghosts of the other axis."""
    return padded[..., 3:-3, :] if axis == -1 else padded[..., 3:-3]


def take(v: Array, axis: int, first: int, count: int) -> Array:
    return v[..., first : first + count] if axis == -1 else v[..., first : first + count, :]


def lines_out(v: Array, side: str) -> Array:
    """Return the ghost lines of a padded panel, [k, t], from the edge outwards."""
    outward = {
        "W": v[3:-3, 2::-1].T,
        "E": v[3:-3, -3:].T,
        "S": v[2::-1, 3:-3],
        "N": v[-3:, 3:-3],
    }
    return outward[side]
