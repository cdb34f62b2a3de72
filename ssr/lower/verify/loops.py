"""The verifier of loops: it runs the loops of a nest for small sizes and checks the instances.

Nests are proved correct for all sizes (`verify`). Loops are imperative code, so they are executed.
A difference is a defect of the compiler and raises an `AssertionError`:

- Every piece runs each row of its domain once.
- Every serial statement runs its rows in the order of the nest. Of a parallel statement only the
  lines are in that order.
- Every line of the box is reduced once.
- The sweeps of solves along lines run their rows in sequence.

``SSR_VERIFY=1`` enables it. The row of an instance is `LoopNest.row`, which code generation uses
as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from types import CodeType

from ... import ir
from ...algebra.own_box import own_bounds
from ...ir import LineLoops, LoopNest
from ...kernel import ir as kernel
from ...kernel.print_python import expression_text
from ...points.loop_tree import For, If, Loop, Reduce, Run
from ...points.sets import Domain
from ..nests import bounds, box

EXTENTS = ((1, 1, 1), (2, 2, 2), (3, 4, 5), (1, 7, 6), (7, 1, 5), (6, 5, 1), (8, 7, 6))
"""Tested values of the sizes: each tuple is assigned to the sizes cyclically."""

MOST = 512
"""Limit of the rows of a box that is run completely; of larger boxes only the corners are run."""

Row = tuple[int, ...]
Values = Mapping[str, int]
Instance = tuple[str, Row]
"""The name of a piece or reduction, and the row or line of the instance."""


def verify_loops(made: LoopNest) -> None:
    """Check the loops of a nest."""
    for values in samples(made.nest, [piece.domain for piece in made.pieces.values()]):
        instances = list(_instances(made, made.tree, dict(values)))
        _check_rows(made, instances, values)
        _check_order(made, instances, values)


def verify_line_loops(made: LineLoops) -> None:
    """Check the loops of systems along lines."""
    nest = made.nest
    last = nest.outer[-1:]
    for values in samples(nest, [piece.domain for piece in nest.pieces]):
        runs: dict[str, Counter[Row]] = defaultdict(Counter)
        tree = made.tree or tuple(Run(name, ()) for name in made.kinds)
        for kind, outer in _leaves(tree, dict(values)):
            assert isinstance(kind, Run)
            line = outer | {a: i.evaluate(outer) for a, i in zip(last, kind.indices, strict=True)}
            lines = made.kinds[kind.piece]
            for sweep, sign in ((lines.forward, 1), (lines.backward, -1), (lines.closing, 1)):
                places = []
                for node, here in _leaves(sweep, line):
                    assert isinstance(node, Run)
                    row = tuple(a.evaluate(here) for a in made.row(node))
                    runs[node.piece][row] += 1
                    places.append(sign * row[nest.along])
                assert places == sorted(places), f"lines of {nest.target!r} run out of order"
        for name, piece in made.pieces.items():
            rows = (piece.domain & nest.context & box(nest.axes)).fixed(values).points()
            _compare(nest, f"piece {name}", runs[name], Counter(rows), values)


def _check_rows(made: LoopNest, instances: Sequence[Instance], values: Values) -> None:
    """Check that pieces run their rows, and reductions the lines of the box, each of them once."""
    runs: dict[str, Counter[Row]] = defaultdict(Counter)
    for name, row in instances:
        runs[name][row] += 1
    for name, piece in made.pieces.items():
        rows = (piece.domain & made.nest.context).fixed(values).points()
        _compare(made.nest, f"piece {name}", runs[name], Counter(rows), values)
    outer = made.nest.axes[:-1]
    lines = Counter(product(*(range(values[f"{a}_lo"], values[f"{a}_hi"]) for a in outer)))
    for fold in made.nest.folds:
        _compare(made.nest, f"reduction {fold.name}", runs[fold.name], lines, values)


def _compare(
    nest: ir.Nest | ir.LineNest, what: str, runs: Counter[Row], meant: Counter[Row], values: Values
) -> None:
    wrong, missing = sorted(runs - meant), sorted(meant - runs)
    if wrong or missing:
        kind = f"runs {wrong[0]} too often" if wrong else f"does not run {missing[0]}"
        raise AssertionError(f"loops of {nest.target!r}, {what}: it {kind}, for {values}")


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


def samples(nest: ir.Nest | ir.LineNest, domains: Sequence[Domain]) -> Iterator[dict[str, int]]:
    """Yield values of the sizes in some sets, and boxes of rows that their nest allows."""
    kept = len(nest.axes) - 1 if isinstance(nest, ir.Nest) and nest.whole_lines else None
    kept = nest.along if isinstance(nest, ir.LineNest) else kept
    names = set(nest.context.parameters()).union(*(domain.parameters() for domain in domains))
    local = not names.isdisjoint(own_bounds(nest.axes))
    sizes = sorted(names - set(bounds(nest.axes)) - set(own_bounds(nest.axes)))
    for extents in EXTENTS:
        values = {name: extents[n % len(extents)] for n, name in enumerate(sizes)}
        whole = [(low.evaluate(values), stop.evaluate(values)) for low, stop in nest.rows.edges]
        if any(low >= high for low, high in whole):
            continue
        for sides in dict.fromkeys(_boxes(whole, kept)):
            edges = (edge for side in sides for edge in side)
            named = {**values, **dict(zip(bounds(nest.axes), edges, strict=True))}
            for own in (sides, whole) if local else (sides,):
                edges = (edge for side in own for edge in side)
                here = {**named, **dict(zip(own_bounds(nest.axes), edges, strict=True))}
                if not nest.context.fixed(here).empty:
                    yield here


def _boxes(whole: Sequence[tuple[int, int]], kept: int | None) -> Iterator[tuple[Row, ...]]:
    """Yield a box of rows and its two halves along all axes but one, or ends of a large one."""
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
            parts.append((low, high) if axis == kept else cut)
        yield tuple(parts)


# -- running loops -------------------------------------------------------------------------------


def _instances(made: LoopNest, tree: Sequence[Loop], values: dict[str, int]) -> Iterator[Instance]:
    """Yield the instances of loops in order; ``values`` holds the outer loop variables."""
    for node, here in _leaves(tree, values):
        if isinstance(node, Run):
            yield node.piece, tuple(a.evaluate(here) for a in made.row(node))
        else:
            yield node.name, tuple(here[axis] for axis in made.nest.axes[:-1])


def _leaves(
    tree: Sequence[Loop], values: dict[str, int]
) -> Iterator[tuple[Run | Reduce, dict[str, int]]]:
    """Yield the leaves of loops in order, each with the values of the loop variables."""
    for node in tree:
        match node:
            case For(variable, start, stop, step, body):
                for value in range(_value(start, values), _value(stop, values), step):
                    yield from _leaves(body, {**values, variable: value})
            case If(condition, then, orelse):
                yield from _leaves(then if _value(condition, values) else orelse, values)
            case Run() | Reduce():
                yield node, values


def _value(expression: kernel.Expression, values: Values) -> int:
    """Return the value of a bound or condition."""
    return int(eval(_compiled(expression), {"min": min, "max": max}, values))


@lru_cache(maxsize=4096)
def _compiled(expression: kernel.Expression) -> CodeType:
    return compile(expression_text(expression), "<bound>", "eval")
