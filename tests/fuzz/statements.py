"""Statements of random programs that share few fields: sweeps, solves and products among others."""

from __future__ import annotations

from .text import Draft, Space

STATEMENTS = {
    "pointwise": 5, "product": 5, "sweep": 8, "solve": 3, "lines": 1, "copy": 1, "let": 2,
    "reduce": 2, "choice": 1, "vector": 2, "blocks": 3, "other": 3, "factors": 2, "part": 1,
    "both": 2,
}  # fmt: skip
"""How often a statement of a kind is drawn."""
NUMBERS = ("s", "0.5", "-0.25", "0.3")
FORWARD, BACKWARD = ("tril()", "triu(1)"), ("triu()", "tril(-1)")


class Body:
    """The statements of programs on the fields x, b and so on of cells, and a few others.

    Attributes
    ----------
    sweeps
        Matrices with a strong diagonal.
    products
        Matrices, or expressions with a place for a field.
    lined, vectors
        Whether there are a matrix Z along lines, and vector fields U and W with a matrix X.
    factors
        How to solve with factors M, or nothing.
    """

    def __init__(self, draft: Draft, cells: Space, fields: list[str], others: list[Space]) -> None:
        self.draft, self.rng, self.cells = draft, draft.rng, cells
        self.given = list(fields)
        self.known = list(fields)
        self.others = others
        self.sweeps: list[str] = []
        self.products: list[str] = []
        self.lined = self.vectors = False
        self.factors = ""
        self.numbers = list(NUMBERS)
        self.lines: list[str] = []
        self.results: list[str] = []
        self.last = fields[0]

    def drawn(self, count: int) -> list[str]:
        """Return the lines of a program of some statements."""
        self.known, self.lines, self.results = list(self.given), [], []
        self.numbers = list(NUMBERS)
        while len(self.lines) < count or not any("] = " in line for line in self.lines):
            self.statement()
        uses = any("M." in line for line in self.lines)
        returned = [f"return {', '.join(self.results)},"] if self.results else []
        return [*(["M = Q.compute()"] if uses else []), *self.lines, *returned]

    def near(self, matrix: str) -> str:
        """Return a matrix, or its entries within boxes."""
        return f"{matrix}.rank_local()" if self.draft.local and self.draft.chance(0.6) else matrix

    def target(self) -> str:
        """Return a field to be changed, often one that has just been."""
        made = self.last if self.draft.chance(0.4) else self.rng.choice(self.given)
        self.last = made
        return made

    def field(self) -> str:
        """Return a field to be read."""
        if self.vectors and self.draft.chance(0.1):
            return self.rng.choice(["U[0]", "U[1]", "W[1]"])
        return self.last if self.draft.chance(0.3) else self.rng.choice(self.known)

    def pointwise(self, depth: int = 1) -> str:
        """Return an expression of values at one point."""
        rng, a, b = self.rng, self.field(), self.field()
        f = rng.choice(self.numbers)
        made = rng.choice(
            [
                f"{a} + {f} * {b}", f"{a} - {f} * {b}", f"{f} * {a}", f"{a} * (0.5 * {b})",
                f"{a} / (1.5 + {b} * {b})", f"{f} * {a} - {b}", f"ssr.maximum({a}, {b})",
                f"abs({a}) - {f}",
            ]
        )  # fmt: skip
        return f"{made} + {f} * ({self.pointwise(0)})" if depth and rng.random() < 0.2 else made

    def product(self) -> str:
        """Return the product of a matrix with a field."""
        matrix = self.rng.choice(self.products)
        x = self.field() if self.draft.chance(0.8) else f"({self.pointwise()})"
        if "(" in x and "@" in matrix:
            x = self.field()
        return matrix.format(x) if "{}" in matrix else f"{self.near(matrix)} @ {x}"

    def right(self) -> str:
        """Return a right side."""
        kind = self.rng.random()
        if kind < 0.6:
            return self.field()
        if kind < 0.8:
            return f"({self.pointwise()})"
        return f"({self.field()} - 0.1 * ({self.product()}))"

    def statement(self) -> None:
        """Add a statement, or a few that belong together."""
        kind = self.rng.choices(list(STATEMENTS), list(STATEMENTS.values()))[0]
        made = getattr(self, f"_{kind}")()
        self.lines += made.split("; ") if made else []

    def _pointwise(self) -> str:
        return f"{self.target()}[:] = {self.pointwise()}"

    def _product(self) -> str:
        x = self.target()
        form = self.rng.choice(["{0} - 0.05 * ({2})", "{1} - 0.1 * ({2})", "0.25 * ({2})", "{2}"])
        return f"{x}[:] = {form.format(x, self.field(), self.product())}"

    def _sweep(self) -> str:
        matrix, x = self.near(self.rng.choice(self.sweeps)), self.target()
        b, rest = self.right(), matrix
        if matrix.endswith("local()") and self.draft.chance(0.7):
            b = f"{b} - ({matrix.removesuffix('.rank_local()')} - {matrix}) @ {x}"
        low, high = FORWARD if self.draft.chance(0.6) else BACKWARD
        return f"{x}[:] = {matrix}.{low}.solve({b} - {rest}.{high} @ {x})"

    def _both(self) -> str:
        matrix, x, b = self.rng.choice(self.sweeps), self.target(), self.field()
        each = [FORWARD, BACKWARD]
        self.rng.shuffle(each)
        lines = [f"{x}[:] = {matrix}.{one}.solve({b} - {matrix}.{two} @ {x})" for one, two in each]
        return "; ".join(lines)

    def _solve(self) -> str:
        matrix = self.near(self.rng.choice(self.sweeps))
        part = self.rng.choice(["tril()", "triu()", "T.tril()", "T.triu()"])
        return f"{self.target()}[:] = {matrix}.{part}.solve({self.right()})"

    def _lines(self) -> str:
        if not self.lined:
            return ""
        x = self.target()
        b = self.rng.choice([self.right(), f"({x} - 0.1 * ({self.product()}))"])
        return f"{x}[:] = Z.solve({b})"

    def _copy(self) -> str:
        return f"{self.target()}[:] = {self.field()}"

    def _let(self) -> str:
        fresh = f"t{len(self.lines)}"
        made = self.rng.choice([self.pointwise(), self.product()])
        self.known.append(fresh)
        return (
            f"{fresh} = ssr.materialize({made})" if self.draft.chance(0.4) else f"{fresh} = {made}"
        )

    def _reduce(self) -> str:
        fresh, a, b = f"r{len(self.lines)}", self.field(), self.field()
        how = self.rng.choice([f"ssr.dot({a}, {b})", f"ssr.sum({a})", f"ssr.max({a})"])
        self.numbers.append(fresh)
        self.results.append(fresh)
        return f"{fresh} = {how}; {fresh} = {fresh} / (1.0 + {fresh} * {fresh})"

    def _choice(self) -> str:
        a, b, c = self.field(), self.field(), self.field()
        return f"{self.target()}[:] = ssr.where({a} > {self.rng.choice(['0.25', b])}, {b}, {c})"

    def _vector(self) -> str:
        if not self.vectors:
            return ""
        return self.rng.choice(
            [
                f"U[:] = ssr.vector({self.pointwise()}, {self.field()})",
                f"U[{self.rng.randint(0, 1)}] = {self.pointwise()}", "W[:] = U", "U[:] = W - U",
                f"{self.target()}[:] = U[0] - 0.5 * W[1]", f"W[1] = {self.product()}",
            ]
        )  # fmt: skip

    def _blocks(self) -> str:
        if not self.vectors:
            return ""
        low, high = FORWARD if self.draft.chance(0.6) else BACKWARD
        matrix = self.near("X")
        return self.rng.choice(
            [
                "W[:] = W - 0.05 * (X @ U)", "U[:] = 0.1 * (X @ U)",
                f"U[:] = {matrix}.{low}.solve(W - {matrix}.{high} @ U)",
                f"U[:] = {matrix}.{low}.solve(W - {matrix}.{high} @ U)",
                f"W[:] = {matrix}.{low}.solve(U)",
            ]
        )  # fmt: skip

    def _other(self) -> str:
        if not self.others:
            return ""
        n, space = self.rng.choice(list(enumerate(self.others)))
        name, x, f = space.name.lower(), self.target(), self.rng.choice(self.numbers)
        return self.rng.choice(
            [
                f"{name}[:] = P{n} @ {self.field()}", f"{name}[:] = {name} - {f} * (P{n} @ {x})",
                f"{x}[:] = {x} - {f} * (R{n} @ {name})", f"{x}[:] = R{n} @ {name}",
                f"{name}[:] = P{n} @ {x}; {x}[:] = {x} + {f} * (R{n} @ {name})",
                f"{name}[:] = 0.5 * {name}",
            ]
        )  # fmt: skip

    def _part(self) -> str:
        grown = next((s.name.lower() for s in self.others if s.name == "G"), None)
        if grown is None:
            return ""
        return self.rng.choice(
            [f"{grown}[C] = {self.field()}", f"{self.target()}[:] = {grown}[C] - {self.field()}"]
        )

    def _factors(self) -> str:
        if not self.factors:
            return ""
        return f"{self.target()}[:] = {self.factors.format(self.right())}"
