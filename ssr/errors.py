"""User errors: the problem, its location in the user's source, and a remedy.

Every class derives from `Error` and, where NumPy raises a built-in exception in the same case, from
that exception as well. Defects of this package are `assert`s and never raise these classes.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import sysconfig
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType, GeneratorType
from typing import Any

PACKAGE = Path(__file__).parent
"""The source folder of this package."""

_OURS = tuple(f"{PACKAGE.parent / name}{os.sep}" for name in ("ssr", "boundary"))
_STDLIB = sysconfig.get_path("stdlib") + os.sep
LIBRARIES = {"boundary", "numba", "numpy", "scipy", "ssr"}
"""Packages whose frames are skipped in the search for the user's source line."""

_LINES = 4
"""Limit of the source lines of one location that are shown completely."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the user's source.

    ``columns`` are the column where the first line begins and the one where the last line ends,
    counted from 0 and half open; ``last`` is the number of the last line, by default the first.
    """

    file: str
    line: int
    columns: tuple[int, int] | None
    function: str
    last: int = 0

    @property
    def ours(self) -> bool:
        """Whether the location is in the source of this project's packages."""
        return self.file.startswith(_OURS)

    def render(self) -> str:
        """Return the place as text: file and line, then the source with carets below it."""
        head = f'  File "{self.file}", line {self.line}, in {self.function}'
        return "\n".join([head, *self._shown()])

    def element(self, number: int) -> Span:
        """Return the place of one element of the pair a ``yield`` gives: 0 the column, 1 the value.

        Where the source does not show the pair, as in ``yield entry``, the whole place is returned.
        """
        text = self._text()
        if self.columns is None or not text:
            return self
        try:
            found = ast.parse("(" + "\n".join(text) + "\n)", mode="eval").body
        except SyntaxError:
            return self
        pair = found.value if isinstance(found, ast.Yield) else None
        if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
            return self
        part = pair.elts[number]
        assert part.end_lineno is not None
        assert part.end_col_offset is not None
        first, last = part.lineno - 1, part.end_lineno - 1
        start = len(("(" * (not first) + text[first]).encode()[: part.col_offset].decode())
        stop = len(("(" * (not last) + text[last]).encode()[: part.end_col_offset].decode())
        start += self.columns[0] - 1 if not first else 0
        stop += self.columns[0] - 1 if not last else 0
        lines = self.line + first, self.line + last
        return replace(self, line=lines[0], columns=(start, stop), last=lines[1])

    def _text(self) -> list[str]:
        """Return the source lines of the location, cut to its first and last column."""
        lines = [_source(self.file, n) for n in range(self.line, max(self.line, self.last) + 1)]
        if self.columns is not None:
            lines[-1] = lines[-1][: self.columns[1]]
            lines[0] = lines[0][self.columns[0] :]
        return lines

    def _shown(self) -> Iterator[str]:
        last = max(self.line, self.last)
        numbers = list(range(self.line, last + 1))
        text = {n: _source(self.file, n) for n in numbers}
        if not text[self.line].strip():
            return
        margin = min(_indent(t) for t in text.values() if t.strip())
        width = len(str(last))
        for n in numbers:
            if len(numbers) > _LINES and 2 <= n - self.line < len(numbers) - 1:
                if n - self.line == 2:
                    yield f"    {'...':>{width}}"
                continue
            line = text[n]
            yield f"    {n:>{width}} | {line[margin:]}".rstrip()
            if self.columns is not None and line.strip():
                start = self.columns[0] if n == self.line else _indent(line)
                stop = self.columns[1] if n == last else len(line)
                marks = _cells(line[start:stop], "^") or "^"
                yield f"    {'':>{width}} | {_cells(line[margin:start], ' ')}{marks}"


def _source(file: str, line: int) -> str:
    return linecache.getline(file, line).rstrip("\r\n")


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _cells(text: str, mark: str) -> str:
    """Return a mark for each terminal column of a text; tabs remain tabs if the mark is blank."""
    cells = []
    for character in text:
        wide = unicodedata.east_asian_width(character) in "WF"
        count = 0 if unicodedata.combining(character) else 1 + wide
        cells.append("\t" if character == "\t" and mark == " " else mark * count)
    return "".join(cells)


def span_of_frame(frame: FrameType) -> Span:
    """Return the place of the expression that a frame is evaluating."""
    code = frame.f_code
    return _span(code, code.co_filename, frame.f_lasti, frame.f_lineno)


def span_of_generator(generator: GeneratorType[Any, Any, Any]) -> Span | None:
    """Return the innermost ``yield`` at which a user's generator is suspended."""
    inner = generator.gi_yieldfrom
    found = span_of_generator(inner) if isinstance(inner, GeneratorType) else None
    if found is not None:
        return found
    frame = generator.gi_frame
    return span_of_frame(frame) if frame is not None and _is_user(frame) else None


_place: ContextVar[Callable[[], Span | None] | None] = ContextVar("place", default=None)


@contextmanager
def at(span: Span | None, element: int | None = None) -> Iterator[None]:
    """Give errors raised in the block a place that is not on the call stack any more."""
    if span is None:
        yield
        return
    token = _place.set(lambda: span if element is None else span.element(element))
    try:
        yield
    finally:
        _place.reset(token)


def user_span() -> Span | None:
    """Return the place given by `at`, or else the innermost place of the user's on the stack."""
    place = _place.get()
    if place is not None:
        return place()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_user(frame):
            return span_of_frame(frame)
        frame = frame.f_back
    return None


def _is_user(frame: FrameType) -> bool:
    """Whether a frame runs code that is neither ours, nor Python's, nor of a library we use."""
    file = frame.f_code.co_filename
    if file.startswith("<doctest"):
        return True
    module = str(frame.f_globals.get("__name__", ""))
    if file.startswith(("<frozen", *_OURS)) or module.startswith("ssr_kernel_"):
        return False
    if file.startswith(_STDLIB) and "site-packages" not in file:
        return False
    return module.partition(".")[0] not in LIBRARIES


@lru_cache(maxsize=1024)
def _span(code: CodeType, file: str, instruction: int, line: int) -> Span:
    """Return the place of an instruction; equal code objects may come from several files."""
    positions = list(code.co_positions())
    where = instruction // 2
    if not 0 <= where < len(positions):
        return Span(file, line, None, code.co_name)
    first, last, start, stop = positions[where]
    first, last = first or line, last or line
    columns = None
    if start is not None and stop is not None:
        linecache.checkcache(file)
        columns = _characters(file, first, start), _characters(file, last, stop)
    return Span(file, first, columns, code.co_name, last)


def _characters(file: str, line: int, column: int) -> int:
    """Convert the column in bytes that CPython records to one in characters."""
    raw = linecache.getline(file, line).encode()
    return len(raw[:column].decode(errors="ignore"))


class Error(Exception):
    """Base class of all errors that a user can cause.

    Parameters
    ----------
    message
        The cause, in one sentence.
    span
        The place in the source; by default the innermost place on the call stack in the code of the
        user.
    note
        A fact that helps to understand why, or None.
    hint
        A remedy, or None.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> try:
    ...     ssr.identity(ssr.Space(3)) @ np.ones(4)
    ... except ssr.Error as error:
    ...     print(error.message)
    Array 'x' has length 4 along axis 0 where 3 is needed.
    """

    def __init__(
        self,
        message: str,
        *,
        span: Span | None = None,
        note: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.span = span if span is not None else user_span()
        self.note = note
        self.hint = hint
        super().__init__(self.render())

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.message, self.span, self.note, self.hint, self.args)

    def render(self) -> str:
        """Return the whole message: sentence, place with carets, note and hint."""
        parts = [self.message]
        if self.span is not None:
            parts.append(self.span.render())
        if self.note:
            parts.append(f"  Note: {self.note}")
        if self.hint:
            parts.append(f"  Hint: {self.hint}")
        return "\n".join(parts)


def _again(
    kind: type[Error],
    message: str,
    span: Span | None,
    note: str | None,
    hint: str | None,
    args: tuple[Any, ...],
) -> Error:
    """Return an error that another process has pickled, with the place found there."""
    error = kind.__new__(kind)
    error.message, error.span, error.note, error.hint, error.args = message, span, note, hint, args
    return error


class NotAffineError(Error, TypeError):
    """An index expression is not affine in the row indices and sizes."""


class RuntimeConditionError(Error, TypeError):
    """A Python condition depends on a value that is known only at run time."""


class OutOfSpaceError(Error, IndexError):
    """A column, or a point that is read, lies outside its space."""


class NotTriangularError(Error, ValueError):
    """A matrix to be solved is neither triangular nor banded along one axis."""


class SingularMatrixError(Error, ValueError):
    """A matrix to be solved has a diagonal entry or pivot that is missing or zero."""


class SpaceError(Error, ValueError):
    """Spaces do not fit together: their extents, locations or dimensions differ."""


class EmptySpaceError(Error, ValueError):
    """A space has no points along some axis."""


class ShapeError(Error, ValueError):
    """An array's shape does not fit its space."""


class DtypeError(Error, TypeError):
    """An array's dtype is not that of the kernel, or is not supported."""


class ContiguityError(Error, ValueError):
    """An array's last axis is not contiguous, or a stride is negative."""


class OverlapError(Error, ValueError):
    """An array that is written shares memory with another argument."""


class TooLargeError(Error, MemoryError):
    """An array does not fit memory."""


class ReadOnlyError(Error, ValueError):
    """An array that is written is read-only."""


class UnboundError(Error, TypeError):
    """A size, scalar or field has no value."""


class ArgumentError(Error, TypeError):
    """A call's arguments do not fit the declaration."""


class OutOfRangeError(ArgumentError, ValueError):
    """An argument has a value that is not allowed, such as a negative tolerance."""


class MissingNameError(Error, AttributeError):
    """An object has no attribute of this name."""


class ImpureGeneratorError(Error, RuntimeError):
    """A generator yielded different entries when it was run again."""


class ImpureProgramError(Error, RuntimeError):
    """The body of a program recorded something else when it was run again."""


class TooManyPathsError(Error, RuntimeError):
    """A generator has more paths through its conditions than are allowed."""


class BoxError(Error, ValueError):
    """Boxes do not cover a space exactly once, or cannot be put in a legal order."""


class UnmadeRowError(Error, LookupError):
    """A recurrence reads a row that has not been computed yet."""


class UnsupportedError(Error, NotImplementedError):
    """A construct that the compiler does not support."""


class StepSizeError(Error, ArithmeticError):
    """The step of an integrator with error control becomes too short."""


class ConvergenceError(Error, ArithmeticError):
    """An iteration that a method needs does not converge."""


class NonFiniteError(Error, ValueError):
    """An array holds infinities or NaN where a method needs finite numbers."""


class OutputError(Error, ValueError):
    """A file cannot be written, or cannot be continued."""


class CheckpointError(Error, ValueError):
    """A file is not a checkpoint, is damaged, or does not fit the fields."""
