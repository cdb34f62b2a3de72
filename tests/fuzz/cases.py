"""A case: the text of a program, and runs of it. What is compared, and what is found.

The text is executed twice, where ``ssr`` is the package and where it is `Reference`. Both see
the same characters and nothing of each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

import boundary as bc
import ssr
from boundary.errors import AmbiguousGhostError, HaloError, LinkError, UndefinedGhostError
from ssr import errors

from .arrays import Watched
from .ghosts import Boundary
from .numbers import Array, Several, Unclear, Undefined
from .reference import Matrix, Program, Reference, VectorSpace

Kind = Literal["same", "refused", "undefined", "unclear", "wrong"]
SECONDS = 20.0
"""CPU time that a program with all its runs may take to be declared and lowered."""
ROUNDING = 2.0**13
"""Allowed error, in units of rounding of the sum of all absolute values."""

HONEST = (
    errors.UnsupportedError, errors.TooManyPathsError, errors.OutOfSpaceError,
    errors.NotTriangularError, errors.SingularMatrixError, errors.EmptySpaceError,
    errors.UnmadeRowError, AmbiguousGhostError, UndefinedGhostError, HaloError, LinkError,
)  # fmt: skip
"""Errors by which a declaration that draws itself at random may be refused."""


@dataclass(frozen=True)
class Run:
    """Sizes, arrays and options of one run.

    ``options`` are fields of `ssr.Options` that are not at their default; ``cuts`` are the numbers
    of boxes along each axis: of the first field, or of each block if there are ``ranks``.
    """

    sizes: tuple[tuple[str, int], ...]
    seed: int = 0
    dtype: str = "float64"
    layouts: tuple[str, ...] = ("plain",)
    options: tuple[str, ...] = ()
    cuts: tuple[int, ...] = ()
    ranks: int = 0

    def settings(self) -> ssr.Options:
        """Return the options."""
        changed = {n: not getattr(ssr.Options(), n) for n in self.options}
        return ssr.Options(cache=False, **changed)


@dataclass(frozen=True)
class Case:
    """The text of a declaration of the program ``p``, and the runs that are compared."""

    text: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Outcome:
    """What came of a run: what kind, and of which error or difference."""

    kind: Kind
    what: str = ""
    detail: str = ""


def scope(text: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return the names that a text defines."""
    made = {"np": np, "sparse": sparse, **names}
    exec(compile(text, "<case>", "exec"), made)
    return made


def meaning(text: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Return the names of a text under its reference meaning."""
    reference = Reference(sizes)
    with np.errstate(all="ignore"):
        return scope(text, {"ssr": reference, "bc": Boundary(reference)})


def examine(case: Case, run: Callable[..., Any]) -> Iterator[tuple[Run, Outcome]]:
    """Yield the outcome of each run; ``run`` calls a program."""
    start = time.process_time()
    try:
        ours = scope(case.text, {"ssr": ssr, "bc": bc})
    except Exception as error:
        yield case.runs[0], refusal(error, case)
        return
    programs: dict[Any, ssr.Program] = {}
    bits: dict[Any, list[Array]] = {}
    meant = lru_cache(maxsize=1)(partial(expected_run, case.text))
    for number, each in enumerate(case.runs):
        try:
            outcome = compared(meant, ours, each, programs, bits, run, number == 0)
        except Unclear as error:
            outcome = Outcome("unclear", str(error))
        if outcome.kind != "wrong" and time.process_time() - start > SECONDS:
            outcome = Outcome("wrong", "slow", f"{time.process_time() - start:.0f} s of CPU")
        yield each, outcome
        start = time.process_time()


def refusal(error: Exception, case: Case) -> Outcome:
    """Return the outcome of a declaration that ended in an error."""
    what = type(error).__name__
    if isinstance(error, HONEST):
        return Outcome("refused", what, str(error))
    if isinstance(error, errors.Error) and isinstance(expected(case), Undefined):
        return Outcome("refused", what, str(error))
    where = "" if isinstance(error, errors.Error) else _place(error)
    return Outcome("wrong", what + where, str(error))


def expected(case: Case) -> Exception | None:
    """Return the error of the reference for the first run, None if there is none."""
    try:
        meaning(case.text, dict(case.runs[0].sizes))
    except (Undefined, Unclear) as error:
        return error
    return None


def _place(error: BaseException) -> str:
    """Return where an exception was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    code = trace.tb_frame.f_code
    return f" in {code.co_filename.rpartition('/')[2]}:{code.co_name}"


def expected_run(
    text: str, sizes: tuple[tuple[str, int], ...], seed: int, dtype: str
) -> tuple[dict[str, Any], dict[str, Any], Any, str | None]:
    """Return the names of a text and the arrays of a run, what it gives, and why it gives nothing.

    It is the same for all options and layouts.
    """
    theirs: dict[str, Any] = {}
    values: dict[str, Any] = {}
    try:
        theirs = meaning(text, dict(sizes))
        values = drawn(theirs["p"], seed, dtype)
        with np.errstate(all="ignore"):
            return theirs, values, theirs["p"].run(values), None
    except Undefined as error:
        return theirs, values, None, str(error)


def compared(
    meant: Callable[..., Any],
    ours: dict[str, Any],
    run: Run,
    programs: dict[Any, ssr.Program],
    bits: dict[Any, list[Array]],
    call: Callable[..., Any],
    first: bool,
) -> Outcome:
    """Return what comes of one run; programs and results that bits must agree with are kept."""
    sizes = dict(run.sizes)
    theirs, values, wanted, undefined = meant(run.sizes, run.seed, run.dtype)
    if undefined is not None and not values:
        return Outcome("undefined", undefined.partition(":")[0][:40])
    try:
        if first and wanted is not None:
            different = definitions(ours, theirs, sizes)
            if different:
                return Outcome("wrong", "to_scipy", different)
        found = executed(ours, run, values, programs, call)
    except errors.BoxError as error:
        return Outcome("refused", "BoxError", str(error))
    except errors.Error as error:
        if undefined is not None or isinstance(error, HONEST):
            what = type(error).__name__ + (" on ranks" if run.ranks else "")
            return Outcome("undefined" if undefined else "refused", what, str(error))
        return Outcome("wrong", f"{type(error).__name__} at a call", str(error))
    except Exception as error:
        return Outcome("wrong", type(error).__name__ + _place(error), str(error))
    if isinstance(found, Outcome):
        return found
    if wanted is None:
        return Outcome("undefined", "nothing was refused", str(undefined))
    return differences(wanted, found, run) or same_bits(found, run, bits)


def drawn(program: Program, seed: int, dtype: str) -> dict[str, Any]:
    """Return arrays and numbers for the parameters of a program."""
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for name, kind in program.kinds.items():
        if kind is None:
            found[name] = float(np.round(rng.uniform(-1, 1), 3))
        else:
            found[name] = rng.uniform(-1, 1, kind.shape).astype(dtype)
    return found


def executed(
    ours: dict[str, Any],
    run: Run,
    values: dict[str, Any],
    programs: dict[Any, ssr.Program],
    call: Callable[..., Any],
) -> tuple[dict[str, Array], list[float]] | Outcome:
    """Return fields and results after a run of our program."""
    program = ours["p"]
    made = programs.get(run.options)
    if made is None:
        made = programs[run.options] = program.with_options(run.settings())
    watched: dict[str, Watched] = {}
    args: list[Any] = []
    for place, (name, value) in enumerate(values.items()):
        if isinstance(value, float):
            args.append(value)
            continue
        layout = run.layouts[place % len(run.layouts)]
        watched[name] = Watched(value, run.dtype, layout)
        args.append(watched[name].array)
    if run.ranks:
        results = call(made, *args, on=spread_of(ours, run))
    else:
        boxes = boxes_of(program, run) if run.cuts else None
        results = call(made, *args, boxes=boxes) if boxes else call(made, *args)
    many = results if isinstance(results, tuple) else () if results is None else (results,)
    for name, each in watched.items():
        if each.strays():
            return Outcome("wrong", "memory", f"bytes around {name} were written")
    return {n: w.array.copy() for n, w in watched.items()}, [float(r) for r in many]


def boxes_of(program: ssr.Program, run: Run) -> Any:
    """Return boxes that cut the space of the first field."""
    space = next(kind for _, kind in program.signature.flat if isinstance(kind, ssr.Space))
    cuts = (*run.cuts, 1, 1, 1, 1)[: space.ndim]
    return space.split(*cuts, sizes=dict(run.sizes))


def spread_of(ours: dict[str, Any], run: Run) -> Any:
    """Return the points of the grid of a text, or of its space, shared by simulated ranks."""
    found = (ours.get(name) for name in "TPC")
    cells = next(each for each in found if isinstance(each, (bc.Grid, ssr.Space)))
    cut = (*run.cuts, 1, 1, 1, 1)[: cells.ndim] if run.cuts else None
    kinds = cells.kinds if isinstance(cells, bc.Grid) else (cells,)
    needed = {name for space in kinds for name in space.sizes}
    sizes = {n: value for n, value in run.sizes if n in needed}
    return bc.spread(cells, bc.simulated(run.ranks), cut=cut, **sizes)


def definitions(ours: dict[str, Any], theirs: dict[str, Any], sizes: dict[str, int]) -> str:
    """Return which matrix has another definition than the reference."""
    for name, meant in theirs.items():
        if not isinstance(meant, Matrix) or not isinstance(ours[name], ssr.Matrix):
            continue
        matrix = ours[name]
        if matrix.unbound and not isinstance(matrix, ssr.Recurrence):
            continue
        known = {n: sizes[n] for n in matrix.sizes}
        found = matrix.bind(**known).to_scipy().toarray()
        if not np.all(np.abs(found - meant.value) <= 1e-12 * (meant.scale + 1e-300)):
            return f"{name} is\n{found}\nnot\n{meant.value}"
    return ""


def differences(
    wanted: tuple[dict[str, Any], Any], found: tuple[dict[str, Array], list[float]], run: Run
) -> Outcome | None:
    """Return how results differ from those of the reference, None where they do not."""
    fields, results = wanted
    small = ROUNDING * float(np.finfo(run.dtype).eps)
    for name, array in found[0].items():
        field = fields[name]
        parts = list(field) if isinstance(field, Several) else [field]
        value = np.array([p.value for p in parts]).reshape(array.shape)
        scale = np.array([p.scale for p in parts]).reshape(array.shape)
        if not np.all(np.isnan(value) | (scale < 1e30)):
            raise Unclear("numbers grow too large")
        if not _near(array, value, scale, small):
            return Outcome("wrong", "values", f"{name} is\n{array}\nnot\n{value}")
    for n, (result, meant) in enumerate(zip(found[1], results, strict=True)):
        if not _near(np.array(result), meant.value, meant.scale, small):
            return Outcome("wrong", "values", f"result {n} is {result}, not {meant.value}")
    return None


def _near(array: Array, value: Array, scale: Array, small: float) -> bool:
    with np.errstate(invalid="ignore"):
        close = np.abs(array.astype(float) - value) <= small * scale + 1e-300
    return bool(np.all(close | np.isnan(value)))


def same_bits(
    found: tuple[dict[str, Array], list[float]], run: Run, bits: dict[Any, list[Array]]
) -> Outcome:
    """Return whether results agree with those of variants that must have the same bits."""
    arithmetic = tuple(o for o in run.options if o not in ("split", "fuse", "fold"))
    if "exact" in run.options:
        arithmetic = ("exact",)
    key = run.sizes, run.seed, run.dtype, arithmetic
    arrays = [*found[0].values(), np.array(found[1])]
    for one, other in zip(arrays, bits.setdefault(key, arrays), strict=True):
        if one.tobytes() != other.tobytes():
            return Outcome("wrong", "bits", f"{one}\nnot\n{other}\n{one - other}")
    return Outcome("same")


def source(case: Case, outcome: Outcome) -> str:
    """Return a program of its own that shows what was found."""
    from .reproduce import program

    return program(case, outcome)


__all__ = ["Case", "Outcome", "Run", "VectorSpace", "examine", "meaning", "source"]
