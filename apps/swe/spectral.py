"""Spectral elements: continuous polynomials of degree 3, for the vector-invariant equations.

A panel has n x n elements of 4 x 4 Gauss-Lobatto-Legendre points; an element has its sides in
common with its neighbours. The state is the depth and the covariant velocity. Derivatives are
one-sided in each element; where elements of one panel meet the mean of both is taken, which is a
row of the derivative, and where panels meet synchronization takes it after each stage. So mass,
energy and absolute vorticity are conserved but for the steps in time, and viscosity is needed where
flows become rough: it is biharmonic, from the weak form of the Laplacian.

Arrays are ordered ``[panel, beta, alpha]``. A direction is 0 for alpha, 1 for beta.

References
----------
Taylor, Tribbia, Iskandarani, J. Comput. Phys. 130 (1997) 92-108.
Taylor, Fournier, J. Comput. Phys. 229 (2010) 5879-5895.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import boundary as bc
import ssr

from . import geometry
from .cases import GRAVITY, Case, Scalar
from .geometry import Array
from .scheme import STAGES, Solver, everywhere

s = np.sqrt(5.0)
NODES = np.array([-1.0, -1 / s, 1 / s, 1.0])
LAGRANGE = np.array(
    [
        [-3.0, 5 * (1 + s) / 4, 5 * (1 - s) / 4, 0.5],
        [-(1 + s) / 4, 0.0, s / 2, (1 - s) / 4],
        [(s - 1) / 4, -s / 2, 0.0, (1 + s) / 4],
        [-0.5, -5 * (1 - s) / 4, -5 * (1 + s) / 4, 3.0],
    ]
)
"""The derivatives of the Lagrange polynomials of the nodes, at each node."""

ne = ssr.size("ne")
grid = bc.Grid(6 * [(3 * ne, 3 * ne)], links=bc.cubed_sphere())
nodes, panel = grid.cells.nodes(), ssr.Space(3 * ne, 3 * ne).nodes()
line = ssr.Space(3 * ne).nodes()
at_nodes = everywhere(nodes, panel)
mean = bc.synchronize(nodes)


def one_sided(*places: int) -> Any:
    """Return derivatives within elements of unit width, at the points with these local indices."""

    @ssr.matrix(rows=line, cols=line)
    def one_sided(i):  # type: ignore[no-untyped-def]
        for place in places:
            first = i - place
            if i % 3 == place % 3 and first >= 0 and first + 3 <= 3 * ne:
                for m in range(4):
                    if LAGRANGE[place, m]:
                        yield first + m, 2 * LAGRANGE[place, m]

    return one_sided


def diagonal(end: float, between: float, inside: float) -> Any:
    """Return the diagonal matrix of numbers at line ends, between elements, and inside elements."""

    @ssr.matrix(rows=line, cols=line)
    def diagonal(i):  # type: ignore[no-untyped-def]
        yield i, inside if i % 3 else end if i == 0 or i == 3 * ne else between

    return diagonal


def along(d: int, matrix: Any) -> Any:
    """Return the matrix of a line on all lines along a direction."""
    panels, lines = ssr.identity(ssr.Space(6)), ssr.identity(line)
    return ssr.kron(panels, ssr.kron(lines, matrix) if d == 0 else ssr.kron(matrix, lines))


def adjoint(matrix: Any) -> Any:
    """Return minus the adjoint of derivatives within elements, which weigh a point by their own."""
    return diagonal(-12, -6, -12 / 5) @ matrix.T @ diagonal(1 / 12, 1 / 12, 5 / 12)


first, inside, last = one_sided(0), one_sided(1, 2), one_sided(3)
both, jump = first + inside + last, first - last
derivative = diagonal(1, 1 / 2, 1) @ both
slope, leap, slope_back, leap_back = (
    [along(d, matrix) for d in (0, 1)]
    for matrix in (derivative, diagonal(0, 1 / 2, 0) @ jump, adjoint(both), adjoint(jump))
)


def raised(u: Any, m: Any) -> tuple[Any, Any]:
    """Return the contravariant components of a velocity."""
    G11, G12, G22 = (at_nodes @ x for x in m[2:5])
    return G11 * u[0] + G12 * u[1], G12 * u[0] + G22 * u[1]


def rhs(U: Any, wind: Any, m: Any, f: Any, b: Any, per: Any, passive: bool) -> Any:
    """Return dU/dt, one-sided at the edges of panels; there are ``per`` elements in a radian."""
    h, *u = U
    v = wind if passive else raised(u, m)
    water = (at_nodes @ m[1]) * h
    loss = slope[0] @ (water * v[0]) + slope[1] @ (water * v[1])
    if passive:
        return ssr.vector(-per * (at_nodes @ m[0]) * loss, 0.0 * h, 0.0 * h)
    E = GRAVITY * (h + b) + (u[0] * v[0] + u[1] * v[1]) / 2
    Z = per * (slope[0] @ u[1] - slope[1] @ u[0]) + f
    turn = Z * v[1] - per * (slope[0] @ E), -Z * v[0] - per * (slope[1] @ E)
    return ssr.vector(-per * (at_nodes @ m[0]) * loss, *turn)


def laplacian(q: Any, m: Any, per: Any) -> Any:
    """Return the weak Laplacian of a field, one-sided at the edges of panels.

    On each side of an edge between elements the flux is that of the mean of both derivatives, and
    of half of their difference, with the sign of the side.
    """
    inverse, J, *G = (at_nodes @ x for x in m)
    a, b = (slope[d] @ q for d in (0, 1))
    flux = J * (G[0] * a + G[1] * b), J * (G[1] * a + G[2] * b)
    total = slope_back[0] @ flux[0] + leap_back[0] @ (J * G[0] * (leap[0] @ q))
    total = total + slope_back[1] @ flux[1] + leap_back[1] @ (J * G[2] * (leap[1] @ q))
    return per**2 * total * inverse


def turned(known: "Constants") -> bc.Synchronize:
    """Return the mean of covariant components as vectors in space."""
    return bc.synchronize(nodes.vector(2), basis=known.basis)


def program(known: "Constants", passive: bool) -> ssr.Program:
    """Return the program of a step in time: three stages, drawn towards the old state."""
    turn = turned(known)

    @ssr.program(
        U=nodes.vector(3), V=nodes.vector(3), W=nodes.vector(3), wind=nodes.vector(2),
        m=panel.vector(5), f=nodes, b=nodes, per=ssr.scalar, dt=ssr.scalar,
    )  # fmt: skip
    def step(U, V, W, wind, m, f, b, per, dt):  # type: ignore[no-untyped-def]
        for a, old, new in zip(STAGES, (U, V, W), (V, W, U), strict=True):
            made = old + dt * rhs(old, wind, m, f, b, per, passive)
            new[:] = made + a * (U - made) if a else made
            new[:] = ssr.vector(mean @ new[0], *(turn @ new[1:]))

    return step


@ssr.program(U=nodes.vector(3), b=nodes, dual=nodes.vector(6), H=nodes, x=nodes, y=nodes, z=nodes)
def lift(U, b, dual, H, x, y, z):  # type: ignore[no-untyped-def]
    """Make the height of the surface, and the velocity in space."""
    H[:] = U[0] + b
    for c, v in enumerate((x, y, z)):
        v[:] = U[1] * dual[c] + U[2] * dual[3 + c]


@ssr.program(q=nodes, r=nodes, m=panel.vector(5), per=ssr.scalar)
def smooth(q: Any, r: Any, m: Any, per: Any) -> None:
    """Make the Laplacian of a field, and that of the Laplacian instead of the field."""
    r[:] = mean @ laplacian(q, m, per)
    q[:] = mean @ laplacian(r, m, per)


@ssr.program(
    U=nodes.vector(3), m=panel.vector(5), dual=nodes.vector(6), H=nodes, x=nodes, y=nodes, z=nodes,
    amount=ssr.scalar,
)  # fmt: skip
def damp(U, m, dual, H, x, y, z, amount):  # type: ignore[no-untyped-def]
    """Subtract multiples of a height and of the tangential part of vectors in space."""
    J, *G = (at_nodes @ t for t in m[1:5])
    v, w = (x * dual[k] + y * dual[k + 1] + z * dual[k + 2] for k in (0, 3))
    down = J * J * (G[2] * v - G[1] * w), J * J * (G[0] * w - G[1] * v)
    U[:] = U - amount * ssr.vector(H, *down)


class Elements(Solver):
    """A flow on a cubed sphere of 6 x n x n elements.

    The state is the depth and the covariant velocity in m2/s at the points.

    Parameters
    ----------
    viscosity
        In m4/s.
    ranks, cut
        As for `Volumes`.
    """

    points, panel, metric, bottom, limit = nodes, panel, panel.vector(5), nodes, 0.68

    def __init__(
        self,
        n: int,
        case: Case,
        viscosity: float = 0.0,
        ranks: Any = None,
        cut: tuple[int, int] | None = None,
    ) -> None:
        self.elements, self.viscosity = Constants(n, case), viscosity
        stage = program(self.elements, case.passive)
        super().__init__(n, self.elements, stage, bc.distribute(grid, ranks, cut=cut, ne=n))

    @cached_property
    def _advance(self) -> Callable[..., Any]:
        """The program of a step, bound to its fields when the first step is taken."""
        U, V, W = self.state, *(self.on.empty(nodes.vector(3)) for _ in range(2))
        return self._stage.bind(U, V, W, **self.constants, per=self.per)

    def step(self, dt: float) -> None:
        """Advance by one step of dt seconds.

        The viscosity is that of the height of the surface, so that water at rest stays at rest.
        """
        self._advance(dt)
        if self.viscosity:
            lift, smooth, damp = self._damping
            lift()
            for once in smooth:
                once()
            damp(self.viscosity * dt)

    @cached_property
    def _damping(self) -> tuple[Any, ...]:
        """The programs of the viscosity, bound to the height and three components in space."""
        dual, m = self.on.empty(nodes.vector(6)), self.constants["m"]
        dual.fill(self.elements.dual)
        *four, other = (self.on.empty(nodes) for _ in range(5))
        named = dict(zip("Hxyz", four, strict=True))
        twice = [smooth.bind(q, other, m, per=self.per) for q in four]
        first = lift.bind(self.state, self.constants["b"], dual, **named)
        return first, twice, damp.bind(self.state, m, dual, **named)

    @staticmethod
    def mass(U: Any, area: Any, width: Any) -> Any:
        """Return the mass at points."""
        return U[0] * area

    @staticmethod
    def values(U: Any, wind: Any, m: Any, passive: bool) -> tuple[Any, Any]:
        """Return depth and velocity at the points."""
        return U[0], wind if passive else ssr.vector(*raised(U[1:], m))

    @staticmethod
    def means(U: Any, wind: Any, m: Any, area: Any, width: Any, passive: bool) -> tuple[Any, Any]:
        """Return depth and velocity at the points."""
        return Elements.values(U, wind, m, passive)

    @staticmethod
    def vorticity(down: Any, J: Any, per: Any) -> Any:
        """Return the relative vorticity, the mean of all elements at a point."""
        return mean @ (per * (slope[0] @ down[1] - slope[1] @ down[0]) / J)


@dataclass(frozen=True)
class Constants:
    """Fields that are constant in time for spectral elements, for any box of points."""

    n: int
    case: Case

    @cached_property
    def at(self) -> Array:
        """The coordinates of points along a panel."""
        e, place = np.divmod(np.arange(3 * self.n + 1), 3)
        return (e + (NODES[place] + 1) / 2) * (2 * geometry.EDGE / self.n) - geometry.EDGE

    @cached_property
    def weights(self) -> Array:
        """The quadrature weights of points along a line."""
        place = np.arange(3 * self.n + 1)
        parts = np.where(place % 3, 5, np.where(place % (3 * self.n), 2, 1))
        return parts * (2 * geometry.EDGE / self.n) / 12

    @cached_property
    def edges(self) -> Array:
        """The ends of these lengths, one after the other, from one edge of a panel to the other."""
        return np.concatenate([[0.0], np.cumsum(self.weights)]) - geometry.EDGE

    def places(self, p: Any, j: Any, i: Any) -> tuple[Any, Array, Array]:
        """Return panels, alpha and beta of points."""
        return p, self.at[i], self.at[j]

    def state(self, p: Any, j: Any, i: Any) -> Array:
        """Return depth and covariant velocity at the start."""
        where = self.places(p, j, i)
        there = geometry.lonlat(geometry.position(*where))
        velocity = np.einsum(
            "e...,er...->r...", self.case.wind(*there), geometry.compass(geometry.position(*where))
        )
        u = np.einsum("cr...,r...->c...", geometry.basis(*where), velocity)
        return np.stack([self.case.depth(*there), *u])

    def wind(self, p: Any, j: Any, i: Any) -> Array:
        """Return the contravariant velocity at the start."""
        where = self.places(p, j, i)
        wind = self.case.wind(*geometry.lonlat(geometry.position(*where)))
        return geometry.contravariant(*where, wind)

    def rotation(self, p: Any, j: Any, i: Any) -> Array:
        """Return the Coriolis parameter times J."""
        where = self.places(p, j, i)
        turn = self.case.coriolis(*geometry.lonlat(geometry.position(*where)))
        return turn * geometry.metric(*where[1:]).J

    def bottom(self, p: Any, j: Any, i: Any) -> Array:
        """Return the height of the bottom."""
        return self.case.bottom(*geometry.lonlat(geometry.position(*self.places(p, j, i))))

    def metric(self, j: Any, i: Any) -> Array:
        """Return 1/J, J and the contravariant metric."""
        G = geometry.metric(self.at[i], self.at[j])
        return np.stack(np.broadcast_arrays(1 / G.J, G.J, *G.upper))

    def sphere(self, j: Any, i: Any) -> Array:
        """Return the quadrature weights of points on the sphere, in square metres."""
        J = geometry.metric(self.at[i], self.at[j]).J
        return np.asarray(J * self.weights[j] * self.weights[i])

    def depth(self, of: Scalar, p: Any, j: Any, i: Any) -> Array:
        """Return a depth at points."""
        return of(*geometry.lonlat(geometry.position(*self.places(p, j, i))))

    def dual(self, p: Any, j: Any, i: Any) -> Array:
        """Return the dual basis vectors one after the other, shape (6, ...)."""
        vectors = self.basis(p, j, i).swapaxes(0, 1)
        return vectors.reshape(6, *vectors.shape[2:])

    def basis(self, panel: Any, j: Any, i: Any) -> Array:
        """Return the dual basis vectors, shape (3, 2, ...)."""
        a, G = geometry.basis(panel, self.at[i], self.at[j]), self.metric(j, i)[2:]
        return np.stack([G[0] * a[0] + G[1] * a[1], G[1] * a[0] + G[2] * a[1]], axis=1)

    def functions(self) -> dict[str, Callable[..., Array]]:
        """Return the constants of a stage by the names of its parameters."""
        return {
            "wind": self.wind,
            "m": self.metric,
            "f": self.rotation,
            "b": self.bottom,
        }
