"""Exit statuses of the packages' commands, and their messages on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

from .errors import Error

STOPPED = 130
"""The exit status after Ctrl-C."""


def run_command(command: Callable[[], int]) -> NoReturn:
    """Run a command and end the process: with status 1 if it fails, 130 after Ctrl-C."""
    try:
        status = command()
        sys.stdout.flush()
    except Error as error:
        status = _failed(f"error: {error.message}{f' {error.hint}' if error.hint else ''}")
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # target of Python's final flush
        status = _failed(f"error: {error.filename or 'output'}: {error.strerror}.")
    except KeyboardInterrupt:
        status = _failed("stopped", STOPPED)
    sys.exit(status)


def _failed(text: str, status: int = 1) -> int:
    print(text, file=sys.stderr, flush=True)
    return status
