"""The variables of a file: axes, attributes and values, with consistency checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import ArgumentError, DtypeError, ShapeError
from ..points.numbers import Array
from ..spaces.distributed import OneProcess, Ranks, is_distributed, ranks_of
from .computed import Computed, computed_boxes, computed_piece
from .conventions import checked_attributes, checked_names
from .pieces import Box, as_values, boxes_of, piece

AXES = "z", "y", "x"
"""The usual names of axes."""

TIME = "time"


@dataclass(frozen=True)
class Source:
    """Values of one variable, or of several, which are the components of a vector.

    Parameters
    ----------
    names
        The variables.
    values
        An array, a distributed field, or computed values.
    several
        The number of components; None if there is one variable.
    """

    names: tuple[str, ...]
    values: Any
    several: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of each variable."""
        shape = tuple(self.values.shape)
        lead = self.several is not None and not isinstance(self.values, Computed)
        return shape[1:] if lead else shape

    def piece(self, box: Box, first: bool) -> Array | None:
        """Return the values of a box on the first rank, with components; else None."""
        if isinstance(self.values, Computed):
            found = computed_piece(self.values, box, self.several, first)
        else:
            found = piece(self.values, self._whole(box))
        return None if found is None else self._each(found)

    def boxes(
        self, boxes: Sequence[Box], share: Callable[[int], Sequence[int]]
    ) -> Iterator[tuple[int, Array]]:
        """Yield the boxes of this process with their values, with components."""
        if isinstance(self.values, Computed):
            found = computed_boxes(self.values, boxes, self.several, share)
        else:
            found = boxes_of(self.values, [self._whole(box) for box in boxes], share)
        for number, values in found:
            yield number, self._each(values)

    def _whole(self, box: Box) -> Box:
        return box if self.several is None else ((0, self.several), *box)

    def _each(self, values: Array) -> Array:
        return values[None] if self.several is None else values


@dataclass(frozen=True)
class Variable:
    """A variable of a file.

    Parameters
    ----------
    dims
        The names of its axes, without time.
    shape
        Its shape, without time.
    is_record
        Whether each record has values.
    """

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attributes: Mapping[str, Any]
    is_record: bool

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of its axes, with time."""
        return (TIME, *self.dims) if self.is_record else self.dims

    def of_dtype(self, dtype: np.dtype[Any]) -> Variable:
        """Return the variable with another dtype."""
        return replace(self, dtype=dtype)


@dataclass
class Layout:
    """All variables of a file except the time, and the values of the constant ones."""

    variables: dict[str, Variable] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    constants: list[Source] = field(default_factory=list)

    def _add(self, source: Source, dims: tuple[str, ...], attributes: Any, *, record: bool) -> None:
        """Add the variables of a source."""
        for name in source.names:
            checked_names([name, *dims])
            if len(dims) != len(source.shape):
                raise ShapeError(
                    f"{name} has {len(source.shape)} axes and the dims {', '.join(dims) or 'none'}."
                )
            if name in self.variables or name == TIME:
                raise ArgumentError(f"There are two variables {name}.", hint="Rename one of them.")
            for axis, length in zip(dims, source.shape, strict=True):
                self._measure(name, axis, length)
            about = checked_attributes(name, attributes.get(name, {}))
            self.variables[name] = Variable(
                name, dims, source.shape, np.dtype(source.values.dtype), about, record
            )

    def add_constant(self, source: Source, dims: tuple[str, ...], attributes: Any) -> None:
        """Add variables that do not change; integers are stored with 32 bits if they fit."""
        values = source.values
        if isinstance(values, np.ndarray) and values.dtype.kind == "i" and values.itemsize == 8:
            small = values.astype("i4")
            if (small == values).all():
                source = replace(source, values=small)
        self._add(source, dims, attributes, record=False)
        self.constants.append(source)

    def add_record(self, source: Source, dims: tuple[str, ...], attributes: Any) -> None:
        """Add variables of which each record has values."""
        self._add(source, dims, attributes, record=True)

    def _measure(self, name: str, axis: str, length: int) -> None:
        if axis == TIME:
            raise ArgumentError(f"{name} has the axis time, which each record adds.")
        if self.lengths.setdefault(axis, length) != length:
            raise ShapeError(
                f"{name} has {length} points along {axis}, and other variables have "
                f"{self.lengths[axis]}.",
                hint=f'Name its axes by dims={{"{name}": (...)}}.',
            )


def sources(given: Any, what: str) -> list[Source]:
    """Return the values that a user gives by their names, each with the number of its parts."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"{what} is {type(given).__name__}, not a dictionary.", hint='Write {"u": u}.'
        )
    return [_source(names, values) for names, values in given.items()]


def _source(names: Any, values: Any) -> Source:
    if type(values) is int:
        values = _as_count(names, values)
    if not isinstance(values, Computed):
        values = as_values(str(names), values)
    if isinstance(names, str):
        return Source((names,), values)
    if not isinstance(names, tuple) or not names:
        raise ArgumentError(f"{names!r} is not a name, or a tuple of names.")
    count = len(names) if isinstance(values, Computed) else (values.shape or (0,))[0]
    if count != len(names):
        raise ShapeError(f"{', '.join(names)} are {len(names)} names for {count} components.")
    return Source(names, values, len(names))


def _as_count(name: Any, value: int) -> Array:
    """Return an integer of Python as one of 32 bits, which all formats have."""
    if not -(2**31) <= value < 2**31:
        raise DtypeError(f"{name} is {value}.", hint="Give a float, or an array of int64.")
    return np.asarray(value, "i4")


def layout_of(
    records: Sequence[Source],
    constants: Sequence[Source],
    coordinates: Any,
    dims: Any,
    attributes: Mapping[str, Any],
) -> Layout:
    """Return the variables of a file, the coordinates first."""
    made, every = Layout(), [*constants, *records]
    triples = _coordinates(every, coordinates)
    known = {axis for axes, *_ in triples.values() for axis in axes}
    named = {source.names: _dims(source, coordinates, dims, known) for source in every}
    for name, (axes, values, about) in triples.items():
        about = {**about, **attributes.get(name, {})}
        made.add_constant(_source(name, values), axes, {name: about})
    auxiliary = [name for name in made.variables if _is_auxiliary(made, name)]
    areas = [n for n, v in made.variables.items() if _is_area(v.attributes)]
    for name in areas:
        _refer(made, name, auxiliary, [])
    for number, source in enumerate(every):
        add = made.add_constant if number < len(constants) else made.add_record
        add(source, named[source.names], attributes)
        for name in source.names:
            _refer(made, name, auxiliary, areas)
    for name in made.variables:
        _describe(made, name)
    for given, what in (attributes, "attributes"), (dims, "dims"):
        if isinstance(given, Mapping):
            unknown = [name for name in given if name not in {*made.variables, *named}]
            if unknown:
                raise ArgumentError(f"There are {what} of {unknown[0]}, which is not a variable.")
    checked_names([TIME, *made.variables, *made.lengths])
    _check_axes(made)
    return made


def _coordinates(every: Sequence[Source], given: Any) -> dict[str, tuple[Any, Any, Any]]:
    """Return the triples (dims, values, attributes) of coordinates."""
    found: dict[str, Any] = {}
    if isinstance(given, Mapping):
        found = dict(given)
    elif given is not None:
        if not callable(getattr(given, "variables", None)):
            raise ArgumentError(f"coordinates is {given!r}.", hint='Write {"x": ("x", x, {})}.')
        for space in {_space(each, given): None for each in every if each.shape}:
            found |= given.variables(space)
    for name, triple in found.items():
        if not isinstance(triple, tuple) or len(triple) not in (2, 3):
            raise ArgumentError(
                f"The coordinate {name} is {type(triple).__name__}, not (dims, values, attributes)."
            )
    return {
        name: (_axes(name, triple[0]), *(*triple[1:], {})[:2]) for name, triple in found.items()
    }


def _axes(name: Any, given: Any) -> tuple[str, ...]:
    """Return the names of axes that a user gives."""
    found = (given,) if isinstance(given, str) else given
    if not isinstance(found, list | tuple) or not all(isinstance(axis, str) for axis in found):
        raise ArgumentError(f"The axes of {name} are {given!r}.", hint='Write ("y", "x").')
    return tuple(found)


def _space(source: Source, coordinates: Any) -> Any:
    """Return the space of a source: that of its field, or the one that coordinates return."""
    values = source.values
    if isinstance(values, Computed):
        values = values.fields[0] if values.fields else None
    if is_distributed(values):
        return getattr(values.kind, "space", values.kind)
    is_told = isinstance(source.values, np.ndarray) and hasattr(coordinates, "space_of")
    if not is_told:
        return None
    return coordinates.space_of(values if values.ndim == len(source.shape) else values[0])


def _dims(source: Source, coordinates: Any, given: Any, known: set[str]) -> tuple[str, ...]:
    """Return the names of the axes of a source."""
    if isinstance(given, Mapping):
        for name in (*source.names, source.names):
            if name in given:
                return _axes(name, given[name])
    elif given is not None and len(_axes("all variables", given)) == len(source.shape):
        return _axes("all variables", given)
    if not source.shape:
        return ()
    space = _space(source, coordinates)
    if callable(getattr(coordinates, "dims", None)):
        found: tuple[str, ...] = tuple(coordinates.dims(space))
    else:
        found = _usual(space, len(source.shape))
        if known and not known & set(found):
            found = ()
    if len(found) != len(source.shape):
        name = source.names[0]
        raise ArgumentError(
            f"The axes of {name} have no names.", hint=f'Write dims={{"{name}": (...)}}.'
        )
    return found


def _usual(space: Any, count: int) -> tuple[str, ...]:
    """Return the default names of axes, with other names for faces and for the blocks of grids."""
    lead = () if space is None or not hasattr(space, "blocks") else ("block",)
    if count - len(lead) > len(AXES):
        return ()
    found = (*lead, *AXES[len(AXES) - count + len(lead) :])
    if space is None or len(space.data.staggered) != count:
        return found
    return tuple(f"{n}_face" if s else n for n, s in zip(found, space.data.staggered, strict=True))


def _is_auxiliary(made: Layout, name: str) -> bool:
    """Whether a coordinate is to be named in the attributes of variables (CF, section 5)."""
    mentioned = {
        word.rstrip(":")
        for variable in made.variables.values()
        for key in ("bounds", "climatology", "cell_measures", "grid_mapping", "formula_terms")
        for word in str(variable.attributes.get(key, "")).split()
    }
    about = made.variables[name]
    return about.dims != (name,) and name not in mentioned and not _is_area(about.attributes)


def _is_area(about: Mapping[str, Any]) -> bool:
    return about.get("standard_name") == "cell_area"


def _refer(made: Layout, name: str, auxiliary: Sequence[str], areas: Sequence[str]) -> None:
    """Name the auxiliary coordinates and the areas of cells in the attributes of a variable."""
    variable = made.variables[name]
    about = dict(variable.attributes)
    found = [
        [other for other in some if set(made.variables[other].dims) <= set(variable.dims)]
        for some in (auxiliary, areas)
    ]
    if found[0]:
        about.setdefault("coordinates", " ".join(found[0]))
    if found[1]:
        about.setdefault("cell_measures", f"area: {found[1][0]}")
    made.variables[name] = replace(variable, attributes=about)


def _describe(made: Layout, name: str) -> None:
    """Give a variable a long name if it has no other description, as CF recommends (3.2)."""
    variable = made.variables[name]
    about = variable.attributes
    is_bounds = name in {v.attributes.get("bounds") for v in made.variables.values()}
    if not is_bounds and not {"long_name", "standard_name"} & about.keys():
        about = {"long_name": name.replace("_", " "), **about}
        made.variables[name] = replace(variable, attributes=about)


def _check_axes(made: Layout) -> None:
    """Raise an error for coordinates that are not monotonic, or fields named like an axis."""
    for source in made.constants:
        name = source.names[0]
        if name not in made.lengths:
            continue
        if made.variables[name].dims != (name,):
            raise ArgumentError(f"The coordinate {name} is not a variable along the axis {name}.")
        values = source.values
        if isinstance(values, np.ndarray) and len(values) > 1:
            steps = np.diff(values)
            if not ((steps > 0).all() or (steps < 0).all()):
                raise ArgumentError(f"The coordinate {name} is not monotonic.")
    for name in made.lengths.keys() & made.variables.keys():
        if made.variables[name].is_record:
            raise ArgumentError(f"{name} is an axis and a field.", hint="Rename one of them.")


def ranks_and_share(every: Sequence[Source]) -> tuple[Ranks, Callable[[int], Sequence[int]]]:
    """Return the ranks of sources, and the function that shares boxes among them."""
    fields = [
        field
        for source in every
        for field in (
            source.values.fields if isinstance(source.values, Computed) else [source.values]
        )
        if is_distributed(field)
    ]
    if fields:
        return ranks_of(fields), fields[0].__ssr_share__
    return OneProcess(), range
