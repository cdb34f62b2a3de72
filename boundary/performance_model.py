"""A model of the time of programs on many ranks: traces of one rank, and their replay."""

from ssr.extension import all_explained, explain_methods

from .parallel.performance_model.loggp import LogGP, Replay
from .parallel.performance_model.trace import Trace, trace

__all__ = ["LogGP", "Replay", "Trace", "trace"]

globals().update(all_explained(globals(), __all__))
explain_methods(globals(), __all__)
