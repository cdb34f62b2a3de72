"""Random matrices, and matrices made of them."""

from __future__ import annotations

from random import Random

from .text import (
    Draft,
    Space,
    bind_data,
    declare_cells,
    declare_matrix,
    declare_other,
    declare_sizes,
)

Leaves = list[tuple[str, str, str]]


def matrices(rng: Random) -> Draft:
    """Draw matrices between spaces, one made of them, and a program that applies it."""
    draft = Draft(rng)
    ndim = rng.choice([1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4])
    draft.residues = 2 if draft.chance(0.1) else 1
    extents = declare_sizes(draft, ndim)
    cells = declare_cells(draft, extents)
    if draft.chance(0.5):
        kinds = ["faces", "nodes", "grown", "double", "other"]
        declare_other(draft, extents, rng.choice(kinds))
    count = rng.choice([1, 2, 2, 3])
    bent = rng.choice(["same", "half", "double", "back", "constant", "sheared", "turned"])
    data = "field" if draft.chance(0.25) else rng.choice(["", "", "coordinate"])
    most = {1: 4, 2: 4, 3: 3, 4: 2}[ndim]
    for n in range(count):
        rows, cols = rng.choice(draft.spaces), rng.choice(draft.spaces)
        if n == 0:
            rows = cols = cells
        own = data if n == 0 else ""
        entry = rng.choice(["", "2.0", "-1.5"]) if rows == cols else ""
        style = bent if draft.chance(0.6) else "same"
        declare_matrix(draft, "ABK"[n], rows, cols, most=most, data=own, bent=style, diagonal=entry)
        if own == "field" and draft.chance(0.3):
            bind_data(draft, "A", "C")
            data = ""
    return finish(draft, data == "field")


def finish(draft: Draft, data: bool) -> Draft:
    """Declare the matrix R, made of the others, and the program."""
    rng = draft.rng
    rows, cols = rng.choice(draft.spaces), rng.choice(draft.spaces)
    if not any(m[1:] == (rows.name, cols.name) for m in draft.matrices) or draft.chance(0.5):
        rows, cols = draft.spaces[0], draft.spaces[0]
    made = combined(draft, draft.matrices, rows, cols, rng.choice([0, 1, 1, 2]))
    body = []
    if data:
        made = made.replace("A", "A.bind(u=u)") if "A" in made else made
        body.append(f"    R = {made}")
    else:
        draft.lines.append(f"R = {made}")
    kinds = [f"x={cols.name}", f"y={rows.name}"] + ([f"u={draft.spaces[0].name}"] if data else [])
    names = [k[0] for k in kinds]
    body.append("    y[:] = R @ x")
    if rows == cols and draft.chance(0.5):
        kinds.append(f"b={rows.name}")
        names.append("b")
        part = rng.choice(["tril", "triu"])
        body.append(f"    b[:] = (0.1 * R + 2.0 * ssr.identity({rows.name})).{part}().solve(b)")
    draft.lines += [f"@ssr.program({', '.join(kinds)})", f"def p({', '.join(names)}):", *body]
    return draft


def combined(draft: Draft, leaves: Leaves, rows: Space, cols: Space, depth: int) -> str:
    """Return a matrix between two spaces as text."""
    rng = draft.rng
    fitting = [m for m, r, c in leaves if (r, c) == (rows.name, cols.name)]
    turned = [m for m, r, c in leaves if (c, r) == (rows.name, cols.name)]
    ways = ["leaf"] * bool(fitting) + ["turned"] * bool(turned)
    if depth:
        ways += ["@", "@", "+", "-", "*"]
        ways += ["part", "tril", "triu", "diagonal", "**"] if rows == cols else []
        ways += ["T"]
    if not ways:
        return "ssr.identity(C)" if rows == cols and rows.name == "C" else bridge(draft, rows, cols)

    def inner(a: Space, b: Space) -> str:
        return combined(draft, leaves, a, b, depth - 1)

    match rng.choice(ways):
        case "leaf":
            return rng.choice(fitting)
        case "turned":
            return f"{rng.choice(turned)}.T"
        case "@":
            middle = rng.choice(draft.spaces)
            return f"({inner(rows, middle)} @ {inner(middle, cols)})"
        case "+" | "-" as sign:
            return f"({inner(rows, cols)} {sign} {inner(rows, cols)})"
        case "*":
            return f"(-0.75 * {inner(rows, cols)})"
        case "T":
            return f"{inner(cols, rows)}.T"
        case "part" if len(draft.spaces) > 1:
            return f"{inner(rows, cols)}[{rows.name}, :]"
        case "tril":
            return f"{inner(rows, cols)}.tril({rng.choice([0, -1])})"
        case "triu":
            return f"{inner(rows, cols)}.triu({rng.choice([0, 1])})"
        case "diagonal":
            return f"{inner(rows, cols)}.diagonal()"
        case "**":
            return f"({inner(rows, cols)} ** {rng.choice([0, 2])})"
    return inner(rows, cols)


def bridge(draft: Draft, rows: Space, cols: Space) -> str:
    """Declare a matrix between two spaces that have none, and return its name."""
    name = f"Q{len(draft.matrices)}"
    declare_matrix(draft, name, rows, cols, most=2, bent="same")
    return name


def kron(rng: Random) -> Draft:
    """Draw a Kronecker product of matrices on lines or planes."""
    draft = Draft(rng)
    names = []
    for n, letter in enumerate("CH"):
        size = f"n{n}"
        draft.sizes.append(size)
        draft.lines += [f"{size}, = ssr.sizes({size!r})", f"{letter} = ssr.Space({size})"]
        draft.spaces.append(Space(letter, (0,), (size,)))
        bent = rng.choice(["same", "half", "double", "back", "constant"])
        declare_matrix(draft, f"A{n}", draft.spaces[n], draft.spaces[n], bent=bent)
        names.append(f"A{n}{rng.choice(['', '', '.T', '.tril()', '.triu(1)'])}")
    draft.lines += [
        f"R = ssr.kron({names[0]}, {names[1]})",
        "S = ssr.kron(ssr.identity(C), A1) - ssr.kron(A0, ssr.identity(H))",
        "P = ssr.Space(n0, n1)",
        "@ssr.program(x=P, y=P)",
        "def p(x, y):",
        f"    y[:] = {rng.choice(['R @ x', 'S @ x', 'R @ (S @ x)', '(S + R).T @ x'])}",
    ]
    return draft
