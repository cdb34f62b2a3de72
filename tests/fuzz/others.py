"""Random block matrices, recurrences and stored matrices."""

from __future__ import annotations

from random import Random

from .text import (
    WEIGHTS,
    Draft,
    column,
    declare_cells,
    declare_matrix,
    declare_sizes,
    declare_stencil,
    guard,
)

ILU = """\
@ssr.recurrence(rows=C, cols=C)
def W({index}, done):
    row = A.row({index})
    for e in [c for c in row if c < ({own})]:
        row[e] = row[e] / done[e, e]
        for c in row:
            if c > e:
                row[c] = row[c] - row[e] * done[e, c]
    yield from row.items()
"""
DILU = """\
@ssr.recurrence(rows=C, cols=C)
def W({index}, done):
    row, column = A.row({index}), A.T.row({index})
    for e in [c for c in row if c < ({own}) and c in column]:
        row[({own})] = row[({own})] - row[e] * column[e] / done[e, e]
    yield ({own}), row[({own})]
"""
IC = """\
@ssr.recurrence(rows=C, cols=C)
def W({index}, done):
    row = {{c: value for c, value in A.row({index}).items() if c <= ({own})}}
    for e in row:
        for c in [c for c in row if c < e]:
            row[e] = row[e] - row[c] * (row[c] if e == ({own}) else done[e, c])
        row[e] = ssr.sqrt(row[e]) if e == ({own}) else row[e] / done[e, e]
    yield from row.items()
"""
BODIES = {
    ILU: (
        "y[:] = W.compute() @ x",
        "F = W.compute(); y[:] = F.triu().solve((F.tril(-1) + ssr.identity(C)).solve(x))",
    ),
    DILU: ("D = W.compute(); y[:] = D.solve(x)", "y[:] = W.compute() @ x"),
    IC: (
        "F = W.compute(); y[:] = F.T.solve(F.solve(x))",
        "F = W.compute(); y[:] = F @ x - F.T @ x",
    ),
}


def recurrences(rng: Random) -> Draft:
    """Draw an incomplete factorization of a matrix on random offsets, with guards."""
    draft = Draft(rng)
    draft.local = draft.chance(0.25)
    ndim = rng.choice([1, 1, 1, 2, 2, 2, 2, 2, 2, 3])
    extents = declare_sizes(draft, ndim, 0.1)
    cells = declare_cells(draft, extents)
    text = rng.choice([ILU, ILU, DILU, DILU, IC])
    index, own = ", ".join(cells.axes), ", ".join(cells.axes)
    offsets = {(0,) * ndim}
    for _ in range(rng.randint(1, {1: 4, 2: 4, 3: 3}[ndim])):
        offset = tuple(rng.randint(-2, 2) for _ in range(ndim))
        offsets |= {offset, tuple(-o for o in offset)} if draft.chance(0.6) else {offset}
    order = sorted(offsets)
    rng.shuffle(order)
    shown = repr(order)
    test = f" and ({guard(draft, cells, draft.chance(0.5), 0)} or not any(o))"
    strong = rng.choice([8.0, 12.0])
    draft.lines += [
        "@ssr.matrix(rows=C, cols=C)",
        f"def A({index}):",
        f"    for o in {shown}:",
        f"        c = ({', '.join(f'{a} + o[{n}]' for n, a in enumerate(cells.axes))},)",
        f"        if c in C{test if draft.chance(0.5) else ''}:",
        f"            yield c, -0.5 - 0.125 * o[-1] if any(o) else {strong}",
        *(["A = A.rank_local()"] if draft.local else []),
        *text.format(index=index, own=own).splitlines(),
        "@ssr.program(x=C, y=C)",
        "def p(x, y):",
        *(f"    {line}" for line in rng.choice(BODIES[text]).split("; ")),
    ]
    return draft


def stored(rng: Random) -> Draft:
    """Draw matrices of numbers beside staged ones, on spaces of integer extents."""
    draft = Draft(rng)
    ndim = rng.choice([1, 2, 2, 3])
    extents = tuple(str(rng.randint(1, 4)) for _ in range(ndim))
    cells = declare_cells(draft, extents)
    count = 1
    for extent in extents:
        count *= int(extent)
    for n in range(rng.randint(1, 2)):
        density = rng.choice([0.1, 0.3, 0.6])
        lines = [
            [rng.choice([-2, -1, 1, 3]) if rng.random() < density else 0 for _ in range(count)]
            for _ in range(count)
        ]
        for m in range(count):
            lines[m][m] = 20
        array = f"sparse.csr_array(np.array({lines}))"
        draft.lines.append(f"S{n} = ssr.from_scipy(0.125 * {array}, rows=C, cols=C)")
    declare_stencil(draft, "A", cells, diagonal=3.0, most=4)
    names = ["S0", f"S{n}", "A", "(S0 + A)", "S0.T", f"(S0 @ S{n})", "(A @ S0)", f"(A - S{n})"]
    a, b, c = (rng.choice(names) for _ in range(3))
    low = f"{a}.tril().solve" if draft.chance(0.5) else f"{a}.triu().solve"
    statements = [
        f"y[:] = {a} @ x",
        f"y[:] = {low}(x)",
        f"x[:] = {a}.tril().solve(y - {a}.triu(1) @ x)",
        f"x[:] = {b} @ (x + 0.5 * ({c} @ y))",
        f"v[:] = {b} @ x - {c} @ v",
        f"v[:] = x + 0.5 * ({a} @ v)",
        "y[:] = 0.5 * y + x",
    ]
    lines = rng.sample(statements, rng.randint(1, 4))
    draft.lines += [
        "@ssr.program(x=C, y=C, v=C)",
        "def p(x, y, v):",
        *(f"    {s}" for s in lines),
    ]
    return draft


def blocks(rng: Random) -> Draft:
    """Draw matrices between vector fields, and what is made of them."""
    draft = Draft(rng)
    ndim = rng.choice([1, 1, 2, 2])
    extents = declare_sizes(draft, ndim, 0.1)
    cells = declare_cells(draft, extents)
    index, count = ", ".join(cells.axes), rng.choice([2, 2, 3])
    draft.lines.append(f"V = C.vector({count})")

    def block(strong: bool = False) -> str:
        rows = [[rng.choice([*WEIGHTS, "0.0"]) for _ in range(count)] for _ in range(count)]
        for n in range(count if strong else 0):
            rows[n][n] = "9.0"
        return f"[{', '.join(f'[{chr(44).join(r)}]' for r in rows)}]"

    for name in "XY"[: rng.randint(1, 2)]:
        draft.lines += ["@ssr.matrix(rows=V, cols=V)", f"def {name}({index}):"]
        draft.lines.append(f"    yield ({index},), {block(True)}")
        for _ in range(rng.randint(1, 3)):
            where = column(draft, cells, cells, rng.choice(["same", "same", "back", "sheared"]))
            residue = draft.residues > 0 and draft.chance(0.2)
            draft.residues -= int(residue)
            more = f" and ({guard(draft, cells, residue)})" if draft.chance(0.4) else ""
            draft.lines += [
                f"    if ({where},) in C{more}:",
                f"        yield ({where},), {block()}",
            ]
    declare_matrix(draft, "M", cells, cells, most=2, bent="same", diagonal="2.0")
    lines = [line for line in draft.lines if line.startswith("def Y")]
    y = "Y" if lines else "X"
    draft.lines.append(
        f"Z = ssr.kron(np.array({[[n - m + 0.5 for m in range(count)] for n in range(count)]}), M)"
    )
    statements = [
        "U[:] = X @ U", f"W[:] = {y} @ U - W", f"W[:] = {y}.T @ U", f"U[:] = (X @ {y}) @ W",
        f"U[:] = (X + {y}) @ U", "W[:] = Z @ U + W", "W[:] = 0.5 * (Z @ W)",
        f"U[:] = X @ ({y} @ U) + W", "x[:] = M @ U[0] + x", "U[1] = M @ x - U[0]",
        "W[:] = (X - Z) @ U", "W[:] = X @ U * 0.25",
    ]  # fmt: skip
    draft.lines += [
        "@ssr.program(U=V, W=V, x=C)",
        "def p(U, W, x):",
        *(f"    {s}" for s in rng.sample(statements, rng.randint(1, 4))),
    ]
    return draft
