"""The passes over the nest of one step."""

from __future__ import annotations

from collections.abc import Iterator

import ssr
from ssr import ir
from ssr.compiler.passes import NESTS
from ssr.lower.pass_manager import Setting, State, states

SINGLE = NESTS[2:7]


def stages(
    start: ir.Nest, program: ir.Program, options: ssr.Options, dtype: str
) -> Iterator[tuple[str, ir.Nest]]:
    """Yield a nest, and the passes that are switched on with the nest after each."""
    yield "step nest", start
    for each, state in states(SINGLE, State(program, (start,)), Setting(options, dtype)):
        (made,) = state.nests
        assert isinstance(made, ir.Nest)
        yield each.name, made
