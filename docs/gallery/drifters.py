"""Drifters in a Rossby-Haurwitz wave on the sphere, over panels and their edges.

The wave of number R moves around the globe without a change of form (Haurwitz, 1940). Seen from the
wave the wind is steady, and drifters stay on streamlines. The wind, three components in space, is
interpolated from the cells of a cubed sphere; positions are vectors, and the panel of a drifter is
the one whose center is next to it.
"""

import numpy as np

import boundary as bc
import ssr

n = ssr.size("n", at_least=4)
cells = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells  # [panel, y, x]
x, y, z = np.eye(3)
axes = np.array([(x, y, z), (y, -x, z), (-x, -y, z), (-y, x, z), (z, y, -x), (-z, y, x)])
R, OMEGA, K, SPIN = 4, 7.848e-6, 7.848e-6, 7.292e-5  # per second (Williamson et al., 1992, case 6)
SPEED = (R * (3 + R) * OMEGA - 2 * SPIN) / ((1 + R) * (2 + R))  # of the wave, to the east


def stream(r):
    """Return the stream function seen from the wave at r[..., xyz], for a sphere of radius 1."""
    wave = ((r[..., 0] + 1j * r[..., 1]) ** R).real  # cos(latitude)^R cos(R longitude)
    return r[..., 2] * (SPEED - OMEGA + K * wave)


def wind(r):
    """Return the rotated gradient of the stream function."""
    power = R * K * r[..., 2] * (r[..., 0] + 1j * r[..., 1]) ** (R - 1)
    wave = ((r[..., 0] + 1j * r[..., 1]) ** R).real
    gradient = np.stack([power.real, -power.imag, SPEED - OMEGA + K * wave], axis=-1)
    return np.cross(r, gradient)


def places(r, size):
    """Return the panel and the indices of positions, one in each row."""
    panel = np.argmax(r @ axes[:, 0].T, axis=1)
    center, east, north = np.einsum("pac,pc->ap", axes[panel], r)
    angles = np.arctan2([north, east], center)
    return np.column_stack([panel, *((angles + np.pi / 4) * 2 * size / np.pi - 0.5)])


def run(size=48, days=14.0, step=1800.0, count=60, ranks=None):
    """Return the days, and the positions of drifters, [time, drifter, xyz]; on any ranks."""
    tangent = np.tan((np.arange(size) + 0.5) * np.pi / 2 / size - np.pi / 4)
    X, Y = np.meshgrid(tangent, tangent)
    centers = np.stack([np.ones_like(X), X, Y]) / np.sqrt(1 + X**2 + Y**2)
    on = bc.distribute(cells, ranks, n=size)
    winds = wind(np.einsum("ayx,pac->pyxc", centers, axes))
    V = on.scatter(cells.vector(3), np.moveaxis(winds, -1, 0))
    r = np.random.default_rng(0).normal(size=(count, 3))
    r /= np.linalg.norm(r, axis=1)[:, None]
    drifters, found = bc.points(on, places(r, size), "cubic"), [r]
    r = r[drifters.numbers]  # each rank has those on its cells
    for _ in range(round(days * 86400 / step)):
        total, there = np.zeros_like(r), r
        for weight, ahead in (1, step / 2), (2, step / 2), (2, step), (1, 0.0):  # Runge-Kutta
            r, total, there = drifters.move(places(there, size), r, total, there)
            rate = drifters.interpolate(V)
            total, there = total + weight * rate, r + ahead * rate
        r = r + step / 6 * total
        r /= np.linalg.norm(r, axis=1)[:, None]
        found.append(drifters.gather(r))
    return np.arange(len(found)) * step / 86400, np.array(found)
