"""Pass manager: named rewrites of a program that run in order, each optionally verified.

The function of a pass has the name of its module. The first sentence of the module's docstring
describes the effect of the pass. With ``SSR_VERIFY=1`` the program is verified after each pass.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from .. import ir
from ..errors import Span
from ..kernel.ir import Module
from ..options import Options

Representation: TypeAlias = Literal["program", "nests", "pieces", "loops", "kernel"]


@dataclass(frozen=True, slots=True)
class Setting:
    """The choices of a compilation, and where the user wrote the steps of the program."""

    options: Options
    dtype: str = "float64"
    places: tuple[Span | None, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """A program between two passes: its steps, their forms as nests or loops, its kernel."""

    program: ir.Program
    nests: tuple[ir.Form, ...] = ()
    kernel: Module | None = None

    @property
    def fields(self) -> dict[str, ir.Field]:
        """The fields and temporaries of the program by name."""
        return {f.name: f for f in (*self.program.fields, *self.program.temporaries)}


Given: TypeAlias = Callable[[Setting, State], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Pass:
    """A rewrite.

    Attributes
    ----------
    change
        The function: of a program, of one nest of the types ``each``, or of a program and all of
        its nests; and of the keyword arguments that are ``given``.
    representation
        The representation of its result, which decides how that is verified and shown.
    when
        Whether options switch it on.
    parts
        Functions of rewrites that it includes.
    notes
        Returns sentences for the user, for the arguments of ``change``.
    """

    change: Callable[..., Any]
    representation: Representation = "program"
    each: tuple[type, ...] = ()
    given: Given = lambda setting, state: {}
    when: Callable[[Options], bool] = lambda options: True
    parts: tuple[Callable[..., Any], ...] = ()
    notes: Callable[..., tuple[str, ...]] | None = None

    @property
    def name(self) -> str:
        """The name for people."""
        return name_of(self.change)

    @property
    def effect(self) -> str:
        """The first sentence of the docstring of its module."""
        return effect_of(self.change)

    def __call__(self, state: State, setting: Setting) -> State:
        """Return the state after the pass, which is verified if ``SSR_VERIFY=1`` is set."""
        given = self.given(setting, state)
        if self.each:
            forms = state.nests or state.program.steps
            nests = (self.change(n, **given) if isinstance(n, self.each) else n for n in forms)
            state = replace(state, nests=tuple(nests))
        elif self.representation == "program":
            state = replace(state, program=self.change(state.program, **given))
        else:
            program, found = self.change(state.program, state.nests, **given)
            state = replace(state, program=program, nests=tuple(found))
        if wanted():
            from .verify.forms import verify_forms

            verify_forms(state.program, state.nests, self.name)
        return state


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a rewrite for people."""
    return function.__name__.replace("_", " ")


def effect_of(function: Callable[..., Any]) -> str:
    """Return the first sentence of the docstring of the module of a rewrite."""
    text = sys.modules[function.__module__].__doc__ or ""
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".:") + "."


def run(passes: Iterable[Pass], state: State, setting: Setting) -> State:
    """Return the state after some passes."""
    for _, after in states(passes, state, setting):
        state = after
    return state


def states(passes: Iterable[Pass], state: State, setting: Setting) -> Iterator[tuple[Pass, State]]:
    """Yield the passes that are switched on, each with the state after it."""
    for each in passes:
        if each.when(setting.options):
            state = each(state, setting)
            yield each, state


def wanted() -> bool:
    """Whether ``SSR_VERIFY=1`` requests verification."""
    return os.environ.get("SSR_VERIFY") == "1"
