"""Random fills and synchronizations on linked blocks, in programs that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import Any

import boundary as bc
from boundary import topologies

from .fills import VALUES, offsets
from .text import Draft

HELPERS = (
    topologies.bricks(2),
    topologies.bricks(3, periodic=[0]),
    topologies.periodic_box(1),
    topologies.bricks(2, 2),
    topologies.o_grid(2),
    topologies.bricks(1, 3, periodic=[1]),
    topologies.periodic_box(2),
    topologies.glued(),
    topologies.glued(twist=True),
    topologies.moebius(),
    topologies.two_by_two(),
    topologies.two_by_two(periodic=True),
    bc.cubed_sphere(),
    topologies.from_corners(["abcd", "bedf"]),
    topologies.periodic_box(3),
    topologies.channel(3, 1),
    topologies.bricks(2, 1, 2),
    topologies.glued(twist=True).layered(1),
    topologies.from_corners(["mabc", "mbde", "mdaf"]).layered(),
)


MANY = 150
"""Points with ghosts, at most, for which rows are drawn one by one."""


@dataclass(frozen=True)
class Grid:
    """What is drawn of a grid: its links, and the text of the extents of each block.

    ``lengths`` are the extents if they are integers, else empty; ``kinds`` are the blocks of each.
    """

    links: bc.Connectivity
    extents: tuple[tuple[str, ...], ...]
    kinds: tuple[tuple[int, ...], ...]

    @property
    def ndim(self) -> int:
        return self.links.dims

    @property
    def literal(self) -> bool:
        return all(text.isdigit() for extents in self.extents for text in extents)

    def free(self) -> list[tuple[int, int, str]]:
        """Return the sides without a link."""
        return [(s.block, s.axis, s.end) for s in self.links.unlinked()]


def random_links(rng: Random) -> bc.Connectivity:
    """Return sides of a few blocks linked at random, turned and reversed."""
    ndim = rng.choice([1, 2, 2, 2, 3])
    count = rng.randint(1, 3)
    sides = list(bc.Connectivity(ndim, count, []).sides())
    rng.shuffle(sides)
    links = []
    while len(sides) > 1 and rng.random() < 0.75:
        here, there = sides.pop(), sides.pop()
        along = [a for a in range(ndim) if a != there.axis]
        axes = rng.choice(list(permutations(along)))
        links.append(bc.Link(here, there, axes, tuple(rng.random() < 0.4 for _ in along)))
    if sides and ndim > 1 and rng.random() < 0.15:  # a side folded onto itself
        here = sides.pop()
        along = [a for a in range(ndim) if a != here.axis]
        links.append(bc.Link(here, here, tuple(along), (True,) * len(along)))
    return bc.Connectivity(ndim, count, links)


def link_text(rng: Random, link: bc.Link) -> str:
    """Return a link as a user writes it."""
    here, there = (f"bc.Side({s.block}, {s.axis}, {s.end!r})" for s in (link.here, link.there))
    rising = link.axes == tuple(sorted(link.axes))
    if rising and len(set(link.flips)) <= 1 and rng.random() < 0.7:
        more = ", reverse=True" if any(link.flips) else ""
        return f"bc.join({link.ndim}, {here}, {there}{more})"
    return f"bc.Link({here}, {there}, {link.axes}, {link.flips})"


def classes(links: bc.Connectivity, alike: bool) -> list[list[int]]:
    """Return for each axis of each block the number of its length: those that meet have one."""
    found = [[b * links.dims + a for a in range(links.dims)] for b in range(links.count)]

    def meet(one: int, other: int) -> None:
        for row in found:
            row[:] = [one if n == other else n for n in row]

    for b in range(links.count if alike else 0):
        for a in range(links.dims):
            meet(found[0][a], found[b][a])
    for link in links.links:
        along = [a for a in range(links.dims) if a != link.here.axis]
        for a, c in zip(along, link.axes, strict=True):
            meet(found[link.here.block][a], found[link.there.block][c])
    return found


def declare_grid(draft: Draft, literal: float) -> Grid:
    """Declare a grid ``T`` of linked blocks; its extents are integers in a part of all cases."""
    rng = draft.rng
    links = rng.choice(HELPERS) if draft.chance(0.4) else random_links(rng)
    rows = classes(links, draft.chance(0.5))
    numbers = sorted({n for row in rows for n in row})
    most = {1: 6, 2: 5, 3: 3}[links.dims]
    draft.largest = {1: 7, 2: 4, 3: 3}[links.dims] if links.count < 5 else 4
    integers = draft.chance(literal) or len(numbers) > 4
    names = {}
    for place, n in enumerate(numbers):
        if integers or draft.chance(0.1):
            names[n] = str(rng.choice([1, 2, 3, rng.randint(1, most), rng.randint(1, most)]))
        else:
            names[n] = f"n{place}"
            draft.sizes.append(f"n{place}")
    if draft.sizes:
        draft.lines.append(f"{', '.join(draft.sizes)}, = ssr.sizes({' '.join(draft.sizes)!r})")
    extents = tuple(tuple(names[n] for n in row) for row in rows)
    shapes = ", ".join(f"({', '.join(e)},)" for e in extents)
    pairs = ", ".join(link_text(rng, link) for link in links.pairs())
    draft.lines.append(f"T = bc.Grid([{shapes}], links=[{pairs}])")
    kinds: dict[tuple[str, ...], list[int]] = {}
    for block, shape in enumerate(extents):
        kinds.setdefault(shape, []).append(block)
    return Grid(links, extents, tuple(map(tuple, kinds.values())))


def tabled(draft: Draft, grid: Grid, on: Sequence[int], layers: int, count: int) -> str:
    """Return the rule of linked sides: copies, perhaps interpolated or rotated along them."""
    rng, ndim = draft.rng, grid.ndim
    levels = rng.randrange(3) if ndim == 3 else None
    sides = [link.here for link in grid.links.links if link.here.axis != levels]
    if ndim == 1 or not grid.literal or not sides or draft.chance(0.4):
        return "bc.linked()"
    along = {
        int(grid.extents[s.block][a]) + on[a]
        for s in sides
        for a in range(ndim)
        if a not in (s.axis, levels)
    }
    if len(along) != 1:
        return "bc.linked()"
    (n,) = along
    points, seed = rng.randint(1, min(n, 3)), rng.randint(0, 99)
    more = "" if levels is None else f", levels={levels}"
    numbers = f"np.random.default_rng({seed})"
    made = "bc.linked()"
    if draft.chance(0.7) or count == 1:
        first = f"{numbers}.integers(0, {n - points + 1}, ({layers}, {n}))"
        weights = f"{numbers}.uniform(-1, 1, ({layers}, {n}, {points}))"
        made = f"bc.interpolate({first}, {weights}{more}) @ {made}"
    if count > 1 and (made == "bc.linked()" or draft.chance(0.6)):
        shape = f"({grid.links.count}, 4, {count}, {count}, {layers}, {n})"
        made = f"bc.transform_vector({numbers}.uniform(-1, 1, {shape}){more}) @ {made}"
    return made


def value(draft: Draft, grid: Grid, side: tuple[int, int, str], on: Sequence[int], n: int) -> str:
    """Return what is given on a side of one block."""
    rng, (block, axis, _) = draft.rng, side
    along = [a for a in range(grid.ndim) if a != axis]
    what = rng.choice(["number"] * 4 + ["parameter", "function", "array", "each"])
    if what == "parameter":
        return "bc.parameter('s')"
    if what == "function":
        names = [f"c{a}" for a in range(grid.ndim)]
        return f"lambda {', '.join(names)}: 0.5 + {' - '.join(f'0.25 * {c}' for c in names)}"
    if what == "array" and along and all(grid.extents[block][a].isdigit() for a in along):
        shape = tuple(int(grid.extents[block][a]) + on[a] for a in along)
        return f"np.random.default_rng({rng.randint(0, 99)}).uniform(-1, 1, {shape})"
    if what == "each" and n > 1:
        return f"({', '.join(rng.choice(VALUES) for _ in range(n))})"
    return rng.choice(VALUES)


def side_rule(
    draft: Draft,
    grid: Grid,
    side: tuple[int, int, str],
    on: Sequence[int],
    count: int,
    all_blocks: bool,
) -> str:
    """Return a rule for a side of one block, or for such sides of all blocks."""
    rng, (block, axis, end) = draft.rng, side
    where = f"{axis}, '{end}'" + ("" if all_blocks else f", block={block}")
    known = rng.choice(VALUES) if all_blocks else value(draft, grid, side, on, count)
    spacing = rng.choice(["1.0", "0.5"])
    signs = [rng.choice([1.0, -1.0]) for _ in range(count)]
    return rng.choice(
        [
            f"bc.symmetric({where})",
            f"bc.symmetric({where}, sign=-1.0)",
            f"bc.symmetric({where}, about={rng.choice(['face', 'point'])!r})",
            f"bc.zero({where})",
            f"bc.ghost_value({known}, {where})",
            f"bc.dirichlet({known}, {where})",
            f"bc.neumann({known}, {where}, spacing={spacing})",
            f"bc.robin({rng.choice(['1.0', '2.0'])}, {spacing}, {known}, {where}, spacing=0.5)",
            f"bc.extrapolate({rng.choice([1, 1, 2, 3])}, {where})",
            *([f"bc.symmetric({where}, sign={signs})"] if count > 1 else []),
        ]
    )


def rules(draft: Draft, grid: Grid, on: Sequence[int], layers: int, count: int) -> list[str]:
    """Return the rules of a fill: for links, and for most of the sides that are free."""
    found = [tabled(draft, grid, on, layers, count)] if grid.links.links else []
    if "levels" in (found or [""])[0] and draft.chance(0.5):
        axis = int(found[0].partition("levels=")[2][0])
        if any(link.here.axis == axis for link in grid.links.links):
            found.append(f"bc.linked({axis})")
    free = grid.free()
    if draft.chance(0.5):
        ends = sorted({(axis, end) for _, axis, end in free})
        each = [((0, axis, end), True) for axis, end in ends]
    else:
        each = [(side, False) for side in free]
    for side, all_blocks in each:
        if draft.chance(0.95):
            found.append(side_rule(draft, grid, side, on, count, all_blocks))
    if draft.chance(0.04):
        side = (0, draft.rng.randrange(grid.ndim), draft.rng.choice(["low", "high"]))
        found.append(side_rule(draft, grid, side, on, count, False))
    draft.rng.shuffle(found)
    return found


def sparse_rule(draft: Draft, grid: Grid, on: Sequence[int], widths: Any) -> list[str]:
    """Return a rule of random rows for the ghosts beyond the free sides, if these are not many."""
    shapes = [[int(e) + s for e, s in zip(row, on, strict=True)] for row in grid.extents]
    owned = whole = 0
    for block, shape in enumerate(shapes):
        kind = next(k for k, blocks in enumerate(grid.kinds) if block in blocks)
        one = other = 1
        for n, (low, high) in zip(shape, widths[kind], strict=True):
            one, other = one * n, other * (n + low + high)
        owned, whole = owned + one, whole + other
    numbers = f"np.random.default_rng({draft.rng.randint(0, 99)})"
    matrix = f"{numbers}.choice([0.0, 0.0, 0.0, 0.0, 1.0, -0.5], ({whole}, {owned}))"
    rule = f"bc.from_matrix(sparse.csr_array({matrix}), {numbers}.uniform(-1, 1, {whole}))"
    return [rule] if whole <= MANY else []


def linked(rng: Random) -> Draft:
    """Draw fills of all blocks of a grid and a program that reads what they make."""
    draft = Draft(rng)
    grid = declare_grid(draft, 0.4)
    kinds, ndim = range(len(grid.kinds)), grid.ndim
    place = rng.choice(["", "", "", ".nodes()", f".faces({rng.randrange(ndim)})"])
    on = [int(place == ".nodes()" or place == f".faces({a})") for a in range(ndim)]
    most = 2 if ndim > 2 else 3
    common = [(rng.randint(0, most), rng.randint(0, most)) for _ in range(ndim)]
    widths = [
        common
        if draft.chance(0.6)
        else [(rng.randint(0, most), rng.randint(0, most)) for _ in common]
        for _ in kinds
    ]
    layers = max(w for each in widths for pair in each for w in pair) or 1
    count = rng.choice([1, 1, 1, 2, 2, 3])
    vector = f".vector({count})" if count > 1 else ""
    for k in kinds:
        draft.lines += [
            f"H{k} = T.kinds[{k}]{place}",
            f"G{k} = H{k}.grow({', '.join(map(str, widths[k]))})",
        ]
    many = len(grid.kinds) > 1 or draft.chance(0.2)
    wide = ", ".join(f"G{k}{vector}" for k in kinds)
    owned = ", ".join(f"H{k}" for k in kinds)
    if many:
        wide, owned = f"({wide},)", f"({owned},)"
    for name in "BD":
        each = rules(draft, grid, on, layers, count)
        if grid.literal and grid.free() and draft.chance(0.15):
            kept = [text for text in each if "bc.linked" in text]
            each = [*kept, *sparse_rule(draft, grid, on, widths)]
        draft.lines.append(
            f"{name} = bc.fill({wide}, {', '.join(each)}{', ' if each else ''}owned={owned})"
        )
    for k in kinds:
        low, high = ([pair[n] for pair in widths[k]] for n in (0, 1))
        for name in "ST":
            taps = {(0, *o): w for o, w in offsets(rng, low, high).items()}
            draft.lines.append(f"{name}{k} = ssr.stencil(H{k}, G{k}, {taps}, outside='error')")
    parameters = "s" if "parameter" in draft.text() else ""
    draft.lines += [
        "def V(S, a):",
        f"    return {'ssr.vector(*[S @ c for c in a])' if count > 1 else 'S @ a'}",
    ]
    bound = {
        name: f"{name}.bind(s=s)" if parameters and _asks(draft, name) else name for name in "BD"
    }
    body = [
        line
        for _ in range(rng.randint(1, 4))
        for line in statement(draft, list(kinds), many, bound)
    ]
    if count == 1 and draft.chance(0.2):
        body.append("return ssr.sum(x0), ssr.max(abs(y0))")
    names = [f"{n}{k}" for k in kinds for n in "xyg"]
    types = [f"{'G' if n[0] == 'g' else 'H'}{n[1:]}{vector}" for n in names]
    declared = [f"{n}={t}" for n, t in zip(names, types, strict=True)]
    draft.lines += [
        f"@ssr.program({', '.join(declared)}, s=ssr.scalar)",
        f"def p({', '.join(names)}, s):",
        *(f"    {line}" for line in body),
    ]
    return draft


def _asks(draft: Draft, name: str) -> bool:
    return any(line.startswith(f"{name} = ") and "parameter" in line for line in draft.lines)


def statement(draft: Draft, kinds: list[int], many: bool, bound: dict[str, str]) -> list[str]:
    """Return statements that fill all fields and read parts of their ghosts."""
    rng = draft.rng
    fill, other = bound[rng.choice("BD")], bound[rng.choice("BD")]

    def applied(to: str, by: str, of: str) -> str:
        """Return the assignment of names, such as ``a0, a1``, to what a fill makes of others."""
        left = ", ".join(to.format(k) for k in kinds)
        right = ", ".join(of.format(k) for k in kinds)
        return f"{left}, = {by} @ ({right},)" if many else f"{left} = {by} @ ({right})"

    def each(text: str) -> list[str]:
        return [text.format(k) for k in kinds]

    first = applied("a{0}", fill, "x{0}")
    return rng.choice(
        [
            [first, *each("y{0}[:] = V(S{0}, a{0})")],
            [first, *each("g{0}[:] = a{0}")],
            [applied("a{0}", fill, "x{0} * y{0}"), *each("x{0}[:] = V(T{0}, a{0}) - x{0}")],
            [*each("g{0}[H{0}] = x{0} - y{0}"), *each("x{0}[:] = V(S{0}, g{0})")],
            [applied("a{0}", fill, "g{0}[H{0}]"), *each("g{0}[:] = a{0}")],
            [first, applied("b{0}", other, "V(S{0}, a{0})"), *each("x{0}[:] = V(T{0}, b{0})")],
            [first, *each("x{0}[:] = y{0}"), *each("y{0}[:] = V(S{0}, a{0}) - V(T{0}, a{0})")],
            [first, applied("b{0}", other, "y{0}"), *each("y{0}[:] = V(S{0}, a{0} * b{0})")],
            [applied("a{0}", fill, "y{0}"), *each("y{0}[:] = V(S{0}, a{0} * a{0}) - x{0}")],
        ]
    )  # fmt: skip


def shared(rng: Random) -> Draft:
    """Draw a synchronization of nodes or fluxes, in a program with other steps."""
    draft = Draft(rng)
    grid = declare_grid(draft, 0.2)
    kinds, ndim = range(len(grid.kinds)), grid.ndim
    nodes = ndim == 1 or draft.chance(0.6)
    count = rng.choice([1, 1, 2]) if nodes else 1
    vector = f".vector({count})" if count > 1 else ""
    fields = [f"T.kinds[{k}].nodes()" for k in kinds]
    if not nodes:
        fields = [f"T.kinds[{k}].faces({a})" for k in kinds for a in range(ndim)]
    names = [f"x{n}" for n in range(len(fields))]
    draft.lines += [f"F{n} = {text}{vector}" for n, text in enumerate(fields)]
    numbers = [rng.choice([1.0, 2.0, 0.5]) for _ in range(grid.links.count)]
    how = rng.choice(["", "", ", how='owner'", f", weights={numbers}"])
    draft.lines.append(f"M = bc.synchronize({', '.join(f'F{n}' for n in range(len(fields)))}{how})")
    left = ", ".join(f"a{n}" for n in range(len(fields)))
    many = len(fields) > 1

    def applied(right: str) -> str:
        given = ", ".join(right.format(n) for n in range(len(fields)))
        return f"{left}, = M @ ({given},)" if many else f"{left} = M @ ({given})"

    def each(text: str) -> list[str]:
        return [text.format(n) for n in range(len(fields))]

    body = [
        line
        for lines in rng.choices(
            [
                [applied("x{0}"), *each("x{0}[:] = a{0}")],
                [applied("x{0}"), *each("y{0}[:] = a{0} - x{0}")],
                [applied("x{0} * y{0}"), *each("x{0}[:] = 0.5 * a{0}")],
                [applied("y{0}"), *each("x{0}[:] = x{0} + a{0}"), *each("y{0}[:] = a{0} * x{0}")],
                each("x{0}[:] = y{0} - 0.5 * x{0}"),
            ],
            k=rng.randint(1, 3),
        )
        for line in lines
    ]
    others = [n.replace("x", "y") for n in names]
    types = [f"{n}=F{n[1:]}" for n in (*names, *others)]
    draft.lines += [
        f"@ssr.program({', '.join(types)})",
        f"def p({', '.join((*names, *others))}):",
        *(f"    {line}" for line in body),
    ]
    return draft
