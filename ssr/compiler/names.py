"""Cache keys of kernels: digests of programs and of compiler options."""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass, replace

from .. import ir
from ..kernel.print_python import function_lines
from ..options import Options
from ..runtime import target
from . import cache

COMPILED, CHECKED, DESCRIBED = "compiled", "plain", "description"
"""Forms of a kernel: machine code, checked source that runs as plain Python, and the description
alone."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a kernel.

    Attributes
    ----------
    program, options, dtype
        The program, its options, and the name of the type of values.
    processor
        The target processor.
    """

    program: ir.Program
    options: Options
    dtype: str
    processor: target.Processor

    @staticmethod
    def of(program: ir.Program, options: Options, dtype: str) -> Request:
        """Return the request for a program's kernel, with the processor that its options choose."""
        return Request(program, options, dtype, target.chosen(options.cpu))

    def name(self, form: str = COMPILED) -> str:
        """Return the name of a form of the kernel: the readable program name and a digest."""
        compiled = form != DESCRIBED
        processor = self.processor if compiled else None
        stem = "".join(c if c.isalnum() else "_" for c in self.program.name).strip("_") or "kernel"
        compiler = self.options.chosen_compiler() if compiled else None
        options = replace(self.options, cpu=None, compiler=None)
        choices = (repr(each) for each in (options, compiler, processor))
        digest = cache.digest(identity(self.program), *choices, self.dtype, form, compiled=compiled)
        return f"{stem[:40]}_{digest}"


def identity(program: ir.Program) -> str:
    """Return the digest of the text of a program."""
    for known, digest in tuple(_IDENTITIES):
        if known is program:
            return digest
    digest = hashlib.sha256(text_of(program).encode()).hexdigest()
    _IDENTITIES.append((program, digest))
    return digest


_IDENTITIES: deque[tuple[ir.Program, str]] = deque(maxlen=8)
"""Digests of recent programs, each of which is part of several names."""


def text_of(program: ir.Program) -> str:
    """Return the text that identifies a program: equal text, equal kernel.

    Every operation and sum is one line, so that shared values are written once.
    """
    lines: dict[str, int] = {}
    known: dict[int, tuple[ir.Value, str]] = {}  # holding values keeps ids unique

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
