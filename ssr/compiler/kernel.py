"""Compiled kernels: their source, machine code and description, built or loaded from the cache."""

from __future__ import annotations

import contextlib
import hashlib
import linecache
import pickle
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING

from .. import ir
from ..compiling import compiling
from ..forking import postponed
from ..kernel.ir import Module, Type
from ..options import Options
from ..runtime import target
from ..runtime.metadata import KernelMeta
from . import cache, progress
from .names import CHECKED, DESCRIBED, Request, identity

if TYPE_CHECKING:
    from llvmlite import ir as llvm

    from ..native.machine_code import Code
    from .pipeline import Lowered

__all__ = [
    "Kernel", "assembly", "begin", "build", "build_plain", "describe", "generated",
    "identity", "is_built", "is_described", "vectors",
]  # fmt: skip

MachineCode = Callable[[], "Code | None"]
"""Waits for machine code; None for Numba, whose machine code cannot be cached."""


@dataclass(frozen=True)
class Kernel:
    """A kernel, whose compilation may still be in progress.

    ``run`` waits for it. It is the compiled function, or checked source as plain Python. It takes
    each vector field as one array.
    A kernel for boxes with separate memory takes the steps of a schedule
    (`ssr.distributed.step_tables`).
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


@dataclass(frozen=True, slots=True)
class _Text:
    """A kernel: its source, its description, and its machine code.

    Until the machine code exists, it has the module in kernel IR.
    """

    source: str
    meta: KernelMeta
    types: tuple[Type, ...]
    module: Module | None
    code: Code | None = None

    @property
    def key(self) -> _Key:
        """A value that kernels with the same machine code have in common."""
        return self.source, self.types


def build(program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Return the kernel of a program: from the cache, or lowered, compiled and cached.

    It is lowered and translated here. LLVM compiles it in another thread.
    """
    request = Request.of(program, options, dtype)
    with target.compiling_for(request.processor):
        target.check_runs()
        known = _BEGUN.pop((cache.cache_dir(), request.name()), None) or _from_cache(request)
        return known or _begun(request)


def begin(program: ir.Program, options: Options, dtype: str) -> None:
    """Begin to build a kernel that `build` will return later."""
    request = Request.of(program, options, dtype)
    key = cache.cache_dir(), request.name()
    with target.compiling_for(request.processor):
        target.check_runs()
        if key not in _BEGUN and _from_cache(request) is None:
            _BEGUN[key] = _begun(request)


_BEGUN: dict[tuple[Path, str], Kernel] = {}
"""Kernels whose compilation was started by `begin` and that `build` has not requested yet."""


def _from_cache(request: Request) -> Kernel | None:
    """Return a kernel whose machine code the cache has."""
    return _complete(request, _found(request.name()) if request.options.cache else None)


def _complete(request: Request, found: _Text | None) -> Kernel | None:
    """Return the kernel of a text, if that has its machine code."""
    if found is None or found.code is None:
        return None
    code = found.code

    def known() -> Code:
        return code

    shared = _shared(request, found) or _share(request, found, known)
    ready = partial(shared.load, found, known, f"loading {request.name()}")
    return Kernel(request.name(), found.source, found.meta, ready, from_cache=True)


def _begun(request: Request) -> Kernel:
    """Begin to compile a kernel, unless another process has just compiled it."""
    from ..runtime.futures import Later

    name, kept = request.name(), request.options.cache
    told = f"compiling {request.program.name}"
    with compiling(), progress.shown(told), contextlib.ExitStack() as held:
        if kept:
            held.enter_context(cache.locked(name))
        found = _found(name) if kept else None  # built by another process, or a description
        made = _complete(request, found)
        if made is not None:
            return made
        text = found or _text(_lowered(request))
        shared = _shared(request, text) if kept else None
        finish = _translated(request, text) if shared is None else shared.code
        until_kept = held.pop_all()

    def rest() -> Code | None:
        with until_kept:
            code = finish()
            if kept:
                _keep(name, replace(text, module=text.module if code is None else None, code=code))
            return code

    later = Later(rest)
    shared = shared or _share(request, text, later.result)
    ready = partial(shared.load, text, later.result, told)
    return Kernel(name, text.source, text.meta, ready, from_cache=False)


_Key = tuple[str, tuple[Type, ...]]

Place = tuple[Path, str, target.Processor]
"""The cache directory, the compiler and the processor."""


@dataclass(eq=False, slots=True)
class _Shared:
    """The machine code of kernels with the same source, which is loaded once.

    Options without effect on a program give the same source.
    """

    place: Place
    key: _Key
    code: MachineCode
    run: Callable[..., int] | None = None

    def load(self, text: _Text, code: MachineCode, told: str) -> Callable[..., int]:
        """Return the function of a kernel, for whose machine code a function waits.

        A kernel for Numba is compiled by `numba.njit` here.
        """
        with postponed(), progress.shown(told):
            data = code()
            with _LOADING, target.compiling_for(self.place[-1]):
                if self.run is None:
                    self.run = _compiled(text, data)
                return self.run


_LATEST: deque[_Shared] = deque(maxlen=16)
"""The latest kernels: a matrix that is bound at each time step requests the same one each time."""

_LOADING = Lock()


def _place(request: Request) -> Place:
    return cache.cache_dir(), request.options.chosen_compiler(), request.processor


def _shared(request: Request, text: _Text) -> _Shared | None:
    """Return the machine code of one of the latest kernels whose source is the same."""
    asked = _place(request), text.key
    return next((one for one in tuple(_LATEST) if (one.place, one.key) == asked), None)


def _share(request: Request, text: _Text, code: MachineCode) -> _Shared:
    """Return the machine code of a kernel, for others too if its options allow a cache."""
    made = _Shared(_place(request), text.key, code)
    if request.options.cache:
        _LATEST.append(made)
    return made


def _compiled(text: _Text, data: Code | None) -> Callable[..., int]:
    """Return a kernel as its machine code, or compiled by Numba."""
    if data is not None:
        from ..native.python_entry import compiled

        return compiled(data, text.types)
    from ..numba_backend import compiler

    functions = [*text.meta.functions, "kernel"]
    parts = [name for name in functions if name != text.meta.entry]
    return compiler.compiled(vars(_module(text)), text.meta.entry, parts, text.types)


def _translated(request: Request, text: _Text) -> MachineCode:
    """Translate a kernel, and return a function that waits for its machine code."""
    if request.options.chosen_compiler() == "numba":
        from ..numba_backend.compiler import check_processor

        check_processor()
        return lambda: None
    from ..native import python_entry

    return python_entry.begin(_in_llvm(text))


def _in_llvm(text: _Text) -> llvm.Module:
    """Return a kernel in LLVM's language."""
    from ..native.translate import translated

    return translated(
        _on_vectors(text),
        text.meta.entry,
        text.types,
        overlapping=text.meta.debug,
        inside=bool(text.meta.units or text.meta.functions),
    )


def _on_vectors(text: _Text) -> Module:
    """Return a kernel with loops over vectors of the target, except in the debug build."""
    from .pipeline import vectorized

    assert text.module is not None, "the kernel has no machine code"
    return text.module if text.meta.debug else vectorized(text.module)


def vectors(program: ir.Program, options: Options, dtype: str) -> str:
    """Return the source of a program's kernel with loops over vectors of its processor."""
    from ..kernel.print_python import printed

    request = Request.of(program, options, dtype)
    with target.compiling_for(request.processor):
        return printed(_on_vectors(_text(_lowered(request))))


def assembly(program: ir.Program, options: Options, dtype: str) -> str:
    """Return the machine code of a program's kernel as text, also if it cannot run here."""
    from ..native import machine_code

    request = Request.of(program, options, dtype)
    with target.compiling_for(request.processor), compiling():
        return machine_code.assembly(_in_llvm(_text(_lowered(request))))


def describe(program: ir.Program, options: Options, dtype: str) -> KernelMeta:
    """Return the metadata of the kernel of a program for callers, without compiling it.

    The program is lowered only if the metadata is not in the cache, and LLVM is loaded only then.
    """
    request = Request.of(program, options, dtype)
    kept, described = options.cache, request.name(DESCRIBED)
    known = cache.find(described) if kept else None
    if known is not None:
        meta: KernelMeta = pickle.loads(known)
        return meta
    found = _found(request.name()) if kept else None
    text = found or _text(_lowered(request))
    if kept and found is None:
        _keep(request.name(), text)
    if kept:
        cache.keep(described, pickle.dumps(text.meta))
    return text.meta


def is_built(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache has the machine code of a program's kernel."""
    found = _found(Request.of(program, options, dtype).name()) if options.cache else None
    return found is not None and found.code is not None


def is_described(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache has the description of a program's kernel."""
    name = Request.of(program, options, dtype).name(DESCRIBED)
    return options.cache and cache.find(name) is not None


def build_plain(program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Return the kernel of a program as checked source that runs as plain Python.

    It is lowered as `build` does it, and every statement checks the row that it runs.
    """
    from ..runtime.intrinsics import plain

    name, text, from_cache = _checked(program, options, dtype)
    run = plain(getattr(_module(text), text.meta.entry))
    return Kernel(name, text.source, text.meta, lambda: run, from_cache)


def generated(program: ir.Program, options: Options, dtype: str) -> tuple[ModuleType, KernelMeta]:
    """Return the source that `build_plain` runs, as a module, and its metadata for callers."""
    _, text, _ = _checked(program, options, dtype)
    return _module(text), text.meta


def _checked(program: ir.Program, options: Options, dtype: str) -> tuple[str, _Text, bool]:
    """Return the name and text of checked source, and whether the cache had it."""
    request = Request.of(program, options, dtype)
    name = request.name(CHECKED)
    found = _found(name) if options.cache else None
    text = found or replace(_text(_lowered(request, checked=True)), module=None)
    if options.cache and found is None:
        _keep(name, text)
    return name, text, found is not None


def _lowered(request: Request, *, checked: bool = False) -> Lowered:
    from .pipeline import lower

    program, dtype = request.program, request.dtype
    title = f"{program.name}, generated for {dtype}."
    return lower(program, request.options, dtype, title, checked=checked)


def _text(made: Lowered) -> _Text:
    return _Text(made.source, made.meta, made.kernel.types, made.kernel)


def _found(name: str) -> _Text | None:
    """Return a kernel from the cache, with or without machine code."""
    data = cache.find(name)
    text: _Text | None = None if data is None else pickle.loads(data)
    return text


def _keep(name: str, text: _Text) -> None:
    cache.keep(name, pickle.dumps(text))


def _module(text: _Text) -> ModuleType:
    """Return the module of a kernel's source, of which tracebacks find the lines."""
    digest = hashlib.sha256(text.source.encode()).hexdigest()
    file = f"<kernel {digest[:24]}>"
    linecache.cache[file] = len(text.source), None, text.source.splitlines(keepends=True), file
    module = ModuleType("ssr_kernel")
    exec(compile(text.source, file, "exec"), module.__dict__)
    return module
