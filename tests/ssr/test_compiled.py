"""Machine code gives the bits of the same source run as plain Python."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import OverlapError
from ssr.runtime import target

from . import memory, plain
from . import strategies as some
from .registry import CASES, block, line, nx, ny, plane

Array = np.ndarray[Any, Any]
Arrays = list[Array]


def gauss_seidel() -> ssr.Program:
    A = CASES["poisson_2d"].make()

    @ssr.program(x=plane, b=plane)
    def gauss_seidel(x: Any, b: Any) -> None:
        x[:] = A.tril().solve(b - A.triu(1) @ x)

    return gauss_seidel


def nine_point_backward() -> ssr.Program:
    A = ssr.stencil(plane, plane, some.dense(2, -1.0, 26.0), outside="zero")

    @ssr.program(x=plane, b=plane)
    def nine_point_backward(x: Any, b: Any) -> None:
        x[:] = A.triu().solve(b - A.tril(-1) @ x)

    return nine_point_backward


def twenty_seven_points() -> ssr.Program:
    A = CASES["hpcg"].make()

    @ssr.program(y=block, x=block)
    def twenty_seven_points(y: Any, x: Any) -> None:
        y[:] = A @ x

    return twenty_seven_points


def through_a_temporary() -> ssr.Program:
    A = ssr.stencil(line, line, {-1: 1.0, 0: -2.0, 2: 0.5}, outside="zero")

    @ssr.program(x=line, b=line, a=ssr.scalar)
    def through_a_temporary(x: Any, b: Any, a: Any) -> None:
        x[:] = (A @ x) * a / 3.0 + b
        x[:] = A.tril().solve(x - b)

    return through_a_temporary


def values() -> ssr.Program:
    """All operations on data: of a scalar, of fields, of indices."""

    @ssr.matrix(rows=plane, cols=plane, u=plane, v=plane.grow(1), a=ssr.scalar)
    def A(j: Any, i: Any, *, u: Any, v: Any, a: Any) -> Any:
        yield (j, i), ssr.maximum(u[j, i], a) / ssr.sqrt(1.0 + v[j - 1, i] * v[j - 1, i])
        if (j + i) % 2 == 0 and i > 0:
            yield (j, i - 1), ssr.where(u[j, i] <= v[j, i + 1], abs(u[j, i]), -a) * (i + 2 * j)
        if j < ny - 1:
            yield (j + 1, i), ssr.minimum(v[j + 1, i], u[j, i] - nx)

    @ssr.program(y=plane, x=plane, u=plane, v=plane.grow(1), a=ssr.scalar)
    def values(y: Any, x: Any, u: Any, v: Any, a: Any) -> None:
        y[:] = A.bind(u=u, v=v, a=a) @ x

    return values


def restricted() -> ssr.Program:
    coarse = CASES["restriction"].make()
    fine = CASES["prolongation"].make()

    @ssr.program(x=fine.rows, b=coarse.rows)
    def restricted(x: Any, b: Any) -> None:
        b[:] = b - coarse @ x
        x[:] = x + fine @ b

    return restricted


def galerkin() -> ssr.Program:
    P = CASES["prolongation"].make()
    A = ssr.stencil(P.rows, P.rows, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="zero")
    coarse = P.T @ A @ P

    @ssr.program(x=P.rows, b=line, d=line)
    def galerkin(x: Any, b: Any, d: Any) -> None:
        b[:] = ssr.diagonal(line, d) @ P.T @ x - coarse @ b
        x[:] = A**2 @ x + P @ b

    return galerkin


def interpolated() -> ssr.Program:
    @ssr.matrix(rows=ssr.Space(2 * nx), cols=ssr.Space(nx))
    def along(i: Any) -> Any:
        yield i // 2, 0.75
        if i % 2 == 0 and i > 0:
            yield i // 2 - 1, 0.25

    P = ssr.kron(ssr.identity(ssr.Space(ny)), along)

    @ssr.program(x=P.rows, y=P.cols)
    def interpolated(x: Any, y: Any) -> None:
        x[:] = x - P @ y
        y[:] = y + P.T @ x

    return interpolated


PROGRAMS: dict[str, tuple[Callable[[], ssr.Program], tuple[float, ...]]] = {
    made.__name__: (made, scalars)
    for made, scalars in [
        (gauss_seidel, ()), (nine_point_backward, ()), (twenty_seven_points, ()),
        (through_a_temporary, (0.7,)), (values, (0.25,)), (restricted, ()),
        (galerkin, ()), (interpolated, ()),
    ]
}  # fmt: skip
SIZES = {1: [(1,), (2,), (3,), (17,)], 2: [(1, 1), (1, 7), (6, 1), (2, 2), (5, 12)]}
SIZES[3] = [(1, 1, 1), (1, 2, 9), (3, 1, 2), (4, 5, 6)]


@cache
def compiled(name: str) -> ssr.Program:
    return PROGRAMS[name][0]()


def arrays(program: ssr.Program, shape: tuple[int, ...], dtype: str, layout: str) -> Arrays:
    """Return random arrays for the fields of a program."""
    rng = np.random.default_rng(sum(shape))
    names = ("n",) if len(shape) == 1 else ("nz", "ny", "nx")[-len(shape) :]
    sizes = dict(zip(names, shape, strict=True))
    spaces = [kind for _, kind in program.signature.kinds if isinstance(kind, ssr.Space)]
    return [memory.array(rng, space.extent(sizes), dtype, layout) for space in spaces]


def both(name: str, given: Arrays, **boxes: Any) -> None:
    """Run a program compiled and plain, and compare all arrays bit for bit."""
    program, scalars = compiled(name), PROGRAMS[name][1]
    fast = [copy(a) for a in given]
    program(*fast, *scalars, **boxes)
    program.run_plain(*given, *scalars, **boxes)
    for a, b in zip(fast, given, strict=True):
        plain.check_same(a, b)
        assert memory.untouched(a)
        assert memory.untouched(b)


def copy(view: Array) -> Array:
    """Return a copy with the same strides, in a copy of the memory around it."""
    if view.base is None:
        return view.copy()
    base: Any = view.base
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(view.shape, view.dtype, base.copy(), offset, view.strides)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_at_many_sizes_and_strides(name: str, dtype: str) -> None:
    program = compiled(name)
    ndim = program.signature.kinds[0][1].ndim  # type: ignore[union-attr]
    for shape in SIZES[ndim]:
        for layout in "C", "padded", "strided", "swapped":
            both(name, arrays(program, shape, dtype, layout))
    assert set(program._launcher.kernels) <= {"float64", "float32"}


@pytest.mark.parametrize("name", ["gauss_seidel", "nine_point_backward", "twenty_seven_points"])
def test_bits_in_boxes(name: str) -> None:
    program = compiled(name)
    shape = (4, 7) if program.signature.kinds[0][1].ndim == 2 else (4, 3, 7)  # type: ignore[union-attr]
    given = arrays(program, shape, "float64", "padded")
    parts = (3, 1) if len(shape) == 2 else (2, 2, 3)
    space = ssr.Space(*shape)
    both(name, given, boxes=space.split(*parts)[::-1])


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_special_numbers_spread_alike(name: str, bad: float) -> None:
    program = compiled(name)
    shape = SIZES[program.signature.kinds[0][1].ndim][-1]  # type: ignore[union-attr]
    for place in range(len(arrays(program, shape, "float64", "C"))):
        given = arrays(program, shape, "float64", "C")
        given[place].flat[given[place].size // 2] = bad
        both(name, given)


def test_nan_reaches_the_rows_that_read_it_and_no_others() -> None:
    x = np.zeros((5, 7))
    x[2, 3] = np.nan
    A = CASES["poisson_2d"].make()
    y = A @ x
    rows = {(2, 3), (1, 3), (3, 3), (2, 2), (2, 4)}
    assert {(int(j), int(i)) for j, i in np.argwhere(np.isnan(y))} == rows
    x = np.zeros((5, 7))
    b = x.copy()
    b[3, 3] = np.nan
    compiled("gauss_seidel")(x, b)
    assert np.isnan(x[3:, 3:]).all()
    assert not np.isnan(x[:3]).any()
    assert not np.isnan(x[3, :3]).any()


def test_two_threads_at_once() -> None:
    """The first call of a program from many threads, then many calls at once."""
    program = nine_point_backward()
    shapes = [(40, 50), (33, 21), (40, 50), (1, 9)]
    given = [arrays(program, shape, "float64", "C") for shape in shapes]
    meant = [[a.copy() for a in found] for found in given]
    start = Barrier(len(shapes))

    def work(found: Arrays) -> None:
        start.wait()
        for _ in range(20):
            program(*found)

    with ThreadPoolExecutor(len(shapes)) as pool:
        list(pool.map(work, given))
    for found in meant:
        for _ in range(20):
            program(*found)
    for ours, theirs in zip(given, meant, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            plain.check_same(a, b)


def test_blocks_for_the_cache_keep_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    given = arrays(twenty_seven_points(), (3, 40, 5), "float64", "C")
    whole = [a.copy() for a in given]
    twenty_seven_points()(*whole)
    monkeypatch.setattr("ssr.run.call_layout.PLANE", 1)
    program = twenty_seven_points()
    program(*given)
    (launch,) = program._launcher.launches.values()
    assert any(len(table) > 1 for table in launch.tables)
    plain.check_same(whole[0], given[0])


def test_boxes_are_not_cut_where_no_plane_is_needed_again() -> None:
    space = ssr.Space(*ssr.sizes("nz ny nx"))
    A = ssr.stencil(space, space, {(0, 1, 0): 0.5, (0, -1, 1): 0.25}, outside="zero")

    @ssr.program(y=space, x=space)
    def product(y: ssr.Field, x: ssr.Field) -> None:
        y[:] = A @ x

    (nest,) = product._launcher.kernel("float64").meta.nests
    assert nest.planes == 0


@pytest.mark.parametrize("reach", [1, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_planes_stay_in_the_second_level_cache(
    reach: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what is read, 2 reach + 1 planes are needed, and one of what is written."""
    space = ssr.Space(*ssr.sizes("nz ny nx"))
    weights = dict.fromkeys(((d, 0, 0) for d in (-reach, reach)), 0.5) | {(0, 1, 1): 0.25}
    A = ssr.stencil(space, space, weights, outside="zero")

    def rows_of_boxes(second: int, third: target.Cache | None) -> tuple[list[int], np.ndarray]:
        """Return the extents of boxes along the second last axis, and the result."""
        caches = {2: target.Cache(second, 2) if second else None, 3: third}
        monkeypatch.setattr(target, "cache_of", caches.__getitem__)

        @ssr.program(y=space, x=space)
        def product(y: ssr.Field, x: ssr.Field) -> None:
            y[:] = A @ x

        x = np.random.default_rng(3).random((3, 300, 40)).astype(dtype)
        y = np.full_like(x, np.nan)
        product(y, x)
        (launch,) = product._launcher.launches.values()
        (table,) = (t for t in launch.tables if t.shape[1] > 9)
        return [high - low for low, high in table[:, 5:7].tolist()], y

    planes = 2 * reach + 2
    line = planes * 40 * np.dtype(dtype).itemsize
    of_eight_cores, of_all = target.Cache(32 * 2**20, 16), target.Cache(36 * 2**20, 2)
    near, bits = rows_of_boxes(100 * line, of_eight_cores)
    assert near == [300]
    far, same = rows_of_boxes(100 * line * 8 // 5, of_all)
    assert far == [100, 100, 100]
    assert rows_of_boxes(150 * line * 8 // 5, of_all)[0] == [150, 150]
    assert rows_of_boxes(line, of_all)[0] == [33, 33, 34, 33, 33, 34, 33, 33, 34]
    assert rows_of_boxes(line, target.Cache(11 * 2**20, 16))[0] == rows_of_boxes(line, None)[0]
    assert rows_of_boxes(line, None)[0] == [33, 33, 34, 33, 33, 34, 33, 33, 34]
    assert rows_of_boxes(0, of_all)[0] == [300]
    assert bits.tobytes() == same.tobytes()


# -- memory --------------------------------------------------------------------------------------


def interleaved(count: int, shape: tuple[int, int]) -> Arrays:
    """Return arrays whose memory lies between each other's lines."""
    whole = np.arange(float(shape[0] * count * shape[1])).reshape(shape[0], -1)
    return [whole[:, n * shape[1] : (n + 1) * shape[1]] for n in range(count)]


def test_interleaved_arrays() -> None:
    x, b = interleaved(2, (5, 12))
    copies = x.copy(), b.copy()
    program = compiled("gauss_seidel")
    program(x, b)
    program(*copies)
    plain.check_same(np.ascontiguousarray(x), copies[0])


def test_interleaved_arrays_run_plain_too() -> None:
    x, b = interleaved(2, (5, 12))
    before = x.copy()
    copies = x.copy(), b.copy()
    program = compiled("gauss_seidel")
    program.run_plain(x, b)
    program(*copies)
    assert not np.array_equal(x, before)
    plain.check_same(np.ascontiguousarray(x), copies[0])


@cache
def three_fields() -> ssr.Program:
    A = CASES["poisson_2d"].make()

    @ssr.program(x=plane, y=plane, z=plane)
    def three_fields(x: Any, y: Any, z: Any) -> None:
        x[:] = A @ z + y
        y[:] = A @ y - z

    return three_fields


@pytest.mark.parametrize("shared", [(0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("near", [False, True], ids=["apart", "interleaved"])
def test_shared_memory_is_refused(shared: tuple[int, int], near: bool) -> None:
    """Also if it is not the first pair whose extents in memory meet; nothing is written."""
    given = interleaved(3, (4, 5))
    if not near:
        given = [a.copy() for a in given]
    first, second = shared
    given[second] = given[first]
    before = [a.copy() for a in given]
    with pytest.raises(OverlapError):
        three_fields()(*given)
    assert all(np.array_equal(a, b) for a, b in zip(given, before, strict=True))
