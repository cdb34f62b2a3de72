"""The rules of nests of systems along lines: they hold, and a broken one is found."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

import ssr
from ssr import ir
from ssr.compiler.pipeline import direct, lower
from ssr.lower.lines.line_nest import line_nest
from ssr.lower.verify.lines import verify_lines
from ssr.points.affine import Affine

from ..strategies import examples
from .test_cyclic_lines import periodic
from .test_line_solves import Recipe, programs, recipes


def nests(program: ssr.Program) -> list[ir.LineNest]:
    """Return the nests of systems along lines of a program."""
    made = direct(program.ir, program.options)
    return [line_nest(step, made) for step in made.steps if isinstance(step, ir.Solve)]


@given(recipes())
@examples(10)
def test_drawn_matrices(recipe: Recipe) -> None:
    for program in programs(recipe):
        for nest in nests(program):
            verify_lines(nest)


def test_all_nests_are_verified_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    program = periodic(2).program("solve")
    found = []
    monkeypatch.setattr("ssr.lower.verify.forms.verify_lines", found.append)
    lower(program.ir, program.options, "float64", "title")
    assert {type(nest) for nest in found} == {ir.LineNest}


def without_a_piece(nest: ir.LineNest) -> ir.LineNest:
    return replace(nest, forward=nest.forward[1:])


def with_a_piece_twice(nest: ir.LineNest) -> ir.LineNest:
    return replace(nest, backward=(*nest.backward, nest.backward[0]))


def swept_the_other_way(nest: ir.LineNest) -> ir.LineNest:
    return replace(nest, forward=nest.backward, backward=nest.forward)


def with_fewer_points(nest: ir.LineNest) -> ir.LineNest:
    taken = tuple(replace(t, points=t.points - t.points) for t in nest.taken)
    return replace(nest, taken=taken)


def in_another_order(nest: ir.LineNest) -> ir.LineNest:
    piece = nest.forward[0]
    return replace(nest, forward=(replace(piece, parts=piece.parts[::-1]), *nest.forward[1:]))


def given_what_is_not_made(nest: ir.LineNest) -> ir.LineNest:
    return replace(nest, given=(("%nothing", "x"),))


def read_behind_the_row(nest: ir.LineNest) -> ir.LineNest:
    def change(value: Any) -> Any:
        if isinstance(value, ir.Load) and value.array == "%x0":
            return replace(value, index=(Affine.name("i") + 1,))
        return None

    def piece(p: ir.Piece) -> ir.Piece:
        return replace(
            p, parts=tuple(replace(part, value=ir.rewrite(part.value, change)) for part in p.parts)
        )

    return replace(nest, forward=tuple(map(piece, nest.forward)))


BROKEN: dict[Callable[[ir.LineNest], ir.LineNest], str] = {
    without_a_piece: "rows are never run",
    with_a_piece_twice: "runs rows of another piece",
    swept_the_other_way: "rows are never run",
    with_fewer_points: "is not made yet",
    in_another_order: "is not made yet",
    given_what_is_not_made: "is given to x, but never made",
    read_behind_the_row: "is not made yet",
}


@pytest.mark.parametrize("change", BROKEN, ids=lambda change: change.__name__)
def test_broken_rules(change: Any) -> None:
    (nest,) = nests(periodic(1).program("solve"))
    verify_lines(nest)
    with pytest.raises(AssertionError, match=BROKEN[change]):
        verify_lines(change(nest))
