"""A finding as a program of its own: text, arrays, and what was meant."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from .arrays import fenced, room
from .cases import Case, Outcome, Run, drawn, meaning
from .numbers import Several, Unclear, Undefined

HEAD = """\
import ctypes
import mmap
from typing import Any

import numpy as np
import scipy.sparse as sparse

import boundary as bc
import ssr

Array = np.ndarray[Any, Any]

"""


def program(case: Case, outcome: Outcome) -> str:
    """Return the text of a program that shows a finding."""
    memory = "\n\n".join(map(inspect.getsource, (room, fenced)))
    lines = [HEAD, case.text, "\n", memory, "\n"]
    for run in case.runs[:2]:
        lines.append(shown(case.text, run))
    return f"# {outcome.what}\n" + "".join(lines)


def shown(text: str, run: Run) -> str:
    """Return the lines that run the program once and compare."""
    lines = [f"# sizes {dict(run.sizes)}, seed {run.seed}"]
    try:
        made = meaning(text, dict(run.sizes))["p"]
        values = drawn(made, run.seed, run.dtype)
        with np.errstate(all="ignore"):
            wanted = made.run(values)
    except (Undefined, Unclear, Exception) as error:
        return "\n".join([*lines, f"# no meaning: {error}\n"])
    np.set_printoptions(threshold=100_000)
    for place, (name, value) in enumerate(values.items()):
        if isinstance(value, float):
            lines.append(f"{name} = {value}")
            continue
        layout = run.layouts[place % len(run.layouts)]
        lines.append(f"{name} = room({value.shape}, {run.dtype!r}, {layout!r})")
        lines.append(f"{name}[...] = {literal(value)}")
    options = ", ".join(f"{o}={not default(o)}" for o in run.options)
    sizes = dict(run.sizes)
    if run.ranks:
        lines.append(f"# on {run.ranks} ranks that share the points, cut {run.cuts}")
    boxes = (
        f", boxes=ssr.Space(...).split{run.cuts} with {sizes}" if run.cuts and not run.ranks else ""
    )
    lines.append(f"p = p.with_options(ssr.Options({options}))")
    lines.append(f"results = p({', '.join(values)}{boxes})")
    for name, field in wanted[0].items():
        if not isinstance(values[name], float):
            many = list(field) if isinstance(field, Several) else [field]
            value = np.array([p.value for p in many]).reshape(values[name].shape)
            lines.append(f"np.testing.assert_allclose({name}, {literal(value)}, 1e-9, 1e-9)")
    if wanted[1]:
        numbers = [float(r.value) for r in wanted[1]]
        lines.append(f"np.testing.assert_allclose(results, {numbers}, 1e-9, 1e-9)")
    return "\n".join(lines) + "\n"


def default(option: str) -> bool:
    """Return the default of one of the compiler's options."""
    import ssr

    return bool(getattr(ssr.Options(), option))


def literal(value: Any) -> str:
    """Return an array as text."""
    return f"np.array({np.asarray(value, float).tolist()})"
