"""The function that runs tables: a small machine whose instructions fill ghosts.

A program for it, made by `tables`, is a list of records of integers, one after the other: the
instruction, the place of the next record, and its operands. Boxes have three loop dimensions, the
last of which is the fastest. Memory of its own is ``scratch``: lines of sources, and of values that
are made. So its text depends on the fields and on what may occur, not on how often, nor on sizes.

Places in a field are written as an index and the steps of the loop dimensions; what they are in
memory is found from ``place`` when the function runs: for each field the offset of index zero, then
the strides of all axes but the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

TAPS = 8
"""Neighbours on a line that are added up at once."""


class Op(IntEnum):
    """The instructions; ``o`` is a place in scratch memory, ``w`` one among the weights."""

    STOP = 0
    READ = 1  # field, o, extents, steps of o; index, steps
    WRITE = 2  # field, o, w, extents, steps of o; index, steps
    COPY = 3  # field, w, extents; index, steps of the target, and of the source
    COLUMNS = 4  # field, count, 2 extents; index, 2 steps of the target, and of the source; columns
    TAP = 5  # field, first?, o, w, extents, steps of o and of w; index, steps
    GATHER = 6  # field, count, (o, w, index)
    SCATTER = 7  # field, count, (o, index)
    FILL = 8  # o, w, extents, steps of o and of w
    SCALE = 9  # scalar, o, w, extents, steps of o and of w
    CLEAR = 10  # o, count
    TURN = 11  # count, places of values, places of the matrix
    PRODUCT = 12  # recipe, then for each group: o and source of each value, places of the matrices


@dataclass(frozen=True, slots=True)
class Form:
    """What the function for some tables must be able to do.

    Attributes
    ----------
    axes
        The number of axes of each field.
    scalars
        How many scalars it takes.
    groups
        Values made together from the same neighbours: for each group the sizes of its vectors,
        1 for a value that is not turned.
    copies, sums, bands
        Whether there are points that are a multiple of one other; sums of points; sums of
        neighbours on a line.
    """

    axes: tuple[int, ...]
    scalars: int = 0
    groups: tuple[tuple[int, ...], ...] = ()
    copies: bool = True
    sums: bool = True
    bands: bool = True


def source(form: Form, name: str) -> str:
    """Return the text of the function, and of those it calls, which go by ``name_`` and more.

    It takes the fields, ``place``, ``links``, ``weights``, ``scratch`` and the scalars.
    """
    fields = [f"f{n}" for n in range(len(form.axes))]
    scalars = [f"s{n}" for n in range(form.scalars)]
    parts = [_helpers(form, name)]
    lines = [
        f"def {name}({', '.join([*fields, 'place', 'links', 'weights', 'scratch', *scalars])}):",
        "    at = 0",
        f"    while ld(links, at) != {Op.STOP:d}:",
        "        op = ld(links, at)",
        "        now = at + 2",
    ]
    word = "if"
    for op, arguments in _FIELD_OPS:
        if op in _used(form):
            lines.append(f"        {word} op == {op:d}:")
            lines += _choice(
                fields, [f"{name}_{op.name.lower()}{n}({{}}, {arguments})" for n in form.axes]
            )
            word = "elif"
    for op, call in _OWN_OPS:
        if op in _used(form):
            lines += [f"        {word} op == {op:d}:", f"            {name}_{call}"]
            word = "elif"
    if Op.SCALE in _used(form) and scalars:
        lines.append(f"        {word} op == {Op.SCALE:d}:")
        call = f"{name}_scale({{}}, links, now + 1, weights, scratch)"
        lines += _choice(scalars, [call] * len(scalars))
    for number, group in enumerate(_groups(form)):
        lines.append(f"        {word} op == {Op.PRODUCT + number:d}:")
        lines.append(f"            {name}_{_label(group)}(links, now, weights, scratch, scratch)")
        word = "elif"
    lines.append("        at = ld(links, at + 1)")
    return "\n\n\n".join([*parts, "\n".join(lines)]) + "\n"


def product_of(form: Form, group: tuple[int, ...]) -> int | None:
    """Return the instruction that makes the values of a group at once; None if there is none."""
    known = _groups(form)
    return Op.PRODUCT + known.index(group) if group in known else None


_FIELD_OPS = (
    (Op.READ, "place, links, now + 1, scratch"),
    (Op.WRITE, "place, links, now + 1, weights, scratch"),
    (Op.COPY, "place, links, now + 1, weights"),
    (Op.COLUMNS, "place, links, now + 1, weights"),
    (Op.TAP, "place, links, now + 1, weights, scratch"),
    (Op.GATHER, "place, links, now + 1, weights, scratch"),
    (Op.SCATTER, "place, links, now + 1, scratch"),
)

_OWN_OPS = (
    (Op.FILL, "fill(links, now, weights, scratch)"),
    (Op.CLEAR, "clear(links, now, weights, scratch)"),
    (Op.TURN, "turn(links, now, weights, scratch)"),
)


def _used(form: Form) -> set[Op]:
    """Return the instructions that may occur."""
    used = {Op.READ, Op.WRITE}
    if form.copies:
        used |= {Op.COPY, Op.COLUMNS}
    if form.sums:
        used |= {Op.TAP, Op.GATHER, Op.SCATTER, Op.FILL}
    if form.scalars:
        used.add(Op.SCALE)
    if form.bands:
        used.add(Op.CLEAR)
    if any(n > 1 for group in form.groups for n in group):
        used.add(Op.TURN)
    return used


def _groups(form: Form) -> list[tuple[int, ...]]:
    """Return the groups that have an instruction; the first is a single value."""
    return [(1,), *sorted({g for g in form.groups if g != (1,)})] if form.bands else []


def _label(group: Sequence[int]) -> str:
    return "product" + "_".join(map(str, group))


def _choice(names: Sequence[str], calls: Sequence[str]) -> list[str]:
    """Return the lines that make the call of the one of several names that an operand says."""
    if len(names) == 1:
        return [f"            {calls[0].format(names[0])}"]
    lines = ["            which = ld(links, now)"]
    for number, (name, call) in enumerate(zip(names, calls, strict=True)):
        last = number == len(names) - 1
        word = "else" if last else "elif" if number else "if"
        lines.append(f"            {word}{'' if last else f' which == {number}'}:")
        lines.append(f"                {call.format(name)}")
    return lines


def _helpers(form: Form, name: str) -> str:
    """Return the functions of the instructions, one for each number of axes where it matters."""
    used = _used(form)
    texts = [
        text.replace("NAME", f"{name}_{op.name.lower()}{axes}")
        for axes in sorted(set(form.axes))
        for op, text in _field_texts(axes).items()
        if op in used
    ]
    texts += [t.replace("NAME", f"{name}_{op.name.lower()}") for op, t in _TEXTS.items() if op in used]
    if Op.TURN in used:
        sizes = sorted({n for group in form.groups for n in group if n > 1})
        texts.append(_turn(sizes).replace("NAME", f"{name}_turn"))
    texts += [_product(group).replace("NAME", f"{name}_{_label(group)}") for group in _groups(form)]
    return "\n\n\n".join(texts)


class _Record:
    """The lines that fetch the operands of a record, one after the other."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.place = 0

    def take(self, *names: str) -> _Record:
        """Fetch integers."""
        for name in names:
            self.lines.append(f"    {name} = ld(links, at + {self.place})")
            self.place += 1
        return self

    def point(self, axes: int, *names: str) -> _Record:
        """Fetch an index and then steps, as offsets in memory."""
        for number, name in enumerate(names):
            value = flat(axes, f"at + {self.place}")
            self.lines.append(f"    {name} = {value}" + ("" if number else " + ld(place, p)"))
            self.place += axes
        return self


def flat(axes: int, at: str) -> str:
    """Return the offset in memory of an index, or of a step, that stands in the links."""
    terms = [f"ld(links, {at} + {n}) * ld(place, p + {n + 1})" for n in range(axes - 1)]
    return " + ".join([*terms, f"ld(links, {at} + {axes - 1})"])


def _nest(*starts: tuple[str, str, str, str], body: Sequence[str], extents: str = "e") -> list[str]:
    """Return two loops around lines; each start is a name of a place, its origin and its steps."""
    lines = [f"    for a in range({extents}0):", f"        for b in range({extents}1):"]
    lines += [f"            {name} = {o} + a * {x} + b * {y}" for name, o, x, y in starts]
    return [*lines, *("            " + line for line in body)]


def _field_texts(axes: int) -> dict[Op, str]:
    """Return the functions that touch a field."""
    box = ("e0", "e1", "e2")
    read = _Record().take("p", "o", *box, "o0", "o1").point(axes, "q", "q0", "q1", "q2")
    write = _Record().take("p", "o", "w", *box, "o0", "o1").point(axes, "q", "q0", "q1", "q2")
    copy = _Record().take("p", "w", *box)
    copy = copy.point(axes, "q", "q0", "q1", "q2").point(axes, "r", "r0", "r1", "r2")
    columns = _Record().take("p", "count", "e0", "e1")
    columns = columns.point(axes, "q", "q0", "q1").point(axes, "r", "r0", "r1")
    tap = _Record().take("p", "first", "o", "w", *box, "o0", "o1", "w0", "w1")
    tap = tap.point(axes, "q", "q0", "q1", "q2")
    here, there = ("x", "o", "o0", "o1"), ("y", "q", "q0", "q1")
    return {
        Op.READ: _function("f, place, links, at, scratch", read, _nest(here, there, body=[
            "if q2 == 1:",
            "    for t in range(e2):",
            "        st(scratch, x + t, ld(f, y + t))",
            "else:",
            "    for t in range(e2):",
            "        st(scratch, x + t, ld(f, y + t * q2))",
        ])),
        Op.WRITE: _function("f, place, links, at, weights, scratch", write, [
            "    weight = ld(weights, w)",
            *_nest(here, there, body=[
                "if q2 == 1:",
                "    for t in range(e2):",
                "        st(f, y + t, weight * ld(scratch, x + t))",
                "else:",
                "    for t in range(e2):",
                "        st(f, y + t * q2, weight * ld(scratch, x + t))",
            ]),
        ]),
        Op.COPY: _function("f, place, links, at, weights", copy, [
            "    weight = ld(weights, w)",
            *_nest(("x", "q", "q0", "q1"), ("y", "r", "r0", "r1"), body=[
                "if q2 == 1 and r2 == 1:",
                "    for t in range(e2):",
                "        st(f, x + t, weight * ld(f, y + t))",
                "else:",
                "    for t in range(e2):",
                "        st(f, x + t * q2, weight * ld(f, y + t * r2))",
            ]),
        ]),
        Op.COLUMNS: _function("f, place, links, at, weights", columns, [
            f"    table = at + {columns.place}",
            *_nest(("x", "q", "q0", "q1"), ("y", "r", "r0", "r1"), body=[
                "for c in range(count):",
                "    n = table + 3 * c",
                "    value = ld(weights, ld(links, n + 2)) * ld(f, y + ld(links, n + 1))",
                "    st(f, x + ld(links, n), value)",
            ]),
        ]),
        Op.TAP: _function("f, place, links, at, weights, scratch", tap, [
            "    zero = ld(weights, 0)",
            *_nest(here, ("z", "w", "w0", "w1"), there, body=[
                "if first == 1:",
                "    if q2 == 1:",
                "        for t in range(e2):",
                "            st(scratch, x + t, fma(ld(weights, z + t), ld(f, y + t), zero))",
                "    else:",
                "        for t in range(e2):",
                "            st(scratch, x + t, fma(ld(weights, z + t), ld(f, y + t * q2), zero))",
                "elif q2 == 1:",
                "    for t in range(e2):",
                "        old = ld(scratch, x + t)",
                "        st(scratch, x + t, fma(ld(weights, z + t), ld(f, y + t), old))",
                "else:",
                "    for t in range(e2):",
                "        old = ld(scratch, x + t)",
                "        st(scratch, x + t, fma(ld(weights, z + t), ld(f, y + t * q2), old))",
            ]),
        ]),
        Op.GATHER: _function("f, place, links, at, weights, scratch", _Record().take("p", "count"), [
            "    for c in range(count):",
            f"        n = at + 2 + {axes + 2} * c",
            "        o = ld(links, n)",
            f"        q = ld(place, p) + {flat(axes, 'n + 2')}",
            "        value = fma(ld(weights, ld(links, n + 1)), ld(f, q), ld(scratch, o))",
            "        st(scratch, o, value)",
        ]),
        Op.SCATTER: _function("f, place, links, at, scratch", _Record().take("p", "count"), [
            "    for c in range(count):",
            f"        n = at + 2 + {axes + 1} * c",
            f"        q = ld(place, p) + {flat(axes, 'n + 1')}",
            "        st(f, q, ld(scratch, ld(links, n)))",
        ]),
    }  # fmt: skip


def _function(arguments: str, record: _Record, lines: Sequence[str]) -> str:
    return "\n".join([f"def NAME({arguments}):", *record.lines, *lines])


def _box(*first: str) -> _Record:
    return _Record().take(*first, "o", "w", "e0", "e1", "e2", "o0", "o1", "w0", "w1")


_MADE = (("x", "o", "o0", "o1"), ("z", "w", "w0", "w1"))

_TEXTS = {
    Op.FILL: _function("links, at, weights, scratch", _box(), _nest(*_MADE, body=[
        "for t in range(e2):",
        "    st(scratch, x + t, ld(weights, z + t))",
    ])),
    Op.SCALE: _function("scalar, links, at, weights, scratch", _box(), _nest(*_MADE, body=[
        "for t in range(e2):",
        "    old = ld(scratch, x + t)",
        "    st(scratch, x + t, fma(ld(weights, z + t), scalar, old))",
    ])),
    Op.CLEAR: _function("links, at, weights, scratch", _Record().take("o", "count"), [
        "    zero = ld(weights, 0)",
        "    for t in range(count):",
        "        st(scratch, o + t, zero)",
    ]),
}  # fmt: skip


def _turn(sizes: Sequence[int]) -> str:
    """Return the function that multiplies vectors, in lines of scratch memory, by matrices."""
    lines = ["def NAME(links, at, weights, scratch):", "    n = ld(links, at + 1)"]
    for number, size in enumerate(sizes):
        lines.append(f"    {'elif' if number else 'if'} ld(links, at) == {size}:")
        lines += [f"        o{c} = ld(links, at + {2 + c})" for c in range(size)]
        lines += [f"        j{e} = ld(links, at + {2 + size + e})" for e in range(size * size)]
        lines.append("        for t in range(n):")
        lines += [f"            v{c} = ld(scratch, o{c} + t)" for c in range(size)]
        lines += [f"            {line}" for line in _turned(range(size), 0)]
        lines += [f"            st(scratch, o{c} + t, u{c})" for c in range(size)]
    return "\n".join(lines)


def _turned(values: Sequence[int], matrix: int) -> list[str]:
    """Return the lines for u, the matrix of weights that starts at j times the vector v."""
    lines = []
    for row, c in enumerate(values):
        for column, d in enumerate(values):
            entry = f"ld(weights, j{matrix + row * len(values) + column} + t)"
            value = f"fma({entry}, v{d}, u{c})" if column else f"{entry} * v{d}"
            lines.append(f"u{c} = {value}")
    return lines


def _product(group: Sequence[int]) -> str:
    """Return the function that adds up neighbours on lines for a group of values.

    A recipe is a list of stretches: place of the values, length, first weight, place of the first
    source, and whether it goes on with sums already begun; the weights of one neighbour after the
    other. Sums of a group all begin here; ``made`` is memory apart from that of sources.
    """
    count = sum(group)
    record = _Record().take("recipe", "more")
    record.take(*(f"{place}{v}" for v in range(count) for place in ("o", "s")))
    vectors: list[list[int]] = []
    for size in group:
        vectors.append(list(range(sum(map(len, vectors)), sum(map(len, vectors)) + size)))
    entries = sum(size * size for size in group if size > 1)
    record.take(*(f"m{e}" for e in range(entries)))
    lines = [
        "    zero = ld(weights, 0)",
        "    for c in range(ld(links, recipe)):",
        "        at = recipe + 1 + 5 * c",
        "        o = ld(links, at)",
        "        n = ld(links, at + 1)",
        "        w0 = ld(links, at + 2)",
        "        s = ld(links, at + 3)",
        *(f"        w{k} = w{k - 1} + n" for k in range(1, TAPS)),
        *(f"        x{v} = o{v} + o" for v in range(count)),
        *(f"        y{v} = s{v} + s" for v in range(count)),
        *(f"        j{e} = m{e} + o" for e in range(entries)),
    ]
    sums = [
        line
        for k in range(TAPS)
        for line in (
            f"    w = ld(weights, w{k} + t)",
            *(f"    v{v} = fma(w, ld(scratch, y{v} + {k} + t), v{v})" for v in range(count)),
        )
    ]
    turned, matrix = [], 0
    for values in vectors:
        if len(values) > 1:
            turned += ["    " + line for line in _turned(values, matrix)]
            matrix += len(values) ** 2
    stored = [
        f"    st(made, x{v} + t, {'u' if len(values) > 1 else 'v'}{v})"
        for values in vectors
        for v in values
    ]
    begin = ["for t in range(n):", *(f"    v{v} = zero" for v in range(count))]
    loop = [*begin, *sums, *turned, *stored]
    if count > 1:
        lines += ["        " + line for line in loop]
    else:
        on = ["for t in range(n):", "    v0 = ld(made, x0 + t)", *sums, *stored]
        lines += ["        if more + ld(links, at + 4) == 0:", *("            " + x for x in loop)]
        lines += ["        else:", *("            " + x for x in on)]
    return _function("links, at, weights, scratch, made", record, lines)
