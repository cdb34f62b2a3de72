"""The list of passes: each has its module's name, a sentence, a verifier, a place in explain."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ssr
from ssr import ir
from ssr.compiler import pipeline
from ssr.compiler.passes import PASSES
from ssr.kernel.ir import Module
from ssr.lower import declaration_passes
from ssr.lower.pass_manager import Pass, effect_of, name_of
from tests.ssr import sample_programs as programs

ROOT = Path(__file__).parents[3]
REWRITES = list(dict.fromkeys([f for p in PASSES for f in (p.change, *p.parts)]))
TRANSLATIONS = {"step nest", "line nest", "loop schedule", "line schedule", "emission"}


def test_there_are_at_most_thirty_passes_besides_translations() -> None:
    assert len({p.name for p in PASSES} - TRANSLATIONS) <= 30


@pytest.mark.parametrize("rewrite", REWRITES, ids=name_of)
def test_a_rewrite_has_the_name_of_its_module(rewrite: Callable[..., Any]) -> None:
    assert rewrite.__module__.rpartition(".")[2] == rewrite.__name__


@pytest.mark.parametrize("rewrite", REWRITES, ids=name_of)
def test_a_rewrite_says_what_it_does(rewrite: Callable[..., Any]) -> None:
    effect = effect_of(rewrite)
    assert re.fullmatch(r"[A-Z][^.]*\.", effect)
    assert len(effect) < 100
    text = sys.modules[rewrite.__module__].__doc__ or ""
    assert rewrite.__name__ == "outline" or re.search("before|->|=", text)


def test_every_function_between_programs_or_nests_is_listed() -> None:
    """Modules of rewrites hold a listed function; others are named here."""
    folders = ROOT / "ssr" / "lower"
    helpers = {
        "candidates", "fusion_plan", "old_values", "row_classes", "cyclic", "elimination",
    }  # fmt: skip
    found = {f.stem for name in ("steps", "passes", "fusing", "lines") for f in
             (folders / name).glob("*.py")} - {"__init__"} - helpers  # fmt: skip
    assert found <= {rewrite.__name__ for rewrite in REWRITES}


def test_the_page_of_the_design_has_the_table() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    table = page.partition("| pass | of | effect |\n| --- | --- | --- |\n")[2]
    rows = table.partition("\n\n")[0].splitlines()
    assert rows == expected()


def expected() -> list[str]:
    """Return the rows of the table of passes."""
    rows = []
    for each in PASSES:
        rows.append(f"| {each.name} | {each.representation} | {each.effect} |")
        rows += [f"| - {name_of(part)} | | {effect_of(part)} |" for part in each.parts]
    return rows


@pytest.mark.parametrize("each", dict.fromkeys(PASSES), ids=lambda each: each.name)
def test_a_pass_is_shown(each: Pass) -> None:
    program = programs.sweep(programs.five, "forward")
    for name in (each.name, *map(name_of, each.parts)):
        text = program.explain(name)
        assert text.startswith(name)
        assert each.effect in text
        off = text.endswith("It is off with these options.")
        assert off == (not each.when(program.options))
    assert each.name in program.explain("passes")


# -- verification: the result of each pass is spoiled, and that is found --------------------------


def spoiled_program(program: ir.Program) -> ir.Program:
    """Return a program whose last step reads a field that is not there."""
    *steps, last = program.steps
    assert isinstance(last, ir.Assignment)
    row = last.value
    nothing = ir.rewrite(
        row, lambda v: replace(v, array="missing") if isinstance(v, ir.Load) else None
    )
    return replace(program, steps=(*steps, replace(last, value=nothing)))


def spoiled_form(form: Any) -> Any:
    """Return the form of a step without the first rows of what it runs, or of what it makes."""
    match form:
        case ir.Nest():
            return replace(form, statements=form.statements[:-1])
        case ir.LineNest():
            return replace(form, forward=form.forward[1:])
        case ir.SplitNest():
            *parts, last = form.line
            assert isinstance(last, ir.Stage)
            return replace(form, line=(*parts, replace(last, pieces=last.pieces[1:])))
        case ir.LoopNest():
            return replace(form, tree=())
        case ir.LineLoops():
            kinds = {name: replace(kind, forward=()) for name, kind in form.kinds.items()}
            return replace(form, kinds=kinds)
    return form


def spoiled_kernel(kernel: Module) -> Module:
    """Return a kernel without the first statements of its functions."""
    functions = tuple(replace(f, body=f.body[len(f.body) // 2 :]) for f in kernel.functions)
    return replace(kernel, functions=functions)


def spoiled(each: Pass) -> Pass:
    """Return a pass with a defect."""

    def change(*given: Any, **named: Any) -> Any:
        found = each.change(*given, **named)
        if isinstance(found, ir.Program):
            return spoiled_program(found)
        if isinstance(found, Module):
            return spoiled_kernel(found)
        if not isinstance(found, tuple):
            return spoiled_form(found)
        first, second = found
        if isinstance(first, Module):
            return spoiled_kernel(first), second
        return first, tuple(map(spoiled_form, second))

    change.__name__ = each.change.__name__
    return replace(each, change=change)


@pytest.mark.parametrize("each", dict.fromkeys(PASSES), ids=lambda each: each.name)
def test_the_result_of_a_pass_is_verified(each: Pass, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    lines = each.name.startswith("line ")
    program = line_program() if lines else programs.sweep(programs.five, "forward")
    lists = (
        (declaration_passes, "DECLARATION"),
        *((pipeline, n) for n in ("STEPS", "NESTS", "LOOPS")),
    )
    for module, name in lists:
        found = (spoiled(p) if p is each else p for p in getattr(module, name))
        monkeypatch.setattr(module, name, tuple(found))
    for name in ("EMISSION", "VECTORIZE"):
        known = getattr(pipeline, name)
        monkeypatch.setattr(pipeline, name, spoiled(known) if known is each else known)
    distributed = not each.when(ssr.Options())
    options = ssr.Options(distributed=distributed, debug=each.name == "pivots")
    with pytest.raises(AssertionError):
        compile_(program, options)


def compile_(program: ssr.Program, options: ssr.Options) -> None:
    """Run all passes over a program."""
    declared = program.with_options(options)
    pipeline.vectorized(pipeline.lower(declared.ir, options, "float64", "title").kernel)


def line_program() -> ssr.Program:
    """Return a program that solves systems along lines."""
    cells = ssr.Space(*ssr.sizes("ny nx"))
    along = {(0, -1): -1, (0, 0): 4, (0, 1): -1}
    return ssr.stencil(cells, cells, along, outside="zero").program("solve")
