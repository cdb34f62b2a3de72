"""Fields on several spaces stored by one nest: cells, their faces, wider spaces, and parts."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.compiler.pipeline import fused_nests
from ssr.errors import BoxError
from ssr.lower.steps.in_place import in_place

from .. import memory, plain
from .. import strategies as some
from ..interpret import interpret_nest, interpret_program

Array = np.ndarray[Any, Any]
NAMES = ("nz", "ny", "nx")


@pytest.fixture(scope="module", autouse=True)
def verified() -> Iterator[None]:
    """Let every nest be verified after every pass, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSR_VERIFY", "1")
        yield


class Grid:
    """Cells of some dimensions, wider spaces, faces along all axes, and matrices between them."""

    def __init__(self, dim: int) -> None:
        self.names = NAMES[-dim:]
        self.cells = ssr.Space(*ssr.sizes(" ".join(self.names)))
        self.wide = self.cells.grow(2)
        self.near = self.cells.grow(*[(1, 0), 1, 0][:dim])
        self.faces = [self.cells.faces(axis) for axis in range(dim)]
        self.to_faces = [self._to_faces(axis) for axis in range(dim)]
        self.to_cells = [self._to_cells(axis) for axis in range(dim)]
        weights = {}
        for axis in range(dim):
            for side in (-1, 0, 1):
                weights[tuple(side * (a == axis) for a in range(dim))] = 0.25 + 0.125 * side * axis
        self.star = ssr.stencil(self.cells, self.wide, weights)
        self.inner = ssr.stencil(self.wide, self.wide, weights, outside="zero")

    def _to_faces(self, axis: int) -> ssr.Matrix:
        def average(*index: Any) -> Any:
            for shift, weight in ((-2, -0.0625), (-1, 0.5625), (0, 0.5), (1, -0.125)):
                yield tuple(i + shift * (a == axis) for a, i in enumerate(index)), weight

        return ssr.matrix(rows=self.faces[axis], cols=self.wide)(_named(average, len(self.names)))

    def _to_cells(self, axis: int) -> ssr.Matrix:
        def difference(*index: Any) -> Any:
            yield index, -1.0
            yield tuple(i + int(a == axis) for a, i in enumerate(index)), 1.0

        rows, cols = self.cells, self.faces[axis]
        return ssr.matrix(rows=rows, cols=cols)(_named(difference, len(self.names)))


def _named(function: Any, dim: int) -> Any:
    """Return a generator with one parameter for each axis."""
    return {
        1: lambda i: function(i),
        2: lambda j, i: function(j, i),
        3: lambda k, j, i: function(k, j, i),
    }[dim]


GRIDS = {dim: Grid(dim) for dim in (1, 2, 3)}


def body(steps: list[Any], grid: Grid) -> Any:
    """Return a body over a wide field h, fields x and y on cells, and one field for each axis."""

    def run(h: Any, x: Any, y: Any, **more: Any) -> Any:
        flux = [more[f"f{axis}"] for axis in range(len(grid.faces))]
        numbers = []
        for kind, swap, which in steps:
            u, v = (y, x) if swap else (x, y)
            axis = which % len(flux)
            f, g = flux[axis], flux[-1 - axis]
            if kind == "flux":
                f[:] = grid.to_faces[axis] @ h
            elif kind == "square":
                f[:] = f * f - 0.5 * f
            elif kind == "new flux":
                f[:] = grid.to_faces[axis] @ (h * h)
            elif kind == "sum":
                v[:] = v - 0.5 * (grid.to_cells[axis] @ f)
            elif kind == "sum of both":
                v[:] = grid.to_cells[axis] @ (f * f) + grid.to_cells[-1 - axis] @ g
            elif kind == "part":
                h[grid.cells] = u * 0.5 + h[grid.cells]
            elif kind == "near":
                h[grid.near] = 0.5 * h[grid.near]
            elif kind == "whole":
                h[:] = h * 0.75 + 0.125
            elif kind == "wide":
                h[:] = grid.inner @ h
            elif kind == "star":
                v[:] = grid.star @ h + u
            else:
                numbers.append(ssr.dot(u, v))
        x[:] = x + y
        return tuple(numbers)

    return run


KINDS = (
    "flux", "square", "new flux", "sum", "sum of both", "part", "near", "whole", "wide", "star",
    "dot",
)  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.booleans(), st.integers(0, 2)), min_size=2, max_size=6
)


def declared(steps: list[Any], grid: Grid, options: ssr.Options) -> ssr.Program:
    kinds: Any = {"h": grid.wide, "x": grid.cells, "y": grid.cells}
    kinds |= {f"f{axis}": faces for axis, faces in enumerate(grid.faces)}
    parameters = ", ".join(kinds)
    scope = {"inner": body(steps, grid)}
    keywords = ", ".join(f"{n}={n}" for n in kinds)
    exec(f"def run({parameters}):\n    return inner({keywords})", scope)
    return ssr.program(options=options, **kinds)(scope["run"])


def drawn(program: ssr.Program, sizes: dict[str, int], seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {
        f.name: rng.uniform(-1.0, 1.0, tuple(n.evaluate(sizes) for n in f.shape))
        for f in program.ir.fields
    }


def nests(program: ssr.Program) -> Any:
    state = fused_nests(in_place(program.ir), program.options, "float64")
    return state.program, state.nests


@some.examples(40)
@given(st.data(), STEPS, memory.seeds, st.integers(1, 3), st.booleans())
def test_random_programs(
    data: st.DataObject, steps: list[Any], seed: int, dim: int, exact: bool
) -> None:
    grid = GRIDS[dim]
    sizes = {n: data.draw(st.integers(1, 5)) for n in grid.names}
    program = declared(steps, grid, ssr.Options(exact=exact))
    first = drawn(program, sizes, seed)
    second, third = ({n: a.copy() for n, a in first.items()} for _ in range(2))
    found = plain.run(program, *first.values())
    apart = program.with_options(replace(program.options, fuse=False))
    assert found == plain.run(apart, *second.values())
    for name, array in first.items():
        plain.check_same(array, second[name])
    if exact:
        assert found == interpret_program(program.ir, third, {}, sizes)
        for name, array in first.items():
            plain.check_same(array, third[name])


@some.examples(12)
@given(st.data(), STEPS, memory.seeds, st.integers(1, 3))
def test_nests_as_they_are_scheduled(
    data: st.DataObject, steps: list[Any], seed: int, dim: int
) -> None:
    grid = GRIDS[dim]
    steps = [step for step in steps if step[0] != "dot"] or [("star", True, 0)]
    sizes = {n: data.draw(st.integers(1, 4)) for n in grid.names}
    program = declared(steps, grid, ssr.Options(exact=True))
    given, meant = (drawn(program, sizes, seed) for _ in range(2))
    interpret_program(program.ir, meant, {}, sizes)
    short, found = nests(program)
    fields = {f.name: f for f in (*short.fields, *short.temporaries)}
    arrays = dict(given)
    for f in short.temporaries:
        arrays[f.name] = np.full([n.evaluate(sizes) for n in f.shape], np.nan)
    for made in found:
        interpret_nest(made, fields, arrays, {}, sizes)
    for name, array in given.items():
        plain.check_same(array, meant[name])


# -- examples ------------------------------------------------------------------------------------


def fluxes(grid: Grid) -> ssr.Program:
    """Return a program that stores fluxes on all faces beside what they change."""
    axes = range(len(grid.faces))
    steps = [(kind, True, axis) for axis in axes for kind in ("flux", "square")]
    return declared([*steps, *[("sum", True, axis) for axis in axes]], grid, ssr.Options())


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_fluxes_and_what_they_change_are_one_nest(dim: int) -> None:
    program = fluxes(GRIDS[dim])
    (nest,) = nests(program)[1]
    assert nest.rows.points == program.ir.field("x").points
    assert nest.earlier is None
    written = {s.array for s in nest.statements}
    assert written >= {f"f{axis}" for axis in range(dim)}
    sizes = dict(zip(NAMES[-dim:], (5, 7, 9)[-dim:], strict=True))
    first = drawn(program, sizes, 0)
    second = {n: a.copy() for n, a in first.items()}
    program(*first.values())
    program.with_options(ssr.Options(fuse=False))(*second.values())
    for name, array in first.items():
        plain.check_same(array, second[name])


def test_statements_of_one_line_share_loops() -> None:
    """Faces across lines and along them, and what is made of both."""
    source = fluxes(GRIDS[2]).explain("source")
    body = source.partition("def kernel")[2]
    assert body.count("for box in") == 1
    inner = [line for line in body.splitlines() if "for i in range" in line]
    assert len(inner) <= 4


def test_a_whole_beside_a_part() -> None:
    grid = GRIDS[2]
    program = declared([("part", True, 0), ("whole", True, 0)], grid, ssr.Options())
    assert len(nests(program)[1]) == 1


def test_such_nests_are_not_cut() -> None:
    program = fluxes(GRIDS[2])
    arrays = drawn(program, {"ny": 4, "nx": 5}, 0)
    boxes = GRIDS[2].cells.split(2, 1, sizes={"ny": 4, "nx": 5})
    with pytest.raises(BoxError, match="cannot be cut into boxes"):
        program(*arrays.values(), boxes=boxes)


def test_spaces_that_differ_by_more_than_their_sides_stay_apart() -> None:
    n, m = ssr.sizes("n m")
    one, other = ssr.Space(n, m), ssr.Space(m, n)

    @ssr.program(x=one, y=other)
    def p(x: Any, y: Any) -> None:
        x[:] = 2.0 * x
        y[:] = 3.0 * y

    assert len(nests(p)[1]) == 2
    x, y = np.ones((2, 3)), np.ones((3, 2))
    plain.run(p, x, y)
    assert x.sum() + y.sum() == 30.0


def test_what_is_stored_on_several_spaces_is_made_once() -> None:
    """Boxes would make points between them twice, even if no step reads another."""
    cells = GRIDS[2].cells

    @ssr.program(x=cells, f=cells.faces(0))
    def p(x: Any, f: Any) -> None:
        x[:] = 2.0 * x
        f[:] = 3.0 * f

    x, f = np.ones((4, 5)), np.ones((5, 5))
    with pytest.raises(BoxError, match="cannot be cut into boxes"):
        p(x, f, boxes=cells.split(2, 1, sizes={"ny": 4, "nx": 5}))
    p(x, f)
    assert (x.sum(), f.sum()) == (40.0, 75.0)


def test_a_temporary_made_in_parts_is_stored() -> None:
    """What an earlier nest made of it is read beside the part."""
    grid = GRIDS[1]

    @ssr.program(x=grid.wide, t=grid.wide, y=grid.wide)
    def p(x: Any, t: Any, y: Any) -> Any:
        t[:] = 2.0 * x
        s = ssr.sum(t)
        t[grid.cells] = s + x[grid.cells]
        y[:] = t * t
        return s

    x, t, y = p.ir.fields
    made = replace(p.ir, fields=(x, y), temporaries=(t,))
    state = fused_nests(in_place(made), p.options, "float64")
    assert [nest.target for nest in state.nests][-1] == "y"
    assert [f.name for f in state.program.temporaries] == ["t"]
