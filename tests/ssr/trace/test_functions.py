"""Functions that declare programs and matrices: any callable works, or is refused by its kind."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pytest

import ssr
from ssr.errors import ArgumentError

line = ssr.Space(ssr.size("n"))
A = ssr.stencil(line, line, {-1: -1, 0: 2, 1: -1}, outside="zero")


def body(y: Any, x: Any) -> None:
    y[:] = A @ x


def entries(i: Any) -> Iterator[Any]:
    yield i, 2.0


def factors(i: Any, done: Any) -> Iterator[Any]:
    row = A.row(i)
    for k in [c for c in row if c < i]:
        row[k] /= done[k, k]
        row[i] -= row[k] * done[k, i]
    yield from row.items()


PROGRAM, MATRIX, RECURRENCE = "program", "matrix", "recurrence"
BODIES: dict[str, Callable[..., Any]] = {PROGRAM: body, MATRIX: entries, RECURRENCE: factors}
PARAMETERS = {PROGRAM: "y, x", MATRIX: "i", RECURRENCE: "i, done"}
DECORATORS: dict[str, Callable[[Any], Any]] = {
    PROGRAM: lambda f: ssr.program(y=line, x=line)(f),
    MATRIX: lambda f: ssr.matrix(rows=line, cols=line)(f),
    RECURRENCE: lambda f: ssr.recurrence(rows=line, cols=line)(f),
}

SOURCES = {
    "lambda": "made = lambda {p}: f({p})",
    "positional_only": "def made({p}, /): return f({p})",
    "default": "def made({p}, extra=1): return f({p})",
    "keyword_default": "def made({p}, *, extra=1): return f({p})",
    "method": "class C:\n def made(self, {p}): return f({p})\nmade = C().made",
    "class_method": "class C:\n @classmethod\n def made(cls, {p}): return f({p})\nmade = C.made",
    "static_method": "class C:\n @staticmethod\n def made({p}): return f({p})\nmade = C.made",
    "object": "class C:\n def __call__(self, {p}): return f({p})\nmade = C()",
    "async_function": "async def made({p}): return f({p})",
    "async_generator": "async def made({p}): yield 1",
    "async_object": "class C:\n async def __call__(self, {p}): return f({p})\nmade = C()",
    "keyword_only": "def made(*, {p}): return f({p})",
    "unbound_method": "class C:\n def made(self, {p}): return f({p})\nmade = C.made",
    "class": "class made:\n def __init__(self, {p}): f({p})",
}
"""Definitions of a function in terms of one that is right, ``f``; none of them has a file."""

ACCEPTED = [*list(SOURCES)[:8], "partial", "bound_partial", "wrapped", "no_name"]
REFUSED = [
    *list(SOURCES)[8:], "built_in", "ufunc", "vectorised", "compiled", "type", "None", "text",
    "property", "generator",
]  # fmt: skip


def made(form: str, kind: str) -> Any:
    """Return a function of a form that does what the one of a kind does."""
    f = BODIES[kind]
    if form in SOURCES:
        scope: dict[str, Any] = {"f": f}
        exec(SOURCES[form].replace("{p}", PARAMETERS[kind]), scope)
        return scope["made"]

    @functools.wraps(f)
    def wrapped(*args: Any, **named: Any) -> Any:
        return f(*args, **named)

    scope = {"f": f}
    exec(f"def scaled(scale, {PARAMETERS[kind]}): return f({PARAMETERS[kind]})", scope)
    nameless = functools.partial(f)
    functools.update_wrapper(nameless, f)
    nameless.__name__ = 3  # type: ignore[attr-defined]
    return {
        "partial": functools.partial(f),
        "bound_partial": functools.partial(scope["scaled"], 2.0),
        "wrapped": wrapped,
        "no_name": nameless,
        "built_in": len,
        "ufunc": np.sin,
        "vectorised": np.vectorize(f),
        "compiled": numba.njit(lambda x: x),
        "type": dict,
        "None": None,
        "text": "body",
        "property": property(f),
        "generator": (i for i in range(3)),
    }[form]


@pytest.mark.parametrize("form", ACCEPTED)
def test_programs(form: str) -> None:
    y = np.zeros(4)
    DECORATORS[PROGRAM](made(form, PROGRAM)).run_plain(y, np.array([1.0, 2, 4, 8]))
    assert y.tolist() == [0, -1, -2, 12]


@pytest.mark.parametrize("form", ACCEPTED)
def test_matrices(form: str) -> None:
    found = DECORATORS[MATRIX](made(form, MATRIX)).bind(n=3)
    assert (found.to_scipy().toarray() == 2 * np.eye(3)).all()


@pytest.mark.parametrize("form", ACCEPTED)
def test_recurrences(form: str) -> None:
    found = DECORATORS[RECURRENCE](made(form, RECURRENCE)).bind(n=3).to_scipy().toarray()
    exact = np.array([[2, -1, 0], [-0.5, 1.5, -1], [0, -2 / 3, 4 / 3]])
    np.testing.assert_allclose(found, exact, rtol=1e-15)


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("form", REFUSED)
def test_refused(form: str, kind: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        DECORATORS[kind](made(form, kind))
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_a_compiled_recurrence_of_a_lambda() -> None:
    found = ssr.recurrence(rows=line, cols=line)(lambda i, done: factors(i, done))
    b = np.ones(4)
    x = found.bind(n=4).compute().tril(-1)
    assert np.isfinite(x @ b).all()


def test_a_partial_function_gives_values_to_keyword_parameters() -> None:
    def scaled(i: Any, *, scale: Any) -> Any:
        yield i, scale

    double = ssr.matrix(rows=line, cols=line)(functools.partial(scaled, scale=2.0))
    assert double.name == "scaled"
    assert (double.bind(n=2).to_scipy().toarray() == 2 * np.eye(2)).all()
    with pytest.raises(ArgumentError, match="keyword-only data"):
        ssr.matrix(rows=line, cols=line)(scaled)


@pytest.mark.parametrize("form", ["method", "partial"])
def test_methods_and_partial_functions_keep_the_values_of_their_names(form: str) -> None:
    """A matrix runs its generator again as its definition; what it reads does not change."""
    scope: dict[str, Any] = {"scale": [2.0]}
    exec("class C:\n def method(self, i): yield i, scale[0]", scope)
    function = scope["C"]().method
    function = functools.partial(function) if form == "partial" else function
    found = ssr.matrix(rows=line, cols=line)(function).bind(n=2)
    scope["scale"][0] = 3.0
    assert (found.to_scipy().toarray() == 2 * np.eye(2)).all()


def test_a_program_that_yields_is_refused() -> None:
    with pytest.raises(ArgumentError, match="yields values"):
        ssr.program(i=line)(entries)


def test_callbacks_of_solvers_take_one_array() -> None:
    b = np.ones(4)
    for callback in (lambda: None, lambda x, y: None, 3, made("async_function", MATRIX)):
        with pytest.raises(ArgumentError, match="callback"):
            ssr.solvers.cg(A, b, callback=callback)
    seen: list[float] = []
    ssr.solvers.cg(A, b, callback=functools.partial(lambda into, x: into.append(x[0]), seen))
    assert seen
