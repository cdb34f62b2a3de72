"""User errors: what is wrong, where in the user's file, and what to do.

Every class derives from `Error`; where the field has a habit the class also derives from the
built-in exception a NumPy user would catch. Our own defects are `assert`s and never these.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, GeneratorType
from typing import Any

_PACKAGE = str(Path(__file__).parent) + os.sep


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the user's source: file, line, columns (0-based, half open) and function."""

    file: str
    line: int
    columns: tuple[int, int] | None
    function: str

    def render(self) -> str:
        """Return the place as three lines: location, source text, carets."""
        lines = [f'  File "{self.file}", line {self.line}, in {self.function}']
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if text:
            indent = len(text) - len(text.lstrip())
            gutter = f"    {self.line} | "
            lines.append(gutter + text[indent:])
            if self.columns is not None:
                start, stop = self.columns
                if start >= indent:
                    stop = min(max(stop, start + 1), len(text))
                    bar = gutter.rindex("|")
                    lines.append(" " * bar + "| " + " " * (start - indent) + "^" * (stop - start))
        return "\n".join(lines)


def span_of_frame(frame: FrameType) -> Span:
    """Return the expression a frame is evaluating."""
    return _span(frame.f_code, frame.f_lasti, frame.f_lineno)


def span_of_generator(generator: GeneratorType[Any, Any, Any]) -> Span | None:
    """Return the `yield` at which a suspended generator stands."""
    frame = generator.gi_frame
    return None if frame is None else span_of_frame(frame)


def user_span() -> Span | None:
    """Return the innermost place of the call stack that is outside this package."""
    for frame in _frames():
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE) and not file.startswith("<"):
            return span_of_frame(frame)
        if file.startswith("<stdin") or file.startswith("<ipython") or file.startswith("<doctest"):
            return span_of_frame(frame)
    return None


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _span(code: CodeType, instruction: int, line: int) -> Span:
    columns = None
    positions = list(code.co_positions())
    where = instruction // 2
    if 0 <= where < len(positions):
        first, last, start, stop = positions[where]
        if first is not None:
            line = first
        if first == last and start is not None and stop is not None:
            columns = _characters(code.co_filename, line, start, stop)
    return Span(code.co_filename, line, columns, code.co_name)


def _characters(file: str, line: int, start: int, stop: int) -> tuple[int, int]:
    """Convert the byte columns CPython records to character columns."""
    raw = linecache.getline(file, line).encode()
    return len(raw[:start].decode(errors="ignore")), len(raw[:stop].decode(errors="ignore"))


class Error(Exception):
    """Base of all errors a user can cause.

    Parameters
    ----------
    message
        One sentence: what is wrong.
    span
        Where; by default the user's innermost line on the call stack.
    note
        A fact that helps to see why, or None.
    hint
        What to do, or None.
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


class NotAffineError(Error, TypeError):
    """An index expression is not affine in the row indices and sizes."""


class RuntimeConditionError(Error, TypeError):
    """A Python condition depends on a value that is known only at run time."""


class OutOfSpaceError(Error, IndexError):
    """A column, or a point read, lies outside its space."""


class NotTriangularError(Error, ValueError):
    """A solve was asked of a matrix that is neither lower nor upper triangular."""


class SingularMatrixError(Error, ValueError):
    """A triangular matrix has rows without a diagonal entry, or with a zero one."""


class SpaceError(Error, ValueError):
    """Spaces do not fit together: other extents, locations or dimensions."""


class EmptySpaceError(Error, ValueError):
    """A space has no points along some axis."""


class ShapeError(Error, ValueError):
    """An array's shape does not fit its space."""


class DtypeError(Error, TypeError):
    """An array's dtype is not the kernel's, or not supported."""


class ContiguityError(Error, ValueError):
    """An array's last axis is not contiguous, or a stride is negative."""


class OverlapError(Error, ValueError):
    """An array that is written shares memory with another argument."""


class ReadOnlyError(Error, ValueError):
    """An array that is written is read-only."""


class UnboundError(Error, TypeError):
    """A size, scalar or field has no value."""


class ArgumentError(Error, TypeError):
    """A call's arguments do not fit the declaration."""


class ImpureGeneratorError(Error, RuntimeError):
    """A generator gave different entries when it was run again."""


class TooManyPathsError(Error, RuntimeError):
    """A generator has more paths through its conditions than the cap."""


class BoxError(Error, ValueError):
    """A cutting into boxes does not cover the space once, or cannot be ordered."""


class UnsupportedError(Error, NotImplementedError):
    """A construct the compiler does not lower."""
