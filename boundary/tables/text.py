"""Lines of Python: blocks, choices, and the operands of an instruction of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """Return lines further to the right."""
    return ["    " * depth + line for line in lines]


def block(head: str, body: Iterable[str]) -> list[str]:
    """Return a statement with a body, such as a loop."""
    return [f"{head}:", *indented(body)]


def choice(branches: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the statement that runs the first branch whose condition holds; "" always holds."""
    lines: list[str] = []
    for number, (condition, body) in enumerate(branches):
        word = "elif" if number else "if"
        lines += block(f"{word} {condition}" if condition else "else", body)
    return lines


def numbered(statements: Iterable[str]) -> list[str]:
    """Return the lines that run one of several statements, whose number is the next operand."""
    each = list(statements)
    if len(each) == 1:
        return each
    last = len(each) - 1
    branches = [(f"which == {n}" if n < last else "", [line]) for n, line in enumerate(each)]
    return ["which = ld(links, at)", *choice(branches)]


def operands(*names: str, base: str = "at", first: int = 0) -> list[str]:
    """Return the lines that fetch operands."""
    return [f"{name} = ld(links, {base} + {n})" for n, name in enumerate(names, first)]


def function(signature: str, *lines: str) -> str:
    """Return the text of a function; the machine puts its own name in the place of ``NAME``."""
    return "\n".join(block(f"def NAME_{signature}", lines))
