"""Synchronization as a symbolic row generator for `ssr.matrix`: one entry per copy of a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from ssr import Index
from ssr.extension import AXES, Affine

from .means import Means
from .shared_points import Copy

BLOCKS = 32
"""The largest number of blocks with symbolic rows. The number of conditions grows with it."""


def is_staged(means: Means) -> bool:
    """Whether entries are numbers that do not depend on sizes, between components of one number."""
    numbers = means.basis is None and all(isinstance(w, float) for w in means.weights)
    folded = means.how == "owner" and any(
        copy.block == copies[0].block and copy.field == copies[0].field
        for copies in means.shared.copies()
        for copy in copies[1:]
    )
    return numbers and not folded and means.grid.count <= BLOCKS


def staged_rows(means: Means, rows: int, cols: int) -> Callable[..., Iterator[tuple[Any, float]]]:
    """Return the row generator between two fields."""
    space = means.points[rows]
    parts = {copies[0].place: copies for copies in means.shared.copies()}

    def synchronize(*point: Any) -> Iterator[tuple[Any, float]]:
        block = next(b for at, b in enumerate(space.blocks) if point[0] == at)
        orthant = tuple(
            _end(x, extent) if staggered else 0
            for x, extent, staggered in zip(
                point[1:], space.data.shape[1:], space.data.staggered[1:], strict=True
            )
        )
        copies = parts.get((block, rows, orthant), ())
        if not copies and rows == cols:
            yield point, 1.0
        first = dict(zip(means.shared.names, point[1:], strict=True))
        for copy, weight in _weighted(means, copies):
            if copy.field == cols:
                index = tuple(_substituted(a, first) for a in copy.index)
                yield means.shared.at(copy, index), weight

    names = AXES[space.ndim]
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    synchronize.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return synchronize


def _end(x: Any, extent: Any) -> int:
    """Return whether an index is the first (-1), the last (1) or another one (0)."""
    if x == 0:
        return -1
    return int(bool(x == Index(extent - 1)))


def _weighted(means: Means, copies: Sequence[Copy]) -> Iterator[tuple[Copy, float]]:
    """Yield the copies in the weighted sum of the first copy, with weights and signs."""
    if not copies:
        return
    ordered = sorted(copies, key=lambda copy: copy.place)
    used = ordered[:1] if means.how == "owner" else ordered
    weights = [1.0] if means.how == "owner" else [float(means.weights[c.block]) for c in used]  # type: ignore[arg-type]
    for copy, weight in zip(used, weights, strict=True):
        yield copy, weight / sum(weights) * copy.sign * copies[0].sign


def _substituted(expression: Affine, first: Mapping[str, Any]) -> Any:
    """Return an index of a copy at the point of the first one."""
    made = Index(Affine((), expression.constant))
    for atom, factor in expression.terms:
        known = first.get(atom) if isinstance(atom, str) else None
        made = made + (Index(Affine(((atom, 1),))) if known is None else known) * factor
    return made
