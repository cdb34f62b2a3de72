"""Every loop that may be vectorised is, for each kind of processor, in measured kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import ssr
from benchmarks import operators
from ssr import ir as pir
from ssr.compiler.pipeline import lower
from ssr.emit.loops import is_innermost
from ssr.kernel import ir
from ssr.kernel.vector_target import AVX2, AVX512, NEON, Target
from ssr.kernel.vectorize import vectorize
from ssr.points.loop_tree import For, If, runs_of

CPUS = {"x86-64-v3": "ymm", "x86-64-v4": "zmm", "neoverse-n1": r"v\d+\.[24]"}
"""Processors, each with the name of its whole vector registers in assembly."""

ARITHMETIC = re.compile(
    r"v?(fn?m(add|sub|la|ls)|f?add|f?mul|f?sub)\d*(p[sd]|s[sd])?\s.*(mm|v\d+\.)"
)
"""An operation on numbers in assembly, in registers of vectors."""


def storing(module: ir.Module) -> Iterator[ir.For]:
    """Yield the innermost loops that store elements of arrays."""
    for function in module.functions:
        for node in ir.statements(function.body):
            if isinstance(node, ir.For):
                inner = [*ir.statements(node.body)]
                stores = any(isinstance(one, ir.Store) or _stores(one) for one in inner)
                if stores and not any(isinstance(one, ir.For) for one in inner):
                    yield node


def _stores(node: ir.Statement) -> bool:
    return isinstance(node, ir.Do) and node.call.function == "vector_store"


def parallel_loops(nest: pir.Form) -> int:
    """Return the number of innermost loops of a nest whose rows do not depend on each other."""
    if not isinstance(nest, pir.LoopNest):
        return 0
    left, found = [*nest.tree], 0
    while left:
        match left.pop():
            case For() as loop if is_innermost(loop):
                parts = [part for r in runs_of(loop) for part in nest.pieces[r.piece].parts]
                found += all(p.statement.parallel and not pir.gathers(p.value) for p in parts)
            case For(body=body):
                left += body
            case If(_, then, orelse):
                left += (*then, *orelse)
    return found


@pytest.mark.parametrize("target", [AVX2, AVX512, NEON], ids=lambda target: target.name)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", list(operators.PROGRAMS))
def test_loops_without_dependences_become_vectors(name: str, dtype: str, target: Target) -> None:
    program = operators.PROGRAMS[name]()
    made = lower(program.ir, program.options, dtype, "a kernel")
    scalar = [loop for loop in storing(made.kernel) if loop.variable != "clear"]
    left = [
        loop
        for loop in storing(vectorize(made.kernel, target))
        if loop.order not in ("vectors", "rolled") and loop.variable != "clear"
    ]
    assert len(left) <= len(scalar) - sum(map(parallel_loops, made.loops))


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", ["spmv27", "jacobi5"])
def test_inner_loops_use_whole_registers(name: str, cpu: str) -> None:
    """Of the loop with most arithmetic no operation is on a part of a register."""
    program = operators.PROGRAMS[name]()
    assembly = program.with_options(ssr.Options(cpu=cpu)).explain("assembly")
    arithmetic = [line for line in busiest(assembly) if ARITHMETIC.match(line)]
    assert arithmetic
    assert all(re.search(CPUS[cpu], line) for line in arithmetic), arithmetic


def busiest(assembly: str) -> list[str]:
    """Return the innermost loop with most arithmetic on numbers."""
    lines = [line.strip() for line in assembly.splitlines()]
    places = {line[:-1]: n for n, line in enumerate(lines) if re.fullmatch(r"\.L\w+:", line)}
    loops = []
    for n, line in enumerate(lines):
        jump = re.match(r"(?:j\w+|b(?:\.\w+)?|cbn?z\s+\w+,|tbn?z\s+\w+, #\d+,)\s+(\.L\w+)", line)
        if jump and places.get(jump[1], n) < n:
            loops.append((places[jump[1]], n))
    inner = [
        (first, last)
        for first, last in loops
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in loops)
    ]
    return max(
        (lines[first : last + 1] for first, last in inner),
        key=lambda body: sum(1 for line in body if ARITHMETIC.match(line)),
    )
