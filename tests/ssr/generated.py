"""Functions of a text, which have a source as those of kernels have."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from collections.abc import Mapping
from typing import Any

_COUNT = itertools.count()


def functions(text: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a text defines, and the names that it may use."""
    file, text = f"<generated {next(_COUNT)}>", textwrap.dedent(text)
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = dict(names)
    exec(compile(text, file, "exec"), scope)
    return scope
