"""Fills against walks from point to point, in all ways to apply them."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import ssr
from boundary.ghosts import Ghosts, Member
from boundary.pieces import evaluate
from boundary.strip import Conflict

from ..ssr import plain
from .cases import PARAMETERS, Case, cases
from .walker import Array


def evaluated(case: Case, u: Array) -> Array:
    """Return a field with its ghosts by the pieces of a fill, which are not compiled."""
    fill, f = case.fill, case.blocks
    parts = fill.parts
    member = Member(parts.ruled, parts.components or 1, parts.wide, parts.owned)
    ghosts = Ghosts((member,))
    inner: Any = tuple(slice(a, a + n) for a, n in zip(f.low, f.shape, strict=True))
    lead = () if case.components is None else (case.components,)
    wide = np.full((*lead, *case.lead, *f.outer), np.nan, u.dtype)
    wide[(..., *inner)] = u
    # Index 0 is the first owned point: ghosts before it wrap to the end, as negative indices do.
    axes = tuple(range(wide.ndim - f.ndim, wide.ndim))
    rolled = np.roll(wide, [-w for w in f.low], axes)
    fields = [rolled] if case.components is None else list(rolled)
    evaluate(ghosts.parts(case.sizes), fields, [PARAMETERS[n] for n in ghosts.data])
    return np.roll(rolled, f.low, axes)


def compare(made: Array, wanted: Array, scale: float = 1.0) -> None:
    """Fail if values differ by more than rounding, or are NaN in different places."""
    np.testing.assert_array_equal(np.isnan(made), np.isnan(wanted))
    tolerance = 1e-4 if made.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=tolerance * scale)


def size(wanted: Array) -> float:
    return float(np.nanmax(np.abs(wanted), initial=1.0))


@settings(max_examples=60)
@given(cases())
def test_pieces_are_what_walks_lead_to(case: Case) -> None:
    u = case.random()
    wanted, unclear = case.expected(u)
    ruled = case.fill.parts.ruled
    # Two rules for one side, or values of functions and arrays, may agree by chance; and turned
    # links in three dimensions may lead to the same points in ways that boxes do not show.
    exact = all(len(r) == 1 for r in case.by_side.values()) and not ruled.data
    exact = exact and case.blocks.ndim < 3
    found = np.zeros_like(unclear)
    for piece in ruled.closed(case.sizes).pieces:
        if isinstance(piece.outcome, Conflict):
            box = [(a.evaluate(case.sizes), b.evaluate(case.sizes)) for a, b in piece.box]
            ranges = zip(box, case.blocks.low, strict=True)
            part = (piece.block, *(slice(a + w, b + w) for (a, b), w in ranges))
            found[part] = True
            assert unclear[part].any() or not exact
    assert (found >= unclear).all()
    every: Any = (None,) * (case.components is not None)
    wanted[np.broadcast_to(found.reshape(case.lead + case.blocks.outer)[every], wanted.shape)] = (
        np.nan
    )
    compare(evaluated(case, u), wanted, size(wanted))


@settings(max_examples=60)
@given(cases())
def test_the_definition_is_what_walks_lead_to(case: Case) -> None:
    u = case.random()
    _wanted, _unclear = case.expected(u)
    made = case.fill.parts.ruled.definition(case.sizes, case.components or 1)
    walk = case.matrix_walk()
    for block, index in case.blocks.ghosts():
        meant, value = walk.at(block, index), made.at(block, index)
        if not meant:
            assert value is None
        elif len(meant) == 1:
            compare(row(case, value), meant[0], size(meant[0]))


def row(case: Case, value: Any) -> Array:
    """Return the value of a ghost as a row of a matrix; the last column is the constant."""
    assert value is not None
    count, f = case.components or 1, case.blocks
    points = f.count * int(np.prod(f.shape))
    found = np.zeros((count, count * points + 1))
    found[:, -1] = value.constant + sum(PARAMETERS[n] * v for n, v in value.scalars.items())
    for (block, index), matrix in value.matrices.items():
        place = np.ravel_multi_index((block, *index), (f.count, *f.shape))
        for d in range(count):
            found[:, d * points + place] += matrix[:, d]
    return found


def numbers(case: Case, fill: Any) -> list[float]:
    """Return the values of a fill's parameters, in order."""
    return [PARAMETERS[name] for name in fill.parameters]


def whole(case: Case, wanted: Array, u: Array) -> tuple[Array, Array]:
    """Return expected values without those that are conservatively unclear, and where they are."""
    made = evaluated(case, u)
    return np.where(np.isnan(made), np.nan, wanted), made


@settings(max_examples=12)
@given(cases(), st.booleans())
def test_kernels_as_plain_python(case: Case, single: bool) -> None:
    u = case.random(np.float32 if single else np.float64)
    wanted, made = whole(case, case.expected(u)[0], u)
    fill, out = case.fill, np.zeros_like(made)
    plain.run(fill._run, out, u, *numbers(case, fill))
    plain.check_same(out, made)
    inner: Any = tuple(
        slice(a, a + n) for a, n in zip(case.blocks.low, case.blocks.shape, strict=True)
    )
    wide = np.full_like(made, 7.0)
    wide[(..., *inner)] = u
    plain.run(fill._in_place, wide, *numbers(case, fill))
    plain.check_same(wide, made)
    compare(made, wanted, size(wanted))


@settings(max_examples=25)
@given(cases())
def test_the_linear_part(case: Case) -> None:
    fill, walk = case.bound(), case.matrix_walk()
    B = fill.to_scipy()
    f, count = case.blocks, case.components or 1
    rows = f.count * int(np.prod(f.outer))
    staged = None
    if not (case.fill.parts.ruled.tabled and count > 1):
        staged = fill.linear
        if isinstance(staged, (ssr.Matrix, ssr.BlockMatrix)):
            staged = staged.bind(**{n: v for n, v in case.sizes.items() if n in staged.sizes})
        staged = staged.to_scipy()
        assert staged.shape == B.shape
    for block, index in f.ghosts():
        meant = walk.at(block, index)
        place = np.ravel_multi_index(
            (block, *(x + w for x, w in zip(index, f.low, strict=True))), (f.count, *f.outer)
        )
        for matrix in (B,) if staged is None else (B, staged):
            found = matrix[[c * rows + place for c in range(count)]].toarray()
            if len(meant) == 1:
                compare(found, meant[0][:, :-1], size(meant[0]))
            elif not meant or matrix is B:
                assert not found.any()
    x, y = np.random.default_rng(0).uniform(-1, 1, B.shape[1]), np.linspace(-1, 1, B.shape[0])
    np.testing.assert_allclose((B @ x) @ y, x @ (B.T @ y), atol=1e-9 * abs(B).sum())
