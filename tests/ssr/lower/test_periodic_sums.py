"""Sums whose terms come again with a period: run by run, with the bits of the definition."""

from typing import Any

import numpy as np
import pytest

import ssr
from ssr.runtime import periods
from ssr.runtime.intrinsics import Memory
from ssr.runtime.metadata import BufferMeta
from tests.fuzz.arrays import fenced

from .. import plain

(n,) = ssr.sizes("n")
LINE = ssr.Space(3 * n + 1)
PLANE = ssr.Space(3 * n + 1, 3 * n + 1)


@ssr.matrix(rows=LINE, cols=LINE)
def D(i: Any) -> Any:
    """Rows of three kinds, and those of both ends."""
    if i == 0:
        yield from ((i, -3.0), (i + 1, 4.0), (i + 3, -1.0))
    elif i == 3 * n:
        yield from ((i, 3.0), (i - 1, -4.0), (i - 3, 1.0))
    elif i % 3 == 0:
        yield from ((i - 3, 0.25), (i - 1, -1.5), (i + 1, 1.5), (i + 3, -0.25))
    elif i % 3 == 1:
        yield from ((i - 1, -0.75), (i + 1, 1.25), (i + 2, -0.5))
    else:
        yield from ((i - 2, 0.5), (i - 1, -1.25), (i + 1, 0.75))


ALONG, ACROSS = ssr.kron(ssr.identity(LINE), D), ssr.kron(D, ssr.identity(LINE))


@ssr.program(y=PLANE, z=PLANE, x=PLANE, w=PLANE, r=ssr.scalar)
def step(y: Any, z: Any, x: Any, w: Any, r: Any) -> None:
    y[:] = x + r * (w * (ALONG @ x + ACROSS @ (x * w)))
    z[:] = z + r * (ACROSS @ w - 2.0 * (ALONG @ w)) * (ACROSS @ x)


def fields(size: int) -> list[np.ndarray]:
    rng = np.random.default_rng(size)
    return [rng.uniform(-1, 1, (3 * size + 1,) * 2) for _ in range(4)]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_runs_have_the_values_of_the_definition(size: int) -> None:
    y, z, x, w = fields(size)
    d = D.bind(n=size).to_scipy().toarray()
    wanted_y = x + 0.1 * (w * (x @ d.T + d @ (x * w)))
    wanted_z = z + 0.1 * (d @ w - 2.0 * (w @ d.T)) * (d @ x)
    step(y, z, x, w, 0.1)
    np.testing.assert_allclose(y, wanted_y, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(z, wanted_z, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("split", [True, False])
def test_bits_do_not_depend_on_how_sums_are_made(split: bool) -> None:
    """Runs, boxes, plain Python, and sums that are built up term by term."""
    y, z, x, w = fields(3)
    other = plain.variant(step, split=split)
    slow, cut = ([a.copy() for a in (y, z)] for _ in range(2))
    step(y, z, x, w, 0.1)
    plain.run(other, *slow, x, w, 0.1)
    plain.run(other, *cut, x, w, 0.1, boxes=ssr.Space(10, 10).split(2, 3))
    for whole, one, two in zip((y, z), slow, cut, strict=True):
        np.testing.assert_array_equal(one, whole)
        np.testing.assert_array_equal(two, whole)


def test_stages_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    plain.source(plain.uncached(plain.variant(step, split=True)))


def test_loops_have_no_conditions() -> None:
    """Whole periods of what changes along a line, and one loop on each kind of line."""
    text = step.explain("loops")
    assert "start_a" not in text
    assert "for i in" in text
    inner = [line for line in text.splitlines() if line.lstrip().startswith("for i in")]
    assert len(inner) <= 14


def test_sums_along_a_line_alone_need_no_buffer() -> None:
    @ssr.program(y=PLANE, x=PLANE)
    def along(y: Any, x: Any) -> None:
        y[:] = ALONG @ x

    assert "run_a" not in along.explain("loops")


def in_turn(period: int, seed: int, reach: int = 3) -> Any:
    """Return a matrix whose rows read other neighbours, with other weights, in turn."""
    rng = np.random.default_rng(seed)
    kinds = [
        {d: float(w) for d, w in enumerate(rng.normal(size=2 * reach + 1), -reach) if w > 0}
        for _ in range(period)
    ]

    @ssr.matrix(rows=LINE, cols=LINE)
    def turned(i: Any) -> Any:
        for kind, entries in enumerate(kinds):
            if i % period == kind:
                for d, weight in entries.items():
                    if i + d >= 0 and i + d <= 3 * n:
                        yield i + d, weight

    return turned


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("period", [2, 3, 4, 5])
def test_rows_in_bundles(period: int, dtype: str) -> None:
    """Other periods, rows without entries, lines of any length and boxes."""
    one = in_turn(period, period)
    along, across = ssr.kron(ssr.identity(LINE), one), ssr.kron(one, ssr.identity(LINE))

    @ssr.program(y=PLANE, x=PLANE)
    def apply(y: Any, x: Any) -> None:
        y[:] = y + (along @ x + across @ x) * (along @ x)

    assert "taps" in apply.explain("loops")
    for size in (2, 5, 11):
        y, x, *_ = (a.astype(dtype) for a in fields(size))
        d = one.bind(n=size).to_scipy().toarray()
        wanted = y + (x @ d.T + d @ x) * (x @ d.T)
        slow, cut = y.copy(), y.copy()
        apply(y, x)
        plain.run(plain.variant(apply, split=False), slow, x)
        plain.run(apply, cut, x, boxes=ssr.Space(3 * size + 1, 3 * size + 1).split(2, 3))
        np.testing.assert_allclose(y, wanted, rtol=1e-4 if dtype == "float32" else 1e-12)
        np.testing.assert_array_equal(slow, y)
        np.testing.assert_array_equal(cut, y)


def test_sums_with_equal_rows_have_one_loop() -> None:
    """Unless periods differ."""
    two = ssr.kron(ssr.identity(LINE), in_turn(2, 2))

    @ssr.program(y=PLANE, x=PLANE, w=PLANE)
    def alike(y: Any, x: Any, w: Any) -> None:
        y[:] = (ALONG @ x + ACROSS @ w) * (ALONG @ w + ACROSS @ x)

    @ssr.program(y=PLANE, x=PLANE, w=PLANE)
    def different(y: Any, x: Any, w: Any) -> None:
        y[:] = (ALONG @ x + ACROSS @ w) * (two @ w + ACROSS @ x)

    def loops(program: Any) -> int:
        lines = program.explain("loops").splitlines()
        return sum("_taps(i)" in line for line in lines)

    assert (loops(alike), loops(different)) == (1, 2)
    for program, matrix in (alike, D), (different, in_turn(2, 2)):
        y, _, x, w = fields(5)
        d, e = (m.bind(n=5).to_scipy().toarray() for m in (D, matrix))
        slow = y.copy()
        program(y, x, w)
        plain.run(plain.variant(program, split=False), slow, x, w)
        np.testing.assert_allclose(y, (x @ d.T + d @ w) * (w @ e.T + d @ x), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(slow, y)


@pytest.mark.parametrize(("dtype", "near"), [("float64", 8), ("float32", 16)])
def test_lines_in_rotation_begin_with_cache_lines(dtype: str, near: int) -> None:
    @ssr.program(y=PLANE, x=PLANE, w=PLANE)
    def products(y: Any, x: Any, w: Any) -> None:
        z = x * w
        y[:] = ALONG @ z + ACROSS @ z

    buffers = products.kernel(dtype).meta.buffers
    assert {b.near for b in buffers} == {near}
    assert {b.rows > 1 for b in buffers} == {True, False}  # the latter are computed in bundles
    for size in (1, 2, 3, 7):
        y, x, w, _ = (a.astype(dtype) for a in fields(size))
        slow = y.copy()
        products(y, x, w)
        plain.run(plain.variant(products, split=False), slow, x, w)
        np.testing.assert_array_equal(slow, y)


@pytest.mark.parametrize("near", [8, 16])
@pytest.mark.parametrize("pad", [0, 1, 3, 9])
def test_lines_in_rotation_are_apart(pad: int, near: int) -> None:
    """Bundles at the end of a line do not reach what is read before the next one."""
    buffer = BufferMeta("t", 0, 4, pad, None, near)
    assert buffer.before >= pad
    for points in range(1, 300):
        bundles, width = -(-points // near) * near, buffer.width(points)
        assert width >= max(bundles, points + pad) + pad
        assert width % near == 0 == buffer.before % near
        assert width // near % 16


def test_absent_terms_are_not_multiplied() -> None:
    """What a row does not read may be infinite or NaN."""

    @ssr.program(y=PLANE, x=PLANE, w=PLANE)
    def apply(y: Any, x: Any, w: Any) -> None:
        y[:] = ALONG @ x + ACROSS @ w

    (y, _, x, w), d = fields(7), D.bind(n=7).to_scipy().toarray()
    x[:, 9] = np.inf
    apply(y, x, w)
    read = d[:, 9] != 0
    assert np.isfinite(y[:, ~read]).all()
    assert not np.isfinite(y[:, read]).any()


@pytest.mark.parametrize("size", [1, 2, 5, 9])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bundles_read_nothing_beside_arrays(size: int, dtype: str) -> None:
    """The system ends a process that does."""
    for points in 3 * size + 1, 3 * size + 4:
        x, y = (fenced((points,), dtype) for _ in range(2))
        x[:] = np.arange(points)
        D.apply(x, out=y)
        assert np.array_equal(y, D.bind(n=points // 3).to_scipy() @ x)


@pytest.mark.parametrize("period", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_other_bundles_read_nothing_beside_arrays(period: int, dtype: str) -> None:
    """Neither those of other periods."""
    turned = in_turn(period, 10 * period, reach=10)
    for points in 4, 13, 31, 70:
        x, y = (fenced((points,), dtype) for _ in range(2))
        x[:] = np.arange(points)
        turned.apply(x, out=y)
        exact = turned.bind(n=points // 3).to_scipy() @ x.astype(float)
        np.testing.assert_allclose(y, exact, rtol=1e-4, atol=1e-4)


@ssr.matrix(rows=ssr.Space(n), cols=ssr.Space(n))
def ends_apart(i: Any) -> Any:
    """Rows with a period between others: on a short line they end before they begin."""
    yield i, 8.875 if i == n - 1 else 9.0
    if i + 1 <= n - 1 and i % 3 != 1:
        yield i + 1, -1.0
    if i >= 2:
        yield i - 2, -0.5


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_that_are_none_read_nothing(dtype: str) -> None:
    for points in range(1, 12):
        x, y = (fenced((points,), dtype) for _ in range(2))
        x[:] = np.arange(points)
        ends_apart.apply(x, out=y)
        assert np.array_equal(y, ends_apart.bind(n=points).to_scipy() @ x)


def test_bundles_in_plain_python() -> None:
    lines = Memory(np.arange(20.0))
    weights = periods.repeated(lines, 0.0, 2.0, 3.0)
    assert weights.tolist() == [0, 2, 3, 0, 2, 3, 0, 2]
    x = periods.take_rows(lines, 4, weights, 1, 6)
    assert x.tolist() == [0, 5, 6, 0, 8, 9, 0, 0]
    total = periods.fma_present(weights, x, periods.repeated(lines, 1.0))
    assert total.tolist() == [1, 11, 19, 1, 17, 28, 1, 1]
    periods.put_rows(lines, 8, total, 2, 4)
    assert lines.flat[8:13].tolist() == [8, 9, 19, 1, 12]


def test_elements_that_no_row_reads_are_not_loaded() -> None:
    """Rows 1 to 4 read what is two places before them, or one behind, if their bits are set."""
    lines = Memory(np.arange(20.0))
    reads = 8 - 2, 0b10010, 8 + 1, 0b01100
    before, after = (periods.take_wanted(lines, at, at, 1, 5, *reads) for at in (0, 8))
    assert before.tolist() == [0, 0, 0, 0, 0, 0, 0, 7]
    assert after.tolist() == [0, 0, 10, 11, 12, 0, 0, 0]
    assert periods.of_two(before, after, 7).tolist() == [7, 0, 0, 10, 11, 12, 0, 0]
    assert not periods.take_wanted(lines, 8, 8, 5, 1, *reads).any()


def test_lines_are_loaded_once() -> None:
    """Of which rows read several elements."""

    @ssr.program(y=PLANE, x=PLANE, w=PLANE)
    def apply(y: Any, x: Any, w: Any) -> None:
        y[:] = ALONG @ x + 2.0 * (ALONG @ w)

    source = apply.explain("source").split("def kernel", 1)[1]
    assert "take_rows(" not in source
    assert source.count("take_wanted(x,") == source.count("take_wanted(w,") == 5
