"""Smaller cases of the same outcome: parts of the text are left out while it stays."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .cases import Case, Run


def shrunk(case: Case, same: Callable[[Case], bool], seconds: float) -> Case:
    """Return a case that is as small as can be found in some time, of the same outcome."""
    until = time.process_time() + seconds
    going = True
    while going:
        going = False
        for smaller in candidates(case):
            if time.process_time() > until:
                return case
            try:
                found = same(smaller)
            except Exception:  # the text means nothing any more
                continue
            if found:
                case, going = smaller, True
                break
    return case


def candidates(case: Case) -> Iterator[Case]:
    """Yield cases that are a little smaller."""
    if len(case.runs) > 1:
        for n in range(len(case.runs)):
            yield replace(case, runs=case.runs[:n] + case.runs[n + 1 :])
    for text in texts(case.text):
        yield replace(case, text=text)
    if len(case.runs) == 1:
        yield from (replace(case, runs=(run,)) for run in simpler(case.runs[0]))


def simpler(run: Run) -> Iterator[Run]:
    """Yield runs of smaller sizes, with fewer options."""
    for n, (name, value) in enumerate(run.sizes):
        if value > 1:
            yield replace(run, sizes=(*run.sizes[:n], (name, value - 1), *run.sizes[n + 1 :]))
    for n in range(len(run.options)):
        yield replace(run, options=run.options[:n] + run.options[n + 1 :])
    for n in range(len(run.before)):
        calls = run.calls[:n] + run.calls[n + 1 :]
        yield replace(run, before=run.before[:n] + run.before[n + 1 :], calls=calls)
    if run.changed is not None:
        yield replace(run, changed=None)
    if run.threads:
        yield replace(run, threads=False)
    if run.boxes:
        yield replace(run, boxes=(), cuts=(2,) * len(run.sizes))
    if run.layouts != ("plain",):
        yield replace(run, layouts=("plain",))
    if run.ranks > 1:
        yield replace(run, ranks=run.ranks - 1)
    if run.cuts:
        yield replace(run, cuts=())
    for n, cut in enumerate(run.cuts):
        if cut > 1:
            yield replace(run, cuts=(*run.cuts[:n], cut - 1, *run.cuts[n + 1 :]))
    if run.dtype != "float64":
        yield replace(run, dtype="float64")


def texts(text: str) -> Iterator[str]:
    """Yield texts with a statement left out, or an expression replaced by a part of it."""
    tree = ast.parse(text)
    for place, change in enumerate_changes(tree):
        smaller = copy.deepcopy(tree)
        nodes = list(ast.walk(smaller))
        change(nodes[place])
        try:
            made = ast.unparse(ast.fix_missing_locations(smaller)) + "\n"
        except Exception:
            continue
        if len(made) < len(text):
            yield made


def enumerate_changes(tree: ast.AST) -> Iterator[tuple[int, Callable[[Any], None]]]:
    """Yield the places of nodes with a change of each that makes the text shorter."""
    for place, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                for n, item in enumerate(value):
                    if isinstance(item, (ast.stmt, ast.keyword, ast.arg)):
                        yield place, _without(name, n)
                    if isinstance(item, ast.If):
                        yield place, _opened(name, n)
                    if isinstance(item, ast.expr):
                        for part in range(len(parts(item))):
                            yield place, _replaced(name, n, part)
                        if isinstance(node, ast.BoolOp) and len(value) > 1:
                            yield place, _without(name, n)
            elif isinstance(value, ast.expr):
                for part in range(len(parts(value))):
                    yield place, _replaced(name, None, part)


def parts(node: ast.expr) -> list[ast.expr]:
    """Return the expressions that may stand for one that holds them."""
    match node:
        case ast.BinOp(left, _, right):
            return [left, right]
        case ast.UnaryOp(_, operand):
            return [operand]
        case ast.Call(_, args):
            holder = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            return [*args, *holder]
        case ast.Attribute(value, "T"):
            return [value]
        case ast.BoolOp(_, values):
            return list(values)
        case ast.Subscript(value, _):
            return [value]
    return []


def _without(name: str, place: int) -> Callable[[Any], None]:
    def change(node: Any) -> None:
        del getattr(node, name)[place]
        if name == "body" and not node.body:
            node.body = [ast.Pass()]

    return change


def _opened(name: str, place: int) -> Callable[[Any], None]:
    def change(node: Any) -> None:
        inside = getattr(node, name)
        inside[place : place + 1] = inside[place].body

    return change


def _replaced(name: str, place: int | None, part: int) -> Callable[[Any], None]:
    def change(node: Any) -> None:
        if place is None:
            setattr(node, name, parts(getattr(node, name))[part])
        else:
            inside = getattr(node, name)
            inside[place] = parts(inside[place])[part]

    return change
