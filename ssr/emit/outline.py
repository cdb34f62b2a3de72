"""Cut the text of a large kernel into functions.

Numba's passes take a time that grows faster than the length of a function. So where a kernel is
long, what it does in a box becomes a function of its own, if it does so again or is very long; and
so do groups of what a box does on a line. A function takes the names its lines use as arguments.
Lines that are equal but for names become one function.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

KERNEL = 2000
"""Lines of a kernel before all of its nests become functions, whose loops may take longer."""

LINES = 1000
"""Lines of a function before it is cut: calls on each line of a box cost time."""

PART = 300
"""Lines of a function that is cut out, at most, where the blocks allow."""

RARELY = 250
"""Lines that run on few lines of a box, those at its boundary, before they become a function."""

FEW = 30
"""Lines that are not worth a function."""

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_STORED = re.compile(r"(?m)^ *(?:for )?(\w+(?:, \w+)*) (?:=|in) ")


def names(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the names in lines of source, each once, in order.

    >>> names(["for i in range(n):", "    st(y, i, np.exp(ld(x, i)))"])
    ('i', 'range', 'n', 'st', 'y', 'np', 'ld', 'x')
    """
    found = dict.fromkeys(n for line in lines for n in _NAME.findall(line))
    return tuple(n for n in found if not keyword.iskeyword(n))


def joined(blocks: Sequence[Sequence[str]]) -> list[str]:
    """Return blocks of lines as one."""
    return [line for block in blocks for line in block]


def _number_text(value: float) -> str:
    """Return a number as source."""
    text = repr(value)
    return text if math.isfinite(value) else f"{text[:-3]}np.{text[-3:]}"


@dataclass
class Functions:
    """The functions of a module under construction.

    Attributes
    ----------
    shared
        Names that mean the same in all functions, beside those of functions and constants.
    constants, doubles
        Numbers and the variables of the module that hold them, in the type of the fields and in
        double precision.
    labels
        Texts and the variables of the module that hold them.
    texts
        The functions: name, and lines.
    known
        Their names by their lines, in which all names but the shared ones are numbered.
    """

    shared: frozenset[str]
    constants: dict[str, str] = field(default_factory=dict)
    doubles: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    def constant(self, value: float) -> str:
        """Return the variable that holds a number in the fields' type; 0.0 and -0.0 differ."""
        return self.constants.setdefault(_number_text(value), f"w{len(self.constants)}")

    def double(self, value: float) -> str:
        """Return the variable that holds a number in double precision."""
        return self.doubles.setdefault(_number_text(value), f"double{len(self.doubles)}")

    def label(self, text: str) -> str:
        """Return the variable of the module that holds a text."""
        return self.labels.setdefault(text, f"piece_{len(self.labels)}")

    def call(self, lines: Sequence[str]) -> str:
        """Return the call of the function that consists of lines, which assign to no argument."""
        form, arguments, body = self._form(lines)
        if form not in self.known:
            name = self.known[form] = f"part_{len(self.texts)}"
            self.texts[name] = [f"def {name}({', '.join(arguments)}):", *body]
        return f"{self.known[form]}({', '.join(arguments)})"

    def _form(self, lines: Sequence[str]) -> tuple[str, list[str], list[str]]:
        """Return lines in which names are numbered, the arguments of a function, and its lines."""
        depth = min(len(line) - len(line.lstrip()) for line in lines)
        body = ["    " + line[depth:] for line in lines]
        common = {*self.shared, *self.constants.values(), *self.labels.values(), *self.texts}
        own = [n for n in names(body) if n not in common]
        targets = _STORED.findall("\n".join(body))
        stored = {name for target in targets for name in target.split(", ")}
        arguments = [n for n in own if n not in stored]
        numbers = {name: f"_{n}" for n, name in enumerate(own)}
        form = _NAME.sub(lambda m: numbers.get(m[0], m[0]), "\n".join(body))
        return form, arguments, body

    def nests(self, blocks: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return what the nests of a kernel do in a box, as calls if they are too many lines."""
        total = sum(map(len, blocks))
        if total <= LINES:
            return [list(block) for block in blocks]
        forms = [self._form(block)[0] if block else "" for block in blocks]
        return [
            self.short(block) if total > KERNEL or forms.count(form) > 1 else list(block)
            for block, form in zip(blocks, forms, strict=True)
        ]

    def cut(self, blocks: Sequence[Sequence[str]]) -> list[str]:
        """Return blocks of lines that run one after the other, as calls if they are many."""
        if sum(map(len, blocks)) <= LINES:
            return joined(blocks)
        groups: list[list[str]] = [[]]
        for block in blocks:
            if len(groups[-1]) + len(block) > PART:
                groups.append([])
            groups[-1] += block
        return joined([self.short(group) for group in groups])

    def rare(self, lines: Sequence[str]) -> list[str]:
        """Return the lines of a branch that is taken at boundaries, as a call if they are many."""
        return self.short(lines) if len(lines) > RARELY else list(lines)

    def short(self, lines: Sequence[str]) -> list[str]:
        """Return lines, as a call unless they are few."""
        if len(lines) <= FEW:
            return list(lines)
        depth = min(len(line) - len(line.lstrip()) for line in lines)
        return [" " * depth + self.call(lines)]
