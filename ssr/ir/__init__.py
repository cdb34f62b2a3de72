"""The intermediate representation: programs, nests and loops, immutable and compared by value.

The nodes of values are those of `ssr.symbols.nodes`, and names of this module too, as is what a
step of another package is, `external.External`.
"""

from __future__ import annotations

from typing import TypeAlias

from ..symbols.nodes import (
    ONE,
    WHOLE,
    ZERO,
    Boxes,
    Const,
    Coordinate,
    Diagonal,
    Field,
    Gather,
    Load,
    Op,
    Range,
    Scalar,
    Sum,
    Term,
    Value,
    arrays,
    children,
    gathers,
    loads,
    reading,
    reindexed,
    rewrite,
    rewrite_sums,
    substituted,
    sums,
    walk,
)
from .external import External
from .lines import LineLoops, LineNest, Lines, Taken
from .nests import (
    Branch,
    Buffer,
    Fold,
    LoopNest,
    Nest,
    Part,
    Piece,
    Stage,
    Statement,
    scratch,
)
from .programs import (
    MADE,
    Assignment,
    Call,
    Entry,
    Family,
    Group,
    Order,
    Program,
    Reduction,
    Solve,
    Step,
    fresh,
    made,
    parts,
    values,
)

__all__ = [
    "MADE",
    "ONE",
    "WHOLE",
    "ZERO",
    "Assignment",
    "Boxes",
    "Branch",
    "Buffer",
    "Call",
    "Const",
    "Coordinate",
    "Diagonal",
    "Entry",
    "External",
    "Family",
    "Field",
    "Fold",
    "Gather",
    "Group",
    "LineLoops",
    "LineNest",
    "Lines",
    "Load",
    "LoopNest",
    "Made",
    "Nest",
    "Op",
    "Order",
    "Part",
    "Piece",
    "Program",
    "Ran",
    "Range",
    "Reduction",
    "Scalar",
    "Solve",
    "Stage",
    "Statement",
    "Step",
    "Sum",
    "Taken",
    "Term",
    "Value",
    "arrays",
    "children",
    "fresh",
    "gathers",
    "loads",
    "made",
    "parts",
    "reading",
    "reindexed",
    "rewrite",
    "rewrite_sums",
    "scratch",
    "substituted",
    "sums",
    "values",
    "walk",
]

Made: TypeAlias = "Nest | LineNest | Call"
"""What a step of a program becomes, or several steps: a nest, or a call."""

Ran: TypeAlias = "LoopNest | LineLoops | Call"
"""The same as loops."""
