"""What all commands share: exit statuses, messages on standard error, and JSON files.

A command ends with status 0 if it has done its work and its checks hold, 1 if something failed, 2
where its arguments are wrong, and 130 after Ctrl-C.
"""

import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import boundary as bc
import ssr

STOPPED = 130
"""The exit status after Ctrl-C."""


def run(command: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process, or all ranks of a job, with its exit status."""
    try:
        status = command() or 0
    except ssr.Error as error:
        bc.abort(described(error))
    except OSError as error:
        flush(1)
        bc.abort(f"error: {error.filename or 'output'}: {error.strerror}.")
    except MemoryError as error:
        bc.abort(f"error: There is not enough memory: {error}.")
    except KeyboardInterrupt:
        bc.abort("stopped", STOPPED)
    sys.exit(flush(status))


def described(error: ssr.Error) -> str:
    """Return an error as a user of a command reads it, who does not see the source."""
    lines = [f"error: {error.message}"]
    lines += [f"  note: {error.note}"] if error.note else []
    lines += [f"  hint: {error.hint}"] if error.hint else []
    return "\n".join(lines)


def tell(text: str) -> None:
    """Print to standard error; a terminal that is gone is no reason to stop."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


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
