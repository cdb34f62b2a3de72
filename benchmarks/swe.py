"""Measure the shallow-water solvers of `apps.swe` against our Fortran of the same algorithms.

``python -m benchmarks.swe [--json FILE] [--quick] [--only PART...]`` times steps of three stages; a
point is a cell in one of the stages. Then it prints the share of boundaries in a step on both
sides, the time of a step on a tiny grid, the seconds to a first step in fresh processes, and how
much source each side has.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

import ssr
from apps import commands
from apps.swe import geometry, grid, volumes
from apps.swe.cases import case, viscosity
from apps.swe.spectral import Elements
from benchmarks import fortran, report, sem_fortran, timing
from benchmarks.boundary import fortran_size, python_size
from benchmarks.cases import COUNTED, Candidate, Case
from benchmarks.fortran import Array
from benchmarks.references import Shape, field
from benchmarks.swe_fortran import Reference, boundary_size
from benchmarks.timing import Json, table

Weights = Literal["linear", "weno"]

FLOW = case("tc5")
STAGES = 3

MOVED = 8 * (3 + 2 * 3 + 1 + 1) + round(8 * 13 / 6)
"""Bytes that a stage must move for a cell: averages at the start of the step, the newest ones,
which are read and written, rotation and bottom; and thirteen fields of one panel for all six."""

LEAST = 256 // STAGES
"""Bytes that a stage of spectral elements must move for a point, without viscosity."""

GOALS = MappingProxyType({"ratio": 0.8, "tiny": 100.0, "cold": 30.0, "warm": 3.0, "boundary": 0.3})
"""The ratio ours / Fortran, which must be below 1; microseconds of a step at n = 8; seconds to the
end of the first step, without and with a cache; the ratio of the source of boundaries."""


def steps(shape: Shape, *, weights: Weights) -> dict[str, Candidate]:
    """Bind steps of the usual length from the flow over a mountain, which calls continue."""
    n = shape[-1]
    dt = FLOW.dt(n)
    scale = np.abs(FLOW.state(n)).max(axis=(1, 2, 3), keepdims=True)

    def reference(build: str) -> Candidate:
        other = Reference(n, FLOW, weights, build)
        return Candidate(other.stepping(dt), lambda: other.state / scale)

    ours = volumes.Volumes(n, FLOW, weights)
    builds = {f"natural {build}": reference(build) for build in fortran.BUILDS}
    state = Candidate(lambda: ours.step(dt), lambda: np.asarray(ours.state.gather()) / scale)
    return {"ours": state, **builds}


def right_sides(shape: Shape) -> dict[str, Candidate]:
    """Bind right-hand sides at the start of the flow over a mountain, linear weights.

    They are differences of much larger numbers, so increments of the state in a step are compared.
    """
    n = shape[-1]
    state, dt = FLOW.state(n), FLOW.dt(n)
    scale = np.abs(state).max(axis=(1, 2, 3), keepdims=True)
    flow, inner = volumes.Flow(n, False, "linear"), grid.cells

    @ssr.program(
        V=volumes.ring.vector(3),
        R=inner.vector(3),
        wind=inner.vector(2),
        m=grid.panel.vector(9),
        f=inner,
        b=grid.wide,
        x=grid.edges[0].vector(2),
        bottom_x=grid.faces[0].vector(2),
        y=grid.edges[1].vector(2),
        bottom_y=grid.faces[1].vector(2),
        per=ssr.scalar,
    )
    def rhs(
        V: Any, R: Any, wind: Any, m: Any, f: Any, b: Any, x: Any, bottom_x: Any, y: Any,
        bottom_y: Any, per: Any,
    ) -> None:  # fmt: skip
        V[:] = volumes.extended @ V[inner]
        R[:] = flow.rhs(V, wind, m, f, b, ((x, bottom_x), (y, bottom_y)), per)

    def reference(build: str) -> Candidate:
        other = Reference(n, FLOW, build=build)
        return Candidate(other.changing(), lambda: (state + dt * other.change) / scale)

    wider, change = np.zeros((3, 6, n + 2, n + 2)), np.zeros_like(state)
    wider[..., 1:-1, 1:-1] = state
    known = [field.gather() for field in volumes.Volumes(n, FLOW).constants.values()]
    builds = {f"natural {build}": reference(build) for build in fortran.BUILDS}
    per = n / (2 * geometry.EDGE)
    bound = rhs.bind(wider, change, *known, per)
    ours = Candidate(bound, lambda: (state + dt * change) / scale)
    return {"ours": ours, **builds}


def element_steps(shape: Shape, *, smooth: bool) -> dict[str, Candidate]:
    """Bind steps of spectral elements, without or with viscosity, which calls continue."""
    n = (shape[-1] - 1) // 3
    dt, nu = FLOW.element_dt(n), viscosity(n) if smooth else 0.0
    ours = Elements(n, FLOW, nu)
    scale = np.abs(np.asarray(ours.state.gather())).max(axis=(1, 2, 3), keepdims=True)

    def reference(build: str) -> Candidate:
        other = sem_fortran.Reference(n, FLOW, nu, build)
        return Candidate(other.stepping(dt), lambda: other.state / scale)

    builds = {f"natural {build}": reference(build) for build in fortran.BUILDS}
    state = Candidate(lambda: ours.step(dt), lambda: np.asarray(ours.state.gather()) / scale)
    return {"ours": state, **builds}


def cells(shape: Shape) -> int:
    """Return how many cells the stages of a step make."""
    return STAGES * math.prod(shape)


WEIGHTS: tuple[Weights, ...] = ("linear", "weno")
CASES: Mapping[str, Case] = MappingProxyType(
    {
        f"{weights}-{n}": Case(
            f"a step of shallow water on the cubed sphere, {weights} weights, a point is a cell "
            "and stage",
            *(partial(steps, weights=weights), (6, n, n), (6, 12, 12), MOVED),
            goals={"natural": 0.9 if weights == "linear" else 1.0},
            count=cells,
        )
        for weights in WEIGHTS
        for n in (48, 96, 192)
    }
    | {
        f"rhs-{n}": Case(
            "a right-hand side of shallow water on the cubed sphere, linear weights",
            *(right_sides, (6, n, n), (6, 12, 12), MOVED),
            goals={"natural": 1.0},
        )
        for n in (48, 96, 192)
    }
    | {
        f"sem{'-smooth' * smooth}-{n}": Case(
            f"a step of spectral elements on the cubed sphere, with{'out' * (not smooth)} "
            "viscosity, a point is one of the elements' points and a stage",
            *(partial(element_steps, smooth=smooth), (6, 3 * n + 1, 3 * n + 1), (6, 13, 13), LEAST),
            goals={"natural": 1.0},
            count=cells,
        )
        for smooth in (False, True)
        for n in (8, 16, 32, 64)
    }
)


def boundary_program(n: int) -> ssr.Program:
    """Return the boundary part of a stage as a separate program, in place."""
    flow = volumes.Flow(n, False, "linear")
    inner = grid.cells

    @ssr.program(
        V=volumes.ring.vector(3),
        H=grid.wide,
        v=grid.wide.vector(2),
        f=inner.faces(axis=0),
        g=inner.faces(axis=1),
    )
    def boundary(V: Any, H: Any, v: Any, f: Any, g: Any) -> None:
        V[:] = volumes.extended @ V[inner]
        H[:] = flow.fill @ H[inner]
        v[:] = flow.turn @ v[inner]
        f[:], g[:] = volumes.synchronize @ (f, g)

    return boundary


def boundary_arrays(n: int) -> list[Array]:
    """Return arrays for `boundary_program`."""
    shapes = (3, 6, n + 2, n + 2), (6, n + 6, n + 6), (2, 6, n + 6, n + 6)
    return [field(shape) for shape in (*shapes, (6, n + 1, n), (6, n, n + 1))]


def shares(quick: bool) -> Json:
    """Print the share of boundaries in a step, ours and Fortran's."""
    found: dict[str, Json] = {}
    rows = []
    for n in (12,) if quick else (48, 96, 192):
        program, arrays = boundary_program(n), boundary_arrays(n)
        ours, dt = volumes.Volumes(n, FLOW), FLOW.dt(n)
        calls: dict[str, Callable[[], object]] = {
            "ours": lambda ours=ours, dt=dt: ours.step(dt),  # type: ignore[misc]
            "ours alone": lambda program=program, arrays=arrays: program(*arrays),  # type: ignore[misc]
        }
        for build in COUNTED:
            other = Reference(n, FLOW, build=build)
            calls |= {build: other.stepping(dt), f"{build} alone": other.boundary()}
        timings = timing.measure(calls, 3 if quick else 15)
        made = {}
        for step, alone in zip(timings[::2], timings[1::2], strict=True):
            made[step.name] = STAGES * alone.over(step).median
            rows.append([
                f"{n} {step.name}",
                f"{1e6 * step.median:.0f}",
                f"{1e6 * STAGES * alone.median:.0f}",
                f"{made[step.name]:.3f}",
            ])  # fmt: skip
        found[str(n)] = made
    header = ("n", "step (us)", "boundaries (us)", "share")
    print(f"boundaries alone, three times, beside a step\n{table(header, rows)}\n")
    return found


def tiny(quick: bool) -> Json:
    """Print the microseconds of a step on the smallest useful grid, called from Python."""
    n = 8
    ours, dt = volumes.Volumes(n, FLOW), FLOW.dt(n)
    calls: dict[str, Callable[[], object]] = {"ours": lambda: ours.step(dt)}
    calls |= {build: Reference(n, FLOW, build=build).stepping(dt) for build in COUNTED}
    found = {t.name: 1e6 * t.median for t in timing.measure(calls, 3 if quick else 15)}
    rows = [[name, f"{value:.1f}"] for name, value in found.items()]
    print(f"a step at n = {n}, goal {GOALS['tiny']:.0f}\n{table(('', 'us'), rows)}\n")
    return found


def start() -> float:
    """Return the seconds of the first step, most of which compile the kernel."""
    began = time.process_time()
    volumes.Volumes(12, FLOW).step(1.0)
    return time.process_time() - began


def starts(quick: bool) -> Json:
    """Print the seconds to a first step, the minimum over processes, without and with a cache."""
    found: dict[str, list[float]] = {"cold": [], "warm": []}
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory(prefix="ssr-swe-") as folder:
            for state in found:
                found[state].append(_started(folder))
    least = {state: min(seconds) for state, seconds in found.items()}
    rows = [[state, f"{s:.1f}", f"{GOALS[state]:.0f}"] for state, s in least.items()]
    print(f"seconds to a first step\n{table(('cache', 'seconds', 'goal'), rows)}\n")
    return least


def _started(folder: str) -> float:
    """Return the seconds of a new process from its imports to the end of the first step."""
    script = "import time; from benchmarks.swe import start; start(); print(time.process_time())"
    return float(json.loads(timing.fresh("-c", script, SSR_CACHE_DIR=folder)))


def our_source() -> str:
    """Return the source of our solver, without its constants, which Fortran receives from us."""
    return inspect.getsource(volumes)


def about_boundaries(source: str) -> str:
    r"""Return the statements that use the package bc, or a name that such a statement binds.

    >>> about_boundaries("edge = bc.zero()\nfor x in y:\n    a = edge @ x\n    b = 2 * x\n")
    'edge = bc.zero()\na = edge @ x'
    """
    made, found = {"bc"}, []
    for statement in _simple(ast.parse(source)):
        if made & _names(statement, ast.Load):
            text = ast.get_source_segment(source, statement)
            assert text is not None
            found.append(text)
            if "bc" in _names(statement, ast.Load):
                made |= _names(statement, ast.Store)
    return "\n".join(found)


def _simple(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements that have no body, in their order."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node
        else:
            yield from _simple(node)


def _names(statement: ast.stmt, use: type[ast.expr_context]) -> set[str]:
    """Return the names, and the attributes of self, that a statement reads or binds."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, use):
            found.add(node.id if isinstance(node, ast.Name) else f".{node.attr}")
    return found


def sizes(quick: bool) -> Json:
    """Print how much source the solver and its boundary part have, here and in Fortran."""
    source = Path(fortran.__file__).parent / "fortran" / "swe.f90"
    ours = our_source()
    pairs = {
        "solver": (python_size(ours), fortran_size(source.read_text(encoding="utf-8"))),
        "boundaries": (python_size(about_boundaries(ours)), boundary_size()),
    }
    rows = [
        [f"{name}, {unit}", str(mine[k]), str(other[k]), f"{mine[k] / other[k]:.2f}"]
        for name, (mine, other) in pairs.items()
        for k, unit in enumerate(("lines", "tokens"))
    ]
    print("source, without the constants that both use; that of boundaries may be 0.30 at most")
    print(table(("", "ours", "Fortran", "ratio"), rows), end="\n\n")
    return {name: {"ours": mine, "fortran": other} for name, (mine, other) in pairs.items()}


PARTS: Mapping[str, Callable[[bool], Json]] = {
    "shares": shares, "tiny": tiny, "starts": starts, "source": sizes,
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements selected on the command line."""
    report.main(CASES, PARTS, arguments)


if __name__ == "__main__":
    commands.run(main)
