"""Closed rules against the rules followed point by point, and against nested numpy.pad."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.closure.closure import close
from boundary.closure.definition import Definition, GhostValue
from boundary.closure.ruled import Ruled
from boundary.grid.frame import Frame
from boundary.grid.link import Link, Side
from boundary.rules.evaluate import affine_in_scalars, evaluate
from boundary.rules.rows.affine_rows import Conflict, Entry, Origin, Row, Undefined
from boundary.rules.rows.strips import Strip
from ssr.extension import Affine, ir

PADS = {
    "wrap": lambda axis: bc.periodic(axis),
    "symmetric": lambda axis: bc.symmetric(axis),
    "reflect": lambda axis: bc.symmetric(axis, about="point"),
    "edge": lambda axis: bc.extrapolate(1, axis),
    "constant": lambda axis: bc.zero(axis),
}


def outcomes(ruled: Ruled, sizes: dict[str, int], count: int = 1) -> dict[Any, Any]:
    """Return what closure says about every ghost, as values or outcomes."""
    found: dict[Any, Any] = {}
    for piece in ruled.closed(sizes).regions:
        edges = [(a.evaluate(sizes), b.evaluate(sizes)) for a, b in piece.box]
        for offset in np.ndindex(*(b - a for a, b in edges)):
            index = tuple(a + int(o) for (a, _), o in zip(edges, offset, strict=True))
            point = piece.block, index
            assert point not in found, "the pieces overlap"
            found[point] = value(ruled, piece.outcome, index, sizes, count)
    return found


def value(ruled: Ruled, outcome: Any, index: tuple[int, ...], sizes: Any, count: int) -> Any:
    if not isinstance(outcome, Row):
        return outcome
    names = {**sizes, **dict(zip(ruled.frame.axes, index, strict=True))}
    made = GhostValue(np.zeros(count), {}, {})
    each = outcome.constant * (count if len(outcome.constant) == 1 else 1)
    for c, constant in enumerate(each):
        rest, factors = affine_in_scalars(constant)
        made.constant[c] = evaluate(rest, names, ruled.data)
        for name, factor in factors.items():
            made.scalars.setdefault(name, np.zeros(count))[c] = evaluate(factor, names, ruled.data)
    for e in outcome.entries:
        if all(
            low.evaluate(names) <= x.evaluate(names) < high.evaluate(names)
            for x, low, high in e.window
        ):
            matrix = np.eye(count) * evaluate(e.weight, names, ruled.data)
            if e.mix is not None:
                matrix = matrix @ [[evaluate(v, names, ruled.data) for v in r] for r in e.mix]
            point = e.block, tuple(a.evaluate(names) for a in e.index)
            made.matrices[point] = made.matrices.get(point, np.zeros((count, count))) + matrix
    return made


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal up to rounding."""
    none = np.zeros_like(a.constant)
    points = {*a.matrices, *b.matrices}
    empty = np.zeros((len(none), len(none)))
    return (
        np.allclose(a.constant, b.constant, atol=1e-12)
        and all(
            np.allclose(a.scalars.get(n, none), b.scalars.get(n, none), atol=1e-12)
            for n in {*a.scalars, *b.scalars}
        )
        and all(
            np.allclose(a.matrices.get(p, empty), b.matrices.get(p, empty), atol=1e-12)
            for p in points
        )
    )


@st.composite
def paddings(draw: Any) -> Any:
    ndim = draw(st.integers(1, 3))
    modes = [draw(st.sampled_from(sorted(PADS))) for _ in range(ndim)]
    shape = [draw(st.integers(2 if m == "reflect" else 1, 4)) for m in modes]
    widths = [(draw(st.integers(0, 5)), draw(st.integers(0, 5))) for _ in range(ndim)]
    return modes, shape, widths


@given(paddings(), st.booleans())
def test_nested_padding(case: Any, symbolic: bool) -> None:
    modes, shape, widths = case
    names = [f"n{a}" for a in range(len(shape))]
    extents = ssr.sizes(" ".join(names)) if symbolic else shape
    cells = ssr.Space(*extents)
    frame = Frame.of([cells.grow(*widths)], [cells])
    ruled = Ruled.of(frame, [PADS[m](a) for a, m in enumerate(modes) if sum(widths[a])])
    found = outcomes(ruled, dict(zip(names, shape, strict=True)) if symbolic else {})
    u = np.random.default_rng(1).normal(size=shape)
    for order in permutations(range(len(shape))):
        wide = u
        for axis in order:
            pads = [widths[a] if a == axis else (0, 0) for a in range(len(shape))]
            wide = np.pad(wide, pads, mode=modes[axis])  # type: ignore[call-overload]
        for (_, index), made in found.items():
            place = tuple(x + low for x, (low, _) in zip(index, widths, strict=True))
            total = sum(m[0, 0] * u[source] for (_, source), m in made.matrices.items())
            assert np.isclose(total, wide[place])
    assert len(found) == np.prod([n + a + b for n, (a, b) in zip(shape, widths, strict=True)]) - (
        u.size
    )


RULES = st.sampled_from(
    [
        lambda **s: bc.symmetric(**s),
        lambda **s: bc.symmetric(sign=-1, **s),
        lambda **s: bc.symmetric(about="point", **s),
        lambda **s: bc.zero(**s),
        lambda **s: bc.ghost_value(2.0, **s),
        lambda **s: bc.ghost_value(lambda *x: 1.0 + sum(x), **s),
        lambda **s: bc.dirichlet(3.0, **s),
        lambda **s: bc.dirichlet(bc.parameter("g"), **s),
        lambda **s: bc.dirichlet(1.0, order=2, **s),
        lambda **s: bc.neumann(2.0, spacing=0.5, **s),
        lambda **s: bc.neumann(bc.parameter("q"), order=2, **s),
        lambda **s: bc.robin(1.0, 2.0, 3.0, **s),
        lambda **s: bc.extrapolate(1, **s),
        lambda **s: bc.extrapolate(2, **s),
    ]
)


@st.composite
def grids(draw: Any) -> Any:
    """Draw a grid of linked blocks with rules on the sides that are free."""
    links = draw(
        st.sampled_from(
            [
                bc.topologies.bricks(2),
                bc.topologies.bricks(2, 1),
                bc.topologies.two_by_two(),
                bc.topologies.two_by_two(periodic=True),
                bc.topologies.glued(),
                bc.topologies.glued(twist=True),
                bc.topologies.moebius(),
                bc.cubed_sphere(),
                bc.topologies.bricks(1, 2, 1),
            ]
        )
    )
    n = draw(st.integers(2, 4))
    grid = bc.Grid(links.count * [(n,) * links.dims], links=links)
    rules = [bc.linked()] if links.links else []
    for axis in range(links.dims):
        for end in "low", "high":
            if any((s.axis, s.end) == (axis, end) for s in links.unlinked()):
                rules.append(draw(RULES)(axis=axis, side=end))
    return grid, draw(st.integers(1, 3)), rules


@given(grids())
def test_blocks_follow_their_definition(case: Any) -> None:
    grid, width, rules = case
    ruled = Ruled.of(Frame.of([grid.cells.grow(width)]), rules)
    definition = ruled.definition({}, 1)
    for (block, index), made in outcomes(ruled, {}).items():
        expected = definition.at(block, index)
        if isinstance(made, Undefined):
            assert expected is None
        elif not isinstance(made, Conflict):
            assert expected is not None
            assert same(made, expected)


@given(st.lists(RULES, min_size=4, max_size=4), st.integers(2, 5), st.integers(2, 5))
def test_one_block_follows_its_definition(makers: Any, ny: int, nx: int) -> None:
    sides = [(axis, end) for axis in (0, 1) for end in ("low", "high")]
    rules = [make(axis=a, side=e) for make, (a, e) in zip(makers, sides, strict=True)]
    y, x = ssr.sizes("ny nx")
    ruled = Ruled.of(Frame.of([ssr.Space(y, x).grow(2)]), rules)
    sizes = {"ny": ny, "nx": nx}
    definition = ruled.definition(sizes, 1)
    for (block, index), made in outcomes(ruled, sizes).items():
        expected = definition.at(block, index)
        if isinstance(made, Undefined):
            assert expected is None
        elif not isinstance(made, Conflict):
            assert same(made, expected)


def test_corners_agree_where_four_blocks_meet_and_not_where_three_do() -> None:
    def kinds(links: bc.Connectivity) -> set[type]:
        grid = bc.Grid(links.count * [(4, 4)], links=links)
        ruled = Ruled.of(Frame.of([grid.cells.grow(2)]), [bc.linked()])
        return {type(p.outcome) for p in ruled.closed({}).regions}

    assert kinds(bc.topologies.two_by_two(periodic=True)) == {Row}
    assert kinds(bc.cubed_sphere()) == {Row, Conflict}


def test_corners_of_vectors_between_walls() -> None:
    cells = ssr.Space(*ssr.sizes("ny nx"))
    sides = bc.symmetric(axis=0, sign=[-1, 1]), bc.symmetric(axis=1, sign=[1, -1])
    filled = bc.fill(cells.grow(1).vector(2), *sides) @ np.array([[[1.0, 2]], [[3, 4]]])
    assert filled[0].tolist() == [[-1, -1, -2, -2], [1, 1, 2, 2], [-1, -1, -2, -2]]
    assert filled[1].tolist() == 3 * [[-3, 3, 4, -4]]
    both_odd = bc.symmetric(axis=0, sign=[-1, -1]), bc.symmetric(axis=1, sign=[-1, 1])
    corner = (bc.fill(cells.grow(1).vector(2), *both_odd) @ np.ones((2, 1, 1)))[:, 0, 0]
    assert corner.tolist() == [1, -1]


def test_arrays_of_values_give_their_sides_a_length() -> None:
    cells = ssr.Space(*ssr.sizes("ny nx"))
    filled = bc.fill(cells.grow((1, 0), 0), bc.dirichlet(np.arange(3.0), axis=0, side="low"))
    assert (filled @ np.ones((2, 3)))[0].tolist() == [-1, 1, 3]
    assert (filled @ np.ones((5, 3)))[0].tolist() == [-1, 1, 3]
    with pytest.raises(ssr.errors.ShapeError, match=r"for 3 points along a side, .* has 4"):
        filled @ np.ones((2, 4))
    box = ssr.Space(*ssr.sizes("nz ny nx"))
    values = np.arange(6.0).reshape(2, 3)
    filled = bc.fill(box.grow((0, 0), (1, 0), (0, 0)), bc.ghost_value(values, axis=1, side="low"))
    assert ((filled @ np.ones((2, 4, 3)))[:, 0] == values).all()
    with pytest.raises(ssr.errors.ShapeError, match=r"for 2 points along a side, .* has 3"):
        filled @ np.ones((3, 4, 3))
    with pytest.raises(ssr.errors.ShapeError, match=r"shapes \(2,\), \(3,\)"):
        bc.ghost_value([np.zeros(2), np.zeros(3)])


@pytest.mark.parametrize("wrong", [np.ones(3, complex), np.array(["a", "b"]), [None, 1]])
def test_arrays_hold_real_numbers(wrong: Any) -> None:
    line = ssr.Space(ssr.size("n"))
    filled = bc.fill(line.grow(1), bc.periodic())
    difference = ssr.stencil(line, line.grow(1), {-1: -1.0, 1: 1.0})
    for affine in filled, difference @ filled:
        with pytest.raises(ssr.errors.DtypeError, match="dtype"):
            affine @ wrong


def test_rules_that_read_each_other_define_nothing() -> None:
    ruled = Ruled.of(Frame.of([ssr.Space(1).grow(1)]), [bc.symmetric(about="point")])
    assert {type(p.outcome) for p in ruled.closed({}).regions} == {Undefined}


@pytest.mark.parametrize(
    ("value", "corners"), [(2.0, Row), (lambda y, x: 1.0 * y, Conflict)], ids=["alike", "different"]
)
def test_corners_that_read_each_other_have_all_values_of_both(value: Any, corners: type) -> None:
    # One point, reflected about itself: the corners below and above read each other.
    rules = bc.symmetric(axis=0, about="point"), bc.ghost_value(value, axis=1, side="low")
    point = ssr.Space(1, 1)
    ruled = Ruled.of(Frame.of([point.grow(1, (1, 0))], [point]), rules)
    low, high = (-1, -1), (1, -1)
    for start, other in (low, high), (high, low):
        definition = ruled.definition({}, 1)
        values = definition.at(0, start), definition.at(0, other)
        assert all((v is None) == (corners is Conflict) for v in values)
    closed = {
        tuple(a.constant for a, _ in p.box): type(p.outcome) for p in ruled.closed({}).regions
    }
    sides = {(0, -1): Row, (-1, 0): Undefined, (1, 0): Undefined}
    assert closed == {low: corners, high: corners, **sides}


@pytest.mark.parametrize(
    "behind", [[bc.ghost_value(1.0, axis=0, side="high")], []], ids=["two values", "no value"]
)
def test_points_of_weight_zero_are_not_read(behind: list[bc.Rule]) -> None:
    # The second ghost behind the low side has the weight (1/2 - 2/4) of the one behind the high
    # side, which has two values beside the corner, or none.
    nodes = ssr.Space(1, 1).nodes()
    odd, mixed = bc.symmetric(axis=1, side="low", sign=-1), bc.robin(1, 2, 0.0, axis=0, side="low")
    ruled = Ruled.of(Frame.of([nodes.grow((2, 0), (1, 0))], [nodes]), [mixed, odd, *behind])
    corner = 0, (-2, -1)
    made, meant = outcomes(ruled, {})[corner], ruled.definition({}, 1).at(*corner)
    assert meant is not None
    assert same(made, meant)
    assert same(made, GhostValue(np.zeros(1)))


# Links of a block with itself: periodic, and low sides that are turned or folded onto each other.
RING = bc.topologies.periodic_box(1).links
TURNED = [Link(Side(0, 0, "low"), Side(0, 1, "low"), (0,), (False,))]
SWAPPED = [Link(Side(0, 0, "low"), Side(0, 0, "low"), (2, 1), (False, False))]
MIRRORED = [Link(Side(0, 0, "low"), Side(0, 0, "low"), (1,), (True,))]
MEETINGS = {
    "one layer": (RING, bc.symmetric(0, "low", about="point", block=0)),
    "a diagonal": (TURNED, bc.symmetric(0, "low", block=0)),
    "a diagonal of a side": (SWAPPED, bc.symmetric(0, "low", block=0)),
    "the middle of a side": (MIRRORED, bc.symmetric(0, "low", block=0)),
}


@pytest.mark.parametrize("name", MEETINGS)
def test_two_rules_that_agree_at_some_ghosts_define_these(name: str) -> None:
    links, rule = MEETINGS[name]
    extents = links[0].ndim * (ssr.size("n"),)
    grid = bc.Grid([extents], links=links)
    ruled = Ruled.of(Frame.of([grid.cells.grow(3)]), [bc.linked(), rule])
    kinds = set()
    for n in (*range(1, 7), 4, 11):
        definition = ruled.definition({"n": n}, 1)
        for (block, index), made in outcomes(ruled, {"n": n}).items():
            meant = definition.at(block, index)
            assert isinstance(made, GhostValue) == (meant is not None)
            assert meant is None or same(made, meant)
            kinds.add(type(made))
    assert {GhostValue, Conflict} <= kinds


def test_a_ghost_may_be_read_where_two_rules_agree() -> None:
    line = ssr.Space(4)
    filled = bc.fill(line.grow(3), bc.periodic(), bc.symmetric(side="low", about="point"))
    second = ssr.stencil(ssr.Space(1), line.grow(3), {-2: 1.0})
    assert ((second @ filled) @ np.arange(4.0)).tolist() == [2.0]
    first = ssr.stencil(ssr.Space(1), line.grow(3), {-1: 1.0})
    with pytest.raises(bc.AmbiguousGhostError, match=r"two rules: i = -1\."):
        first @ filled


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(
    ("one", "other"), [(1.0, [1.0, 1.0]), (-1.0, [-1.0, -1.0]), ([-1.0, 1.0], [-1.0, 1.0])]
)
def test_numbers_and_diagonal_matrices_may_be_the_same(n: int, one: Any, other: Any) -> None:
    rules = bc.symmetric(sign=one), bc.symmetric(sign=other)
    fill = bc.fill(ssr.Space(ssr.size("n")).grow(2).vector(2), *rules)
    u = np.arange(2.0 * n).reshape(2, n)
    signs = np.broadcast_to(one, 2)[:, None]
    made = fill @ u
    np.testing.assert_array_equal(made[:, 1], (signs * u[:, :1])[:, 0])
    assert not np.isnan(made).any()


def test_matrices_that_differ_are_not_taken_for_the_same() -> None:
    rules = bc.symmetric(sign=1.0), bc.symmetric(sign=[1.0, -1.0])
    made = bc.fill(ssr.Space(3).grow(1).vector(2), *rules) @ np.ones((2, 3))
    assert np.isnan(made[:, [0, -1]]).all()


def test_what_reads_a_ghost_without_a_value_has_none_even_beside_one_with_two() -> None:
    line = ssr.Space(2)
    frame = Frame.of([line.grow((1, 2))], [line])
    low, high = (Origin(end, None, Side(0, 0, end)) for end in ("low", "high"))

    def at(index: int) -> Entry:
        return Entry(0, (Affine.of(index),), ir.ONE)

    first = ((0, Affine.of(2), Affine.of(3)),)
    for ghosts in (2, 3), (3, 2):
        strips = [
            *(Strip(Row((), (ir.Const(x),), (high,)), first) for x in (1.0, 2.0)),
            Strip(Row(tuple(map(at, ghosts)), (ir.ZERO,), (low,))),
            Strip(Row((at(0),), (ir.ZERO,), (low,))),
        ]
        regions = close(frame, strips, {}).regions
        kinds = {r.box[0][0].constant: type(r.outcome) for r in regions}
        assert kinds == {-1: Row, 2: Conflict, 3: Undefined}
        assert Definition(frame, strips, {}, {}, 1).at(0, (-1,)) is not None


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("nodes", [False, True])
def test_polynomials_are_reproduced(order: int, nodes: bool) -> None:
    cells = ssr.Space(6)
    points = cells.faces(0) if nodes else cells
    h = 0.25
    x = h * (np.arange(7) if nodes else np.arange(6) + 0.5)
    far = h * (np.arange(-2, 9) if nodes else np.arange(-2, 8) + 0.5)
    polynomial = np.polynomial.Polynomial(np.random.default_rng(order).normal(size=order))
    end, slope = polynomial(6 * h), polynomial.deriv()
    rules = {
        "extrapolate": [bc.extrapolate(order)],
        "dirichlet": [
            bc.dirichlet(polynomial(0.0), side="low", order=order),
            bc.dirichlet(end, side="high", order=order),
        ],
    }
    if order > 1:
        rules["neumann"] = [
            bc.neumann(-slope(0.0), side="low", spacing=h, order=order),
            bc.neumann(slope(6 * h), side="high", spacing=h, order=order),
        ]
        rules["robin"] = [
            bc.robin(
                2, 3, 2 * polynomial(0.0) - 3 * slope(0.0), side="low", spacing=h, order=order
            ),
            bc.robin(2, 3, 2 * end + 3 * slope(6 * h), side="high", spacing=h, order=order),
        ]
    for name, given_rules in rules.items():
        ruled = Ruled.of(Frame.of([points.grow(2)], [points]), given_rules)
        for (_, index), made in outcomes(ruled, {}).items():
            total = made.constant[0] + sum(
                m[0, 0] * polynomial(x[p]) for (_, (p,)), m in made.matrices.items()
            )
            assert np.isclose(total, polynomial(far[index[0] + 2])), name


def test_the_linear_part_ends_where_blocks_are_too_small_for_a_rule() -> None:
    (n,) = ssr.sizes("n")
    rules = bc.dirichlet(0.0, side="low"), bc.extrapolate(3, side="high")
    fill = bc.fill(ssr.Space(n).grow(3), *rules)
    for points in (3, 4, 7):
        found = fill.linear.bind(n=points).to_scipy().toarray()
        np.testing.assert_array_equal(found, fill.bind(n=points).to_scipy().toarray())
