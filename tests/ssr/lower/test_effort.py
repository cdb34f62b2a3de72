"""Loops and conditions where isl gives up: the same rows in the same order, and the same bits."""

from collections import Counter
from contextlib import suppress
from threading import Event, Thread
from typing import Any

import islpy as isl
import numpy as np
import pytest

import ssr
from ssr.algebra import operations
from ssr.compiler.pipeline import lower
from ssr.ir import LoopNest, Sum, walk
from ssr.lower import loop_schedule as loops
from ssr.lower.passes import index_set_splitting as split
from ssr.points import inverse, scanning
from ssr.points.effort import attempted, each_in_turn
from ssr.points.sets import Domain

n0, n1 = ssr.sizes("n0 n1")
PLANE = ssr.Space(n0, n1)

SHAPES = ((1, 1), (2, 3), (5, 4), (7, 6))


@ssr.matrix(rows=PLANE, cols=PLANE)
def A(j: Any, i: Any) -> Any:
    """Entries with conditions on remainders, on order and on a diagonal."""
    yield (j, i), 3.0
    if (j - 1, i) in PLANE and (j + i) % 2 == 0:
        yield (j - 1, i), 0.25
    if (j, i - 1) in PLANE and i != j:
        yield (j, i - 1), -0.5
    if (j, i + 2) in PLANE and i <= j:
        yield (j, i + 2), 1.5


LOWER, UPPER = A.tril(), A.triu()


@ssr.program(x=PLANE, y=PLANE, z=PLANE)
def step(x: Any, y: Any, z: Any) -> Any:
    y[:] = A @ x
    z[:] = LOWER.solve(y) + z
    x[:] = UPPER.solve(x)
    return ssr.dot(x, z)


def after(shape: tuple[int, int], program: ssr.Program, **options: Any) -> list[Any]:
    rng = np.random.default_rng(shape[0])
    fields = [rng.uniform(-1, 1, shape) for _ in range(3)]
    total = program.run_plain(*fields, **options)
    return [field.tobytes() for field in fields] + [total]


@pytest.fixture
def weak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let isl give up each attempt to make loops of several pieces, and of single ones."""
    monkeypatch.setenv("SSR_VERIFY", "1")
    for name in ("TOGETHER", "SHARED", "ALONE"):
        monkeypatch.setattr(loops, name, 1)
    monkeypatch.setattr(split, "MERGING", 1)
    monkeypatch.setattr(scanning, "CONDITION", 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_bits_do_not_depend_on_what_isl_manages(
    shape: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    fresh = [step.with_options(ssr.Options(cache=False)) for _ in range(2)]
    wanted = after(shape, fresh[0])
    request.getfixturevalue("weak")
    assert after(shape, fresh[1]) == wanted


@pytest.mark.usefixtures("weak")
@pytest.mark.parametrize("distributed", [False, True])
def test_rows_are_run_in_loops_with_conditions(distributed: bool) -> None:
    """What is run, and in which order, is verified while it is lowered."""
    options = ssr.Options(cache=False, distributed=distributed)
    made = lower(step.ir, options, "float64", "step")
    assert "% 2" in made.source or "//2)" in made.source


def test_a_product_of_odd_conditions_has_few_pieces() -> None:
    """Terms that come again with a period are written out in short runs, if they are many."""

    @ssr.matrix(rows=PLANE, cols=PLANE)
    def B(j: Any, i: Any) -> Any:
        j, last = n0 - 1 - j, n1 - 1
        if (j - 1, last - i + 1) in PLANE and i % 2 == 0:
            yield (j - 1, last - i + 1), 0.5
        if (j + 1, i + 2) in PLANE:
            yield (j + 1, i + 2), 1.5
        if (j + 1, i) in PLANE and i < last:
            yield (j + 1, i), 0.25
        if (j, i) in PLANE:
            yield (j, i), -0.125

    made = lower((B @ B).program("apply").ir, ssr.Options(cache=False), "float64", "apply")
    (nest,) = made.loops
    assert isinstance(nest, LoopNest)
    terms = Counter[str]()
    for part in (part for piece in nest.pieces.values() for part in piece.parts):
        sums = (node for node in walk(part.value) if isinstance(node, Sum))
        terms[part.statement.name] += sum(len(node.terms) for node in sums)
    assert max(terms.values()) <= split.TERMS


def test_bound_of_one_thread_does_not_hold_for_another() -> None:
    begun, found = Event(), list[bool]()

    def other() -> None:
        begun.wait()
        odd = Domain.where(("i",), "i mod 2 = 1")
        found.append((odd - Domain.where(("i",), "0 <= i < n and i mod 7 = 1", ("n",))).empty)

    def waiting() -> None:
        begun.set()
        thread.join(0.2)

    thread = Thread(target=other)
    thread.start()
    attempted(waiting, most=1)
    thread.join()
    assert found == [False]


def test_what_is_made_after_isl_has_given_up_does_not_count() -> None:
    odd, few = Domain.where(("i",), "i mod 2 = 1"), Domain.where(("i",), "0 <= i < n", ("n",))

    def ignoring() -> str:
        with suppress(isl.Error):
            _ = odd - few
        return "made"

    def missing() -> int:
        with suppress(isl.Error):
            _ = odd - few
        raise TypeError("a text is missing")

    assert attempted(ignoring, most=10) is None
    assert attempted(missing, most=10) is None
    assert attempted(ignoring) == "made"
    with pytest.raises(TypeError, match="missing"):
        attempted(missing)


def test_products_of_odd_conditions_equal_their_definition() -> None:
    """Numbers are added up for each remainder by itself."""

    @ssr.matrix(rows=PLANE, cols=PLANE)
    def C(j: Any, i: Any) -> Any:
        yield (j, i), 4.0
        for near in (j - 1, i), (j + 1, i), (j, i - 1), (j, i + 1):
            if near in PLANE and (j + i) % 2 == 0:
                yield near, -1.0

    product = C @ C.T @ C
    entries = product.program("apply")
    for shape in SHAPES:
        x = np.random.default_rng(1).integers(-9, 9, shape).astype(float)
        y = np.empty(shape)
        entries.run_plain(y, x)
        dense = product.bind(n0=shape[0], n1=shape[1]).to_scipy()
        assert np.array_equal(y.ravel(), dense @ x.ravel())
    assert (C.T @ C).equals((C.T @ C).T)


def test_too_many_kinds_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "EFFORT", 1)
    for make in lambda: A @ A, lambda: A + A.T, lambda: A.T:
        with pytest.raises(ssr.errors.UnsupportedError, match="too many kinds of rows") as found:
            make()
        assert "A @ (B @ x)" in str(found.value)


def test_inverses_that_isl_does_not_find(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise isl.Error("affine expression involves some of the domain dimensions")

    monkeypatch.setattr(inverse, "attempted", fail)
    with pytest.raises(ssr.errors.UnsupportedError, match="rows with too many entries"):
        _ = ssr.matrix(rows=PLANE, cols=PLANE)(_first).T


def _first(j: Any, i: Any) -> Any:
    if i < 3:
        yield (j, 0), 1.0


def test_an_operation_that_isl_fails_at_is_tried_on_sets_read_again() -> None:
    @each_in_turn
    class Weak:
        def __init__(self, fails: bool) -> None:
            self.fails = fails

        def read_again(self) -> "Weak":
            return Weak(False)

        def joined(self, others: list["Weak"], *, last: "Weak") -> int:
            if self.fails or last.fails or any(other.fails for other in others):
                raise isl.Error('Assertion "i >= 0" failed')
            return len(others) + 2

        def broken(self) -> None:
            raise isl.Error("no such set")

    weak = Weak(True)
    assert weak.joined([weak, Weak(False)], last=weak) == 4
    with pytest.raises(isl.Error, match="no such set"):
        weak.broken()
