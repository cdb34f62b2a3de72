"""What the tests of errors share: spaces, matrices, programs, and cases of mistakes.

A case is a function that makes one mistake, registered with the whole message it must lead to:
class and sentence, the user's line (after ``|``) with carets, note and hint.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import Error

n, m, ny, nx = ssr.sizes("n m ny nx")
line, five, cells = ssr.Space(n), ssr.Space(5), ssr.Space(ny, nx)
faces = cells.faces(axis=0)
T = ssr.stencil(line, line, {-1: -1, 0: 2, 1: -1}, outside="zero")


@ssr.matrix(rows=line, cols=line, u=line, dt=ssr.scalar)
def U(i, *, u, dt):
    yield i, u[i] * dt


@ssr.program(x=line, b=line)
def sweep(x, b):
    x[:] = T.tril().solve(b - T.triu(1) @ x)


@ssr.program(x=cells, b=cells)
def add(x, b):
    x[:] = x + b


@ssr.program(x=line, a=ssr.scalar)
def scale(x, a):
    x[:] = x * a


def ones(*shape: int, dtype: Any = float) -> np.ndarray:
    return np.ones(shape, dtype)


class Mistakes:
    """The cases of a module; calling it registers one."""

    def __init__(self) -> None:
        self.cases: list[Any] = []

    def __call__(self, text: str) -> Callable[[Any], Any]:
        """Register a function with its message."""

        def register(function: Callable[[], object]) -> Callable[[], object]:
            self.cases.append(pytest.param(function, text, id=function.__name__))
            return function

        return register


def check(function: Callable[[], object], text: str) -> None:
    """Run a function and compare its error with a message, and its place with the function's."""
    with pytest.raises(Error) as caught:
        function()
    error = caught.value
    assert error.span is not None
    assert error.span.file == function.__code__.co_filename
    lines = f"{type(error).__name__}: {error}".splitlines()
    place = f'  File "{error.span.file}", line {error.span.line}, in {error.span.function}'
    assert lines.pop(1) == place
    made = [re.sub(r"^ +(\d+ )?(?=\| )", "", text).removeprefix("  ") for text in lines]
    assert "\n".join(made) == textwrap.dedent(text).strip()
