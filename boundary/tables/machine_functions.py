"""Kernel IR of the virtual machine that fills ghost points: dispatch loop and instructions.

The dispatch loop reads the records of a program and calls one function for each type of
instruction. Names of variables: ``slot`` is an offset in scratch memory, ``to`` and ``of`` are
offsets in a field, ``line_step`` is the stride from line to line, and ``step`` the stride from
point to point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ssr.extension import (
    ALWAYS,
    Branch,
    choice,
    compare,
    do,
    every,
    kernel,
    let,
    load,
    loop,
    minus,
    plus,
    store,
    times,
)

from .band_products import multiplied, product
from .machine import Form, Op
from .statements import (
    ZERO,
    Block,
    added,
    along_line,
    fma,
    function,
    label,
    numbered,
    of_line,
    on_line,
    operands,
    over_lines,
    weight,
)

COLUMNS = 6
"""The number of columns that are copied in one pass over the rows; fewer are copied in pairs."""

AHEAD = 8
"""The prefetch distance in rows for the ends of rows. Prefetching needs at least `COLUMNS`
columns."""


def functions(form: Form, name: str) -> tuple[kernel.Function, ...]:
    """Return the machine's function after the functions it calls, whose names share its prefix.

    It takes the fields, ``links``, ``weights``, ``scratch`` and the scalars, and returns nothing.
    """
    fields = [f"f{n}" for n in range(form.fields)]
    scalars = [f"s{n}" for n in range(form.scalars)]
    record = [
        let("op", load("links", "start")),
        let("at", plus("start", 2)),
        *choice(_instructions(form, name, fields, scalars)),
        let("start", load("links", plus("start", 1))),
    ]
    goes_on = compare(load("links", "start"), "!=", int(Op.STOP))
    machine = function(
        name,
        [*fields, "links", "weights", "scratch", *scalars],
        [ZERO, let("start", 0), kernel.While(goes_on, tuple(record))],
    )
    called = (replace(each, name=f"{name}_{each.name}") for each in _functions(form))
    return (*called, machine)


def _functions(form: Form) -> Iterator[kernel.Function]:
    """Yield the functions that the machine calls."""
    if form.lines:
        yield _lines()
    if form.copies:
        yield _copy("copy", within=True)
    if form.pairs:
        yield _copy("carry", within=False)
    if form.shared:
        yield _share()
    if form.lines:
        yield _points()
    yield from map(_mutual, form.mutual)
    for group in form.groups:
        yield product(group)


def _instructions(
    form: Form, name: str, fields: Sequence[str], scalars: Sequence[str]
) -> Iterator[Branch]:
    """Yield the branches of the machine: a condition on the instruction, and statements."""
    arguments = "op", "links", plus("at", 1), "weights"

    def of_field(kind: str, *more: str) -> Block:
        return numbered(do(f"{name}_{kind}", f, *arguments, *more) for f in fields)

    if form.lines:
        yield _until(Op.TAP), of_field("lines", "scratch")
    for number, group in enumerate(form.groups, int(Op.PRODUCT)):
        called = f"{name}_{label('product', group)}"
        yield compare("op", "==", number), [do(called, *PRODUCT)]
    if form.copies or form.pairs:
        lanes = [("copy", field, field) for field in fields] if form.copies else []
        lanes += [("carry", fields[target], fields[source]) for target, source in form.pairs]
        calls = (do(f"{name}_{kind}", to, *arguments, of) for kind, to, of in lanes)
        yield _until(Op.COLUMNS), numbered(calls)
    if form.shared:
        yield _is(Op.SHARE), of_field("share")
    if form.lines:
        yield _until(Op.SCATTER), of_field("points", "scratch")
        yield _is(Op.FILL), _filled(weight("w"))
    if scalars:
        chosen = numbered(let("factor", scalar) for scalar in scalars)
        total = fma(weight("w"), "factor", load("scratch", on_line("x")))
        yield _is(Op.SCALE), [*chosen, let("at", plus("at", 1)), *_filled(total)]
    if form.groups:
        zeros = along_line([store("scratch", on_line("slot"), "zero")])
        yield _is(Op.CLEAR), [*operands("slot", "length"), zeros]
    if form.vectors:
        yield _is(Op.TURN), _turn(form.vectors)
    if form.mutual:
        yield (
            _is(Op.MUTUAL),
            numbered(
                do(f"{name}_{label('mutual', lines)}", *(fields[n] for n in lines), *arguments[1:])
                for lines in form.mutual
            ),
        )


def _is(op: Op) -> kernel.Expression:
    return compare("op", "==", int(op))


def _until(last: Op) -> kernel.Expression:
    return compare("op", "<=", int(last))


PRODUCT = "links", "at", "weights", "scratch", "scratch"
"""The arguments of a band product."""

WEIGHT = let("weight", load("weights", "weight_place"))


def _lines() -> kernel.Function:
    """Return the function for lines between a field and scratch memory."""
    x = on_line("x")
    old = load("scratch", x)
    places = let("x", of_line("slot", "slot_step")), let("y", of_line("place", "line_step"))
    weights = let("w", of_line("weight_place", "weight_step"))
    cases = [_is(Op.READ), _is(Op.WRITE), compare("first", "==", 1), ALWAYS]

    def made(step: str | None) -> list[Block]:
        """Return the statements for all lines in each case."""
        read = load("f", on_line("y", step))
        both = let("factor", weight("w")), let("value", read)
        lines: list[Block] = [
            [along_line([store("scratch", x, read)])],
            [along_line([store("f", on_line("y", step), times("weight", old))])],
            *(
                [weights, along_line([*both, store("scratch", x, added("factor", "value", total))])]
                for total in ("zero", old)
            ),
        ]
        return [[over_lines([*places, *line])] for line in lines]

    branches: list[Branch] = []
    for case, near, far in zip(cases, made(None), made("step"), strict=True):
        near_too = [each for each in (case, compare("step", "==", 1)) if each != ALWAYS]
        branches += (every(near_too), near), (case, far)
    place = let("place", load("links", plus("at", 10, "n")))
    return function(
        "lines",
        ["f", "op", "links", "at", "weights", "scratch"],
        [
            *operands(
                "slot", "weight_place", "first", "lines", "length", "slot_step", "weight_step"
            ),
            *operands("ranges", "line_step", "step", first=7),
            WEIGHT,
            ZERO,
            loop("n", (0, "ranges"), [place, *choice(branches)]),
        ],
    )


def _copy(name: str, within: bool) -> kernel.Function:
    """Return the function for copies from one field to another, or within a field.

    Loops whose accesses have a stride are not unrolled: that makes them slower (measured on
    `benchmarks.boundary`).
    A function for copies within a field takes that field twice, so that the compiler need not
    prove that no source is a target.
    """
    contiguous = [compare(step, "==", 1) for step in ("to_step", "of_step")]
    near, far = load("g", on_line("y")), load("g", on_line("y", "of_step"))
    unchanged = every([*contiguous, compare("weight", "==", 1)])
    copies: list[Branch] = [
        (unchanged, [along_line([store("f", on_line("x"), near)])]),
        (every(contiguous), [along_line([store("f", on_line("x"), times("weight", near))])]),
        (
            ALWAYS,
            [along_line([store("f", on_line("x", "to_step"), times("weight", far))], "rolled")],
        ),
    ]
    line = [let("x", of_line("to", "to_line")), let("y", of_line("of", "of_line")), *choice(copies)]
    remain = kernel.While(compare("length", ">", 0), tuple(_columns(within)))
    columns: Block = [let("column", plus("at", 9)), remain]
    return function(
        name,
        ["f", "op", "links", "at", "weights", "g"],
        [
            *operands("weight_place", "lines", "length"),
            *operands("to", "to_line", "to_step", "of", "of_line", "of_step", first=3),
            WEIGHT,
            *choice([(_is(Op.COLUMNS), columns), (ALWAYS, [over_lines(line, order="rolled")])]),
        ],
    )


def _columns(within: bool) -> Block:
    """Return the statements that copy the next columns of rows: many at once, or two.

    Many columns leave time to fetch the ends of rows ahead. With two columns of one field, the
    compiler generates the best code if sources and targets are the same argument.
    """
    field, row_ahead = "f" if within else "g", plus("a", AHEAD)
    fetched = [
        do("prefetch", "f", plus("x0", times(row_ahead, "to_line"))),
        do("prefetch", field, plus("y0", times(row_ahead, "of_line"))),
    ]

    def place(number: int) -> kernel.Expression:
        return load("links", plus("column", number))

    def copied(count: int, other: str, ahead: Block) -> Block:
        columns = range(count)
        of = [times("weight", load(other, of_line(f"y{c}", "of_line"))) for c in columns]
        row = [
            *ahead,
            *(let(f"v{c}", of[c]) for c in columns),
            *(store("f", of_line(f"x{c}", "to_line"), f"v{c}") for c in columns),
        ]
        return [
            *(let(f"x{c}", plus("to", place(2 * c))) for c in columns),
            *(let(f"y{c}", plus("of", place(2 * c + 1))) for c in columns),
            let("column", plus("column", 2 * count)),
            let("length", minus("length", count)),
            over_lines(row, order="rolled"),
        ]

    many, two = copied(COLUMNS, "g", fetched), copied(2, field, ())
    return choice([(compare("length", ">=", COLUMNS), many), (ALWAYS, two)])


def _share() -> kernel.Function:
    """Return the function for pairs of points that become equal."""
    x, y = on_line("x", "step"), on_line("y", "other_step")
    total = fma("other_weight", load("f", y), fma("weight", load("f", x), "zero"))
    points = along_line([let("value", total), store("f", x, "value"), store("f", y, "value")])
    line = [
        let("x", of_line("place", "line_step")),
        let("y", of_line("other", "other_line")),
        points,
    ]
    return function(
        "share",
        ["f", "op", "links", "at", "weights"],
        [
            *operands("weight_place", "other_place", "lines", "length"),
            *operands("place", "line_step", "step", "other", "other_line", "other_step", first=4),
            ZERO,
            WEIGHT,
            let("other_weight", load("weights", "other_place")),
            over_lines(line),
        ],
    )


def _mutual(fields: Sequence[int]) -> kernel.Function:
    """Return the function for lines that become sums of each other.

    It takes a field for each line, as if fields were distinct: no point is on two lines.
    """
    lines = range(len(fields))

    def total(n: int) -> kernel.Expression:
        found: kernel.Expression = kernel.Name("zero")
        for m in lines:
            found = added(f"e{n}_{m}", f"v{m}", found)
        return found

    places = [on_line(f"x{n}", f"step{n}") for n in lines]
    point: Block = [
        *(let(f"v{n}", load(f"f{n}", places[n])) for n in lines),
        *(let(f"e{n}_{m}", weight(f"w{n}_{m}")) for n in lines for m in lines),
        *(let(f"u{n}", total(n)) for n in lines),
        *(store(f"f{n}", places[n], f"u{n}") for n in lines),
    ]
    return function(
        label("mutual", fields),
        [*(f"f{n}" for n in lines), "links", "at", "weights"],
        [
            *operands("length", *(name for n in lines for name in (f"x{n}", f"step{n}"))),
            *operands(*(f"w{n}_{m}" for n in lines for m in lines), first=1 + 2 * len(lines)),
            ZERO,
            along_line(point),
        ],
    )


def _points() -> kernel.Function:
    """Return the function for points one by one."""

    def operand(number: int) -> kernel.Expression:
        return load("links", plus("at", number) if number else "at")

    def points(*body: kernel.Statement, taken: int) -> Block:
        return [loop("n", (0, "count"), [*body, let("at", plus("at", taken))])]

    gathered = points(
        let("slot", operand(0)),
        let("weight", load("weights", operand(1))),
        let("value", load("f", operand(2))),
        store("scratch", "slot", added("weight", "value", load("scratch", "slot"))),
        taken=3,
    )
    scattered = points(store("f", operand(1), load("scratch", operand(0))), taken=2)
    return function(
        "points",
        ["f", "op", "links", "at", "weights", "scratch"],
        [
            *operands("count"),
            ZERO,
            let("at", plus("at", 1)),
            *choice([(_is(Op.GATHER), gathered), (ALWAYS, scattered)]),
        ],
    )


def _filled(value: kernel.Expression) -> Block:
    """Return the statements that store a value everywhere on lines in scratch memory."""
    line = [
        let("x", of_line("slot", "slot_step")),
        let("w", of_line("weight_place", "weight_step")),
        along_line([store("scratch", on_line("x"), value)]),
    ]
    names = "slot", "weight_place", "lines", "length", "slot_step", "weight_step"
    return [*operands(*names), over_lines(line)]


def _turn(sizes: Sequence[int]) -> Block:
    """Return the statements that multiply vectors of some sizes by matrices, in scratch memory."""

    def turned(size: int) -> Block:
        components, entries = range(size), range(size * size)
        slots, places = [f"slot{c}" for c in components], [f"entry{e}" for e in entries]
        point = [
            *(let(f"v{c}", load("scratch", on_line(f"x{c}"))) for c in components),
            *multiplied(components, 0),
            *(store("scratch", on_line(f"x{c}"), f"u{c}") for c in components),
        ]
        line = [
            *(let(f"x{c}", of_line(f"slot{c}", "slot_step")) for c in components),
            *(let(f"m{e}", of_line(f"entry{e}", "entry_step")) for e in entries),
            along_line(point, "independent"),
        ]
        return [*operands(*slots, *places, first=5), over_lines(line)]

    return [
        *operands("size", "lines", "length", "slot_step", "entry_step"),
        *choice((compare("size", "==", size), turned(size)) for size in sizes),
    ]
