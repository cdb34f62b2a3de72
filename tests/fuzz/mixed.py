"""Random programs over fields on blocks of several shapes, in which each statement is of one kind.

Fills and synchronizations take fields of all kinds. What they make is read by statements of single
kinds in any order, between which others assign what it was made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from .fills import offsets
from .linked import Grid, declare_grid, rules
from .text import WEIGHTS, Draft, bind_data, within

STATEMENTS = (
    "fill", "fill", "assign", "assign", "assign", "assign", "assign", "assign", "part", "wide",
    "let", "let", "other", "meet", "zero",
)  # fmt: skip
MADE = "abemt"
"""First letters of what a program makes: ghosts, products with them, shared points, and others."""
HOW = ("", "", ", how='owner'")
FACTORS = ("0.5", "-0.25", "0.75", "-1.0", "2.0", "s")


@dataclass
class Body:
    """The statements of a program, and what there is to read.

    Attributes
    ----------
    points
        Where the fields are.
    leaves
        Names of what may be read, by where it is: on the points of fields (H), with ghosts (G), or
        at another location (O), and the kind.
    matrices
        Names of matrices of each kind by where their rows and columns are.
    fills
        Fills with their parameters, and products with them, by the place of what they make.
    meets
        Whether there is a synchronization M of the points.
    """

    draft: Draft
    points: Points
    leaves: dict[tuple[str, int], list[str]]
    matrices: dict[tuple[str, str], list[str]]
    fills: dict[str, str]
    meets: bool
    lines: list[str] = field(default_factory=list)

    @property
    def rng(self) -> Random:
        return self.draft.rng

    @property
    def count(self) -> int:
        return self.points.count

    def draw(self) -> None:
        """Add all statements."""
        self.applied(next(iter(self.fills)), "a", 0.9)
        for _ in range(self.rng.randint(1, 7)):
            self.statement()
        self.use()
        if self.count == 1 and self.draft.chance(0.2):
            last = max(self.points.kinds)
            self.lines.append(f"return ssr.sum({self.leaf('H', 0)}), ssr.max(abs(y{last}))")

    def leaf(self, where: str, kind: int) -> str:
        """Return the name of something on the points of a kind."""
        names = list(self.leaves[where, kind])
        if where == "H" and self.draft.chance(0.2):
            names = [f"{name}[H{kind}]" for name in self.leaves["G", kind]]
        made = [name for name in names if name[0] in MADE]
        return self.rng.choice(made if made and self.draft.chance(0.6) else names)

    def product(self, where: str, kind: int, depth: int) -> str | None:
        """Return a product with a matrix whose rows are somewhere; None if there is none."""
        known = [
            (name, cols)
            for (rows, cols), names in self.matrices.items()
            if rows == where and self.leaves[cols, kind]
            for name in names
        ]
        if not known:
            return None
        name, cols = self.rng.choice(known)
        operand = self.expression(cols, kind, depth - 1)
        matrix = within(self.draft, f"{name}{kind}") if where == cols else f"{name}{kind}"
        if self.count > 1:
            return f"V({matrix}, {operand})"
        return f"{matrix} @ ({operand})"

    def expression(self, where: str, kind: int, depth: int) -> str:
        """Return an expression on points of a kind."""
        rng = self.rng
        if depth <= 0:
            return self.leaf(where, kind)
        if self.draft.chance(0.55):
            made = self.product(where, kind, depth)
            if made is not None:
                return made

        def inner() -> str:
            return self.expression(where, kind, depth - 1)

        match rng.randrange(9):
            case 0 | 1:
                return f"{inner()} + {rng.choice(FACTORS)} * ({inner()})"
            case 2:
                return f"{inner()} - ({inner()})"
            case 3:
                return f"0.5 * ({inner()}) * ({self.leaf(where, kind)})"
            case 4 if where != "G":
                return f"ssr.materialize({inner()} - {self.leaf(where, kind)})"
            case 5 if self.count == 1:
                test = f"{self.leaf(where, kind)} > {rng.choice(['0.125', '-0.25', 's'])}"
                return f"ssr.where({test}, {inner()}, {self.leaf(where, kind)})"
            case 6 if self.count == 1:
                return f"ssr.minimum({inner()}, {self.leaf(where, kind)})"
            case 7 if self.count == 1:
                return f"abs({inner()})"
        return f"{rng.choice(FACTORS)} * ({inner()})"

    def applied(self, by: str, name: str, plain: float) -> None:
        """Add what a step of all kinds makes of fields, or of expressions in a part of all cases.

        The names of what it makes begin with a letter.
        """
        number = len(self.lines)
        of = [
            self.rng.choice([n for n in self.leaves["H", k] if n[0] in "xyz"])
            if self.draft.chance(plain)
            else self.expression("H", k, self.rng.choice([0, 1]))
            for k in self.points.kinds
        ]
        made = [f"{name}{number}_{k}" for k in self.points.kinds]
        self.lines.append(f"{', '.join(made)}, = {by} @ ({', '.join(of)},)")
        for k, each in zip(self.points.kinds, made, strict=True):
            self.leaves["G" if name in "ab" else "H", k].append(each)

    def statement(self) -> None:
        """Add a statement."""
        rng = self.rng
        kind, depth = rng.choice(list(self.points.kinds)), rng.choice([0, 1, 1, 2, 2, 3])
        target = rng.choice([n for n in self.leaves["H", kind] if n[0] in "xyz"])
        what = rng.choice(STATEMENTS)
        if what == "fill":
            by = rng.choice(list(self.fills))
            self.applied(by, "e" if self.fills[by] == "H" else rng.choice("ab"), 0.7)
        elif what == "meet" and self.meets:
            self.applied("M", "m", 0.7)
        elif what == "part":
            self.lines.append(f"g{kind}[H{kind}] = {self.expression('H', kind, depth)}")
        elif what == "wide":
            self.lines.append(f"g{kind}[:] = {self.leaf('G', kind)}")
        elif what == "let":
            fresh = f"t{len(self.lines)}_{kind}"
            made = self.expression("H", kind, max(depth, 1))
            self.lines.append(
                f"{fresh} = {f'ssr.materialize({made})' if self.draft.chance(0.4) else made}"
            )
            self.leaves["H", kind].append(fresh)
        elif what == "other" and self.leaves["O", kind]:
            self.lines.append(f"o{kind}[:] = {self.expression('O', kind, max(depth, 1))}")
        elif what == "zero":
            self.lines.append(f"{target}[:] = {rng.choice(['0.0', 's'])}")
        else:
            self.lines.append(f"{target}[:] = {self.expression('H', kind, depth)}")

    def use(self) -> None:
        """Read a part of what is not read yet, and see that a field is assigned."""
        text = " ".join(line.partition("= ")[2] for line in self.lines)
        for (where, kind), names in self.leaves.items():
            for name in names:
                if name[0] in MADE and name not in text and self.draft.chance(0.4):
                    made = name
                    if where == "G":
                        matrix = self.rng.choice(self.matrices["H", "G"])
                        made = f"{matrix}{kind} @ {name}"
                        made = made if self.count == 1 else f"V({matrix}{kind}, {name})"
                    self.lines.append(f"{self.rng.choice('xyz')}{kind}[:] = {made}")
        if not any("[" in line.partition("=")[0] for line in self.lines):
            self.lines.append(f"x0[:] = {self.expression('H', 0, 2)}")


@dataclass(frozen=True)
class Points:
    """Where fields are: on ``H0, H1, ...``, with ghosts on ``G0, G1, ...``.

    Attributes
    ----------
    place
        The text of the location; empty for cells.
    staggered
        For each axis 1 if points lie on the sides across it, else 0.
    widths
        The numbers of ghosts of each kind at the ends of each axis.
    count
        The components of all fields.
    """

    place: str
    staggered: tuple[int, ...]
    widths: tuple[tuple[tuple[int, int], ...], ...]
    count: int

    @property
    def kinds(self) -> range:
        return range(len(self.widths))

    @property
    def ndim(self) -> int:
        return len(self.staggered)

    @property
    def vector(self) -> str:
        """The end of the text of a space of fields."""
        return f".vector({self.count})" if self.count > 1 else ""


def mixed(rng: Random) -> Draft:
    """Draw a program over fields on blocks of several shapes."""
    draft = Draft(rng)
    draft.local = draft.chance(0.1)
    grid = _grid(draft)
    points = _points(draft, grid)
    fills = _fills(draft, grid, points)
    meets = points.place == ".nodes()"
    if meets:
        fields = ", ".join(f"H{k}{points.vector}" for k in points.kinds)
        draft.lines.append(f"M = bc.synchronize({fields}{rng.choice(HOW)})")
    matrices = {("H", "G"): ["S", "T"], ("H", "H"): ["L"]}
    if draft.chance(0.5):
        matrices |= _between(draft, points)
    if draft.chance(0.4):
        _indexed(draft, points)
        matrices["H", "H"].append("X")
    if draft.chance(0.1):
        _given(draft, points)
        matrices["H", "H"].append("K")
    if points.count > 1:
        draft.lines += ["def V(S, a):", "    return ssr.vector(*[S @ c for c in a])"]
    leaves = {("H", k): [f"x{k}", f"y{k}", f"z{k}"] for k in points.kinds}
    leaves |= {("G", k): [f"g{k}"] for k in points.kinds}
    leaves |= {("O", k): [f"o{k}"] if ("H", "O") in matrices else [] for k in points.kinds}
    given = {n: f"{w}{k}{points.vector}" for (w, k), names in leaves.items() for n in names}
    body = Body(draft, points, leaves, matrices, fills, meets)
    body.draw()
    draft.lines += [
        f"@ssr.program({', '.join(f'{n}={s}' for n, s in given.items())}, s=ssr.scalar)",
        f"def p({', '.join(given)}, s):",
        *(f"    {line}" for line in body.lines),
    ]
    return draft


def _grid(draft: Draft) -> Grid:
    """Declare a grid of blocks of two shapes or more, but for a part of all cases."""
    some = (2, 3) if draft.chance(0.95) else (1,)
    while True:
        trial = Draft(draft.rng)
        grid = declare_grid(trial, 0.4)
        if len(grid.kinds) in some:
            draft.lines, draft.sizes, draft.largest = trial.lines, trial.sizes, trial.largest
            return grid


def _points(draft: Draft, grid: Grid) -> Points:
    """Declare the spaces of fields."""
    rng, ndim = draft.rng, grid.ndim
    place = rng.choice(["", "", "", "", ".nodes()", ".nodes()", f".faces({rng.randrange(ndim)})"])
    staggered = [int(place == ".nodes()" or place == f".faces({a})") for a in range(ndim)]
    most = 2 if ndim < 3 else 1
    common = [(rng.randint(0, most), rng.randint(0, most)) for _ in range(ndim)]
    common[rng.randrange(ndim)] = (1, rng.randint(1, most))
    widths = [
        [
            pair if draft.chance(0.85) else (rng.choice([pair[0], 1]), rng.choice([pair[1], 1]))
            for pair in common
        ]
        for _ in grid.kinds
    ]
    for k, each in enumerate(widths):
        draft.lines += [
            f"H{k} = T.kinds[{k}]{place}",
            f"G{k} = H{k}.grow({', '.join(map(str, each))})",
        ]
        low, high = ([pair[n] for pair in each] for n in (0, 1))
        for name in "ST":
            taps = {(0, *o): w for o, w in offsets(rng, low, high).items()}
            draft.lines.append(f"{name}{k} = ssr.stencil(H{k}, G{k}, {taps}, outside='error')")
        taps = {(0, *o): w for o, w in offsets(rng, ndim * [2], ndim * [2]).items()}
        draft.lines.append(f"L{k} = ssr.stencil(H{k}, H{k}, {taps}, outside='zero')")
    return Points(place, tuple(staggered), tuple(map(tuple, widths)), rng.choice([1, 1, 1, 1, 2]))


def _fills(draft: Draft, grid: Grid, points: Points) -> dict[str, str]:
    """Declare fills; return what a program applies by the place of what it makes, B first."""
    kinds, layers = points.kinds, max(w for each in points.widths for pair in each for w in pair)
    wide = ", ".join(f"G{k}{points.vector}" for k in kinds)
    owned = ", ".join(f"H{k}" for k in kinds)
    found = {}
    for name in "BD":
        more = "".join(f", {o}=False" for o in ("narrow", "join", "once") if draft.chance(0.1))
        each = ", ".join(
            [f"({wide},)", *rules(draft, grid, points.staggered, layers, points.count)]
        )
        draft.lines.append(f"{name} = bc.fill({each}, owned=({owned},){more})")
        found[f"{name}.bind(s=s)" if "parameter" in each else name] = "G"
    if points.count == 1 and len(kinds) > 1 and "D" in found and draft.chance(0.2):
        rows = [", ".join(f"T{k}" if k == n else "None" for k in kinds) for n in kinds]
        draft.lines.append(f"E = ssr.block([{', '.join(f'[{row}]' for row in rows)}]) @ D")
        found["E"] = "H"
    return found


def _between(draft: Draft, points: Points) -> dict[tuple[str, str], list[str]]:
    """Declare averages and differences between the points of fields and another location."""
    rng, made = draft.rng, {}
    axis = rng.randrange(points.ndim)
    other = "" if points.place else rng.choice([".nodes()", f".faces({axis})"])
    draft.lines += [f"O{k} = T.kinds[{k}]{other}" for k in points.kinds]
    apart = points.staggered if points.place else [int(a == axis) for a in range(points.ndim)]
    along = apart.index(1) + 1 if sum(apart) == 1 and other != ".nodes()" else None
    for name, rows, cols in (("U", "O", "H"), ("Y", "O", "G"), ("W", "H", "O")):
        last = "error" if cols == "G" else "one-sided" if points.ndim < 3 else "zero"
        ways = ["zero", "zero", last]
        more = f"order={rng.choice([2, 2, 2, 4])}, outside={rng.choice(ways)!r}"
        how = f"ssr.average({rows}{{0}}, {cols}{{0}}, {more})"
        if along is not None and draft.chance(0.6):
            more = f"axis={along}, derivative={rng.choice([1, 1, 2])}, spacing=0.5, {more}"
            how = f"ssr.difference({rows}{{0}}, {cols}{{0}}, {more})"
        draft.lines += [f"{name}{k} = {how.format(k)}" for k in points.kinds]
        made[rows, cols] = [name]
    return made


def _given(draft: Draft, points: Points) -> None:
    """Declare matrices with data, which are dropped outside."""
    rng, names = draft.rng, ["b", *"kji"[3 - points.ndim :]]
    one = rng.choice(names[1:])
    own, near = (", ".join(f"{n}{' - 1' * (n == one) * far}" for n in names) for far in (0, 1))
    number = rng.choice([f"u[{own}]", f"u[{near}]", f"0.5 * (u[{own}] + u[{near}])"])
    for k in points.kinds:
        draft.lines += [
            f"@ssr.matrix(rows=H{k}, cols=H{k}, u=H{k})",
            f"def K{k}({own}, *, u):",
            f"    yield ({own}), 0.5 * u[{own}]",
            f"    if ({near}) in H{k}:",
            f"        yield ({near}), {number}",
        ]
        bind_data(draft, f"K{k}", f"H{k}", "T")


def _indexed(draft: Draft, points: Points) -> None:
    """Declare matrices whose entries are made of indices, and dropped outside."""
    rng, names = draft.rng, ["b", *"kji"[3 - points.ndim :]]
    one, other = (rng.choice(names[1:]) for _ in "ab")
    number = rng.choice(
        [
            f"0.125 * ({one} * {other} - 1.0)",
            f"0.5 - 0.25 * ({one} == {other if one != other else '1'})",
            f"{rng.choice(WEIGHTS)} * ({one} > 0)",
            f"0.25 * b + 0.125 * {one}",
        ]
    )
    shifted = [f"{n} {rng.choice('+-')} 1" if n == one else n for n in names]
    own, column = f"({', '.join(names)})", f"({', '.join(shifted)})"
    for k in points.kinds:
        draft.lines += [
            f"@ssr.matrix(rows=H{k}, cols=H{k})",
            f"def X{k}{own}:",
            f"    yield {own}, {number}",
            f"    if {column} in H{k}:",
            f"        yield {column}, {number} - 0.5",
        ]
