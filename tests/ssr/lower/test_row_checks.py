"""A statement that runs a row which is not its own is caught: by three checks, in all builds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.compiler.kernel import build_plain
from ssr.compiler.pipeline import lower
from ssr.ir import LoopNest
from ssr.kernel.building import minus, plus
from ssr.lower.verify.loops import verify_loops
from ssr.points.affine import Affine
from ssr.points.loop_tree import For, If, Run
from ssr.runtime.checked import require
from tests.ssr.sample_programs import PROGRAMS

n, m = ssr.sizes("n m")
cells = ssr.Space(n, m)
Row = tuple[Affine, ...]
right = LoopNest.row


@ssr.matrix(rows=cells, cols=cells)
def sheared(j: Any, i: Any) -> Any:
    if i == j + 1:
        return
    if (j, i - 1) in cells and j + 2 * i <= m - 1:
        yield (j, i - 1), -0.25
    if (j + 2, i - 1) in cells:
        yield (j + 2, i - 1), 0.1


@ssr.matrix(rows=cells, cols=cells)
def second(j: Any, i: Any) -> Any:
    if j == 1:
        yield (j, i), 1.0


@ssr.program(x=cells, y=cells, v=cells, h=cells, options=ssr.Options(cache=False))
def both(x: Any, y: Any, v: Any, h: Any) -> None:
    x[:] = y - sheared @ v
    y[:] = sheared @ (second @ h)


def again(nest: LoopNest, run: Run, row: Row) -> Row:
    """Return a row moved once more by how far its statement runs ahead."""
    return nest.pieces[run.piece].parts[0].statement.runs(row, nest.nest.order)


def lead_twice(nest: LoopNest, run: Run) -> Row:
    """Return the row with the line moved twice."""
    return again(nest, run, right(nest, run))


def place_moved(nest: LoopNest, run: Run) -> Row:
    """Return the row with a place along the line that follows the move of the line."""
    row = right(nest, run)
    moved = dict(zip(nest.nest.axes, row, strict=True))
    return (*row[:-1], row[-1].substitute({a: moved[a] for a in nest.nest.axes[:-1]}))


def next_row(nest: LoopNest, run: Run) -> Row:
    """Return the next row of the line."""
    row = right(nest, run)
    return (*row[:-1], row[-1] + 1)


MISTAKES = pytest.mark.parametrize("mistake", [lead_twice, place_moved, next_row])


def arrays() -> Any:
    return np.random.default_rng(0).standard_normal((4, 5, 9))


@MISTAKES
def test_plain_runs_catch_it(mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    both.with_options(both.options).run_plain(*arrays())
    monkeypatch.setattr(LoopNest, "row", mistake)
    with pytest.raises(AssertionError, match=r"runs at \(.*\), which is not one of its rows"):
        both.with_options(both.options).run_plain(*arrays())


@MISTAKES
def test_the_verifier_catches_it(mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    lower(both.ir, both.options, "float64", "right")
    monkeypatch.setattr(LoopNest, "row", mistake)
    with pytest.raises(AssertionError, match=r"loops of '.*', piece .*: it runs"):
        lower(both.ir, both.options, "float64", "wrong")


@pytest.mark.parametrize("mistake", [lead_twice, next_row])
def test_the_debug_build_catches_it(mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS["twenty_seven_gauss_seidel"]()
    program = program.with_options(ssr.Options(cache=False, debug=True))
    x, b = np.zeros((5, 6, 7)), np.ones((5, 6, 7))
    program(x, b)
    monkeypatch.setattr(LoopNest, "row", mistake)
    with pytest.raises(AssertionError, match="runs a row that is not its own"):
        program.with_options(program.options)(x, b)


def changed(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return loops with every loop along a line changed."""
    made = []
    for node in tree:
        match node:
            case For(body=body) if all(isinstance(b, Run) for b in body):
                node = change(node)
            case For(body=body):
                node = replace(node, body=changed(body, change))
            case If(_, then, orelse):
                node = replace(node, then=changed(then, change), orelse=changed(orelse, change))
        made.append(node)
    return tuple(made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda loop: replace(loop, start=plus(loop.start, 1)), "it does not run"),
        (lambda loop: replace(loop, body=loop.body * 2), "it runs .* too often"),
        (lambda loop: replace(loop, stop=plus(loop.stop, 1)), "it runs .* too often"),
        (
            lambda loop: For(
                loop.variable, minus(loop.stop, 1), minus(loop.start, 1), -1, loop.body
            ),
            "it runs .* before",
        ),
    ],
)
def test_loops_that_miss_repeat_or_reverse_rows(change: Any, message: str) -> None:
    program = PROGRAMS["five_point_exact"]()
    (made,) = lower(program.ir, program.options, "float64", "").loops
    assert isinstance(made, LoopNest)
    verify_loops(made)
    with pytest.raises(AssertionError, match=message):
        verify_loops(replace(made, tree=changed(made.tree, change)))


def test_the_plain_kernel_is_lowered_like_the_real_one() -> None:
    """Its source is that of the kernel with the checks."""
    source = build_plain(both.ir, both.options, "float64").source
    kept = [line for line in source.splitlines() if not line.lstrip().startswith("require(")]
    usual = lower(both.ir, both.options, "float64", "").source.splitlines()
    start, end = kept.index(next(k for k in kept if k.startswith("def ker"))), len(kept)
    first = usual.index(kept[start])
    assert kept[start:end] == usual[first : first + end - start]


def test_a_plain_run_names_piece_and_row() -> None:
    with pytest.raises(AssertionError, match=r"^row_0 of x runs at \(2\), which is not"):
        require(False, "row_0 of x", (2,))
