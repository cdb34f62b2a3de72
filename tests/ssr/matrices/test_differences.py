"""Differences and averages are exact for polynomials, as far as their order says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.errors import ArgumentError, OutOfSpaceError, SpaceError

from .. import strategies as some

more = ssr.size("more")
line = ssr.Space(more + 12)
PLACES = {"cells": line, "faces": line.faces(0)}


def positions(space: ssr.Space, length: int) -> Any:
    """Return where the points of a line are: cell i at i + 1/2, face i at i."""
    (low, high), *_ = space.box({"more": length - 12})
    return np.arange(low, high) + (0.0 if space.data.staggered[0] else 0.5)


@some.examples(60)
@given(
    st.sampled_from(sorted(PLACES)),
    st.sampled_from(sorted(PLACES)),
    st.integers(0, 4),
    st.sampled_from([2, 4, 6]),
    st.booleans(),
    st.sampled_from([1.0, 0.25]),
)
def test_polynomials(
    rows: str, cols: str, derivative: int, order: int, one_sided: bool, spacing: float
) -> None:
    """Derivatives of powers below derivative + order are exact."""
    of, values = PLACES[rows], PLACES[cols] if one_sided else PLACES[cols].grow(8)
    outside = "one-sided" if one_sided else "error"
    if derivative:
        made = ssr.difference(
            of, values, 0, derivative=derivative, order=order, spacing=spacing, outside=outside
        )
    else:
        made = ssr.average(of, values, 0, order=order, outside=outside)
        spacing = 1.0
    matrix = made.bind(more=5).to_scipy()
    x, at = (spacing * (positions(space, 17) - 8.0) for space in (values, of))
    for power in range(derivative + order):
        known = np.poly1d([1.0] + [0.0] * power).deriv(derivative)(at) if derivative else at**power
        scale = max(1.0, np.abs(x**power).max() / spacing**derivative)
        assert np.allclose(matrix @ x**power, known, rtol=0, atol=1e-11 * scale), power


def test_weights_of_tables() -> None:
    """Fornberg (1988), tables 1 to 4."""

    def row(matrix: ssr.Matrix, place: int) -> list[float]:
        entries = matrix.bind(more=1).to_scipy().toarray()[place]
        return [float(entry) for entry in entries[entries != 0.0]]

    wide = line.grow(4)
    first = ssr.difference(line, wide, 0, order=4)
    assert row(first, 5) == [1 / 12, -2 / 3, 2 / 3, -1 / 12]
    second = ssr.difference(line, wide, 0, derivative=2, order=4)
    assert row(second, 5) == [-1 / 12, 4 / 3, -5 / 2, 4 / 3, -1 / 12]
    between = ssr.difference(line.faces(0), wide, 0, order=4)
    assert row(between, 5) == [1 / 24, -9 / 8, 9 / 8, -1 / 24]
    side = ssr.difference(line, line, 0, order=4, outside="one-sided")
    assert row(side, 0) == [-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4]
    assert row(side, 1) == [-1 / 4, -5 / 6, 3 / 2, -1 / 2, 1 / 12]
    assert row(side, 12) == [1 / 4, -4 / 3, 3.0, -4.0, 25 / 12]


def test_nodes_and_other_axes() -> None:
    ny, nx = ssr.sizes("ny nx")
    cells = ssr.Space(ny, nx)
    to_nodes = ssr.average(cells.nodes(), cells.grow(1))
    found = to_nodes.bind(ny=2, nx=3).to_scipy().toarray()
    assert (found.sum(axis=1) == 1.0).all()
    assert ((found == 0.25).sum(axis=1) == 4).all()
    u = np.random.default_rng(0).random((4, 5))
    across = ssr.difference(cells, cells.faces(1), -1)
    assert np.array_equal(across @ u, np.diff(u, axis=1))
    dropped = ssr.axis_stencil(cells, cells, 0, {-1: 2.0}, outside="zero")
    assert np.array_equal((dropped @ u)[1:], 2.0 * u[:-1])
    assert not (dropped @ u)[0].any()


def test_spacing_as_data() -> None:
    cells = ssr.Space(ssr.size("n"))
    faces = cells.faces(0)
    u, h = np.random.default_rng(0).random(6), np.linspace(0.5, 1.0, 5)
    wanted = np.diff(u) / 0.25
    assert np.allclose(ssr.difference(cells, faces, 0, spacing=0.25) @ u, wanted)
    given = ssr.difference(cells, faces, 0, spacing=ssr.scalar)
    assert np.allclose(given.bind(spacing=0.25) @ u, wanted)
    local = ssr.difference(cells, faces, 0, spacing=cells)
    assert np.allclose(local.bind(spacing=h) @ u, np.diff(u) / h)
    assert np.allclose(ssr.difference(cells, faces, 0, spacing=h) @ u, np.diff(u) / h)
    second = ssr.difference(cells, cells.grow(1), 0, derivative=2, spacing=ssr.scalar)
    made = second.bind(spacing=0.5) @ np.arange(7.0) ** 2
    assert np.allclose(made, 8.0)


def test_mistakes() -> None:
    n = ssr.size("n")
    cells = ssr.Space(n, n)
    faces = cells.faces(0)
    calls: list[tuple[type[Exception], str, Any]] = [
        (SpaceError, "along axis 0, too", lambda: ssr.axis_stencil(faces, cells, 1, {0: 1.0})),
        (SpaceError, "axes", lambda: ssr.average(cells, ssr.Space(n))),
        (SpaceError, "field on the rows", lambda: ssr.difference(faces, cells, 0, spacing=cells)),
        (ArgumentError, "no axis 2", lambda: ssr.difference(faces, cells, 2)),
        (ArgumentError, "even", lambda: ssr.difference(faces, cells, 0, order=3)),
        (ArgumentError, "positive", lambda: ssr.difference(faces, cells, 0, derivative=0)),
        (ArgumentError, "spacing", lambda: ssr.difference(faces, cells, 0, spacing=-1.0)),
        (ArgumentError, "spacing", lambda: ssr.difference(faces, cells, 0, spacing="dx")),
        (ArgumentError, "outside", lambda: ssr.axis_stencil(faces, cells, 0, {}, outside="wrap")),
        (ArgumentError, "integers", lambda: ssr.axis_stencil(faces, cells, 0, {0.5: 1.0})),
        (ArgumentError, "Space", lambda: ssr.average(3, cells)),
        (OutOfSpaceError, "outside", lambda: ssr.difference(faces, cells, 0)),
        (OutOfSpaceError, "3", lambda: ssr.difference(cells, cells, 0, outside="one-sided")),
    ]
    for error, text, call in calls:
        with pytest.raises(error, match=text):
            call()
