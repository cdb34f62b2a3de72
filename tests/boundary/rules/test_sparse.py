"""Ghosts as rows of sparse matrices."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr
from boundary.closure import closure
from boundary.closure.definition import Definition
from boundary.grid.boxes import Comparisons
from ssr.errors import ArgumentError, ShapeError

from ...ssr import plain


def filled(fill: Any, u: Any, shape: Any) -> Any:
    out = np.full(shape, np.nan)
    plain.run(fill._run, out, u)
    return out


@pytest.mark.parametrize("blocks", [1, 2])
def test_any_matrix(blocks: int) -> None:
    rng = np.random.default_rng(0)
    shape, outer = (blocks, 2, 3), (blocks, 5, 5)
    matrix = rng.uniform(-1, 1, (blocks * 25, blocks * 6)) * (rng.random((blocks * 25, 1)) < 0.7)
    offset = rng.uniform(-1, 1, blocks * 25)
    wide = bc.Grid(blocks * [shape[1:]]).cells.grow((1, 2), 1)
    fill = bc.fill(wide, bc.from_matrix(scipy.sparse.coo_array(matrix), offset))
    u = rng.uniform(-1, 1, shape)
    wanted = (matrix @ u.ravel() + offset).reshape(outer)
    wanted[:, 1:3, 1:4] = u
    np.testing.assert_allclose(filled(fill, u, outer), wanted, atol=1e-14)
    dense = matrix.copy()
    inner = np.zeros(outer, bool)
    inner[:, 1:3, 1:4] = True
    dense[inner.ravel()] = np.eye(u.size)
    np.testing.assert_array_equal(fill.to_scipy().toarray(), dense)
    np.testing.assert_array_equal(fill.linear.to_scipy().toarray(), dense)


def test_beside_other_rules() -> None:
    """Corners that another rule is about too are left to it; what reads such ghosts is composed."""
    rng = np.random.default_rng(1)
    matrix = rng.uniform(-1, 1, (20, 6))
    space = ssr.Space(2, 3)
    fill = bc.fill(space.grow(1), bc.from_matrix(matrix, axis=0), bc.periodic(1))
    u = rng.uniform(-1, 1, (2, 3))
    made = filled(fill, u, (4, 5))
    rows = (matrix @ u.ravel()).reshape(4, 5)
    np.testing.assert_allclose(made[[0, 3], 1:4], rows[[0, 3], 1:4], atol=1e-15)
    np.testing.assert_array_equal(made[:, 0], made[:, 3])
    np.testing.assert_array_equal(made[:, 4], made[:, 1])


def test_vectors_have_a_linear_part() -> None:
    matrix = np.random.default_rng(2).uniform(-1, 1, (5, 3))
    fill = bc.fill(ssr.Space(3).grow(1).vector(2), bc.from_matrix(matrix))
    np.testing.assert_array_equal(fill.linear.to_scipy().toarray(), fill.to_scipy().toarray())


def test_time_grows_with_the_ghosts_not_with_their_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted are the rows that are looked at; comparing each with each would square them."""
    calls = [0]

    def counted(function: Any) -> Any:
        def call(*args: Any) -> Any:
            calls[0] += 1
            return function(*args)

        return call

    monkeypatch.setattr(closure._Closing, "_part", counted(closure._Closing._part))
    monkeypatch.setattr(Comparisons, "common", counted(Comparisons.common))
    monkeypatch.setattr(Definition, "_row", counted(Definition._row))
    counts = []
    for n in (20, 40):
        matrix = scipy.sparse.random_array((5 * (n + 2), 3 * n), density=0.1, random_state=0)
        fill = bc.fill(ssr.Space(3, n).grow(1), bc.from_matrix(matrix))
        calls[0] = 0
        fill.data.ruled.closed({})
        fill.to_scipy()
        counts.append(calls[0])
    assert 20 < counts[0] < counts[1] < 2.1 * counts[0]


def test_mistakes() -> None:
    space = ssr.Space(3)
    with pytest.raises(ShapeError, match=r"the matrix has shape \(4, 3\)"):
        bc.fill(space.grow(1), bc.from_matrix(np.ones((4, 3))))
    with pytest.raises(ShapeError, match=r"the offset has shape \(4,\)"):
        bc.from_matrix(np.ones((5, 3)), np.ones(4))
    with pytest.raises(ArgumentError, match="the matrix has a number that is NaN"):
        bc.from_matrix(np.full((5, 3), np.nan))
    with pytest.raises(ArgumentError, match="not a matrix of numbers"):
        bc.from_matrix("abc")
    with pytest.raises(ArgumentError, match="symbolic extent n"):
        bc.fill(ssr.Space(ssr.size("n")).grow(1), bc.from_matrix(np.ones((5, 3))))


@pytest.mark.parametrize("far", [-3, -2, -1, 1, 2])
@pytest.mark.parametrize("fold", [True, False])
def test_ghosts_without_entries_have_offsets_of_their_own(far: int, fold: bool) -> None:
    """Folded into a program, all ghosts beyond a side had the offset of the first."""
    (cells,) = bc.Grid([(1,)]).kinds
    wide = cells.grow((3, 2))
    numbers = np.arange(1.0, 7.0)
    fill = bc.fill((wide,), bc.from_matrix(scipy.sparse.csr_array((6, 1)), numbers), owned=(cells,))
    shift = ssr.stencil(cells, wide, {(0, far): 1.0}, outside="error")

    @ssr.program(y=cells, x=cells)
    def program(y: Any, x: Any) -> None:
        (ghosts,) = fill @ (x,)
        y[:] = shift @ ghosts

    y = np.zeros((1, 1))
    program.with_options(ssr.Options(fold=fold)).run_plain(y, np.ones((1, 1)))
    assert y == numbers[3 + far]
