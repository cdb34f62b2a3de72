"""The common parts of all solvers: the fields of a flow, steps of three stages, diagnostics.

A solver keeps three numbers at each of its points as its state, and defines depth, velocity and
vorticity as functions of the state. Diagnostics, runs, files and pictures use these functions only.

Arrays are ordered ``[panel, beta, alpha]``. A direction is 0 for alpha, 1 for beta.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import boundary as bc
import ssr

from . import geometry
from .cases import Case, Scalar
from .geometry import Array

STAGES = 0.0, 3 / 4, 1 / 3
"""The weights of the old state in the stages of a step (Shu and Osher, 1988)."""


class Known(Protocol):
    """Fields that are constant in time, for any box of points, given by indices that broadcast.

    Attributes
    ----------
    case
        The flow.
    at
        The coordinates of the points along a panel.
    edges
        The coordinates of the ends of their cells, one more.
    """

    @property
    def case(self) -> Case: ...

    @property
    def at(self) -> Array: ...

    @property
    def edges(self) -> Array: ...

    def state(self, p: Any, j: Any, i: Any) -> Array:
        """Return the state at the start."""

    def bottom(self, p: Any, j: Any, i: Any) -> Array:
        """Return the height of the bottom."""

    def sphere(self, j: Any, i: Any) -> Array:
        """Return the quadrature weights of points on the sphere, in square metres."""

    def depth(self, of: Scalar, p: Any, j: Any, i: Any) -> Array:
        """Return the reference for the depth of a state."""

    def functions(self) -> dict[str, Callable[..., Array]]:
        """Return the constants of a stage by the names of its parameters."""


def everywhere(rows: Any, cols: Any) -> Any:
    """Return the matrix that copies the field of one panel to all."""

    @ssr.matrix(rows=rows, cols=cols)
    def everywhere(p, j, i):  # type: ignore[no-untyped-def]
        yield (j, i), 1.0

    return everywhere


class Solver(ABC):
    """A flow on a cubed sphere, and steps in time.

    The steps have the same bits for any number of ranks, and no rank holds an array of the whole.

    Parameters
    ----------
    n
        The cells, or elements, along a panel.
    known
        The fields that are constant in time.
    stage
        The program of a stage, with ``per`` cells or elements in a radian: ``W = V + dt dV/dt``,
        then ``W + a (U - W)``. In this form rounding does not add up: ``a U + (1 - a) W`` with
        a = 1/3 would lose mass in each step.
    on
        The grid, spread over ranks.

    Attributes
    ----------
    on
        The grid, spread over ranks.
    state
        Three numbers at each point, a field that steps change.
    constants
        The fields that do not change, by the names of the parameters of a stage.
    points, panel
        The points of all panels, and of one.
    metric
        The fields of the metric: 1/J, J, the contravariant metric, and others of the solver.
    bottom
        The points of the bottom, which may have ghosts.
    limit
        The Courant number up to which steps are stable.
    """

    points: ClassVar[Any]
    panel: ClassVar[Any]
    metric: ClassVar[Any]
    bottom: ClassVar[Any]
    limit: ClassVar[float]

    def __init__(self, n: int, known: Known, stage: ssr.Program, on: bc.Distribution) -> None:
        self.n, self.case, self.known, self.on = n, known.case, known, on
        self.per = n / (2 * geometry.EDGE)
        kinds: dict[str, Any] = dict(stage.signature.kinds)
        self.constants = {name: on.empty(kinds[name]) for name in known.functions()}
        for name, values in known.functions().items():
            self.constants[name].fill(values)
        self.state = on.empty(kinds["U"])
        self.state.fill(known.state)
        self._stage = stage

    @abstractmethod
    def step(self, dt: float) -> None:
        """Advance by one step of dt seconds."""

    @property
    def cells(self) -> int:
        """The number of cells along a panel, the mean distance of points."""
        at = self.known.at
        return len(at) - 1 if at[0] == -geometry.EDGE else len(at)

    # -- functions of fields for the programs of diagnostics -------------------------------------

    @classmethod
    def fields(cls) -> dict[str, Any]:
        """Return the fields of a flow: the state, the wind if it is given, metric, areas."""
        state, wind = cls.points.vector(3), cls.points.vector(2)
        return {"U": state, "wind": wind, "m": cls.metric, "area": cls.panel}

    @staticmethod
    @abstractmethod
    def mass(U: Any, area: Any, width: Any) -> Any:
        """Return the summand of the mass; ``width`` is that of cells in radians."""

    @staticmethod
    @abstractmethod
    def values(U: Any, wind: Any, m: Any, passive: bool) -> tuple[Any, Any]:
        """Return depth and contravariant velocity at the points."""

    @staticmethod
    @abstractmethod
    def means(U: Any, wind: Any, m: Any, area: Any, width: Any, passive: bool) -> tuple[Any, Any]:
        """Return depth and contravariant velocity in the form of the state: of cells or points."""

    @staticmethod
    @abstractmethod
    def vorticity(down: Any, J: Any, per: Any) -> Any:
        """Return the relative vorticity of a covariant velocity."""
