"""Ghosts folded into what reads them: the same bits as with ghosts that are stored, everywhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, reject
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.errors import AmbiguousGhostError, UndefinedGhostError
from boundary.tables.ghosts import Ghosts
from ssr import ir
from ssr.extension import folded

from ...ssr import plain
from ...ssr import strategies as some
from ...ssr.interpret import interpret_program
from ..evaluate_pieces import evaluate

Array = np.ndarray[Any, Any]

NUMBERS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 1e-320, 3e38, 0.1]
"""Numbers that show what is done to them."""

SIZES = [1, 2, 3, 4, 7]


def gone(program: ssr.Program) -> bool:
    """Whether a program has no calls left."""
    names = {step.name for step in program.ir.steps if isinstance(step, ir.Call)}
    return folded(program.ir, program.options) == names


def notes(program: ssr.Program) -> str:
    """Return what `explain` says of folding."""
    return program.explain("ghost inlining")


def fields(
    program: ssr.Program, sizes: Mapping[str, int], seed: int, dtype: Any
) -> dict[str, Array]:
    """Return arrays of numbers, some of them special, for all fields of a program."""
    rng = np.random.default_rng(seed)
    found = {}
    for f in program.ir.fields:
        shape = tuple(n.evaluate(sizes) for n in f.shape)
        usual = rng.uniform(-2, 2, shape)
        special = rng.choice(NUMBERS, shape)
        found[f.name] = np.where(rng.random(shape) < 0.2 * (seed % 3), special, usual).astype(dtype)
    return found


def as_stored(
    ghosts: Ghosts, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
) -> None:
    """Make ghosts as the pieces say, each with the bits it is stored with."""
    lows = [whole.lower for _, whole in ghosts.fields]
    rolled = [np.roll(a, low, range(a.ndim)) for a, low in zip(arrays, lows, strict=True)]
    evaluate([*ghosts.parts(sizes), *ghosts.standing(sizes)], rolled, scalars)
    for a, made, low in zip(arrays, rolled, lows, strict=True):
        a[...] = np.roll(made, tuple(-x for x in low), range(a.ndim))


def check(
    program: ssr.Program, sizes: Mapping[str, int], seed: int, dtype: Any = np.float64
) -> None:
    """Compare a program with itself unfolded; where all is kept as written, with its meaning."""
    scalars = {name: dtype(0.3 + n) for n, name in enumerate(program.ir.scalars)}
    results = []
    for fold in True, False:
        arrays = fields(program, sizes, seed, dtype)
        run = program.with_options(replace(program.options, fold=fold))
        with np.errstate(all="ignore"):
            numbers = plain.run(run, *arrays.values(), *scalars.values())
        results.append((arrays, numbers))
    if program.options.exact:
        arrays = fields(program, sizes, seed, dtype)
        with patch.object(Ghosts, "reference", as_stored):
            numbers = interpret_program(program.ir, arrays, scalars, sizes, dtype)
        results.append((arrays, numbers if len(numbers) > 1 else numbers[0] if numbers else None))
    (first, number), *others = results
    for arrays, other in others:
        np.testing.assert_array_equal(number, other)
        for name, array in arrays.items():
            plain.check_same(first[name], array)


# -- random rules, matrices and bodies -----------------------------------------------------------

SIDES: Mapping[str, Callable[[int, Any], bc.Rule]] = {
    "mirror": lambda axis, end: bc.symmetric(axis, end),
    "odd": lambda axis, end: bc.symmetric(axis, end, sign=-1),
    "scaled": lambda axis, end: bc.symmetric(axis, end, sign=-0.3),
    "zero": lambda axis, end: bc.zero(axis, end),
    "constant": lambda axis, end: bc.ghost_value(1.5, axis, end),
    "dirichlet": lambda axis, end: bc.dirichlet(0.1, axis, end),
    "tide": lambda axis, end: bc.dirichlet(bc.parameter("p"), axis, end),
    "neumann": lambda axis, end: bc.neumann(0.7, axis, end),
    "robin": lambda axis, end: bc.robin(1.0, 0.3, bc.parameter("p"), axis, end),
}


@st.composite
def programs(draw: Any) -> tuple[ssr.Program, dict[str, int]]:
    dims = draw(st.integers(1, 3))
    names = ["nz", "ny", "nx"][-dims:]
    sizes = {name: draw(st.sampled_from(SIZES if dims < 3 else SIZES[:4])) for name in names}
    extents = [
        ssr.size(name) if draw(st.integers(0, 3)) else value for name, value in sizes.items()
    ]
    cells = ssr.Space(*extents)
    width = draw(st.integers(1, 2 if dims < 3 else 1))
    wide = cells.grow(width)
    rules: list[bc.Rule] = []
    for axis in range(dims):
        kinds = draw(st.sampled_from(["periodic", *SIDES]))
        if kinds == "periodic":
            rules.append(bc.periodic(axis))
            continue
        other = draw(st.sampled_from([kinds, *SIDES]))
        rules += [SIDES[kinds](axis, "low"), SIDES[other](axis, "high")]
    fill = bc.fill(wide, *rules)
    offsets = list(product(range(-width, width + 1), repeat=dims))
    if draw(st.booleans()):  # no corners
        offsets = [o for o in offsets if sum(map(bool, o)) < 2]
    matrices = []
    for _ in range(2):
        chosen = draw(st.lists(st.sampled_from(offsets), min_size=1, max_size=9, unique=True))
        weights = [1.0, 1.0, -1.0, 0.5, -0.1]
        matrices.append(
            ssr.stencil(cells, wide, {o: draw(st.sampled_from(weights)) for o in chosen})
        )
    whole = draw(st.sampled_from([False, True]))
    if whole and dims > 1:  # sums that are shared between rows
        matrices[0] = ssr.stencil(cells, wide, dict.fromkeys(offsets, 0.25))
    kind = draw(
        st.sampled_from(
            [
                *["product", "two", "values", "weights", "numbers", "turns", "copy"],
                *["replaced", "together", "further"],
            ]
        )
    )
    made = _program(cells, fill, matrices, kind, exact=draw(st.booleans()))
    return made, {n: v for n, v in sizes.items() if n in cells.sizes}


def _program(
    cells: Any, fill: Any, matrices: Sequence[Any], kind: str, *, exact: bool
) -> ssr.Program:
    A, B = matrices

    def body(u: Any, y: Any, z: Any, p: Any) -> Any:
        own = fill.bind(p=p) if fill.parameters else fill
        if kind == "turns":
            y[:] = u + A @ (own @ u)
            z[:] = y - B @ (own @ y)
            return None
        if kind == "together":
            new = u + (A @ (own @ u)) * z, y - (B @ (own @ y)) * u
            u[:], y[:] = new
            return None
        t = own @ u
        match kind:
            case "product":
                y[:] = A @ t
            case "two":
                y[:] = z - A @ t
                z[:] = y * (B @ t)
            case "values":
                y[:] = ssr.where((A @ t) > z, t[cells] * t[cells], -abs(B @ t))
            case "weights":
                y[:] = (A @ t) * t[cells] + z * (B @ t) / 3.0
            case "numbers":
                return ssr.max(B @ t), ssr.sum(A @ t)
            case "replaced":
                u[:] = u + z * (A @ t)
            case "further":
                y[:] = B @ t
                u[:] = z - A @ t
                z[:] = A @ (own @ u)
            case "copy":
                z[:] = u
                y[:] = A @ (own @ z) + z
        return None

    kinds = {"u": cells, "y": cells, "z": cells, "p": ssr.scalar}
    return ssr.program(options=ssr.Options(exact=exact), **kinds)(body)


@some.examples(60)
@given(st.data(), st.integers(0, 99), st.sampled_from([np.float64, np.float32]))
def test_random_programs(data: Any, seed: int, dtype: Any) -> None:
    try:
        program, sizes = data.draw(programs())
    except AmbiguousGhostError:
        reject()
    try:
        check(program, sizes, seed, dtype)
    except AmbiguousGhostError:  # for small sizes: then in either form
        stored = program.with_options(replace(program.options, fold=False))
        with pytest.raises(AmbiguousGhostError):
            plain.run(
                stored, *fields(program, sizes, 0, dtype).values(), *[0.5] * len(program.ir.scalars)
            )
        reject()


# -- programs in which ghosts are folded ---------------------------------------------------------

ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
wide = cells.grow(1)
star = ssr.stencil(cells, wide, {(0, 0): -4, (0, 1): 1, (0, -1): 1, (1, 0): 1, (-1, 0): 0.3})
torus = bc.fill(wide, bc.periodic(0), bc.periodic(1))
mirror = bc.fill(wide, bc.symmetric())
basin = bc.fill(wide, bc.periodic(1), bc.dirichlet(2.0, 0))


def declared(body: Any, **kinds: Any) -> ssr.Program:
    return ssr.program(options=ssr.Options(exact=True), **kinds)(body)


def once(u: Any, y: Any) -> None:
    y[:] = star @ (torus @ u)


def chain(u: Any, y: Any) -> None:
    y[:] = star @ (along @ (across @ u))


across = bc.fill(cells.grow(0, 1), bc.symmetric(1, sign=-1))
along = bc.fill(wide, bc.ghost_value(1.0, axis=0), owned=cells.grow(0, 1))


def test_a_product_of_arrays_is_folded() -> None:
    program = (star @ basin)._program
    assert "t is not stored" in notes(program)
    for sizes in {"ny": 1, "nx": 1}, {"ny": 5, "nx": 2}, {"ny": 4, "nx": 6}:
        check(program, sizes, 1)


def test_two_fills_one_after_the_other_are_both_folded() -> None:
    program = declared(chain, u=cells, y=cells)
    assert gone(program)
    for sizes in {"ny": 1, "nx": 1}, {"ny": 2, "nx": 5}:
        check(program, sizes, 2)


@pytest.mark.parametrize("offset", [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)])
def test_zeros_keep_their_sign(offset: tuple[int, int]) -> None:
    fill = bc.fill(wide, bc.dirichlet(1.0, 0), bc.symmetric(1))
    program = declared(product_of(ssr.stencil(cells, wide, {offset: 1.0}), fill), u=cells, y=cells)
    assert gone(program)
    u, y = np.full((3, 4), -0.0), np.empty((3, 4))
    plain.run(program, u, y)
    inside = np.signbit(y) | (y == 2.0)
    assert inside.all()
    assert (y == 2.0).sum() == (4 if offset[0] else 0)


@pytest.mark.parametrize("number", [0.0, 1.5])
def test_numbers_as_ghosts_are_operands_at_the_ends_of_one_loop(number: float) -> None:
    """Rows near the ends of lines need no loops of their own, however far a stencil reaches."""
    reach = [n for n in range(-4, 5) if n]
    weights = {(0, n): 0.1 * n - 0.55 for n in reach} | {(n, 0): 0.3 - 0.2 * n for n in reach}
    far = ssr.stencil(cells, cells.grow(4), {(0, 0): 1.0, **weights})
    program = declared(
        product_of(far, bc.fill(cells.grow(4), bc.ghost_value(number))), u=cells, y=cells
    )
    assert gone(program)
    loops = program.explain("loops")
    assert loops.count("for i in range") == len(("inside", "boundary"))
    assert f"where i >= 4, else {number}" in loops
    for seed, (rows, columns) in enumerate(product([1, 4, 5, 9], [1, 3, 7, 8, 9, 33])):
        sizes = {"ny": rows, "nx": columns}
        check(program, sizes, seed)
        u, y = fields(program, sizes, seed, np.float64).values()
        made = y.copy()
        with np.errstate(all="ignore"):
            plain.run(program, u, y)
        program(u, made)
        plain.check_same(made, y)


@pytest.mark.parametrize("high", [bc.ghost_value(1.5, 0, "high"), bc.symmetric(0, "high")])
def test_numbers_that_all_rows_of_a_loop_have_are_added(high: bc.Rule) -> None:
    """The last line has a number for each of the terms of lines behind it, and nothing else."""
    wide = cells.grow((0, 2), (0, 0))
    ahead = ssr.stencil(cells, wide, {(2, 0): 0.25, (1, 0): 0.25})
    fill = bc.fill(wide, bc.ghost_value(-1.25, 0, "low"), high, owned=cells)
    program = declared(product_of(ahead, fill), u=cells, y=cells)
    assert gone(program)
    for seed, (rows, columns) in enumerate(product([1, 2, 3, 5], [1, 6, 17])):
        check(program, {"ny": rows, "nx": columns}, seed)


def in_place(u: Any, y: Any) -> None:
    u[:] = u + star @ (torus @ u)


def later(u: Any, y: Any) -> None:
    t = torus @ u
    u[:] = y - star @ t


def both(u: Any, y: Any) -> None:
    new = u + star @ (torus @ u), y * u - star @ (mirror @ y)
    u[:], y[:] = new


@pytest.mark.parametrize("body", [in_place, later, both])
def test_a_field_is_replaced_by_what_reads_its_ghosts(
    body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    program = declared(body, u=cells, y=cells)
    assert gone(program)
    nests = program.explain("nests").split("-- nest ")[1:]
    assert len(nests) == 2  # one that saves the first line, and one for all the rest
    assert "u_old[j, i] = u[j, i]" in nests[0]
    for seed, (rows, columns) in enumerate(product([1, 2, 3, 6], [1, 2, 5])):
        check(program, {"ny": rows, "nx": columns}, seed)


def test_a_part_of_a_field_is_replaced() -> None:
    def grown(h: Any) -> None:
        h[cells] = h[cells] + star @ (torus @ h[cells])

    program = declared(grown, h=wide)
    assert gone(program)
    for seed, (rows, columns) in enumerate(product([1, 4], [1, 5])):
        check(program, {"ny": rows, "nx": columns}, seed)


def test_planes_are_replaced_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    box = ssr.Space(*ssr.sizes("nz ny nx"))
    offsets = [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    weights = {offset: 0.3 + n for n, offset in enumerate(offsets)}
    matrix, fill = ssr.stencil(box, box.grow(1), weights), bc.fill(box.grow(1), bc.periodic())
    program = declared(lambda u: u.__setitem__(slice(None), matrix @ (fill @ u)), u=box)
    assert gone(program)
    assert len(program.explain("nests").split("-- nest ")) == 3
    for seed, shape in enumerate([(1, 1, 1), (2, 3, 1), (4, 1, 5), (5, 4, 3)]):
        check(program, dict(zip(("nz", "ny", "nx"), shape, strict=True)), seed)


def test_readers_share_what_is_folded() -> None:
    @ssr.program(u=cells, y=cells, z=cells)
    def two(u: Any, y: Any, z: Any) -> None:
        t = torus @ u
        y[:] = star @ t
        z[:] = y * (star @ (t * t))

    @ssr.program(u=cells, v=cells)
    def turns(u: Any, v: Any) -> None:
        v[:] = u + 0.1 * (star @ (basin @ u))
        u[:] = v + 0.1 * (star @ (mirror @ v))

    assert "t is not stored" in notes(turns)
    assert "t_1 is not stored" in notes(turns)
    for program in two, turns:
        check(program, {"ny": 3, "nx": 4}, 0)


def test_calls_that_were_joined_are_folded_together() -> None:
    @ssr.program(u=cells, v=cells, y=cells)
    def both(u: Any, v: Any, y: Any) -> None:
        y[:] = star @ (torus @ u) - star @ (torus @ v)

    assert "t, t_1 are not stored" in notes(both)
    check(both, {"ny": 3, "nx": 2}, 1)


def test_components_have_signs_of_their_own() -> None:
    V = cells.vector(2)
    walls = bc.fill(
        wide.vector(2), bc.symmetric(0, sign=[-1, 1]), bc.ghost_value([1.0, 0.0], axis=1)
    )
    cross = ssr.stencil(cells, wide, {(-1, 0): 1.0, (1, 0): -0.5, (0, 1): 0.25})

    @ssr.program(U=V, W=V)
    def step(U: Any, W: Any) -> None:
        W[:] = cross @ (walls @ U)

    assert gone(step)
    U = np.array([[[0.0, -0.0, 3.0]], [[1.0, np.nan, -np.inf]]])
    found = []
    for fold in True, False:
        W = np.full_like(U, np.nan)
        plain.run(step.with_options(ssr.Options(fold=fold)), U, W)
        found.append(W)
    plain.check_same(*found)


GRIDS = {
    "box": (1, bc.topologies.periodic_box(2)),
    "bricks": (6, bc.topologies.bricks(2, 3, periodic=[1])),
    "twisted": (2, bc.topologies.glued(twist=True)),
    "moebius": (1, bc.topologies.moebius()),
}


@pytest.mark.parametrize("name", GRIDS)
def test_blocks(name: str) -> None:
    count, links = GRIDS[name]
    (n,) = ssr.sizes("n")
    points = bc.Grid(count * [(n, n)], links=links).cells
    fill = bc.fill(points.grow(1), bc.linked(), *([] if name == "box" else [bc.dirichlet(0.1)]))
    weights = {(0, 0, 0): -4.0, (0, 0, 1): 1.0, (0, 0, -1): 0.3, (0, 1, 0): -1.0, (0, -1, 0): 0.1}
    A = ssr.stencil(points, points.grow(1), weights)
    program = declared(product_of(A, fill), u=points, y=points)
    assert gone(program)
    for size in 1, 2, 5:
        check(program, {"n": size}, size)


def test_lines_that_are_turned_are_left_alone() -> None:
    (n,) = ssr.sizes("n")
    points = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells
    near = {(0, 0, 0): -4.0, (0, 0, 1): 1.0, (0, 0, -1): 0.3, (0, 1, 0): -1.0, (0, -1, 0): 0.1}
    body = product_of(
        ssr.stencil(points, points.grow(1), near), bc.fill(points.grow(1), bc.linked())
    )
    program = declared(body, u=points, y=points)
    assert "terms that only some lines of y have" in notes(program)
    check(program, {"n": 3}, 1)


def product_of(matrix: Any, fill: Any) -> Callable[..., None]:
    def body(u: Any, y: Any) -> None:
        y[:] = matrix @ (fill @ u)

    return body


def test_bits_do_not_depend_on_boxes_or_fusion() -> None:
    program = ssr.program(u=cells, y=cells)(once)
    u = np.random.default_rng(0).uniform(-1, 1, (7, 9))
    found = []
    for options in ssr.Options(), ssr.Options(fuse=False), ssr.Options(split=False):
        for boxes in None, tuple(ssr.Space(7, 9).split(3, 2)):
            y = np.full_like(u, np.nan)
            plain.run(program.with_options(options), u, y, boxes=boxes)
            found.append(y)
    for y in found:
        plain.check_same(y, found[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    box = ssr.Space(*ssr.sizes("nz ny nx"))
    whole = dict.fromkeys(product(range(-1, 2), repeat=3), 0.25)
    fill = bc.fill(box.grow(1), bc.periodic(0), bc.dirichlet(0.1, 1), bc.dirichlet(0.1, 2))
    program = ssr.program(u=box, y=box)(product_of(ssr.stencil(box, box.grow(1), whole), fill))
    assert gone(program)
    stored = program.with_options(ssr.Options(fold=False))
    for shape in (1, 1, 1), (2, 3, 1), (5, 4, 19), (9, 8, 40):
        u = np.random.default_rng(1).choice([*NUMBERS, *range(-9, 9)], shape).astype(dtype)
        first, second = np.empty_like(u), np.empty_like(u)
        with np.errstate(all="ignore"):
            program(u, first)
            stored(u, second)
        plain.check_same(first, second)


def test_sizes_for_which_rules_differ_are_refused() -> None:
    far = cells.grow(2)
    rules = bc.symmetric(0, "low"), bc.symmetric(0, "high", sign=-0.3), bc.dirichlet(0.1, 1)
    corner = ssr.stencil(cells, far, {(0, 0): 1.0, (-2, -1): 0.5})
    program = declared(product_of(corner, bc.fill(far, *rules)), u=cells, y=cells)
    assert gone(program)
    check(program, {"ny": 2, "nx": 1}, 0)
    for fold in True, False:
        with pytest.raises(AmbiguousGhostError, match="j = -2, i = -1"):
            plain.run(
                program.with_options(ssr.Options(fold=fold)), np.ones((1, 1)), np.ones((1, 1))
            )


def test_ghosts_of_some_sizes_are_not_folded_for_others() -> None:
    line = ssr.Space(nx)
    fill = bc.fill(line.grow(1), bc.symmetric(about="point"))
    body = product_of(ssr.stencil(line, line.grow(1), {-1: 1.0, 1: 1.0}), fill)
    program = declared(body, u=line, y=line)
    assert "t is read where nothing defines it" in notes(program)
    check(program, {"nx": 5}, 0)
    with pytest.raises(UndefinedGhostError):
        plain.run(program, np.ones(1), np.ones(1))


# -- programs in which they are not --------------------------------------------------------------

small = ssr.Space(4, 5)
table = scipy.sparse.random_array((20, 42), density=0.2, rng=np.random.default_rng(0))
known = ssr.from_scipy(table.tocsr(), rows=small, cols=small.grow(1))
upwind = ssr.stencil(cells, cells, {(0, 0): 4, (0, -1): -1.0}, outside="zero")
far = cells.grow(3)
disc = {(j, i): 0.1 * i - 0.3 * j for j in range(-3, 4) for i in range(-3, 4) if i * j or i + j}


def outlived(u: Any, y: Any) -> None:
    t = torus @ u
    u[:] = 2.0 * y
    y[:] = star @ t


def value(u: Any, y: Any) -> None:
    y[:] = star @ (torus @ (u * 2.0))


def several(u: Any, y: Any) -> None:
    y[:] = star @ (bc.fill(wide, bc.extrapolate(2)) @ u)


def function(u: Any, y: Any) -> None:
    y[:] = star @ (bc.fill(wide, bc.dirichlet(lambda y, x: x + y)) @ u)


def swept(u: Any, y: Any) -> None:
    y[:] = upwind.solve(star @ (torus @ u))


def many(u: Any, y: Any) -> None:
    y[:] = ssr.stencil(cells, far, disc) @ (bc.fill(far, bc.periodic(0), bc.periodic(1)) @ u)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (outlived, "u is written while t is read"),
        (value, "t is not a copy of a field"),
        (several, "made of several"),
        (function, "by tables"),
        (swept, "rows depend on each other"),
        (many, "more terms in y"),
    ],
)
def test_what_is_left_alone(body: Any, reason: str) -> None:
    program = declared(body, u=cells, y=cells)
    assert reason in notes(program)
    assert "t is completed by" in notes(program)
    for sizes in {"ny": 2, "nx": 3}, {"ny": 5, "nx": 4}:
        check(program, sizes, 1)


def test_a_stored_matrix_reads_a_stored_field() -> None:
    fill = bc.fill(small.grow(1), bc.periodic())
    program = declared(product_of(known, fill), u=small, y=small)
    assert "t is read through a stored matrix" in notes(program)


def test_a_field_with_ghosts_is_the_callers() -> None:
    @ssr.program(h=wide, y=cells)
    def refresh(h: Any, y: Any) -> None:
        h[:] = torus @ h[cells]
        y[:] = star @ h

    assert "h is a field of the caller" in notes(refresh)


def test_folding_can_be_switched_off() -> None:
    program = ssr.program(u=cells, y=cells, options=ssr.Options(fold=False))(once)
    assert notes(program).endswith("It is off with these options.")
    assert "t[j - 1, i]" in program.explain("loops")
    assert not gone(program)
    assert gone(program.with_options(ssr.Options(debug=True)))


@pytest.mark.parametrize(
    "order",
    [("z = x", "u = 2 z", "w = y"), ("u = x", "v = y"), ("v = y", "u = x", "w = y")],
)
def test_blocks_of_other_shape_are_read_before_they_change(order: Sequence[str]) -> None:
    grid = bc.Grid([(2, 3), (2, 4)], links=bc.topologies.glued(twist=True))
    a, b = grid.kinds
    fill = bc.fill((a.grow(1), b.grow(1)), bc.linked(), bc.ghost_value(3.0))
    first, second = (
        ssr.stencil(k, k.grow(1), {(0, 0, 1): 0.5, (0, 0, -1): 0.25, (0, 1, 0): 2.0})
        for k in (a, b)
    )

    def body(u: Any, z: Any, v: Any, w: Any) -> None:
        x, y = fill @ (u, v)
        for text in order:
            match text:
                case "u = x":
                    u[:] = first @ x
                case "z = x":
                    z[:] = first @ x
                case "v = y":
                    v[:] = second @ y
                case "w = y":
                    w[:] = second @ y
                case "u = 2 z":
                    u[:] = 2.0 * z

    check(declared(body, u=a, z=a, v=b, w=b), {}, 0)
