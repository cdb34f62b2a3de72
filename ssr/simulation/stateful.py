"""Callbacks with state that is part of checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class StatefulCallback:
    """The base of callbacks whose fields and numbers are part of checkpoints."""

    def __init__(self, **data: Any) -> None:
        self._data = data
        self._fields = dict[str, Any]()

    def fields(self) -> dict[str, Any]:
        """Return the fields of the state, by name."""
        return dict(self._fields)

    def data(self) -> dict[str, Any]:
        """Return the numbers of the state, as values of JSON."""
        return dict(self._data)

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the numbers of the state; the values of `fields` are assigned afterwards.

        Parameters
        ----------
        data
            A value that `data` has returned.
        """
        self._data = {name: data[name] for name in self._data}
