"""Conversion of fields to xarray Datasets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import OutputError
from .conventions import checked_tables
from .variables import Source, layout_of, ranks_and_share, sources


def to_xarray(
    fields: Mapping[Any, Any],
    *,
    coordinates: Any = None,
    dims: Any = None,
    attributes: Mapping[str, Mapping[str, Any]] | None = None,
) -> Any:
    """Return fields as an `xarray.Dataset`; all ranks call it together.

    Fields of ranks are gathered on the first one; others have None.

    Parameters
    ----------
    fields
        Arrays, fields of ranks, numbers or `Computed` values by the names of variables. A tuple of
        names has the components of a vector as variables.
    coordinates, dims, attributes
        As for `Writer`.

    Raises
    ------
    ArgumentError, DtypeError, ShapeError
        If names, axes, values or attributes do not fit each other.
    OutputError
        If xarray is missing.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> x = {"x": ("x", [0.5, 1.5], {"units": "m"})}
    >>> print(ssr.output.to_xarray({"u": np.ones(2)}, coordinates=x))
    <xarray.Dataset> Size: 32B
    Dimensions:  (x: 2)
    Coordinates:
      * x        (x) float64 16B 0.5 1.5
    Data variables:
        u        (x) float64 16B 1.0 1.0
    """
    try:
        import xarray
    except ImportError:
        raise OutputError(
            "The package xarray is missing.", hint="Install it, or ssr with the extra io."
        ) from None
    records = sources(fields, "fields")
    layout = layout_of(records, [], coordinates, dims, checked_tables(attributes))
    every = [*layout.constants, *records]
    ranks, _ = ranks_and_share(every)
    found: dict[str, Any] = {}
    for source in every:
        values = _whole(source, ranks.is_root)
        if values is not None:
            for name, each in zip(source.names, values, strict=True):
                variable = layout.variables[name]
                kept = {k: v for k, v in variable.attributes.items() if k != "coordinates"}
                found[name] = variable.dims, each.copy(), kept
    if not ranks.is_root:
        return None
    constant = {name for source in layout.constants for name in source.names}
    return xarray.Dataset(
        {name: found[name] for name in found if name not in constant},
        {name: found[name] for name in constant},
    )


def _whole(source: Source, first: bool) -> Any:
    return source.piece(tuple((0, n) for n in source.shape), first)
