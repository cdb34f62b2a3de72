"""Stored sparse matrices beside staged ones."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import ssr

from .. import plain
from ..interpret import interpret_program

Array = np.ndarray[Any, Any]
n, m = ssr.sizes("n m")
cells, wide, line = ssr.Space(m, n), ssr.Space(m, n).grow(1, (0, 2)), ssr.Space(n)
SHAPE, WIDE = (4, 5), (6, 7)
A = ssr.stencil(cells, wide, {(-1, 0): -1, (0, 0): 3, (0, 2): 1})


def stored(rows: Any, cols: Any, **more: Any) -> Any:
    shape = int(np.prod(rows)), int(np.prod(cols))
    rng = np.random.default_rng(4)
    made = sparse.random_array(shape, density=0.2, rng=rng, **more).tolil()
    made[3] = 0
    return sparse.csr_array(made)


def close(actual: Array, expected: Array, dtype: str = "float64") -> None:
    tight = 1e-13 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(actual.ravel(), np.ravel(expected), tight, tight)


S = stored(SHAPE, WIDE)
OPAQUE = ssr.from_scipy(S, rows=cells, cols=wide)


@ssr.program(y=cells, x=wide, a=ssr.scalar)
def mixed(y: Any, x: Any, a: Any) -> None:
    y[:] = y - OPAQUE @ x + a * (A @ (x * x)) + (2 * OPAQUE - A) @ (x + 1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_programs(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6, 11)).astype(dtype)[:, 2:9]
    start = rng.normal(size=SHAPE).astype(dtype)
    whole = A.bind(m=SHAPE[0], n=SHAPE[1]).to_scipy()
    flat = x.ravel()
    wanted = start.ravel() - S @ flat + 1.5 * (whole @ flat**2) + (2 * S - whole) @ (flat + 1)
    y, again = start.copy(), start.copy()
    mixed(y, x, 1.5)
    close(y, wanted, dtype)
    plain.run(plain.variant(mixed), again, x, 1.5)
    plain.check_same(again, y)
    fields = {"y": start.copy(), "x": x}
    sizes = {"m": SHAPE[0], "n": SHAPE[1]}
    stores = mixed._recorder.stored
    interpret_program(mixed.ir, fields, {"a": 1.5}, sizes, dtype, stores)
    close(fields["y"], wanted, dtype)


def test_boxes() -> None:
    @ssr.program(y=cells, x=wide)
    def p(y: Any, x: Any) -> None:
        y[:] = y + (OPAQUE + A) @ x

    x, start = np.random.default_rng(6).normal(size=WIDE), np.ones(SHAPE)
    whole, parts = start.copy(), start.copy()
    p(whole, x)
    p(parts, x, boxes=ssr.Space(*SHAPE).split(2, 2))
    plain.check_same(parts, whole)


def test_products_outside_programs() -> None:
    square = ssr.from_scipy(stored(20, 20).tocoo(), rows=cells, cols=cells)
    x = np.random.default_rng(2).normal(size=SHAPE)
    close(square @ x, square.to_scipy() @ x.ravel())
    close(square.T @ x, square.to_scipy().T @ x.ravel())
    B = ssr.stencil(cells, cells, {(-1, 0): 2, (0, 0): 3}, outside="zero").bind(m=4, n=5)
    for made, wanted in (
        (square + B, square.to_scipy() + B.to_scipy()),
        (B + square, square.to_scipy() + B.to_scipy()),
        (B - square, B.to_scipy() - square.to_scipy()),
        (square - B, square.to_scipy() - B.to_scipy()),
        (-(square + B) * 2, -2 * (square.to_scipy() + B.to_scipy())),
        ((square + B).T, (square.to_scipy() + B.to_scipy()).T),
        (square + B + square + B, 2 * (square.to_scipy() + B.to_scipy())),
    ):
        close(made.to_scipy().toarray(), wanted.toarray())
        close(made @ x, wanted @ x.ravel())
    assert square.shape == (20, 20)
    assert repr(square + B).startswith("<StoredMatrix (stored + ")


def test_rows_of_another_space() -> None:
    P = ssr.from_scipy(stored(20, 5), rows=ssr.Space(4, 5), cols=ssr.Space(5))
    x = np.random.default_rng(3).normal(size=5)
    made = P @ x
    assert made.shape == (4, 5)
    close(made, P.to_scipy() @ x)
    close(P.T @ made, P.to_scipy().T @ made.ravel())


def test_fields_keep_what_they_meant() -> None:
    square = ssr.from_scipy(stored(20, 20), rows=cells, cols=cells)

    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> Any:
        before = square @ x
        x[:] = square @ (x + y)
        y[:] = before + x
        x[:] = square @ x
        return ssr.dot(square @ y, x)

    x, y = np.random.default_rng(5).normal(size=(2, *SHAPE))
    before = square.to_scipy() @ x.ravel()
    first = square.to_scipy() @ (x + y).ravel()
    got = p(x, y)
    close(y, before + first)
    close(x, square.to_scipy() @ first)
    assert np.isclose(got, np.dot(square.to_scipy() @ (before + first), x.ravel()))


def test_the_debug_build() -> None:
    square = ssr.from_scipy(stored(20, 20), rows=cells, cols=cells)

    @ssr.program(y=cells, x=cells, options=ssr.Options(debug=True))
    def p(y: Any, x: Any) -> None:
        y[:] = square @ x

    x = np.ones(SHAPE)
    y = np.zeros(SHAPE)
    p(y, x)
    close(y, square.to_scipy() @ x.ravel())
    x[2, 2] = np.nan
    with pytest.raises(ssr.errors.NonFiniteError, match="y"):
        p(y, x)


def test_integers_and_mistakes() -> None:
    count = sparse.csr_array(np.array([[0, 2], [1, 0]]))
    two = ssr.Space(2)
    np.testing.assert_array_equal(ssr.from_scipy(count, rows=two, cols=two) @ np.ones(2), [2, 1])
    with pytest.raises(ssr.errors.ArgumentError, match="ndarray is not a sparse matrix"):
        ssr.from_scipy(np.eye(2), rows=two, cols=two)
    with pytest.raises(ssr.errors.DtypeError, match="complex128"):
        ssr.from_scipy(count * 1j, rows=two, cols=two)
    with pytest.raises(ssr.errors.ShapeError, match="has 2 rows"):
        ssr.from_scipy(count, rows=ssr.Space(3), cols=two)
    opaque = ssr.from_scipy(count, rows=line, cols=line)
    with pytest.raises(ssr.errors.ShapeError, match="length 3 along axis 0 where 2 is needed"):
        opaque @ np.ones(3)
    with pytest.raises(ssr.errors.ShapeError, match="its spaces have"):
        ssr.from_scipy(count, rows=cells, cols=cells) @ np.ones((3, 1))
    with pytest.raises(ssr.errors.SpaceError, match="different spaces"):
        opaque + ssr.identity(cells)
    with pytest.raises(ssr.errors.ArgumentError, match="applied to list"):
        opaque @ [1.0, 2.0]
    with pytest.raises(ssr.errors.UnsupportedError, match="on the right"):
        np.ones(2) @ opaque
    with pytest.raises(ssr.errors.UnsupportedError, match="numbers only"):
        np.ones(2) * opaque
    with pytest.raises(ssr.errors.SpaceError, match="the columns are"):

        @ssr.program(y=cells, x=cells)
        def p(y: Any, x: Any) -> None:
            y[:] = opaque @ x
