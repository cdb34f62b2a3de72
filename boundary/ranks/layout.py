"""Which rank owns which rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ssr.errors import ArgumentError
from ssr.extension import integer


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows along axis 0, cut into one range for each rank.

    Parameters
    ----------
    cuts
        Where ranges begin, and the number of rows: rank r owns ``cuts[r] <= row < cuts[r + 1]``.

    Raises
    ------
    ArgumentError
        If the cuts do not rise from zero.

    Examples
    --------
    >>> layout = Layout((0, 3, 10))
    >>> layout.ranks, layout.rows(1), layout.owner(2)
    (2, range(3, 10), 0)
    """

    cuts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.cuts) < 2 or self.cuts[0] != 0 or any(a >= b for a, b in pairwise(self.cuts)):
            raise ArgumentError(
                f"The cuts {self.cuts} do not rise from 0.",
                note="Each rank owns one row at least.",
                hint="For ranges of nearly equal length use Layout.even(rows, ranks).",
            )

    @staticmethod
    def even(rows: int, ranks: int) -> Layout:
        """Return ranges of nearly equal length, the longer ones first.

        Examples
        --------
        >>> Layout.even(10, 4)
        Layout(cuts=(0, 3, 6, 8, 10))
        """
        if integer(rows) is None or integer(ranks) is None:
            raise ArgumentError(f"Rows and ranks are integers, not {rows!r} and {ranks!r}.")
        if not 1 <= ranks <= rows:
            raise ArgumentError(
                f"{rows} rows cannot be shared by {ranks} ranks.",
                note="Each rank owns one row at least.",
                hint="Use fewer ranks.",
            )
        share, more = divmod(rows, ranks)
        return Layout(tuple(share * rank + min(rank, more) for rank in range(ranks + 1)))

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.cuts[-1]

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.cuts) - 1

    def rows(self, rank: int) -> range:
        """Return the rows of a rank."""
        return range(self.cuts[rank], self.cuts[rank + 1])

    def owner(self, row: int) -> int:
        """Return the rank that owns a row."""
        assert 0 <= row < self.count
        return bisect_right(self.cuts, row) - 1


def spans(rows: Iterable[int]) -> tuple[range, ...]:
    """Return rising integers as ranges without gaps.

    Examples
    --------
    >>> spans([1, 2, 3, 7])
    (range(1, 4), range(7, 8))
    """
    found: list[range] = []
    for row in rows:
        if found and found[-1].stop == row:
            found[-1] = range(found[-1].start, row + 1)
        else:
            found.append(range(row, row + 1))
    return tuple(found)
