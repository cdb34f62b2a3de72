"""Pieces of the text of a program, drawn at random: spaces, guards, columns, matrices."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from random import Random

AXES = {1: ("i",), 2: ("j", "i"), 3: ("k", "j", "i"), 4: ("l", "k", "j", "i")}
WEIGHTS = ("1.0", "-0.5", "0.25", "0.1", "-1.0", "2.0", "0.5", "-0.125")


@dataclass(frozen=True)
class Space:
    """A space by its name in the text; ``ends`` are the first index behind it on each axis."""

    name: str
    starts: tuple[int, ...]
    ends: tuple[str, ...]

    @property
    def axes(self) -> tuple[str, ...]:
        return AXES[len(self.ends)]

    @property
    def index(self) -> str:
        return ", ".join(self.axes)


@dataclass
class Draft:
    """The lines of a program so far, and what they declare."""

    rng: Random
    sizes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    spaces: list[Space] = field(default_factory=list)
    matrices: list[tuple[str, str, str]] = field(default_factory=list)
    residues: int = 1
    largest: int = 0
    local: bool = False
    captured: int = 0

    def chance(self, part: float) -> bool:
        """Return True in a part of all cases."""
        return self.rng.random() < part

    def space(self, name: str) -> Space:
        """Return a space by its name."""
        return next(s for s in self.spaces if s.name == name)

    def text(self) -> str:
        """Return the text."""
        return "\n".join(self.lines) + "\n"


def declare_sizes(draft: Draft, ndim: int, literal: float = 0.15) -> tuple[str, ...]:
    """Declare the sizes of a grid, some of them integers; return the extents as text."""
    rng, extents = draft.rng, []
    for axis in range(ndim):
        if draft.chance(literal):
            extents.append(str(rng.randint(1, 5)))
        else:
            extents.append(f"n{axis}")
            draft.sizes.append(f"n{axis}")
    if draft.sizes:
        names = " ".join(draft.sizes)
        draft.lines.append(f"{', '.join(draft.sizes)}, = ssr.sizes({names!r})")
    return tuple(extents)


def declare_cells(draft: Draft, extents: tuple[str, ...]) -> Space:
    """Declare the space of cells."""
    draft.lines.append(f"C = ssr.Space({', '.join(extents)})")
    made = Space("C", (0,) * len(extents), extents)
    draft.spaces.append(made)
    return made


def declare_other(draft: Draft, extents: tuple[str, ...], kind: str) -> Space | None:
    """Declare a space beside the cells: faces, nodes, a grown, doubled or other one."""
    rng, ndim = draft.rng, len(extents)
    zero = (0,) * ndim
    name = {"faces": "F", "nodes": "N", "grown": "G", "double": "D", "other": "H"}[kind]
    if any(s.name == name for s in draft.spaces):
        return None
    if kind == "faces":
        axis = rng.randrange(ndim)
        value = f"C.faces({axis})"
        starts, ends = zero, tuple(f"{e} + {int(a == axis)}" for a, e in enumerate(extents))
    elif kind == "nodes":
        value, starts, ends = "C.nodes()", zero, tuple(f"{e} + 1" for e in extents)
    elif kind == "grown":
        widths = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in extents]
        value = f"C.grow({', '.join(map(str, widths))})"
        starts = tuple(-a for a, _ in widths)
        ends = tuple(f"{e} + {b}" for e, (_, b) in zip(extents, widths, strict=True))
    elif kind == "double":
        ends = tuple(f"2*{e}" if draft.chance(0.7) else e for e in extents)
        value, starts = f"ssr.Space({', '.join(ends)})", zero
    else:
        ends = tuple(rng.sample(extents, ndim))
        value, starts = f"ssr.Space({', '.join(ends)})", zero
    draft.lines.append(f"{name} = {value}")
    made = Space(name, starts, ends)
    draft.spaces.append(made)
    return made


def guard(draft: Draft, space: Space, residue: bool, depth: int = 1) -> str:
    """Return a condition on the indices of a row."""
    rng = draft.rng
    if depth and draft.chance(0.2):
        left, right = (guard(draft, space, residue and n == 0, 0) for n in range(2))
        form = rng.choice(["({}) and ({})", "({}) or ({})", "not ({} and {})"])
        return form.format(left, right)
    a, b = rng.choice(space.axes), rng.choice(space.axes)
    end, far = rng.choice(space.ends), space.ends[space.axes.index(a)]
    c = rng.randint(0, 2)
    if residue:
        return rng.choice(
            [
                f"({a} + {b}) % 2 == {c % 2}" if a != b else f"{a} % 2 == {c % 2}",
                f"{a} % 3 != {c}",
                f"({' + '.join(space.axes)}) % 2 != 0",
                f"{a} // 2 >= {c}",
                f"({a} + 1) // 2 < {end}",
            ]
        )
    return rng.choice(
        [
            f"{a} >= {c}",
            f"{a} < {far} - {c}",
            f"{a} == {c}",
            f"{a} != {c}",
            f"{a} == {far} - 1",
            f"{c} <= {a} < {far} - 1",
            f"{a} < {end}",
            *(
                [
                    f"{a} == {b} + {c}",
                    f"{a} >= {b}",
                    f"{a} + 2*{b} <= {end} - 1",
                    f"{a} + 3 >= {end} - {b}",
                    f"{a} <= 2*{b} + {c}",
                    f"{a} != {b}",
                ]
                if a != b
                else []
            ),
        ]
    )


def column(draft: Draft, rows: Space, cols: Space, bent: str) -> str:
    """Return a column as text; ``bent`` is the one way in which it is not a shift."""
    rng, parts = draft.rng, []
    if len(rows.axes) != len(cols.axes):
        parts = [rng.choice([*rows.axes, "0", "1"]) for _ in cols.axes]
        return ", ".join(parts)
    order = list(rows.axes)
    if bent == "turned":
        rng.shuffle(order)
    for axis, end in zip(order, cols.ends, strict=True):
        shift = rng.choice([-2, -1, -1, 0, 0, 0, 1, 1, 2])
        how = bent if draft.chance(0.5) else "same"
        first = {
            "half": rng.choice([f"{axis} // 2", f"({axis} + 1) // 2"]),
            "double": f"2*{axis}",
            "back": f"{end} - 1 - {axis}",
            "constant": str(rng.randint(0, 1)),
            "sheared": f"{axis} {rng.choice('+-')} {rng.choice(rows.axes)}",
        }.get(how, axis)
        parts.append(first + (f" {'+' if shift > 0 else '-'} {abs(shift)}" if shift else ""))
    return ", ".join(parts)


BENT = ("same", "same", "same", "half", "double", "back", "constant", "sheared", "turned")


def value(draft: Draft, rows: Space, data: str, column: str = "") -> str:
    """Return the value of an entry; data are read at the row, or at a column that is given."""
    rng = draft.rng
    number = rng.choice(WEIGHTS)
    here = rows.index
    if data in ("field", "vector"):
        u, v = (f"u[{rng.choice([here, column or here])}]" for _ in "uv")
        if data == "vector":
            u, v = (f"u[{rng.randint(0, 1)}, {place[2:]}" for place in (u, v))
        return rng.choice(
            [
                u,
                f"{number} * {u}",
                f"ssr.where({u} > 0.25, {number}, 0.5)",
                f"ssr.minimum({u}, {number})",
                f"1.0 / (2.0 + {u})",
                f"0.5 * ({u} + {v})",
            ]
        )
    if data == "coordinate":
        one, other = rng.choice(rows.axes), rng.choice(rows.axes)
        return rng.choice(
            [
                f"0.125 * ({one} + 2)",
                f"0.125 * ({one} * {other} - 1.0)",
                f"0.5 - 0.25 * ({one} == {other if one != other else '1'})",
                f"{number} * ({one} > 0) + {other}",
            ]
        )
    return number


def declare_matrix(
    draft: Draft,
    name: str,
    rows: Space,
    cols: Space,
    *,
    most: int = 3,
    data: str = "",
    bent: str = "",
    diagonal: str = "",
) -> None:
    """Declare a matrix by a generator.

    Parameters
    ----------
    data
        ``field`` for one with a field ``u`` on its rows, ``vector`` for one with two numbers at
        each of them.
    bent
        The kind of columns beside shifts.
    diagonal
        The first entry of each row, if any.
    """
    rng = draft.rng
    bent = bent or rng.choice(BENT)
    more = {"field": f", u={rows.name}", "vector": f", u={rows.name}.vector(2)"}.get(data, "")
    lines = [f"@ssr.matrix(rows={rows.name}, cols={cols.name}{more})"]
    lines.append(f"def {name}({rows.index}{', *, u' if more else ''}):")
    if diagonal:
        lines.append(f"    yield ({rows.index},), {diagonal}")
    if draft.chance(0.15):
        lines += [f"    if {guard(draft, rows, False, 0)}:", "        return"]
    for _ in range(rng.randint(1, most)):
        residue = draft.residues > 0 and draft.chance(0.3)
        draft.residues -= int(residue)
        where = column(draft, rows, cols, bent)
        test = f"({where},) in {cols.name}"
        if draft.chance(0.5) or residue:
            test += f" and ({guard(draft, rows, residue)})"
        entry = value(draft, rows, data, where if rows == cols else "")
        lines += [f"    if {test}:", f"        yield ({where},), {entry}"]
    if len(lines) == 2:
        lines.append("    yield from ()")
    draft.lines += lines
    draft.matrices.append((name, rows.name, cols.name))


def bind_data(draft: Draft, name: str, rows: str, cells: str = "C") -> None:
    """Bind the data of a matrix to numbers of a run: an array, or a field where ranks share it."""
    draft.lines.append(f"{name} = {name}.bind(u=data({cells}, {rows}, {draft.captured}))")
    draft.captured += 1


def within(draft: Draft, matrix: str) -> str:
    """Return a square matrix, or, in a part of all cases, its entries within boxes or beyond."""
    if not draft.local or draft.chance(0.5):
        return matrix
    return draft.rng.choice([f"{matrix}.rank_local()", f"({matrix} - {matrix}.rank_local())"])


def declare_stencil(draft: Draft, name: str, space: Space, *, diagonal: float, most: int) -> None:
    """Declare a stencil whose entries outside are dropped; without a diagonal perhaps a line's.

    A few have all neighbours, also those at corners, of one weight or of some weights.
    """
    rng, ndim = draft.rng, len(space.axes)
    weights = {(0,) * ndim: diagonal} if diagonal else {}
    reach = rng.choice([1, 1, 2])
    dense = rng.choice(WEIGHTS)
    line = tuple(rng.randint(-reach, reach) for _ in range(ndim - 1))
    on_line = not diagonal and draft.chance(0.4)
    for _ in range(rng.randint(1, most)):
        offset = tuple(rng.randint(-reach, reach) for _ in range(ndim))
        offset = (*line, offset[-1]) if on_line else offset
        weights.setdefault(offset, float(dense if draft.chance(0.5) else rng.choice(WEIGHTS)))
    if ndim < 4 and not on_line and draft.chance(0.1):
        some = [float(dense), *map(float, rng.choices(WEIGHTS, k=ndim))]
        kinds = rng.choice([1, ndim + 1])
        for offset in product((-1, 0, 1), repeat=ndim):
            weights.setdefault(offset, some[sum(map(abs, offset)) % kinds])
    draft.lines.append(
        f"{name} = ssr.stencil({space.name}, {space.name}, {weights}, outside='zero')"
    )
    draft.matrices.append((name, space.name, space.name))


def declare_between(draft: Draft, name: str, rows: Space, cols: Space) -> None:
    """Declare an average between two locations, or a difference if they differ along one axis."""
    rng = draft.rng
    outside, order = rng.choice(["zero", "zero", "one-sided"]), rng.choice([2, 2, 4])
    apart = [n for n, (a, b) in enumerate(zip(rows.ends, cols.ends, strict=True)) if a != b]
    more = f"order={order}, outside={outside!r}"
    made = f"ssr.average({rows.name}, {cols.name}, {more})"
    if len(apart) == 1 and draft.chance(0.6):
        how = f"axis={apart[0]}, derivative={rng.choice([1, 1, 2])}, spacing=0.5, {more}"
        made = f"ssr.difference({rows.name}, {cols.name}, {how})"
    draft.lines.append(f"{name} = {made}")
    draft.matrices.append((name, rows.name, cols.name))


def declare_lines(draft: Draft, name: str, space: Space) -> None:
    """Declare a stencil that couples points along one axis, in both directions."""
    rng, ndim = draft.rng, len(space.axes)
    axis, reach = rng.randrange(ndim), rng.choice([1, 1, 2])
    weights = {}
    for step in {-1, 0, 1, rng.randint(-reach, reach)}:
        offset = tuple(step * (n == axis) for n in range(ndim))
        weights[offset] = float(rng.choice(WEIGHTS)) if step else 9.0
    draft.lines.append(
        f"{name} = ssr.stencil({space.name}, {space.name}, {weights}, outside='zero')"
    )
