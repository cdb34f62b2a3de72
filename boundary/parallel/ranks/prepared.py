"""Programs prepared for the ranks of a process: kernels, tables and message channels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssr.extension import FAILED, Array, At
from ssr.extension import Step as KernelStep

from ..schedules.explain import Explained
from ..schedules.messages import Post
from ..schedules.plan import Plan
from ..schedules.schedule import Examine, KernelPart, Reduce, Start, Step, Wait
from ..worlds.world import Channel, Letter, World
from .arguments import RankCall, RankMemory, kernel_step
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
        made = plan.schedule(valid)
        size = plan.dtype.itemsize
        posts = [Post(plan.footprint, e, size, n) for n, e in enumerate(made.exchanges)]
        moves = [RankMoves(plan.footprint, posts, rank, plan.dtype) for rank in ranks]
        explained = Explained(plan.footprint, made)
        self._channels = [
            self._channel(moves, number, explained.title(number), post)
            for number, post in enumerate(posts)
        ]
        self._what = f"a reduction of {plan.declaration.program.name}"
        self._folds = {
            step.unit: self._fold(step) for step in made.steps if isinstance(step, Reduce)
        }
        self._steps = [each for step in made.steps for each in self._reducing(step)]
        self._notes: list[str] = []
        self.calls: list[RankCall] = []
        for rank, move in zip(ranks, moves, strict=True):
            steps = [self._step(step, rank, move) for step in self._steps]
            self.calls.append(RankCall(plan, steps, rank, move.messages))

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

    def _channel(
        self, moves: Sequence[RankMoves], exchange: int, title: str, post: Post
    ) -> Channel:
        """Return the channel of an exchange for the ranks of this process."""
        outgoing: list[Letter] = []
        incoming: list[Letter] = []
        for of_rank in moves:
            mail, slot = of_rank.mails[exchange], of_rank.slots[exchange]
            for messages, starts, letters in (
                (mail.sends, slot.sends, outgoing),
                (mail.receives, slot.receives, incoming),
            ):
                for message, start in zip(messages, starts, strict=True):
                    values = of_rank.messages[start : start + message.count]
                    letters.append(Letter(message.source, message.target, values))
        return self._world.channel(outgoing, incoming, title, post)

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

    def run(self, scalars: Array, results: Array) -> None:
        """Run the program for each row of scalars; leave its numbers in the rows of results."""
        if self._plan.examined:
            step = f"a call of {self._plan.declaration.program.name}"
            self._world.agree({"step": step, "scalars": str(scalars.tolist())})
            self._notes = held(self._plan, self._world, self._ranks)
        for call in self.calls:
            call.begin(scalars, results)
        self._world.go_through(self.calls, self.do)

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
