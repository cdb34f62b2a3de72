"""Validation of the names that users give to sizes, fields, scalars, matrices and programs."""

from __future__ import annotations

import keyword
import unicodedata

from ..errors import ArgumentError

LONGEST = 200
"""Limit of the characters of a name. Longer names exceed limits of file names and of LLVM."""


def checked_name(what: str, name: object) -> str:
    """Return a name that a user gives to something.

    Examples
    --------
    >>> checked_name("field", "wind")
    'wind'
    """
    if not isinstance(name, str):
        raise ArgumentError(f"The name of a {what} is a string, not {name!r}.")
    check_length(what, name)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ArgumentError(
            f"{name!r} cannot name a {what}.",
            hint="Use letters, digits and underscores, and no keyword of Python.",
        )
    normal = unicodedata.normalize("NFKC", name)
    if normal != name:
        raise ArgumentError(
            f"{name!r} cannot name a {what}: Python reads it as {normal!r}.",
            note=f"its characters are {', '.join(unicodedata.name(c, repr(c)) for c in name)}",
            hint=f"Write {normal!r}.",
        )
    return str(name)


def check_length(what: str, name: str) -> None:
    """Raise an error if a name is too long."""
    if len(name) > LONGEST:
        raise ArgumentError(
            f"The name of a {what} has {len(name)} characters: {name[:20]}...",
            hint=f"A name has {LONGEST} characters at most.",
        )
