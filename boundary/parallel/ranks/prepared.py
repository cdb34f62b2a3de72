"""Programs prepared for the ranks of a process: kernels, tables and message channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssr.extension import FAILED, Array, At
from ssr.extension import Step as KernelStep

from ..schedules.plan import Plan
from ..schedules.schedule import Examine, KernelPart, Reduce, Start, Step, Wait
from ..worlds.work import KernelCall
from ..worlds.world import World
from .arguments import RankMemory, kernel_call, kernel_step
from .find_nan import examine, held
from .transfers import RankMoves


class Prepared:
    """A program with its tables and messages, for fields of which some have halos up to date.

    Parameters
    ----------
    ranks
        The memory and tables of the ranks of this process.
    valid
        The fields whose halos are up to date.

    Attributes
    ----------
    calls
        The kernel call of each rank of this process.
    """

    def __init__(
        self,
        plan: Plan,
        world: World,
        ranks: Sequence[RankMemory],
        valid: frozenset[str],
    ) -> None:
        self._plan, self._world, self._ranks = plan, world, ranks
        explained = plan.explained(valid)
        posts, steps = explained.posts, explained.schedule.steps
        moves = [
            RankMoves(plan.footprint, posts, rank.rank, rank.memories, plan.dtype) for rank in ranks
        ]
        self._channels = [
            world.channel(
                [letter for move in moves for letter in move.outgoing(number)],
                [letter for move in moves for letter in move.incoming(number)],
                explained.title(number),
                post,
            )
            for number, post in enumerate(posts)
        ]
        self._what = f"a reduction of {plan.declaration.program.name}"
        self._folds = {step.unit: self._fold(step) for step in steps if isinstance(step, Reduce)}
        self._steps = [each for step in steps for each in self._reducing(step)]
        self._notes: list[str] = []
        self._rows: tuple[Array, Array] | None = None
        self.calls: list[KernelCall] = []
        for rank, move in zip(ranks, moves, strict=True):
            rows = [self._step(step, rank, move) for step in self._steps]
            self.calls.append(kernel_call(plan, rows, rank, move.messages))

    def _fold(self, step: Reduce) -> tuple[list[str], list[Array]]:
        """Return the kinds of the reductions of a step, and their states on each rank here."""
        folds = self._plan.footprint.units[step.unit].folds
        first = folds[0][2]
        assert [row for _, _, row in folds] == list(range(first, first + len(folds)))
        kinds = [kind for _, kind, _ in folds]
        return kinds, [rank.states[first : first + len(folds)] for rank in self._ranks]

    def _reducing(self, step: Step) -> Iterator[Step]:
        """Yield a step, or the steps of a compiled reduction that replaces it."""
        channel = None
        if isinstance(step, Reduce):
            channel = self._world.reduction(*self._folds[step.unit], self._what)
        if channel is None:
            yield step
            return
        number = len(self._channels)
        self._channels.append(channel)
        yield Start(number)
        yield Wait(number)

    def _step(self, step: Step, rank: RankMemory, moves: RankMoves) -> KernelStep:
        """Return the action of a rank's kernel at a step; None if the step runs in Python."""
        match step:
            case KernelPart():
                return kernel_step(self._plan, step, rank.tables, moves)
            case Start(exchange):
                return self._channels[exchange].starting(rank.rank)
            case Wait(exchange):
                return self._channels[exchange].waiting(rank.rank)
            case Reduce() | Examine():
                return None

    def _reduce(self, unit: int) -> None:
        kinds, states = self._folds[unit]
        whole = self._world.reduced(kinds, states, self._what)
        for state in states:
            state[:] = whole

    def take(self, rows: tuple[Array, Array]) -> None:
        """Set the rows of scalars of the next run, and the rows in which it leaves its results."""
        if self._plan.examined:
            step = f"a call of {self._plan.declaration.program.name}"
            self._world.agree({"step": step, "scalars": str(rows[0].tolist())})
            self._notes = held(self._plan, self._world, self._ranks)
        if rows is not self._rows:
            self._rows = rows
            for call in self.calls:
                call.take(*rows)

    def do(self, reason: int) -> None:
        """Do the step at which kernels have stopped."""
        at = self.calls[0].at
        step = self._steps[at[At.STEP]]
        match step:
            case Reduce(unit):
                self._reduce(unit)
            case Examine(unit):
                examine(self._plan, self._world, self._ranks, unit, self._notes)
            case KernelPart():
                raise AssertionError("the kernel refused arrays of the layout it was prepared for")
            case Start(exchange) | Wait(exchange):
                channel = self._channels[exchange]
                if reason == FAILED:
                    raise channel.failure(int(at[At.CODE]))
                if isinstance(step, Start):
                    channel.start()
                else:
                    channel.wait()
