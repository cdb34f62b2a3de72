"""Assembly to CSR from traced entries: the structure and the bits of the definition."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

from ...conftest import same_entries

n, ny, nx = ssr.sizes("n ny nx")
line, plane = ssr.Space(n), ssr.Space(ny, nx)
rng = np.random.default_rng(3)


def check(matrix: Any, relative: float = 0.0) -> Any:
    """Compare the fast assembly with the definition; return it."""
    made = matrix.to_scipy(definition=False)
    same_entries(made, matrix.to_scipy(definition=True), relative)
    return made


def test_yielded_zeros_are_stored() -> None:
    @ssr.matrix(rows=line, cols=line)
    def zeros(i: Any) -> Any:
        yield i, 0.0
        if i > 0:
            yield i - 1, -0.0

    assert check(zeros.bind(n=4)).nnz == 7


def test_entries_at_one_column_are_summed_as_they_are_yielded() -> None:
    @ssr.matrix(rows=line, cols=line, c=line)
    def around(i: Any, *, c: Any) -> Any:
        yield 0, 0.1 * c[i]
        yield i, c[i]
        yield 0, 1e16
        yield (i * 0) + n - 1, -1e16

    for count in 1, 2, 5:
        check(around.bind(c=rng.uniform(-1, 1, count)))


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_periodic_columns_may_meet(size: int) -> None:
    wide = line.grow(2)
    stencil = ssr.stencil(line, wide, {-2: 0.1, -1: 0.7, 0: 3.0, 1: -0.3, 2: 1e-9})
    check((stencil @ bc.fill(wide, bc.periodic())).linear.bind(n=size))


@pytest.mark.parametrize(("kind", "relative"), [(np.float32, 1e-6), (np.float64, 0.0)])
def test_data_indices_and_numbers(kind: Any, relative: float) -> None:
    @ssr.matrix(rows=plane, cols=plane, k=plane, a=ssr.scalar)
    def mixed(j: Any, i: Any, *, k: Any, a: Any) -> Any:
        yield (j, i), (2 * j + 1) * k[j, i] / 3 + 0.1
        if i > 0:
            yield (j, i - 1), ssr.maximum((i + 1) / 7, a * k[j, i])

    k = rng.uniform(-1, 1, (5, 4)).astype(kind)
    check(mixed.bind(k=k, a=0.3), relative)
    check(mixed.bind(k=k, a=np.float32(0.3)), relative)


def test_remainders_floors_and_diagonals() -> None:
    @ssr.matrix(rows=ssr.Space(ny, ny), cols=ssr.Space(ny))
    def odd(j: Any, i: Any) -> Any:
        if (i + j) % 3 == 1:
            yield i // 2, 1.5
        elif i == j:
            yield (i + 1) // 2, -2.5

    for count in 1, 2, 8:
        check(odd.bind(ny=count))


def heat() -> ssr.Matrix:
    @ssr.matrix(rows=plane, cols=plane, k=plane)
    def heat(j: Any, i: Any, *, k: Any) -> Any:
        centre: Any = 1.0
        for there in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
            if there in plane:
                weight = 2 / (1 / k[j, i] + 1 / k[there])
                centre = centre + weight
                yield there, -weight
        yield (j, i), centre

    return heat.bind(k=rng.uniform(1, 2, (6, 5)))


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "A.T": lambda A: A.T,
    "A @ A": lambda A: A @ A,
    "A.tril(-1)": lambda A: A.tril(-1),
    "A.triu()": lambda A: A.triu(),
    "A.diagonal()": lambda A: A.diagonal(),
    "2 A - A.T": lambda A: 2 * A - A.T,
    "A[inner, :]": lambda A: A[plane.grow(-1), :],
    "A ** 3": lambda A: A**3,
    "kron": lambda A: ssr.kron(ssr.identity(ssr.Space(2)), A),
    "A.rank_local()": lambda A: A.rank_local(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations(operation: str) -> None:
    check(OPERATIONS[operation](heat()))


def test_blocks() -> None:
    vectors = plane.vector(2)

    @ssr.matrix(rows=vectors, cols=vectors, u=vectors)
    def coupled(j: Any, i: Any, *, u: Any) -> Any:
        yield (j, i), np.outer(u[:, j, i], u[:, j, i]) + np.eye(2)
        if i > 0:
            yield (j, i - 1), [[0, u[1, j, i - 1]], [1.0, 0.5]]

    check(coupled.bind(u=rng.uniform(-1, 1, (2, 4, 3))))
    check(ssr.block([[heat(), None], [ssr.identity(plane), heat().T]]))


def test_rows_of_a_recurrence_come_from_its_definition() -> None:
    @ssr.recurrence(rows=plane, cols=plane)
    def sums(j: Any, i: Any, done: Any) -> Any:
        before = done[(j, i - 1), (j, i - 1)] if i > 0 else 0.0
        yield (j, i), 1.0 + 0.5 * before

    check((sums + ssr.identity(plane)).bind(ny=2, nx=3).T)


def test_choices_between_numbers() -> None:
    @ssr.matrix(rows=line, cols=line, k=line)
    def chosen(i: Any, *, k: Any) -> Any:
        yield i, ssr.where((k[i] < 0.0) & (k[i] > -0.5), (i + 1) / 7, 0.1 * k[i])

    check(chosen.bind(k=rng.uniform(-1, 1, 20)))


def test_memory_is_that_of_the_result() -> None:
    weights = {(0, 0): 4.0, (-1, 0): -1.0, (0, -1): -1.0, (0, 1): -1.0, (1, 0): -1.0}
    A = ssr.stencil(plane, plane, weights, outside="zero").bind(ny=600, nx=600)
    tracemalloc.start()
    made = A.to_scipy(definition=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bytes_of = made.data.nbytes + made.indices.nbytes + 3 * 8 * made.shape[0]
    assert made.nnz == 5 * 600**2 - 4 * 600
    assert peak < bytes_of + 30e6
    x = rng.uniform(-1, 1, (600, 600))
    np.testing.assert_allclose(made @ x.ravel(), (A @ x).ravel(), rtol=0, atol=1e-14)
