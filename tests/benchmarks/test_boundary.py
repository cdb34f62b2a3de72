"""The references of `benchmarks.boundary` against NumPy, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import boundary, boundary_fortran, fortran
from benchmarks.boundary_gather import csr, gathered, ghost_rows, whole
from benchmarks.fortran import Array

builds = pytest.mark.parametrize("build", list(fortran.BUILDS))


def random(*shape: int) -> Array:
    return np.random.default_rng(1).standard_normal(shape)


def filled(n: int, h: Array, u: Array) -> tuple[Array, Array]:
    """Return the fields with ghosts, row by row."""
    rows = ghost_rows(n, boundary.WIDTH)
    new_h, new_u = h.copy(), u.copy()
    read = [np.einsum("gt,gt->g", rows.weights, part.ravel()[rows.index]) for part in (h, *u)]
    new_h.ravel()[rows.target] = read[0]
    for c in range(2):
        new_u[c].ravel()[rows.target] = rows.turn[:, c, 0] * read[1] + rows.turn[:, c, 1] * read[2]
    return new_h, new_u


def check(found: tuple[Array, Array], wanted: tuple[Array, Array]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_rows_read_owned_points_and_make_every_ghost_beside_a_panel_once() -> None:
    n, width = 8, boundary.WIDTH
    rows = ghost_rows(n, width)
    owned = np.zeros((6, n + 2 * width, n + 2 * width), bool)
    owned[:, width:-width, width:-width] = True
    assert owned.ravel()[rows.index].all()
    assert not owned.ravel()[rows.target].any()
    assert len(set(rows.target)) == rows.target.size == 24 * width * n
    np.testing.assert_allclose(rows.weights.sum(axis=1), 1.0)


@pytest.mark.parametrize("make", [csr, gathered, whole])
def test_matrices_fill_ghosts(make: object) -> None:
    n = 9
    h, u = random(6, n + 6, n + 6), random(2, 6, n + 6, n + 6)
    wanted = filled(n, h, u)
    make(ghost_rows(n, boundary.WIDTH), h, u)()  # type: ignore[operator]
    check((h, u), wanted)


@pytest.mark.fortran
@builds
@pytest.mark.parametrize("version", ["natural", "tuned"])
def test_cubed(version: fortran.Version, build: str) -> None:
    n = 11
    h, u = random(6, n + 6, n + 6), random(2, 6, n + 6, n + 6)
    wanted = filled(n, h, u)
    boundary_fortran.cubed(h, u[0], u[1], boundary.WIDTH, version=version, build=build)()
    check((h, u), wanted)


@pytest.mark.fortran
@builds
@pytest.mark.parametrize("kind", ["periodic", "mirror"])
@pytest.mark.parametrize(("shape", "width"), [((5, 7), 1), ((6, 4), 3), ((4, 5, 6), 2)])
def test_halo(kind: boundary.Kind, shape: tuple[int, ...], width: int, build: str) -> None:
    inner = random(*shape)
    wanted = np.pad(inner, width, mode={"periodic": "wrap", "mirror": "symmetric"}[kind])
    u = np.pad(inner, width, constant_values=np.nan)
    boundary_fortran.halo(u, width, kind, build=build)()
    np.testing.assert_array_equal(u, wanted)


@pytest.mark.fortran
@builds
def test_shared_points_become_equal_and_keep_their_sum(build: str) -> None:
    u = random(2, 6, 5, 5)
    places = np.arange(u[0].size).reshape(u[0].shape)
    classes = [list(three) for three in boundary_fortran.corners(places)]
    for start, step, other, its in boundary_fortran.edges(places):
        classes += [[start + t * step, other + t * its] for t in range(3)]
    assert len({p for each in classes for p in each}) == 6 * 16
    wanted = u.copy()
    for each in classes:
        for f in range(2):
            wanted[f].ravel()[each] = u[f].ravel()[each].mean()
    boundary_fortran.shared(u, build=build)()
    np.testing.assert_allclose(u, wanted, rtol=0, atol=1e-14)


def test_sizes_of_source() -> None:
    source = "def f(x):  # a\n    'It.'\n\n    return (2 *\n        x)\n"
    assert boundary.python_size(source) == (3, 12)
    assert boundary.fortran_size("! a\n\nx = 2 * y(1, 2)  ! b\n") == (1, 10)


@pytest.mark.fortran
def test_the_command_writes_what_it_measures(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    parts = ["cubed-48", "mirror-128-3", "shared-97", "source"]
    boundary.main(["--quick", "--json", str(path), "--only", *parts])
    found = json.loads(path.read_text())
    assert set(found["cases"]) == set(parts[:3])
    assert found["source"]["ours"][0] < found["source"]["fortran"][0]
