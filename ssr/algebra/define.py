"""Define a matrix by a row generator: trace it, and collect its entries in families."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ..compiling import compiling
from ..errors import ArgumentError
from ..spaces.space import Space
from ..symbols.names import checked_name
from ..trace.captured import captured
from ..trace.trace import Outside, ScalarType, check_signature, trace
from .families import canonical, every_entry
from .matrix_data import MatrixData
from .oracle import Definition


@compiling()
def define(
    function: Callable[..., Any],
    rows: Space,
    cols: Space,
    data: Mapping[str, Space | ScalarType],
    *,
    outside: Outside = "error",
) -> MatrixData:
    """Return the matrix of a row generator; entries outside its columns may be dropped."""
    check_declaration(function, rows, cols, data, (Space,))
    check_signature(function, rows, data)
    kept = captured(function)
    paths = trace(function, rows, cols, data, outside=outside)
    entries = every_entry(paths, rows)
    origin = Definition(kept, rows, cols, tuple((n, n) for n in data), entries, outside)
    found, known = canonical(entries), MappingProxyType(dict(data))
    return MatrixData(function.__name__, rows, cols, found, origin, known, {}, paths)


def identity(space: Space) -> MatrixData:
    """Return the identity on a space."""

    def identity(*index: Any) -> Any:
        yield index, 1.0

    return define(identity, space, space, {})


def zero(rows: Space, cols: Space) -> MatrixData:
    """Return the matrix without entries."""

    def zero(*_: Any) -> Any:
        yield from ()

    return define(zero, rows, cols, {})


def check_declaration(
    function: Callable[..., Any],
    rows: object,
    cols: object,
    data: Mapping[str, Any],
    kinds: tuple[type, ...],
) -> None:
    """Check the spaces of a matrix, which must be of these types, and the kinds of its data."""
    for what, space in (("rows", rows), ("cols", cols)):
        if not isinstance(space, kinds):
            raise ArgumentError(f"{what} must be a Space, not {space!r}.")
    for name, kind in data.items():
        checked_name("field or scalar", name)
        if not isinstance(kind, (*kinds, ScalarType)):
            raise ArgumentError(
                f"Data {name!r} of {function.__name__} is declared as {kind!r}.",
                hint="Use a Space for a field, or ssr.scalar for a number.",
            )
