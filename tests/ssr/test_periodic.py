"""Sums whose terms come again with a period: run by run, with the bits of the definition."""

from typing import Any

import numpy as np
import pytest

import ssr

from . import plain

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


def test_short_sums_stay_as_they_are() -> None:
    @ssr.program(y=PLANE, x=PLANE)
    def along(y: Any, x: Any) -> None:
        y[:] = ALONG @ x

    assert "run_a" not in along.explain("loops")
