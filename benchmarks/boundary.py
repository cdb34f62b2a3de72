"""Measure ghosts and shared points against Fortran, SciPy and a generic gather.

``python -m benchmarks.boundary [--json FILE] [--quick] [--only PART...]`` prints the columns of
`benchmarks.ssr`, where a point is a ghost, or a copy of a shared point; then the seconds to compile
in fresh processes, and the amount of source code of each implementation.
"""

from __future__ import annotations

import inspect
import io
import json
import math
import re
import tempfile
import time
import tokenize
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import boundary as bc
import ssr
from apps import commands
from apps.swe import geometry
from benchmarks import boundary_fortran, fortran, report
from benchmarks.boundary_fortran import Kind
from benchmarks.boundary_gather import csr, gathered, ghost_rows, whole
from benchmarks.cases import Candidate, Case
from benchmarks.fortran import Array
from benchmarks.references import Shape, field
from benchmarks.timing import Json, fresh, table

WIDTH = 3


def cubed_program(n: int) -> ssr.Program:
    """Return the fill of a scalar and of a vector on the cubed sphere, in place."""
    (size,) = ssr.sizes("n")
    grid = bc.Grid(6 * [(size, size)], links=bc.cubed_sphere())
    cells, wide = grid.cells, grid.cells.grow(WIDTH)
    edge = bc.interpolate(*geometry.interpolation(n, WIDTH)) @ bc.linked()
    sides = np.moveaxis(geometry.rotations(n, WIDTH), (2, 3), (0, 1))[:, [2, 3, 0, 1]]
    scalar, vector = bc.fill(wide, edge), bc.fill(wide.vector(2), bc.transform_vector(sides) @ edge)

    @ssr.program(h=wide, u=wide.vector(2))
    def fill(h: Any, u: Any) -> None:
        h[:] = scalar @ h[cells]
        u[:] = vector @ u[cells]

    return fill


def halo_program(ndim: int, width: int, kind: Kind) -> ssr.Program:
    """Return the fill of the ghosts of a field by periodicity or reflection, in place."""
    cells = ssr.Space(*ssr.sizes(" ".join(f"n{axis}" for axis in range(ndim))))
    wide = cells.grow(width)
    rule = {"periodic": bc.periodic, "mirror": bc.symmetric}[kind]
    filled = bc.fill(wide, *(rule(axis=axis) for axis in range(ndim)))

    @ssr.program(u=wide)
    def fill(u: Any) -> None:
        u[:] = filled @ u[cells]

    return fill


def shared_program(fields: int) -> ssr.Program:
    """Return the mean of the copies of the points that panels share, in place."""
    (size,) = ssr.sizes("n")
    nodes = bc.Grid(6 * [(size, size)], links=bc.cubed_sphere()).cells.nodes().vector(fields)
    mean = bc.synchronize(nodes)

    @ssr.program(u=nodes)
    def unify(u: Any) -> None:
        u[:] = mean @ u

    return unify


def cubed(shape: Shape) -> dict[str, Candidate]:
    n = shape[-1]
    rows, program = ghost_rows(n, WIDTH), cubed_program(n)
    extents = (6, n + 2 * WIDTH, n + 2 * WIDTH)

    def candidate(bind: Callable[[Array, Array], Callable[[], object]]) -> Candidate:
        h, u = field(extents), np.stack([field(extents, seed=2), field(extents, seed=3)])

        def result() -> Array:
            return np.concatenate([part.ravel()[rows.target] for part in (h, *u)])

        return Candidate(bind(h, u), result)

    def of_fortran(version: fortran.Version, build: str) -> Candidate:
        return candidate(
            lambda h, u: boundary_fortran.cubed(h, u[0], u[1], WIDTH, version=version, build=build)
        )

    versions: tuple[fortran.Version, ...] = ("natural", "tuned")
    return {
        "ours": candidate(program.bind),
        **{f"{v} {b}": of_fortran(v, b) for v in versions for b in fortran.BUILDS},
        "scipy CSR": candidate(partial(csr, rows)),
        "Numba gather": candidate(partial(gathered, rows)),
        "scipy whole": candidate(partial(whole, rows)),
    }


def halo(shape: Shape, *, width: int, kind: Kind) -> dict[str, Candidate]:
    program = halo_program(len(shape), width, kind)
    extents = tuple(n + 2 * width for n in shape)
    u = field(extents)

    def reference(build: str) -> Candidate:
        u = field(extents)
        return Candidate(boundary_fortran.halo(u, width, kind, build=build), lambda: u)

    builds = {f"natural {build}": reference(build) for build in fortran.BUILDS}
    return {"ours": Candidate(program.bind(u), lambda: u), **builds}


def shared(shape: Shape) -> dict[str, Candidate]:
    program, u = shared_program(shape[0]), field(shape)

    def reference(build: str) -> Candidate:
        u = field(shape)
        return Candidate(boundary_fortran.shared(u, build=build), lambda: u)

    builds = {f"natural {build}": reference(build) for build in fortran.BUILDS}
    return {"ours": Candidate(program.bind(u), lambda: u), **builds}


def ghosts(shape: Shape, *, width: int) -> int:
    """Return the number of ghosts of a block."""
    return math.prod(n + 2 * width for n in shape) - math.prod(shape)


def copies(shape: Shape) -> int:
    """Return the number of copies of points that panels share."""
    return shape[0] * 6 * 4 * (shape[-1] - 1)


def _halo(kind: Kind, shape: Shape, small: Shape, width: int) -> Case:
    return Case(
        f"{kind} ghosts, {width} {'layers' if width > 1 else 'layer'}",
        *(partial(halo, width=width, kind=kind), shape, small, 24),
        goals={"natural": 1.05},
        count=partial(ghosts, width=width),
    )


KINDS: tuple[Kind, ...] = ("periodic", "mirror")
CASES: Mapping[str, Case] = MappingProxyType(
    {
        f"cubed-{n}": Case(
            "ghosts of a scalar and a vector on the cubed sphere, axes field, link, layer, place",
            *(cubed, (3, 24, WIDTH, n), (3, 24, WIDTH, 12), 24),
            goals={"natural": 1.05, "tuned": 1.05, "scipy CSR": 0.36, "Numba gather": 0.35},
        )
        for n in (48, 96, 192)
    }
    | {
        f"{kind}-{shape[0]}-{width}": _halo(kind, shape, small, width)
        for shape, small in (((2048, 2048), (30, 70)), ((128, 128, 128), (12, 13, 14)))
        for kind in KINDS
        for width in (1, 3)
    }
    | {
        f"shared-{m}": Case(
            "points shared by panels of the cubed sphere, three fields",
            *(shared, (3, 6, m, m), (3, 6, 9, 9), 24),
            goals={"natural": 1.05},
            count=copies,
        )
        for m in (97, 193, 385)
    }
)


def cold(kind: str) -> float:
    """Return the seconds that this process takes to compile the kernel of a fill."""
    if kind == "gather":
        from benchmarks.boundary_gather import compiled

        start = time.process_time()
        compiled()
        return time.process_time() - start
    program = {
        "cubed": partial(cubed_program, 24),
        "periodic": partial(halo_program, 2, 1, "periodic"),
    }[kind]()
    start = time.process_time()
    program.kernel()
    return time.process_time() - start


def compile_times(quick: bool) -> Json:
    """Print the seconds to compile: the minimum over fresh processes with empty caches."""
    kinds = ("gather", "cubed", "periodic")
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(1 if quick else 3):
        for kind in kinds:
            found[kind].append(_cold(kind))
    least = {kind: min(seconds) for kind, seconds in found.items()}
    hand = least["gather"]
    rows = [[kind, f"{least[kind]:.2f}", f"{least[kind] / hand:.2f}"] for kind in kinds]
    print(f"compile (s)\n{table(('kernel', 'cold', 'over gather'), rows)}")
    print("the limit is 3 times the gather, however many links\n")
    return {kind: least[kind] for kind in kinds}


def _cold(kind: str) -> float:
    """Return the result of `cold` in a new process."""
    with tempfile.TemporaryDirectory(prefix="ssr-boundary-") as folder:
        script = f"from benchmarks.boundary import cold; print(cold({kind!r}))"
        done = fresh("-c", script, SSR_CACHE_DIR=folder, NUMBA_CACHE_DIR=folder)
    return float(json.loads(done))


def sizes(quick: bool) -> Json:
    """Print how much source the ghosts of the cubed sphere take, here and in Fortran."""
    source = Path(fortran.__file__).parent / "fortran" / "cubed.f90"
    head, _, rest = source.read_text(encoding="utf-8").partition("subroutine cubed_natural")
    ours = python_size(inspect.getsource(cubed_program))
    theirs = fortran_size(
        head + "subroutine cubed_tuned" + rest.partition("subroutine cubed_tuned")[2]
    )
    rows = [
        [name, str(mine), str(other), f"{mine / other:.2f}"]
        for name, mine, other in zip(("lines", "tokens"), ours, theirs, strict=True)
    ]
    print("source, without the tables of the geometry")
    print(table(("", "ours", "Fortran", "ratio"), rows), end="\n\n")
    return {"ours": ours, "fortran": theirs}


def python_size(source: str) -> tuple[int, int]:
    r"""Return the lines and tokens of Python source, without comments, docstrings and layout.

    >>> python_size("def f(x):  # a comment\n    'It doubles.'\n\n    return 2 * x\n")
    (2, 10)
    """
    layout = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER,
    }  # fmt: skip
    found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    starts = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    kept = [
        token
        for before, token in zip([None, *found], found, strict=False)
        if token.type not in layout
        and not (token.type == tokenize.STRING and before and before.type in starts)
    ]
    lines = {row for token in kept for row in range(token.start[0], token.end[0] + 1)}
    return len(lines), len(kept)


def fortran_size(source: str) -> tuple[int, int]:
    r"""Return the lines and tokens of Fortran source, without comments.

    >>> fortran_size("! Doubles.\nx = 2 * x  ! in place\n")
    (1, 5)
    """
    code = [text for line in source.splitlines() if (text := line.partition("!")[0].strip())]
    token = re.compile(r"\d+(?:\.\d*)?(?:_\w+)?|\w+|==|/=|<=|>=|::|\*\*|[^\s&]")
    return len(code), sum(len(token.findall(line)) for line in code)


PARTS: Mapping[str, Callable[[bool], Json]] = {"compile": compile_times, "source": sizes}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements selected on the command line."""
    report.main(CASES, PARTS, arguments)


if __name__ == "__main__":
    commands.run(main)
