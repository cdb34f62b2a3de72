"""Which loops of a kernel LLVM has turned into vector code, by their lines in the source.

A kernel is compiled again with line numbers but no other debugging information, so that the code is
the same. In the optimised module every store then names the line that it came from, whatever LLVM
did to its loop: split it, unrolled it, kept a scalar copy for the last rows, or replaced it by a
call of ``memset``. A loop is vectorised if each ``st`` line in it has a vector store.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numba
from numba.core.errors import NumbaDebugInfoWarning

How = Literal["vector", "fill", "scalar", "gone"]
"""Vector stores; a call that fills or copies memory; only scalar stores; no store at all."""

_BITS = {"double": 64, "float": 32}
_VECTOR = re.compile(r"^\s*store <(\d+) x (double|float)> .*!dbg !(\d+)")
_MASKED = re.compile(r"@llvm\.masked\.(?:store|compressstore)\.v(\d+)f(\d+).*!dbg !(\d+)")
_FILL = re.compile(r"@(?:llvm\.)?(?:memset|memcpy|memmove)\b.*!dbg !(\d+)")
_SCALAR = re.compile(r"^\s*store (?:double|float) .*!dbg !(\d+)")
_GATHER = re.compile(r"@llvm\.masked\.(?:gather|scatter)\..*!dbg !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")


@dataclass(frozen=True, slots=True)
class Loop:
    """An innermost loop that stores: its line, what became of it, and the bits of its vectors."""

    line: int
    how: How
    bits: int = 0
    gathers: bool = False

    @property
    def vectorised(self) -> bool:
        """Whether no element is stored alone, except at the ends of rows."""
        return self.how != "scalar"


def vector_loops(source: str, compiler: type[Any]) -> tuple[Loop, ...]:
    """Return what became of each innermost loop that stores, in the order of the source.

    Parameters
    ----------
    source
        The text of the kernel's module, as in ``Kernel.source``.
    compiler
        The Numba compiler class of kernels.
    """
    return classify(source, optimised(source, compiler))


def optimised(source: str, compiler: type[Any]) -> str:
    """Return the optimised LLVM module of a kernel, with the line of every instruction."""

    def define_pipelines(self: Any) -> Any:
        self.state.flags.dbg_directives_only = True
        self.state.flags.dbg_extend_lifetimes = False
        return compiler.define_pipelines(self)

    module: dict[str, Any] = {"__name__": "kernel"}
    file = f"<{hashlib.sha256(source.encode()).hexdigest()}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), module)
    with warnings.catch_warnings():  # Numba misses the file of the source
        warnings.simplefilter("ignore", NumbaDebugInfoWarning)
        made = numba.njit(
            nogil=True,
            error_model="numpy",
            boundscheck=False,
            debug=True,
            pipeline_class=type("Lines", (compiler,), {"define_pipelines": define_pipelines}),
        )(module["kernel"])
        if hasattr(compiler, "optimised"):
            return str(compiler.optimised(made, module["SIGNATURE"], source))
        made.compile(module["SIGNATURE"])
    (text,) = made.inspect_llvm().values()
    return str(text)


def classify(source: str, module: str) -> tuple[Loop, ...]:
    """Return what became of each innermost loop of a source in its optimised LLVM module."""
    lines = _stores(module)
    gathered = lines.pop("gather")
    result = []
    for loop, stores in _storing_loops(source):
        bits = max((lines["vector"].get(s, 0) for s in stores), default=0)
        how: How = "vector"
        if not all(s in lines["vector"] for s in stores):
            how = "scalar"
            if not any(s in lines["scalar"] for s in stores):
                how = "fill" if any(s in lines["fill"] for s in stores) else "gone"
        gathers = any(n in gathered for n in range(loop.lineno, (loop.end_lineno or 0) + 1))
        result.append(Loop(loop.lineno, how, bits, gathers))
    return tuple(result)


def _storing_loops(source: str) -> Iterator[tuple[ast.For, list[int]]]:
    """Yield the innermost loops that store, except those that clear scratch, with their stores."""
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For)]
    for loop in sorted(loops, key=lambda node: node.lineno):
        inside = [node for child in loop.body for node in ast.walk(child)]
        if any(isinstance(node, ast.For) for node in inside):
            continue
        stores = [
            node.lineno
            for node in inside
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "st"
        ]
        if stores and ast.unparse(loop.target) != "clear":
            yield loop, stores


def _stores(module: str) -> dict[str, dict[int, int]]:
    """Return for each kind of memory access its source lines and the bits of the widest there."""
    texts = module.splitlines()
    line_of = {m[1]: int(m[2]) for m in map(_LOCATION.match, texts) if m}
    found: dict[str, dict[int, int]] = {k: {} for k in ("vector", "fill", "scalar", "gather")}

    def add(kind: str, location: str, bits: int) -> None:
        line = line_of.get(location, 0)
        found[kind][line] = max(bits, found[kind].get(line, 0))

    for text in texts:
        if m := _VECTOR.match(text):
            add("vector", m[3], int(m[1]) * _BITS[m[2]])
        elif m := _MASKED.search(text):
            add("vector", m[3], int(m[1]) * int(m[2]))
        elif m := _FILL.search(text):
            add("fill", m[1], 0)
        elif m := _SCALAR.match(text):
            add("scalar", m[1], 0)
        elif m := _GATHER.search(text):
            add("gather", m[1], 0)
    return found


def compiler_of(run: Any) -> type[Any]:
    """Return the Numba compiler class with which a function was compiled."""
    found: type[Any] = run._compiler.pipeline_class
    return found
