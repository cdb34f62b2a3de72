"""Errors of boundary rules: what is wrong, where in the user's file, and what to do."""

from ssr.errors import Error


class LinkError(Error, ValueError):
    """Sides of blocks are linked in a way that makes no grid."""


class HaloError(Error, ValueError):
    """A halo does not fit the blocks."""


class UndefinedGhostError(Error, LookupError):
    """A ghost is read that no rule defines."""


class AmbiguousGhostError(Error, ValueError):
    """A ghost is read that two rules define differently."""
