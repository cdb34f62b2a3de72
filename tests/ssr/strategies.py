"""Hypothesis strategies: spaces, stencils, guards, and generators made of these.

What is drawn are recipes: values that print well and make a space or a matrix with symbolic or
with literal sizes, so that both can be compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

import ssr
from ssr.spaces.space import Box

from ..random_examples import examples as examples
from .memory import array

LARGEST = {1: 9, 2: 6, 3: 4, 4: 3}
"""Largest extent drawn, by number of dimensions."""

directions = st.sampled_from(["forward", "backward"])


@dataclass(frozen=True)
class Grid:
    """A space to be: extents, which of them are symbolic, and what is made of the cells."""

    extents: tuple[int, ...]
    symbolic: tuple[bool, ...]
    stem: str = "n"
    change: Literal["cells", "grown", "faces", "nodes"] = "cells"

    @property
    def ndim(self) -> int:
        return len(self.extents)

    def space(self, symbolic: bool = True) -> ssr.Space:
        """Return the space, with all sizes literal on request."""
        names = zip(self.names, self.extents, self.symbolic, strict=True)
        made = ssr.Space(*(ssr.sizes(n)[0] if s and symbolic else e for n, e, s in names))
        match self.change:
            case "grown":
                return made.grow(*((1, 2), 1, 0, (0, 1))[: self.ndim])
            case "faces":
                return made.faces(axis=self.ndim - 1)
            case "nodes":
                return made.nodes()
        return made

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.stem}{letter}" for letter in "abcd"[: self.ndim])

    @property
    def sizes(self) -> dict[str, int]:
        triples = zip(self.names, self.extents, self.symbolic, strict=True)
        return {n: e for n, e, s in triples if s}

    @property
    def box(self) -> Box:
        return self.space(symbolic=False).box({})

    @property
    def shape(self) -> tuple[int, ...]:
        return self.space(symbolic=False).extent({})


@st.composite
def grids(draw: st.DrawFn, ndim: int | None = None, stem: str = "n", plain: bool = False) -> Grid:
    """Draw a small space; a plain one is neither grown nor staggered."""
    d = draw(st.integers(1, 4)) if ndim is None else ndim
    extents = draw(st.tuples(*(st.integers(1, LARGEST[d]) for _ in range(d))))
    symbolic = draw(st.tuples(*(st.booleans() for _ in range(d))))
    changes = ["cells"] if plain else ["cells", "cells", "grown", "faces", "nodes"]
    return Grid(extents, symbolic, stem, draw(st.sampled_from(changes)))  # type: ignore[arg-type]


# -- stencils ------------------------------------------------------------------------------------

Stencil = dict[tuple[int, ...], float]
weights = st.sampled_from([-3.0, -1.0, -0.5, 0.1, 1.0, 2.0])


def dense(ndim: int, weight: float, centre: float) -> Stencil:
    """Return the stencil of all neighbours with one weight: partial sums are shared."""
    return {o: weight if any(o) else centre for o in product((-1, 0, 1), repeat=ndim)}


@st.composite
def stencils(draw: st.DrawFn, ndim: int, reach: int = 2) -> Stencil:
    """Draw offsets and weights: sparse and random, or dense with equal weights."""
    kind = draw(st.sampled_from(["sparse", "sparse", "dense", "changed"]))
    if kind == "sparse" or ndim == 4:
        offsets = st.tuples(*(st.integers(-reach, reach) for _ in range(ndim)))
        return draw(st.dictionaries(offsets, weights, min_size=1, max_size=6))
    found = dense(ndim, draw(weights), draw(weights))
    if kind == "changed":
        found[draw(st.sampled_from(sorted(found)))] = draw(weights)
        found.pop(draw(st.sampled_from(sorted(found))))
    return found


def dominant(stencil: Stencil, diagonal: float | None = None) -> Stencil:
    """Return the stencil with a diagonal weight that keeps substitution stable."""
    off = {o: w for o, w in stencil.items() if any(o)}
    total = sum(abs(w) for w in off.values())
    return off | {(0,) * len(next(iter(stencil))): diagonal or 1.0 + 1.5 * total}


# -- guards --------------------------------------------------------------------------------------

Guard = tuple[Any, ...]


def comparisons(ndim: int) -> st.SearchStrategy[Guard]:
    """Draw conditions that cut a space in two: comparisons with numbers, sizes and each other."""
    axes = st.integers(0, ndim - 1)
    return st.one_of(
        st.just(("always",)),
        st.tuples(st.just("below"), axes, st.integers(0, 4)),
        st.tuples(st.just("not at end"), axes, st.integers(1, 2)),
        st.tuples(st.just("between"), axes, st.integers(0, 2), st.integers(1, 4)),
        st.tuples(st.just("order"), axes, axes),
    )


def residues(ndim: int) -> st.SearchStrategy[Guard]:
    """Draw conditions with remainders or floors."""
    axes = st.integers(0, ndim - 1)
    return st.one_of(
        st.tuples(st.just("residue"), axes, st.integers(2, 3), st.integers(0, 2)),
        st.tuples(st.just("parity"), axes, axes),
        st.tuples(st.just("floor"), axes, st.integers(1, 2)),
    )


@st.composite
def guards(draw: st.DrawFn, ndim: int) -> list[Guard]:
    """Draw the guards one matrix chooses from: some comparisons, one residue, combinations.

    One residue only: isl needs minutes for loops over the classes of several.
    """
    residue = draw(residues(ndim))
    first, second = draw(comparisons(ndim)), draw(comparisons(ndim))
    both = (draw(st.sampled_from(["and", "or"])), first, draw(st.sampled_from([second, residue])))
    return [("always",), first, residue, ("not", draw(st.sampled_from([first, residue]))), both]


def holds(guard: Guard, index: tuple[Any, ...], upper: tuple[Any, ...]) -> bool:
    """Return a guard's truth, on integers or on symbolic indices; ``upper`` ends the axes."""
    match guard:
        case ("residue", axis, divisor, rest):
            return bool(index[axis] % divisor == rest)
        case ("parity", a, b):
            return bool((index[a] + index[b] + index[0]) % 2 == 0)
        case ("below", axis, bound):
            return bool(index[axis] < bound)
        case ("not at end", axis, distance):
            return bool(index[axis] + distance < upper[axis])
        case ("floor", axis, bound):
            return bool((index[axis] + 1) // 2 >= bound)
        case ("between", axis, low, high):
            return bool(low <= index[axis] < high)
        case ("order", a, b):
            return bool(index[a] >= 2 * index[b] - 1)
        case ("and", left, right):
            return holds(left, index, upper) and holds(right, index, upper)
        case ("or", left, right):
            return holds(left, index, upper) or holds(right, index, upper)
        case ("not", inner):
            return not holds(inner, index, upper)
    return True


# -- matrices ------------------------------------------------------------------------------------

Weight = tuple[str, float]
WEIGHTS = ("number", "number", "field", "scalar", "coordinate", "where", "max", "quotient")


@dataclass(frozen=True)
class Entry:
    """An entry of every row that meets a guard, where its column lies in the space."""

    column: tuple[tuple[str, int], ...]
    weight: Weight
    guard: Guard = ("always",)


@dataclass(frozen=True)
class Recipe:
    """A matrix to be, with a field ``u`` on its rows and a scalar ``a`` as data."""

    rows: Grid
    cols: Grid
    entries: tuple[Entry, ...]
    early: Guard | None = None

    def matrix(self, symbolic: bool = True) -> ssr.Matrix:
        """Return the matrix, its data not yet bound."""
        rows, cols = self.rows.space(symbolic), self.cols.space(symbolic)
        kinds = {e.weight[0] for e in self.entries}
        data: dict[str, Any] = {"u": rows} if kinds & {"field", "where", "max", "quotient"} else {}
        data |= {"a": ssr.scalar} if "scalar" in kinds else {}
        upper = tuple(n + low for n, low in zip(rows.shape, rows.lower, strict=True))

        def entries(*index: Any, u: Any = None, a: Any = None) -> Any:
            for entry in self.entries:
                later = entry is not self.entries[0] and self.early is not None
                if later and holds(self.early or (), index, upper):
                    return
                column = tuple(
                    MAPS[kind](x) + o for x, (kind, o) in zip(index, entry.column, strict=True)
                )
                if holds(entry.guard, index, upper) and column in cols:
                    yield column, value(entry.weight, index, u, a)

        return ssr.matrix(rows=rows, cols=cols, **data)(_with_data(entries, data))

    def data(self, rng: np.random.Generator, dtype: str, layout: str = "C") -> dict[str, Any]:
        """Return values for the data that are used."""
        kinds = {e.weight[0] for e in self.entries}
        data: dict[str, Any] = {"a": 0.75} if "scalar" in kinds else {}
        if kinds & {"field", "where", "max", "quotient"}:
            data["u"] = array(rng, self.rows.shape, dtype, layout, low=0.5, high=1.5)
        return data

    @property
    def sizes(self) -> dict[str, int]:
        return self.rows.sizes | self.cols.sizes


MAPS: dict[str, Callable[[Any], Any]] = {
    "same": lambda x: x,
    "double": lambda x: 2 * x,
    "half": lambda x: x // 2,
    "reverse": lambda x: 2 - x,
    "first": lambda x: 0,
}


def _with_data(function: Callable[..., Any], data: dict[str, Any]) -> Callable[..., Any]:
    """Return a generator function with just the keyword-only arguments that are declared."""
    if set(data) == {"u", "a"}:
        return lambda *index, u, a: function(*index, u=u, a=a)
    if "u" in data:
        return lambda *index, u: function(*index, u=u)
    if "a" in data:
        return lambda *index, a: function(*index, a=a)
    return lambda *index: function(*index)


def value(weight: Weight, index: tuple[Any, ...], u: Any, a: Any) -> Any:
    """Return the value of an entry, for numbers as for symbols."""
    kind, number = weight
    match kind:
        case "field":
            return number * u[index]
        case "scalar":
            return a * number
        case "coordinate":
            return number * (index[-1] + 2)
        case "where":
            return 2.0 * ssr.where(u[index] > 1.0, number, 0.25)
        case "max":
            return ssr.maximum(u[index], 1.0) * number
        case "quotient":
            return number / (1.0 + u[index] * u[index])
    return number


@st.composite
def recipes(draw: st.DrawFn, ndim: int | None = None) -> Recipe:
    """Draw a matrix between any two spaces, with any guards, columns and values."""
    rows = draw(grids(ndim))
    d = rows.ndim
    cols = draw(st.one_of(st.just(rows), grids(d, "m")))
    choice = draw(guards(d))
    bent, kind = draw(st.integers(0, d - 1)), draw(st.sampled_from(sorted(MAPS)))
    entries = []
    for _ in range(draw(st.integers(1, {1: 4, 2: 3, 3: 2, 4: 2}[d]))):
        kinds = [kind if a == bent and draw(st.booleans()) else "same" for a in range(d)]
        column = tuple((k, draw(st.integers(-2, 2))) for k in kinds)
        weight = draw(st.sampled_from(WEIGHTS)), draw(weights)
        entries.append(Entry(column, weight, draw(st.sampled_from(choice))))
    early = draw(st.sampled_from([None, None, choice[1]]))
    return Recipe(rows, cols, tuple(entries), early)


@st.composite
def square(draw: st.DrawFn, ndim: int | None = None) -> Recipe:
    """Draw a matrix that can be solved with once triangular: guarded, a strong diagonal."""
    d = draw(st.integers(1, 3)) if ndim is None else ndim
    rows = draw(grids(d))
    off = {o: w for o, w in draw(stencils(d)).items() if any(o)}
    choice = draw(guards(d))
    guard = draw(st.sampled_from([("always",), *choice]))
    if d > 1 and guard[0] not in ("always", "below", "between", "not at end"):
        off = dict([*off.items()][:3])  # isl needs long for more
    kind = draw(st.sampled_from(["number", "number", "field", "scalar", "max", "quotient"]))
    entries = [Entry(shift(o), (kind, w), guard) for o, w in off.items()]
    diagonal = draw(st.sampled_from(["number", "number", "field"]))
    strong = 1.0 + 6.0 * sum(abs(w) for w in off.values())
    entries.insert(0, Entry(shift((0,) * d), (diagonal, strong)))
    return Recipe(rows, rows, tuple(entries), draw(st.sampled_from([None, None, choice[1]])))


def shift(offset: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """Return the column map of a stencil's offset."""
    return tuple(("same", o) for o in offset)


# -- matrices made of matrices -------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A matrix to be made of others: an operation and its operands."""

    operation: Literal["@", "+", "-", "T", "*"]
    operands: "tuple[Recipe | Made, ...]"

    @property
    def sizes(self) -> dict[str, int]:
        return {name: value for o in self.operands for name, value in o.sizes.items()}


def combined(operation: str, operands: list[Any]) -> Any:
    """Return the result of an operation on matrices, ours or SciPy's."""
    match operation:
        case "@":
            return operands[0] @ operands[1]
        case "+":
            return operands[0] + operands[1]
        case "-":
            return operands[0] - operands[1]
        case "*":
            return -1.5 * operands[0]
    return operands[0].T


def realised(made: Recipe | Made, rng: np.random.Generator, symbolic: bool) -> tuple[Any, Any, Any]:
    """Return our matrix, SciPy's made from the leaves' definitions, and that of absolute values."""
    if isinstance(made, Recipe):
        leaf = made.matrix(symbolic).bind(**made.data(rng, "float64"))
        known = {n: v for n, v in made.sizes.items() if n in leaf.sizes}
        meant = leaf.bind(**known).to_scipy()
        return leaf, meant, abs(meant)
    ours, theirs, sizes = zip(*(realised(o, rng, symbolic) for o in made.operands), strict=True)
    scale = "+" if made.operation == "-" else made.operation
    size = combined(scale, list(sizes))
    return combined(made.operation, [*ours]), combined(made.operation, [*theirs]), abs(size)


@st.composite
def leaves(draw: st.DrawFn, rows: Grid, cols: Grid, kind: str, guard: Guard) -> Recipe:
    """Draw a small matrix between two spaces: one bent map and one residue in all leaves."""
    d = rows.ndim
    bent = draw(st.integers(0, d - 1))
    choice = [("always",), draw(comparisons(d)), guard]
    entries = []
    for _ in range(draw(st.integers(1, 3 if d == 1 else 2))):
        kinds = [kind if a == bent and draw(st.booleans()) else "same" for a in range(d)]
        column = tuple((k, draw(st.integers(-1, 1))) for k in kinds)
        weight = draw(st.sampled_from(WEIGHTS)), draw(weights)
        entries.append(Entry(column, weight, draw(st.sampled_from(choice))))
    return Recipe(rows, cols, tuple(entries))


@st.composite
def made_matrices(draw: st.DrawFn) -> tuple[Made, Grid, Grid]:
    """Draw products, sums, transposes and multiples of matrices, with the spaces of the result."""
    d = draw(st.integers(1, 3))
    extents = st.tuples(*(st.integers(1, {1: 7, 2: 4, 3: 3}[d]) for _ in range(d)))
    places = [Grid(draw(extents), (s,) * d, stem) for s, stem in ((True, "n"), (False, "m"))]
    kind = draw(st.sampled_from(["same", "same", "double", "half", "reverse"]))
    guard = draw(st.one_of(comparisons(d), residues(d) if kind == "same" else comparisons(d)))

    def build(rows: Grid, cols: Grid, depth: int) -> Recipe | Made:
        operation = draw(st.sampled_from(["@", "+", "-", "T", "*"])) if depth else "leaf"
        match operation:
            case "leaf":
                return draw(leaves(rows, cols, kind, guard))
            case "@":
                middle = draw(st.sampled_from(places))
                return Made("@", (build(rows, middle, depth - 1), build(middle, cols, depth - 1)))
            case "+" | "-" as sign:
                return Made(sign, (build(rows, cols, depth - 1), build(rows, cols, depth - 1)))
            case "T":
                return Made("T", (build(cols, rows, depth - 1),))
        return Made("*", (build(rows, cols, depth - 1),))

    rows, cols = draw(st.sampled_from(places)), draw(st.sampled_from(places))
    found = build(rows, cols, 2)
    assert isinstance(found, Made)
    return found, rows, cols
