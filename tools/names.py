"""Write docs/reference.md: a line for each public name, from its signature and docstring.

``python tools/names.py`` writes the page; a test verifies that the page is current.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the packages of this checkout

import boundary  # noqa: E402
import ssr  # noqa: E402
from ssr.public import argument_name  # noqa: E402

PAGE = ROOT / "docs" / "reference.md"

HEAD = """# Reference

All public names, in one line each, with links to their parameters, errors and examples. `make docs`
writes those pages from the docstrings, which `help(name)` shows too. This page is made by
`python tools/names.py`.
"""

SECTIONS: Mapping[str, tuple[ModuleType, str]] = {
    "Spaces and sizes": (ssr, "size sizes Space scalar Index"),
    "Matrices": (
        ssr,
        "matrix stencil difference average axis_stencil identity diagonal kron block from_scipy "
        "recurrence Matrix BlockMatrix StoredMatrix StoredBlockMatrix Recurrence BlockRecurrence",
    ),
    "Programs": (
        ssr,
        "program sequence materialize vector dot norm sum max min Program Field Vector Options",
    ),
    "Functions of values": (
        ssr,
        "where minimum maximum sqrt exp expm1 log log1p sin cos tan arcsin arccos arctan arctan2 "
        "sinh cosh tanh arcsinh arccosh arctanh hypot erf floor ceil sign jacobian lambdify Value",
    ),
    "Errors": (ssr, "Error"),
    "Solvers": (
        ssr.solvers,
        "cg bicgstab gmres chebyshev richardson lobpcg Multigrid interpolation Jacobi GaussSeidel "
        "ILU IC Solution Eigenpairs Solver CG BiCGStab GMRES Chebyshev Richardson LOBPCG Smoother "
        "Factorization Preconditioner",
    ),
    "Coordinates": (
        ssr.coordinates,
        "Coordinates Axis System cartesian cylindrical spherical geographic from_map "
        "from_scale_factors",
    ),
    "Integrators in time": (
        ssr.integrate,
        "rhs RightSide solve_ivp OdeResult step_program explicit ButcherTableau ShuOsher "
        "LowStorage Stepper RungeKutta AdaptiveRungeKutta AdamsBashforth Leapfrog "
        "ImplicitRungeKutta BDF2 ImexRungeKutta ImexTableau theta_method ADI FlatRightSide",
    ),
    "Runs": (
        ssr.simulation,
        "Simulation Result FunctionStepper CFL Checkpointer Statistics SteadyState NaNChecker "
        "Interrupted",
    ),
    "Output and restart": (
        ssr.output,
        "save load Checkpoint digest Writer Computed to_xarray publish check_place",
    ),
    "Boundaries": (
        boundary,
        "fill periodic symmetric zero ghost_value dirichlet neumann robin extrapolate "
        "linked interpolate transform_vector from_matrix parameter explain draw_ghosts Fill Affine "
        "Rule",
    ),
    "Blocks": (
        boundary,
        "Grid GridSpace Side Link Connectivity join cubed_sphere synchronize Synchronize draw",
    ),
    "Topologies of blocks": (
        boundary.topologies,
        "from_corners bricks two_by_two periodic_box channel o_grid glued moebius",
    ),
    "Ranks": (
        boundary,
        "distribute Distribution alternating Field Partition world threads simulated_ranks "
        "traced_rank abort",
    ),
    "Points off the grid": (boundary, "points Points"),
    "Errors of boundaries": (
        boundary,
        "UndefinedGhostError AmbiguousGhostError HaloError LinkError MessageError",
    ),
}
"""The contents of the page, in order."""

OURS = "ssr.", "boundary."
"""How the names of the modules of this project begin."""

MODULES = {
    "coordinates", "errors", "integrate", "output", "simulation", "solvers",
    "topologies",
}  # fmt: skip
"""Public names that are modules."""

ALIASES = {
    "Preconditioner": "An approximate inverse: applied as `M @ r`, or called as `M(z, r)`.",
    "cartesian": "Cartesian coordinates, with any names.",
    "cylindrical": "The distance r from an axis, the angle theta around it, and the height z.",
    "spherical": "The distance r from a point, the angle theta from the pole, and phi around it.",
}
"""The descriptions of public types and objects without docstrings."""


def page() -> str:
    """Return the text of the page."""
    return HEAD + "".join(_section(title, *what) for title, what in SECTIONS.items())


def _section(title: str, module: ModuleType, names: str) -> str:
    rows = (_row(module, name) for name in names.split())
    return "\n".join((f"\n## {title}\n", "| name | description |", "| --- | --- |", *rows)) + "\n"


def _row(module: ModuleType, name: str) -> str:
    given = getattr(module, name)
    own = module.__name__
    text = f"`{re.sub('^boundary', 'bc', own)}.{name}{_arguments(given)}`"
    return f"| [{text}](api/{own}.md#{own}.{name}) | {ALIASES.get(name) or sentence(given)} |"


def _arguments(given: Any) -> str:
    """Return the names of a callable's arguments; empty for classes that users do not construct."""
    if inspect.isclass(given) and not _is_made_by_users(given):
        return ""
    try:
        return "(" + ", ".join(_argument(p) for p in parameters(given)) + ")"
    except (TypeError, ValueError):
        return ""


def _argument(parameter: inspect.Parameter) -> str:
    text = argument_name(parameter)
    return text if parameter.default is inspect.Parameter.empty else f"{text}=..."


def parameters(given: Any) -> Iterator[inspect.Parameter]:
    """Yield the arguments of a function or class that have names for users."""
    for parameter in inspect.signature(given).parameters.values():
        if not parameter.name.startswith("_") and parameter.name not in ("self", "cls"):
            yield parameter


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class, by name, and its constructor if users call it."""
    if _is_made_by_users(kind):
        yield kind.__name__, kind
    for name in dir(kind):
        given = inspect.getattr_static(kind, name)
        if name == "__call__" or not name.startswith("_"):
            function = given.__func__ if isinstance(given, classmethod | staticmethod) else given
            if inspect.isfunction(function) and function.__module__.startswith(OURS):
                yield name, function


def _is_made_by_users(given: type) -> bool:
    return "Parameters\n" in (inspect.getdoc(given) or "")


def sentence(given: Any) -> str:
    """Return the first sentence of a docstring, in one line."""
    first = " ".join((inspect.getdoc(given) or "").split("\n\n")[0].split())
    return re.sub(r"``", "`", first).replace("|", "\\|")


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
