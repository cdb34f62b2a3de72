"""A case: the text of a program, and runs of it. What is compared, and what is found.

The text is executed twice, where ``ssr`` is the package and where it is `Reference`. Both see
the same characters and nothing of each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

import boundary as bc
import ssr
from boundary.errors import AmbiguousGhostError, HaloError, LinkError, UndefinedGhostError
from ssr import errors

from ..ssr.plain import same
from .arrays import Watched
from .ghosts import Boundary
from .numbers import Array, Several, Unclear, Undefined
from .reference import OWNERS, Matrix, Program, Reference, VectorSpace, field
from .spreads import Ground, Parts, meant_data

Kind = Literal["same", "refused", "undefined", "unclear", "wrong"]
SECONDS = 20.0
"""CPU time that a program with all its runs may take to be declared and lowered."""
KEEPING = ("split", "fuse", "fold", "debug")
"""Options that keep bits."""
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
    of boxes along each axis: of the first field, or of each block if there are ``ranks``. With
    `ALONE` of these, fields are spread in one process, whose boxes matter to local matrices only.
    ``before`` has the options of runs on the same arrays that come first, one after the other.
    ``boxes`` are boxes one by one with their ranks, instead of cuts. ``calls`` are the names
    of the programs of all turns, if they are not all ``p``, and ``changed`` is the number of an
    argument that gets new values before the last turn.
    """

    sizes: tuple[tuple[str, int], ...]
    seed: int = 0
    dtype: str = "float64"
    layouts: tuple[str, ...] = ("plain",)
    options: tuple[str, ...] = ()
    cuts: tuple[int, ...] = ()
    ranks: int = 0
    before: tuple[tuple[str, ...], ...] = ()
    boxes: tuple[Any, ...] = ()
    calls: tuple[str, ...] = ()
    changed: int | None = None
    threads: bool = False

    @property
    def times(self) -> int:
        """How often programs run."""
        return len(self.calls) or len(self.before) + 1

    @property
    def ground(self) -> Ground:
        """The points of the run; each is another one."""
        parts = Parts(self.ranks, self.threads, self.cuts, self.boxes)
        return Ground(self.sizes, self.seed, self.dtype, parts)

    @property
    def meant(self) -> Run:
        """The run on arrays with the same results, if these do not depend on the compiler."""
        calls = self.calls or ("p",) * self.times
        return Run(self.sizes, self.seed, self.dtype, calls=calls, changed=self.changed)

    def fresh(self, shape: tuple[int, ...]) -> Array:
        """Return the new values of the argument that is changed before the last turn."""
        rng = np.random.default_rng([self.seed, 1])
        return rng.uniform(-1, 1, shape).astype(self.dtype)


def settings(options: tuple[str, ...]) -> ssr.Options:
    """Return the options of which some are not at their default."""
    changed = {n: not getattr(ssr.Options(), n) for n in options}
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


def meaning(text: str, run: Run, turn: int = 0) -> dict[str, Any]:
    """Return the names of a text under its reference meaning in a turn of a run."""
    reference = Reference(dict(run.sizes))
    data = meant_data(run.seed, turn, run.dtype)
    names = {"ssr": reference, "bc": Boundary(reference), "data": data}
    with np.errstate(all="ignore"):
        return scope(text, names)


def examine(case: Case, run: Callable[..., Any]) -> Iterator[tuple[Run, Outcome]]:
    """Yield the outcome of each run; ``run`` calls programs in turns on the same arguments."""
    start = time.process_time()
    try:
        ours = Declared(case.text, case.runs[0])
    except Exception as error:
        yield case.runs[0], refusal(error, case)
        return
    bits: dict[Any, list[Array]] = {}
    refused: dict[Run, bool] = {}
    meant = lru_cache(maxsize=1)(partial(expected_run, case.text))
    for number, each in enumerate(case.runs):
        outcome = compared(meant, ours, each, bits, run, number == 0)
        if outcome.kind != "wrong" and time.process_time() - start > SECONDS:
            outcome = Outcome("wrong", "slow", f"{time.process_time() - start:.0f} s of CPU")
        yield (
            each,
            outcome
            if agreed(each, outcome, refused)
            else Outcome(
                "wrong", "refusal", f"Refused with or without fusion only: {outcome.detail}"
            ),
        )
        start = time.process_time()


def agreed(run: Run, outcome: Outcome, refused: dict[Run, bool]) -> bool:
    """Whether a run is refused as the same run with or without fusion is, if that is known."""
    options, *before = (
        tuple(o for o in each if o != "fuse") for each in (run.options, *run.before)
    )
    holds = outcome.kind == "refused"
    return refused.setdefault(replace(run, options=options, before=tuple(before)), holds) == holds


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
        meaning(case.text, case.runs[0])
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


class Declared:
    """The names of a text as the package sees it, for one run after the other.

    A text with data is declared again for each run, as these are arrays or fields.
    """

    def __init__(self, text: str, run: Run) -> None:
        self.text = text
        self._declare(run)

    def _declare(self, run: Run) -> None:
        self.run, self.ground = run, run.ground
        self.names = scope(self.text, {"ssr": ssr, "bc": bc, "data": self.ground.data})
        self.programs: dict[Any, ssr.Program] = {}

    def prepare(self, run: Run) -> None:
        """Turn to a run."""
        if run == self.run:
            return
        if "data(" in self.text:
            self._declare(run)
        else:
            self.run, self.ground = run, run.ground

    def turns(self) -> Iterator[ssr.Program]:
        """Yield the program with the options of each turn of the run, for which data are set."""
        each = zip((*self.run.before, self.run.options), self.run.meant.calls, strict=True)
        for turn, (options, name) in enumerate(each):
            if (options, name) not in self.programs:
                made = self.names[name].with_options(settings(options))
                self.programs[options, name] = made
            self.ground.turn(turn)
            yield self.programs[options, name]

    def spread(self) -> Any:
        """Return the points of the grid of the text, or of its space, shared by ranks."""
        found = (self.names.get(name) for name in "TPC")
        return self.ground.spread(next(c for c in found if isinstance(c, (bc.Grid, ssr.Space))))

    def boxes(self) -> dict[Any, Array]:
        """Return which box owns each point, where local matrices depend on it."""
        if not self.run.ranks or ".rank_local()" not in self.text:
            return {}
        self.spread()
        return self.ground.boxes(self.names)


class Shared(dict[Any, Array]):
    """Boxes of points, compared by their bytes."""

    @cached_property
    def known(self) -> Any:
        return tuple((key, owners.tobytes()) for key, owners in self.items())

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shared) and self.known == other.known


def expected_run(
    text: str, run: Run, boxes: Shared
) -> tuple[dict[str, Any], dict[str, Any], Any, Exception | None]:
    """Return the names of a text and the arrays of a run, what it gives, and why it gives nothing.

    It is the same for all options and layouts.
    """
    theirs: dict[str, Any] = {}
    values: dict[str, Any] = {}
    token = OWNERS.set(boxes)
    try:
        theirs = meaning(text, run)
        values = drawn(theirs["p"], run.seed, run.dtype)
        made: tuple[dict[str, Any], Any] = theirs["p"].fields(values), None
        for turn, name in enumerate(run.calls):
            program = (theirs if turn == 0 else meaning(text, run, turn))[name]
            if run.changed is not None and turn == run.times - 1:
                name, kind = list(program.kinds.items())[run.changed]
                made[0][name] = field(run.fresh(kind.shape), kind)
            with np.errstate(all="ignore"):
                made = program.run(made[0])
        return theirs, values, made, None
    except (Undefined, Unclear) as error:
        return theirs, values, None, error
    finally:
        OWNERS.reset(token)


def compared(
    meant: Callable[..., Any],
    ours: Declared,
    run: Run,
    bits: dict[Any, list[Array]],
    call: Callable[..., Any],
    first: bool,
) -> Outcome:
    """Return what comes of one run; results that bits must agree with are kept."""
    failure: Exception | None = None
    try:
        ours.prepare(run)
        boxes = Shared(ours.boxes())
    except Exception as error:
        failure, boxes = error, Shared()
    theirs, values, wanted, why = meant(run.meant, boxes)
    unclear, undefined = isinstance(why, Unclear), isinstance(why, Undefined)
    if why is not None and not values:
        return Outcome("unclear" if unclear else "undefined", str(why).partition(":")[0][:40])
    try:
        if failure is not None:
            raise failure
        if first and wanted is not None and not boxes:
            different = definitions(ours.names, theirs, run)
            if different:
                return Outcome("wrong", "to_scipy", different)
        found = executed(ours, values, call)
    except errors.BoxError as error:
        return Outcome("refused", "BoxError", str(error))
    except errors.Error as error:
        if undefined or isinstance(error, HONEST):
            what = type(error).__name__ + (" on ranks" if run.ranks else "")
            return Outcome("undefined" if undefined else "refused", what, str(error))
        return Outcome("wrong", f"{type(error).__name__} at a call", str(error))
    except Exception as error:
        return Outcome("wrong", type(error).__name__ + _place(error), str(error))
    if isinstance(found, Outcome):
        return found
    if undefined:
        return Outcome("undefined", "nothing was refused", str(why))
    outcome = same_bits(found, run, boxes, bits)
    try:
        return (wanted and differences(wanted, found, run)) or outcome
    except Unclear as error:
        why = error
    return outcome if outcome.kind == "wrong" else Outcome("unclear", str(why))


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
    ours: Declared, values: dict[str, Any], call: Callable[..., Any]
) -> tuple[dict[str, Array], list[float]] | Outcome:
    """Return fields and results after a run of our program."""
    run, turns = ours.run, ours.turns()
    watched: dict[str, Watched] = {}
    args: list[Any] = []
    for place, (name, value) in enumerate(values.items()):
        if isinstance(value, float):
            args.append(value)
            continue
        layout = run.layouts[place % len(run.layouts)]
        watched[name] = Watched(value, run.dtype, layout)
        args.append(watched[name].array)
    more: dict[str, Any] = {}
    if run.changed is not None:
        more["change"] = run.times - 1, run.changed, run.fresh(args[run.changed].shape)
    if run.ranks:
        more["on"] = ours.spread()
    elif run.cuts:
        more["boxes"] = boxes_of(ours.names["p"], run)
    results = call(turns, *args, **more)
    many = results if isinstance(results, tuple) else () if results is None else (results,)
    for name, each in watched.items():
        if each.strays():
            return Outcome("wrong", "memory", f"bytes around {name} were written")
    if ours.ground.changed():
        return Outcome("wrong", "data", "data of a matrix were written")
    return {n: w.array.copy() for n, w in watched.items()}, [float(r) for r in many]


def boxes_of(program: ssr.Program, run: Run) -> Any:
    """Return boxes that cut the space of the first field."""
    space = next(kind for _, kind in program.signature.flat if isinstance(kind, ssr.Space))
    cuts = (*run.cuts, 1, 1, 1, 1)[: space.ndim]
    return space.split(*cuts, sizes=dict(run.sizes))


def definitions(ours: dict[str, Any], theirs: dict[str, Any], run: Run) -> str:
    """Return which matrix has another definition than the reference."""
    sizes, near = dict(run.sizes), 1e-12 if run.dtype == "float64" else 1e-5
    for name, meant in theirs.items():
        if not isinstance(meant, Matrix) or not isinstance(ours[name], ssr.Matrix):
            continue
        matrix = ours[name]
        if matrix.unbound and not isinstance(matrix, ssr.Recurrence):
            continue
        if matrix.definition.distributed:
            continue
        known = {n: sizes[n] for n in matrix.sizes}
        found = matrix.bind(**known).to_scipy().toarray()
        unknown = np.isnan(found) & np.isnan(meant.value)
        if not np.all(unknown | (np.abs(found - meant.value) <= near * (meant.scale + 1e-300))):
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
        lost = 1e3 * float(np.finfo(array.dtype).tiny)  # smaller numbers have fewer digits, or none
        close = np.abs(array.astype(float) - value) <= small * scale + lost
    return bool(np.all(close | np.isnan(value)))


def same_bits(
    found: tuple[dict[str, Array], list[float]],
    run: Run,
    boxes: Shared,
    bits: dict[Any, list[Array]],
) -> Outcome:
    """Return whether results agree with those of variants that must have the same bits."""
    arithmetic = tuple(o for o in run.options if o not in KEEPING)
    if "exact" in run.options:
        arithmetic = ("exact",)
    key = run.meant, arithmetic, boxes
    arrays = [*found[0].values(), np.array(found[1])]
    for one, other in zip(arrays, bits.setdefault(key, arrays), strict=True):
        if not same(one, other):
            return Outcome("wrong", "bits", f"{one}\nnot\n{other}\n{one - other}")
    return Outcome("same")


def source(case: Case, outcome: Outcome) -> str:
    """Return a program of its own that shows what was found."""
    from .reproduce import program

    return program(case, outcome)


__all__ = ["Case", "Outcome", "Run", "VectorSpace", "examine", "meaning", "source"]
