"""A compiled kernel: its source module, its machine code, what a caller must know."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import linecache
import marshal
import pickle
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from .. import ir
from ..compiling import compiling
from ..forking import postponed
from ..kernel.ir import Function
from ..kernel.print_python import function_lines
from ..options import Options
from ..runtime import internals, target
from ..runtime.metadata import KernelMeta
from . import cache, progress

if TYPE_CHECKING:
    from .pipeline import Lowered

Place = tuple[Path, bool, target.Processor]


@dataclass(frozen=True)
class Kernel:
    """A kernel, whose machine code may still be under work.

    ``run`` waits for it. It is the compiled function, or checked source as plain Python. It takes
    the vector fields that ``meta`` calls ``whole`` as one array, else an array for each component.
    A kernel for boxes with memory of their own takes the steps of a schedule (`ssr.run.steps`).
    """

    name: str
    source: str
    meta: KernelMeta
    ready: Callable[[], Callable[..., int]]
    from_cache: bool

    @cached_property
    def run(self) -> Callable[..., int]:
        """The function."""
        return self.ready()


def text_of(program: ir.Program) -> str:
    """Return the text that identifies a program: equal text, equal kernel.

    Every operation and sum is one line, so that what is shared is written once.
    """
    lines: dict[str, int] = {}
    known: dict[int, tuple[ir.Value, str]] = {}  # with the values: these have their identity then

    def name(value: ir.Value) -> str:
        if id(value) not in known:
            match value:
                case ir.Op(operation, args):
                    text = f"{operation} {' '.join(map(name, args))}"
                case ir.Sum(terms):
                    text = "sum " + "; ".join(map(summand, terms))
                case _:
                    text = repr(value)
            known[id(value)] = value, f"%{lines.setdefault(text, len(lines))}"
        return known[id(value)][1]

    def summand(term: ir.Term) -> str:
        operand = "" if term.operand is None else name(term.operand)
        return f"{term.domain.text} {name(term.weight)} {operand}"

    def meant(step: ir.Step) -> object:
        if isinstance(step, ir.Call):
            functions = [function_lines(f) for f in step.external.functions("step")]
            made = step.external.rows(step.fields, step.scalars)
            rows = made and [[(points.text, name(v)) for points, v in each] for each in made]
            scalars = [name(v) for v in step.scalars]
            return step.name, step.fields, scalars, step.alone, functions, rows
        parts = [(name(p.value), replace(p, value=ir.ZERO)) for p in ir.parts(step)]
        if isinstance(step, ir.Solve):
            entries = [(name(e.value), replace(e, value=ir.ZERO)) for e in step.entries]
            return parts, step.axis, step.size, entries
        return parts

    made = [meant(step) for step in program.steps]
    results = [name(value) for value in program.results]
    return repr((replace(program, steps=(), results=()), made, results, list(lines)))


def build(program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Return the kernel of a program: from the cache, or lowered, compiled and cached.

    It is lowered and translated here. LLVM does its work in a thread, while this one goes on.

    Raises
    ------
    ArgumentError
        If the processor at hand lacks instructions of the one that it is compiled for.
    """
    name = kernel_name(program, options, dtype)
    with target.compiling_for(target.chosen(options.cpu)):
        target.check_runs()
        known = _BEGUN.pop((cache.cache_dir(), name), None) or _from_cache(name, options)
        return known or _begun(name, program, options, dtype)


def begin(program: ir.Program, options: Options, dtype: str) -> None:
    """Begin to build a kernel that `build` will be asked for."""
    name = kernel_name(program, options, dtype)
    key = cache.cache_dir(), name
    with target.compiling_for(target.chosen(options.cpu)):
        target.check_runs()
        if key not in _BEGUN and _from_cache(name, options) is None:
            _BEGUN[key] = _begun(name, program, options, dtype)


_BEGUN: dict[tuple[Path, str], Kernel] = {}
"""Kernels that nobody has asked for yet."""


def _from_cache(name: str, options: Options) -> Kernel | None:
    """Return a kernel whose machine code the cache has."""
    return _complete(name, _found(name) if options.cache else None)


def _complete(name: str, found: _Text | None) -> Kernel | None:
    """Return the kernel of what was found, if its machine code was."""
    if found is None or found.code is None:
        return None
    code = found.code
    if _alike(found) is None:
        _LATEST.append((_place(), found.source, lambda: code))
    return _kernel(name, found, lambda: code, True, f"loading {name}")


def _begun(name: str, program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Begin to make a kernel, unless another process has just made it."""
    from ..runtime.later import Later

    told = f"compiling {program.name}"
    with compiling(), progress.shown(told), contextlib.ExitStack() as held:
        if options.cache:
            held.enter_context(cache.locked(name))
        found = _found(name) if options.cache else None  # made by another process, or described
        made = _complete(name, found)
        if made is not None:
            return made
        text = found or _text(name, _lowered(program, options, dtype))
        finish = (_alike(text) if options.cache else None) or _translated(text)
        until_kept = held.pop_all()

    def rest() -> bytes | None:
        with until_kept:
            code = finish()
            if options.cache:
                _keep(name, replace(text, code=code))
            return code

    later = Later(rest)
    kernel = _kernel(name, text, later.result, False, told)
    if options.cache:
        _LATEST.append((_place(), text.source, later.result))
    return kernel


def _kernel(
    name: str, text: _Text, code: Callable[[], bytes | None], from_cache: bool, told: str
) -> Kernel:
    """Return a kernel whose machine code a function waits for."""
    ready = partial(_loaded, text, code, told, target.processor())
    return Kernel(name, text.source, text.meta, ready, from_cache)


_LATEST: deque[tuple[Place, str, Callable[[], bytes | None]]] = deque(maxlen=16)
"""The source of the latest kernels, each with the place where it is kept and its machine code."""


def _place() -> Place:
    """Return the folder of the cache, whether the package's own compiler is used, and for what."""
    return cache.cache_dir(), internals.are_known(), target.processor()


def _alike(text: _Text) -> Callable[[], bytes | None] | None:
    """Return the machine code of one of the latest kernels whose source is the same.

    Options that make no difference to a program give the same source.
    """
    here = _place()
    for place, source, code in tuple(_LATEST):
        if place == here and source == text.source:
            return code
    return None


_LOADED: deque[tuple[str | bytes, Callable[..., int]]] = deque(maxlen=16)
"""The kernels that were loaded last, by their machine code, or by their source without any.

A matrix that is bound anew at each step asks for the same one each time.
"""

_LOADING = Lock()


def _loaded(
    text: _Text, code: Callable[[], bytes | None], told: str, processor: target.Processor
) -> Callable[..., int]:
    """Return a kernel: one of those that were loaded last, or loaded anew.

    `numba.njit` compiles it now.
    """
    with postponed(), progress.shown(told):
        data = code()
        with _LOADING, target.compiling_for(processor):
            return _among_loaded(text, data)


def _among_loaded(text: _Text, data: bytes | None) -> Callable[..., int]:
    key = text.source if data is None else data
    for known, run in tuple(_LOADED):
        if known == key:
            return run
    run = _compiled(text, data)
    _LOADED.append((key, run))
    return run


def describe(program: ir.Program, options: Options, dtype: str) -> KernelMeta:
    """Return what a caller must know about the kernel of a program, without compiling it.

    It is lowered, unless the cache has it. Numba is loaded only then.
    """
    described = kernel_name(program, options, dtype, DESCRIBED)
    known = cache.find(described) if options.cache else None
    if known is not None:
        return _meta(known.decode())
    name = kernel_name(program, options, dtype)
    found = _found(name) if options.cache else None
    text = found or _text(name, _lowered(program, options, dtype))
    if options.cache and found is None:
        _keep(name, text)
    if options.cache:
        cache.keep(described, repr(text.meta.literal()).encode())
    return text.meta


def is_built(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache has the machine code of a program's kernel."""
    found = _found(kernel_name(program, options, dtype)) if options.cache else None
    return found is not None and found.code is not None


def is_described(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache has the description of a program's kernel."""
    name = kernel_name(program, options, dtype, DESCRIBED)
    return options.cache and cache.find(name) is not None


DESCRIBED = "description"
"""The form of a kernel of which only its description is kept."""


def build_plain(program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Return the kernel of a program as checked source that runs as plain Python.

    It is lowered as `build` does it, and every statement checks the row that it runs.
    """
    from ..runtime.intrinsics import plain

    name, text, from_cache = _checked(program, options, dtype)
    module, meta = _module(text), text.meta
    run = plain(module.call if meta.units else module.kernel)
    return Kernel(name, text.source, meta, lambda: run, from_cache)


def generated(program: ir.Program, options: Options, dtype: str) -> tuple[ModuleType, KernelMeta]:
    """Return the source that `build_plain` runs, as a module, and what a caller must know."""
    name, text, _ = _checked(program, options, dtype)
    module = ModuleType(name)
    exec(text.bytecode, module.__dict__)
    return module, text.meta


def _checked(program: ir.Program, options: Options, dtype: str) -> tuple[str, _Text, bool]:
    """Return the name and text of checked source, and whether the cache had it."""
    name = kernel_name(program, options, dtype, "plain")
    found = _found(name) if options.cache else None
    text = found or _text(name, _lowered(program, options, dtype, checked=True))
    if options.cache and found is None:
        _keep(name, text)
    return name, text, found is not None


def kernel_name(program: ir.Program, options: Options, dtype: str, *form: str) -> str:
    """Return the name of a kernel in the cache: that of its program, readable, and a digest."""
    compiled = DESCRIBED not in form
    processor = target.chosen(options.cpu) if compiled else None
    asked = options, dtype, form, processor
    for known, *of, name in tuple(_NAMES):
        if known is program and tuple(of) == asked:
            return str(name)
    stem = "".join(c if c.isalnum() else "_" for c in program.name).strip("_") or "kernel"
    choices = repr(replace(options, cpu=None)), repr(processor), dtype, *form
    digest = cache.digest(identity(program), *choices, compiled=compiled)
    made = f"{stem[:40]}_{digest}"
    _NAMES.append((program, *asked, made))
    return made


_NAMES: deque[tuple[Any, ...]] = deque(maxlen=8)
"""The last names: a kernel is described and then built, and the text of a program is long."""


def identity(program: ir.Program) -> str:
    """Return the digest of the text of a program."""
    for known, digest in tuple(_IDENTITIES):
        if known is program:
            return digest
    digest = _digest(text_of(program))
    _IDENTITIES.append((program, digest))
    return digest


_IDENTITIES: deque[tuple[ir.Program, str]] = deque(maxlen=8)
"""The last programs, of which several names are made."""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _lowered(
    program: ir.Program, options: Options, dtype: str, *, checked: bool = False
) -> Lowered:
    from .pipeline import lower

    title = f"{program.name}, generated for {dtype}."
    return lower(program, options, dtype, title, checked=checked)


def folded(program: ir.Program, options: Options, dtype: str = "float64") -> frozenset[str]:
    """Return the names of the calls of a program that are folded into what reads their points."""
    from .pipeline import apart, direct

    return apart(direct(program, options)[0], options, dtype).gone


@dataclass(frozen=True, slots=True)
class _Text:
    """A kernel: its source, the same compiled by Python, its description, and machine code.

    As long as there is none, it has its functions in kernel IR.
    """

    source: str
    bytecode: CodeType
    meta: KernelMeta
    functions: tuple[Function, ...] = ()
    code: bytes | None = None


def _text(name: str, made: Lowered) -> _Text:
    bytecode = compile(made.source, f"<{name}>", "exec")
    return _Text(made.source, bytecode, made.meta, made.kernel.functions)


def _found(name: str) -> _Text | None:
    """Return what the cache has of a kernel."""
    data = cache.find(name)
    if data is None:
        return None
    source, bytecode, functions, code = pickle.loads(data)
    start = source.index(_META) + len(_META)
    literal = source[start : source.index("\n", start)]
    return _Text(source, marshal.loads(bytecode), _meta(literal), functions, code)


def _meta(literal: str) -> KernelMeta:
    """Return a description that is written as a literal."""
    return KernelMeta.of(ast.literal_eval(literal))


_META = "\nMETA = "
"""The beginning of the description in the source of a kernel."""


def _keep(name: str, text: _Text) -> None:
    functions = text.functions if text.code is None else ()
    kept = text.source, marshal.dumps(text.bytecode), functions, text.code
    cache.keep(name, pickle.dumps(kept))


def _module(text: _Text) -> ModuleType:
    """Return a kernel's module: Numba finds it by its name, tracebacks find its lines."""
    digest = _digest(f"{text.source}{target.processor().key}")
    name = f"ssr_kernel_{digest}"  # its machine code says the name
    file, lines = text.bytecode.co_filename, text.source.splitlines(keepends=True)
    linecache.cache[file] = len(text.source), None, lines, file
    module = ModuleType(name)
    exec(text.bytecode, module.__dict__)
    sys.modules[name] = module
    return module


def assembly(program: ir.Program, options: Options, dtype: str) -> str:
    """Return the machine code of a program's kernel as text, also if it cannot run here."""
    from . import machine

    text = _text(kernel_name(program, options, dtype), _lowered(program, options, dtype))
    with target.compiling_for(target.chosen(options.cpu)), compiling():
        return machine.assembly(*_function(text))


def _translated(text: _Text) -> Callable[[], bytes | None]:
    """Translate a kernel with its functions, and return what makes their machine code."""
    from . import machine

    return machine.begin(*_function(text))


def _compiled(text: _Text, code: bytes | None) -> Callable[..., int]:
    """Return a kernel as its machine code."""
    from . import machine

    return machine.compiled(*_function(text), code)


def _function(text: _Text) -> tuple[Any, Any]:
    """Return a kernel as Numba compiles it, and its signature.

    Its functions are compiled as it needs them. They become part of its machine code, and are kept
    with it only. Those that are large, or called time and again, are faster inside of what calls
    them; in others LLVM's time counts.
    """
    from . import machine

    meta, scope = text.meta, dict(vars(_module(text)))
    functions = {function.name: function for function in text.functions}
    main = "call" if meta.whole or meta.units else "kernel"
    signature = "WHOLE" if meta.whole and not meta.units else "SIGNATURE"
    for name in [*meta.functions, *(["kernel"] if main == "call" else [])]:
        part = FunctionType(scope[name].__code__, scope)
        inside = name == "kernel" and bool(meta.units or meta.functions)
        scope[name] = machine.jit(part, functions.get(name), overlapping=meta.debug, inside=inside)
    whole = FunctionType(scope[main].__code__, scope)
    jitted = machine.jit(whole, functions.get(main), overlapping=meta.debug)
    return jitted, scope[signature]
