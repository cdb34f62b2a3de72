"""Acoustic waves in a layered section, with a source and receivers between grid points.

p_tt / c^2 = Laplace(p) + s(t) at one point; fourth order in space, second in time, with p = 0 at
the surface and sponges at the other sides. Windowed sinc functions inject the source and
interpolate the receivers, next to the surface with mirrored ghosts (Hicks, Geophysics 67, 2002).
The scheme is symmetric: source and receivers may be exchanged without a change of the record.
"""

import numpy as np

import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(4)
surface = bc.symmetric(axis=0, side="low", sign=-1.0)
fill = bc.fill(wide, surface, bc.zero(axis=0, side="high"), bc.zero(axis=1))
second = [ssr.difference(cells, wide, axis, derivative=2, order=4) for axis in range(2)]
laplace = (second[0] + second[1]) @ fill


@ssr.program(old=cells, p=cells, q=cells, courant2=cells, sponge=cells)
def step(old, p, q, courant2, sponge):  # the old pressure becomes the new one
    old[:] = sponge * (2 * p - sponge * old + courant2 * (laplace @ p + q))
    q[:] = 0.0


def ricker(t, f):
    a = (np.pi * f * (t - 1.2 / f)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def shoot(source, receivers, n, f, time, layered, shown=0.4):
    """Return the pressure at the time shown and the records of receivers; one square kilometer."""
    h = 1000.0 / n
    x = (np.arange(n) + 0.5) * h
    depth = x[:, None] + 0.15 * x  # of layers that dip
    c = np.where(layered & (depth > 450), np.where(depth > 700, 3000.0, 2200.0), 1500.0)
    dt = 0.5 * h / c.max()
    damping = [np.maximum(0, 1 - d / 160) ** 2 for d in (1000 - x, np.minimum(x, 1000 - x))]
    sponge = np.exp(-12.0 * dt / h * c.max() / n * (damping[0][:, None] + damping[1]))
    p, old, q = np.zeros((3, n, n))
    shot, stations = (
        bc.points(cells, at, "sinc", axes=(x, x), ny=n, nx=n) for at in ([source], receivers)
    )
    records, courant2 = [], (c * dt / h) ** 2
    for k in range(round(time / dt)):
        shot.inject(q, ricker(k * dt, f), fill=fill)  # times h^2, divided by the area of a cell
        step(old, p, q, courant2, sponge)
        p, old = old, p
        records.append(stations.interpolate(p, fill=fill))
        if k + 1 == round(shown / dt):
            section = p.copy()
    return c, section, np.array(records), dt


def run(n=200, f=18.0, time=0.75, layered=True):
    """Return speeds, a section and records of a shot, and one with two places exchanged."""
    source, receivers = (61.7, 301.3), [(12.2, x + 0.3) for x in range(340, 860, 40)]
    shot = shoot(source, receivers, n, f, time, layered)
    swapped = shoot(receivers[-4], [source], n, f, time, layered)[2][:, 0]
    return *shot, swapped, source, np.array(receivers)
