"""Random programs: statements over fields on several spaces, products, sweeps and reductions."""

from __future__ import annotations

from random import Random

from .text import (
    Draft,
    Space,
    bind_data,
    declare_between,
    declare_cells,
    declare_lines,
    declare_matrix,
    declare_other,
    declare_sizes,
    declare_stencil,
    within,
)


class Body:
    """The statements of a program.

    ``fields`` pairs the fields with their spaces, ``numbers`` are numbers of the program; ``lined``
    says whether there is a matrix Z of systems along lines.
    """

    def __init__(self, draft: Draft, fields: list[tuple[str, Space]]) -> None:
        self.draft, self.rng = draft, draft.rng
        self.fields = list(fields)
        self.given = list(fields)
        self.numbers = ["s"]
        self.lines: list[str] = []
        self.results: list[str] = []
        self.vector = False
        self.solvers: list[tuple[str, str]] = []
        self.lined = False
        self.callee = ""

    def field(self, space: Space) -> str:
        """Return the name of a field on a space, or a part of one."""
        found = [n for n, s in self.fields if s == space]
        if space.name == "C":
            found += [f"{n}[C]" for n, s in self.fields if s.name in "GFN" and s.name == "G"]
            found += ["U[0]", "U[1]"] if self.vector else []
        return self.rng.choice(found) if found else "0.5"

    def number(self) -> str:
        """Return a factor."""
        rng = self.rng
        return rng.choice(self.numbers) if self.draft.chance(0.2) else rng.choice(FACTORS)

    def expression(self, space: Space, depth: int) -> str:
        """Return an expression on a space."""
        rng = self.rng
        matrices = [
            (m if r == space.name else f"{m}.T", c if r == space.name else r)
            for m, r, c in self.draft.matrices
            if space.name in (r, c)
        ]
        known = {s.name for _, s in self.fields}
        matrices = [(m, c) for m, c in matrices if c in known]
        if matrices and depth and self.draft.chance(0.6):
            matrix, other = rng.choice(matrices)
            if matrix.endswith(".T") and self.draft.chance(0.5):
                matrix, other = rng.choice(matrices)
            if other == space.name:
                matrix = within(self.draft, matrix)
            return f"{matrix} @ {self.operand(self.draft.space(other), depth - 1)}"
        if not depth:
            return self.field(space)

        def inner() -> str:
            return self.expression(space, depth - 1)

        match rng.randrange(13):
            case 0 | 1 | 2:
                return f"{inner()} + {self.number()} * ({inner()})"
            case 3 | 4:
                return f"{inner()} - ({inner()})"
            case 5:
                return f"0.5 * ({inner()}) * ({self.field(space)})"
            case 6:
                e = self.field(space)
                return f"({inner()}) / (1.5 + {e} * {e})"
            case 7:
                test = f"{self.field(space)} > {rng.choice(['0.125', '-0.25', 's', '0.3'])}"
                return f"ssr.where({test}, {inner()}, {self.field(space)})"
            case 8:
                return f"ssr.{rng.choice(['minimum', 'maximum'])}({inner()}, {self.field(space)})"
            case 9:
                e = self.field(space)
                return f"({inner()}) * ssr.sqrt(1.0 + {e} * {e}) * 0.5"
            case 10:
                return f"abs({inner()})"
            case 11:
                return f"ssr.materialize({inner()} - {self.field(space)})"
        return f"{self.number()} * ({inner()})"

    def operand(self, space: Space, depth: int) -> str:
        """Return what a matrix is applied to: a field, or an expression in parentheses."""
        made = self.expression(space, depth if self.draft.chance(0.5) else 0)
        return made if made.isidentifier() else f"({made})"

    def statement(self) -> None:
        """Add a statement."""
        rng, draft = self.rng, self.draft
        name, space = rng.choice(self.given)
        cells = draft.spaces[0]
        depth = rng.choice([0, 1, 1, 2, 2, 3])
        kind = rng.choice(STATEMENTS)
        if kind == "part" and any(s.name == "G" for _, s in self.given):
            name = next(n for n, s in self.given if s.name == "G")
            self.lines.append(f"{name}[C] = {self.expression(cells, depth)}")
        elif kind == "sweep" and self.solvers:
            matrix, on = rng.choice(self.solvers)
            fields = [n for n, s in self.given if s.name == on]
            x = rng.choice(fields)
            b = self.operand(draft.space(on), rng.choice([0, 0, 1]))
            if draft.local:
                b, matrix = (
                    f"{b} - ({matrix} - {matrix}.rank_local()) @ {x}",
                    f"{matrix}.rank_local()",
                )
            sweeps = rng.choice([1, 2, 2, 3]) if draft.local else 1
            if sweeps > 1:
                fresh = f"t{len(self.lines)}"
                self.lines.append(f"{fresh} = ssr.materialize({b})")
                b = fresh
            for n in range(sweeps):
                if n and draft.chance(0.3):
                    other, where = rng.choice(self.given)
                    self.lines.append(f"{other}[:] = {self.expression(where, 1)}")
                low, high = ("tril()", "triu(1)") if draft.chance(0.6) else ("triu()", "tril(-1)")
                self.lines.append(f"{x}[:] = {matrix}.{low}.solve({b} - {matrix}.{high} @ {x})")
        elif kind == "solve" and self.solvers:
            matrix, on = rng.choice(self.solvers)
            x = rng.choice([n for n, s in self.given if s.name == on])
            part = rng.choice(["tril()", "triu()", "diagonal()"])
            b = self.operand(draft.space(on), depth)
            near = f"{matrix}.rank_local()" if draft.local else matrix
            self.lines.append(f"{x}[:] = {near}.{part}.solve({b})")
        elif kind == "lines" and self.lined:
            x = rng.choice([n for n, s in self.given if s == cells])
            self.lines.append(f"{x}[:] = Z.solve({self.operand(cells, depth)})")
        elif kind == "let":
            fresh = f"t{len(self.lines)}"
            self.lines.append(f"{fresh} = {self.expression(space, max(depth, 1))}")
            self.fields.append((fresh, space))
        elif kind == "reduce":
            fresh = f"r{len(self.lines)}"
            a, b = self.operand(space, 1), self.operand(space, 0)
            if "[" not in a and "[" not in b and "0.5" not in (a, b):
                how = rng.choice([f"ssr.dot({a}, {b})", f"ssr.max({a})", f"ssr.min({a})"])
                self.lines += [f"{fresh} = {how}", f"{fresh} = {fresh} / (1.0 + {fresh} * {fresh})"]
                self.numbers.append(fresh)
                self.results.append(fresh)
        elif kind == "vector" and self.vector:
            a, b = (self.expression(cells, depth) for _ in range(2))
            self.lines.append(f"U[:] = ssr.vector({a}, {b})")
        elif kind == "component" and self.vector:
            self.lines.append(f"U[{rng.randint(0, 1)}] = {self.expression(cells, depth)}")
        elif kind == "blocks" and self.vector and any(m[0] == "X" for m in draft.matrices[-1:]):
            self.lines.append("U[:] = X @ U")
        elif kind == "call" and self.callee:
            on = [n for n, s in self.given if s.name == "C"]
            if len(on) > 1:
                a, b = rng.sample(on, 2)
                self.lines.append(f"q({a}, {b})")
        elif kind == "zero":
            self.lines.append(f"{name}[:] = {rng.choice(['0.0', '1.0', 's'])}")
        else:
            self.lines.append(f"{name}[:] = {self.expression(space, depth)}")


OTHERS = ("faces", "nodes", "grown", "grown", "double")
FACTORS = ("0.5", "-0.25", "0.75", "-1.0", "0.125", "0.3")
STATEMENTS = (
    "assign", "assign", "assign", "assign", "assign", "assign", "part", "part", "sweep", "sweep",
    "solve", "lines", "let", "let", "reduce", "vector", "component", "call", "zero",
)  # fmt: skip


def programs(rng: Random) -> Draft:
    """Draw a program."""
    draft = Draft(rng)
    draft.local = draft.chance(0.15)
    ndim = rng.choice([1, 1, 2, 2, 2, 2, 2, 2, 3])
    extents = declare_sizes(draft, ndim, 0.08)
    cells = declare_cells(draft, extents)
    others = [
        made
        for kind in rng.sample(
            ["faces", "nodes", "grown", "grown", "double"], rng.choice([0, 1, 2])
        )
        if (made := declare_other(draft, extents, kind))
    ]
    fields = [(n, cells) for n in ("x", "y", "v", "h")[: rng.randint(1, 4)]]
    fields += [(s.name.lower(), s) for s in others]
    body = Body(draft, fields)
    declare_operators(draft, cells, others, body)
    if draft.chance(0.2):
        body.vector = True
    if draft.chance(0.15):
        callee(draft, body)
    count = rng.randint(1, 8)
    while len(body.lines) < count:
        body.statement()
    if not any("[" in line.split("=")[0] or line.startswith("q(") for line in body.lines):
        body.lines.append(f"x[:] = {body.expression(cells, 1)}")
    kinds = [f"{n}={s.name}" for n, s in fields] + (["U=C.vector(2)"] if body.vector else [])
    names = [k.split("=")[0] for k in kinds]
    draft.lines += [
        f"@ssr.program({', '.join(kinds)}, s=ssr.scalar)",
        f"def p({', '.join(names)}, s):",
        *(f"    {line}" for line in body.lines),
    ]
    if body.results:
        draft.lines.append(f"    return {', '.join(body.results)},")
    return draft


def declare_operators(draft: Draft, cells: Space, others: list[Space], body: Body) -> None:
    """Declare the matrices of a program."""
    rng = draft.rng
    most = {1: 5, 2: 5, 3: 4}[len(cells.axes)]
    declare_stencil(draft, "S", cells, diagonal=0.0, most=most)
    if draft.chance(0.5):
        strong = rng.choice([8.0, 12.0, -9.0])
        declare_stencil(draft, "T", cells, diagonal=strong, most=most - 1)
        body.solvers.append(("T", "C"))
    if draft.chance(0.5):
        bent = rng.choice(["same", "same", "half", "back", "constant", "sheared", "double"])
        data = "coordinate" if draft.chance(0.3) else ""
        declare_matrix(draft, "M", cells, cells, bent=bent, data=data)
    if draft.chance(0.25):
        declare_matrix(draft, "I", cells, cells, most=2, bent="same")
    if draft.chance(0.25):
        declare_matrix(draft, "L", cells, cells, most=3, bent="same", diagonal="9.0")
        body.solvers.append(("L", "C"))
    if draft.chance(0.15):
        data = rng.choice(["field", "field", "vector"])
        bent = rng.choice(["same", "same", "same", "half", "back", "double"])
        declare_matrix(draft, "K", cells, cells, most=3, bent=bent, data=data, diagonal="9.0")
        bind_data(draft, "K", "C" if data == "field" else "C.vector(2)")
        body.solvers += [("K", "C")] if bent == "same" else []
    if draft.chance(0.3):
        declare_lines(draft, "Z", cells)
        body.lined = True
    for n, other in enumerate(others):
        if other.name in "FN" and draft.chance(0.4):
            declare_between(draft, f"P{n}", other, cells)
            declare_between(draft, f"R{n}", cells, other)
            continue
        bent = "half" if other.name == "D" else "same"
        data = "field" if draft.captured and draft.chance(0.5) else ""
        declare_matrix(draft, f"P{n}", other, cells, most=3, bent=bent, data=data)
        if data:
            bind_data(draft, f"P{n}", other.name)
        if draft.chance(0.5):
            bent = "double" if other.name == "D" else "same"
            declare_matrix(draft, f"R{n}", cells, other, most=3, bent=bent)


def callee(draft: Draft, body: Body) -> None:
    """Declare a program q that the program calls."""
    cells = draft.spaces[0]
    inner = Body(draft, [("a", cells), ("b", cells)])
    inner.numbers = ["0.5"]
    inner.solvers = [s for s in body.solvers if s[1] == "C"]
    while len(inner.lines) < 2:
        name = draft.rng.choice("ab")
        inner.lines.append(f"{name}[:] = {inner.expression(cells, draft.rng.choice([1, 2]))}")
    lines = [line.replace("> s,", "> 0.25,") for line in inner.lines]
    draft.lines += ["@ssr.program(a=C, b=C)", "def q(a, b):", *(f"    {line}" for line in lines)]
    body.callee = "q"
