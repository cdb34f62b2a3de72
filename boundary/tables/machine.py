"""The function that runs tables: a small machine whose instructions fill ghosts.

A program for it, made by `tables`, is a list of records of integers, one after the other: the
instruction, the place of the next record, and operands. Boxes are lines of points at regular
distances. Memory of the machine's own is ``scratch``: lines of sources, and of values that are
made. So the text of the function depends on the fields and on what may occur, not on how often it
does, nor on sizes. Tables are made for arrays of one layout: where something is in a field, and a
step from there, are written as distances in its memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

TAPS = 8
"""Neighbours on a line that are added up at once."""


COLUMNS = 6
"""Columns that are copied at once, row by row; fewer are copied two by two."""

AHEAD = 8
"""Rows of which the ends are fetched ahead, where there is time for it."""


class Op(IntEnum):
    """The instructions.

    ``o`` is a place in scratch memory, ``w`` one among the weights, both with a step from line to
    line. A field is its number; so is a lane, which is one field or a pair, that of the targets
    first. A range is a place in a field, its step from line to line, and along a line; ranges are
    their number, the steps, and a place for each.
    """

    STOP = 0
    READ = 1  # field; o, w, first?; lines, length, steps of o and w; ranges: into scratch
    WRITE = 2  # as READ: scratch times one weight into a field
    TAP = 3  # as READ: weights times a field, added to scratch unless it is the first
    COPY = 4  # lane; w, lines, length; range of targets, range of sources
    COLUMNS = 5  # as COPY; the length is that of a list of columns: of target and source
    SHARE = 6  # field; 2 weights, lines, length; 2 ranges: both become a weighted sum of both
    GATHER = 7  # field; count; (o, w, place): a weight times a point, added to scratch
    SCATTER = 8  # field; count; (o, place): scratch into points
    FILL = 9  # o, w, lines, length, step of o, step of w: weights into scratch
    SCALE = 10  # as FILL, and a scalar: weights times the scalar, added to scratch
    CLEAR = 11  # o, length: zeros into scratch
    TURN = 12  # size; lines, length, steps of o and w; o of each component, w of each entry
    PRODUCT = 13  # recipe, more?; times, steps; o and source of each value; w of matrix entries


@dataclass(frozen=True, slots=True)
class Form:
    """What the function for some tables must be able to do.

    Attributes
    ----------
    fields
        How many fields there are.
    scalars
        How many scalars it takes.
    groups
        Values added up together from the same neighbours on lines: for each group the sizes of its
        vectors, 1 for a value that is not turned.
    vectors
        The sizes of other vectors that are turned.
    pairs
        Fields with points that are a multiple of one of another field: that field is the second.
    copies, lines
        Whether there are points that are a multiple of another of the field; values that go
        through scratch memory.
    taps, points, constants
        Whether there are sums of points that are no neighbours on lines; sums made point by point;
        sums that begin with a constant, or not with a tap for each point.
    shared
        Whether there are pairs of points that both become a sum of the two.
    """

    fields: int
    scalars: int = 0
    groups: tuple[tuple[int, ...], ...] = ()
    vectors: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    copies: bool = True
    lines: bool = True
    taps: bool = True
    points: bool = True
    constants: bool = True
    shared: bool = False

    def __or__(self, other: Form) -> Form:
        """Return the form of a function that can do what each of two can, for the same fields."""
        found: dict[str, Any] = {}
        for field in fields(self):
            one, two = getattr(self, field.name), getattr(other, field.name)
            if isinstance(one, bool):
                found[field.name] = one or two
            elif field.name not in ("fields", "scalars"):
                found[field.name] = tuple(sorted({*one, *two}))
        return replace(self, **found)

    def lane(self, target: int, source: int) -> int | None:
        """Return the number of the lane from a field to another or itself; None if there is none.

        Lanes are the fields, if there are copies within one, and then the pairs.
        """
        if target == source:
            return target if self.copies else None
        first = self.fields if self.copies else 0
        pair = target, source
        return first + self.pairs.index(pair) if pair in self.pairs else None

    def product(self, group: tuple[int, ...]) -> int | None:
        """Return the instruction that adds up the values of a group; None if there is none."""
        return Op.PRODUCT + self.groups.index(group) if group in self.groups else None


def source(form: Form, name: str) -> str:
    """Return the text of the function, after those it calls, whose names begin with ``name_``.

    It takes the fields, ``links``, ``weights``, ``scratch`` and the scalars, and returns nothing.
    """
    arrays = [f"f{n}" for n in range(form.fields)]
    scalars = [f"s{n}" for n in range(form.scalars)]
    texts = [text.replace("NAME", name) for text in _functions(form)]
    lines = [
        f"def {name}({', '.join([*arrays, 'links', 'weights', 'scratch', *scalars])}):",
        "    zero = ld(weights, 0)",
        "    start = 0",
        f"    while ld(links, start) != {Op.STOP:d}:",
        "        op = ld(links, start)",
        "        at = start + 2",
    ]
    word = "if"
    for condition, body in _branches(form, name, arrays, scalars):
        lines += [f"        {word} {condition}:", *(" " * 12 + line for line in body)]
        word = "elif"
    lines.append("        start = ld(links, start + 1)")
    return "\n\n\n".join([*texts, "\n".join(lines)]) + "\n"


def _functions(form: Form) -> Iterator[str]:
    """Yield the functions that the function calls."""
    if form.lines:
        yield _lines(form.taps)
    if form.copies:
        yield _copy()
    if form.pairs:
        yield _copy(across=True)
    if form.shared:
        yield _share()
    if form.points:
        yield _points()
    for group in form.groups:
        yield _product(group)


def _branches(
    form: Form, name: str, fields: Sequence[str], scalars: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield what the function does for instructions."""
    arguments = "op, links, at + 1, weights"

    def of_field(what: str, more: str = "") -> list[str]:
        return _choice(fields, [f"{name}_{what}({field}, {arguments}{more})" for field in fields])

    if form.lines:
        last = Op.TAP if form.taps else Op.WRITE
        yield f"op <= {last:d}", of_field("lines", ", scratch")
    if form.copies or form.pairs:
        lanes = [(n, n) for n in range(form.fields)] if form.copies else []
        calls = [
            f"{name}_{'copy' if t == s else 'carry'}({fields[t]}, {arguments}, {fields[s]})"
            for t, s in [*lanes, *form.pairs]
        ]
        yield f"op <= {Op.COLUMNS:d}", _choice(calls, calls)
    if form.shared:
        yield f"op == {Op.SHARE:d}", of_field("share")
    if form.points:
        yield f"op <= {Op.SCATTER:d}", of_field("points", ", scratch")
    if form.constants:
        yield f"op == {Op.FILL:d}", _filled("ld(weights, z + t)")
    if scalars:
        chosen = _choice(scalars, ["factor = {}"] * len(scalars))
        total = "fma(ld(weights, z + t), factor, ld(scratch, x + t))"
        yield f"op == {Op.SCALE:d}", [*chosen, "at += 1", *_filled(total)]
    if form.groups:
        yield (
            f"op == {Op.CLEAR:d}",
            [
                *_fetched("o", "e1"),
                "for t in range(e1):",
                "    st(scratch, o + t, zero)",
            ],
        )
    if vectors := sorted({*form.vectors, *(n for g in form.groups for n in g if n > 1)}):
        yield f"op == {Op.TURN:d}", _turn(vectors)
    for group in form.groups:
        call = f"{name}_{_label(group)}(links, at, weights, scratch, scratch)"
        yield f"op == {form.product(group)}", [call]


def _label(group: Sequence[int]) -> str:
    return "product" + "_".join(map(str, group))


def _choice(names: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return the lines that run the one for a name which the next operand tells."""
    if len(names) == 1:
        return [lines[0].replace("{}", names[0])]
    found = ["which = ld(links, at)"]
    for number, (name, line) in enumerate(zip(names, lines, strict=True)):
        last = number == len(names) - 1
        test = "else" if last else f"{'elif' if number else 'if'} which == {number}"
        found += [f"{test}:", f"    {line.replace('{}', name)}"]
    return found


def _fetched(*names: str, at: int = 0) -> list[str]:
    """Return the lines that fetch operands."""
    return [f"{name} = ld(links, at + {at + n})" for n, name in enumerate(names)]


def _function(head: str, *lines: str) -> str:
    return "\n".join([f"def NAME_{head}:", *(f"    {line}" for line in lines)])


def _each(conditions: Sequence[tuple[str, str]]) -> list[str]:
    """Return loops along a line: each has a condition, and a statement for one point."""
    lines = []
    for number, (condition, statement) in enumerate(conditions):
        word = "else" if not condition else f"{'elif' if number else 'if'} {condition}"
        lines += [f"{word}:", "    for t in range(e1):", f"        {statement}"]
    return lines


def _lines(taps: bool) -> str:
    """Return the function for lines between a field and scratch memory."""
    value = "ld(weights, z + t), ld(f, y + t{})"
    found = [
        (f"op == {Op.READ:d} and q1 == 1", "st(scratch, x + t, ld(f, y + t))"),
        (f"op == {Op.READ:d}", "st(scratch, x + t, ld(f, y + t * q1))"),
        (f"op == {Op.WRITE:d} and q1 == 1", "st(f, y + t, weight * ld(scratch, x + t))"),
        (f"op == {Op.WRITE:d}", "st(f, y + t * q1, weight * ld(scratch, x + t))"),
    ]
    if taps:
        for first, old in (("first == 1", "zero"), ("", "ld(scratch, x + t)")):
            for condition, step in (("q1 == 1", ""), ("", " * q1")):
                both = " and ".join(filter(None, [first, condition]))
                added = f"fma({value.format(step)}, {old})"
                found.append((both, f"st(scratch, x + t, {added})"))
    else:
        found[-1] = ("", found[-1][1])
    return _function(
        "lines(f, op, links, at, weights, scratch)",
        *_fetched("o", "w", "first", "e0", "e1", "o0", "w0", "count", "q0", "q1"),
        "weight = ld(weights, w)",
        *(["zero = ld(weights, 0)"] if taps else []),
        "for c in range(count):",
        "    q = ld(links, at + 10 + c)",
        "    for a in range(e0):",
        "        x = o + a * o0",
        "        y = q + a * q0",
        *(["        z = w + a * w0"] if taps else []),
        *("        " + line for line in _each(found)),
    )


def _copy(across: bool = False) -> str:
    """Return the function for copies within a field, which is given twice, or across two fields.

    So the compiler need not prove that sources are no targets.
    """
    return _function(
        f"{'carry' if across else 'copy'}(f, op, links, at, weights, g)",
        *_fetched("w", "e0", "e1", "q", "q0", "q1", "r", "r0", "r1"),
        "weight = ld(weights, w)",
        f"if op == {Op.COLUMNS:d}:",
        "    n = at + 9",
        "    while e1 > 0:",
        *("        " + line for line in _columns(across)),
        "else:",
        "    for a in range(e0):",
        "        x = q + a * q0",
        "        y = r + a * r0",
        "        if q1 == 1 and r1 == 1 and weight == 1:",
        "            for t in range(e1):",
        "                st(f, x + t, ld(g, y + t))",
        "        elif q1 == 1 and r1 == 1:",
        "            for t in range(e1):",
        "                st(f, x + t, weight * ld(g, y + t))",
        "        else:",
        "            for t in range(e1):",
        "                st(f, x + t * q1, weight * ld(g, y + t * r1))",
    )


def _columns(across: bool) -> list[str]:
    """Return the lines that copy the next columns of rows: many at once, or two.

    Many leave time to fetch the ends of rows ahead. With two, the compiler does best if it cannot
    tell sources from targets, where they are of one field.
    """
    lines = []
    for count in (COLUMNS, 2):
        lines.append(f"if e1 >= {count}:" if count == COLUMNS else "else:")
        lines += [f"    x{c} = q + ld(links, n + {2 * c})" for c in range(count)]
        lines += [f"    y{c} = r + ld(links, n + {2 * c + 1})" for c in range(count)]
        lines += [f"    n += {2 * count}", f"    e1 -= {count}", "    for a in range(e0):"]
        if count == COLUMNS:
            lines += [
                f"        prefetch(f, x0 + (a + {AHEAD}) * q0)",
                f"        prefetch({'g' if across else 'f'}, y0 + (a + {AHEAD}) * r0)",
            ]
        source = "g" if across or count == COLUMNS else "f"
        lines += [f"        v{c} = weight * ld({source}, y{c} + a * r0)" for c in range(count)]
        lines += [f"        st(f, x{c} + a * q0, v{c})" for c in range(count)]
    return lines


def _share() -> str:
    """Return the function for pairs of points that become equal."""
    return _function(
        "share(f, op, links, at, weights)",
        *_fetched("v", "w", "e0", "e1", "q", "q0", "q1", "r", "r0", "r1"),
        "zero = ld(weights, 0)",
        "one = ld(weights, v)",
        "other = ld(weights, w)",
        "for a in range(e0):",
        "    x = q + a * q0",
        "    y = r + a * r0",
        "    for t in range(e1):",
        "        value = fma(other, ld(f, y + t * r1), fma(one, ld(f, x + t * q1), zero))",
        "        st(f, x + t * q1, value)",
        "        st(f, y + t * r1, value)",
    )


def _points() -> str:
    """Return the function for points one by one."""
    return _function(
        "points(f, op, links, at, weights, scratch)",
        *_fetched("count"),
        "at += 1",
        f"if op == {Op.GATHER:d}:",
        "    for c in range(count):",
        "        o = ld(links, at)",
        "        weight = ld(weights, ld(links, at + 1))",
        "        st(scratch, o, fma(weight, ld(f, ld(links, at + 2)), ld(scratch, o)))",
        "        at += 3",
        "else:",
        "    for c in range(count):",
        "        st(f, ld(links, at + 1), ld(scratch, ld(links, at)))",
        "        at += 2",
    )


def _filled(value: str) -> list[str]:
    """Return the lines that store a value everywhere on lines in scratch memory."""
    return [
        *_fetched("o", "w", "e0", "e1", "o0", "w0"),
        "for a in range(e0):",
        "    x = o + a * o0",
        "    z = w + a * w0",
        "    for t in range(e1):",
        f"        st(scratch, x + t, {value})",
    ]


def _turn(sizes: Sequence[int]) -> list[str]:
    """Return the lines that multiply vectors in scratch memory by matrices."""
    lines = _fetched("size", "e0", "e1", "do", "dw")
    for number, size in enumerate(sizes):
        names = [*(f"o{c}" for c in range(size)), *(f"j{e}" for e in range(size * size))]
        lines.append(f"{'elif' if number else 'if'} size == {size}:")
        lines += ["    " + line for line in _fetched(*names, at=5)]
        lines += ["    for a in range(e0):"]
        lines += [f"        x{c} = o{c} + a * do" for c in range(size)]
        lines += [f"        k{e} = j{e} + a * dw" for e in range(size * size)]
        lines += ["        for t in range(e1):"]
        lines += [f"            v{c} = ld(scratch, x{c} + t)" for c in range(size)]
        lines += [f"            {line}" for line in _turned(range(size), 0)]
        lines += [f"            st(scratch, x{c} + t, u{c})" for c in range(size)]
    return lines


def _turned(values: Sequence[int], first: int) -> list[str]:
    """Return the lines for u, a matrix times the vector v; its entries count from the first."""
    lines = []
    for row, c in enumerate(values):
        for column, d in enumerate(values):
            entry = f"ld(weights, k{first + row * len(values) + column} + t)"
            value = f"fma({entry}, v{d}, u{c})" if column else f"{entry} * v{d}"
            lines.append(f"u{c} = {value}")
    return lines


def _product(group: Sequence[int]) -> str:
    """Return the function that adds up neighbours on lines for a group of values.

    A recipe is a list of stretches: line, place of the values on it, length, first weight, place
    of the first source, and whether the sums go on with what is there; weights are those of one
    neighbour after the other. Only a value alone can go on. It is done as often as lines are alike,
    with steps of values, sources and entries of matrices from line to line. ``made`` is memory
    apart from that of sources, which the compiler need not prove, as it is another argument.
    """
    count = sum(group)
    starts = [sum(group[:n]) for n in range(len(group))]
    turned: list[str] = []
    entries = 0
    for start, size in zip(starts, group, strict=True):
        if size > 1:
            turned += _turned(range(start, start + size), entries)
            entries += size * size
    results = [
        f"{'u' if size > 1 else 'v'}{start + n}"
        for start, size in zip(starts, group, strict=True)
        for n in range(size)
    ]
    sums = [
        line
        for k in range(TAPS)
        for line in (
            f"w = ld(weights, w{k} + t)",
            *(
                f"v{v} = fma(w, ld(scratch, p{v}{f' + {k}' if k else ''}), v{v})"
                for v in range(count)
            ),
        )
    ]
    ends = [f"st(made, x{v} + t, {result})" for v, result in enumerate(results)]

    def loop(*begin: str) -> list[str]:
        lines = [f"x{v} = o{v} + o + a * do" for v in range(count)]
        lines += [f"y{v} = s{v} + s + a * ds" for v in range(count)]
        lines += [f"k{e} = m{e} + m + a * dm" for e in range(entries)]
        places = [f"p{v} = y{v} + t" for v in range(count)]
        lines += [
            "for t in range(n):",
            *("    " + x for x in [*begin, *places, *sums, *turned, *ends]),
        ]
        return ["for a in range(times):", *("    " + line for line in lines)]

    fresh = loop(*(f"v{v} = zero" for v in range(count)))
    if count == 1:
        old = loop("v0 = ld(made, x0 + t)")
        fresh = ["if more + ld(links, q + 5) == 0:", *("    " + line for line in fresh)]
        fresh += ["else:", *("    " + line for line in old)]
    steps = "times", "do", "ds", "dm"
    operands = [f"{what}{v}" for v in range(count) for what in ("o", "s")]
    matrices = [f"m{e}" for e in range(entries)]
    return _function(
        f"{_label(group)}(links, at, weights, scratch, made)",
        *_fetched("recipe", "more", *steps, *operands, *matrices),
        "zero = ld(weights, 0)",
        "q = recipe + 1",
        "for c in range(ld(links, recipe)):",
        *("    " + line for line in [
            *(f"{name} = ld(links, q + {n})" for n, name in enumerate(("a", "t", "n", "w0", "s"))),
            *(f"w{k} = w{k - 1} + n" for k in range(1, TAPS)),
            "o = a * do + t",
            *(["m = a * dm + t"] if entries else []),
            *fresh,
            "q += 6",
        ]),
    )  # fmt: skip
