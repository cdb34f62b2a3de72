"""Properties on which ranks must agree before they run a program (`worlds.agreement`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import ssr
from ssr.extension import declaration, identity

from ..worlds.agreement import Facts
from .field import Field

_texts: WeakKeyDictionary[ssr.Program, str] = WeakKeyDictionary()
"""The digests of programs. They replace the texts, which are long."""


def of_program(program: ssr.Program, dtype: np.dtype[Any]) -> Facts:
    """Return the facts that must be equal on all ranks that prepare a program for a dtype."""
    if program not in _texts:
        _texts[program] = identity(program.ir)
    constants = ", ".join(map(repr, declaration(program).constants))
    return {
        "step": f"the preparation of {program.ir.name}",
        "text of the program": f"that with the digest {_texts[program][:12]}",
        "options": repr(program.options),
        "dtype": str(dtype),
        "numbers of matrices": constants or "none",
    }


def of_arguments(
    step: str, fields: Mapping[str, Field], numbers: Mapping[str, float | None]
) -> Facts:
    """Return the facts that must be equal on all ranks that bind or call a program."""
    known = {name: value for name, value in numbers.items() if value is not None}
    return {
        "step": step,
        **{f"field {name}": f"number {field.number}" for name, field in fields.items()},
        **{f"scalar {name}": repr(value) for name, value in known.items()},
        "scalars": ", ".join(known) or "none",
    }
