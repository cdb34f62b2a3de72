"""Kernels that `numba.njit` compiles have the same bits; the default compiler needs no Numba."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError, NonFiniteError, ReadOnlyError
from ssr.runtime import target
from tests.random_examples import THOROUGH
from tests.ssr import test_random_programs as random_programs
from tests.ssr.compiler.golden_programs import KERNELS
from tests.ssr.sample_programs import PROGRAMS, case, check_same, five, plane

ROOT = Path(__file__).parents[3]
PACKAGES = "ssr", "boundary"


@pytest.fixture(autouse=True)
def _processor_of_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSR_CPU", "SSR_COMPILER"):
        monkeypatch.delenv(name, raising=False)


def reductions() -> ssr.Program:
    @ssr.program(x=plane, b=plane)
    def reductions(x: Any, b: Any) -> Any:
        x[:] = ssr.exp(x) - five @ ssr.where(x > b, x, b)
        return ssr.dot(x, b), ssr.max(x), ssr.norm(b), ssr.min(ssr.sign(x) * ssr.sqrt(b))

    return reductions


def vectors() -> ssr.Program:
    @ssr.program(v=plane.vector(2), u=plane)
    def vectors(v: Any, u: Any) -> Any:
        v[0] = u * v[1] + five @ v[0]
        v[1] = five @ u
        return ssr.norm(v)

    return vectors


def filled() -> ssr.Program:
    wide = plane.grow(1)
    ghosts = bc.fill(wide, bc.periodic(axis=1), bc.dirichlet(bc.parameter("g"), axis=0))
    cross = {(0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0, (0, 0): -4.0}
    laplace = ssr.stencil(plane, wide, cross)

    @ssr.program(x=plane, y=plane, g=ssr.scalar)
    def filled(x: Any, y: Any, g: Any) -> Any:
        y[:] = laplace @ (ghosts.bind(g=g) @ x)
        return ssr.sum(y)

    return filled


GOLDEN = (
    "fill_stored", "fill_symmetric", "five_point_exact", "five_point_gauss_seidel", "jacobi",
    "line_solve_0", "line_solve_periodic", "nine_point_symmetric", "periodic_rows",
    "red_black", "restriction", "stored_matrix", "twenty_seven_apply", "varying_solve", "wave",
)  # fmt: skip
"""Kernels of all kinds among those that are golden files."""

CHOSEN: dict[str, Callable[[], ssr.Program]] = {
    "reductions": reductions,
    **{name: KERNELS[name] for name in GOLDEN},
}

SOME = "reductions", "line_solve_0", "stored_matrix", "jacobi", "five_point_gauss_seidel"
"""Those that run in single precision and as debug builds, too: one of each kind of loops."""


def numba(program: ssr.Program) -> ssr.Program:
    return program.with_options(replace(program.options, compiler="numba"))


def run(program: ssr.Program, dtype: str) -> tuple[dict[str, np.ndarray[Any, Any]], object]:
    """Run a program; return its arrays and results."""
    arrays, scalars = case(program, dtype=dtype)
    return arrays, program(*arrays.values(), *scalars.values())


KINDS = [("float64", name) for name in CHOSEN]
KINDS += [(kind, name) for kind in ("float32", "debug") for name in (CHOSEN if THOROUGH else SOME)]


@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_both_compilers_make_the_same_bits(kind: str, name: str) -> None:
    program = CHOSEN[name]()
    program = program.with_options(replace(program.options, debug=kind == "debug"))
    dtype = "float32" if kind == "float32" else "float64"
    (own, result), (other, same) = run(program, dtype), run(numba(program), dtype)
    assert result == same
    for field, values in own.items():
        check_same(values, other[field])


def test_vector_fields() -> None:
    program, rng = vectors(), np.random.default_rng(2)
    v, u = rng.random((2, 5, 7)), rng.random((5, 7))
    w = v.copy()
    assert program(v, u) == numba(program)(w, u)
    check_same(v, w)
    wide, other = np.zeros((2, 2, 6, 9))
    wide[:, 1:, 2:], other[:, 1:, 2:] = v, v
    assert program(wide[:, 1:, 2:], u) == numba(program)(other[:, 1:, 2:], u)
    check_same(wide, other)


def test_random_programs() -> None:
    rng = np.random.default_rng(6)
    for _ in range(10 if THOROUGH else 3):
        steps = [
            (str(kind), bool(first))
            for kind, first in zip(
                rng.choice(random_programs.KINDS, 4), rng.integers(0, 2, 4), strict=True
            )
        ]
        program = random_programs.declared(steps, ssr.Options())
        own, other = (random_programs.drawn(7, (5, 6)) for _ in range(2))
        assert program(*own.values(), 0.5) == numba(program)(*other.values(), 0.5), steps
        for name, values in own.items():
            check_same(values, other[name])


APPLICATION = """
import boundary as bc
import ssr
from apps import poisson

on = bc.distribute(poisson.points, m=7)
by_rows = ssr.solvers.GaussSeidel()
for run in poisson.gauss_seidel(on, 2), poisson.conjugate_gradients(on, M=by_rows, most=2):
    print(run.method, run.residuals, run.errors, poisson.digest(run.u))
"""


def test_an_application() -> None:
    """Two solvers of the Poisson problem, each for two iterations."""
    command = [sys.executable, "-c", APPLICATION]
    texts = [
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "SSR_COMPILER": compiler},
        ).stdout
        for compiler in ("llvm", "numba")
    ]
    assert texts[0] == texts[1]
    assert len(texts[0].splitlines()) == 2


def test_ghosts() -> None:
    program, x = filled(), np.random.default_rng(3).random((6, 9))
    y, z = np.empty_like(x), np.empty_like(x)
    assert program(x, y, 0.5) == numba(program)(x, z, 0.5)
    check_same(y, z)


@pytest.mark.parametrize("program", [reductions, PROGRAMS["five_point_gauss_seidel"]])
def test_ranks_and_threads(
    program: Callable[[], ssr.Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks and threads share the kernel, which Numba compiles once in a process."""
    x, b = np.random.default_rng(4).uniform(0.5, 2.0, (2, 9, 8))
    made = program()
    whole = x.copy()
    result = made(whole, b)
    monkeypatch.setenv("SSR_COMPILER", "numba")
    for world in bc.simulated_ranks(3), bc.threads(2):
        on = bc.distribute(plane, world, ny=9, nx=8)
        fields = on.scatter(plane, x), on.scatter(plane, b)
        assert made(*fields) == result
        check_same(fields[0].gather(), whole)
        again = on.scatter(plane, x), on.scatter(plane, b)
        bound = made.bind(*again)
        assert bound() == result
        check_same(again[0].gather(), whole)


def test_refusals_and_reports() -> None:
    @ssr.program(x=plane, options=ssr.Options(debug=True, compiler="numba"))
    def inverse(x: Any) -> None:
        x[:] = 1.0 / x

    with pytest.raises(NonFiniteError, match=r"makes inf in x at \(1, 2\)"):
        inverse(np.array([[1.0] * 4, [2.0, 2.0, 0.0, 2.0]]))
    program = numba(PROGRAMS["five_point_apply"]())
    x = np.ones((4, 5))
    x.flags.writeable = False
    y = np.zeros((4, 5))
    program(y, x)
    with pytest.raises(ReadOnlyError):
        program(x, y)
    z = np.zeros((4, 10))[:, :5]
    program(z, x)
    check_same(y, z)


def test_a_change_of_compiler_is_a_change_of_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba makes no code that can be kept, and takes none that the other compiler kept."""
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "cache"))
    own = PROGRAMS["jacobi"]().kernel()
    assert own.run is not None
    monkeypatch.setenv("SSR_COMPILER", "numba")
    first, second = (PROGRAMS["jacobi"]().kernel() for _ in range(2))
    assert (first.from_cache, second.from_cache) == (False, False)
    assert first.name == second.name != own.name
    assert hasattr(first.run, "dispatcher")
    chosen = PROGRAMS["jacobi"]().with_options(ssr.Options(compiler="llvm")).kernel()
    assert (chosen.name, chosen.from_cache) == (own.name, True)
    monkeypatch.delenv("SSR_COMPILER")
    assert numba(PROGRAMS["jacobi"]()).kernel().name == first.name


def test_names_of_compilers_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArgumentError, match="Option compiler must be 'llvm' or 'numba', not 'gcc'"):
        ssr.Options(compiler="gcc")
    with pytest.raises(ArgumentError, match="Option compiler must be 'llvm' or 'numba', not 3"):
        ssr.Options(compiler=3)  # type: ignore[arg-type]
    monkeypatch.setenv("SSR_COMPILER", "gcc")
    with pytest.raises(ArgumentError, match="SSR_COMPILER must be 'llvm' or 'numba', not 'gcc'"):
        PROGRAMS["jacobi"]().kernel()


def test_numba_compiles_for_its_own_processor_only() -> None:
    other = "x86-64-v2" if target.host().triple.startswith("x86_64") else "apple-m1"
    options = ssr.Options(cpu=other, compiler="numba", cache=False)
    program = PROGRAMS["jacobi"]().with_options(options)
    with pytest.raises(ArgumentError) as caught:
        program.kernel()
    assert "by numba" in caught.value.message or "instructions" in caught.value.message


# -- without Numba ---------------------------------------------------------------------------------

SCRIPT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numba":
            raise ImportError("there is no Numba")

sys.meta_path.insert(0, Missing())
import numpy as np
import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("ny nx"))
A = ssr.stencil(cells, cells, {(0, 0): 4.0, (0, 1): -1.0, (1, 0): -1.0}, outside="zero")

@ssr.program(x=cells, b=cells)
def step(x, b):
    x[:] = A.triu().solve(b + x)
    return ssr.norm(x), ssr.max(b)

b = np.arange(30.0).reshape(5, 6)
x = np.ones((5, 6))
found = step(x, b)
step.with_options(ssr.Options(debug=True))(np.ones((5, 6)), b)
for world in None, bc.simulated_ranks(2), bc.threads(2):
    on = bc.distribute(cells, world, ny=5, nx=6)
    assert step(on.scatter(cells, np.ones((5, 6))), on.scatter(cells, b)) == found
assert "ssr_kernel" in step.explain("assembly")
assert not any(name.partition(".")[0] == "numba" for name in sys.modules)
try:
    step.with_options(ssr.Options(compiler="numba"))(x, b)
except Exception as error:
    print(type(error).__name__, error)
print("right")
"""


def test_the_default_compiler_works_without_numba(tmp_path: Path) -> None:
    environment = {**os.environ, "SSR_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for _ in range(2):  # with an empty cache, and with a filled one
        made = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(SCRIPT)],
            capture_output=True,
            text=True,
            env=environment,
        )
        assert made.returncode == 0, made.stderr
        assert made.stdout.endswith("right\n")
        assert "there is no Numba" in made.stdout


def sources() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the files of the packages."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the modules that a file imports from, and the names that it gives to imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield one.name, (one.asname or one.name).partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                yield f"{node.module}.{one.name}", one.asname or one.name


def inherited(node: ast.ClassDef, known: set[str]) -> set[str]:
    """Return the private attributes that a class has from one of Numba's or llvmlite's."""
    if not any(isinstance(n, ast.Name) and n.id in known for b in node.bases for n in ast.walk(b)):
        return set()
    own = {one.name for one in ast.walk(node) if isinstance(one, ast.FunctionDef)}
    attributes = [one for one in ast.walk(node) if isinstance(one, ast.Attribute)]
    own |= {one.attr for one in attributes if isinstance(one.ctx, ast.Store)}
    return {a.attr for a in attributes if a.attr[0] == "_" and a.attr[1] != "_"} - own


def test_only_one_folder_uses_numba() -> None:
    users = {
        str(path.parent)
        for path, tree in sources()
        for module, _ in imported(tree)
        if module.partition(".")[0] == "numba"
    }
    assert users == {"ssr/numba_backend"}


def test_no_private_name_of_numba_or_llvmlite_is_used() -> None:
    """Neither as a module, nor as an attribute of an imported name."""
    found = []
    for path, tree in sources():
        names = [
            (module, name)
            for module, name in imported(tree)
            if module.partition(".")[0] in ("numba", "llvmlite")
        ]
        found += [(path, m) for m, _ in names if any(part[0] == "_" for part in m.split("."))]
        known = {name for _, name in names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                first = node.value
                while isinstance(first, ast.Attribute):
                    first = first.value
                if isinstance(first, ast.Name) and first.id in known:
                    found.append((path, ast.unparse(node)))
            if isinstance(node, ast.ClassDef):
                found += [(path, name) for name in inherited(node, known)]
    assert not found
