"""A tsunami, from an uplift of the sea floor to a coast: open boundaries, and tide gauges.

Linear shallow water on a C grid: eta_t = -div(H u), u_t = -g grad(eta). Waves leave through three
sides by Flather's condition. Over a step of the depth the part 2 / (1 + sqrt(H2 / H1)) goes on.
"""

import numpy as np

import boundary as bc
import ssr

g = 9.81
cells = ssr.Space(*ssr.sizes("ny nx", at_least=2))
across, along = cells.faces(1), cells.faces(0)
inner_x, inner_y = across.grow(0, -1), along.grow(-1, 0)
west, south, north = across.side(1, "low"), along.side(0, "low"), along.side(0, "high")
slope_x, slope_y = ssr.difference(inner_x, cells, 1), ssr.difference(inner_y, cells, 0)
outflow_x, outflow_y = ssr.difference(cells, across, 1), ssr.difference(cells, along, 0)


def beside(side, back):
    def cell(j, i):  # the cell next to a face
        yield (j - back, i), 1.0

    return ssr.matrix(rows=side, cols=cells)(cell)


at_west, at_south, at_north = beside(west, 0), beside(south, 0), beside(north, 1)
fields = {"eta": cells, "u": across, "v": along, "hu": across, "hv": along, "top": cells}


@ssr.program(**fields, r=ssr.scalar, out=ssr.scalar)
def step(eta, u, v, hu, hv, top, r, out):  # r = dt / h; velocities are half a step ahead
    eta[:] = eta - r * (outflow_x @ (hu * u) + outflow_y @ (hv * v))
    u[inner_x] = u[inner_x] - g * r * (slope_x @ eta)
    v[inner_y] = v[inner_y] - g * r * (slope_y @ eta)
    u[west] = -ssr.sqrt(g / hu[west]) * (at_west @ eta)
    v[south] = -out * ssr.sqrt(g / ssr.maximum(hv[south], 1.0)) * (at_south @ eta)
    v[north] = out * ssr.sqrt(g / ssr.maximum(hv[north], 1.0)) * (at_north @ eta)
    top[:] = ssr.maximum(top, eta)


def ocean(x, y):
    """Return the depth in m, zero on land, of an ocean with a ridge, an island and a shelf."""
    sea = np.interp(x, [0, 600, 800, 930, 940], [4000, 4000, 500, 250, 0]) + 0 * y
    sea = sea - 3000 * np.exp(-(((x - 420) / 60) ** 2) - ((y - 620) / 150) ** 2)
    return np.maximum(0.0, sea - 4600 * np.exp(-((x - 560) ** 2 + (y - 350) ** 2) / 40**2))


def uplift(x, y):
    return 2 * np.exp(-(((x - 200) / 45) ** 2) - ((y - 500) / 100) ** 2)


def at_faces(H, axis):
    low, high = (np.insert(H, place, np.take(H, place, axis), axis) for place in (0, -1))
    return np.where(np.minimum(low, high) > 0, (low + high) / 2, 0.0)


GAUGES = (300, 500), (530, 570), (760, 500), (900, 620)


def run(n=400, hours=3.0, gauges=GAUGES, depth=ocean, start=uplift, out=1.0):
    """Return x, y in km, depth and highest elevation in m, gauges, and their records by hours."""
    x, y, h = (np.arange(n) + 0.5) * 1e3 / n, (np.arange(n)[:, None] + 0.5) * 1e3 / n, 1e6 / n
    H, eta = depth(x, y), start(x, y)
    hu, hv, top = at_faces(H, 1), at_faces(H, 0), np.zeros((n, n))
    u, v, records = np.zeros((n, n + 1)), np.zeros((n + 1, n)), []
    stations = bc.points(cells, [(b, a) for a, b in gauges], axes=(y[:, 0], x), ny=n, nx=n)

    def advance(t, dt):
        step(eta, u, v, hu, hv, top, dt / h, out)

    sea = ssr.simulation.FunctionStepper(advance, {"eta": eta, "u": u, "v": v, "top": top})
    course = ssr.simulation.Simulation(
        sea, stop_time=3600 * hours, dt=0.4 * h / np.sqrt(g * H.max())
    )
    course.add(lambda s: records.append([s.time / 3600, *stations.interpolate(eta)]), steps=1)
    course.run()
    hours, *records = np.array(records).T
    return x, y[:, 0], H, top, gauges, hours, np.array(records).T
