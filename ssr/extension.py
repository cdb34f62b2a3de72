"""The interface of `ssr` for packages that add steps to programs, beyond the public names.

Users need none of it: their names are those of `ssr` itself. A package such as `boundary` imports
from `ssr`, from `ssr.errors` and from here, and from nowhere else; ``tools/layers.py`` checks that.

**Points.** `Affine` is an affine expression of indices and sizes, and `AXES` has the names of the
indices; `affine` returns an index or an integer as such an expression, and `integer` an integer
that a user gives; `is_zero` knows the 0 from which `sum` of Python begins. A `Domain` is a set of
integer points described by affine conditions, for all sizes; `row_domain` is that of a space. A
`Box` is a box of points as pairs of integers; `Extents` are the data of a space, an `End` is one of
an axis. `match_sizes` finds the sizes from the shapes of
arrays, each an `Array`; `allocated` makes one, and `aligned` one that begins with a cache line, of
`CACHE_LINE` bytes. `checked_name` returns a name that a user gives, `name_of` that of a user's
function, and `is_async` finds coroutines.

**Values.** `ir` has the nodes that expressions are made of. `add` and `multiply` make sums and
products with numbers collected, `monomials` takes them apart again, and `show` prints them.

**Operands.** Within a program an `Expression` is a field or what is computed from fields, and a
`ssr.Vector` of them is on a `VectorSpace`. `spaces` and `label` take apart and print what the
operand of a matrix is on: a space, a vector space or a tuple of them.

**Steps.** `External` is the base class of a step; `extend` records one in a program, and
`overwrite` an assignment to some points of what it makes. A step works
through `Tables`, which are for arrays of some `Layout`; `Made` is the closed form of what it makes
of a field. Its functions are kernel IR, whose nodes are those of `kernel`. Short ways to write them
are `let`, `store`, `do`, `loop` and `choice` for statements, and `load`, `call`, `plus`, `minus`,
`times`, `compare` and `every` for expressions. A choice has a list of `Branch`; the condition of
the last one may be `ALWAYS`.

**Kernels.** `folded` names the steps of a program whose points are not stored, and `identity` is a
text that two programs share if they are the same. `build` returns the
kernel of a program, and `describe` what a caller must know of it. A kernel takes a table that
`layout_of` makes of its arrays, in the order of `KernelMeta.written_first`; `offsets_of` says where
an array of the whole lies, `number_of` checks a number that a user gives, `dtype_name` a dtype,
`check_row` how many numbers there are, `scalar_rows` those of several runs, and `entry_point` is
what Python calls of a kernel.

**Proofs.** ``SSR_VERIFY=1`` asks for them, which `wanted` tells. `ssr.provenance` runs kernels on
terms, each of which stands for the operations that made a number. `accessed` returns the statements
of a kernel without running them: the `Actions` of each nest, groups of statements, each an `Action`
with an `Access` for each set of elements that it reads or writes, and a `Product` for rows of a
stored matrix. `LastWrites` are sets of elements with the write that they hold.

**Boxes with memory of their own.** An argument whose class has a method ``__ssr_program__(program,
args, named, bound)`` runs the programs that are called with it, or bound to it (``bound``), itself:
what the method returns is the result. Its ``__ssr_in_turn__(programs, values)`` binds several to
fields and numbers by name, and returns a function of the numbers that are left, which runs them one
after the other, each where the lines are whole that it solves along. For ``A @ x`` its class has
``__rmatmul__``. Matrices take it as data: its ``__ssr_whole__()`` is
the array of the whole if the process has it, else None; then the `opened` declaration of a program
has such data among the parameters. The `declaration` of a program is all that was declared. With
``Options(distributed=True)`` its kernel is one for boxes with memory of their own; if all boxes of
a partition have all rows or at least `WIDE` along each of their last two axes, ``wide_boxes=True``
saves work beyond them. The program declared with these options makes constants at each run, so that
fields can hold them. `KernelMeta.units` then says what it runs in order, each a `UnitMeta`: nests,
each with a table of boxes (`NestMeta`, `blocked`), calls of steps and moves, each with links and
weights of its own. A `Reach` is what a nest reads or writes of an array, and `region` what that is
for given boxes. `KernelMeta.wide` names fields that have the points of a temporary there, such as
ghosts. Beyond the rows of its box a nest may write what is not final: its steps compute for
themselves what later ones of them read there. A move works through records of `RECORD` integers,
each of which is to `PACK`, to `UNPACK`, or to copy `WITHIN` an array. Buffers need
`buffer_elements`, and reductions `STATE` integers each, which are cleared before the first step;
`shares` is what each of several processes gives to them, `SHARE` integers to a sum and `LARGEST` to
a maximum or minimum, and `combined` makes of that the states of all. `write_share` and
`write_combined` write the same for one state in LLVM's language.

In the debug build such a kernel checks rows and accesses. What it makes its caller examines behind
each nest, as `KernelMeta.looks` says, each a `Look`, and raises a `bad_value`; `number_found` is
that of a state, and `read_fields` names the fields that may have held such values before.

**Commands.** `run_command` runs one and ends the process with its exit status.

**Schedules.** Such a kernel goes through a schedule once for each row of scalars, by the tables
that `step_tables` makes. A `Step` is a `Run` of some units; a `Function` of C, which is called by
its address; or None, where the kernel returns `LEFT` and is called again behind the step. It
returns `FINISHED` in the end, `FAILED` where a function has failed, and `LATE` where one that is
asked whether it is done takes long. `At` are the integers that say where the kernel is. Compiled
code calls it by its `entry`. Functions of C that are written in LLVM's language are `compiled`.

**Vectors.** Solvers take an argument that runs programs itself instead of an array. Its class
then has the attributes ``shape``, ``size`` and ``dtype``, and the methods ``copy()``, ``gather()``,
which returns an array of the whole, and ``set(whole)``, which takes such an array or a number.
``__ssr_like__()`` returns another vector on the same points, without values;
``__ssr_like__(points, space)`` returns one on the points of a coarser space, for programs of the
next level of a `Multigrid`, to which they are ``space``; with equal ones the points are its own,
and both may be vector spaces. ``__ssr_gathered__()`` returns it, or one instead of it on fewer
processes, and ``__ssr_beside__(other)`` it, or one where another vector lives. Vectors with the
same ``__ssr_layout__`` take each other's place in programs.

**Files.** `ssr.output` writes and reads an argument that runs programs itself box by box. Its class
then also has ``__ssr_ranks__``, whose ``first`` says whether this process has the first rank,
``any(flag)`` whether a flag is set on any rank, and ``shared(value)`` the value of the first one.
``__ssr_piece__(box)`` returns the values of a box on the first rank, None on others, and
``__ssr_boxes__(boxes)`` shares boxes among all ranks: it yields the numbers of those that this
process receives, each with its values; ``__ssr_share__(count)`` tells the numbers of these for so
many boxes. Boxes are those of the array of the whole, a pair (low,
high) for each of its axes, counted from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ir
from .algebra.families import add, monomials, multiply
from .algebra.stored import Stored
from .blocks.component_spaces import label, spaces
from .command import run_command
from .compiler.kernel import folded, identity
from .distributed.step_tables import Function, Run, Step, step_tables
from .distributed.transfers import PACK, RECORD, UNPACK, WITHIN
from .ir.external import External, Layout, Made, Tables
from .ir.liveness import read_fields
from .kernel import ir as kernel
from .kernel.building import (
    ALWAYS,
    Branch,
    call,
    choice,
    compare,
    do,
    every,
    let,
    load,
    loop,
    minus,
    plus,
    store,
    times,
)
from .lower.accesses import Access, Action, Actions, Product
from .lower.pass_manager import wanted
from .options import WIDE
from .points.affine import AXES, Affine
from .points.last_writes import LastWrites
from .points.numbers import CACHE_LINE, Array, aligned, allocated, integer, is_zero, real
from .points.sets import Domain
from .programs.expression import Expression
from .programs.external import extend, overwrite
from .programs.program import declaration
from .public import Immutable, all_explained, counted, explain_methods, flag, is_one_of
from .run.bound import check_row, scalar_rows
from .run.call_layout import blocked, buffer_elements, layout_of, offsets_of
from .run.check_arrays import dtype_name, number_of
from .run.declaration import Declaration
from .run.entry import Entry, entry, entry_point
from .run.open_data import opened
from .runtime.constants import FAILED, FINISHED, LATE, LEFT, RAISED, At
from .runtime.metadata import KIND, BufferMeta, KernelMeta, Look, NestMeta, UnitMeta
from .runtime.reach import Reach, region
from .runtime.sums import LARGEST, SHARE, STATE, combined, number_found, shares
from .spaces.binding import match_sizes
from .spaces.extents import End, Extents
from .spaces.space import Box, VectorSpace, row_domain
from .symbols.index import affine
from .symbols.names import checked_name
from .symbols.printing import show
from .trace.functions import is_async, name_of

__all__ = [
    "ALWAYS",
    "AXES",
    "CACHE_LINE",
    "FAILED",
    "FINISHED",
    "KIND",
    "LARGEST",
    "LATE",
    "LEFT",
    "PACK",
    "RAISED",
    "RECORD",
    "SHARE",
    "STATE",
    "UNPACK",
    "WIDE",
    "WITHIN",
    "Access",
    "Action",
    "Actions",
    "Affine",
    "Array",
    "At",
    "Box",
    "Branch",
    "BufferMeta",
    "Declaration",
    "Domain",
    "End",
    "Entry",
    "Expression",
    "Extents",
    "External",
    "Function",
    "Immutable",
    "KernelMeta",
    "LastWrites",
    "Layout",
    "Look",
    "Made",
    "NestMeta",
    "Product",
    "Reach",
    "Run",
    "Step",
    "Stored",
    "Tables",
    "UnitMeta",
    "VectorSpace",
    "accessed",
    "add",
    "affine",
    "aligned",
    "all_explained",
    "allocated",
    "bad_value",
    "blocked",
    "buffer_elements",
    "build",
    "builder_of",
    "call",
    "check_row",
    "checked_name",
    "choice",
    "combined",
    "compare",
    "compiled",
    "counted",
    "declaration",
    "describe",
    "do",
    "dtype_name",
    "entry",
    "entry_point",
    "every",
    "explain_methods",
    "extend",
    "flag",
    "folded",
    "identity",
    "integer",
    "ir",
    "is_async",
    "is_built",
    "is_described",
    "is_one_of",
    "is_zero",
    "kernel",
    "label",
    "layout_of",
    "let",
    "load",
    "loop",
    "match_sizes",
    "minus",
    "monomials",
    "multiply",
    "name_of",
    "number_found",
    "number_of",
    "offsets_of",
    "opened",
    "overwrite",
    "plus",
    "read_fields",
    "real",
    "region",
    "row_domain",
    "run_command",
    "scalar_rows",
    "shares",
    "show",
    "spaces",
    "step_tables",
    "store",
    "times",
    "wanted",
    "write_combined",
    "write_share",
]

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .compiler.kernel import Kernel
    from .errors import Error
    from .options import Options


def accessed(program: ir.Program, options: Options, dtype: str) -> tuple[Actions | ir.Call, ...]:
    """Return what a kernel runs, in order: what each nest reads and writes, and calls."""
    from .compiler.pipeline import accessed as found

    return found(program, options, dtype)


def build(program: ir.Program, options: Options, dtype: str) -> Kernel:
    """Return the kernel of a program for the name of a type; llvmlite is loaded now."""
    from .compiler.kernel import build as built

    return built(program, options, dtype)


def compiled(name: str, functions: Mapping[str, Callable[[Any], None]]) -> dict[str, int]:
    """Return the addresses of functions of C, each written into a module of LLVM by a function."""
    from .native.machine_code import functions_of_c

    return functions_of_c(name, functions)


def builder_of(function: Any) -> Any:
    """Return a writer of the body of a function of LLVM (`ssr.native.builder.Builder`)."""
    from .native.builder import Builder

    return Builder.beginning(function)


def describe(program: ir.Program, options: Options, dtype: str) -> KernelMeta:
    """Return what a caller must know about the kernel of a program, without compiling it."""
    from .compiler.kernel import describe as described

    return described(program, options, dtype)


def is_built(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache has the kernel of a program, so that `build` only loads it."""
    from .compiler.kernel import is_built as found

    return found(program, options, dtype)


def is_described(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache has what `describe` returns."""
    from .compiler.kernel import is_described as found

    return found(program, options, dtype)


def write_share(builder: Any, kind: Any, state: Any, given: Any) -> None:
    """Write what gives the terms of a state to a sum (kind 0), a maximum (1) or a minimum (2)."""
    from .native.sharing import write_share as written

    written(builder, kind, state, given)


def write_combined(builder: Any, kind: Any, given: Any, state: Any) -> None:
    """Write what makes the state of all terms of what has been given to it."""
    from .native.sharing import write_combined as written

    written(builder, kind, given, state)


def bad_value(
    declaration: Declaration,
    look: Look,
    finding: Sequence[int],
    notes: Sequence[str],
) -> Error:
    """Return the error of a value that is infinite or NaN."""
    from .compiler.debug import bad_value as made

    return made(declaration.program, declaration.places, look, finding, notes)
