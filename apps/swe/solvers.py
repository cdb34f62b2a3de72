"""The available solvers, and their properties that do not require one to be constructed.

A solver declares matrices, which takes time that drawing and reading files do not need. Its module
is therefore imported when a solver is constructed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .cases import Case, case

if TYPE_CHECKING:
    from .checkpoint import Setting
    from .scheme import Solver


@dataclass(frozen=True)
class Kind:
    """A kind of solver.

    Parameters
    ----------
    parts
        The name of the parts into which a panel is divided along a side.
    least, usual
        The smallest number of parts that a solver accepts, and the default number.
    points
        The number of points along a side, for a number of parts.
    step
        The usual time step of a flow in seconds, for a number of parts.
    degree
        The degree of the polynomials through points.
    make
        Makes the solver of a setting on ranks.
    """

    parts: str
    least: int
    usual: int
    points: Callable[[int], int]
    step: Callable[[Case, int], float]
    degree: int
    make: Callable[["Setting", Any], "Solver"]


def _volumes(setting: "Setting", ranks: Any) -> "Solver":
    from .volumes import Volumes

    return Volumes(setting.n, case(setting.case, setting.angle), setting.weights, ranks)


def _elements(setting: "Setting", ranks: Any) -> "Solver":
    from .spectral import Elements

    return Elements(setting.n, case(setting.case, setting.angle), setting.viscosity, ranks)


SOLVERS: Mapping[str, Kind] = MappingProxyType(
    {
        "fv": Kind("cells", 6, 32, lambda n: n, Case.dt, 1, _volumes),
        "sem": Kind("elements", 1, 10, lambda n: 3 * n + 1, Case.element_dt, 3, _elements),
    }
)
"""Finite volumes and spectral elements."""


def make(setting: "Setting", ranks: Any = None) -> "Solver":
    """Return the solver of a setting."""
    return SOLVERS[setting.solver].make(setting, ranks)
