"""Random fills of ghosts on one block, in programs that read them."""

from __future__ import annotations

from random import Random

from .text import Draft, Space, bind_data, declare_cells, declare_sizes

VALUES = ("0.0", "0.5", "-1.25", "2.0")


def rules(draft: Draft, axis: int) -> list[str]:
    """Return the rules of both sides of an axis."""
    if draft.chance(0.3):
        return [f"bc.periodic({axis})"]
    return [rule(draft, axis, end) for end in ("low", "high")]


def rule(draft: Draft, axis: int, end: str) -> str:
    """Return the rule of one side."""
    rng, where = draft.rng, f"{axis}, '{end}'"
    return rng.choice(
        [
            f"bc.symmetric({where})",
            f"bc.symmetric({where}, sign=-1.0)",
            f"bc.zero({where})",
            f"bc.ghost_value({rng.choice(VALUES)}, {where})",
            f"bc.dirichlet({rng.choice(VALUES)}, {where})",
            f"bc.neumann({rng.choice(VALUES)}, {where}, spacing={rng.choice(['1.0', '0.5'])})",
            f"bc.symmetric({where}, about={rng.choice(['face', 'point'])!r})",
            f"bc.robin({rng.choice(['1.0', '2.0'])}, 0.5, {rng.choice(VALUES)}, {where})",
            f"bc.extrapolate({rng.choice([1, 2])}, {where})",
        ]
    )


def offsets(rng: Random, low: list[int], high: list[int]) -> dict[tuple[int, ...], float]:
    """Return a stencil that stays within the ghosts; rarely one of a line, or with corners."""
    found = {}
    ends = list(zip(low, high, strict=True))
    line = [rng.randint(-a, b) for a, b in ends[:-1]] if rng.random() < 0.25 else None
    for _ in range(rng.randint(1, 4)):
        offset = [rng.randint(-a, b) for a, b in ends]
        if line:
            offset[:-1] = line
        elif rng.random() < 0.8:
            kept = rng.randrange(len(offset))
            offset = [x if a == kept else 0 for a, x in enumerate(offset)]
        found[tuple(offset)] = rng.choice([1.0, -0.5, 0.25])
    return found


def declare_within(draft: Draft, ndim: int) -> None:
    """Declare a matrix K on the points of fields, of which entries may be data."""
    names = "kji"[-ndim:]
    where = draft.rng.choice(names)
    own, near = (", ".join(n + far * (n == where) for n in names) for far in ("", " - 1"))
    data = draft.chance(0.5)
    number = draft.rng.choice([f"u[{own}]", f"u[{near}]"]) if data else "0.25"
    draft.lines += [
        f"@ssr.matrix(rows=H, cols=H{', u=H' if data else ''})",
        f"def K({own}{', *, u' if data else ''}):",
        f"    yield ({own},), 0.5",
        f"    if ({near},) in H:",
        f"        yield ({near},), {number}",
    ]
    if data:
        bind_data(draft, "K", "H")


def fills(rng: Random) -> Draft:
    """Draw fills of one or two spaces and a program that reads what they make."""
    draft = Draft(rng)
    draft.local = draft.chance(0.15)
    ndim = rng.choice([1, 1, 2, 2, 2, 3])
    cells = declare_cells(draft, declare_sizes(draft, ndim, 0.1))
    own = rng.choice(["C", "C", "C", "C.faces(0)", "C.nodes()"])
    draft.lines.append(f"H = {own}")
    low = [rng.randint(0, 2) for _ in range(ndim)]
    high = [rng.randint(0, 2) for _ in range(ndim)]
    widths = ", ".join(map(str, zip(low, high, strict=True)))
    draft.lines.append(f"G = H.grow({widths})")
    draft.spaces.append(Space("H", cells.starts, cells.ends))
    for name in "BD":
        each = [text for axis in range(ndim) for text in rules(draft, axis)]
        draft.lines.append(f"{name} = bc.fill(G, {', '.join(each)}, owned=H)")
    between = [int(draft.chance(0.5)) for _ in range(ndim)]  # axes along which P fills, then Q
    widths = ", ".join(f"({a * w}, {b * w})" for a, b, w in zip(low, high, between, strict=True))
    first = [text for axis in range(ndim) if between[axis] for text in rules(draft, axis)]
    last = [text for axis in range(ndim) if not between[axis] for text in rules(draft, axis)]
    draft.lines += [
        f"M = H.grow({widths})",
        f"P = bc.fill(M, {', '.join([*first, 'owned=H'])})",
        f"Q = bc.fill(G, {', '.join([*last, 'owned=M'])})",
    ]
    draft.lines += [
        f"{name} = ssr.stencil(H, G, {offsets(rng, low, high)}, outside='error')" for name in "ST"
    ]
    statements = [
        "g[:] = B @ x", "y[:] = S @ (B @ x)", "y[:] = S @ (B @ x) + T @ (D @ y)", "g[H] = x - y",
        "x[:] = T @ (D @ (x * y))", "x[:] = S @ g", "g[:] = D @ g[H]", "y[:] = T @ (B @ y) - x",
        "x[:] = S @ (B @ (T @ (D @ x)))",
        "e = B @ x; y[:] = S @ e - T @ e; x[:] = T @ (e * e)",
        "e = B @ x; x[:] = 0.5 * y; y[:] = S @ e", "y[:] = S @ (Q @ (P @ x))",
        "x[:] = T @ (Q @ P @ y)", "y[:] = (S @ Q @ P) @ x - T @ (B @ y)",
        "x[:] = (S @ B @ T @ D) @ y", "g[:] = Q @ g[M]; g[M] = P @ y",
    ]  # fmt: skip
    if draft.local or draft.chance(0.15):
        declare_within(draft, ndim)
        K = "K.rank_local()" if draft.local else "K"
        statements = [
            *(f"{text} + {K} @ x" for text in statements if text.startswith("y[:]")),
            f"x[:] = {K} @ y", f"y[:] = S @ (B @ ({K} @ x))", f"x[:] = (K - {K}) @ x + T @ g",
            f"e = {K} @ x; x[:] = y; y[:] = S @ (B @ e) - e", f"x[:] = {K} @ x + S @ (D @ y)",
            *statements,
        ]  # fmt: skip
    body = [s for text in rng.choices(statements, k=rng.randint(1, 4)) for s in text.split("; ")]
    draft.lines += [
        "@ssr.program(x=H, y=H, g=G)",
        "def p(x, y, g):",
        *(f"    {line}" for line in body),
    ]
    return draft
