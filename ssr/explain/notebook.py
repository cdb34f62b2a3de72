"""The notebook representation of a matrix: its name, and a drawing of a small sparsity pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from math import prod
from typing import Any

import numpy as np

from ..algebra.matrix_data import MatrixData, values_of
from ..algebra.oracle import by_definition
from ..spaces.space import Space

POINTS = 512
"""Limit of the rows and of the columns of a matrix that is drawn."""

FIRST = {1: 8, 2: 4, 3: 3, 4: 2}
"""The value of a free size, by the number of dimensions of the rows."""


def matrix_html(matrix: MatrixData, heading: str) -> str:
    """Return a matrix as HTML: its one-line form and a drawing of its sparsity.

    Free sizes are set to small numbers and data without a value to ones, for the drawing only. A
    matrix that has no small instance is shown without one.

    Examples
    --------
    >>> import ssr
    >>> text = ssr.identity(ssr.Space(2))._repr_html_()
    >>> text[:44], text.count("<rect")
    ('<code>&lt;Matrix identity: Space(2) -&gt; Sp', 3)
    """
    text = f"<code>{escape(heading)}</code>"
    try:
        return text + _drawing(matrix)
    except Exception:  # errors of the user's generator must not prevent display
        return text


def _drawing(matrix: MatrixData) -> str:
    """Return the drawing of the first small instance; the empty string if there is none."""
    for sizes in _trials(matrix):
        if _small(matrix.rows, sizes) and _small(matrix.cols, sizes):
            break
    else:
        return ""
    pattern = _instance(matrix, sizes).tocoo()
    height, width = pattern.shape
    scale = max(2.0, min(10.0, 320 / max(height, width)))
    squares = "".join(
        f'<rect x="{column + 0.05:.2f}" y="{row + 0.05:.2f}" width="0.9" height="0.9"/>'
        for row, column in sorted(zip(pattern.row.tolist(), pattern.col.tolist(), strict=True))
    )
    named = "".join(f"{name} = {value}, " for name, value in sizes.items())
    return (
        f'<br/><svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:.0f}" '
        f'height="{height * scale:.0f}" viewBox="0 0 {width} {height}" fill="currentColor">'
        f'<rect width="{width}" height="{height}" fill="none" stroke="currentColor" '
        f'stroke-width="{1 / scale:.2f}"/>{squares}</svg>'
        f"<br/><small>{escape(named)}{height} × {width}, {pattern.nnz} entries</small>"
    )


def _trials(matrix: MatrixData) -> Iterator[dict[str, int]]:
    """Yield sizes to try: first with bound sizes, then with all sizes free."""
    first = FIRST[matrix.rows.ndim]
    bound = {n: v for n, v in matrix.bound.items() if n in matrix.sizes}
    for kept in (bound, {}) if bound else ({},):
        for free in dict.fromkeys((first, 2, 3, 4, 5, 6, 8, 12, 16)):
            yield {name: kept.get(name, free) for name in matrix.sizes}


def _small(space: Space, sizes: dict[str, int]) -> bool:
    extents = space.extent(sizes)
    return min(extents) >= 1 and prod(extents) <= POINTS


def _instance(matrix: MatrixData, sizes: dict[str, int]) -> Any:
    """Return the matrix for given sizes, with ones for data that have no fitting value."""
    bound: dict[str, Any] = dict(sizes)
    for name, kind in matrix.data.items():
        value = matrix.bound.get(name)
        if isinstance(kind, Space):
            fits = isinstance(value, np.ndarray) and value.shape == kind.extent(sizes)
            bound[name] = value if fits else np.ones(kind.extent(sizes))
        else:
            bound[name] = value if isinstance(value, float) else 1.0
    values = values_of(replace(matrix, bound=bound), sizes)
    return matrix.origin.assemble(sizes, values, by_definition)
