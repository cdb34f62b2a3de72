"""A finding as a program of its own: text, arrays, and what was meant."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from .arrays import fenced, room
from .cases import Case, Declared, Outcome, Run, Shared, expected_run
from .numbers import Several

HEAD = """\
import ctypes
import mmap
from typing import Any

import numpy as np
import scipy.sparse as sparse

import boundary as bc
import ssr

Array = np.ndarray[Any, Any]
nan, inf = np.nan, np.inf


def compare(found, wanted):
    wanted = np.array(wanted)  # where that is nan, anything will do
    near = 1e-9 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(np.where(np.isnan(wanted), nan, found), wanted, near, near)


"""


SETTING = """\
sizes, seed, dtype = {}, {}, {!r}
ranks, threads, cuts, boxes = {}, {}, {}, {}
made = {{}}


def spread(cells):
    if "on" not in made:
        known = {{name for space in getattr(cells, "kinds", [cells]) for name in space.sizes}}
        world = None if ranks == -1 else (bc.threads if threads else bc.simulated_ranks)(ranks)
        cut = (*cuts, 1, 1, 1, 1)[: cells.ndim] if cuts else None
        known = {{n: sizes[n] for n in known}}
        made["on"] = bc.distribute(cells, world, cut=cut, boxes=boxes or None, **known)
    return made["on"]


def numbers(number, turn, shape):
    version = turn * ((seed + number) % 2)
    return np.random.default_rng([seed, number, version]).uniform(-1, 1, shape).astype(dtype)


def data(cells, kind, number):
    if number not in made:
        shape = getattr(kind, "space", kind).extent(sizes)
        shape = (*([kind.components] if hasattr(kind, "components") else []), *shape)
        values = numbers(number, 0, shape)
        shared = ranks and (seed + number) % 3
        made[number] = spread(cells).scatter(kind, values) if shared else values
    return made[number]


def set_data(turn):
    for number, field in made.items():
        if number != "on" and (seed + number) % 2:
            if isinstance(field, np.ndarray):
                field[...] = numbers(number, turn, field.shape)
            else:
                field.set(numbers(number, turn, field.shape))


"""
"""What a run is, and what its text takes of that: see `spreads.Ground`."""


def program(case: Case, outcome: Outcome) -> str:
    """Return the text of a program that shows a finding."""
    memory = "\n\n".join(map(inspect.getsource, (room, fenced)))
    lines = [HEAD, memory, "\n\n"]
    for run in case.runs[:2]:
        lines += [setting(run), case.text, "\n", shown(case.text, run)]
    return f"# {outcome.what}\n" + "".join(lines)


def setting(run: Run) -> str:
    """Return the lines that say what a run is."""
    parts = run.ranks, run.threads, run.cuts, run.boxes
    return SETTING.format(dict(run.sizes), run.seed, run.dtype, *parts)


def shown(text: str, run: Run) -> str:
    """Return the lines that run the program and compare."""
    lines = []
    try:
        boxes = Shared(Declared(text, run).boxes()) if run.ranks else Shared()
        _, values, wanted, why = expected_run(text, run.meant, boxes)
    except Exception as error:
        wanted, why = None, error
    if wanted is None:
        return f"# no meaning: {why}".partition("\n")[0] + "\n"
    np.set_printoptions(threshold=100_000)
    for place, (name, value) in enumerate(values.items()):
        if isinstance(value, float):
            lines.append(f"{name} = {value}")
            continue
        layout = run.layouts[place % len(run.layouts)]
        lines.append(f"{name} = room({value.shape}, {run.dtype!r}, {layout!r})")
        lines.append(f"{name}[...] = {literal(value)}")
    turns = list(zip(run.meant.calls, [*run.before, run.options], strict=True))
    lines += [f"turns, programs, bound = {[turns.index(each) for each in turns]}, {{}}, {{}}"]
    for n, (name, options) in enumerate(turns):
        changed = ", ".join(f"{o}={not default(o)}" for o in options)
        lines.append(f"programs[{n}] = {name}.with_options(ssr.Options({changed}))")
    lines.append(f"arguments = [{', '.join(values)}]")
    call, behind = ["results = programs[n](*arguments)"], []
    if run.ranks:
        cells = re.findall(r"^([TPC]) = (?:bc.Grid|ssr.Space)", text, re.MULTILINE)
        lines += [
            "kinds = [kind for _, kind in p.signature.kinds]",
            "fields = [",
            f"    spread({max(cells)}).scatter(kind, a) if isinstance(a, np.ndarray) else a",
            "    for kind, a in zip(kinds, arguments)",
            "]",
        ]
        call = [
            "bound[n] = bound.get(n) or programs[n].bind(*fields)",
            "results = bound[n]()",
        ]
        behind = [
            "for field, array in zip(fields, arguments):",
            "    if isinstance(array, np.ndarray):",
            "        array[...] = field.gather()",
        ]
    elif run.cuts:
        lines += [
            "space = next(kind for _, kind in p.signature.flat if isinstance(kind, ssr.Space))",
            "parts = (*cuts, 1, 1, 1, 1)[: space.ndim]",
        ]
        call = ["results = programs[n](*arguments, boxes=space.split(*parts, sizes=sizes))"]
    each = ["set_data(turn)", *call]
    if run.changed is not None:
        array = list(values.values())[run.changed]
        each.insert(1, f"if turn == {run.times - 1}:")
        target = f"fields[{run.changed}].set" if run.ranks else f"arguments[{run.changed}].put"
        given = literal(run.fresh(array.shape)) + f".astype({run.dtype!r})"
        given = given if run.ranks else f"range({array.size}), {given}"
        each.insert(2, f"    {target}({given})")
    lines += ["for turn, n in enumerate(turns):", *(f"    {line}" for line in each), *behind]
    for name, field in wanted[0].items():
        if not isinstance(values[name], float):
            many = list(field) if isinstance(field, Several) else [field]
            value = np.array([p.value for p in many]).reshape(values[name].shape)
            lines.append(f"compare({name}, {np.asarray(value, float).tolist()})")
    if wanted[1]:
        numbers = [float(r.value) for r in wanted[1]]
        lines.append(f"compare(results, {numbers})")
    return "\n".join(lines) + "\n"


def default(option: str) -> bool:
    """Return the default of one of the compiler's options."""
    import ssr

    return bool(getattr(ssr.Options(), option))


def literal(value: Any) -> str:
    """Return an array as text."""
    return f"np.array({np.asarray(value, float).tolist()})"
