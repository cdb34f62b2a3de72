"""Exception classes of boundary rules, halos, links and messages."""

from ssr.errors import Error


class LinkError(Error, ValueError):
    """Sides of blocks are linked in a way that does not make a grid."""


class HaloError(Error, ValueError):
    """A halo does not fit the blocks."""


class UndefinedGhostError(Error, LookupError):
    """A ghost that is read has no definition."""


class AmbiguousGhostError(Error, ValueError):
    """A ghost that is read is defined differently by two rules."""


class MessageError(Error, RuntimeError):
    """MPI cannot send or receive a message."""
