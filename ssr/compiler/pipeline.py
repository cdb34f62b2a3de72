"""The compiler pipeline: from the steps of a program to the kernel module, pass by pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .. import ir
from ..emit.unit import Form, Unit
from ..kernel.ir import Module
from ..kernel.print_python import printed
from ..lower.accesses import Actions, actions
from ..lower.pass_manager import Pass, Setting, State, run, states, wanted
from ..lower.steps.place_calls import copies, partly_needed
from ..lower.verify.kernels import verify_kernel
from ..options import Options
from ..runtime import target
from ..runtime.metadata import KernelMeta
from .passes import EMISSION, LOOPS, NESTS, SIMPLE_STEPS, STEPS, VECTORIZE


@dataclass(frozen=True, slots=True)
class Lowered:
    """The kernel of a program, with the stages on the way."""

    program: ir.Program
    nests: tuple[ir.Form, ...]
    loops: tuple[ir.Form, ...]
    kernel: Module
    source: str
    meta: KernelMeta


def lower(
    program: ir.Program, options: Options, dtype: str, title: str, *, checked: bool = False
) -> Lowered:
    """Return the kernel of a program, with the stages on the way."""
    setting = Setting(options, dtype)
    start = run(STEPS, State(program), setting)
    nests = run(NESTS, start, setting)
    loops = run(LOOPS, nests, setting)
    form: Form = "debug" if options.debug else "checked" if checked else "fast"
    kernel, meta = _emitted(_unit(start.program, loops, setting, title, form))
    return Lowered(loops.program, nests.nests, loops.nests, kernel, printed(kernel), meta)


def _emitted(unit: Unit) -> tuple[Module, KernelMeta]:
    kernel, meta = EMISSION.change(unit)
    _verified(kernel, EMISSION)
    return kernel, meta


def _verified(kernel: Module, after: Pass) -> None:
    if wanted():
        verify_kernel(kernel, after.name)


def _unit(start: ir.Program, loops: State, setting: Setting, title: str, form: Form) -> Unit:
    """Return the input of emission; ``start`` is the program before it has nests."""
    options = setting.options
    ignored = partly_needed(start) | copies(start) if options.debug else frozenset[str]()
    ran = tuple(n for n in loops.nests if isinstance(n, (ir.LoopNest, ir.LineLoops, ir.Call)))
    return Unit(loops.program, ran, setting.dtype, title, form, options.distributed, ignored)


def vectorized(kernel: Module) -> Module:
    """Return a kernel with loops over vectors of the target."""
    made: Module = VECTORIZE.change(kernel, target.current())
    _verified(made, VECTORIZE)
    return made


def all_states(program: ir.Program, options: Options, dtype: str) -> Iterator[tuple[Pass, State]]:
    """Yield the passes that run when a kernel is built, each with the state after it.

    `VECTORIZE`, which depends on the processor, is left out.
    """
    setting, state = Setting(options, dtype), State(program)
    for each, after in states(STEPS, state, setting):
        yield each, after
        state = after
    placed = state.program
    for each, after in states((*NESTS, *LOOPS), state, setting):
        yield each, after
        state = after
    title = f"{program.name}, generated for {dtype}."
    form: Form = "debug" if options.debug else "fast"
    kernel, _ = _emitted(_unit(placed, state, setting, title, form))
    yield EMISSION, replace(state, kernel=kernel)


def simple(program: ir.Program, options: Options) -> ir.Program:
    """Return a program that computes costly values once, and no unused values."""
    return run(SIMPLE_STEPS, State(program), Setting(options)).program


def direct(program: ir.Program, options: Options, dtype: str = "float64") -> ir.Program:
    """Return a program after all passes over its steps."""
    return run(STEPS, State(program), Setting(options, dtype)).program


def fused_nests(direct: ir.Program, options: Options, dtype: str) -> State:
    """Return the nests of a program after all passes over them."""
    return run(NESTS, State(direct), Setting(options, dtype))


def accessed(program: ir.Program, options: Options, dtype: str) -> tuple[Actions | ir.Call, ...]:
    """Return the steps of a kernel in order: the accesses of each nest, and calls."""
    state = fused_nests(direct(program, options, dtype), options, dtype)
    return tuple(
        made if isinstance(made, ir.Call) else actions(made, state.fields)
        for made in state.nests
        if isinstance(made, (ir.Nest, ir.LineNest, ir.Call)) and not _is_idle(made)
    )


def _is_idle(made: ir.Made) -> bool:
    """Whether a nest has no loops: it copies elements to themselves."""
    return isinstance(made, ir.Nest) and all(
        s.value == ir.Load(s.array, s.index) for s in made.statements
    )


def folded(program: ir.Program, options: Options, dtype: str) -> frozenset[str]:
    """Return the names of the calls of a program that are inlined into their readers."""
    short = direct(program, options, dtype)
    nests = fused_nests(short, options, dtype).nests
    left = {made.name for made in nests if isinstance(made, ir.Call)}
    calls = (step.name for step in short.steps if isinstance(step, ir.Call))
    return frozenset(name for name in calls if name not in left)
