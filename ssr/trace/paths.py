"""Decide the conditions of a generator on one path, and fork the path where both answers occur.

A condition that the current domain does not decide forks the path: the run continues on the rows
at which the condition holds, and the generator is run again from the start for the other rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..errors import ImpureGeneratorError, TooManyPathsError, UnboundError
from ..points.affine import Affine
from ..points.condition import Condition, deciding
from ..points.sets import Domain
from ..spaces.space import Space, points_of

PATHS = 512
"""Limit of the paths through one generator."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A branch not yet run: the answers up to it, and the rows that remain."""

    answers: tuple[tuple[Condition | Domain, bool], ...]
    domain: Domain


def _other_condition(note: str) -> ImpureGeneratorError:
    return ImpureGeneratorError(
        "The generator met another condition when it was run again.",
        note=note,
        hint="A generator must not use random numbers or change state.",
    )


def too_many(message: str, note: str) -> TooManyPathsError:
    """Return the error of a generator whose paths have no end in sight."""
    hint = "Make conditions depend on each other less, or split the matrix into a sum."
    return TooManyPathsError(message, note=note, hint=hint)


class Tracer:
    """Decides the conditions of one run and records the forks it leaves for later.

    With ``again``, a run whose answers are all known is repeated.
    """

    def __init__(self, fork: Fork, names: frozenset[str], again: bool = False) -> None:
        self.names = names
        self.domain = fork.domain
        self.replay = fork.answers
        self.again = again
        self.answers: list[tuple[Condition | Domain, bool]] = []
        self.forks: list[Fork] = []

    def decide(self, condition: Condition | Domain) -> bool:
        """Return the truth of a condition on this path; fork where both are possible.

        A domain is the condition that the row lies in it.
        """
        met = len(self.answers)
        if met < len(self.replay):
            expected, answer = self.replay[met]
            if not _alike(expected, condition):
                raise _other_condition(f"first {_told(expected)}, then {_told(condition)}")
        elif self.again:
            raise _other_condition(f"first none, then {_told(condition)}")
        else:
            if isinstance(condition, Condition):
                check_names(condition.names(), self.names)
            answer = self._decide(condition)
        self.answers.append((condition, answer))
        return answer

    def _decide(self, condition: Condition | Domain) -> bool:
        axes = self.domain.axes
        holds = condition if isinstance(condition, Domain) else Domain.of(axes, condition)
        yes = self.domain & holds
        if yes.empty:
            return False
        no = self.domain - holds
        if no.empty:
            return True
        if len(self.forks) >= PATHS:
            raise too_many(
                f"A generator met {PATHS} conditions that both hold and fail.",
                "Each of them is one more path; a loop that counts down an index has no end.",
            )
        self.forks.append(Fork((*self.answers, (condition, False)), no))
        self.domain = yes
        return True

    def outside(self, space: Space, point: tuple[Affine, ...]) -> Domain | None:
        """Return the rows for which a point lies outside a space, None if there are none."""
        if self.again:
            return None
        inside = points_of(space).preimage(point, self.domain.axes)
        found = self.domain - inside
        return None if found.empty else found


_tracer: ContextVar[Tracer | None] = ContextVar("tracer", default=None)


@contextmanager
def running(tracer: Tracer) -> Iterator[None]:
    """Let a tracer decide the conditions that are evaluated inside the block."""
    token = _tracer.set(tracer)
    try:
        with deciding(tracer.decide):
            yield
    finally:
        _tracer.reset(token)


def tracing() -> Tracer:
    """Return the tracer of the run in progress."""
    tracer = _tracer.get()
    assert tracer is not None
    return tracer


def _alike(a: Condition | Domain, b: Condition | Domain) -> bool:
    """Whether two conditions are the same; equal sets may be written in different forms."""
    if isinstance(a, Domain) and isinstance(b, Domain):
        return a == b or a.equals(b)
    return a == b


def _told(condition: Condition | Domain) -> str:
    return condition.notation() if isinstance(condition, Domain) else condition.isl()


def check_names(used: frozenset[str], known: frozenset[str]) -> None:
    """Check that the indices and sizes that an expression uses are those of the matrix."""
    for name in sorted(used - known):
        raise UnboundError(
            f"The size {name} belongs to no space of the matrix.",
            hint="Sizes are inferred from array shapes. "
            "Use an integer, or declare a number as ssr.scalar.",
        )
