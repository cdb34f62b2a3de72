"""The program being traced: what collects its assignments while its body runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ..errors import Error

if TYPE_CHECKING:
    from .recorder import Recorder

_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Collect assignments made inside the block."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def recorder_of_program() -> Recorder | None:
    """Return the recorder of the program being traced, if one is."""
    return _recorder.get()


def current() -> Recorder:
    """Return the recorder of the program being traced.

    Raises
    ------
    Error
        Outside a program's body.
    """
    recorder = _recorder.get()
    if recorder is None:
        raise Error(
            "A field of a program is used outside the program's body.",
            hint="Fields are symbols; call the program with arrays.",
        )
    return recorder
