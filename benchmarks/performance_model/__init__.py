"""A model of the time of programs on many ranks: traces of single ranks, and their replay."""

from .loggp import LogGP, Replay
from .traces import Trace, trace

__all__ = ["LogGP", "Replay", "Trace", "trace"]
