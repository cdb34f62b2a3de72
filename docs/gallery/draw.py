"""Solve the problems of the gallery and draw them: ``python docs/gallery/draw.py [NAME ...]``."""

import importlib
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent

PLACES_Y = (
    0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5, 0.6172, 0.7344, 0.8516, 0.9531,
    0.9609, 0.9688, 0.9766,
)  # fmt: skip
GHIA_U = (
    -0.18109, -0.20196, -0.22220, -0.29730, -0.38289, -0.27805, -0.10648, -0.06080, 0.05702,
    0.18719, 0.33304, 0.46604, 0.51117, 0.57492, 0.65928,
)  # fmt: skip
PLACES_X = (
    0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453,
    0.9531, 0.9609, 0.9688,
)  # fmt: skip
GHIA_V = (
    0.27485, 0.29012, 0.30353, 0.32627, 0.37095, 0.33075, 0.32235, 0.02526, -0.31966, -0.42665,
    -0.51550, -0.39188, -0.33714, -0.27669, -0.21388,
)  # fmt: skip
"""Velocities at Re = 1000 along the vertical and the horizontal line through the centre.

Table I and table II of U. Ghia, K. N. Ghia and C. T. Shin, J. Comput. Phys. 48, 1982.
"""
SPECTRAL_U = (
    -0.1812881, -0.2023300, -0.2228955, -0.3004561, -0.3885691, -0.2803696, -0.1081999, -0.0620561,
    0.0570178, 0.1886747, 0.3372212, 0.4723329, 0.5169277, 0.5808359, 0.6644227,
)  # fmt: skip
SPECTRAL_V = (
    0.2807056, 0.2962703, 0.3099097, 0.3330442, 0.3769189, 0.3339924, 0.3253592, 0.0257995,
    -0.3202137, -0.4264545, -0.5264392, -0.4103754, -0.3553213, -0.2936869, -0.2279225,
)  # fmt: skip
"""The same by a spectral method: O. Botella and R. Peyret, Comput. Fluids 27, 1998."""


def cavity(grid, u, v):
    """Draw streamlines, and profiles of the velocity with those of the references."""
    n = len(u)
    edges, centres = (grid.positions("y", space) for space in (grid.cells.nodes(), grid.cells))
    psi = np.pad(np.cumsum(u * np.diff(edges)[:, None], axis=0), ((1, 0), (0, 0)))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.5), layout="constrained")
    image = left.contourf(edges, edges, psi, 30, cmap="viridis")
    left.contour(edges, edges, psi, 15, colors="w", linewidths=0.5, linestyles="solid")
    left.contour(edges, edges, psi, (1e-5, 1e-4, 5e-4, 1e-3), colors="k", linewidths=0.5)
    label, ticks = r"stream function $\psi\,/\,(U L)$", np.arange(-0.12, 0.01, 0.02)
    figure.colorbar(image, ax=left, label=label, ticks=ticks)
    left.set(xlabel="x / L", ylabel="y / L", title="Streamlines, Re = 1000", aspect="equal")
    right.plot(centres, u[:, n // 2], label=f"u(L / 2, s), {n} x {n} cells")
    right.plot(centres, v[n // 2], label="v(s, L / 2)")
    for places, ghia, spectral, label in (
        (PLACES_Y, GHIA_U, SPECTRAL_U, ""),
        (PLACES_X, GHIA_V, SPECTRAL_V, "_"),
    ):
        right.plot(places, ghia, "ko", mfc="none", label=label + "Ghia et al. (1982)")
        right.plot(places, spectral, "k+", label=label + "Botella and Peyret (1998)")
    right.set(xlabel="s / L", ylabel="velocity / U", title="Velocity along the centre lines")
    right.grid(alpha=0.3)
    right.legend()
    return figure


def waves(section, traces, dt, shown):
    """Draw a section through the pressure, and what the receivers have recorded."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    most = 1e3 * abs(section).max() / 2
    image = left.imshow(1e3 * section, "RdBu_r", extent=(0, 1, 1, 0), clim=(-most, most))
    figure.colorbar(image, ax=left, label="pressure (mPa)", extend="both")
    left.axhline(0.5, color="k", lw=0.8)
    left.plot(0.5, 0.25, "k*", ms=9)
    places = 0.05 * np.arange(traces.shape[1])
    left.plot(0.5 + places[1:], [0.25] * (len(places) - 1), "kv", ms=4, clip_on=False)
    for depth, text in (0.06, "1500 m/s"), (0.97, "3000 m/s"):
        left.text(0.02, depth, text)
    left.set(xlabel="x (km)", ylabel="depth (km)")
    left.set_title(f"Section through the source, t = {shown:.1f} s")
    time = np.arange(1, len(traces) + 1) * dt
    gained = time**2 * traces.T[1:]  # as waves spread, those that come late are weak
    for place, trace in zip(1e3 * places[1:], 40 * gained / abs(gained).max()):
        right.plot(time, place + trace, "k", lw=0.8)
    along = np.linspace(0, 500, 100)
    for path, label in (along, "direct"), (np.hypot(along, 500), "from the layer"):
        right.plot(path / 1500 + 1.2 / 15, along, "--", lw=0.8, label=label)
    right.set(xlabel="time (s)", ylabel="distance from the source (m)", xlim=(0, time[-1]))
    right.set_ylim(-90, 560)
    right.set_title("Receivers, pressure times $t^2$")
    right.legend(loc="lower right")
    return figure


def gray_scott(u, v):
    """Draw the concentration of one substance."""
    figure, axes = plt.subplots(figsize=(5.8, 4.8), layout="constrained")
    image = axes.imshow(v, "inferno", origin="lower")
    figure.colorbar(image, ax=axes, label="concentration v")
    axes.set(xlabel="x (cells)", ylabel="y (cells)", title="F = 0.0367, k = 0.0649, 10,000 steps")
    return figure


def diffusion(k, times, found):
    """Draw temperatures at some times, with the outlines of what conducts better."""
    figure, each = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
    for axes, time, u in zip(each, times, found):
        image = axes.imshow(u, "inferno", origin="lower", extent=(0, 10, 0, 10), clim=(0, 1))
        axes.contour(k, [5e-5], colors="w", linewidths=0.6, extent=(0, 10, 0, 10))
        axes.set(xlabel="x (cm)", title=f"t = {time} s")
    each[0].set_ylabel("y (cm)")
    figure.colorbar(image, ax=each, label="temperature (K)")
    return figure


def membrane(values, vectors):
    """Draw the eigenvectors."""
    figure, each = plt.subplots(1, 4, figsize=(12, 3.2), layout="constrained", sharey=True)
    for axes, value, u in zip(each, values, vectors):
        scaled = u / u.flat[abs(u).argmax()]
        for block, (y, x) in zip(scaled, ((0, 0), (1, 0), (0, 1))):
            place = (x, x + 1, y, y + 1)
            image = axes.imshow(block, "RdBu_r", extent=place, origin="lower", clim=(-1, 1))
        axes.plot((0, 2, 2, 1, 1, 0, 0), (0, 0, 1, 1, 2, 2, 0), "k", lw=1)
        axes.set(
            xlim=(-0.03, 2.03), ylim=(-0.03, 2.03), xlabel="x", title=rf"$\lambda$ = {value:.3f}"
        )
    each[0].set_ylabel("y")
    figure.colorbar(image, ax=each, label="displacement")
    return figure


def obstacles(u, v, free):
    """Draw the vorticity at the inner corners of cells."""
    n = len(free)
    vorticity = n * (v[1:-1, 1:] - v[1:-1, :-1] - u[1:, 1:-1] + u[:-1, 1:-1])
    figure, axes = plt.subplots(figsize=(11, 3.2), layout="constrained")
    whole = (0, free.shape[1] / n, 0, 1)
    image = axes.imshow(vorticity, "RdBu_r", origin="lower", extent=whole, clim=(-20, 20))
    axes.contourf(free, (-0.5, 0.5), colors="0.3", extent=whole)
    figure.colorbar(image, ax=axes, label=r"vorticity $(U/H)$", extend="both")
    axes.set(xlabel="x / H", ylabel="y / H", title="Re = 120", aspect="equal")
    return figure


def multigrid(k, u, histories):
    """Draw the coefficients, the solution, and the residuals of each method."""
    figure, (one, two, three) = plt.subplots(1, 3, figsize=(13, 3.9), layout="constrained")
    shown = (one, np.log10(k), "cividis", r"$\log_{10} k$"), (two, u, "viridis", "u")
    for axes, values, colours, label in shown:
        image = axes.imshow(values, colours, origin="lower", extent=(0, 1, 0, 1))
        figure.colorbar(image, ax=axes, label=label, shrink=0.9)
        axes.set(xlabel="x", ylabel="y")
    one.set_title("Coefficient")
    two.set_title("Solution")
    for name, norms in histories.items():
        three.semilogy(np.array(norms) / norms[0], label=f"{name}: {len(norms) - 1}")
    three.set(xlabel="iteration", ylabel="residual / first residual", title="Conjugate gradients")
    three.set(xlim=(0, 300), ylim=(1e-9, 1e2))
    three.grid(alpha=0.3)
    three.legend(title="preconditioner: iterations", loc="lower right")
    return figure


def sphere(edges, area, found):
    """Draw the bell at several times, and the error after one turn, as seen from space."""
    points = importlib.import_module("sphere").sphere
    path = np.array([-0.5, np.sqrt(0.5), 0.5])  # where the bell is after an eighth of a turn
    east, axis = np.array([-0.5, -np.sqrt(0.5), 0.5]), np.array([1.0, 0.0, 1.0]) / np.sqrt(2)
    north, towards = 0.94 * axis - 0.34 * path, 0.94 * path + 0.34 * axis
    corners, centres = points(edges), points((edges[1:] + edges[:-1]) / 2)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
    error = found[-1] - found[0]
    most = abs(error).max()
    titles = "Start, 1/8, and 1/4 of a turn", "Error after one turn"
    shown = (left, sum(found[:-1]), "Blues", 0.0, 1.0), (right, error, "RdBu_r", -most, most)
    for (axes, q, colours, low, high), title in zip(shown, titles):
        for p in range(6):
            x, y, depth = np.tensordot(np.stack([east, north, towards]), corners[p], 1)
            seen = np.tensordot(towards, centres[p], 1) > 0
            values = np.where(seen, q[p], np.nan)
            image = axes.pcolormesh(x, y, values, cmap=colours, vmin=low, vmax=high)
            for side in np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]:
                front = np.where(depth[side] > 0, 1.0, np.nan)
                axes.plot(x[side] * front, y[side] * front, "k", lw=0.6)
        figure.colorbar(image, ax=axes, label="concentration q")
        axes.set(title=title, aspect="equal", xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
        axes.add_patch(plt.Circle((0, 0), 1.0, fill=False, lw=0.6))
        axes.axis("off")
    return figure


def tsunami(x, y, H, top, gauges, hours, records):
    """Draw the highest elevations over the depth, and the records of gauges with first arrivals."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.8), layout="constrained")
    whole, land = (0, 1000, 0, 1000), np.where(H == 0, 1.0, np.nan)
    sea = np.where(H > 0, top, np.nan)
    image = left.imshow(sea, "magma_r", origin="lower", extent=whole, clim=(0, 1))
    figure.colorbar(image, ax=left, label="highest elevation (m)", extend="max")
    left.imshow(land, "Greens", origin="lower", extent=whole, clim=(0, 1.6))
    depths = left.contour(x, y, H, (200, 1000, 2000, 3000, 3900), colors="0.4", linewidths=0.6)
    left.clabel(depths, fmt="%d m", fontsize=7)
    for n, (a, b) in enumerate(gauges):
        left.plot(a, b, "o", color=f"C{n}", mec="w")
        line = np.linspace((200, 500), (a, b), 400)
        place = tuple((line.T[::-1] * len(H) / 1000).astype(int))
        speed = np.sqrt(9.81 * np.maximum(H[place], 1.0)) * 3.6
        away = np.hypot(a - 200, b - 500)
        right.plot(hours, records[:, n] - n, color=f"C{n}", label=f"gauge at {a}, {b} km")
        right.plot([away * (1 / speed).mean()] * 2, [-0.4 - n, 0.4 - n], "k--", lw=0.8)
    left.set(xlabel="x (km)", ylabel="y (km)", title="Uplift, ridge, island and shelf")
    right.set(xlabel="time (h)", ylabel="elevation (m), shifted", xlim=(0, hours[-1]))
    right.set_title("Tide gauges, and travel times of the crest by sqrt(g H)")
    right.legend(fontsize=8, loc="upper right")
    return figure


def acoustics(c, section, records, dt, swapped, source, receivers):
    """Draw the pressure over the layers, and the records of receivers."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    most, km = abs(section).max() / 4, (0, 1, 1, 0)
    image = left.imshow(section, "RdBu_r", extent=km, clim=(-most, most))
    figure.colorbar(image, ax=left, label="pressure (Pa)", extend="both")
    left.contour(c, (1800, 2600), colors="k", linewidths=0.8, extent=km, origin="upper")
    left.plot(source[1] / 1000, source[0] / 1000, "k*", ms=9)
    left.plot(receivers[:, 1] / 1000, receivers[:, 0] / 1000, "kv", ms=4)
    for depth, text in (0.38, "1500 m/s"), (0.62, "2200 m/s"), (0.95, "3000 m/s"):
        left.text(0.03, depth, text, bbox={"fc": "w", "ec": "none", "alpha": 0.7, "pad": 1})
    left.set(xlabel="x (km)", ylabel="depth (km)", title="Pressure, t = 0.4 s")
    time = np.arange(1, len(records) + 1) * dt
    gain = 60 * time**2 / abs(time[:, None] ** 2 * records).max()  # late waves are weak
    for (_, place), trace in zip(receivers, records.T):
        right.plot(time, place + gain * trace, "k", lw=0.8)
    label = "source and receiver exchanged"
    right.plot(time, receivers[-4, 1] + gain * swapped, "C1--", lw=1.2, label=label)
    along = receivers[:, 1] - source[1]
    right.plot(np.hypot(along, 50) / 1500 + 1.2 / 18, receivers[:, 1], "C0:", label="direct wave")
    right.set(xlabel="time (s)", ylabel="x (m)", xlim=(0, time[-1]))
    right.legend(loc="lower right")
    right.set(ylim=(250, 900), title="Receivers, pressure times $t^2$")
    return figure


def drifters(days, found):
    """Draw the paths of drifters over streamlines, and how far they leave these."""
    stream = importlib.import_module("drifters").stream
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=(2, 1)
    )
    longitude, latitude = np.meshgrid(np.linspace(-180, 180, 241), np.linspace(-90, 90, 121))
    a, b = np.radians(longitude), np.radians(latitude)
    psi = stream(np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)], axis=-1))
    left.contour(longitude, latitude, psi, 21, colors="0.75", linewidths=0.7, linestyles="solid")
    for path in np.moveaxis(found, 1, 0):
        east, north = np.degrees([np.arctan2(path[:, 1], path[:, 0]), np.arcsin(path[:, 2])])
        (line,) = left.plot(np.where(abs(np.gradient(east)) < 20, east, np.nan), north, lw=1.0)
        left.plot(east[-1], north[-1], "o", ms=3, color=line.get_color())
    left.set(xlabel="longitude relative to the wave (degrees)", ylabel="latitude (degrees)")
    title = f"{found.shape[1]} drifters in {days[-1]:.0f} days, over streamlines"
    left.set(title=title, xlim=(-180, 180), ylim=(-90, 90))
    values = stream(found)
    right.semilogy(days[1:], abs(values - values[0]).max(axis=1)[1:] / np.ptp(psi))
    right.set(xlabel="time (days)", ylabel="largest change / range", title="Stream function")
    right.grid(alpha=0.3)
    return figure


def cylinder(grid, T, sizes, errors):
    """Draw the temperature in a section of the cylinder, and the errors on each grid."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    r, z = (grid.positions(axis, grid.cells.nodes()) for axis in "rz")
    for sign in 1, -1:
        image = left.pcolormesh(sign * r, z, T.T, cmap="inferno", vmin=0.0)
    figure.colorbar(image, ax=left, label="temperature")
    left.set(xlabel="r (m)", ylabel="z (m)", aspect="equal", title="Section through the axis")
    right.loglog(sizes, errors, "o-", label="largest error")
    right.loglog(sizes, errors[0] * (sizes[0] / np.array(sizes)) ** 2, "k--", label="second order")
    right.set(xlabel="cells along the radius, twice the steps", ylabel="error")
    right.set(xticks=sizes, xticklabels=sizes, title="Compared with the known solution")
    right.minorticks_off()
    right.grid(alpha=0.3)
    right.legend()
    return figure


def imex(v, found):
    """Draw a concentration, and errors over the lengths of steps and over the work."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    image = left.imshow(v, "inferno", origin="lower", extent=(0, 0.5, 0, 0.5))
    figure.colorbar(image, ax=left, label="concentration v")
    left.set(xlabel="x", ylabel="y", title=f"{len(v)} x {len(v)} cells")
    for (name, (steps, errors, work)), mark in zip(found.items(), "*osD"):
        middle.loglog(steps, errors, f"{mark}-", label=name)
        right.loglog(work, errors, f"{mark}-")
    middle.set(xlabel="length of steps", ylabel="largest error of v", title="Error and steps")
    right.set(xlabel="evaluations and products", title="Error and work")
    right.set(xticks=(1000, 3000, 10000), xticklabels=("1,000", "3,000", "10,000"))
    right.minorticks_off()
    middle.legend()
    for axes in middle, right:
        axes.grid(alpha=0.3)
    return figure


PICTURES = (
    cavity, waves, gray_scott, imex, diffusion, membrane, obstacles, multigrid, sphere, tsunami,
    acoustics, drifters, cylinder,
)  # fmt: skip


def main(names):
    """Solve and draw problems into files beside this one."""
    plt.switch_backend("Agg")
    sys.path.insert(0, str(HERE))
    for picture in PICTURES:
        if not names or picture.__name__ in names:
            found = importlib.import_module(picture.__name__).run()
            path = HERE / f"{picture.__name__}.png"
            picture(*found).savefig(path, dpi=80)
            print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
