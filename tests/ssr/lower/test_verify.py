"""Nests the passes make are valid; nests with one thing wrong are found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import ssr
from ssr import ir
from ssr.compiler.passes import EMISSION, LOOPS, NESTS, STEPS
from ssr.compiler.pipeline import lower
from ssr.lower.step_nest import step_nest
from ssr.lower.steps.in_place import in_place
from ssr.lower.verify.nests import verify
from ssr.points.affine import Affine
from ssr.points.sets import Domain
from tests.ssr import sample_programs as programs

from ..nest_passes import stages

Fields = dict[str, ir.Field]


def lowered(name: str) -> tuple[ir.Nest, Fields]:
    """Return the first nest of a program after all passes, and the arrays it may use."""
    program = programs.PROGRAMS[name]()
    made = in_place(program.ir)
    fields = {f.name: f for f in (*made.fields, *made.temporaries)}
    a = made.steps[0]
    start = step_nest(a, made)
    *_, (_, last) = stages(start, made, program.options, "float64")
    return last, fields


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_passes_make_valid_nests(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    program = programs.PROGRAMS[name]()
    lower(program.ir, program.options, "float64", "title")


def test_the_pipeline_verifies_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    program = programs.PROGRAMS["five_point_apply"]()
    seen = []
    monkeypatch.setattr(
        "ssr.lower.verify.forms.verify_forms", lambda program, forms, after: seen.append(after)
    )
    monkeypatch.setattr(
        "ssr.compiler.pipeline.verify_kernel", lambda kernel, after: seen.append(after)
    )
    monkeypatch.delenv("SSR_VERIFY", raising=False)
    lower(program.ir, program.options, "float64", "title")
    assert seen == []
    monkeypatch.setenv("SSR_VERIFY", "1")
    lower(program.ir, program.options, "float64", "title")
    options = program.options
    assert seen == [p.name for p in (*STEPS, *NESTS, *LOOPS, EMISSION) if p.when(options)]


# -- one thing wrong at a time -------------------------------------------------------------------


def change(found: ir.Nest, name: str, **changes: Any) -> ir.Nest:
    """Return a nest with one of its statements changed."""
    assert any(s.name == name for s in found.statements), [s.name for s in found.statements]
    return replace(
        found,
        statements=tuple(replace(s, **changes) if s.name == name else s for s in found.statements),
    )


def without(found: ir.Nest, name: str) -> ir.Nest:
    assert any(s.name == name for s in found.statements)
    return replace(found, statements=tuple(s for s in found.statements if s.name != name))


def value(found: ir.Nest, name: str, wrong: Callable[[ir.Load], ir.Load]) -> ir.Nest:
    """Return a nest with the loads of one of its statements changed."""
    (statement,) = (s for s in found.statements if s.name == name)

    def load(node: ir.Value) -> ir.Value | None:
        return wrong(node) if isinstance(node, ir.Load) else None

    return change(found, name, value=ir.rewrite(statement.value, load))


def buffers(found: ir.Nest, **changes: int) -> ir.Nest:
    """Return a nest with all its buffers changed, as far as they had other values."""
    return replace(found, buffers=tuple(replace(b, **changes) for b in found.buffers))


def moved(array: str, axis: int, distance: int) -> Callable[[ir.Load], ir.Load]:
    """Return the change that moves the loads of an array along an axis."""

    def move(load: ir.Load) -> ir.Load:
        if load.array != array:
            return load
        index = list(load.index)
        index[axis] = index[axis] + distance
        return replace(load, index=tuple(index))

    return move


def marked(new: bool) -> Callable[[ir.Load], ir.Load]:
    return lambda load: replace(load, new=new) if load.array == "x" else load


def early(statement: ir.Statement) -> dict[str, int]:
    return {"ahead": statement.ahead + 1, "lead": (0, statement.lead[1] + 1)}


def rotation(found: ir.Nest) -> ir.Statement:
    """Return the statement that fills a rotation of buffers."""
    (buffer,) = (b for b in found.buffers if b.rows > 1)
    (statement,) = (s for s in found.statements if s.array == buffer.name)
    return statement


FIVE: dict[str, tuple[Callable[[ir.Nest], ir.Nest], str]] = {
    "the target is not written": (
        lambda f: without(f, "row"),
        "no statement writes 'x'",
    ),
    "half of the target is written": (
        lambda f: change(
            f, "row", domain=f.statements[-1].domain & Domain.where(f.axes, "i mod 2 = 0")
        ),
        "rows are never written, for .*mod 2",
    ),
    "rows are written twice": (
        lambda f: replace(f, statements=(*f.statements, f.statements[-1])),
        "rows are written twice",
    ),
    "a buffer is not filled": (
        lambda f: without(f, "ahead_t0"),
        r"after broken, nest 'x', statement 'row': %t0\[i\] is read and was not written",
    ),
    "a buffer is filled too late": (
        lambda f: replace(f, statements=f.statements[::-1]),
        r"%t0\[i\] is read and was not written",
    ),
    "a buffer is filled on another line": (
        lambda f: change(f, "ahead_t0", **early(f.statements[0])),
        "is on the line of the row it is for",
    ),
    "a chain is called parallel": (
        lambda f: change(f, "row", parallel=True),
        r"x′\[j, i - 1\] is read before it is written",
    ),
    "lines are not reached": (
        lambda f: change(f, "ahead_t0", ahead=1),
        "the loops do not reach lines",
    ),
    "an array is left": (
        lambda f: value(f, "ahead_t0", moved("b", -1, 1)),
        r"b\[j, i \+ 1\] lies outside b, for i = -1 \+ nx",
    ),
    "a buffer is left": (
        lambda f: value(buffers(f, pad=0), "row", moved("%t0", -1, -1)),
        r"%t0\[i - 1\] lies outside %t0",
    ),
    "an old value is marked new": (
        lambda f: value(f, "ahead_t0", marked(True)),
        r"x′\[j, i \+ 1\] is not made yet",
    ),
    "a new value is marked old": (
        lambda f: value(f, "row", marked(False)),
        r"the old x\[j, i - 1\] lies before the row",
    ),
    "an unknown array is written": (
        lambda f: change(f, "ahead_t0", array="b"),
        "'ahead_t0' writes 'b'",
    ),
    "a buffer is written elsewhere": (
        lambda f: change(f, "ahead_t0", index=(Affine.name("i") + 1,)),
        r"writes %t0 at \(i \+ 1\)",
    ),
    "the target is written elsewhere": (
        lambda f: change(f, "row", index=(Affine.name("j"), Affine.name("i") * 2)),
        "writes the target at",
    ),
    "the order is wrong": (
        lambda f: replace(f, order="backward"),
        r"the old x\[j, i \+ 1\] lies before the row",
    ),
}


@pytest.mark.parametrize("case", FIVE)
def test_a_broken_five_point_sweep_is_found_out(case: str) -> None:
    found, fields = lowered("five_point_gauss_seidel")
    verify(found, fields)
    broken, message = FIVE[case]
    with pytest.raises(AssertionError, match=message):
        verify(broken(found), fields, "broken")


ROTATION: dict[str, tuple[Callable[[ir.Nest], ir.Nest], str]] = {
    "rows are replaced too soon": (
        lambda f: replace(
            f, buffers=tuple(replace(b, rows=2) if b.rows > 1 else b for b in f.buffers)
        ),
        "is read after it was replaced",
    ),
    "rows do not divide the lines": (
        lambda f: replace(
            f, buffers=tuple(replace(b, rows=3) if b.rows > 1 else b for b in f.buffers)
        ),
        "rotates 3 rows",
    ),
    "planes are summed a line late": (
        lambda f: change(f, rotation(f).name, ahead=rotation(f).ahead - 1),
        "was not written|do not reach lines",
    ),
    "the first lines are left out": (
        lambda f: change(f, rotation(f).name, lead=(0, rotation(f).lead[1] - 1)),
        "the loops do not reach lines",
    ),
    "the own plane is summed ahead": (
        lambda f: value(
            f,
            rotation(f).name,
            lambda v: replace(v, index=(Affine.name("k"), *v.index[1:])),
        ),
        r"x′\[k, j, i\] is not made yet|the old x\[k, j, i\] lies before the row",
    ),
    "a new plane is marked old": (
        lambda f: value(f, rotation(f).name, marked(False)),
        "the old x.* lies before the row",
    ),
    "a pad is not cleared": (
        lambda f: buffers(f, pad=0),
        "lies outside",
    ),
}


@pytest.mark.parametrize("case", ROTATION)
@pytest.mark.parametrize("name", ["twenty_seven_gauss_seidel", "twenty_seven_backward"])
def test_a_broken_rotation_is_found_out(name: str, case: str) -> None:
    found, fields = lowered(name)
    verify(found, fields)
    broken, message = ROTATION[case]
    with pytest.raises(AssertionError, match=message):
        verify(broken(found), fields, "broken")


def test_a_parallel_statement_may_not_read_what_it_writes() -> None:
    found, fields = lowered("tridiagonal_backward")
    steps = [s for s in found.statements if s.array in {b.name for b in found.buffers}]
    last = found.statements[-1]
    assert isinstance(last.value, ir.Sum)
    source = next(v.array for v in ir.loads(last.value))
    (writer,) = (s for s in steps if s.array == source)
    chained = replace(writer, value=ir.Load(source, (Affine.name("i") + 1,)), parallel=True)
    broken = replace(
        buffers(found, pad=1),
        statements=tuple(chained if s is writer else s for s in found.statements),
    )
    with pytest.raises(AssertionError, match="is read while it is written"):
        verify(broken, fields)


def test_a_line_has_no_lines_before_it() -> None:
    found, fields = lowered("varying_solve")
    name = found.statements[-1].name
    with pytest.raises(AssertionError, match="runs early, but there is one line only"):
        verify(change(found, name, ahead=1), fields)


def test_options_do_not_matter() -> None:
    for options in ({"split": False}, {"recurrence": False}, {"partial_sums": False}):
        program = programs.sweep(programs.twenty_seven, "forward", **options)
        fields = {f.name: f for f in program.ir.fields}
        a = program.ir.steps[0]
        found = stages(step_nest(a, program.ir), program.ir, ssr.Options(**options), "float64")
        for name, made in found:
            verify(made, fields, name)
