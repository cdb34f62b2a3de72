"""Axes that are given as pairs (low, high), half-open like those of `range`."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

from .. import plain

ny, nx = ssr.sizes("ny nx")
inner = ssr.Space((1, ny), (-2, nx))
SHAPE = 4, 7  # for ny = nx = 5
SIZES = {"ny": 5, "nx": 5}


@ssr.matrix(rows=inner, cols=inner, k=inner)
def A(j: Any, i: Any, *, k: Any) -> Any:
    yield (j, i), 4.0 + k[j, i]
    for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
        if c in inner:
            yield c, -k[c]


def data(*shape: int) -> Any:
    return np.random.default_rng(0).random(shape)


def test_pairs_are_what_grow_makes() -> None:
    assert inner == ssr.Space(ny, nx).grow((-1, 0), (2, 0))
    assert repr(inner) == "Space(1:ny, -2:nx)"
    assert ssr.Space((0, ny), nx) == ssr.Space(ny, nx)
    assert ssr.Space((2, 5), [3, 4], (0, 2)).extent({}) == (3, 1, 2)
    assert inner.shape == (ny - 1, nx + 2)
    assert inner.lower == (1, -2)
    assert list(ssr.Space((2, 4), (-1, 1)).points({})) == [(2, -1), (2, 0), (3, -1), (3, 0)]
    least = ssr.size("m", at_least=3)
    assert ssr.Space((1, least), nx) == ssr.Space(least, nx).grow((-1, 0), 0)


def test_matrix() -> None:
    k, x = data(2, *SHAPE)
    bound = A.bind(k=k)
    expected = bound.to_scipy()
    assert expected.shape == (28, 28)
    np.testing.assert_allclose((bound @ x).ravel(), expected @ x.ravel(), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        (bound.T @ x).ravel(), expected.T @ x.ravel(), rtol=1e-12, atol=1e-14
    )
    lower = bound.tril()
    solved = lower.solve(x)
    np.testing.assert_allclose(lower.to_scipy() @ solved.ravel(), x.ravel(), rtol=1e-12, atol=1e-14)
    part = A[ssr.Space((2, ny), (0, nx)), :].bind(k=k)
    np.testing.assert_allclose(part.to_scipy().toarray(), expected.toarray()[rows_of_part()])


def rows_of_part() -> Any:
    """Return the numbers of the rows with j from 2 and i from 0 on."""
    return np.arange(28).reshape(SHAPE)[1:, 2:].ravel()


def test_program() -> None:
    part = ssr.Space((2, ny), (0, nx - 1))

    @ssr.program(x=inner, b=inner, k=inner)
    def sweep(x: Any, b: Any, k: Any) -> None:
        M = A.bind(k=k)
        x[:] = M.tril().solve(b - M.triu(1) @ x)
        x[part] = x[part] + b[part]

    k, x, b = data(3, *SHAPE)
    y = x.copy()
    plain.run(sweep, x, b, k)
    sweep(y, b, k)
    assert plain.same(x, y)


def test_fill() -> None:
    wide = inner.grow(1)
    fill = bc.fill(wide, bc.periodic(axis=1), bc.dirichlet(1.0, axis=0), owned=inner)
    mean = ssr.stencil(inner, wide, {(-1, 0): 0.25, (1, 0): 0.25, (0, -1): 0.25, (0, 1): 0.25})
    x = data(*SHAPE)
    padded = np.pad(np.concatenate([2 - x[:1], x, 2 - x[-1:]]), ((0, 0), (1, 1)), "wrap")
    np.testing.assert_allclose((fill @ x)[1:-1], padded[1:-1], rtol=1e-12, atol=1e-14)
    near = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    np.testing.assert_allclose(mean @ fill @ x, near / 4, rtol=1e-12, atol=1e-14)
    assert fill.bind(**SIZES).to_scipy().shape == (54, 28)


def test_ranks() -> None:
    on = bc.distribute(inner, bc.simulated_ranks(3), **SIZES)
    k, x = data(2, *SHAPE)
    fields = on.scatter(inner, k), on.scatter(inner, x), on.zeros(inner)

    @ssr.program(y=inner, x=inner, k=inner)
    def apply(y: Any, x: Any, k: Any) -> None:
        y[:] = A.bind(k=k) @ x

    apply(fields[2], fields[1], fields[0])
    assert (fields[2].gather() == A.bind(k=k) @ x).all()


@pytest.mark.parametrize(
    ("extents", "match"),
    [
        (((4, 5),), "given one by one"),
        (([4, 5],), "given one by one"),
        (((1, 2, 3), 4), r"An axis is given as \(1, 2, 3\)"),
        ((("nx", 5), 4), "An axis is given as"),
        (((0.5, 5), 4), "An axis is given as"),
        (((5, 5), 4), "no points along axis 0: its extent is 0"),
        (((5, 2), 4), "no points along axis 0: its extent is -3"),
        (((1, 2.5), 4), "2.5"),
    ],
)
def test_what_is_no_extent(extents: Any, match: str) -> None:
    with pytest.raises(ssr.Error, match=match):
        ssr.Space(*extents)
