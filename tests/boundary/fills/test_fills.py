"""Fills against walks from point to point, in all ways to apply them."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import ssr
from boundary.rules.rows.affine_rows import Conflict

from ...random_examples import examples
from ...ssr import plain
from ..cases import PARAMETERS, Case, cases
from ..evaluate_pieces import evaluate
from ..walker import Array


def evaluated(case: Case, fields: list[Array]) -> list[Array]:
    """Return fields with their ghosts by the pieces of a fill, which are not compiled."""
    fill, f = case.fill, case.blocks
    ghosts = fill.step
    wide = case.empty(dtype=fields[0].dtype)
    for b, (whole, own) in enumerate(zip(*map(case.by_block, (wide, fields)), strict=True)):
        whole[(slice(None), *f.inner(b))] = own
    # Index 0 is the first owned point: ghosts before it wrap to the end, as negative indices do.
    shifts = [f.low[kind[0]] for kind in case.kinds]
    axes = [tuple(range(a.ndim - f.ndim, a.ndim)) for a in wide]
    rolled = [np.roll(a, [-w for w in s], x) for a, s, x in zip(wide, shifts, axes, strict=True)]
    each = rolled if case.components is None else [part for a in rolled for part in a]
    evaluate(ghosts.parts(case.sizes), each, [PARAMETERS[n] for n in ghosts.data])
    return [np.roll(a, s, x) for a, s, x in zip(rolled, shifts, axes, strict=True)]


def compare(made: Array, wanted: Array, scale: float = 1.0) -> None:
    """Fail if values differ by more than rounding, or are NaN in different places."""
    np.testing.assert_array_equal(np.isnan(made), np.isnan(wanted))
    tolerance = 1e-4 if made.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=tolerance * scale)


def size(wanted: Array) -> float:
    return float(np.nanmax(np.abs(wanted), initial=1.0))


@examples(60)
@given(cases())
def test_pieces_are_what_walks_lead_to(case: Case) -> None:
    check_pieces(case)


def check_pieces(case: Case) -> None:
    """Fail if pieces make something else than walks lead to, or say so of a ghost without cause."""
    f, fields = case.blocks, case.random()
    wanted, unclear = case.expected(fields)
    ruled = case.fill.data.ruled
    exact = not ruled.data  # values of functions and arrays may agree by chance
    found = [np.zeros_like(part) for part in unclear]
    for piece in ruled.closed(case.sizes).regions:
        if isinstance(piece.outcome, Conflict):
            box = [(a.evaluate(case.sizes), b.evaluate(case.sizes)) for a, b in piece.box]
            ranges = zip(box, f.low[piece.block], strict=True)
            part = tuple(slice(a + w, b + w) for (a, b), w in ranges)
            found[piece.block][part] = True
            assert unclear[piece.block][part].all() or not exact
    for b, whole in enumerate(case.by_block(wanted)):
        assert (found[b] >= unclear[b]).all()
        whole[:, found[b]] = np.nan
    for made, meant in zip(evaluated(case, fields), wanted, strict=True):
        compare(made, meant, size(meant))


@examples(60)
@given(cases())
def test_the_definition_is_what_walks_lead_to(case: Case) -> None:
    made = case.fill.data.ruled.definition(case.sizes, case.components or 1)
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
    fields = case.random()
    found = np.zeros((case.components or 1, 1 + sum(a.size for a in fields)))
    found[:, -1] = value.constant + sum(PARAMETERS[n] * v for n, v in value.scalars.items())
    columns = case.by_block(numbered(fields))
    for (block, index), matrix in value.matrices.items():
        for d in range(case.components or 1):
            found[:, columns[block][(d, *index)]] += matrix[:, d]
    return found


def numbered(fields: list[Array]) -> list[Array]:
    """Return the number of each element of fields, one field after the other."""
    ends = np.cumsum([0, *(a.size for a in fields)])
    return [np.arange(n, n + a.size).reshape(a.shape) for n, a in zip(ends, fields, strict=False)]


def numbers(case: Case, fill: Any) -> list[float]:
    """Return the values of a fill's parameters, in order."""
    return [PARAMETERS[name] for name in fill.parameters]


def whole(case: Case, fields: list[Array]) -> tuple[list[Array], list[Array]]:
    """Return expected values without those that are conservatively unclear, and where they are."""
    made = evaluated(case, fields)
    wanted, _ = case.expected(fields)
    each = zip(made, wanted, strict=True)
    return [np.where(np.isnan(m), np.nan, w) for m, w in each], made


@examples(12)
@given(cases(), st.booleans())
def test_kernels_as_plain_python(case: Case, single: bool) -> None:
    fields = case.random(np.float32 if single else np.float64)
    wanted, made = whole(case, fields)
    fill, out = case.fill, [np.zeros_like(m) for m in made]
    plain.run(fill._run, *out, *fields, *numbers(case, fill))
    wide = [np.full_like(m, 7.0) for m in made]
    for b, (part, own) in enumerate(zip(*map(case.by_block, (wide, fields)), strict=True)):
        part[(slice(None), *case.blocks.inner(b))] = own
    plain.run(fill._in_place, *wide, *numbers(case, fill))
    for found, place, m, w in zip(out, wide, made, wanted, strict=True):
        plain.check_same(found, m)
        plain.check_same(place, m)
        compare(m, w, size(w))


@examples(25)
@given(cases())
def test_the_linear_part(case: Case) -> None:
    fill, walk = case.bound(), case.matrix_walk()
    B = fill.to_scipy()
    rows = case.by_block(numbered(case.empty()))
    staged = None
    of_others = len(case.kinds) > 1 and case.sizes
    if not (case.fill.data.ruled.tabled and (case.components or case.several)) and not of_others:
        staged = fill.linear
        if isinstance(staged, (ssr.Matrix, ssr.BlockMatrix)):
            staged = staged.bind(**{n: v for n, v in case.sizes.items() if n in staged.sizes})
        staged = staged.to_scipy()
        assert staged.shape == B.shape
    for block, index in case.blocks.ghosts():
        meant = walk.at(block, index)
        place = rows[block][(slice(None), *case.blocks.place(block, index))]
        for matrix in (B,) if staged is None else (B, staged):
            found = matrix[list(place)].toarray()
            if len(meant) == 1:
                compare(found, meant[0][:, :-1], size(meant[0]))
            elif not meant or matrix is B:
                assert not found.any()
    x, y = np.random.default_rng(0).uniform(-1, 1, B.shape[1]), np.linspace(-1, 1, B.shape[0])
    np.testing.assert_allclose((B @ x) @ y, x @ (B.T @ y), atol=1e-9 * abs(B).sum())
