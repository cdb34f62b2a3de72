"""Random programs with boundaries: spaces, fills and matrices, and bodies that use them.

The same body runs on symbols and on arrays: `Symbols` and `Arrays` are the two sets of functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.fills.fill import Fill

Array: TypeAlias = np.ndarray[Any, Any]
Step: TypeAlias = tuple[str, bool, int]
"""What is done, whether x and y change places, and which axis or fill is meant."""

KINDS = (
    "product", "thrice", "two fills", "swap", "nested", "square", "wide", "other wide", "copy",
    "part copy", "late copy", "two copies", "part", "near", "whole", "inner", "read", "flux",
    "divergence", "fluxes", "synchronize", "both", "vector", "dot", "number", "call", "call wide",
    "shared", "apart",
)  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.booleans(), st.integers(0, 1)), min_size=2, max_size=6
)


class Setting:
    """A grid with its spaces, fills and matrices.

    Attributes
    ----------
    cells, wide, near
        Cells; with two ghosts; and with one ghost at some of the sides.
    faces
        The faces normal to each axis.
    fills, pairs
        Fills of numbers, all with the parameter g or with none; and those of vectors.
    """

    def __init__(self, cells: Any, rules: Sequence[Sequence[bc.Rule]], blocks: bool) -> None:
        dims = cells.ndim - int(blocks)
        self.cells, self.wide = cells, cells.grow(2)
        self.near = cells.grow(*[(1, 0), (0, 1)][-dims:])
        self.faces = [cells.faces(axis) for axis in range(dims)]
        self.fills = [bc.fill(self.wide, *r) for r in rules]
        self.pairs = [bc.fill(self.wide.vector(2), *r) for r in rules]
        self.synchronize = bc.synchronize(*self.faces) if blocks and dims > 1 else None
        self._lead = (0,) * int(blocks)
        self.star = ssr.stencil(cells, self.wide, self._weights(2))
        self.near_star = ssr.stencil(cells, self.wide, self._weights(1))
        self.skew = ssr.stencil(cells, self.wide, self._along({-2: 0.5, 1: -0.25}, dims - 1))
        self.inner = ssr.stencil(self.wide, self.wide, self._weights(1), outside="zero")
        self.to_faces = [self._to_faces(axis) for axis in range(dims)]
        self.to_cells = [self._to_cells(axis) for axis in range(dims)]

    def _along(self, weights: Mapping[int, float], axis: int) -> dict[Any, float]:
        dims = self.cells.ndim - len(self._lead)
        return {
            (*self._lead, *(by * (a == axis) for a in range(dims))): w for by, w in weights.items()
        }

    def _weights(self, reach: int) -> dict[Any, float]:
        """Return a star that reads further along the first axis than along others."""
        made: dict[Any, float] = self._along({0: 0.375}, 0)
        for axis in range(self.cells.ndim - len(self._lead)):
            far = reach if axis == 0 else 1
            weights = {by: 0.25 + 0.0625 * by + 0.03125 * axis for by in (-far, -1, 1, far)}
            made |= self._along(weights, axis)
        return made

    def _to_faces(self, axis: int) -> ssr.Matrix:
        return self._matrix(self.faces[axis], self.wide, axis, {-2: -0.125, -1: 0.625, 0: 0.5})

    def _to_cells(self, axis: int) -> ssr.Matrix:
        return self._matrix(self.cells, self.faces[axis], axis, {0: -1.0, 1: 1.0})

    def _matrix(self, rows: Any, cols: Any, axis: int, weights: Mapping[int, float]) -> ssr.Matrix:
        entries = self._along(weights, axis)

        def entry(*index: Any) -> Any:
            for shift, weight in entries.items():
                yield tuple(i + by for i, by in zip(index, shift, strict=True)), weight

        def line(i: Any) -> Any:
            yield from entry(i)

        def plane(j: Any, i: Any) -> Any:
            yield from entry(j, i)

        def space(k: Any, j: Any, i: Any) -> Any:
            yield from entry(k, j, i)

        return ssr.matrix(rows=rows, cols=cols)([line, plane, space][rows.ndim - 1])

    @property
    def kinds(self) -> dict[str, Any]:
        """The fields of a program, and its scalar."""
        made: dict[str, Any] = {"x": self.cells, "y": self.cells, "h": self.wide}
        made |= {f"f{axis}": faces for axis, faces in enumerate(self.faces)}
        return made | {"U": self.cells.vector(2), "s": ssr.scalar}


@cache
def setting(name: str) -> Setting:
    """Return a setting; sizes are symbols."""
    n, ny, nx = ssr.sizes("n ny nx")
    g = bc.parameter("g")
    match name:
        case "periodic blocks":
            cells = bc.Grid(4 * [(ny, nx)], links=bc.topologies.two_by_two(periodic=True)).cells
            return Setting(cells, [[bc.linked()], [bc.linked()]], True)
        case "cubed sphere":
            cells = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells
            return Setting(cells, [[bc.linked()], [bc.linked()]], True)
        case "bricks":
            cells = bc.Grid(2 * [(ny, nx)], links=bc.topologies.bricks(1, 2)).cells
            walls = [bc.linked(), bc.dirichlet(g, 0), bc.symmetric(1)]
            other = [bc.linked(), bc.symmetric(0), bc.dirichlet(g, 1)]
            return Setting(cells, [walls, other], True)
        case "ring":
            cells = bc.Grid(3 * [(n,)], links=bc.topologies.bricks(3, periodic=[0])).cells
            return Setting(cells, [[bc.linked()], [bc.linked()]], True)
        case "line":
            ends = [bc.dirichlet(g, 0, "low"), bc.dirichlet(lambda x: 0.5 * x - 1.0, 0, "high")]
            return Setting(ssr.Space(n), [ends, [bc.periodic()]], False)
    ends = [bc.dirichlet(g, 0, "low"), bc.neumann(0.5, 0, "high"), bc.periodic(1)]
    walls = [bc.symmetric(0), bc.ghost_value(1.25, 1)]
    return Setting(ssr.Space(ny, nx), [ends, walls], False)


NAMES = ("periodic blocks", "cubed sphere", "bricks", "ring", "line", "plane")


class Symbols:
    """What a body computes with in a program."""

    def __init__(self, of: Setting) -> None:
        self.of, self.dot, self.largest, self.vector = of, ssr.dot, ssr.max, ssr.vector
        self.inner: Any = of.cells
        self.near: Any = of.near
        self.smooth = ssr.program(u=of.cells, v=of.cells, s=ssr.scalar)(smoothing(self))
        self.refill = ssr.program(h=of.wide, s=ssr.scalar)(refilling(self))

    def __call__(self, matrix: Any) -> Any:
        return matrix

    def fill(self, which: int, number: Any, pair: bool = False) -> Any:
        made = (self.of.pairs if pair else self.of.fills)[which]
        return made.bind(g=number) if made.parameters else made


class Arrays:
    """The same for arrays of given sizes: every operator is a SciPy matrix."""

    def __init__(self, of: Setting, sizes: Mapping[str, int]) -> None:
        self.of, self.sizes, self.dot, self.largest = of, sizes, np.vdot, np.max
        self.inner = _part(of.cells, of.wide, sizes)
        self.near = _part(of.near, of.wide, sizes)
        self.smooth, self.refill = smoothing(self), refilling(self)

    def vector(self, *parts: Any) -> Array:
        return np.stack(parts)

    def __call__(self, operator: Any) -> Any:
        if isinstance(operator, bc.Synchronize):
            spaces = [p.extent(self.sizes) for p in operator.means.points]
            known = {n: v for n, v in self.sizes.items() if n in operator.means.points[0].sizes}
            return Several(operator.bind(**known).to_scipy(), spaces)
        named = {n: v for n, v in self.sizes.items() if n in operator.sizes}
        return Dense(operator.bind(**named).to_scipy(), operator.rows.extent(self.sizes))

    def fill(self, which: int, number: Any, pair: bool = False) -> Any:
        fill, wide = self.of.fills[which], self.of.wide.extent(self.sizes)
        csr, offset, slope = affine(fill, tuple(self.sizes.items()))
        return Dense(csr, wide, (offset + slope * number).reshape(wide))


@cache
def affine(fill: Fill, sizes: tuple[tuple[str, int], ...]) -> Any:
    """Return the matrix of a fill, its constant, and what is multiplied by its parameter.

    Ghosts without a definition, or with two, are NaN.
    """
    parts, known = fill.data, dict(sizes)
    definition = parts.ruled.definition(known, 1)
    shape, frame = parts.wide[0].extent(known), parts.ruled.frame
    offset, slope = np.zeros(shape), np.zeros(shape)
    for block, index in definition.points():
        start = frame.blocks[block].start
        place = frame.point(block, [i - s for i, s in zip(index, start, strict=True)])
        value = definition.at(block, index)
        if value is None:
            offset[place] = np.nan
        else:
            offset[place] = value.constant[0]
            slope[place] = sum(float(factor[0]) for factor in value.scalars.values())
    bound = fill.bind(**known)
    return bound.to_scipy(), offset.ravel(), slope.ravel()


@dataclass(frozen=True)
class Dense:
    """A SciPy matrix that acts on arrays, one or several; plus a constant."""

    csr: Any
    shape: tuple[int, ...]
    offset: Any = 0.0

    def __matmul__(self, u: Array) -> Array:
        made = self.csr @ u.reshape(-1, self.csr.shape[1]).T
        lead = u.size // self.csr.shape[1]
        found: Array = made.T.reshape(lead, *self.shape) + self.offset
        return found if lead > 1 else found[0]


@dataclass(frozen=True)
class Several:
    """A SciPy matrix that acts on a tuple of arrays."""

    csr: Any
    shapes: Sequence[tuple[int, ...]]

    def __matmul__(self, fields: Sequence[Array]) -> tuple[Array, ...]:
        made = self.csr @ np.concatenate([f.ravel() for f in fields])
        ends = np.cumsum([f.size for f in fields])[:-1]
        return tuple(a.reshape(s) for a, s in zip(np.split(made, ends), self.shapes, strict=True))


def _part(inner: ssr.Space, outer: ssr.Space, sizes: Mapping[str, int]) -> Any:
    """Return the slices that a space is of another one."""
    starts = [a - b for a, b in zip(inner.lower, outer.lower, strict=True)]
    return tuple(slice(a, a + n) for a, n in zip(starts, inner.extent(sizes), strict=True))


def smoothing(f: Any) -> Any:
    def smooth(u: Any, v: Any, s: Any) -> None:
        e = f.fill(0, s) @ u
        v[:] = v + 0.25 * (f(f.of.star) @ e)
        u[:] = 0.5 * (f(f.of.near_star) @ e) + f(f.of.skew) @ (f.fill(0, s) @ v)

    return smooth


def refilling(f: Any) -> Any:
    def refill(h: Any, s: Any) -> None:
        h[:] = f.fill(1, s) @ h[f.inner]

    return refill


def body(f: Any, steps: Sequence[Step]) -> Any:
    """Return a body over the fields of a setting."""
    star, near, skew = f(f.of.star), f(f.of.near_star), f(f.of.skew)
    inner = f(f.of.inner)
    to_faces, to_cells = [list(map(f, m)) for m in (f.of.to_faces, f.of.to_cells)]
    together = None if f.of.synchronize is None else f(f.of.synchronize)
    axes = range(len(to_faces))

    def divergence(flux: Any) -> Any:
        total = to_cells[0] @ flux[0]
        for axis in axes[1:]:
            total = total + to_cells[axis] @ flux[axis]
        return total

    def run(x: Any, y: Any, h: Any, U: Any, s: Any, **more: Any) -> Any:
        flux = [more[f"f{axis}"] for axis in axes]
        found = []
        g = s
        for kind, swapped, which in steps:
            u, v = (y, x) if swapped else (x, y)
            a = which % len(flux)
            fill, other = f.fill(which, g), f.fill(1 - which, 0.25)
            if kind == "product":
                v[:] = star @ (fill @ u) + u
            elif kind == "thrice":
                e = fill @ (u * v)
                v[:] = star @ e - near @ e + skew @ e
            elif kind == "two fills":
                v[:] = near @ (fill @ u) - skew @ (other @ v)
            elif kind == "swap":
                e = fill @ u
                u[:] = near @ (other @ v)
                v[:] = skew @ e + u
            elif kind == "nested":
                v[:] = near @ (fill @ (skew @ (fill @ u)))
            elif kind == "square":
                e = fill @ v
                u[:] = near @ (e * e - e)
            elif kind == "wide":
                h[:] = fill @ h[f.inner]
            elif kind == "other wide":
                h[:] = fill @ (2.0 * u) + other @ h[f.inner]
            elif kind == "copy":
                e = fill @ u
                h[:] = e
                v[:] = star @ e + near @ h
            elif kind == "part copy":
                e = fill @ u
                h[f.near] = e[f.near]
                v[:] = near @ e + u
            elif kind == "late copy":
                e = fill @ u
                u[:] = near @ h
                h[:] = e
                h[f.inner] = v
                v[:] = near @ e
            elif kind == "two copies":
                e = fill @ u
                h[:] = 0.5 * h
                v[:] = v + skew @ h
                h[:] = e
                v[:] = v + star @ h
            elif kind == "part":
                h[f.inner] = 0.5 * u + h[f.inner]
            elif kind == "near":
                h[f.near] = 0.5 * h[f.near] + 0.25
            elif kind == "whole":
                h[:] = 0.75 * h + 0.125
            elif kind == "inner":
                h[:] = inner @ h
            elif kind == "read":
                v[:] = star @ h + u
            elif kind == "flux":
                flux[a][:] = to_faces[a] @ (fill @ u)
            elif kind == "divergence":
                v[:] = v - 0.125 * divergence(flux)
            elif kind == "fluxes":
                e = fill @ u
                made = [m @ (e * e) for m in to_faces]
                v[:] = v - 0.125 * divergence(made) + near @ e
                flux[a][:] = 0.5 * made[a] + flux[a]
            elif kind == "synchronize" and together is not None:
                for old, new in zip(flux, together @ tuple(flux), strict=True):
                    old[:] = new
            elif kind == "both" and together is not None:
                e = fill @ u
                new = together @ tuple(m @ e for m in to_faces)
                u[:] = u - 0.125 * divergence(new)
                flux[a][:] = new[a]
                v[:] = near @ e
            elif kind == "vector":
                e = f.fill(which, g, True) @ U
                U[:] = f.vector(near @ e[0] + u, skew @ e[1] - U[0])
            elif kind == "dot":
                number = f.dot(u, near @ (fill @ v))
                found.append(number)
                v[:] = v / (1.0 + number * number) + u
            elif kind == "number":
                g = f.largest(u * u) * 0.25
                found.append(g)
            elif kind == "call":
                f.smooth(u, v, g)
            elif kind == "call wide":
                f.refill(h, g)
            elif kind == "shared":
                e = skew @ (fill @ u)
                t = e + v
                v[:] = t + u
                u[:] = t * t + e
            elif kind == "apart":
                e, t = fill @ u, fill @ v
                h[:] = 0.5 * h
                U[:] = f.vector(U[1], U[0])
                u[:] = near @ t
                v[:] = near @ e
        x[:] = 0.5 * (x + y)
        return tuple(found)

    return run


def declared(of: Setting, steps: Sequence[Step], options: ssr.Options) -> ssr.Program:
    """Return the program of a body."""
    kinds = of.kinds
    scope = {"body": body(Symbols(of), steps)}
    keywords = ", ".join(f"{n}={n}" for n in kinds)
    exec(f"def run({', '.join(kinds)}):\n    return body({keywords})", scope)
    return ssr.program(options=options, **kinds)(scope["run"])


def drawn(of: Setting, sizes: Mapping[str, int], seed: int) -> dict[str, Array]:
    """Return random arrays for the fields of a setting."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, kind in of.kinds.items():
        if name == "U":
            found[name] = rng.uniform(-1, 1, (2, *of.cells.extent(sizes)))
        elif name != "s":
            found[name] = rng.uniform(-1, 1, kind.extent(sizes))
    return found
