"""A compiled kernel: its source module, its machine code, what a caller must know."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from .. import ir
from ..options import Options
from . import cache


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel ready to be called.

    ``run`` is the compiled function, ``plain`` the same source as ordinary Python. ``run`` takes
    the vector fields that ``meta`` calls ``whole`` as one array, else an array for each component.
    """

    name: str
    source: str
    meta: dict[str, Any]
    run: Callable[..., int]
    plain: Callable[..., int]
    from_cache: bool
    seconds: float


def text_of(program: ir.Program) -> str:
    """Return the text that identifies a program: equal text, equal kernel.

    Every operation and sum is one line, so that what is shared is written once.
    """
    lines: dict[str, int] = {}
    known: dict[int, str] = {}

    def name(value: ir.Value) -> str:
        if id(value) not in known:
            match value:
                case ir.Op(operation, args):
                    text = f"{operation} {' '.join(map(name, args))}"
                case ir.Sum(terms):
                    text = "sum " + "; ".join(map(summand, terms))
                case _:
                    text = repr(value)
            known[id(value)] = f"%{lines.setdefault(text, len(lines))}"
        return known[id(value)]

    def summand(term: ir.Term) -> str:
        operand = "" if term.operand is None else name(term.operand)
        return f"{term.domain.text} {name(term.weight)} {operand}"

    def meant(step: ir.Step) -> object:
        if isinstance(step, ir.Call):
            text = step.external.source("step")
            made = step.external.rows(step.fields, step.scalars)
            rows = made and [[(points.text, name(v)) for points, v in each] for each in made]
            scalars = [name(v) for v in step.scalars]
            return step.name, step.fields, scalars, step.alone, text, rows
        return [(name(p.value), replace(p, value=ir.ZERO)) for p in ir.parts(step)]

    made = [meant(step) for step in program.steps]
    results = [name(value) for value in program.results]
    return repr((replace(program, steps=(), results=()), made, results, list(lines)))


def build(program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Return the kernel of a program: from the cache, or lowered, compiled and cached."""
    start = time.perf_counter()
    if os.environ.get("SSR_DUMP"):
        from ..matrices.explain import dump

        dump(program, options, dtype)
    stem = "".join(c if c.isalnum() else "_" for c in program.name).strip("_") or "kernel"
    name = f"{stem[:40]}_{cache.digest(text_of(program), repr(options), dtype)}"
    if not options.cache:
        return _compile_uncached(program, options, dtype, name, start)
    path = cache.find(name)
    if path is not None and _has_code(path):
        return _load(path, name, True, start)
    with cache.locked(name):
        if path is None:
            path = cache.find(name) or cache.publish(name, _source(program, options, dtype))
        return _load(path, name, False, start)


def _source(program: ir.Program, options: Options, dtype: str) -> str:
    from .pipeline import lower

    return lower(program, options, dtype, f"{program.name}, generated for {dtype}.").source


def _has_code(path: Path) -> bool:
    return any((path.parent / "__pycache__").glob(f"{path.stem}.*.nbi"))


def _load(path: Path, name: str, from_cache: bool, start: float) -> Kernel:
    module = _import(path, f"ssr_kernel_{name}")
    return _kernel(module, name, path.read_text(), True, from_cache, start)


def _import(path: Path, name: str) -> ModuleType:
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return sys.modules.setdefault(name, module)


def _compile_uncached(
    program: ir.Program, options: Options, dtype: str, name: str, start: float
) -> Kernel:
    source = _source(program, options, dtype)
    module = ModuleType(f"ssr_kernel_{name}")
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    return _kernel(module, name, source, False, False, start)


def _kernel(
    module: ModuleType, name: str, source: str, keep: bool, from_cache: bool, start: float
) -> Kernel:
    run = compiled(module, keep)
    return Kernel(
        name, source, module.META, run, module.kernel, from_cache, time.perf_counter() - start
    )


def compiled(module: ModuleType, keep: bool) -> Callable[..., int]:
    """Return the kernel of a module as machine code; its functions are compiled as it needs them.

    They become part of the kernel's machine code, and are kept on disk with it only.
    """
    if module.META["debug"]:
        from .debug import jit
    else:
        from .machine import jit

    scope = dict(vars(module))
    whole = "whole" in module.META
    main, signature = ("call", "WHOLE") if whole else ("kernel", "SIGNATURE")
    parts = [*module.META["functions"], *(["kernel"] if whole else [])]
    for name in parts:
        scope[name] = jit(None, cache=False)(FunctionType(scope[name].__code__, scope))
    made: Callable[..., int] = jit(scope[signature], cache=keep)(
        FunctionType(scope[main].__code__, scope)
    )
    return made
