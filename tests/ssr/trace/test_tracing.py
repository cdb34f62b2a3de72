"""How generators are traced: paths, control flow, and what cannot be traced."""

import math
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import ImpureGeneratorError, OutOfSpaceError, TooManyPathsError
from ssr.points.sets import Domain
from ssr.trace.trace import trace

from .. import plain

ny, nx = ssr.sizes("ny nx")
line, plane = ssr.Space(nx), ssr.Space(ny, nx)
CROSS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))


def cross(space: ssr.Space) -> Callable[..., Any]:
    def cross(*row: Any) -> Any:
        for offset in CROSS:
            column = tuple(r + o for r, o in zip(row, offset, strict=True))
            if column in space:
                yield column, 1.0

    return cross


@pytest.mark.parametrize(
    ("space", "paths"),
    [
        (ssr.Space(4, 4), 9),  # low, inner, high of each axis
        (plane, 16),  # and a single row, if ny = 1
        (ssr.Space(1, nx), 4),
        (ssr.Space(2, nx), 8),
        (ssr.Space(1, 1), 1),
    ],
)
def test_paths_of_the_five_point_stencil(space: ssr.Space, paths: int) -> None:
    found = trace(cross(space), space, space, {})
    assert len(found) == paths
    domains = [path.domain for path in found]
    assert not any(not (a & b).empty for m, a in enumerate(domains) for b in domains[:m])
    everything = domains[0]
    for domain in domains[1:]:
        everything = everything | domain
    rows = Domain.of(space.axes, space.condition()) & Domain.of(space.axes, space.nonempty())
    assert everything.equals(rows)


def early_return(i: Any) -> Any:
    if i == 0 or i == nx - 1:
        yield i, 1.0
        return
    yield i, 2.0
    yield i - 1, 3.0


def chained(i: Any) -> Any:
    if 1 <= i < nx - 1 and i not in (3, 5):
        yield i - 1, 1.0
    elif i >= 2:
        yield i - 2, 2.0
    elif i:
        yield 0, 3.0
    else:
        yield i, 4.0


def clamped(i: Any) -> Any:
    yield min(max(i - 2, 0), nx - 1), 1.0
    yield abs(i - 2) if abs(i - 2) < nx else 0, 2.0
    yield max(0, min(i + 1, nx - 1)), 3.0


def remainders(i: Any) -> Any:
    if i % 2 == 1 or ((i // 3) % 2 == 1 and i + 1 < nx):
        yield i // 2, 1.0
    if not (i % 2 and i > 2):
        yield i - i % 2, 2.0
    yield i, (i % 2) * 1.5 + i / 2


def loops(i: Any) -> Any:
    for c in [c for c in (i - 2, i - 1, i + 1) if c in line]:
        yield c, 1.0 if c < i else 2.0
    k = 3
    while k > 0 and i + k >= nx:
        k -= 1
    yield i + k, 5.0
    if any(i == c for c in (1, 4)) and all(i != c for c in (4, 5)):
        yield i, 7.0


def values(i: Any) -> Any:
    yield i, ssr.where(i < 2, 1.0, 2.0) + ssr.maximum(i, 3) * 1.0
    yield i, ssr.minimum(i, nx - i) / nx


@pytest.mark.parametrize(
    "generator", [early_return, chained, clamped, remainders, loops, values],
    ids=lambda g: g.__name__,
)  # fmt: skip
def test_control_flow(generator: Callable[..., Any]) -> None:
    """The families hold what the generator, run by Python on integers, yields."""
    A = ssr.matrix(rows=line, cols=line)(generator)
    for size in range(1, 8):
        made = A.bind(nx=size)
        entries: dict[tuple[int, int], float] = {}
        for family in made.families:
            for (row,) in family.domain.fixed({"nx": size}).points():
                (column,) = (c.evaluate({"i": row, "nx": size}) for c in family.column)
                entries[row, column] = entries.get((row, column), 0.0) + 1.0
        definition = made.to_scipy()
        assert set(zip(*definition.nonzero(), strict=True)) <= set(entries)
        x = 1.0 + 0.1 * np.arange(size)
        plain.check_close(plain.apply(A, x, (size,)), definition @ x, 50.0, 1e-15)


def test_conditions_that_are_decided_do_not_fork() -> None:
    def decided(i: Any) -> Any:
        if i >= 0 and i < nx and i + nx > i:
            yield i, 1.0

    assert len(trace(decided, line, line, {})) == 1
    assert len(trace(early_return, line, line, {})) == 3  # first, last, between


def test_generators_that_cannot_be_traced() -> None:
    state = iter(range(10**9))
    space = ssr.Space(64)

    def impure(i: Any) -> Any:
        yield i, float(next(state))

    def outside(i: Any) -> Any:
        if i > 0:
            yield i + 1, 1.0

    def explosive(i: Any) -> Any:
        for power in range(10):
            if (i // 2**power) % 2 == 0:
                yield i, 1.0

    with pytest.raises(ImpureGeneratorError):
        ssr.matrix(rows=space, cols=space)(impure)
    with pytest.raises(OutOfSpaceError, match="lies outside"):
        ssr.matrix(rows=space, cols=space)(outside)
    with pytest.raises(TooManyPathsError):
        ssr.matrix(rows=line, cols=line)(explosive)


# -- what a generator reads beside its arguments -------------------------------------------------

factor = 2.0
weights = [1.0, 0.5]
table = np.array([3.0, 4.0])
settings = SimpleNamespace(shift=0.25)


def scaled(value: float) -> float:
    return factor * value


def check_kept(matrix: ssr.Matrix, before: Any) -> None:
    """Fail if the definition, or a kernel, reads other values than at the declaration."""
    x = np.array([1.0, 10.0, 100.0])
    np.testing.assert_array_equal(matrix.bind(nx=3).to_scipy().toarray(), before)
    np.testing.assert_array_equal(plain.apply(matrix, x, (3,)), before @ x)


def test_globals_are_those_of_the_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    @ssr.matrix(rows=line, cols=line)
    def A(i: Any) -> Any:
        yield i, scaled(weights[0]) + table[1] + settings.shift
        if i > 0:
            yield i - 1, math.floor(2.5) * weights[1]

    before = np.diag([6.25] * 3) + np.diag([1.0] * 2, -1)
    check_kept(A, before)
    monkeypatch.setitem(globals(), "factor", 5.0)
    monkeypatch.setitem(globals(), "weights", [7.0, 7.0])
    monkeypatch.setattr(settings, "shift", 8.0)
    monkeypatch.setitem(globals(), "scaled", None)
    table[1] = 9.0
    check_kept(A, before)


def test_variables_around_are_those_of_the_declaration() -> None:
    dt = 0.5
    offsets = {0: 1.0}

    def value() -> float:
        return dt + offsets[0]

    @ssr.matrix(rows=line, cols=line)
    def A(i: Any) -> Any:
        yield i, value()

    dt = 0.25
    offsets[0] = 2.0
    check_kept(A, np.diag([1.5] * 3))


def test_recurrences_and_blocks_keep_what_they_read() -> None:
    dt = 0.5

    @ssr.recurrence(rows=line, cols=line)
    def W(i: Any, done: Any) -> Any:
        yield i, dt

    @ssr.matrix(rows=line.vector(2), cols=line.vector(2))
    def X(i: Any) -> Any:
        yield i, [[dt, 0.0], [0.0, 2.0 * dt]]

    dt = 3.0
    np.testing.assert_array_equal(W.bind(nx=2).to_scipy().toarray(), np.diag([0.5, 0.5]))
    np.testing.assert_array_equal(X.bind(nx=1).to_scipy().toarray(), np.diag([0.5, 1.0]))


def test_a_helper_that_calls_itself_and_a_module() -> None:
    module = ModuleType("parameters")
    vars(module).update(rate=2.0, other=3.0)

    def power(count: int) -> float:
        return 1.0 if count == 0 else module.rate * power(count - 1)

    @ssr.matrix(rows=line, cols=line)
    def A(i: Any) -> Any:
        yield i, power(3)

    vars(module)["rate"] = 5.0
    check_kept(A, np.diag([8.0] * 3))
