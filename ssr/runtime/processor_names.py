"""The processor names that LLVM accepts.

llvmlite has no function that lists them. LLVM prints a list, and warnings about unknown names, to
standard error, which is captured here. If capturing is impossible, every name is accepted.
"""

from __future__ import annotations

import os
import re
import tempfile
from difflib import get_close_matches
from functools import cache
from threading import Lock

_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", re.ASCII)
_UNKNOWN = "is not a recognized processor"
_OF_LLVM = re.compile(rf"\t[\w.+-]+|Available CPUs .*|Use -m.*|For example, .*|'.*' {_UNKNOWN}.*|")
"""Lines that LLVM prints."""

_catching = Lock()


@cache
def is_name(name: str, triple: str) -> bool:
    """Whether LLVM has a processor with this name for an architecture."""
    if not _FORM.fullmatch(name) or name == "help":
        return False
    try:
        return not any(_UNKNOWN in line for line in _printed(name, triple))
    except RuntimeError:  # LLVM was built without this architecture
        return False


def near(name: str, triple: str) -> list[str]:
    """Return the names of a kind of processors that are most like another name."""
    return get_close_matches(name, _names(triple), 3)


@cache
def _names(triple: str) -> tuple[str, ...]:
    """Return all names of a kind of processors; LLVM prints them for the first kind only."""
    lines = _printed("", triple, "+cpuhelp")
    return tuple(line[1:] for line in lines if line.startswith("\t"))


def _printed(name: str, triple: str, features: str = "") -> list[str]:
    """Return the lines that LLVM prints when it creates a target machine for a processor.

    Lines that another thread prints meanwhile are printed afterwards.
    """
    from llvmlite import binding

    binding.initialize_all_targets()
    target = binding.Target.from_triple(triple)
    with _catching, tempfile.TemporaryFile() as file:
        try:
            own = os.dup(2)
        except OSError:  # standard error is closed
            return []
        os.dup2(file.fileno(), 2)
        try:
            target.create_target_machine(cpu=name, features=features)
        finally:
            os.dup2(own, 2)
            os.close(own)
        file.seek(0)
        lines = file.read().decode(errors="replace").splitlines()
    others = [line for line in lines if not _OF_LLVM.fullmatch(line)]
    if others:
        os.write(2, "".join(f"{line}\n" for line in others).encode())
    return lines
