"""Orthogonal coordinate systems: scale factors, and the map to Cartesian space."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import ArgumentError, SpaceError
from ..points.numbers import real


@dataclass(frozen=True, eq=False)
class System:
    """A system of orthogonal coordinates.

    The length of a small step along a coordinate q is ``h_q dq``, where h_q is its scale factor.
    Systems are `cartesian`, `cylindrical`, `spherical` and `geographic`, and those that
    `from_scale_factors` and `from_map` make.

    Attributes
    ----------
    name
        The name.
    factors
        The scale factors by the names of the coordinates, SymPy expressions of these; None for
        Cartesian coordinates of any names.
    position
        The Cartesian components of a point, if they are known.
    attributes
        CF attributes of the coordinates by their names.
    """

    name: str
    factors: Mapping[str, Any] | None = None
    position: tuple[Any, ...] | None = None
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<System {self.name}: {', '.join(self.factors or ['any names'])}>"

    @cached_property
    def symbols(self) -> dict[str, Any]:
        """The SymPy symbols of the coordinates, by name."""
        import sympy

        return {name: sympy.Symbol(name, real=True) for name in self.factors or ()}

    def factor(self, name: Any) -> Any:
        """Return the scale factor of the coordinate with this name as a SymPy expression, or 1."""
        if self.factors is None:
            return 1
        if not isinstance(name, str) or name not in self.factors:
            raise ArgumentError(f"{self!r} has no coordinate {name!r}.")
        return self._expression(self.factors[name])

    @cached_property
    def components(self) -> tuple[Any, ...] | None:
        """The Cartesian components of a point as SymPy expressions, if they are known."""
        given = self.position
        return None if given is None else tuple(self._expression(part) for part in given)

    def _expression(self, given: Any) -> Any:
        import sympy

        return sympy.sympify(given, locals=dict(self.symbols)) if isinstance(given, str) else given


cartesian = System(
    "cartesian", attributes={name: {"axis": name.upper()} for name in ("x", "y", "z")}
)
"""Cartesian coordinates, with any names."""

_ANGLE = {"units": "rad"}

cylindrical = System(
    "cylindrical",
    {"r": "1", "theta": "r", "z": "1"},
    ("r*cos(theta)", "r*sin(theta)", "z"),
    {"r": {"long_name": "radius"}, "theta": {"long_name": "azimuth", **_ANGLE}, "z": {"axis": "Z"}},
)
"""The distance r from an axis, the angle theta around it in radians, and the height z."""

spherical = System(
    "spherical",
    {"r": "1", "theta": "r", "phi": "r*sin(theta)"},
    ("r*sin(theta)*cos(phi)", "r*sin(theta)*sin(phi)", "r*cos(theta)"),
    {
        "r": {"long_name": "radius"},
        "theta": {"long_name": "polar angle", **_ANGLE},
        "phi": {"long_name": "azimuth", **_ANGLE},
    },
)
"""The distance r from a point, the angle theta from the pole and the angle phi around it."""


def geographic(radius: float = 1.0) -> System:
    """Return latitude and longitude in degrees, on the surface of a sphere.

    Parameters
    ----------
    radius
        The radius of the sphere.

    Raises
    ------
    ArgumentError
        If the radius is not a positive number.

    Examples
    --------
    >>> import ssr
    >>> ssr.coordinates.geographic(6.371e6)
    <System geographic: latitude, longitude>
    """
    size = real(radius)
    if size is None or not 0.0 < size < float("inf"):
        raise ArgumentError(f"radius must be a positive number, not {radius!r}.")
    degree = f"{size!r}*pi/180"
    up, around = "(pi*latitude/180)", "(pi*longitude/180)"
    return System(
        "geographic",
        {"latitude": degree, "longitude": f"{degree}*cos{up}"},
        (f"{size!r}*cos{up}*cos{around}", f"{size!r}*cos{up}*sin{around}", f"{size!r}*sin{up}"),
        {
            "latitude": {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"},
            "longitude": {"standard_name": "longitude", "units": "degrees_east", "axis": "X"},
        },
    )


def from_scale_factors(factors: Any, position: Sequence[Any] | None = None) -> System:
    """Return the system of orthogonal coordinates that has given scale factors.

    Parameters
    ----------
    factors
        The scale factor of each coordinate by its SymPy symbol: expressions of the symbols, or
        numbers.
    position
        The Cartesian components of a point, for pictures; two or three expressions.

    Raises
    ------
    ArgumentError
        If an argument has another form, or holds other symbols.

    Examples
    --------
    Parabolic coordinates:

    >>> import sympy, ssr
    >>> s, t = sympy.symbols("s t")
    >>> ssr.coordinates.from_scale_factors({s: sympy.sqrt(s**2 + t**2), t: sympy.sqrt(s**2 + t**2)})
    <System of scale factors: s, t>
    """
    if not isinstance(factors, Mapping) or not factors:
        raise ArgumentError(
            f"factors must be a mapping from SymPy symbols to expressions, not {factors!r}."
        )
    ours = _real_symbols(list(factors))
    found = {
        s.name: _checked(e, ours) for s, e in zip(ours.values(), factors.values(), strict=True)
    }
    return System("of scale factors", found, _components(position, ours))


def from_map(symbols: Any, position: Sequence[Any]) -> System:
    """Return the system of the coordinates of a map into Cartesian space.

    The scale factor of a coordinate is the length of the derivative of the map.

    Parameters
    ----------
    symbols
        The SymPy symbols of the coordinates.
    position
        The Cartesian components of a point: expressions of the symbols, at least as many as there
        are symbols.

    Raises
    ------
    ArgumentError
        If an argument has another form, or components do not depend on the symbols.
    SpaceError
        If the coordinates are not orthogonal, or SymPy does not show that they are.

    Examples
    --------
    >>> import sympy, ssr
    >>> u, v = sympy.symbols("u v")
    >>> elliptic = ssr.coordinates.from_map(
    ...     [u, v], [sympy.cosh(u) * sympy.cos(v), sympy.sinh(u) * sympy.sin(v)]
    ... )
    >>> elliptic
    <System of a map: u, v>
    """
    import sympy

    if not isinstance(symbols, (tuple, list)) or not symbols:
        raise ArgumentError(f"symbols must be a list of SymPy symbols, not {symbols!r}.")
    ours = _real_symbols(symbols)
    components = _components(position, ours)
    if components is None or len(components) < len(ours):
        raise ArgumentError(
            f"position is {position!r}; a map of {len(ours)} coordinates needs at least as many "
            "components, expressions of SymPy."
        )
    tangents = {s: [sympy.diff(part, s) for part in components] for s in ours.values()}
    names = list(tangents)
    for n, one in enumerate(names):
        for other in names[n + 1 :]:
            dot = sum(a * b for a, b in zip(tangents[one], tangents[other], strict=True))
            dot = sympy.simplify(dot)
            if dot != 0 and dot.equals(0) is not True:
                raise SpaceError(
                    f"The coordinates {one} and {other} are not orthogonal.",
                    note=f"the product of their tangents is {dot}, not 0",
                    hint="Finite volumes here are those of orthogonal coordinates.",
                )
    squares = {s: sympy.simplify(sum(d**2 for d in each)) for s, each in tangents.items()}
    if 0 in squares.values():
        constant = next(s for s, square in squares.items() if square == 0)
        raise ArgumentError(f"No component of the map depends on the coordinate {constant}.")
    factors = {s.name: sympy.simplify(sympy.sqrt(square)) for s, square in squares.items()}
    return System("of a map", factors, components)


def _real_symbols(symbols: Sequence[Any]) -> dict[Any, Any]:
    """Return real symbols by those that a user gives, after a check of their names."""
    import sympy

    for symbol in symbols:
        if not isinstance(symbol, sympy.Symbol):
            raise ArgumentError(f"A coordinate is {symbol!r}, not a SymPy symbol.")
        if not symbol.name.isidentifier() or keyword.iskeyword(symbol.name):
            raise ArgumentError(
                f"A coordinate is named {symbol.name!r}, which is not a name of Python."
            )
    ours = {symbol: sympy.Symbol(symbol.name, real=True) for symbol in symbols}
    if len(set(ours.values())) < len(symbols):
        raise ArgumentError("Two coordinates have one name.")
    return ours


def _components(position: Any, ours: Mapping[Any, Any]) -> tuple[Any, ...] | None:
    if position is None:
        return None
    if not isinstance(position, (tuple, list)) or not 1 <= len(position) <= 3:
        raise ArgumentError(f"position must have one to three components, not {position!r}.")
    return tuple(_checked(part, ours) for part in position)


def _checked(given: Any, ours: Mapping[Any, Any]) -> Any:
    """Return an expression of the coordinates in our symbols."""
    import sympy

    try:
        found = sympy.sympify(given, strict=True)
    except sympy.SympifyError:
        found = None
    if not isinstance(found, sympy.Expr):
        raise ArgumentError(f"{given!r} is not an expression of SymPy.")
    found = found.xreplace(dict(ours))
    unknown = found.free_symbols - set(ours.values())
    if unknown:
        raise ArgumentError(
            f"{found} holds {', '.join(sorted(map(str, unknown)))}.",
            hint="Give numbers for parameters: expression.subs(parameter, value).",
        )
    return found
