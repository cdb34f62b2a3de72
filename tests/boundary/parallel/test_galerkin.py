"""Galerkin products of matrices whose data are fields of several ranks: the bits of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr import errors
from ssr.solvers import GaussSeidel, Jacobi, Multigrid, gmres

from ...ssr import strategies as some
from . import ranks
from .ranks import Parts

line, plane, room = (ssr.Space(*ssr.sizes(names)) for names in ("nx", "ny nx", "nz ny nx"))


@pytest.fixture(autouse=True)
def plain_programs() -> Iterator[None]:
    """Let programs run as plain Python, with arrays too."""
    with ranks.plain_programs():
        yield


def coupled(space: ssr.Space, offsets: Sequence[tuple[int, ...]]) -> ssr.Matrix:
    """Return an unsymmetric matrix with a dominant diagonal, from coefficients and a vector."""

    @ssr.matrix(rows=space, cols=space, c=space, k=space.vector(2))
    def A(*row: Any, c: Any, k: Any) -> Any:
        yield row, 3.0 * len(offsets) + c[row]
        for number, offset in enumerate(offsets):
            column = tuple(here + step for here, step in zip(row, offset, strict=True))
            if column in space:
                yield column, -c[row] * k[(number % 2, *column)]

    return A


def diffusion(space: ssr.Space) -> ssr.Matrix:
    """Return a symmetric matrix, in which means of the coefficients at two points couple these."""

    @ssr.matrix(rows=space, cols=space, c=space)
    def fluxes(*row: Any, c: Any) -> Any:
        yield row, 4.0 * space.ndim
        for axis in range(space.ndim):
            for step in -1, 1:
                near = *row[:axis], row[axis] + step, *row[axis + 1 :]
                if near in space:
                    yield near, -0.5 * (c[row] + c[near])

    return fluxes


def sizes_of(space: ssr.Space, shape: Sequence[int]) -> dict[str, int]:
    return dict(zip(("nz", "ny", "nx")[-space.ndim :], shape, strict=True))


def numbers(seed: int, *shape: int) -> Any:
    return 1.0 + np.random.default_rng(seed).random(shape)


def data_of(A: ssr.Matrix, shape: Sequence[int], seed: int = 1) -> dict[str, Any]:
    """Return arrays for the data of a matrix."""
    found = {"c": numbers(seed, *shape)}
    if "k[0]" in A.definition.data:
        found["k"] = numbers(seed + 1, 2, *shape) - 1.0
    return found


def scattered(on: bc.Distribution, space: ssr.Space, data: dict[str, Any]) -> dict[str, Any]:
    return {
        name: on.scatter(space if array.ndim == space.ndim else space.vector(2), array)
        for name, array in data.items()
    }


def diagonals(grids: Multigrid) -> list[Any]:
    """Return the numbers of the matrices of all grids but the finest."""
    found = []
    for below in grids.matrices[1:]:
        (d,) = below.definition.distributed or (None,)
        found.append(np.stack([*below.definition.bound.values()]) if d is None else d.gather())
    return found


def check_same(found: Sequence[Any], wanted: Sequence[Any]) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert one.tobytes() == other.tobytes()


CASES: list[tuple[ssr.Matrix, tuple[int, ...], int]] = [
    (diffusion(line), (31,), 4),
    (coupled(line, [(-2,), (1,), (2,)]), (23,), 3),
    (diffusion(plane), (15, 7), 3),
    (coupled(plane, [(0, 1), (-1, 0), (1, 1), (-1, 1)]), (7, 7), 3),
    (diffusion(room), (3, 3, 7), 2),
    (coupled(room, [(0, 0, 1), (-1, 0, 0), (1, 1, 0), (0, -1, 1)]), (7, 3, 3), 2),
]


@pytest.mark.parametrize(("A", "shape", "levels"), CASES)
def test_the_bits_of_arrays(A: ssr.Matrix, shape: tuple[int, ...], levels: int) -> None:
    """Entries of all grids, cycles, and both again when the coefficients have changed."""
    space = A.rows
    data, new = data_of(A, shape), data_of(A, shape, seed=4)
    r = numbers(3, *shape)
    wanted = []
    grids = Multigrid.galerkin(A.bind(**data), levels, smoother=Jacobi())
    for values in data, new:
        for name, array in values.items():
            data[name][...] = array
        grids.update()
        z = np.zeros(shape)
        grids(z, r)
        wanted.append([z, *(d.copy() for d in diagonals(grids))])
    data = data_of(A, shape)
    parted = [Parts(1), Parts(2), Parts(5), Parts(24, cut=shape)]
    for parts in parted if space.ndim < 3 else [Parts(9, cut=(3, 1, 3))]:
        on = parts.spread(space, sizes_of(space, shape))
        fields = scattered(on, space, data)
        grids = Multigrid.galerkin(A.bind(**fields), levels, smoother=Jacobi())
        z, right = on.zeros(space), on.scatter(space, r)
        grids(z, right)
        check_same([z.gather(), *diagonals(grids)], wanted[0])
        for name, array in new.items():
            fields[name].set(array)
        grids.update()
        grids(z, right)
        check_same([z.gather(), *diagonals(grids)], wanted[1])


@some.examples(8)
@given(st.data())
def test_boxes_of_any_sizes(data: Any) -> None:
    """Also more ranks than coarse points, ranks without any, and levels on fewer ranks."""
    A = data.draw(st.sampled_from([coupled(plane, [(1, 0), (-1, -2), (0, 1)]), diffusion(line)]))
    space = A.rows
    shape = tuple(data.draw(st.sampled_from([3, 7, 11])) for _ in range(space.ndim))
    levels = 2 if any(extent in (3, 11) for extent in shape) else 3
    sizes = sizes_of(space, shape)
    on = data.draw(ranks.parts(space, sizes, most=9)).spread(space, sizes)
    given, r = data_of(A, shape), numbers(3, *shape)
    z, wanted = on.zeros(space), np.zeros(shape)
    smoother = Jacobi(0.7)
    whole = Multigrid.galerkin(A.bind(**given), levels, smoother=smoother)
    whole(wanted, r)
    with patch("boundary.parallel.ranks.field.WORTH", data.draw(st.integers(1, 30))):
        fields = scattered(on, space, given)
        grids = Multigrid.galerkin(A.bind(**fields), levels, smoother=smoother)
        grids(z, on.scatter(space, r))
    check_same([z.gather(), *diagonals(grids)], [wanted, *diagonals(whole)])


def test_solvers_and_other_data() -> None:
    """Single precision, an array among the data, an array alone, and a solver."""
    A, shape = coupled(plane, [(0, 1), (0, -1), (1, 0), (-1, 0)]), (7, 7)
    data = {name: array.astype(np.float32) for name, array in data_of(A, shape).items()}
    b = numbers(3, *shape).astype(np.float32)

    def solved(on: Any, right: Any, **bound: Any) -> Any:
        M = A.bind(**bound)
        found = gmres(M, right, M=Multigrid.galerkin(M, 2, smoother=Jacobi()), rtol=1e-4)
        assert found.info == 0
        x = found.x if on is None else found.x.gather()
        return x.dtype, x.tobytes(), found.history

    wanted = solved(None, b, **data)
    for world in None, bc.simulated_ranks(4):
        on = bc.distribute(plane, world, ny=7, nx=7)
        right, fields = on.scatter(plane, b), scattered(on, plane, data)
        for bound in fields, {**fields, "k": data["k"]}, {**data, "k": fields["k"]}, data:
            assert solved(on, right, **bound) == wanted


def test_smoothing_within_boxes() -> None:
    A, shape = diffusion(plane), (15, 15)
    on = bc.distribute(plane, bc.simulated_ranks(4), ny=15, nx=15)
    fields = scattered(on, plane, data_of(A, shape))
    b, M = on.scatter(plane, numbers(3, *shape)), A.bind(**fields)
    x, info = gmres(
        M, b, M=Multigrid.galerkin(M, 3, smoother=GaussSeidel(rank_local=True)), rtol=1e-9
    )
    assert info == 0
    np.testing.assert_allclose((M @ x).gather(), b.gather(), 1e-7)


def levels_of(worth: int) -> tuple[list[int], Any]:
    """Return the numbers of ranks that work on coarser levels, and what a cycle makes."""
    A, shape = diffusion(plane), (31, 15)
    on = bc.distribute(plane, bc.simulated_ranks(6), ny=31, nx=15)
    M = A.bind(**scattered(on, plane, data_of(A, shape)))
    z, r = on.zeros(plane), on.scatter(plane, numbers(3, *shape))
    with patch("boundary.parallel.ranks.field.WORTH", worth):
        grids = Multigrid.galerkin(M, 3, smoother=Jacobi())
        grids(z, r)
    spreads = [d.distribution for below in grids.matrices for d in below.definition.distributed[:1]]
    return [len({*spread.partition.owners.tolist()}) for spread in spreads[1:]], z.gather()


def test_levels_go_onto_fewer_ranks() -> None:
    """With their data; the coarsest grid is solved everywhere, and stays."""
    used, wanted = levels_of(1)
    assert used == [6, 6]
    for worth, ranks_of in (30, [3, 3]), (10**6, [1, 1]):
        used, found = levels_of(worth)
        assert used == ranks_of
        check_same([found], [wanted])


def test_a_level_is_worked_on_where_its_data_are() -> None:
    """Matrices that a user gives may have their data on fewer ranks than those of finer grids."""
    n = ssr.size("n")
    fine, coarse = ssr.Space(2 * n + 1), ssr.Space(n)
    A, P = diffusion(fine), ssr.solvers.interpolation(fine, coarse)
    found = []
    for count in None, 5, 2, 1:
        on = bc.distribute(fine, None if count is None else bc.simulated_ranks(5), n=15)
        matrices = []
        for _ in range(3):
            c = on.zeros(fine)
            c.fill(lambda i: 1.0 + i % 3)
            matrices.append(A.bind(c=c))
            on = on.coarsen(coarse, fine).agglomerate(count)
        on = (
            matrices[0].definition.distributed[0].distribution
            if count
            else bc.distribute(fine, None, n=15)
        )
        grids = Multigrid(matrices, [P, P], smoother=Jacobi())
        z, r = on.zeros(fine), on.zeros(fine)
        r.fill(lambda i: 1.0 + i)
        grids(z, r)
        found.append(z.gather().tobytes())
    assert len(set(found)) == 1


def test_mistakes() -> None:
    A = diffusion(plane)
    on = bc.distribute(plane, bc.simulated_ranks(3), ny=7, nx=9)
    c, k = (
        on.zeros(plane),
        bc.distribute(plane, bc.simulated_ranks(3), cut=(3, 1), ny=7, nx=9).zeros(plane),
    )
    M = A.bind(c=c)
    with pytest.raises(errors.SpaceError, match="A grid of 7 x 9 points does not have 3 levels"):
        Multigrid.galerkin(M, 3)
    with pytest.raises(errors.UnsupportedError, match="depend on the boxes of a distribution"):
        Multigrid.galerkin(M.rank_local(), 2)
    with pytest.raises(errors.UnboundError, match=r"No value is bound to data k") as caught:
        Multigrid.galerkin(coupled(plane, []).bind(c=c), 2)
    assert "A.bind(k=...)" in str(caught.value.hint)
    with pytest.raises(errors.ArgumentError, match="distributed differently"):
        Multigrid.galerkin(coupled(plane, [(0, 1)]).bind(c=k, k=on.zeros(plane.vector(2))), 2)
    inner = ssr.Space((1, ssr.size("ny")), ssr.size("nx"))
    rows = bc.distribute(inner, bc.simulated_ranks(3), ny=8, nx=9)
    with pytest.raises(errors.SpaceError, match="do not begin with 0"):
        Multigrid.galerkin(diffusion(inner).bind(c=rows.zeros(inner)), 2)
    with pytest.raises(errors.ArgumentError, match="different first indices"):
        rows.coarsen(inner, plane)
    c.set(1.0)
    grids = Multigrid.galerkin(M, 2, smoother=Jacobi())
    with pytest.raises(errors.ArgumentError, match="data of several ranks"):
        grids(np.zeros((7, 9)), np.ones((7, 9)))
    with pytest.raises(errors.ArgumentError, match="distributed differently"):
        grids(k, k.copy())
    narrow = on.zeros(plane, np.float32)
    with pytest.raises(errors.DtypeError, match="dtypes float32, float64"):
        grids(narrow, narrow.copy())
