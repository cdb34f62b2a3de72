"""Acoustic waves in a layered box: a source, and receivers along a line.

p_tt = c^2 Laplace(p) + s(t) at one point; fourth order in space, second in time. A sponge at the
sides takes the waves away. In a homogeneous box p = s(t - r/c) / (4 pi c^2 r) at the distance r.
"""

import numpy as np

import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("nz ny nx"))
fill = bc.fill(cells.grow(2), bc.zero())
parts = [ssr.difference(cells, cells.grow(2), axis, derivative=2, order=4) for axis in range(3)]
laplace = (parts[0] + parts[1] + parts[2]) @ fill


@ssr.program(old=cells, p=cells, courant2=cells, sponge=cells)
def step(old, p, courant2, sponge):  # the old pressure becomes the new one
    old[:] = sponge * (2 * p - sponge * old + courant2 * (laplace @ p))


def ricker(t, f):
    a = (np.pi * f * (t - 1.2 / f)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def run(n=128, f=15.0, time=0.6, layered=True, shown=0.4):
    """Return the pressure in Pa at the time shown, and the records of receivers; 1 km^3."""
    h = 1000.0 / n
    z = (np.arange(n) + 0.5) * h
    c = np.where(layered & (z > 500), 3000.0, 1500.0)[:, None, None] + np.zeros((n, n, n))
    dt = 0.4 * h / c.max()
    depth = np.maximum(0, 1 - np.minimum(z, 1000 - z) / 150)  # into the sponge
    damping = np.exp(-0.03 * (128 / n) * depth**2)
    sponge = damping[:, None, None] * damping[:, None] * damping
    p, old, courant2 = np.zeros_like(c), np.zeros_like(c), (c * dt / h) ** 2
    source, traces = (n // 4, n // 2, n // 2), []
    for k in range(round(time / dt)):
        step(old, p, courant2, sponge)
        old[source] += dt**2 * 1e9 * ricker(k * dt, f) / h**3
        p, old = old, p
        traces.append(p[n // 4, n // 2, n // 2 :: n // 20].copy())
        if k + 1 == round(shown / dt):
            section = p[:, n // 2].copy()
    return section, np.array(traces), dt, shown
