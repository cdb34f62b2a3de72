"""The common parts of all commands: exit statuses, messages on standard error, and JSON files.

A command ends with status 0 if it has done its work and its checks hold, 1 if something failed, 2
where its arguments are wrong, and 130 after Ctrl-C.
"""

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, NoReturn, TextIO

import boundary as bc
import ssr

STOPPED = 130
"""The exit status after Ctrl-C."""


def run(command: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process, or all ranks of a job, with its exit status."""
    prepare()
    sys.exit(flush(finished(command, bc.abort)))


def finished(command: Callable[[], int | None], fail: Callable[[str, int], int]) -> int:
    """Run a command and return its exit status, or the result of ``fail`` for an error."""
    try:
        return command() or 0
    except ssr.Error as error:
        return fail(described(error), 1)
    except OSError as error:
        flush(1)
        return fail(f"error: {error.filename or 'output'}: {error.strerror}.", 1)
    except MemoryError as error:
        return fail(f"error: There is not enough memory: {error}.", 1)
    except KeyboardInterrupt:
        return fail("stopped", STOPPED)


def described(error: ssr.Error) -> str:
    """Return the text of an error for users of a command, without source lines."""
    lines = [f"error: {error.message}"]
    lines += [f"  note: {error.note}"] if error.note else []
    lines += [f"  hint: {error.hint}"] if error.hint else []
    return "\n".join(lines)


def tell(text: str) -> None:
    """Print to standard error; a closed terminal does not end the program."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def prepare() -> None:
    """Open closed standard streams on the null device.

    Otherwise a file that is opened later replaces one, and with it all that libraries
    print. Characters that a stream cannot encode are written as escapes.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)


def _usable(stream: TextIO | None) -> TextIO:
    """Return a stream that accepts any text; the stream of a closed descriptor is None."""
    if stream is None:
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the process)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def flush(status: int) -> int:
    """Flush standard output; return the exit status, which is not 0 if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        tell(f"error: The standard output cannot be written: {error.strerror}.")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # where Python may write the rest when it ends
        return status or 1
    return status


def as_json(content: Any, *, sort_keys: bool = False) -> str:
    """Return content as the text of a JSON file; NaN and infinity, which JSON lacks, are null.

    >>> print(as_json({"norm": float("nan")}))
    {
     "norm": null
    }
    <BLANKLINE>
    """
    return json.dumps(_finite(content), indent=1, allow_nan=False, sort_keys=sort_keys) + "\n"


def _finite(content: Any) -> Any:
    """Return content with None in place of numbers that JSON cannot hold."""
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_finite(value) for value in content]
    return content
