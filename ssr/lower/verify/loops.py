"""Run the loops of a nest at small sizes, and compare what they run with what they should.

Nests are proved right for all sizes (`verify`). Loops are programs; here they are executed. A
difference is a defect of the compiler, an `AssertionError`:

- Every piece runs the rows of its domain, each of them once.
- Every statement runs its rows in the order of the nest, one after the other; if it is parallel,
  only its lines are in that order.
- Every line of the box is reduced once.

``SSR_VERIFY=1`` asks for it. The row of an instance is `LoopNest.row`, from which source is
written, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from types import CodeType

from ... import ir
from ...algebra.own_box import own_bounds
from ...ir import LoopNest
from ...kernel import ir as kernel
from ...kernel.print_python import expression_text
from ...points.loop_tree import For, If, Loop, Reduce, Run
from ..nests import bounds

EXTENTS = ((1, 1, 1), (2, 2, 2), (3, 4, 5), (1, 7, 6), (7, 1, 5), (6, 5, 1), (8, 7, 6))
"""Values of sizes: in each, those of the first, second and third size, and so on in turns."""

MOST = 512
"""Rows of a box that is run at most; only its corners are run if it has more."""

Row = tuple[int, ...]
Values = Mapping[str, int]
Instance = tuple[str, Row]
"""A piece or a reduction by its name, and a row or line that it runs."""


def verify_loops(made: LoopNest) -> None:
    """Check the loops of a nest."""
    for values in _samples(made):
        instances = list(_instances(made, made.tree, dict(values)))
        _check_rows(made, instances, values)
        _check_order(made, instances, values)


def _check_rows(made: LoopNest, instances: Sequence[Instance], values: Values) -> None:
    """Check that pieces run their rows, and reductions the lines of the box, each of them once."""
    runs: dict[str, Counter[Row]] = defaultdict(Counter)
    for name, row in instances:
        runs[name][row] += 1
    for name, piece in made.pieces.items():
        rows = (piece.domain & made.nest.context).fixed(values).points()
        _compare(made, f"piece {name}", runs[name], Counter(rows), values)
    outer = made.nest.axes[:-1]
    lines = Counter(product(*(range(values[f"{a}_lo"], values[f"{a}_hi"]) for a in outer)))
    for fold in made.nest.folds:
        _compare(made, f"reduction {fold.name}", runs[fold.name], lines, values)


def _compare(
    made: LoopNest, what: str, runs: Counter[Row], meant: Counter[Row], values: Values
) -> None:
    wrong, missing = sorted(runs - meant), sorted(meant - runs)
    if wrong or missing:
        kind = f"runs {wrong[0]} too often" if wrong else f"does not run {missing[0]}"
        raise AssertionError(f"loops of {made.nest.target!r}, {what}: it {kind}, for {values}")


def _check_order(made: LoopNest, instances: Sequence[Instance], values: Values) -> None:
    """Check that the rows of each statement run in the order of the nest."""
    rows: dict[str, list[Row]] = defaultdict(list)
    statements: dict[str, ir.Statement] = {}
    for name, row in instances:
        for part in made.pieces[name].parts if name in made.pieces else ():
            statements[part.statement.name] = part.statement
            rows[part.statement.name].append(row)
    backward = made.nest.order == "backward"
    for name, statement in statements.items():
        for one, other in pairwise(rows[name]):
            first, second = (other, one) if backward else (one, other)
            right = first[:-1] <= second[:-1] if statement.parallel else first < second
            assert right, (
                f"loops of {made.nest.target!r}, statement {name!r}: "
                f"it runs {one} before {other}, for {values}"
            )


# -- sizes and boxes -----------------------------------------------------------------------------


def _samples(made: LoopNest) -> Iterator[dict[str, int]]:
    """Yield values of the sizes in loops with boxes of rows that their nest allows."""
    nest = made.nest
    names = set(nest.context.parameters())
    names = names.union(*(piece.domain.parameters() for piece in made.pieces.values()))
    local = not names.isdisjoint(own_bounds(nest.axes))
    sizes = sorted(names - set(bounds(nest.axes)) - set(own_bounds(nest.axes)))
    for extents in EXTENTS:
        values = {name: extents[n % len(extents)] for n, name in enumerate(sizes)}
        whole = [(low.evaluate(values), stop.evaluate(values)) for low, stop in nest.rows.edges]
        if any(low >= high for low, high in whole):
            continue
        for box in dict.fromkeys(_boxes(whole, nest.whole_lines)):
            edges = (edge for side in box for edge in side)
            named = {**values, **dict(zip(bounds(nest.axes), edges, strict=True))}
            for own in (box, whole) if local else (box,):
                edges = (edge for side in own for edge in side)
                here = {**named, **dict(zip(own_bounds(nest.axes), edges, strict=True))}
                if not nest.context.fixed(here).empty:
                    yield here


def _boxes(whole: Sequence[tuple[int, int]], whole_lines: bool) -> Iterator[tuple[Row, ...]]:
    """Yield a box of rows and its two halves along all axes, or ends of it if it is large."""
    count = 1
    for low, high in whole:
        count *= high - low
    if count <= MOST:
        yield tuple(whole)
    for upper in (False, True):
        parts = []
        for axis, (low, high) in enumerate(whole):
            length = min(6, (high - low + 1) // 2)
            cut = (high - length, high) if upper else (low, low + length)
            kept = whole_lines and axis == len(whole) - 1
            parts.append((low, high) if kept else cut)
        yield tuple(parts)


# -- running loops -------------------------------------------------------------------------------


def _instances(made: LoopNest, tree: Sequence[Loop], values: dict[str, int]) -> Iterator[Instance]:
    """Yield what loops run, in order; ``values`` holds the variables of the loops around them."""
    for node in tree:
        match node:
            case For(variable, start, stop, step, body):
                for value in range(_value(start, values), _value(stop, values), step):
                    yield from _instances(made, body, {**values, variable: value})
            case If(condition, then, orelse):
                yield from _instances(made, then if _value(condition, values) else orelse, values)
            case Run():
                yield node.piece, tuple(a.evaluate(values) for a in made.row(node))
            case Reduce():
                yield node.name, tuple(values[axis] for axis in made.nest.axes[:-1])


def _value(expression: kernel.Expression, values: Values) -> int:
    """Return the value of a bound or condition."""
    return int(eval(_compiled(expression), {"min": min, "max": max}, values))


@lru_cache(maxsize=4096)
def _compiled(expression: kernel.Expression) -> CodeType:
    return compile(expression_text(expression), "<bound>", "eval")
