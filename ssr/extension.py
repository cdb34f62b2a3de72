"""The extension interface of `ssr`, for packages that add steps to programs.

Users do not need it: their names are those of `ssr` itself. A package such as `boundary` imports
only from `ssr`, from `ssr.errors` and from this module; ``tools/layers.py`` checks the imports.

**Points.** `Affine` is an affine expression of indices and sizes, and `AXES` holds the names of the
indices; `affine` converts an index or an integer to such an expression, `integer` validates an
integer of a user, and `is_zero` recognizes the 0 with which Python's `sum` begins. A `Domain` is
a set of integer points described by affine conditions, for all sizes; `row_domain` is that of
a space. A `Box` is a box of points as pairs of integers; `Extents` are the data of a space, and an
`End` is one end of an axis. `match_sizes` determines the sizes from the shapes of arrays, each an
`Array`; `allocated` allocates one, and `aligned` one that begins at a cache line of `CACHE_LINE`
bytes. `checked_name` validates a name of a user, `name_of` returns that of a user's function, and
`is_async` detects coroutines.

**Values.** `ir` contains the expression nodes. `add` and `multiply` construct sums and products
with constants collected, `monomials` expands them, and `show` prints them.

**Operands.** In a program an `Expression` is a field or a value computed from fields, and
a `ssr.Vector` of expressions is on a `VectorSpace`. `spaces` and `label` return and print the space
of an operand of a matrix: a space, a vector space or a tuple of spaces.

**Steps.** `External` is the base class of a step; `extend` records a step in a program, and
`overwrite` records an assignment to some of the points that a step computes. A step is driven by
`Tables`, which are for arrays of some `Layout`; `Made` is the closed form of the values that it
computes for a field. Its functions are kernel IR, whose nodes are in `kernel`. Constructors of
nodes are `let`, `store`, `do`, `loop` and `choice` for statements, and `load`, `call`, `plus`,
`minus`, `times`, `compare` and `every` for expressions. A choice has a list of `Branch`; the
condition of the last branch may be `ALWAYS`.

**Kernels.** `folded` names the steps of a program whose points are inlined instead of stored, and
`identity` is a text that equal programs share. `build` returns the kernel of a program, and
`describe` the metadata that its caller needs. A kernel takes a table that `layout_of` computes from
its arrays, in the order of `KernelMeta.written_first`; `offsets_of` returns the offset and strides
of an array, `number_of` validates a scalar, `dtype_name` a dtype, and `check_row` the number of
scalars; `scalar_rows` arranges the scalars of several runs, and `entry_point` is the function that
Python calls.

**Proofs.** ``SSR_VERIFY=1`` enables them, which `wanted` tests. `ssr.provenance` runs kernels on
terms, each of which represents the operations that computed a value. `accessed` returns the
statements of a kernel without running them: the `Actions` of each nest, groups of statements, each
an `Action` with an `Access` for each set of elements that it reads or writes, and a `Product` for
rows of a stored matrix. `LastWrites` map sets of elements to the write that they hold.

**Distributed fields.** An argument whose class has a method ``__ssr_program__(program, args, named,
bound)`` executes the programs that are called with it, or bound to it (``bound``), itself: the
method's return value is the result. Its ``__ssr_in_turn__(programs, values)`` binds several
programs to fields and numbers by name, and returns a function of the remaining numbers. This
function runs the programs in sequence, each on a decomposition that does not cut the lines along
which it solves. For ``A @ x`` its class has ``__rmatmul__``. Matrices accept it as data: its
``__ssr_whole__()`` is the whole array if the process has it, else None; in the second case the
`opened` declaration of a program has the data among its parameters.
The `declaration` of a program comprises its steps, parameters and options. With
``Options(distributed=True)`` its kernel is a distributed one, in which each box (subdomain) has its
own arrays. If all boxes of a partition have all rows, or at least `WIDE` rows along each of their
last two axes, ``wide_boxes=True`` reduces the work beyond them. The program declared with these
options computes constants at each run, so that they can be stored in fields. `KernelMeta.units`
then lists the units that it runs in order, each a `UnitMeta`: nests, each with a table of boxes
(`NestMeta`, `blocked`), calls of steps and moves, each with separate links and weights.
A `Reach` is the part of an array that a nest reads or writes, and `region` evaluates it for given
boxes. `KernelMeta.wide` names fields that have the points of a temporary, such as ghost points.
Beyond the rows of its box a nest may write intermediate values: its steps compute the values that
later steps of the nest read there. A move is driven by records of `RECORD` integers, each of which
is to `PACK`, to `UNPACK`, or to copy `WITHIN` an array. Buffers need `buffer_elements`, and
reductions `STATE` integers each, which are cleared before the first step. `shares` are the
contributions of several processes, `SHARE` integers to a sum and `LARGEST` to a maximum or minimum,
and `combined` reduces them to the states of the whole. `write_share` and `write_combined` emit the
same operations for one state as LLVM IR.

In the debug build such a kernel checks rows and accesses. Its caller examines the results of each
nest as listed in `KernelMeta.looks`, each a `Look`, and raises a `bad_value`; `number_found` is the
value of a state, and `read_fields` names the fields that may have held such values before.

**Commands.** `run_command` runs one and ends the process with its exit status.

**Schedules.** A distributed kernel runs a schedule once for each row of scalars, as encoded in the
tables of `step_tables`. A `Step` is a `Run` of some units; a C `Function`, which is called by its
address; or None, at which the kernel returns `LEFT` and is called again to continue after the step.
The kernel returns `FINISHED` at the end, `FAILED` if a function has failed, and `LATE` if a polled
function takes too long. `At` names the integers that hold its position. Compiled code calls the
kernel by its `entry`. C functions that are written as LLVM IR are `compiled`.

**Vectors.** Solvers accept a distributed field instead of an array. Its class then has the
attributes ``shape``, ``size`` and ``dtype``, and the methods ``copy()``, ``gather()``, which
returns the whole array, and ``set(whole)``, which takes such an array or a number.
``__ssr_like__()`` returns another vector on the same points, without values.
``__ssr_like__(points, space)`` returns one on the points of a coarser space, for programs of the
next level of a `Multigrid`, in which these points are those of ``space``; if both are equal, the
points are its own. Both may be vector spaces. ``__ssr_gathered__()`` returns the vector, or
a replacement on fewer processes, and ``__ssr_beside__(other)`` the vector, or a replacement on the
processes of another vector. Vectors with the same ``__ssr_layout__`` can replace each other in
programs.

**Files.** `ssr.output` writes and reads distributed fields box by box. Their class then also has
``__ssr_ranks__``: its ``is_root`` is true on the first rank, ``any(flag)`` is the logical or of
a flag over all ranks, and ``broadcast(value)`` returns the value of the first rank.
``__ssr_piece__(box)`` returns the values of a box on the first rank, None on others.
``__ssr_boxes__(boxes)`` distributes boxes over all ranks: it yields the numbers of those that this
process receives, each with its values. ``__ssr_share__(count)`` returns these numbers for a count
of boxes. Boxes are those of the whole array, a pair (low, high) for each of its axes, counted
from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ir
from .algebra.families import add, monomials, multiply
from .algebra.stored import Stored
from .blocks.component_spaces import label, spaces
from .command import run_command
from .compiler.kernel import identity
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
from .points.boxes import Box
from .points.last_writes import LastWrites
from .points.numbers import CACHE_LINE, Array, aligned, allocated, integer, is_zero, real
from .points.sets import Domain
from .programs.expression import Expression
from .programs.external import extend, overwrite
from .programs.program import declaration, own_program
from .public import Immutable, counted, explain_public, flag, is_one_of
from .run.bound import check_row, scalar_rows
from .run.call_layout import blocked, buffer_elements, layout_of, offsets_of
from .run.check_arrays import dtype_name, number_of
from .run.declaration import Declaration
from .run.entry import Entry, KernelEntry, entry, entry_point
from .run.open_data import opened
from .runtime.constants import FAILED, FINISHED, LATE, LEFT, RAISED, At
from .runtime.metadata import KIND, BufferMeta, KernelMeta, Look, NestMeta, UnitMeta
from .runtime.reach import Reach, region
from .runtime.sums import LARGEST, SHARE, STATE, combined, number_found, shares
from .spaces.binding import match_sizes
from .spaces.distributed import is_distributed
from .spaces.extents import End, Extents
from .spaces.space import VectorSpace, row_domain
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
    "KernelEntry",
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
    "explain_public",
    "extend",
    "flag",
    "folded",
    "identity",
    "integer",
    "ir",
    "is_async",
    "is_built",
    "is_described",
    "is_distributed",
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
    "own_program",
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
    """Return the accesses of each loop nest of a kernel, and its calls, in order."""
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
    """Return the metadata that a caller of a program's kernel needs, without compiling it."""
    from .compiler.kernel import describe as described

    return described(program, options, dtype)


def folded(program: ir.Program, options: Options, dtype: str = "float64") -> frozenset[str]:
    """Return the names of the calls of a program that are inlined into their readers."""
    from .compiler.pipeline import folded as found

    return found(program, options, dtype)


def is_built(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache has the kernel of a program, so that `build` only loads it."""
    from .compiler.kernel import is_built as found

    return found(program, options, dtype)


def is_described(program: ir.Program, options: Options, dtype: str) -> bool:
    """Return whether the cache contains the result of `describe`."""
    from .compiler.kernel import is_described as found

    return found(program, options, dtype)


def write_share(builder: Any, kind: Any, state: Any, given: Any) -> None:
    """Emit code for the share of a state in a sum (kind 0), a maximum (1) or a minimum (2)."""
    from .native.sharing import write_share as written

    written(builder, kind, state, given)


def write_combined(builder: Any, kind: Any, given: Any, state: Any) -> None:
    """Emit code that combines the shares of all processes into one state."""
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
