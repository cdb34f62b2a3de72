"""The text of the machine that fills ghosts: the function that runs programs of instructions.

The text is that of one function, which goes through the records of a program, and of a function for
each kind of instruction that it calls. Names in the text say what the numbers are: a ``slot`` is a
place in scratch memory, a ``to`` or ``of`` one in a field, and ``line_step`` and ``step`` lead from
line to line and from point to point. ``ld`` and ``st`` read and write memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .machine import TAPS, Form, Op
from .text import block, choice, function, indented, numbered, operands

COLUMNS = 6
"""The number of columns that are copied at once, row by row; fewer are copied two by two."""

AHEAD = 8
"""How many rows ahead the ends of rows are fetched, where there is time for it."""


def source(form: Form, name: str) -> str:
    """Return the text of the machine, after the functions it calls; their names begin with `name`.

    It takes the fields, ``links``, ``weights``, ``scratch`` and the scalars, and returns nothing.
    """
    fields = [f"f{n}" for n in range(form.fields)]
    scalars = [f"s{n}" for n in range(form.scalars)]
    branches = _instructions(form, name, fields, scalars)
    machine = [
        f"def {name}({', '.join([*fields, 'links', 'weights', 'scratch', *scalars])}):",
        "    zero = ld(weights, 0)",
        "    start = 0",
        f"    while ld(links, start) != {Op.STOP:d}:",
        "        op = ld(links, start)",
        "        at = start + 2",
        *indented(choice(branches), 2),
        "        start = ld(links, start + 1)",
    ]
    texts = [text.replace("NAME", name) for text in _functions(form)]
    return "\n\n\n".join([*texts, "\n".join(machine)]) + "\n"


def _functions(form: Form) -> Iterator[str]:
    """Yield the functions that the machine calls."""
    if form.lines:
        yield _lines(form.taps)
    if form.copies:
        yield _copy("copy", within=True)
    if form.pairs:
        yield _copy("carry", within=False)
    if form.shared:
        yield _share()
    if form.points:
        yield _points()
    yield from map(_mutual, form.mutual)
    for group in form.groups:
        yield _product(group)


def _instructions(
    form: Form, name: str, fields: Sequence[str], scalars: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield what the machine does: for which instructions, and the statements."""
    arguments = "op, links, at + 1, weights"

    def of_field(kind: str, *more: str) -> list[str]:
        return numbered(f"{name}_{kind}({', '.join([f, arguments, *more])})" for f in fields)

    if form.lines:
        last = Op.TAP if form.taps else Op.WRITE
        yield f"op <= {last:d}", of_field("lines", "scratch")
    if form.copies or form.pairs:
        lanes = [("copy", field, field) for field in fields] if form.copies else []
        lanes += [("carry", fields[target], fields[source]) for target, source in form.pairs]
        calls = (f"{name}_{kind}({to}, {arguments}, {of})" for kind, to, of in lanes)
        yield f"op <= {Op.COLUMNS:d}", numbered(calls)
    if form.shared:
        yield f"op == {Op.SHARE:d}", of_field("share")
    if form.points:
        yield f"op <= {Op.SCATTER:d}", of_field("points", "scratch")
    if form.constants:
        yield f"op == {Op.FILL:d}", _filled("ld(weights, w + t)")
    if scalars:
        chosen = numbered(f"factor = {scalar}" for scalar in scalars)
        total = "fma(ld(weights, w + t), factor, ld(scratch, x + t))"
        yield f"op == {Op.SCALE:d}", [*chosen, "at += 1", *_filled(total)]
    if form.groups:
        zeros = block("for t in range(length)", ["st(scratch, slot + t, zero)"])
        yield f"op == {Op.CLEAR:d}", [*operands("slot", "length"), *zeros]
    if sizes := sorted({*form.vectors, *(n for group in form.groups for n in group if n > 1)}):
        yield f"op == {Op.TURN:d}", _turn(sizes)
    if form.mutual:
        calls = (
            f"{name}_{_mutual_label(lines)}({', '.join(fields[n] for n in lines)}, "
            "links, at + 1, weights)"
            for lines in form.mutual
        )
        yield f"op == {Op.MUTUAL:d}", numbered(calls)
    for group in form.groups:
        call = f"{name}_{_label(group)}(links, at, weights, scratch, scratch)"
        yield f"op == {form.product(group)}", [call]


# -- instructions ----------------------------------------------------------------------------------


def _lines(taps: bool) -> str:
    """Return the function for lines between a field and scratch memory."""
    cases = [
        (f"op == {Op.READ:d}", ["st(scratch, x + t, ld(f, y{}))"]),
        (f"op == {Op.WRITE:d}", ["st(f, y{}, weight * ld(scratch, x + t))"]),
    ]
    if taps:
        read = ["factor = ld(weights, w + t)", "value = ld(f, y{})"]
        cases += [
            (case, [*read, f"st(scratch, x + t, {_added('factor', 'value', total)})"])
            for case, total in (("first == 1", "zero"), ("", "ld(scratch, x + t)"))
        ]
    branches = [
        (" and ".join(filter(None, [case, contiguous])), [part.format(move) for part in point])
        for case, point in cases
        for contiguous, move in (("step == 1", " + t"), ("", " + t * step"))
    ]
    if not taps:
        branches[-1] = "", branches[-1][1]
    line = [
        "x = slot + a * slot_step",
        "y = place + a * line_step",
        *(["w = weight_place + a * weight_step"] if taps else []),
        *choice((case, block("for t in range(length)", point)) for case, point in branches),
    ]
    return function(
        "lines(f, op, links, at, weights, scratch)",
        *operands("slot", "weight_place", "first", "lines", "length", "slot_step", "weight_step"),
        *operands("ranges", "line_step", "step", first=7),
        "weight = ld(weights, weight_place)",
        *(["zero = ld(weights, 0)"] if taps else []),
        *block(
            "for n in range(ranges)",
            ["place = ld(links, at + 10 + n)", *block("for a in range(lines)", line)],
        ),
    )


def _added(weight: str, value: str, total: str) -> str:
    """Return a total with a weight times a value added, or with zero where the weight is zero.

    Lines have weights of zero where they read nothing: an infinity there must not make NaN of it.
    """
    return f"fma({weight}, {value} if {weight} != zero else zero, {total})"


def _copy(name: str, within: bool) -> str:
    """Return the function for copies from one field to another, or within a field.

    A function for copies within a field is given that field twice, so that the compiler need not
    prove that no source is a target.
    """
    contiguous = "to_step == 1 and of_step == 1"
    copies = [
        (f"{contiguous} and weight == 1", "st(f, x + t, ld(g, y + t))"),
        (contiguous, "st(f, x + t, weight * ld(g, y + t))"),
        ("", "st(f, x + t * to_step, weight * ld(g, y + t * of_step))"),
    ]
    line = [
        "x = to + a * to_line",
        "y = of + a * of_line",
        *choice((case, block("for t in range(length)", [point])) for case, point in copies),
    ]
    columns = ["column = at + 9", *block("while length > 0", _columns(within))]
    return function(
        f"{name}(f, op, links, at, weights, g)",
        *operands("weight_place", "lines", "length"),
        *operands("to", "to_line", "to_step", "of", "of_line", "of_step", first=3),
        "weight = ld(weights, weight_place)",
        *choice([(f"op == {Op.COLUMNS:d}", columns), ("", block("for a in range(lines)", line))]),
    )


def _columns(within: bool) -> list[str]:
    """Return the lines that copy the next columns of rows: many at once, or two.

    Many columns leave time to fetch the ends of rows ahead. With two columns of one field, the
    compiler does best if it cannot tell sources from targets.
    """
    field = "f" if within else "g"
    fetched = [
        f"prefetch(f, x0 + (a + {AHEAD}) * to_line)",
        f"prefetch({field}, y0 + (a + {AHEAD}) * of_line)",
    ]

    def copied(count: int, other: str, ahead: Sequence[str]) -> list[str]:
        columns = range(count)
        row = [
            *ahead,
            *(f"v{c} = weight * ld({other}, y{c} + a * of_line)" for c in columns),
            *(f"st(f, x{c} + a * to_line, v{c})" for c in columns),
        ]
        return [
            *(f"x{c} = to + ld(links, column + {2 * c})" for c in columns),
            *(f"y{c} = of + ld(links, column + {2 * c + 1})" for c in columns),
            f"column += {2 * count}",
            f"length -= {count}",
            *block("for a in range(lines)", row),
        ]

    many, two = copied(COLUMNS, "g", fetched), copied(2, field, ())
    return choice([(f"length >= {COLUMNS}", many), ("", two)])


def _share() -> str:
    """Return the function for pairs of points that become equal."""
    total = "fma(other_weight, ld(f, y + t * other_step), fma(weight, ld(f, x + t * step), zero))"
    points = [
        f"value = {total}",
        "st(f, x + t * step, value)",
        "st(f, y + t * other_step, value)",
    ]
    line = [
        "x = place + a * line_step",
        "y = other + a * other_line",
        *block("for t in range(length)", points),
    ]
    return function(
        "share(f, op, links, at, weights)",
        *operands("weight_place", "other_place", "lines", "length"),
        *operands("place", "line_step", "step", "other", "other_line", "other_step", first=4),
        "zero = ld(weights, 0)",
        "weight = ld(weights, weight_place)",
        "other_weight = ld(weights, other_place)",
        *block("for a in range(lines)", line),
    )


def _mutual_label(fields: Sequence[int]) -> str:
    return "mutual" + "_".join(map(str, fields))


def _mutual(fields: Sequence[int]) -> str:
    """Return the function for lines that become sums of each other.

    It is given a field for each line, as if they were apart: no point is on two of the lines.
    """
    lines = range(len(fields))
    sums = []
    for n in lines:
        total = "zero"
        for m in lines:
            total = f"fma(ld(weights, w{n}_{m} + t), v{m}, {total})"
        sums.append(f"u{n} = {total}")
    point = [
        *(f"v{n} = ld(f{n}, x{n} + t * step{n})" for n in lines),
        *sums,
        *(f"st(f{n}, x{n} + t * step{n}, u{n})" for n in lines),
    ]
    return function(
        f"{_mutual_label(fields)}({', '.join(f'f{n}' for n in lines)}, links, at, weights)",
        *operands("length", *(name for n in lines for name in (f"x{n}", f"step{n}"))),
        *operands(*(f"w{n}_{m}" for n in lines for m in lines), first=1 + 2 * len(lines)),
        "zero = ld(weights, 0)",
        *block("for t in range(length)", point),
    )


def _points() -> str:
    """Return the function for points one by one."""
    gathered = [
        "slot = ld(links, at)",
        "weight = ld(weights, ld(links, at + 1))",
        "st(scratch, slot, fma(weight, ld(f, ld(links, at + 2)), ld(scratch, slot)))",
        "at += 3",
    ]
    scattered = ["st(f, ld(links, at + 1), ld(scratch, ld(links, at)))", "at += 2"]
    count = "for n in range(count)"
    return function(
        "points(f, op, links, at, weights, scratch)",
        *operands("count"),
        "at += 1",
        *choice([(f"op == {Op.GATHER:d}", block(count, gathered)), ("", block(count, scattered))]),
    )


def _filled(value: str) -> list[str]:
    """Return the lines that store a value everywhere on lines in scratch memory."""
    line = [
        "x = slot + a * slot_step",
        "w = weight_place + a * weight_step",
        *block("for t in range(length)", [f"st(scratch, x + t, {value})"]),
    ]
    names = "slot", "weight_place", "lines", "length", "slot_step", "weight_step"
    return [*operands(*names), *block("for a in range(lines)", line)]


def _turn(sizes: Sequence[int]) -> list[str]:
    """Return the lines that multiply vectors of some sizes by matrices, in scratch memory."""

    def turned(size: int) -> list[str]:
        components, entries = range(size), range(size * size)
        slots, places = [f"slot{c}" for c in components], [f"entry{e}" for e in entries]
        point = [
            *(f"v{c} = ld(scratch, x{c} + t)" for c in components),
            *_multiplied(components, 0),
            *(f"st(scratch, x{c} + t, u{c})" for c in components),
        ]
        line = [
            *(f"x{c} = slot{c} + a * slot_step" for c in components),
            *(f"m{e} = entry{e} + a * entry_step" for e in entries),
            *block("for t in independent(0, length)", point),
        ]
        return [*operands(*slots, *places, first=5), *block("for a in range(lines)", line)]

    return [
        *operands("size", "lines", "length", "slot_step", "entry_step"),
        *choice((f"size == {size}", turned(size)) for size in sizes),
    ]


def _multiplied(components: Sequence[int], first: int) -> list[str]:
    """Return the lines for u, a matrix times the vector v, whose entries count from the first."""
    lines = []
    for row, c in enumerate(components):
        for column, d in enumerate(components):
            entry = f"ld(weights, m{first + row * len(components) + column} + t)"
            value = f"fma({entry}, v{d}, u{c}_{column - 1})" if column else f"{entry} * v{d}"
            lines.append(f"u{c}_{column} = {value}")
    return [*lines, *(f"u{c} = u{c}_{len(components) - 1}" for c in components)]


# -- products of bands -----------------------------------------------------------------------------


def _label(group: Sequence[int]) -> str:
    return "product" + "_".join(map(str, group))


def _product(group: Sequence[int]) -> str:
    """Return the function that adds up neighbours on lines for a group of values.

    A recipe is a list of stretches of lines; `_stretch` says what is in each. The recipe is gone
    through as often as lines are alike. ``made`` is the same memory as ``scratch``, which holds the
    sources: since it is another argument, the compiler need not prove that they are apart.
    """
    values, entries = range(sum(group)), range(sum(n * n for n in group if n > 1))
    places = [name for v in values for name in (f"slot{v}", f"source{v}")]
    return function(
        f"{_label(group)}(links, at, weights, scratch, made)",
        *operands("recipe", "more", "times", "slot_step", "source_step", "entry_step"),
        *operands(*places, *(f"entry{e}" for e in entries), first=6),
        "zero = ld(weights, 0)",
        "stretch = recipe + 1",
        *block(
            "for n in range(ld(links, recipe))", [*_stretch(group, len(entries)), "stretch += 6"]
        ),
    )


def _stretch(group: Sequence[int], entries: int) -> list[str]:
    """Return the lines that add up one stretch for a group of values.

    A stretch is a line, the place of the first value on it, the number of values, the first weight,
    the place of the first source, and whether the sums go on with what is in the slots. The weights
    of one neighbour follow those of another. Only a value that is alone can go on.
    """
    fetched = operands("line", "place", "length", "weight0", "first", base="stretch")
    fresh = _sums(group, entries, [f"v{v}_0 = zero" for v in range(sum(group))])
    if tuple(group) == (1,):
        old = _sums(group, entries, ["v0_0 = ld(made, x0 + t)"])
        fresh = choice([("more + ld(links, stretch + 5) == 0", fresh), ("", old)])
    return [
        *fetched,
        *(f"weight{k} = weight{k - 1} + length" for k in range(1, TAPS)),
        "begin = line * slot_step + place",
        *(["first_entry = line * entry_step + place"] if entries else []),
        *fresh,
    ]


def _sums(group: Sequence[int], entries: int, begin: Sequence[str]) -> list[str]:
    """Return the loops over the values of a stretch, which begin with some lines for each point."""
    values = range(sum(group))
    neighbours = [
        line
        for k in range(TAPS)
        for line in (
            f"w{k} = ld(weights, weight{k} + t)",
            *(f"n{v}_{k} = ld(scratch, y{v} + t + {k})" for v in values),
            *(f"v{v}_{k + 1} = {_added(f'w{k}', f'n{v}_{k}', f'v{v}_{k}')}" for v in values),
        )
    ]
    multiplied: list[str] = []
    results: list[str] = []
    entry = 0
    for size in group:
        vector = range(len(results), len(results) + size)
        if size > 1:
            multiplied += _multiplied(vector, entry)
            entry += size * size
        results += [f"{'u' if size > 1 else 'v'}{v}" for v in vector]
    point = [
        *begin,
        *neighbours,
        *(f"v{v} = v{v}_{TAPS}" for v in values),
        *multiplied,
        *(f"st(made, x{v} + t, {result})" for v, result in enumerate(results)),
    ]
    line = [
        *(f"x{v} = slot{v} + begin + a * slot_step" for v in values),
        *(f"y{v} = source{v} + first + a * source_step" for v in values),
        *(f"m{e} = entry{e} + first_entry + a * entry_step" for e in range(entries)),
        *block("for t in independent(0, length)", point),
    ]
    return block("for a in range(times)", line)
