"""Channels: the messages of one exchange, which Python or compiled code sends and receives."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssr.extension import Array, Function


@dataclass(frozen=True, slots=True, eq=False)
class Letter:
    """A message: its source and target ranks, and its values in the memory of one of them."""

    source: int
    target: int
    values: Array


class Channel(ABC):
    """The messages of one exchange, prepared once and sent many times."""

    def starting(self, rank: int) -> Function | None:
        """Return the C function by which the kernel of a rank starts; None without one."""
        return None

    def waiting(self, rank: int) -> Function | None:
        """Return the C function by which the kernel of a rank waits; None without one."""
        return None

    @abstractmethod
    def start(self) -> None:
        """Send the messages that the ranks of this process have packed."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until messages have arrived, and the memory of sent ones may be overwritten."""

    def failure(self, code: int) -> Exception:
        """Return the error for a code that one of these functions has returned."""
        raise NotImplementedError


class Copies(Channel):
    """Messages that are copied from the memory of one rank to that of another."""

    def __init__(self, outgoing: Sequence[Letter], incoming: Sequence[Letter], what: str) -> None:
        sent = {(letter.source, letter.target): letter.values for letter in outgoing}
        assert len(sent) == len(incoming), f"sends and receives of {what} do not pair up"
        self.pairs = [(sent[i.source, i.target], i.values) for i in incoming]
        assert all(len(a) == len(b) for a, b in self.pairs), f"lengths of {what} differ"
        self.what = what
        self.under_way: list[Array] | None = None

    def start(self) -> None:
        """Copy the values that are sent."""
        self.under_way = [values.copy() for values, _ in self.pairs]

    def wait(self) -> None:
        """Copy these values to where they are received."""
        assert self.under_way is not None, f"{self.what} ends before it has begun"
        for values, (_, received) in zip(self.under_way, self.pairs, strict=True):
            received[...] = values
        self.under_way = None


class CompiledChannel(Channel):
    """An exchange by two C functions for each rank of this process, which kernels can call.

    Parameters
    ----------
    functions
        For each rank the function that begins, and the test for completion.
    kept
        Objects that must live as long.
    failure
        Returns the error for a code that one of the functions has returned.
    """

    def __init__(
        self,
        functions: Mapping[int, tuple[Function, Function]],
        kept: object,
        failure: Callable[[int], Exception] | None = None,
    ) -> None:
        self._functions = functions
        self._kept, self._failure = kept, failure

    def starting(self, rank: int) -> Function:
        """Return the C function by which the kernel of a rank starts."""
        return self._functions[rank][0]

    def waiting(self, rank: int) -> Function:
        """Return the C function by which the kernel of a rank waits."""
        return self._functions[rank][1]

    def start(self) -> None:
        """Begin the exchange on each rank."""
        for starting, _ in self._functions.values():
            self._check(begin(starting))

    def wait(self) -> None:
        """Advance the exchange until it has finished on all ranks."""
        while not self.is_done():
            pass

    def is_done(self) -> bool:
        """Advance the exchange on each rank; return whether it has finished on all."""
        found = [ask(waiting) for _, waiting in self._functions.values()]
        for _, code in found:
            self._check(code)
        return all(done for done, _ in found)

    def failure(self, code: int) -> Exception:
        """Return the error for a code that one of these functions has returned."""
        assert self._failure is not None, f"code {code} of a function that does not fail"
        return self._failure(code)

    def _check(self, code: int) -> None:
        if code:
            raise self.failure(code)


_ADDRESS: Any = ctypes.c_void_p
BEGINNING = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, _ADDRESS)
ASKING = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, _ADDRESS, _ADDRESS, _ADDRESS)


def begin(starting: Function) -> int:
    """Call a function that begins; return an error code or 0."""
    return int(BEGINNING(starting.address)(starting.count, starting.things))


def ask(waiting: Function) -> tuple[bool, int]:
    """Call a test for completion; return whether all is done, and an error code or 0."""
    done = ctypes.c_int(0)
    given = waiting.count, waiting.things, ctypes.byref(done), waiting.notes
    code = ASKING(waiting.address)(*given)
    return bool(done.value), int(code)
