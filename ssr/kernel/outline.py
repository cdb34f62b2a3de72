"""Outline parts of long kernels as functions.

The time of Numba's passes grows faster than the length of a function. In a long kernel, the body of
a nest becomes a separate function if it occurs several times or is very long; groups of
statements on a line are outlined as well. The parameters of a function are the variables that its
statements read. Bodies that are equal up to names become one function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .ir import Call, Do, Function, Name, Statement, statements
from .rewriting import assigned, length, mentioned, renamed

Block: TypeAlias = Sequence[Statement]

KERNEL = 2000
"""Number of statements of a kernel beyond which all nests become (slightly slower) functions."""

LINES = 1000
"""Number of statements beyond which a function is split, since calls on each line cost time."""

PART = 300
"""Limit of the statements of an outlined group of blocks."""

RARELY = 250
"""Number of statements beyond which code for boundary lines becomes a function."""

FEW = 30
"""Number of statements up to which a block is never outlined."""


def joined(blocks: Sequence[Block]) -> list[Statement]:
    """Return blocks of statements as one."""
    return [node for block in blocks for node in block]


@dataclass
class Functions:
    """The functions and constants of a module under construction.

    Attributes
    ----------
    constants, doubles
        Numbers by their representation, each with its name in the module: in the type of the
        fields and in double precision.
    labels
        Texts and their names in the module.
    functions
        The functions by name.
    known
        The names of functions by their bodies, in which variables are numbered.
    """

    constants: dict[str, tuple[str, float]] = field(default_factory=dict)
    doubles: dict[str, tuple[str, float]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    known: dict[tuple[Statement, ...], str] = field(default_factory=dict)

    def constant(self, value: float) -> Name:
        """Return the name of a number in the fields' type; 0.0 and -0.0 differ."""
        name = f"w{len(self.constants)}"
        return Name(self.constants.setdefault(repr(value), (name, value))[0])

    def double(self, value: float) -> Name:
        """Return the name of a number in double precision."""
        name = f"double{len(self.doubles)}"
        return Name(self.doubles.setdefault(repr(value), (name, value))[0])

    def label(self, text: str) -> Name:
        """Return the name of a text."""
        return Name(self.labels.setdefault(text, f"piece_{len(self.labels)}"))

    def call(self, block: Block) -> Call:
        """Return the call of the function of a block, which assigns to no argument."""
        form, arguments = self._form(block)
        if form not in self.known:
            name = self.known[form] = f"part_{len(self.functions)}"
            self.functions[name] = Function(name, arguments, tuple(block))
        return Call(self.known[form], tuple(map(Name, arguments)))

    def _form(self, block: Block) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
        """Return a block in which names are numbered, and the arguments of its function."""
        common = {*self.labels.values(), *(name for name, _ in self.constants.values())}
        own = [name for name in dict.fromkeys(mentioned(block)) if name not in common]
        stored = {name for node in statements(tuple(block)) for name in assigned(node)}
        arguments = tuple(name for name in own if name not in stored)
        return renamed(block, {name: f"_{n}" for n, name in enumerate(own)}), arguments

    def nests(self, blocks: Sequence[Block]) -> list[list[Statement]]:
        """Return the bodies of the nests of a kernel, as calls if they are too long together."""
        total = sum(map(length, blocks))
        if total <= LINES:
            return [list(block) for block in blocks]
        forms = [self._form(block)[0] for block in blocks]
        uses = Counter(forms)
        return [
            self.outline(block) if total > KERNEL or uses[form] > 1 else list(block)
            for block, form in zip(blocks, forms, strict=True)
        ]

    def cut(self, blocks: Sequence[Block]) -> list[Statement]:
        """Return blocks that run one after the other, as calls if they are long together."""
        if sum(map(length, blocks)) <= LINES:
            return joined(blocks)
        groups: list[list[Statement]] = [[]]
        for block in blocks:
            if length(groups[-1]) + length(block) > PART:
                groups.append([])
            groups[-1] += block
        return joined([self.outline(group) for group in groups])

    def rare(self, block: Block) -> list[Statement]:
        """Return the block of a branch that is taken at boundaries, as a call if it is long."""
        return self.outline(block) if length(block) > RARELY else list(block)

    def outline(self, block: Block) -> list[Statement]:
        """Return a block, as a call unless it is short."""
        return list(block) if length(block) <= FEW else [Do(self.call(block))]
