"""Fills: affine matrices from owned points to owned points and ghosts, made of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import ssr
from ssr.errors import ArgumentError, ShapeError, SpaceError, UnboundError, UnsupportedError
from ssr.expression import Expression
from ssr.external import extend
from ssr.index import integer
from ssr.space import Space
from ssr.vectors import Vector, VectorSpace

from .chain import Affine, array_of, check_sizes, declared, kernel_dtype
from .definition import Definition
from .follow import linear_rows
from .frame import Frame
from .ghosts import Ghosts, Member
from .ruled import Ruled
from .rules import Rule

if TYPE_CHECKING:
    import scipy.sparse

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Kind: TypeAlias = "Space | VectorSpace"


def fill(
    space: Kind,
    *rules: Rule,
    owned: Space | None = None,
    narrow: bool = True,
    join: bool = True,
    once: bool = True,
) -> Fill:
    """Return the affine matrix that fills the ghosts of a space: ``u_wide = B u + c``.

    The rules are a set. Where a rule reads a ghost, the rule of that ghost takes its place, until
    only owned points are read; where two rules meet, in a corner, both must say the same. What
    cannot be defined so is an error as soon as a program, or a product with a matrix, reads it.

    Parameters
    ----------
    space
        Owned points and ghosts: ``cells.grow(width)``, or a vector space of it.
    *rules
        What the ghosts are: `bc.copy`, `bc.periodic`, `bc.symmetric`, ...
    owned
        The owned points, if they are not all but the same number of points at both ends.
    narrow
        Whether a program makes only the ghosts that it reads.
    join
        Whether a program makes ghosts of several fields in one pass where it can.
    once
        Whether a program leaves constant ghosts as they are in arrays that are its own.

    Raises
    ------
    SpaceError
        If the space does not tell its ghosts.
    ArgumentError, ShapeError, HaloError
        If a rule does not fit the blocks.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> ny, nx = ssr.sizes("ny nx")
    >>> cells = ssr.Space(ny, nx)
    >>> wide = cells.grow(1)
    >>> fill = bc.fill(wide, bc.periodic(axis=1), bc.symmetric(axis=0, side="low"),
    ...                bc.dirichlet(1.0, axis=0, side="high"))
    >>> fill @ np.array([[1.0, 2, 3], [4, 5, 6]])
    array([[ 3.,  1.,  2.,  3.,  1.],
           [ 3.,  1.,  2.,  3.,  1.],
           [ 6.,  4.,  5.,  6.,  4.],
           [-4., -2., -3., -4., -2.]])
    >>> lap = ssr.stencil(cells, wide, {(0, 0): -4, (0, 1): 1, (0, -1): 1, (1, 0): 1, (-1, 0): 1})
    >>> H = lap @ fill
    >>> H @ np.ones((2, 3))
    array([[0., 0., 0.],
           [0., 0., 0.]])

    References
    ----------
    Mat2Boundary, arXiv 2605.14780.
    """
    if not isinstance(space, (Space, VectorSpace)):
        raise ArgumentError(
            f"bc.fill takes a space with ghosts first, not {type(space).__name__}.",
            hint="Write bc.fill(cells.grow(1), ...).",
        )
    if not isinstance(owned, (Space, type(None))):
        raise ArgumentError(f"owned is a space of points, not {type(owned).__name__}.")
    points = space.space if isinstance(space, VectorSpace) else space
    frame = Frame.of(points, owned)
    count = space.components if isinstance(space, VectorSpace) else None
    ruled = Ruled.of(frame, rules)
    ruled.check(count)
    inner = _owned(points, frame) if owned is None else owned
    return Fill(Parts(points, inner, count, ruled, MappingProxyType({}), narrow, join, once))


def _owned(wide: Space, frame: Frame) -> Space:
    widths = [(-a, -b) for a, b in zip(frame.low, frame.high, strict=True)]
    found = getattr(wide, "owned", None)
    return found if found is not None else wide.grow(*widths)


@dataclass(frozen=True, slots=True)
class Parts:
    """The data of a fill; ``components`` is None for fields of numbers."""

    wide: Space
    owned: Space
    components: int | None
    ruled: Ruled
    bound: Mapping[str, Any]
    narrow: bool = True
    join: bool = True
    once: bool = True


class Fill(Affine):
    """An affine matrix from owned points to owned points and ghosts: ``u_wide = B u + c``.

    Made by `bc.fill`. ``fill @ u`` is an array, or, in a program, a field on the wide space.
    ``matrix @ fill`` is an affine matrix with the boundary folded in. Ghosts that nothing defines
    are NaN in arrays.
    """

    def __init__(self, parts: Parts, free: Fill | None = None) -> None:
        self.parts = parts
        self._free = self if free is None else free  # its programs serve all values

    @property
    def rows(self) -> Kind:
        """The space of owned points and ghosts."""
        return self._kind(self.parts.wide)

    @property
    def cols(self) -> Kind:
        """The space of the owned points."""
        return self._kind(self.parts.owned)

    def _kind(self, space: Space) -> Kind:
        count = self.parts.components
        return space if count is None else space.vector(count)

    @property
    def name(self) -> str:
        """The fill as it was written."""
        return f"fill({', '.join(rule.text for rule in self.parts.ruled.rules)})"

    def __repr__(self) -> str:
        return f"<Fill {self.name}: {self.cols!r} -> {self.rows!r}>"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the rules."""
        return self.parts.ruled.parameters

    def bind(self, **values: Any) -> Fill:
        """Return the fill with values for its parameters and sizes.

        Parameters
        ----------
        **values
            Numbers, or scalars of a program inside its body, by the names of `bc.parameter`;
            integers for symbolic sizes.

        Raises
        ------
        ArgumentError
            If there is no such name.
        """
        self.check_names(values)
        for name, value in values.items():
            if name in self.sizes and integer(value) is None:
                raise ArgumentError(f"The size {name} is {value!r}, not an integer.")
        return self._with({**self.parts.bound, **values})

    def _with(self, values: Mapping[str, Any]) -> Fill:
        return Fill(replace(self.parts, bound=MappingProxyType(dict(values))), self._free)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes."""
        return self.parts.wide.sizes

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound."""
        return {n: int(v) for n, v in self.parts.bound.items() if n in self.sizes}

    # -- application -----------------------------------------------------------------------------

    def applied(self, x: Expression | Vector) -> Any:
        """Return a field of a program with its ghosts."""
        count = self.parts.components
        values = self.values()
        if isinstance(x, Vector) and count is None:
            return Vector([self.applied(part) for part in x])
        if (len(x) if isinstance(x, Vector) else None) != count:
            raise SpaceError(f"{self.name} fills fields of {self.cols!r}.")
        operands = list(x) if isinstance(x, Vector) else [x]
        made = extend(self._ghosts(), operands, *values)
        return Vector(list(made)) if isinstance(x, Vector) else made[0]

    def values(self) -> list[Any]:
        """Return the values of all parameters.

        Raises
        ------
        UnboundError
            If one has none.
        """
        missing = [n for n in self.parameters if n not in self.parts.bound]
        if missing:
            raise UnboundError(
                f"{self.name} needs a value for {missing[0]!r}.",
                hint=f"Bind it: fill.bind({missing[0]}=...).",
            )
        return [self.parts.bound[n] for n in self.parameters]

    def given(self, values: Sequence[Any]) -> Fill:
        """Return the fill with other values for all parameters, in their order."""
        return self._with({**self.parts.bound, **dict(zip(self.parameters, values, strict=True))})

    def _ghosts(self) -> Ghosts:
        parts = self.parts
        kind = parts.components or 1, parts.wide, parts.owned
        member = Member(parts.ruled, *kind, narrow=parts.narrow, join=parts.join, once=parts.once)
        return Ghosts((member,))

    @cached_property
    def _run(self) -> ssr.Program:
        """The program ``w[:] = fill @ u``."""
        return self._program("fill", {"w": self.rows, "u": self.cols}, lambda w, u: (w, u))

    @cached_property
    def _in_place(self) -> ssr.Program:
        """The program ``w[:] = fill @ w[owned]``."""
        owned = self.parts.owned
        return self._program("ghosts", {"w": self.rows}, lambda w: (w, w[owned]))

    def _program(
        self, name: str, fields: Mapping[str, Kind], take: Callable[..., tuple[Any, Any]]
    ) -> ssr.Program:
        names = [_apart(n, self.parameters) for n in fields]

        def body(*given: Any) -> None:
            target, source = take(*given[: len(fields)])
            target[:] = self.given(given[len(fields) :]).applied(source)

        kinds: dict[str, Any] = dict(zip(names, fields.values(), strict=True))
        kinds |= dict.fromkeys(self.parameters, ssr.scalar)
        body.__name__ = name
        return declared(body, kinds)

    def apply(self, u: Array, out: Array | None = None) -> Array:
        """Return the array with ghosts.

        Parameters
        ----------
        u
            The owned points, of the shape of `cols`.
        out
            The result; by default a new array.
        """
        u = array_of(self, u)
        if out is None:
            shape = self._shape(u)
            out = np.empty(shape, kernel_dtype(u))
            u = u.astype(out.dtype, copy=False)
        self._free._run(out, u, *self.values())
        return out

    def ghosts(self, wide: Array) -> None:
        """Fill the ghosts of an array in place, from its owned points."""
        if np.ndim(wide) == self._axes:
            check_sizes(self, self.rows, np.shape(wide))
        self._free._in_place(wide, *self.values())

    @property
    def _axes(self) -> int:
        """The number of axes of an array."""
        frame, count = self.parts.ruled.frame, self.parts.components
        return frame.ndim + (frame.count is not None) + (count is not None)

    def _shape(self, u: Array) -> tuple[int, ...]:
        frame = self.parts.ruled.frame
        if u.ndim != self._axes:
            raise ShapeError(
                f"{self.name} is applied to an array of {u.ndim} axes.",
                note=f"its columns are {self.cols!r}",
            )
        check_sizes(self, self.cols, u.shape)
        lead = u.ndim - frame.ndim
        more = [a + b for a, b in zip(frame.low, frame.high, strict=True)]
        return (*u.shape[:lead], *(n + m for n, m in zip(u.shape[lead:], more, strict=True)))

    # -- as a matrix -----------------------------------------------------------------------------

    @cached_property
    def linear(self) -> Any:
        """The linear part B: an `ssr.Matrix` of staged families, one for each component pair.

        Where weights come from tables it is a stored matrix, of SciPy's entries.

        Raises
        ------
        UnboundError
            If weights come from tables and a size is not bound.
        UnsupportedError
            If components are rotated into each other; use `to_scipy`.
        """
        parts = self.parts
        if parts.ruled.tabled:
            if parts.components is not None:
                raise UnsupportedError(
                    f"The linear part of {self.name} is not staged.",
                    note="its rules turn components into each other, by tables",
                    hint="Use fill.to_scipy().",
                )
            made: Any = ssr.from_scipy(self.to_scipy(), rows=parts.wide, cols=parts.owned)
        else:
            made = ssr.matrix(rows=parts.wide, cols=parts.owned)(linear_rows(parts.ruled))
        if parts.components is None:
            return made
        return ssr.kron(np.eye(parts.components), made)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the linear part as a SciPy matrix, the rules followed point by point.

        Raises
        ------
        UnboundError
            If a size is not bound.
        """
        return self._definition().to_scipy()

    def _definition(self) -> Definition:
        sizes = self.known_sizes()
        missing = [n for n in self.sizes if n not in sizes]
        if missing:
            raise UnboundError(
                f"No value is given for the size {missing[0]}.",
                hint=f"Bind it: fill.bind({missing[0]}=...).",
            )
        return self.parts.ruled.definition(sizes, self.parts.components or 1)

    def explain(self) -> str:
        """Return the ghosts, region by region: which rules make them, from what."""
        from .explain import explain_fill

        return explain_fill(self)

    def draw(self, *, block: int | None = None, ax: Any = None) -> Any:
        """Draw the ghosts of a block, or of all, and the points they are made of.

        Returns the matplotlib axes, new ones by default. Needs matplotlib; blocks have two
        dimensions, and sizes are bound.
        """
        from .explain import draw_fill

        return draw_fill(self, ax, block)


def _apart(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
