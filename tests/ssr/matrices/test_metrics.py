"""Fields of fewer dimensions inside matrices: metrics of stretched grids, masks, broadcasts."""

from typing import Any

import numpy as np
import pytest

import ssr

from .. import plain
from ..interpret import interpret_program

Array = np.ndarray[Any, Any]
ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
across, along = ssr.Space(ny), ssr.Space(nx)
SHAPE = 6, 9


@ssr.matrix(rows=cells, cols=cells, dy=across.grow(1), dx=along.grow(1), k=cells.grow(1))
def laplace(j: Any, i: Any, *, dy: Any, dx: Any, k: Any) -> Any:
    """Yield the divergence of k grad on a stretched grid, zero at the boundary."""
    total = 0.0
    neighbours: list[tuple[int, int, Any, Any]] = [
        (-1, 0, dy[j - 1], dy[j]),
        (0, -1, dx[i - 1], dx[i]),
        (0, 1, dx[i + 1], dx[i]),
        (1, 0, dy[j + 1], dy[j]),
    ]
    for dj, di, there, here in neighbours:
        weight = (k[j + dj, i + di] + k[j, i]) / ((there + here) * here)
        total = total + weight
        if (j + dj, i + di) in cells:
            yield (j + dj, i + di), -weight
    yield (j, i), total


def dense(dy: Array, dx: Array, k: Array) -> Array:
    ny, nx = len(dy) - 2, len(dx) - 2
    result = np.zeros((ny, nx, ny, nx))
    for j in range(ny):
        for i in range(nx):
            for dj, di in (-1, 0), (0, -1), (0, 1), (1, 0):
                here = dy[j + 1] if dj else dx[i + 1]
                there = dy[j + 1 + dj] if dj else dx[i + 1 + di]
                weight = (k[j + 1 + dj, i + 1 + di] + k[j + 1, i + 1]) / ((there + here) * here)
                result[j, i, j, i] += weight
                if 0 <= j + dj < ny and 0 <= i + di < nx:
                    result[j, i, j + dj, i + di] -= weight
    return result.reshape(ny * nx, ny * nx)


def metrics(dtype: Any = float) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(7)
    ny, nx = SHAPE
    sizes = [(ny + 2,), (nx + 2,), (ny + 2, nx + 2)]
    dy, dx, k = (rng.uniform(0.5, 2.0, size).astype(dtype) for size in sizes)
    return dy, dx, k


def bound(dtype: Any = float) -> ssr.Matrix:
    dy, dx, k = metrics(dtype)
    return laplace.bind(dy=dy, dx=dx, k=k)


@ssr.matrix(rows=cells, cols=along)
def repeat(j: Any, i: Any) -> Any:
    """Yield what repeats a value at all points of a column."""
    yield i, 1.0


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")


def test_oracle() -> None:
    np.testing.assert_allclose(bound().to_scipy().toarray(), dense(*metrics()), 1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_product(dtype: str) -> None:
    x = np.random.default_rng(1).normal(size=SHAPE).astype(dtype)
    program = plain.eager(bound(dtype), "apply")
    y = np.full_like(x, np.nan)
    plain.run(program, y, x)
    wanted = dense(*metrics()) @ x.ravel()
    scale = np.abs(dense(*metrics())) @ np.abs(x.ravel())
    plain.check_close(y, wanted, scale, 1e-14 if dtype == "float64" else 1e-5)
    parts = np.full_like(x, np.nan)
    plain.run(program, parts, x, boxes=ssr.Space(*SHAPE).split(3, 2))
    plain.check_same(parts, y)
    again = np.full_like(x, np.nan)
    dy, dx, k = metrics(dtype)
    arrays = {"y": again, "x": x, "dy": dy, "dx": dx, "k": k}
    interpret_program(program.ir, arrays, {}, {"ny": SHAPE[0], "nx": SHAPE[1]}, dtype)
    plain.check_close(again, wanted, scale, 1e-14 if dtype == "float64" else 1e-5)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("exact", [False, True])
def test_sweeps_in_place(direction: str, exact: bool) -> None:
    matrix, whole = bound(), dense(*metrics())
    program = plain.variant(plain.sweep(matrix, direction), exact=exact)
    x, b = np.random.default_rng(2).normal(size=(2, *SHAPE))
    low, high = np.tril(whole), np.triu(whole)
    first, rest = (low, np.triu(whole, 1)) if direction == "forward" else (high, np.tril(whole, -1))
    wanted = np.linalg.solve(first, b.ravel() - rest @ x.ravel())
    made = plain.swept(program, x, b)
    np.testing.assert_allclose(made.ravel(), wanted, 1e-12)
    parts = plain.swept(program, x, b, boxes=ssr.Space(*SHAPE).split(3, 1))
    plain.check_same(parts, made)


def test_a_compiled_product_and_sweep() -> None:
    x = np.random.default_rng(3).normal(size=SHAPE)
    matrix = bound()
    np.testing.assert_array_equal(matrix @ x, plain.apply(matrix, x, SHAPE))
    solved = matrix.tril().solve(x)
    np.testing.assert_allclose(matrix.tril() @ solved, x, 1e-12, 1e-12)


def test_algebra() -> None:
    """Transposes, products and sums read the metric at the right place."""
    matrix, whole = bound(), dense(*metrics())
    x = np.random.default_rng(4).normal(size=SHAPE)
    for combined, wanted in (
        (matrix.T, whole.T),
        (matrix @ matrix, whole @ whole),
        (matrix - 2 * matrix.T, whole - 2 * whole.T),
    ):
        np.testing.assert_allclose(combined.to_scipy().toarray(), wanted, 1e-12, 1e-12)
        made = plain.apply(combined, x, SHAPE)
        np.testing.assert_allclose(made.ravel(), wanted @ x.ravel(), 1e-12, 1e-12)


def test_metrics_that_are_computed() -> None:
    """A field of one dimension is made and used in one program."""

    @ssr.program(y=cells, x=cells, faces=along.grow((0, 1)))
    def flux(y: Any, x: Any, faces: Any) -> None:
        width = difference @ faces
        y[:] = scaled.bind(w=width) @ x + (repeat @ width) * x

    x = np.random.default_rng(5).normal(size=SHAPE)
    faces = np.linspace(0, 1, SHAPE[1] + 1) ** 2
    y, again = np.full((2, *SHAPE), np.nan)
    flux(y, x, faces)
    np.testing.assert_allclose(y, x / np.diff(faces) + np.diff(faces) * x, 1e-14)
    plain.run(flux, again, x, faces)
    plain.check_same(again, y)


@ssr.matrix(rows=along, cols=along.grow((0, 1)))
def difference(i: Any) -> Any:
    yield i, -1.0
    yield i + 1, 1.0


@ssr.matrix(rows=cells, cols=cells, w=along)
def scaled(j: Any, i: Any, *, w: Any) -> Any:
    yield (j, i), 1.0 / w[i]


def test_a_metric_outside_its_space() -> None:
    with pytest.raises(ssr.errors.OutOfSpaceError, match="'w' is read outside its space"):

        @ssr.matrix(rows=cells, cols=cells, w=along)
        def wrong(j: Any, i: Any, *, w: Any) -> Any:
            yield (j, i), w[i + 1]


def test_planes_of_three_dimensions() -> None:
    nz = ssr.size("nz")
    space = ssr.Space(nz, ny, nx)

    @ssr.matrix(rows=space, cols=space, w=ssr.Space(nz, nx), z=ssr.Space(nz))
    def A(k: Any, j: Any, i: Any, *, w: Any, z: Any) -> Any:
        yield (k, j, i), 2.0 + w[k, i]
        if k > 0:
            yield (k - 1, j, i), -z[k - 1] * z[k]
        if i > 0:
            yield (k, j, i - 1), w[k, i - 1]

    rng = np.random.default_rng(6)
    shape = 3, 4, 5
    made = A.bind(w=rng.uniform(1, 2, (3, 5)), z=rng.uniform(1, 2, 3), ny=4)
    x = rng.normal(size=shape)
    whole = made.to_scipy()
    y = plain.apply(made, x, shape)
    np.testing.assert_allclose(y.ravel(), whole @ x.ravel(), 1e-13, 1e-13)
    np.testing.assert_allclose(plain.solve(made, y), x, 1e-12)


@ssr.matrix(rows=cells, cols=cells, fluid=cells)
def masked(j: Any, i: Any, *, fluid: Any) -> Any:
    """Yield the five-point matrix in the fluid, the identity elsewhere."""
    yield (j, i), ssr.where(fluid[j, i] > 0, 4.0, 1.0)
    for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
        if c in cells:
            yield c, ssr.where((fluid[j, i] > 0) & (fluid[c] > 0), -1.0, 0.0)


def test_rows_switched_by_data() -> None:
    fluid = (np.random.default_rng(8).uniform(size=SHAPE) > 0.4).astype(float)
    matrix = masked.bind(fluid=fluid)
    x = np.random.default_rng(9).normal(size=SHAPE)
    for _ in range(2):
        whole = matrix.to_scipy().toarray()
        y = plain.apply(matrix, x, SHAPE)
        np.testing.assert_allclose(y.ravel(), whole @ x.ravel(), 1e-13, 1e-13)
        np.testing.assert_array_equal(y[fluid == 0], x[fluid == 0])
        np.testing.assert_array_equal(matrix @ x, y)
        swept = plain.swept(plain.sweep(matrix, "forward"), x, x)
        wanted = np.linalg.solve(np.tril(whole), x.ravel() - np.triu(whole, 1) @ x.ravel())
        np.testing.assert_allclose(swept.ravel(), wanted, 1e-12)
        fluid[2:4] = 1 - fluid[2:4]


def test_points_switched_by_data() -> None:
    @ssr.program(x=cells, new=cells, mask=cells)
    def overwrite(x: Any, new: Any, mask: Any) -> None:
        x[:] = ssr.where(mask > 0, new, x)

    assert "runs in place" in overwrite.explain("program")
    x, new, mask = np.random.default_rng(10).normal(size=(3, *SHAPE))
    wanted = np.where(mask > 0, new, x)
    overwrite(x, new, mask)
    np.testing.assert_array_equal(x, wanted)


def test_masks_of_booleans() -> None:
    mask = np.ones(SHAPE, bool)
    with pytest.raises(ssr.errors.DtypeError, match=r"fluid\.astype\(np\.float64\)"):
        masked.bind(fluid=mask) @ np.ones(SHAPE)
