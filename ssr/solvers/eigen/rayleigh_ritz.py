"""The iterations of LOBPCG: Rayleigh-Ritz projection, residuals and search directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError, NonFiniteError
from ...points.numbers import Array
from .. import vectors
from ..stopping import NOT_FINITE, STAGNATED
from ..vectors import Vector
from .columns import Columns
from .dense_symmetric import eigh, orthonormal, product
from .pencil import Block, Pencil

PATIENCE = 200
"""Limit of the iterations without a decrease of any residual."""

REFRESH = 20
"""Interval in iterations at which products with A and B are recomputed instead of combined."""

ROUNDED = 16.0
"""Residuals count as zero below this many rounding errors of a product with A."""


class Search:
    """One solution of an eigenvalue problem.

    Parameters
    ----------
    pencil
        The problem.
    given
        The initial guess.
    known
        Vectors to which eigenvectors are orthogonal.
    largest
        Whether the largest eigenvalues are wanted.

    Attributes
    ----------
    values
        The eigenvalues.
    eigenvalue_history, residual_history
        Eigenvalues and norms of residuals, one array for each iteration.
    """

    def __init__(
        self, pencil: Pencil, given: Sequence[Any], known: Sequence[Any], *, largest: bool
    ) -> None:
        self.pencil = pencil
        self.count = len(given)
        self.largest = largest
        self.groups = pencil.grouped(self.count)
        self.epsilon = float(np.finfo(given[0].dtype).eps)
        self.biggest = 0.0
        self.eigenvalue_history: list[Array] = []
        self.residual_history: list[Array] = []
        self.fresh = False
        self.implied: tuple[Array, Array] | None = None
        pencil.begin(given[0], self.groups)
        self.known: Block | None = None
        if known:
            self.known = self._basis("Y", known)
        self.x = self._basis("X", given)
        self.w, self.p = (pencil.block(self.groups.empty(self.x.v)) for _ in range(2))
        self.spare = [self.groups.empty(self.x.v) for _ in range(2)]
        self.values = np.zeros(self.count)

    @property
    def eigenvectors(self) -> Columns:
        """The vectors of the block."""
        return self.x.v[: self.count]

    def run(self, rtol: float, atol: float, maxiter: int) -> int:
        """Iterate; return 0 or a code."""
        count, best, found = 0, math.inf, 0
        self._refresh()
        while True:
            norms, limits = self._residuals(count, rtol, atol)
            active = np.flatnonzero(norms > limits).tolist()
            if not np.isfinite([*norms, *self.values]).all():
                return NOT_FINITE
            if norms.max() < best:
                best, found = float(norms.max()), count
            ended = not active or count >= maxiter or count - found > PATIENCE
            if ended and not self.fresh:
                self._refresh()
            elif not active:
                return 0
            elif count >= maxiter:
                return max(count, 1)
            elif ended or not self._step(active, first=count == 0):
                return STAGNATED
            else:
                count += 1
                if count % REFRESH == 0:
                    self._refresh()

    def _residuals(self, count: int, rtol: float, atol: float) -> tuple[Array, Array]:
        """Compute the residuals of an iteration; return their norms and the tolerances.

        The residuals are stored in the fields of the products of the next directions with A.
        """
        sizes = [
            self.pencil.residual(self.w.av[n], self.x, n, value)
            for n, value in enumerate(self.values.tolist())
        ]
        norms, images = np.array(sizes).T
        del self.residual_history[count:], self.eigenvalue_history[count:]
        self.residual_history.append(norms)
        self.eigenvalue_history.append(self.values)
        relative = max(
            rtol * float(np.abs(self.values).max()), ROUNDED * self.epsilon * self.biggest
        )
        return norms, np.maximum(relative * images, atol)

    def _step(self, active: list[int], *, first: bool) -> bool:
        """Find better vectors; return whether there are other directions than the block."""
        w = self.w
        for n in range(self.count):
            if n in active:
                self.pencil.precondition(w.v[n], w.av[n])
                self._scale(w.v[n])
            else:
                w.clear(n)
                self.p.clear(n)
                for matrix in self.implied or ():
                    matrix[n], matrix[:, n] = 0.0, 0.0
        self._project(w.v, self.x)
        self.pencil.multiply(w, active)
        if first:
            self._check_symmetric()
        return self._improve([self.x, w, self.p], math.sqrt(self.epsilon))

    def _refresh(self) -> None:
        """Compute products with A and B again, and the best vectors in the space of the block."""
        for block in self.x, self.p:
            self.pencil.multiply(block, range(self.count))
        self.implied = None
        self._improve([self.x], 0.0)
        self.fresh = True

    def _improve(self, blocks: Sequence[Block], least: float) -> bool:
        """Replace the block, and the last directions, by the best in the space of some blocks."""
        a, b = self._products(blocks)
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            self.values = np.full(self.count, math.nan)
            return True
        basis, kept = orthonormal(b, least)
        inside = product(basis.T, product(a, basis))
        values, found = eigh(inside)
        self.biggest = max(self.biggest, float(np.abs(values).max()))
        if self.largest:
            values, found = values[::-1], found[:, ::-1]
        best = found[:, : self.count]
        self.values, self.fresh = values[: self.count].copy(), False
        self.implied = None
        if len(blocks) == 1:
            self._replace(blocks, product(basis, best), None)
            return True
        old = sum(number < len(self.x.v) for number in kept)
        turned = _directions(best, old)
        self._replace(blocks, product(basis, best), product(basis, turned))
        self.implied = product(turned.T, product(inside, turned)), product(turned.T, turned)
        return len(kept) > old

    def _products(self, blocks: Sequence[Block]) -> tuple[Array, Array]:
        """Return the inner products of all columns, with A and with B, as two matrices.

        After an iteration some are known: the block is B-orthonormal, its products with A are the
        eigenvalues, and both are zero between the block and the last directions.
        """
        size = len(self.x.v)
        a, b = np.zeros((2, len(blocks) * size, len(blocks) * size))
        for i, left in enumerate(blocks):
            for j, right in enumerate(blocks[i:], i):
                if self.implied is None or self.w in (left, right):
                    here = slice(i * size, (i + 1) * size), slice(j * size, (j + 1) * size)
                    a[here] = self.groups.inner(left.v, right.av)
                    b[here] = self.groups.inner(left.v, right.bv)
        if self.implied is not None:
            first, last = range(self.count), range(2 * size, 2 * size + self.count)
            a[first, first], b[first, first] = self.values, 1.0
            a[np.ix_(last, last)], b[np.ix_(last, last)] = self.implied
        return _symmetric(a, size), _symmetric(b, size)

    def _replace(self, blocks: Sequence[Block], best: Array, turned: Array | None) -> None:
        """Make the block, and unless None the last directions, of columns of some blocks."""
        weights = np.zeros((2, len(best), len(self.x.v)))
        weights[0, :, : self.count] = best
        if turned is not None:
            weights[1, :, : self.count] = turned
        replaced = [self.x] if turned is None else [self.x, self.p]
        for number in range(len(self.x.parts)):
            given = [block.parts[number] for block in blocks]
            for made, weight in zip(self.spare, weights, strict=True):
                terms = zip(given, np.split(weight, len(blocks)), strict=True)
                self.groups.combine(made, *terms)
            for block, made in zip(replaced, self.spare, strict=False):
                for column, new in zip(block.parts[number], made, strict=True):
                    vectors.assign(column, new)

    def _project(self, columns: Columns, *blocks: Block) -> None:
        """Make columns B-orthogonal to the known vectors and to some blocks."""
        for block in (*([self.known] if self.known else []), *blocks):
            inner = self.groups.inner(block.bv, columns)
            self.groups.combine(columns, (block.v, -inner), add=True)

    def _scale(self, column: Vector) -> bool:
        """Multiply a vector by a power of two so that squares are in range, if it is finite."""
        largest = float(self.pencil.largest(column))
        if not math.isfinite(largest):
            return False
        first = -math.frexp(largest)[1] // 2
        for exponent in first, -math.frexp(largest)[1] - first:
            self.pencil.scale(column, math.ldexp(1.0, exponent))
        return True

    # -- user vectors ----------------------------------------------------------------------------

    def _basis(self, name: str, given: Sequence[Any]) -> Block:
        """Return an orthonormal basis of some vectors, orthogonal to the known ones."""
        count = len(given)
        columns = self.groups.filled([vectors.copied(vector) for vector in given])
        for column in columns[:count]:
            if not self._scale(column):
                raise NonFiniteError(f"{name} is not finite: it holds an infinity or NaN.")
        least = 100.0 * self.epsilon * len(columns)
        before = np.diagonal(self.groups.inner(columns, columns))
        for _ in range(2):
            self._project(columns)
        after = np.diagonal(self.groups.inner(columns, columns))
        block = self.pencil.block(columns)
        self.pencil.multiply(block, range(count))
        products = _symmetric(self.groups.inner(block.v, block.bv), len(columns))
        if (np.diagonal(products) < 0.0).any():
            raise ArgumentError("B is not positive definite: x·B x is negative for some x.")
        basis, kept = orthonormal(products, least)
        if len(kept) < count or (after < least * before).any():
            others = " or on those of Y" if self.known else ""
            raise ArgumentError(
                f"The vectors of {name} depend on each other{others}.",
                hint="Random vectors are independent: rng.standard_normal((k, *shape)).",
            )
        weights = np.zeros((len(columns), len(columns)))
        weights[:, :count] = basis
        made = self.pencil.block(self.groups.empty(columns))
        for target, part in zip(made.parts, block.parts, strict=True):
            self.groups.combine(target, (part, weights))
        return made

    def _check_symmetric(self) -> None:
        """Raise an `ArgumentError` if A or B is not symmetric, by some products."""
        x, w = self.x, self.w
        for name, left, right in ("A", x.av, w.av), ("B", x.bv, w.bv):
            if left is x.v:
                continue
            one, other = self.groups.inner(x.v, right), self.groups.inner(w.v, left).T
            sizes = [np.sqrt(np.diagonal(self.groups.inner(u, u))) for u in (x.v, right, left, w.v)]
            bound = np.multiply.outer(*sizes[:2]) + np.multiply.outer(*sizes[2:])
            if (np.abs(one - other) > math.sqrt(self.epsilon) * bound).any():
                raise ArgumentError(
                    f"{name} is not symmetric: x·{name} y and y·{name} x differ.",
                    note="LOBPCG finds eigenvalues of symmetric matrices.",
                    hint=f"For others, scipy.sparse.linalg.eigs takes {name}.aslinearoperator().",
                )


def _symmetric(matrix: Array, size: int) -> Array:
    """Return a symmetric matrix by its blocks on and above the diagonal."""
    whole = matrix + matrix.T
    for n in range(0, len(matrix), size):
        whole[n : n + size, n : n + size] *= 0.5
    return whole


def _directions(best: Array, inside: int) -> Array:
    """Return the search directions of the best vectors, orthogonal to those vectors."""
    found = best.copy()
    found[:inside] = 0.0
    for _ in range(2):
        found -= product(best, product(best.T, found))
    sizes = np.sqrt(np.add.accumulate(found * found, axis=0)[-1])
    small = sizes <= 1e-14
    return np.where(small, 0.0, found / np.where(small, 1.0, sizes))
