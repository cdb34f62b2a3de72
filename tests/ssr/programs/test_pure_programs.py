"""The body of a program is run twice, and must record the same."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import ssr
from ssr.errors import ImpureProgramError
from tests.ssr.errors.mistakes import Mistakes, check

line = ssr.Space(ssr.size("n"))
four = ssr.Space(4)
T = ssr.stencil(line, line, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="zero")
mistake = Mistakes()


@ssr.matrix(rows=line, cols=line, c=line, s=ssr.scalar)
def scaled(i: Any, *, c: Any, s: Any) -> Any:
    yield i, s * c[i]


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_message(function: Callable[[], object], text: str) -> None:
    check(function, text)


@mistake("""
    ImpureProgramError: The body of program p did something else when it was run again.
    | x[:] = T @ x + 0.5 * next(numbers)
    | ^^^^
    Note: at first it computed 0.0, then 0.5
    Hint: A body must not use random numbers or change state. What differs between calls is \
passed as an argument, numbers as ssr.scalar.
""")
def another_number():
    numbers = count()

    @ssr.program(x=line)
    def p(x):
        y = x + 1.0
        x[:] = T @ x + 0.5 * next(numbers)
        x[:] = x + y


@mistake("""
    ImpureProgramError: The body of program p did something else when it was run again.
    | x[:] = x + 1.0
    | ^^^^
    Note: the first run ended after step 1, the second after step 2
    Hint: A body must not use random numbers or change state. What differs between calls is \
passed as an argument, numbers as ssr.scalar.
""")
def another_number_of_steps():
    runs = []

    @ssr.program(x=line)
    def p(x):
        runs.append(x)
        for _ in runs:
            x[:] = x + 1.0


@mistake("""
    ImpureProgramError: The body of program p did something else when it was run again.
    | x[:] = first + 1.0
    |        ^^^^^^^^^^^
    Note: the second run ended with ArgumentError: Field 'x' belongs to another program.
    Hint: A body must not use random numbers or change state. What differs between calls is \
passed as an argument, numbers as ssr.scalar.
""")
def field_of_the_first_run():
    fields = {}

    @ssr.program(x=line)
    def p(x):
        first = fields.setdefault("x", x)
        x[:] = first + 1.0


def other_operation(x: Any, y: Any, n: int) -> None:
    x[:] = x + y if n else x * y


def other_field(x: Any, y: Any, n: int) -> None:
    x[:] = T @ (x if n else y)


def other_target(x: Any, y: Any, n: int) -> None:
    (x if n else y)[:] = 1.0


def other_part(x: Any, y: Any, n: int) -> None:
    x[ssr.Space(*line.shape).grow(-1) if n else line] = y[line.grow(-1) if n else line]


def other_kind_of_step(x: Any, y: Any, n: int) -> Any:
    if n:
        return ssr.sum(x)
    x[:] = y


def other_reduction(x: Any, y: Any, n: int) -> Any:
    return ssr.max(x) if n else ssr.min(x)


def other_result(x: Any, y: Any, n: int) -> Any:
    return ssr.max(x) * n


def other_count_of_results(x: Any, y: Any, n: int) -> Any:
    return (ssr.max(x),) * (n + 1)


def other_data(x: Any, y: Any, n: int) -> None:
    x[:] = scaled.bind(c=np.full(3, float(n)), s=1.0) @ y


def other_scalar(x: Any, y: Any, n: int) -> None:
    x[:] = scaled.bind(c=np.ones(3), s=float(n)) @ y


def other_size(x: Any, y: Any, n: int) -> None:
    x[:] = T.bind(n=4 + n) @ y


@pytest.mark.parametrize(
    "body",
    [
        other_operation, other_field, other_target, other_part, other_kind_of_step,
        other_reduction, other_result, other_count_of_results, other_data, other_scalar,
        other_size,
    ],
)  # fmt: skip
@pytest.mark.parametrize("start", [0, 1])
def test_another_second_run_is_found(body: Callable[..., Any], start: int) -> None:
    runs = count(start)

    def p(x: Any, y: Any) -> Any:
        return body(x, y, next(runs) % 2)

    with pytest.raises(ImpureProgramError):
        ssr.program(x=line, y=line)(p)


# -- what a body may do ------------------------------------------------------------------------


def test_what_is_made_in_the_body_is_the_same_if_its_numbers_are() -> None:
    @ssr.program(x=line, y=line)
    def bound(x: Any, y: Any) -> Any:
        x[:] = scaled.bind(c=np.array([1.0, np.nan, 2.0]), s=2.0) @ y
        return float("nan") * ssr.sum(y)

    @ssr.program(x=four, y=four)
    def stored(x: Any, y: Any) -> None:
        S = ssr.from_scipy(scipy.sparse.eye_array(4).tocsr(), rows=four, cols=four)
        y[:] = S.tril().solve(S @ x)


def test_stored_matrices_are_compared_by_their_numbers() -> None:
    runs = count(1)

    def p(x: Any, y: Any) -> None:
        numbers = next(runs) * scipy.sparse.eye_array(4)
        y[:] = ssr.from_scipy(numbers.tocsr(), rows=four, cols=four) @ x

    with pytest.raises(ImpureProgramError, match="the data csr1 had other values"):
        ssr.program(x=four, y=four)(p)


def test_a_body_may_keep_what_it_meets() -> None:
    """An expression that is kept is stored before its field changes; nobody needs it."""
    seen: list[Any] = []

    @ssr.program(x=line, y=line)
    def p(x: Any, y: Any) -> None:
        if not seen:
            seen.append(x * 3.0)
        t = ssr.materialize(x * y)
        x[:] = 2.0 * x
        y[:] = T @ t + ssr.sum(t)

    assert "t" in p._recorder.temporaries
    x, y = np.ones(3), np.ones(3)
    p(x, y)
    assert y.tolist() == [4.0, 3.0, 4.0]


def test_shared_values_are_compared_once() -> None:
    @ssr.program(x=line, s=ssr.scalar)
    def p(x: Any, s: Any) -> None:
        y = x
        for _ in range(60):
            y = ssr.maximum(y * y, s)
        x[:] = y
