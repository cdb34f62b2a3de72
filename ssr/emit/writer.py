"""Lines of source under construction, and the names they use."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .. import ir
from ..ir.value_numbering import Numbers
from ..points.affine import Affine, Choice
from ..runtime.metadata import BufferMeta
from .debug_checks import function_of
from .outline import Functions

RESERVED = frozenset(
    """
    i j k l p strip one clear layout box real np jit ld st fma prefetch address
    range min max abs kernel Array minimum maximum sign state results accumulate
    accumulate_squares root
    extreme total found require table part piece poll stopwatch watch
    at between call component copy copy_column follow links messages reason scalars scratch step
    steps tables weights memory refused rows
    gather lines many put scatter take
    interleaved independent
    fma_present low high of_two put_rows repeated take_rows take_wanted
    """.split()  # noqa: SIM905
)
"""Names of the kernel's own that look like a user's; others hold a digit, `_lo`, `_hi`, `_w`."""


_COMPONENT = re.compile(r"[A-Za-z%]+(_[A-Za-z0-9]+)*(\[\d+\])+", re.ASCII)
"""A component of a vector field, or a temporary for it."""

_WITHIN = re.compile(r"[^A-Za-z0-9]")


def spelled(name: str) -> str:
    """Return a user's name as a name of the kernel, different from all of the kernel's own.

    >>> spelled("wind_speed"), spelled("box"), spelled("x_0"), spelled("u[0]"), spelled("ρ")
    ('wind_speed', 'u__box', 'u__x_0__', 'v__u__0', 'w___3c1_')
    """
    if _COMPONENT.fullmatch(name):
        return f"v__{name.replace('[', '__').replace(']', '')}"
    if not name.isascii() or not name.isidentifier():
        return f"w__{_WITHIN.sub(lambda c: f'_{ord(c[0]):x}_', name)}"
    plain = re.fullmatch("[A-Za-z]+(_[A-Za-z]{3,})*", name) is not None
    taken = name in RESERVED or keyword.iskeyword(name) or hasattr(builtins, name)
    if plain and not taken:
        return name
    derived = re.search(r"_[a-z]?\d*$", name) is not None  # like offsets and strides of arrays
    return f"u__{name}__" if derived else f"u__{name}"


def shown(text: str) -> str:
    r"""Return a user's text as it may stand in a comment or between triple quotes of a module.

    It is one line, and cannot end what it stands in.

    >>> print(shown("A apply"), shown('"quoted"\n'), sep=", ")
    A apply, 'quoted'\n
    """
    escaped = text.replace("\\", "\\\\").replace('"', "'")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped)


def factor(text: str) -> str:
    """Return source as a factor of a product."""
    return f"({text})" if " " in text or text.startswith("-") else text


@dataclass
class Writer:
    """Lines of source under construction, and what they use.

    The lines are ``checked`` if the row of each instance is. Rows of ``even`` buffers begin with
    cache lines. Arrays have the offsets and strides of those they are ``alike``. The ``looks`` of
    the debug build are numbered, each by what is made and its origin.
    ``rows`` are the variables that hold offsets of lines, by their source; ``decided`` those that
    hold choices and tests which are the same throughout a loop; values are known by their
    representation, in which 0.0 and -0.0 differ. Values of scalars are ``rounded`` before.
    """

    arrays: Mapping[str, ir.Field]
    buffers: Mapping[str, ir.Buffer]
    suffix: str
    near: int
    sizes: Mapping[str, str]
    reductions: Mapping[str, int]
    functions: Functions
    checked: bool = False
    even: frozenset[str] = frozenset()
    alike: Mapping[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    rows: dict[str, str] = field(default_factory=dict)
    shifts: dict[str, str] = field(default_factory=dict)
    decided: dict[str | Choice | Affine, str] = field(default_factory=dict)
    looks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    numbers: Numbers | None = None
    rounded: Callable[[ir.Value], str] | None = None
    counter: int = 0

    def line(self, depth: int, text: str) -> None:
        """Add one line."""
        self.lines.append("    " * depth + text)

    def fresh(self, stem: str) -> str:
        """Return a new variable name."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def constant(self, value: float) -> str:
        """Return the variable that holds a number in the kernel's type; 0.0 and -0.0 differ."""
        return self.functions.constant(value)

    def spell(self, text: str) -> str:
        """Return source with the names of sizes spelled as the kernel spells them."""
        if not self.sizes:
            return text
        return re.sub(r"[A-Za-z_]\w*", lambda m: self.sizes.get(m[0], m[0]), text)

    def buffer(self, name: str) -> str:
        """Return a buffer's argument name."""
        return name.removeprefix("%") + self.suffix

    def described(self, buffer: ir.Buffer, nest: int) -> BufferMeta:
        """Return what a caller must know of a buffer of a nest with a number."""
        name, near = self.buffer(buffer.name), self.near if buffer.name in self.even else 1
        return BufferMeta(name, nest, buffer.rows, buffer.pad, buffer.lines, near)

    def row(self, array: str, index: Sequence[Affine]) -> str:
        """Return the source of the flat offset at which a row of an array starts."""
        if array in self.buffers:
            name, rotation = self.buffer(array), self.buffers[array]
            if rotation.lines is not None:
                plane, line = f"(({index[0]}) % {rotation.rows})", f"({index[1]}) * {name}_w"
                turned = f"{plane} * {name}_p + " if rotation.rows > 1 else ""
                return f"{name}_0 + {turned}{line}"
            turned = f"(({index[0]}) & {rotation.rows - 1})"
            return f"{name}_0" if rotation.rows == 1 else f"{name}_0 + {turned} * {name}_w"
        parts = [f"{spelled(self.alike.get(array, array))}_0"]
        for axis, position in enumerate(index[:-1]):
            if position.is_constant and not position.constant:
                continue
            parts.append(f"{factor(str(self.known(position)))} * {self.stride(array, axis)}")
        return " + ".join(parts)

    def stride(self, array: str, axis: int) -> str:
        """Return the source of the distance of neighbours along an axis but the last."""
        return f"{spelled(self.alike.get(array, array))}_s{axis}"

    def known(self, position: Affine) -> Affine:
        """Return an expression with the variables that hold choices in it."""
        if not any(atom in self.decided for atom, _ in position.terms):
            return position
        found = Affine((), position.constant)
        for atom, coefficient in position.terms:
            name = self.decided.get(atom) if isinstance(atom, Choice) else None
            found += Affine((((name or atom), coefficient),))
        return found

    def place(self, array: str, index: Sequence[Affine]) -> str:
        """Return the source of an element's flat offset, with the row hoisted if it was."""
        last = index[-1]
        if array in self.buffers and last.constant and len(index) == 1 and last.terms:
            row, last = self.shifted(array, last.constant), Affine(last.terms)
            return f"{row} + {last}"
        return self.unshifted(array, index)

    def unshifted(self, array: str, index: Sequence[Affine]) -> str:
        """Return the same with all that LLVM may know about the place."""
        row, last = self.row(array, index), index[-1]
        row = self.rows.get(row, row)
        if last.is_constant and not last.constant:
            return row
        text = str(last)
        return f"{row} - {text[1:]}" if text.startswith("-") else f"{row} + {text}"

    def shifted(self, array: str, shift: int) -> str:
        """Return the variable that holds the start of a line buffer moved by a shift.

        Its value is hidden from LLVM behind the argument ``one``: otherwise the loads of one
        iteration are carried over to the next in registers, and the vectorised loop spends its
        time on shuffles and has no vectorised remainder (measured: 0.60 -> 0.42 ns a point).
        """
        name = f"{self.buffer(array)}_{'p' if shift > 0 else 'm'}{abs(shift)}"
        factor = "one" if abs(shift) == 1 else f"{abs(shift)} * one"
        self.shifts[name] = f"{self.buffer(array)}_0 {'+' if shift > 0 else '-'} {factor}"
        return name

    def loaded(self, array: str, index: Sequence[Affine]) -> str:
        """Return the source of an element."""
        return f"ld({self.argument(array)}, {self.place(array, index)})"

    def stored(self, array: str, index: Sequence[Affine], text: str) -> str:
        """Return the source that stores an element."""
        return f"st({self.argument(array)}, {self.place(array, index)}, {text})"

    def examine(
        self, depth: int, made: tuple[str, int], row: Sequence[str | Affine], value: str
    ) -> None:
        """Write the examination of a value that is made at a row, if the debug build does it."""
        if made in self.looks:
            given = ", ".join(["state", str(self.looks[made]), *map(str, row), value])
            self.line(depth, f"{function_of(len(row))}({given})")

    def argument(self, array: str) -> str:
        """Return the argument an array or buffer is."""
        return self.buffer(array) if array in self.buffers else spelled(array)
