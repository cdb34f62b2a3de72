"""Rows cut into boxes in any legal way make the same bits; other cuts are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.errors import BoxError

from .. import memory, plain
from .. import strategies as some


@some.examples(40)
@given(st.data(), memory.seeds, some.directions, st.booleans())
def test_boxes_keep_bits_or_are_refused(
    data: st.DataObject, seed: int, direction: str, exact: bool
) -> None:
    grid = data.draw(some.grids(data.draw(st.integers(1, 3)), plain=True))
    found = some.dominant(data.draw(some.stencils(grid.ndim)))
    space = grid.space()
    A = ssr.stencil(space, space, found, outside="zero")
    boxes = data.draw(memory.cuts(grid.box))
    rng = np.random.default_rng(seed)
    x, b = (memory.array(rng, grid.shape, "float64") for _ in "xb")
    program = plain.variant(plain.sweep(A, direction), exact=exact)
    if not memory.legal(boxes, memory.earlier(found, direction)):
        with pytest.raises(BoxError, match=r"wait for each other|cut along its last axis"):
            plain.swept(program, x, b, boxes=boxes)
        return
    made, refused = None, ""
    try:
        made = plain.swept(program, x, b, boxes=boxes)
    except BoxError as error:
        refused = str(error)
    if made is not None:
        plain.check_same(made, plain.swept(program, x, b))
    else:
        assert "cannot be cut along its last axis" in refused  # a doubled recurrence
        assert not exact
        assert any(box[-1] != grid.box[-1] for box in boxes)


HARD = {
    # One constant coefficient along the line: the chain is doubled.
    "nine points": (some.dense(2, -1.0, 26.0), 1),
    # Sums of lines are shared although one weight is missing in one of them.
    "corrected": (
        {(0, 0): 9.0, (0, -1): 1.0}
        | {(-1, o): 1.0 for o in (-2, -1, 0)}
        | {(line, o): 1.0 for o in (-2, -1, 0, 1) for line in (-3, -2)},
        2,
    ),
}


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("options", [{}, {"recurrence": False}, {"exact": True}], ids=str)
def test_lines_cut_in_spite_of_dependences(
    name: str, direction: str, options: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    weights, height = HARD[name]
    if direction == "backward":
        weights = {memory.negative(o): w for o, w in weights.items()}
    space = ssr.Space(6, 9)
    program = plain.sweep(ssr.stencil(space, space, weights, outside="zero"), direction)
    lines = [(n, n + height) for n in range(0, 6, height)]
    boxes = tuple((line, half) for line in lines for half in ((0, 4), (4, 9)))
    assert memory.legal(boxes, memory.earlier(weights, direction))
    rng = np.random.default_rng(0)
    x, b = (memory.array(rng, (6, 9), "float64") for _ in "xb")
    program = plain.variant(program, **options)
    if not options:
        with pytest.raises(BoxError, match="cannot be cut along its last axis"):
            plain.swept(program, x, b, boxes=boxes)
        return
    plain.check_same(plain.swept(program, x, b, boxes=boxes), plain.swept(program, x, b))


@some.examples(20)
@given(some.square(), memory.seeds, some.directions, st.data())
def test_boxes_with_guards(
    recipe: some.Recipe, seed: int, direction: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x, b = (memory.array(rng, recipe.rows.shape, "float64") for _ in "xb")
    program = plain.sweep(A, direction)
    boxes = data.draw(memory.cuts(recipe.rows.box))
    try:
        made = plain.swept(program, x, b, boxes=boxes)
    except BoxError:
        rows = [*range(*recipe.rows.box[0])]
        rest = recipe.rows.box[1:]
        boxes = tuple(((r, r + 1), *rest) for r in rows)  # always legal
        made = plain.swept(program, x, b, boxes=boxes)
    plain.check_same(made, plain.swept(program, x, b))


@some.examples(15)
@given(some.recipes(), memory.seeds, st.data(), st.booleans())
def test_boxes_of_a_product(
    recipe: some.Recipe, seed: int, data: st.DataObject, exact: bool
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x = memory.array(rng, recipe.cols.shape, "float64")
    program = plain.eager(A, "apply", exact=exact)
    whole, cut = (np.full(recipe.rows.shape, np.nan) for _ in range(2))
    plain.run(program, whole, x)
    plain.run(program, cut, x, boxes=data.draw(memory.cuts(recipe.rows.box)))
    plain.check_same(whole, cut)


@pytest.mark.parametrize("count", [2, 3])
def test_what_shared_sums_read_is_computed_beyond_boxes(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sum that three rows share is made beside the box, too, of what the nest makes there."""
    monkeypatch.setenv("SSR_VERIFY", "1")
    space = ssr.Space(*ssr.sizes("nz ny nx")[-count:])
    A = ssr.stencil(space, space, some.dense(count, -1.0, 26.0), outside="zero")

    @ssr.program(x=space, y=space, r=space)
    def residual(x: ssr.Field, y: ssr.Field, r: ssr.Field) -> None:
        t = ssr.materialize(x + 0.5 * y)
        r[:] = r - A @ t

    shape = (4, 7, 9)[-count:]
    rng = np.random.default_rng(0)
    x, y, r = (memory.array(rng, shape, "float64") for _ in "xyr")
    whole, cut = r.copy(), r.copy()
    plain.run(residual, x, y, whole)
    for axis in range(count):
        lower = [(0, n) for n in shape]
        upper = lower.copy()
        lower[axis], upper[axis] = (0, 3), (3, shape[axis])
        cut[...] = r
        plain.run(residual, x, y, cut, boxes=(tuple(lower), tuple(upper)))
        plain.check_same(cut, whole)
