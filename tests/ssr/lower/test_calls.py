"""Steps of other packages in programs: what they compute, where they run, what they are told."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import ir
from ssr.compiler.pipeline import lower
from ssr.errors import ArgumentError, NonFiniteError, OutOfSpaceError, SpaceError
from ssr.lower import declaration_passes
from ssr.lower.verify.nests import verify_call
from ssr.points.sets import Domain
from ssr.programs.external import extend
from ssr.spaces.space import row_domain

from .. import memory, plain
from .. import strategies as some
from ..ghosts import Ghosts, asked, filled
from ..interpret import interpret_program

Array = np.ndarray[Any, Any]
NAMES = ("nz", "ny", "nx")
SPACES = {dim: ssr.Space(*ssr.sizes(" ".join(NAMES[-dim:]))) for dim in (1, 2, 3)}
cells = SPACES[2]
wide = cells.grow(2)


@pytest.fixture(scope="module", autouse=True)
def verified() -> Iterator[None]:
    """Let every nest be verified after every pass, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSR_VERIFY", "1")
        yield


def star(rows: ssr.Space, cols: ssr.Space, reach: int = 1) -> ssr.Matrix:
    """Return different weights at the neighbours along each axis."""
    weights = {(0,) * rows.ndim: 0.5}
    for axis in range(rows.ndim):
        for side in (-reach, reach):
            offset = tuple(side * (a == axis) for a in range(rows.ndim))
            weights[offset] = 0.125 * (axis + 1) - 0.03125 * side
    return ssr.stencil(rows, cols, weights)


LAPLACE = {dim: star(space, space.grow(2)) for dim, space in SPACES.items()}
FAR = {dim: star(space, space.grow(2), 2) for dim, space in SPACES.items()}


def calls(program: ssr.Program) -> list[ir.Call]:
    return [step for step in program.ir.steps if isinstance(step, ir.Call)]


def steps(program: ssr.Program) -> list[str]:
    """Return the steps of a program in short."""
    found = []
    for step in program.ir.steps:
        name = "call" if isinstance(step, ir.Call) else "make"
        found.append(f"{name} {' '.join(ir.made(step))}")
    return found


# -- against NumPy -------------------------------------------------------------------------------


def wrapped(x: Array, width: int = 2) -> Array:
    """Return an array with its periodic ghost points."""
    return np.pad(x, width, mode="wrap")


def inner(x: Array) -> Array:
    return x[(slice(2, -2),) * x.ndim]


def applied(matrix: dict[int, ssr.Matrix], x: Array) -> Array:
    """Return the product of a matrix with an array on the wide space."""
    shape = inner(x).shape
    sizes = dict(zip(NAMES[-x.ndim :], shape, strict=True))
    made: Array = matrix[x.ndim].bind(**sizes).to_scipy() @ x.ravel()
    return made.reshape(shape)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_step_in_all_ways_to_run(dim: int, dtype: str) -> None:
    space = SPACES[dim]

    @ssr.program(x=space, y=space, s=ssr.scalar)
    def p(x: Any, y: Any, s: Any) -> Any:
        e = filled(space.grow(2), space, x * x, numbers=(s + 1.0,), factor=0.5)
        y[:] = LAPLACE[dim] @ e
        return ssr.sum(e)

    shape = (3, 4, 5)[-dim:]
    x = np.random.default_rng(dim).uniform(size=shape).astype(dtype)
    ghosts = 0.5 * wrapped(x * x) + 1.25
    inner(ghosts)[...] = x * x
    wanted = applied(LAPLACE, ghosts)
    tolerance = 1e-6 if dtype == "float32" else 1e-14
    for run in (
        p, p.run_plain, plain.variant(p, debug=True), plain.variant(p, debug=True).run_plain
    ):  # fmt: skip
        y = np.full(shape, np.nan, dtype)
        total = run(x, y, 0.25)
        np.testing.assert_allclose(y, wanted, rtol=tolerance)
        np.testing.assert_allclose(total, ghosts.sum(), rtol=tolerance)


def test_arrays_of_any_layout() -> None:
    @ssr.program(h=wide, y=cells)
    def p(h: Any, y: Any) -> None:
        h[:] = filled(wide, cells, h[cells])
        y[:] = FAR[2] @ h

    for layout in ("padded", "strided"):
        rng = np.random.default_rng(0)
        h = memory.array(rng, (7, 8), "float64", layout)
        y = memory.array(rng, (3, 4), "float64", layout)
        wanted = wrapped(inner(h))
        p(h, y)
        assert np.array_equal(h, wanted)
        np.testing.assert_allclose(y, applied(FAR, wanted), rtol=1e-14)
        assert memory.untouched(h)


# -- random programs -----------------------------------------------------------------------------


def body(kinds: list[Any], dim: int) -> Any:
    """Return a body over a wide field h, fields x and y, a vector field U and a number s."""
    space = SPACES[dim]
    whole = space.grow(2)
    near, far = LAPLACE[dim], FAR[dim]

    def run(h: Any, x: Any, y: Any, U: Any, s: Any) -> Any:
        numbers = []
        for kind, swap in kinds:
            u, v = (y, x) if swap else (x, y)
            if kind == "in place":
                h[:] = filled(whole, space, h[space] + 0.1 * (near @ h))
            elif kind == "ghosts":
                h[:] = filled(whole, space, h[space])
            elif kind == "inner":
                h[space] = u * v + h[space]
            elif kind == "made":
                e = filled(whole, space, u * v, factor=0.5)
                v[:] = near @ e + far @ (e * e) - s * u
            elif kind == "two":
                a, b = filled(whole, space, u, v + s)
                u[:] = near @ a - 0.5 * (far @ b)
                v[:] = (a * b)[space]
            elif kind == "kept":
                a = filled(whole, space, u)
                h[:] = a
                v[:] = near @ a + far @ h
            elif kind == "number":
                total = ssr.sum(h[space])
                e = filled(whole, space, u, numbers=(total / (1.0 + total * total),))
                numbers.append(total)
                v[:] = near @ e
            elif kind == "vector":
                U[:] = ssr.vector(*filled(whole, space, *(c[space] for c in U)))
                u[:] = u + near @ U[0] - (near @ (U[1] * U[0]))
            else:
                a = filled(whole, space, u)
                b = filled(whole, space, v - u)
                v[:] = far @ a + near @ b
                u[:] = near @ filled(whole, space, v)
        x[:] = x + h[space]
        return tuple(numbers)

    return run


KINDS = (
    "in place", "ghosts", "inner", "made", "two", "kept", "number", "vector", "several",
)  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.booleans()), min_size=1, max_size=4)


def declared(kinds: list[Any], dim: int, options: ssr.Options) -> ssr.Program:
    space = SPACES[dim]
    wide = space.grow(2)
    made = ssr.program(h=wide, x=space, y=space, U=wide.vector(2), s=ssr.scalar, options=options)
    return made(body(kinds, dim))


def drawn(seed: int, shape: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(seed)
    grown = tuple(n + 4 for n in shape)
    shapes = (grown, shape, shape, (2, *grown))
    return [rng.uniform(-1.0, 1.0, s) for s in shapes]


@some.examples(30)
@given(st.data(), STEPS, memory.seeds, st.integers(1, 3), st.booleans())
def test_random_programs(
    data: st.DataObject, kinds: list[Any], seed: int, dim: int, fuse: bool
) -> None:
    shape = data.draw(st.tuples(*[st.integers(2, 4)] * dim))
    program = declared(kinds, dim, ssr.Options(exact=True, fuse=fuse))
    given, meant = drawn(seed, shape), drawn(seed, shape)
    sizes = dict(zip(NAMES[-dim:], shape, strict=True))
    h, x, y, U = meant
    fields = {"h": h, "x": x, "y": y, "U[0]": U[0], "U[1]": U[1]}
    with np.errstate(invalid="ignore"):
        wanted = interpret_program(program.ir, fields, {"s": 0.5}, sizes)
    assert plain.run(program, *given, 0.5) == wanted
    for a, b in zip(given, meant, strict=True):
        plain.check_same(a, b)


@some.examples(15)
@given(STEPS, memory.seeds)
def test_the_order_of_recording_means_the_same(kinds: list[Any], seed: int) -> None:
    """The recorded steps, in their order and with all copies, are the definition."""
    given, meant = drawn(seed, (3, 4)), drawn(seed, (3, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(declaration_passes, "DECLARATION", declaration_passes.DECLARATION[:-1])
        recorded = declared(kinds, 2, ssr.Options(exact=True))
    h, x, y, U = meant
    fields = {"h": h, "x": x, "y": y, "U[0]": U[0], "U[1]": U[1]}
    wanted = interpret_program(recorded.ir, fields, {"s": 0.5}, {"ny": 3, "nx": 4})
    assert plain.run(declared(kinds, 2, ssr.Options(exact=True)), *given, 0.5) == wanted
    for a, b in zip(given, meant, strict=True):
        plain.check_same(a, b)


# -- no copies -----------------------------------------------------------------------------------


def test_a_field_is_extended_in_place() -> None:
    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[:] = filled(wide, cells, h[cells])

    assert steps(p) == ["call h"]
    assert not p.ir.temporaries
    h = np.random.default_rng(0).uniform(size=(7, 8))
    wanted = wrapped(inner(h))
    p(h)
    assert np.array_equal(h, wanted)


def test_a_step_in_time_is_made_where_it_is_kept() -> None:
    @ssr.program(h=wide, r=cells)
    def p(h: Any, r: Any) -> None:
        h[:] = filled(wide, cells, h[cells] + 0.1 * r)

    assert steps(p) == ["make h", "call h"]
    assert not p.ir.temporaries


def test_components_are_extended_in_place() -> None:
    @ssr.program(U=wide.vector(3))
    def p(U: Any) -> None:
        U[:] = ssr.vector(*filled(wide, cells, *(c[cells] for c in U)))

    assert steps(p) == ["call U[0] U[1] U[2]"]


def test_what_is_copied_later_is_the_field() -> None:
    @ssr.program(h=wide, y=cells)
    def p(h: Any, y: Any) -> None:
        e = filled(wide, cells, h[cells])
        h[:] = e
        y[:] = LAPLACE[2] @ e

    assert steps(p) == ["call h", "make y"]


@pytest.mark.parametrize("why", ["read between", "written between", "read after", "other points"])
def test_where_a_copy_is_needed(why: str) -> None:
    @ssr.program(h=wide, y=cells, g=cells.grow(3))
    def p(h: Any, y: Any, g: Any) -> None:
        e = filled(wide, cells, 2.0 * h[cells])
        if why == "read between":
            y[:] = LAPLACE[2] @ h
        if why == "written between":
            h[cells] = 0.5
            y[:] = LAPLACE[2] @ h
        if why == "other points":
            g[wide] = e
            return
        h[:] = e
        if why == "read after":
            h[cells] = y
            y[:] = LAPLACE[2] @ e

    assert len(p.ir.temporaries) == 1
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(size=s) for s in ((7, 8), (3, 4), (9, 10))]
    meant = [a.copy() for a in arrays]
    h, y, g = meant
    e = wrapped(2.0 * inner(h))
    if why == "read between":
        y[:] = applied(LAPLACE, h)
    if why == "written between":
        inner(h)[...] = 0.5
        y[:] = applied(LAPLACE, h)
    if why == "other points":
        g[1:-1, 1:-1] = e
    else:
        h[:] = e
    if why == "read after":
        inner(h)[...] = y
        y[:] = applied(LAPLACE, e)
    plain.run(p, *arrays)
    for a, b in zip(arrays, meant, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_debug_build_looks_at_what_is_needed() -> None:
    """Ghosts that are not made hold anything, and so does what is computed of them."""

    @ssr.program(x=cells, y=cells, options=ssr.Options(debug=True))
    def p(x: Any, y: Any) -> None:
        e = filled(wide, cells, x, reach=1)
        y[:] = LAPLACE[2] @ (1.0 / (e * e))

    x, y = np.random.default_rng(0).uniform(1.0, 2.0, (2, 3, 4))
    wanted = applied(LAPLACE, wrapped(1.0 / (x * x)))
    for run in p, p.run_plain:
        run(x, y)
        np.testing.assert_allclose(y, wanted, rtol=1e-13)
    x[1, 1] = 0.0
    for run in p, p.run_plain:
        with pytest.raises(NonFiniteError, match=r"makes (inf|nan) in y at \(0, 1\)"):
            run(x, y)


# -- when, and how many at once ------------------------------------------------------------------


def test_calls_wait_for_assignments_and_are_joined() -> None:
    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> None:
        a = filled(wide, cells, x * y)
        b = filled(wide, cells, x - y)
        y[:] = LAPLACE[2] @ a + FAR[2] @ b

    assert steps(p) == ["make t", "make t_1", "call t t_1", "make y"]
    nests = lower(p.ir, p.options, "float64", "title").nests
    assert [isinstance(n, ir.Call) for n in nests] == [False, True, False]
    assert p.kernel().source.count("\ndef c") == 1


def test_calls_that_cannot_be_joined_keep_their_order() -> None:
    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> None:
        a = filled(wide, cells, x * y)
        b = filled(wide, cells, x - y, factor=2.0)
        y[:] = LAPLACE[2] @ a + FAR[2] @ b

    assert steps(p) == ["make t", "make t_1", "call t", "call t_1", "make y"]
    assert [c.name for c in calls(p)] == ["ghosts", "ghosts_1"]
    assert p.kernel().source.count("\ndef c") == 1  # equal functions are written once


def test_a_call_on_what_another_one_makes() -> None:
    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[:] = filled(wide, cells, h[cells])
        h[:] = filled(wide, cells.grow(1), h[cells.grow(1)], factor=0.5)

    assert steps(p) == ["call h", "call h"]
    h = np.random.default_rng(0).uniform(size=(7, 8))
    once = wrapped(wrapped(inner(h), 1), 1) * 0.5
    once[1:-1, 1:-1] = wrapped(inner(h), 1)
    p(h)
    np.testing.assert_allclose(h, once, rtol=1e-15)


def test_what_nobody_reads_is_not_called() -> None:
    @ssr.program(x=cells)
    def p(x: Any) -> None:
        filled(wide, cells, x)
        x[:] = 2.0 * x

    assert steps(p) == ["make x"]


def test_temporaries_share_arrays_across_calls() -> None:
    @ssr.program(x=cells)
    def p(x: Any) -> None:
        for _ in range(3):
            x[:] = LAPLACE[2] @ filled(wide, cells, x)

    assert len(p.ir.temporaries) == 3
    assert len(lower(p.ir, p.options, "float64", "title").program.temporaries) == 2


# -- what a step is told -------------------------------------------------------------------------


def test_exactly_what_is_read() -> None:
    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> None:
        e = filled(wide, cells, x)
        y[:] = LAPLACE[2] @ e
        x[:] = (FAR[2] @ e) - y

    (read,) = asked[-1][1]
    ring = row_domain(cells)
    for shift in (1, 2):
        ring = ring | row_domain(cells.grow(shift, 0)) | row_domain(cells.grow(0, shift))
    assert read.equals(ring & Domain.of(("j", "i"), cells.nonempty()))


def test_what_is_left_in_a_parameter_is_kept() -> None:
    @ssr.program(h=wide, y=cells)
    def p(h: Any, y: Any) -> None:
        h[:] = filled(wide, cells, h[cells])
        h[cells] = LAPLACE[2] @ h

    _, (read,), kept = asked[-1]
    cross = row_domain(cells.grow(1, 0)) | row_domain(cells.grow(0, 1))
    assert read.equals(cross & Domain.of(("j", "i"), cells.nonempty()))
    assert kept == (True,)

    @ssr.program(h=wide, y=cells)
    def q(h: Any, y: Any) -> None:
        h[:] = filled(wide, cells, h[cells])
        h[:] = 0.5

    assert not calls(q)

    @ssr.program(h=wide, y=cells)
    def r(h: Any, y: Any) -> None:
        h[:] = filled(wide, cells, h[cells])
        h[cells.grow(1)] = 0.5

    _, (read,), kept = asked[-1]
    assert read.empty
    assert kept == (True,)


def test_temporaries_are_needed_where_they_are_read() -> None:
    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> None:
        e = filled(wide, cells, x)
        y[:] = LAPLACE[2] @ (e * e)

    _, (read,), kept = asked[-1]
    cross = row_domain(cells.grow(1, 0)) | row_domain(cells.grow(0, 1))
    assert read.equals(cross & Domain.of(("j", "i"), cells.nonempty()))
    assert kept == (False,)


def test_one_step_reads_what_another_is_given() -> None:
    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[:] = filled(wide, cells, h[cells], name="first")
        h[:] = filled(wide, cells.grow(1), h[cells.grow(1)], name="second")

    name, (read,), _ = asked[-1]
    assert name == "first"
    assert read.equals(row_domain(cells.grow(1), (cells,)))


def test_an_undefined_point_is_an_error_at_the_declaration() -> None:
    def p(x: Any, y: Any) -> None:
        e = filled(wide, cells, x, reach=1)
        y[:] = FAR[2] @ e

    with pytest.raises(OutOfSpaceError, match="does not define all ghost points") as caught:
        ssr.program(x=cells, y=cells)(p)
    assert caught.value.span is not None
    assert caught.value.span.function in ("p", "filled")
    assert "j = -2" in str(caught.value)


def test_narrower_reads_are_no_error() -> None:
    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> None:
        y[:] = LAPLACE[2] @ filled(wide, cells, x, reach=1)

    assert calls(p)


def test_boxes_of_the_given_points() -> None:
    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> None:
        a = filled(wide, cells, x * y)
        y[:] = LAPLACE[2] @ a

    x, y = np.random.default_rng(0).uniform(size=(2, 5, 6))
    whole = y.copy()
    p(x, whole)
    p(x, y, boxes=cells.split(2, 3, sizes={"ny": 5, "nx": 6}))
    plain.check_same(y, whole)


def test_calls_are_verified() -> None:
    @ssr.program(x=cells, h=wide)
    def p(x: Any, h: Any) -> None:
        h[:] = filled(wide, cells, x)

    (call,) = calls(p)
    fields = {f.name: f for f in p.ir.fields}
    verify_call(call, fields)
    with pytest.raises(AssertionError, match="not 'x'"):
        verify_call(replace(call, fields=("x",)), fields)
    twice = replace(call, fields=("h", "h"), external=Ghosts(((cells, wide),) * 2))
    with pytest.raises(AssertionError, match="one array twice"):
        verify_call(twice, fields)
    with pytest.raises(AssertionError, match="points outside"):
        verify_call(replace(call, external=Ghosts(((wide.grow(1), wide),))), fields)


# -- errors and texts ----------------------------------------------------------------------------


def test_operands_that_do_not_fit() -> None:
    step = Ghosts(((cells, wide),))

    def declare(function: Any) -> None:
        ssr.program(x=cells, h=wide)(function)

    with pytest.raises(SpaceError, match="ghosts is given an expression on"):
        declare(lambda x, h: extend(step, [h]))
    with pytest.raises(ArgumentError, match="takes 1 fields, not 2"):
        declare(lambda x, h: extend(step, [x, x]))
    with pytest.raises(ArgumentError, match="takes 0 numbers, not 1"):
        declare(lambda x, h: extend(step, [x], 1.0))
    with pytest.raises(SpaceError, match="not a part of the array of ghosts"):
        declare(lambda x, h: extend(Ghosts(((wide, cells),)), [h]))


def test_explain_and_dump(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    @ssr.program(x=cells, s=ssr.scalar)
    def p(x: Any, s: Any) -> None:
        x[:] = LAPLACE[2] @ filled(wide, cells, x, numbers=(2.0 * s,))

    text = p.explain()
    assert "ghosts(t, (2.0 * s))\n  ghosts makes more points of t in place." in text
    assert "t[0:ny, 0:nx] runs in place" in text
    assert re.search(r"c0_step\(t, c0_links, c0_weights, c0_scratch, w\d \* s\)", text)
    monkeypatch.setenv("SSR_DUMP", str(tmp_path))
    plain.uncached(p).kernel()
    assert "ghosts(t" in (tmp_path / "p" / "20_nests.txt").read_text()


def test_the_text_of_the_function_identifies_the_kernel() -> None:
    def made(**more: Any) -> str:
        @ssr.program(x=cells)
        def p(x: Any) -> None:
            x[:] = LAPLACE[2] @ filled(wide, cells, x, **more)

        return p.kernel().name

    assert made() == made(factor=3.0)  # another table
    assert made() != made(numbers=(1.0,))


def test_equal_kernels_have_tables_of_their_own() -> None:
    def made(factor: float) -> ssr.Program:
        @ssr.program(x=cells, y=cells)
        def p(x: Any, y: Any) -> None:
            y[:] = LAPLACE[2] @ filled(wide, cells, x, factor=factor)

        return p

    x = np.ones((3, 4))
    found = []
    for factor in (1.0, 3.0):
        y = np.zeros((3, 4))
        made(factor)(x, y)
        found.append(y[0, 0])
    assert found[0] != found[1]
