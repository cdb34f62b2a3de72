"""Names of a kernel: reserved names, and the mangling of user names that could collide."""

from __future__ import annotations

import builtins
import keyword
import re

from .operations import RULES

RESERVED = frozenset(
    """
    i j k l p strip clear layout box real np jit range kernel state results
    call links messages reason scalars scratch step steps tables weights memory
    lines many part piece table watch at low high
    ld st independent rolled vectors
    """.split()  # noqa: SIM905
).union(name for name in RULES if name.isidentifier())
"""Reserved names that look like user names; others contain a digit, `_lo`, `_hi`, `_w`."""


_COMPONENT = re.compile(r"[A-Za-z%]+(_[A-Za-z0-9]+)*(\[\d+\])+", re.ASCII)
"""A component of a vector field, or a temporary for it."""

_WITHIN = re.compile(r"[^A-Za-z0-9]")


def mangled(name: str) -> str:
    """Return a user's name as a name of the kernel, different from all of the kernel's own.

    >>> mangled("wind_speed"), mangled("box"), mangled("x_0"), mangled("u[0]"), mangled("ρ")
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
    derived = re.search(r"_[a-z]?\d*$", name) is not None  # form of offset and stride names
    return f"u__{name}__" if derived else f"u__{name}"


def printable(text: str) -> str:
    r"""Return a user's text as it may stand in a comment or between triple quotes of a module.

    The result is one line, and cannot end the comment or string that contains it.

    >>> print(printable("A apply"), printable('"quoted"\n'), sep=", ")
    A apply, 'quoted'\n
    """
    escaped = text.replace("\\", "\\\\").replace('"', "'")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped)
