"""Random programs on ranks: the matrices, and programs that change the same fields in turns."""

from __future__ import annotations

import ast
from random import Random

from .fills import rules
from .others import DILU, IC, ILU
from .statements import Body
from .text import (
    WEIGHTS,
    Draft,
    Space,
    declare_cells,
    declare_lines,
    declare_matrix,
    declare_other,
    declare_sizes,
)

EVERYWHERE = ("bc.zero()", "bc.symmetric()", "bc.dirichlet(0.5)", "bc.ghost_value(-0.5)")
"""Rules of all sides, which define corners."""
FACTORS = {
    ILU: "M.triu().solve((M.tril(-1) + ssr.identity(C)).solve({}))",
    DILU: "M.solve({})",
    IC: "M.T.solve(M.solve({}))",
}
"""Solutions with the factors M."""


def star(ndim: int) -> list[tuple[int, ...]]:
    """Return the nearest neighbours."""
    return [tuple(s * (a == b) for b in range(ndim)) for a in range(ndim) for s in (-1, 1)]


def offsets(draft: Draft, ndim: int) -> list[tuple[int, ...]]:
    """Draw the neighbours of a row: a star, a box, or some with far and skewed ones."""
    rng = draft.rng
    kind = rng.choice(["star", "star", "box", "some", "some", "skewed", "far", "symmetric"])
    found = star(ndim)
    reach = 2 if kind == "far" else rng.choice([1, 1, 2])
    count = rng.randint(1, 4 if ndim < 3 else 2)
    some = [tuple(rng.randint(-reach, reach) for _ in range(ndim)) for _ in range(count)]
    if kind == "box":
        some = [tuple(rng.randint(-1, 1) for _ in range(ndim)) for _ in range(8 if ndim < 3 else 4)]
    elif kind == "skewed":
        some.append((*(0,) * (ndim - 2), -1, 1) if ndim > 1 else (-1,))
    elif kind == "symmetric":
        found, some = [], some + [tuple(-x for x in o) for o in some]
    elif kind == "some":
        found = []
    elif kind == "star":
        some = []
    return sorted({o for o in [*found, *some] if any(o)})


def declare_weights(draft: Draft, name: str, rows: str, cols: str, diagonal: float) -> None:
    """Declare a stencil on neighbours."""
    ndim = len(draft.spaces[0].axes)
    weights = {(0,) * ndim: diagonal}
    for offset in offsets(draft, ndim):
        weights[offset] = float(draft.rng.choice(WEIGHTS)) / 2
    shown = {o[0]: w for o, w in weights.items()} if ndim == 1 else weights
    outside = "zero" if cols == "C" else "error"
    draft.lines.append(f"{name} = ssr.stencil({rows}, {cols}, {shown}, outside={outside!r})")


def declare_guarded(draft: Draft, name: str) -> None:
    """Declare a matrix with a strong diagonal by a generator, whose rows differ."""
    cells = draft.spaces[0]
    declare_matrix(draft, name, cells, cells, most=4, bent="same", diagonal="9.0")


def declare_operators(draft: Draft, body: Body) -> None:
    """Declare the matrices of programs."""
    rng, ndim = draft.rng, len(draft.spaces[0].axes)
    for n in range(rng.choice([1, 1, 2])):
        if draft.chance(0.2) and ndim < 3 and not draft.local:
            declare_guarded(draft, f"A{n}")
        else:
            declare_weights(draft, f"A{n}", "C", "C", rng.choice([6.0, 9.0, -8.0]))
        body.sweeps.append(f"A{n}")
    body.products.append("A0")
    draft.lines.append("Y = C.grow(2)")
    for n in range(rng.choice([1, 1, 2])):
        each = [text for axis in range(ndim) for text in rules(draft, axis)]
        if draft.chance(0.5):
            each = [rng.choice(EVERYWHERE)]
        draft.lines.append(f"B{n} = bc.fill(Y, {', '.join(each)}, owned=C)")
        declare_weights(draft, f"L{n}", "C", "Y", -2.0)
        body.products.append(f"L{n} @ (B{n} @ {{}})")
        if draft.chance(0.4):
            draft.lines.append(f"H{n} = L{n} @ B{n}")
            body.products[-1] = f"H{n} @ {{}}"
    if draft.chance(0.2):
        declare_lines(draft, "Z", draft.spaces[0])
        body.lined = True
    if draft.chance(0.3):
        declare_blocks(draft)
        body.vectors = True
    for n, other in enumerate(body.others):
        declare_transfer(draft, n, other)
    if draft.chance(0.2):
        declare_factors(draft, body)


def declare_transfer(draft: Draft, n: int, other: Space) -> None:
    """Declare matrices P to another space and R back."""
    cells = draft.spaces[0]
    if other.name in "FN":
        for name, rows, cols in (f"P{n}", other, cells), (f"R{n}", cells, other):
            order = draft.rng.choice([2, 2, 4])
            spaces = f"{rows.name}, {cols.name}"
            draft.lines.append(f"{name} = ssr.average({spaces}, order={order}, outside='zero')")
        return
    there, back = ("half", "double") if other.name == "D" else ("same", "same")
    declare_matrix(draft, f"P{n}", other, cells, most=3, bent=there)
    declare_matrix(draft, f"R{n}", cells, other, most=3, bent=back)


def declare_blocks(draft: Draft) -> None:
    """Declare a matrix X of blocks of two."""
    rng, cells = draft.rng, draft.spaces[0]
    draft.lines += ["V = C.vector(2)", "@ssr.matrix(rows=V, cols=V)", f"def X({cells.index}):"]
    draft.lines.append(f"    yield ({cells.index},), [[8.0, 0.5], [{rng.choice(WEIGHTS)}, 9.0]]")
    for offset in offsets(draft, len(cells.axes)):
        where = ", ".join(f"{a} + {o}" for a, o in zip(cells.axes, offset, strict=True))
        block = [[float(rng.choice([*WEIGHTS, "0.0"])) / 4 for _ in "uv"] for _ in "uv"]
        draft.lines += [f"    if ({where},) in C:", f"        yield ({where},), {block}"]


def declare_factors(draft: Draft, body: Body) -> None:
    """Declare an incomplete factorization of the first matrix of sweeps."""
    cells = draft.spaces[0]
    text = draft.rng.choice([ILU, DILU, IC])
    own = ", ".join(cells.axes)
    made = text.format(index=own, own=own).replace("def W(", "def Q(")
    draft.lines += made.replace("A.", f"{body.near('A0')}.").splitlines()
    body.factors = FACTORS[text]


def pruned(lines: list[str]) -> list[str]:
    """Return the lines of a text without declarations that nothing uses."""
    tree = ast.parse("\n".join(lines))
    used = {"p", "q", "C"}
    kept: list[ast.stmt] = []
    for node in reversed(tree.body):
        if used & bound(node):
            used |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            kept.append(node)
    return ast.unparse(ast.Module(kept[::-1], [])).splitlines()


def bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a text binds."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def distributed(rng: Random) -> Draft:
    """Draw two programs on the same fields."""
    draft = Draft(rng)
    draft.residues = 0
    draft.local = draft.chance(0.12)
    ndim = rng.choice([1, 1, 2, 2, 2, 2, 2, 2, 3])
    extents = declare_sizes(draft, ndim, 0.0)
    cells = declare_cells(draft, extents)
    kinds = rng.sample(["faces", "nodes", "grown", "double"], rng.choice([0, 0, 1, 1, 2]))
    others = [made for kind in kinds if (made := declare_other(draft, extents, kind))]
    fields = ["x", "b", "k", "h"][: rng.choice([2, 2, 3, 3, 4])]
    body = Body(draft, cells, fields, others)
    declare_operators(draft, body)
    kinds = [f"{n}=C" for n in fields] + [f"{s.name.lower()}={s.name}" for s in others]
    kinds += ["U=V", "W=V"] if body.vectors else []
    names = [k.split("=")[0] for k in kinds]
    for name, count in ("p", rng.randint(2, 6)), ("q", rng.randint(1, 2)):
        draft.lines += [
            f"@ssr.program({', '.join(kinds)}, s=ssr.scalar)",
            f"def {name}({', '.join(names)}, s):",
            *(f"    {line}" for line in body.drawn(count)),
        ]
    draft.lines = pruned(draft.lines)
    return draft
