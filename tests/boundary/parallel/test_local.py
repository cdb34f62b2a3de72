"""Entries within boxes: the bits of matrices that know by their data which box a point is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr import errors, ir
from ssr.algebra.own_box import is_local
from ssr.compiler.pipeline import direct, fused_nests, simple
from ssr.points.affine import Affine
from ssr.programs.program import declaration

from ...ssr import strategies as some
from . import ranks
from .ranks import Parts

EXACT = ssr.Options(exact=True)
SPACES = {
    1: ssr.Space(ssr.size("nx")),
    2: ssr.Space(*ssr.sizes("ny nx")),
    3: ssr.Space(*ssr.sizes("nz ny nx")),
}


@pytest.fixture(autouse=True)
def plain_kernels() -> Iterator[None]:
    with ranks.plain_kernels():
        yield


def weights(ndim: int) -> dict[Any, float]:
    """Return a stencil without symmetry, on all neighbours; in space on those beside faces."""
    offsets = [o for o in product((-1, 0, 1), repeat=ndim) if ndim < 3 or sum(map(abs, o)) < 2]
    far = {offset: -1.0 - 0.1 * n for n, offset in enumerate(offsets)}
    return far | {(0,) * ndim: 3.0 - sum(far.values())}


def alike(ndim: int) -> dict[Any, float]:
    """Return a stencil with one weight for all neighbours."""
    offsets = list(product((-1, 0, 1), repeat=ndim))
    return dict.fromkeys(offsets, -1.0) | {(0,) * ndim: 1.0 * len(offsets)}


def labelled(space: ssr.Space, stencil: Any, label: Any, inside: bool) -> Any:
    """Return the entries whose points have the same label, or another one; the others are zero."""

    @ssr.matrix(rows=space, cols=space, label=space)
    def A(*row: Any, label: Any) -> Iterator[Any]:
        for offset, weight in stencil.items():
            column = tuple(a + b for a, b in zip(row, offset, strict=True))
            if column in space:
                same = label[column] == label[row]
                kept = (weight, 0.0) if inside else (0.0, weight)
                yield column, ssr.where(same, *kept) if any(offset) else weight * inside

    return A.bind(label=label)


Matrices = Callable[[Any], tuple[Any, Any, Any]]


def smoother(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return the smoother of HPCG."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def smooth(x: Any, b: Any, label: Any) -> Any:
        _, near, far = matrices(label)
        s = b - far @ x
        x[:] = near.tril().solve(s - near.triu(1) @ x)
        x[:] = near.triu().solve(s - near.tril(-1) @ x)
        return ssr.dot(b, x)

    return smooth


def products(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return products in several forms, of what has just been made and with transposes."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def multiply(x: Any, b: Any, label: Any) -> Any:
        A, near, far = matrices(label)
        y = near @ b
        x[:] = x + A @ y
        b[:] = 0.5 * (far @ x) + y
        x[:] = (2.0 * near.tril(-1).T) @ b - far.T @ x
        return ssr.max(near @ x)

    return multiply


def corrected(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return a smoother whose right side is a copy of a field but near other boxes."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def correct(x: Any, b: Any, label: Any) -> Any:
        _, near, far = matrices(label)
        s = ssr.materialize(b - far @ x)
        x[:] = near.tril().solve(s - near.triu(1) @ x)
        x[:] = 0.5 * s + near @ x - 0.25 * s
        return ssr.max(s - near @ x)

    return correct


def replaced(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return a smoother that replaces its right side before it is done with it."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def replace(x: Any, b: Any, label: Any) -> Any:
        _, near, far = matrices(label)
        s = ssr.materialize(b - far @ x)
        b[:] = s - near @ x
        x[:] = near.triu().solve(s - near.tril(-1) @ x)
        return ssr.dot(s, x)

    return replace


def twice(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return three sweeps that share a right side, two in one direction, and one of its own."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def sweep(x: Any, b: Any, label: Any) -> Any:
        _, near, far = matrices(label)
        s = ssr.materialize(b - far @ x)
        x[:] = near.tril().solve(s - near.triu(1) @ x)
        x[:] = near.tril().solve(s - near.triu(1) @ x)
        x[:] = near.triu().solve(s - near.tril(-1) @ x)
        x[:] = near.triu().solve(b - near.tril(-1) @ x - far @ x)
        return ssr.dot(b, x)

    return sweep


def looked_at(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return a smoother between whose sweeps other boxes' new values are read."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def look(x: Any, b: Any, label: Any) -> Any:
        A, near, far = matrices(label)
        s = ssr.materialize(b - far @ x)
        x[:] = near.tril().solve(s - near.triu(1) @ x)
        y = ssr.materialize(A @ x)
        x[:] = near.triu().solve(s - near.tril(-1) @ x)
        b[:] = 0.5 * b + 0.25 * y
        return ssr.dot(b, x)

    return look


def of_two(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return sweeps for two fields that share a right side, which reads of both."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def sweep(x: Any, b: Any, label: Any) -> Any:
        A, near, far = matrices(label)
        s = ssr.materialize(1.0 - far @ x - 0.5 * (far @ b))
        x[:] = near.tril().solve(s - near.triu(1) @ x)
        b[:] = near.triu().solve(s - 0.5 * (near.tril(-1) @ b))
        x[:] = near.triu().solve(s - near.tril(-1) @ x)
        return ssr.dot(A @ b, x)

    return sweep


def mixed(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return a sweep within boxes and one in which boxes wait for each other."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def sweep(x: Any, b: Any, label: Any) -> Any:
        A, near, far = matrices(label)
        x[:] = near.tril().solve(1.0 - near.triu(1) @ x - far @ x)
        b[:] = A.tril().solve(x - A.triu(1) @ b)
        return ssr.dot(b, x)

    return sweep


def between(space: ssr.Space, matrices: Matrices, options: ssr.Options) -> ssr.Program:
    """Return a program that reads of other boxes what these make, and what they overwrite."""

    @ssr.program(x=space, b=space, label=space, options=options)
    def read(x: Any, b: Any, label: Any) -> None:
        _, near, far = matrices(label)
        b[:] = far @ (near @ b)
        x[:] = far @ x

    return read


def by_labels(space: ssr.Space, stencil: Any = weights) -> Matrices:
    """Return the whole matrix, and its parts by labels."""
    entries = stencil(space.ndim)
    A = ssr.stencil(space, space, entries, outside="zero")
    return lambda label: (A, *(labelled(space, entries, label, same) for same in (True, False)))


def by_boxes(space: ssr.Space, stencil: Any = weights) -> Matrices:
    """Return the whole matrix, and its parts by boxes."""
    A = ssr.stencil(space, space, stencil(space.ndim), outside="zero")
    return lambda label: (A, A.rank_local(), A - A.rank_local())


def labels(on: bc.Distribution, space: ssr.Space) -> np.ndarray[Any, Any]:
    """Return the number of the box of each point."""
    found = np.empty(space.extent(on.sizes))
    for number, box in enumerate(on.partition.owned(space)):
        found[tuple(slice(*edges) for edges in box)] = number
    return found


@pytest.mark.parametrize("ndim", [1, 2])
def test_entries_between_boxes_of_one_rank(ndim: int) -> None:
    """Values move between them before any box overwrites these."""
    space = SPACES[ndim]
    wanted, local = (between(space, of(space), EXACT) for of in (by_labels, by_boxes))
    sizes = dict.fromkeys(space.sizes, 5)
    for parts in (
        Parts(2, cut=(3, 1)[:ndim]),
        Parts(2, cut=(5, 2)[:ndim]),
        Parts(1, cut=(1, 3)[-ndim:]),
    ):
        compare(wanted, local, space, sizes, parts)


@pytest.mark.parametrize(
    ("made", "ndim"),
    [
        *((made, ndim) for made in (smoother, corrected) for ndim in (1, 2, 3)),
        *((made, ndim) for made in (products, replaced, twice) for ndim in (1, 2)),
        *((made, 2) for made in (looked_at, of_two, mixed)),
    ],
)
def test_entries_within_boxes(made: Any, ndim: int) -> None:
    space = SPACES[ndim]
    wanted, local = (made(space, of(space), EXACT) for of in (by_labels, by_boxes))

    @some.examples(6)
    @given(st.data())
    def check(data: Any) -> None:
        sizes = {name: data.draw(st.integers(1, 9 - 2 * ndim)) for name in space.sizes}
        parts = data.draw(ranks.parts(space, sizes, most=3))
        compare(wanted, local, space, sizes, parts)

    check()


def compare(
    wanted: ssr.Program,
    local: ssr.Program,
    space: ssr.Space,
    sizes: Any,
    parts: Parts,
    within: float = 0.0,
) -> None:
    """Fail unless a program on boxes makes the bits of one on labels, run after run.

    Zeros of either sign are equal: an entry that is not there adds one. Values need be equal
    ``within`` some bound only, if there is one.
    """
    rng = np.random.default_rng(1)
    x, b = (rng.uniform(-1.0, 1.0, space.extent(sizes)) for _ in range(2))
    on = parts.spread(space, sizes)
    label = labels(on, space)
    fields = [on.scatter(space, a) for a in (x, b, label)]
    bound = local.bind(*fields)
    for run in range(2):
        number = ranks.serial(wanted, (x, b, label), compiled=False)
        ranks.check_numbers(bound(), number) if not within else bound()
        for field, array in zip(fields, (x, b, label), strict=True):
            np.testing.assert_allclose(field.gather(), array, within, within, err_msg=f"run {run}")
    ranks.check_mail(bound)


@pytest.mark.parametrize(("made", "ndim"), [(twice, 2), (twice, 3), (looked_at, 2)])
def test_entries_within_boxes_and_beside_them_are_joined(made: Any, ndim: int) -> None:
    """Sums that may be reassociated are those of labels, but for roundings."""
    space = SPACES[ndim]
    wanted = made(space, by_labels(space, alike), EXACT)
    local = made(space, by_boxes(space, alike), ssr.Options())

    @some.examples(6)
    @given(st.data())
    def check(data: Any) -> None:
        sizes = {name: data.draw(st.integers(1, 9 - 2 * ndim)) for name in space.sizes}
        parts = data.draw(ranks.parts(space, sizes, most=3))
        compare(wanted, local, space, sizes, parts, within=1e-11)

    check()


@pytest.mark.parametrize(
    ("made", "stored"),
    [(corrected, {"t"}), (twice, set()), (looked_at, {"t", "t_1"}), (of_two, {"t"})],
)
def test_sweeps_add_up_what_they_read_of_other_boxes(made: Any, stored: set[str]) -> None:
    """A sum before them is not stored where nothing else is read of other boxes meanwhile."""
    program = made(SPACES[2], by_boxes(SPACES[2]), ssr.Options(distributed=True))
    found = simple(declaration(program).program, ssr.Options())
    assert {name for step in found.steps for name in ir.made(step)} & {"t", "t_1"} == stored


def test_a_sweep_within_boxes_has_the_loops_of_one_box() -> None:
    """Terms of the own box and of others are one, but at the beginning of a line's recurrence."""
    space, options = SPACES[3], ssr.Options(distributed=True, wide_boxes=True)
    A = ssr.stencil(space, space, alike(3), outside="zero")
    near = A.rank_local()

    @ssr.program(x=space, b=space, options=options)
    def smooth(x: Any, b: Any) -> None:
        s = ssr.materialize(b - (A - A.rank_local()) @ x)
        x[:] = near.tril().solve(s - near.triu(1) @ x)

    made = direct(declaration(smooth).program, options)
    (nest,) = fused_nests(made, options, "float64").nests
    assert isinstance(nest, ir.Nest)
    local = [
        term.operand
        for statement in nest.statements
        for total in ir.sums(statement.value)
        for term in total.terms
        if is_local(term.domain) and not statement.domain <= term.domain
    ]
    k, j, i = map(Affine.name, nest.axes)
    assert local == [ir.Load("x", (k, j, i - 1))]


CUTS = [
    Parts(1, boxes=((0, 0, ((0, 5), (0, 9))),)),
    Parts(2, cut=(1, 2)),
    Parts(3, boxes=((0, 0, ((0, 2), (0, 9))), (2, 0, ((2, 5), (0, 1))), (0, 0, ((2, 5), (1, 9))))),
]


@pytest.mark.parametrize("parts", CUTS)
def test_owners_and_processes_do_not_matter(parts: Parts) -> None:
    """The same boxes on other ranks, or in one process, give the same bits with all options."""
    space, sizes = SPACES[2], {"ny": 5, "nx": 9}
    program = smoother(space, by_boxes(space), ssr.Options())
    first = parts.spread(space, sizes)
    boxes = [tuple(map(tuple, box)) for box in first.partition.boxes.tolist()]
    found = []
    spreads = [
        first,
        bc.distribute(space, boxes=[(0, 0, box) for box in boxes], **sizes),
        bc.distribute(
            space,
            bc.simulated_ranks(5),
            boxes=[(4 - n, 0, box) for n, box in enumerate(boxes)],
            **sizes,
        ),
    ]
    for on in spreads:
        x, b, label = (on.zeros(space) for _ in range(3))
        x.fill(lambda j, i: np.sin(3.0 * j + i))
        b.fill(lambda j, i: np.cos(j - 2.0 * i))
        numbers = [program(x, b, label) for _ in range(3)]
        found.append((x.gather().tolist(), b.gather().tolist(), numbers))
    assert found[0] == found[1] == found[2]


def test_one_box_is_the_whole_matrix() -> None:
    """The program on arrays is compiled as if nobody had asked for boxes."""
    space = SPACES[3]
    A = ssr.stencil(space, space, weights(3), outside="zero")

    def source(L: Any, U: Any, over: Any, under: Any, far: Any) -> str:
        @ssr.program(x=space, b=space)
        def smooth(x: Any, b: Any) -> None:
            s = b if far is None else ssr.materialize(b - far @ x)
            x[:] = L.solve(s - over @ x)
            x[:] = U.solve(s - under @ x)

        return smooth.explain("source")

    near = A.rank_local()
    assert source(near.tril(), near.triu(), near.triu(1), near.tril(-1), A - near) == source(
        A.tril(), A.triu(), A.triu(1), A.tril(-1), None
    )


def test_the_smoother_converges_to_the_solution() -> None:
    """Without the entries between boxes on the right side it has another fixed point."""
    space = SPACES[2]
    A = ssr.stencil(space, space, weights(2), outside="zero")
    near = A.rank_local()

    @ssr.program(x=space, b=space)
    def dropping(x: Any, b: Any) -> None:
        x[:] = near.tril().solve(b - near.triu(1) @ x)

    smooth = smoother(space, by_boxes(space), ssr.Options())
    on = bc.distribute(space, bc.simulated_ranks(4), cut=(2, 2), ny=6, nx=7)
    b, label = on.zeros(space), on.zeros(space)
    b.fill(lambda j, i: 1.0 + j - 0.5 * i)
    whole, inside = A.bind(ny=6, nx=7).to_scipy().toarray(), labels(on, space).ravel()
    same = inside[:, None] == inside[None, :]
    found = []
    for program, args in (smooth, (b, label)), (dropping, (b,)):
        x = on.zeros(space)
        for _ in range(150):
            program(x, *args)
        found.append(x.gather().ravel())
    right = b.gather().ravel()
    np.testing.assert_allclose(found[0], np.linalg.solve(whole, right), rtol=1e-12)
    np.testing.assert_allclose(found[1], np.linalg.solve(whole * same, right), rtol=1e-12)
    assert abs(found[0] - found[1]).max() > 0.1


def test_what_is_not_staged() -> None:
    space = SPACES[1]
    A = ssr.stencil(space, space, {-1: -1.0, 0: 2.0}, outside="zero")
    near = A.rank_local()
    for made in (
        lambda: A @ near,
        lambda: near @ A,
        lambda: near**2,
        lambda: near[space.grow(-1), :],
        lambda: ssr.kron(near, A),
    ):
        with pytest.raises(errors.UnsupportedError, match="entries depend on the boxes"):
            made()
    with pytest.raises(errors.SpaceError, match="needs equal spaces"):
        ssr.stencil(space.grow(-1), space, {0: 1.0}).rank_local()


def test_algebra() -> None:
    space = SPACES[2]
    A = ssr.stencil(space, space, weights(2), outside="zero")
    near = A.rank_local()
    far = A - near
    assert not A.equals(near)
    assert (near + far).equals(A)
    assert near.rank_local().equals(near)
    assert (near - near.tril()).equals(near.triu(1))
    assert near.T.equals(A.T.rank_local())
    assert (2.0 * near - near).equals(near)
    assert near.diagonal().equals(A.diagonal())
    assert far.rank_local().families == ()
    assert "in another box" in far.explain("sets")
    sizes = {"ny": 3, "nx": 4}
    np.testing.assert_array_equal(
        near.bind(**sizes).to_scipy().toarray(), A.bind(**sizes).to_scipy().toarray()
    )
    assert abs(far.bind(**sizes).to_scipy()).max() == 0.0


def test_matrices_with_data() -> None:
    """Run-time values cancel like numbers, so that nothing is left within boxes."""
    space = SPACES[1]

    @ssr.matrix(rows=space, cols=space, k=space)
    def A(i: Any, *, k: Any) -> Iterator[Any]:
        if i > 0:
            yield i - 1, -k[i]
        yield i, 2.0 + k[i]

    near = A.rank_local()
    assert [f.box for f in (A - near).families] == ["other"]
    assert (near - near.tril()).families == ()


def test_vector_fields() -> None:
    space = SPACES[1]
    line = ssr.stencil(space, space, {-1: -1.0, 0: 4.0, 1: -0.5}, outside="zero")
    X = ssr.kron(np.array([[2.0, 1.0], [0.5, 3.0]]), line)

    @ssr.program(y=space.vector(2), x=space.vector(2))
    def apply(y: Any, x: Any) -> None:
        y[:] = X.rank_local() @ x

    on = bc.distribute(space, bc.simulated_ranks(2), nx=6)
    y, x = (on.zeros(space.vector(2)) for _ in range(2))
    x.fill(lambda i: np.array([i + 1.0, i * i]))
    apply(y, x)
    kept = X.blocks[0][0].bind(nx=3).to_scipy().toarray() / 2.0
    whole = np.kron(np.array([[2.0, 1.0], [0.5, 3.0]]), np.kron(np.eye(2), kept))
    np.testing.assert_allclose(y.gather().ravel(), whole @ x.gather().ravel(), rtol=1e-14)


def test_ghosts_are_made_at_ghosts_only() -> None:
    """A set of what is read had a part without points, which widened the ghosts to all of a line.

    Boxes overwrote what they own with the values of ghosts.
    """
    space = SPACES[2]
    wide = space.grow(0, (0, 2))
    near = ssr.stencil(space, wide, {(0, 1): 1.0, (0, 2): 1.0})
    fill = bc.fill(wide, bc.extrapolate(2, axis=1, side="high"), owned=space)
    between = ssr.stencil(space, space, {(1, -2): 1.0, (-1, 2): 1.0}, outside="zero")
    apart = between - between.rank_local()

    @ssr.program(y=space, z=space)
    def difference(y: Any, z: Any) -> None:
        t = near @ (fill @ z)
        y[:] = t - apart @ t

    on = bc.distribute(space, bc.simulated_ranks(2), cut=(1, 2), ny=1, nx=5)
    y, z = on.zeros(space), on.empty(space)
    z.fill(lambda j, i: 1.0 + i + j)
    difference(y, z)
    assert np.array_equal(z.gather(), [[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert np.array_equal(y.gather(), [[5.0, 7.0, 9.0, 11.0, 13.0]])


@pytest.mark.parametrize("fuse", [True, False])
def test_entries_within_boxes_beside_a_sweep_over_several_boxes(fuse: bool) -> None:
    """Against dense algebra: the right side of the sweep depends on boxes, the sweep does not."""
    n, m = ssr.sizes("n m")
    cells = ssr.Space(n, m)
    near = {(0, 0): 9.0, (-1, 0): 1.0, (0, -1): 0.05, (0, 1): 0.5, (1, 0): 0.5}
    A = ssr.stencil(cells, cells, near, outside="zero")

    @ssr.program(x=cells, b=cells, k=cells, options=ssr.Options(fuse=fuse))
    def swept(x: Any, b: Any, k: Any) -> None:
        b[:] = A.tril().solve(x - 0.1 * (A.rank_local() @ k) - A.triu(1) @ b)

    @ssr.program(x=cells, b=cells, k=cells, options=ssr.Options(fuse=fuse))
    def partly(x: Any, b: Any, k: Any) -> None:
        b[:] = (A - 0.5 * A.rank_local()).tril().solve(x)

    x, b, k = np.random.default_rng(0).standard_normal((3, 4, 4))
    dense = A.bind(n=4, m=4).to_scipy().toarray()
    for cut, own in ((2, 1), np.arange(16) // 8), ((1, 2), np.arange(16) % 4 // 2):
        within = dense * (own[:, None] == own)
        right = x.ravel() - 0.1 * within @ k.ravel() - np.triu(dense, 1) @ b.ravel()
        expected = {
            swept: np.linalg.solve(np.tril(dense), right),
            partly: np.linalg.solve(np.tril(dense - 0.5 * within), x.ravel()),
        }
        for program, wanted in expected.items():
            on = bc.distribute(cells, bc.simulated_ranks(2), cut=cut, n=4, m=4)
            fields = [on.scatter(cells, a) for a in (x, b, k)]
            program(*fields)
            np.testing.assert_allclose(fields[1].gather().ravel(), wanted, rtol=1e-12, atol=1e-12)
