"""Pictures of height and vorticity: on a map, and on two sides of the globe.

The value of a pixel is interpolated between points of the panel it lies on, by polynomials through
as many of them as the solver's have; across the edges of panels too where no points lie on these.
So nothing is drawn twice or left out at edges and poles.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ssr

from . import geometry
from .geometry import EDGE, MATRICES, SIDES, Array

FLAT = 1e-9
"""The relative difference below which heights are equal up to rounding."""

STILL = 1e-12
"""The vorticity in 1/s below which there is only rounding."""


class Points(NamedTuple):
    """The coordinates of values, and the degree of their interpolation."""

    at: Array
    """The coordinates of points along a panel."""
    degree: int
    """The degree of the polynomials; adjacent polynomials share a point."""


class Picture(NamedTuple):
    """A picture: values, shape (6, n, n), their coordinates, and a title."""

    height: Array
    vorticity: Array
    points: Points
    title: str


def padded(field: Array) -> Array:
    """Return a field (6, n, n) at centres with one layer of ghosts, (6, n + 2, n + 2).

    A ghost at a corner is the mean of its two neighbours.
    """
    n = field.shape[-1]
    i0, w = geometry.interpolation(n, width=1)
    taps = i0[0][:, None] + np.arange(w.shape[-1])
    wide = np.zeros((6, n + 2, n + 2))
    wide[:, 1:-1, 1:-1] = field
    for panel in range(6):
        for side in SIDES:
            other = geometry.link(panel, side)
            line = border(field[other.panel], other.side, 0)
            line = line[::-1] if other.reversed else line
            border(wide[panel], side, 0)[1:-1] = np.sum(w[0] * line[taps], axis=-1)
    for j, i in (0, 0), (0, -1), (-1, 0), (-1, -1):
        beside = wide[:, j, 1 if i == 0 else -2], wide[:, 1 if j == 0 else -2, i]
        wide[:, j, i] = sum(beside) / 2
    return wide


def border(field: Array, side: str, k: int) -> Array:
    """Return the k-th line along an edge of a panel."""
    index = k if side in "WS" else -1 - k
    return field[:, index] if side in "WE" else field[index]


def sample(field: Array, r: Array, points: Points) -> Array:
    """Return a field (6, n, n) at unit vectors (3, ...), by polynomials between points.

    Examples
    --------
    >>> north = np.array([[0.0], [0.0], [1.0]])
    >>> field = np.arange(6.0)[:, None, None] * np.ones((6, 6))
    >>> sample(field, north, Points(geometry.centres(6), 1)).round(12)
    array([4.])
    """
    at, degree = points
    if at[0] > -EDGE:
        field, at = padded(field), np.concatenate([[2 * at[0] - at[1]], at, [2 * at[-1] - at[-2]]])
    panel = np.argmax(np.einsum("pr,r...->p...", MATRICES[:, :, 0], r), axis=0)
    (i, x), (j, y) = (_weights(at, degree, angle) for angle in geometry.coordinates(panel, r))
    return np.asarray(
        sum(
            y[b] * sum(x[a] * field[panel, j + b, i + a] for a in range(degree + 1))
            for b in range(degree + 1)
        )
    )


def _weights(at: Array, degree: int, angle: Array) -> tuple[Any, list[Array]]:
    """Return the first of the points around each angle, and the weight of each of them."""
    ends = at[degree:-1:degree]
    first = degree * np.searchsorted(ends, angle, side="right")
    near = [at[first + k] for k in range(degree + 1)]
    weights = []
    for k, here in enumerate(near):
        others = [(angle - there) / (here - there) for m, there in enumerate(near) if m != k]
        weights.append(np.prod(others, axis=0))
    return first, weights


def draw(picture: Picture, path: Path, *, edges: bool = False) -> None:
    """Draw height and vorticity into a file.

    Parameters
    ----------
    edges
        Whether the edges of the panels are shown.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    from matplotlib.figure import Figure  # not pyplot: needs no display, and Agg writes the file

    figure = Figure(figsize=(14, 7), layout="constrained")
    figure.suptitle(picture.title)
    axes = figure.subplots(2, 3, width_ratios=[2, 1, 1])
    rows: tuple[tuple[Array, str, _Style], ...] = (
        (picture.height, "height of the surface, m", _heights(picture.height)),
        (picture.vorticity, "relative vorticity, 1/s", _vorticities(picture.vorticity)),
    )
    for (chart, *globes), (values, name, style) in zip(axes, rows, strict=True):
        image = _map(chart, values, picture.points, style, edges)
        chart.set_title(name)
        for globe, (lon, lat) in zip(globes, ((-60.0, 35.0), (120.0, 35.0)), strict=True):
            _globe(globe, values, picture.points, style, (lon, lat), edges)
        figure.colorbar(image, ax=[chart, *globes], aspect=30, pad=0.01)
    ssr.output.publish(path, lambda file: figure.savefig(file, dpi=110, format=path.suffix[1:]))


class _Style(NamedTuple):
    """Colours of a field and the levels of its contours."""

    colours: str
    low: float
    high: float
    levels: Array


def _heights(values: Array) -> _Style:
    from matplotlib.ticker import MaxNLocator

    low, high = float(values.min()), float(values.max())
    if high - low <= FLAT * max(abs(low), abs(high)):
        return _Style("viridis", low - 1, high + 1, np.array([]))
    levels = np.asarray(MaxNLocator(14).tick_values(low, high))
    return _Style("viridis", low, high, _clear(levels, high - low))


def _vorticities(values: Array) -> _Style:
    from matplotlib.ticker import MaxNLocator

    most = max(float(np.abs(values).max()), STILL)
    levels = np.asarray(MaxNLocator(12).tick_values(-most, most))
    return _Style("RdBu_r", -most, most, _clear(levels, most))


def _clear(levels: Array, size: float) -> Array:
    """Return the levels without zero, whose contour is arbitrary where a field vanishes."""
    return levels[np.abs(levels) > 1e-3 * size]


def _map(axes: Any, values: Array, points: Points, style: _Style, edges: bool) -> Any:
    """Draw a field over longitude and latitude; return the image."""
    lon = (np.arange(900) + 0.5) * 0.4 - 180
    lat = (np.arange(450) + 0.5) * 0.4 - 90
    x, y = np.meshgrid(lon, lat)
    shown = sample(values, unit(x, y), points)
    image = axes.imshow(
        shown, style.colours, vmin=style.low, vmax=style.high, origin="lower",
        extent=(-180, 180, -90, 90), interpolation="bilinear",
    )  # fmt: skip
    _contours(axes, lon, lat, shown, style)
    if edges:
        for line in edge_lines():
            x, y = np.rad2deg(geometry.lonlat(line))
            x[1:][np.abs(np.diff(x)) > 180] = np.nan
            axes.plot(x, y, "k", linewidth=0.8)
    axes.set(xlim=(-180, 180), ylim=(-90, 90), xlabel="longitude", ylabel="latitude")
    axes.set(xticks=range(-180, 181, 60), yticks=range(-90, 91, 30))
    return image


def _globe(
    axes: Any, values: Array, points: Points, style: _Style, place: tuple[float, float], edges: bool
) -> None:
    """Draw a field as seen from far above a place, in degrees."""
    lon, lat = place
    east, north, up = _frame(lon, lat)
    side = np.linspace(-1, 1, 480)
    x, y = np.meshgrid(side, side)
    square = x**2 + y**2
    z = np.sqrt(np.maximum(0.0, 1 - square))
    r = np.multiply.outer(east, x) + np.multiply.outer(north, y) + np.multiply.outer(up, z)
    shown = sample(values, r / np.linalg.norm(r, axis=0), points)
    seen = np.where(square < 1, shown, np.nan)
    axes.imshow(
        seen, style.colours, vmin=style.low, vmax=style.high, origin="lower", extent=(-1, 1, -1, 1)
    )
    _contours(axes, side, side, seen, style)
    for line in graticule():
        axes.plot(*_seen(line, east, north, up), color="k", linewidth=0.3, alpha=0.4)
    if edges:
        for line in edge_lines():
            axes.plot(*_seen(line, east, north, up), color="k", linewidth=0.8)
    turn = np.linspace(0, 2 * np.pi, 361)
    axes.plot(np.cos(turn), np.sin(turn), "k", linewidth=0.8)
    axes.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), aspect="equal")
    axes.set_title(f"from above {_named(lon, 'EW')}, {_named(lat, 'NS')}", fontsize=9)
    axes.axis("off")


def _contours(axes: Any, x: Array, y: Array, shown: Array, style: _Style) -> None:
    if style.levels.size:
        axes.contour(x, y, shown, style.levels, colors="k", linewidths=0.4, alpha=0.6)


def unit(lon: Array, lat: Array) -> Array:
    """Return the unit vectors of longitudes and latitudes in degrees, shape (3, ...)."""
    x, y = np.deg2rad(lon), np.deg2rad(lat)
    return np.stack([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)])


def edge_lines() -> list[Array]:
    """Return the twelve edges of the panels as lines of unit vectors, shape (3, points)."""
    along = np.linspace(-EDGE, EDGE, 91)
    lines = []
    for panel in range(6):
        for side in SIDES:
            if panel < geometry.link(panel, side).panel:
                across = np.full_like(along, EDGE if side in "EN" else -EDGE)
                place = (across, along) if side in "WE" else (along, across)
                lines.append(geometry.position(panel, *place))
    return lines


def graticule() -> list[Array]:
    """Return meridians and parallels, 30 degrees apart, as lines of unit vectors."""
    lon, lat = np.linspace(-180, 180, 181), np.linspace(-90, 90, 91)
    meridians = [unit(np.full_like(lat, at), lat) for at in range(-180, 180, 30)]
    return meridians + [unit(lon, np.full_like(lon, at)) for at in range(-60, 61, 30)]


def _frame(lon: float, lat: float) -> tuple[Array, Array, Array]:
    """Return the directions to the right, upwards and to the viewer at a point."""
    up = unit(np.array(lon), np.array(lat))
    east, north = geometry.compass(up)
    return east, north, up


def _seen(line: Array, east: Array, north: Array, up: Array) -> tuple[Array, Array]:
    """Return the projection of a line, with NaN where the globe hides it."""
    hidden = up @ line < 0
    return np.where(hidden, np.nan, east @ line), np.where(hidden, np.nan, north @ line)


def _named(angle: float, letters: str) -> str:
    return f"{abs(angle):g}° {letters[angle < 0]}"
