"""Ghost fills: affine matrices from interior points to interior and ghost points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import ssr
from ssr import Space, Vector
from ssr.errors import ArgumentError, SpaceError, UnboundError, UnsupportedError
from ssr.extension import Array, extend, is_distributed, label, own_program

from ..closure.definition import Definition
from ..closure.ruled import Ruled
from ..tables.ghosts import Ghosts, Member
from .affine import Affine
from .fill_data import FillData, bound
from .live import overwritten, rows_matrix
from .operands import (
    Kind,
    check_known,
    check_sizes,
    fields_alone,
    fields_of,
    flat,
    named,
    operands_of,
    staged,
    store,
)
from .show_ghosts import draw_regions, explain_ghosts

if TYPE_CHECKING:
    import scipy.sparse


class Fill(Affine):
    """An affine matrix from owned points to owned points and ghosts: ``u_wide = B u + c``.

    Made by `bc.fill`. ``fill @ u`` is an array, or, in a program, a field on the wide space.
    ``matrix @ fill`` is an affine matrix with the boundary folded in. Ghosts that nothing defines
    are NaN in arrays.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(3)
    >>> fill = bc.fill(cells.grow(1), bc.dirichlet(0.0, side="low"), bc.neumann(side="high"))
    >>> fill @ np.array([1.0, 2.0, 4.0])
    array([-1.,  1.,  2.,  4.,  4.])
    """

    operand = "u"

    def __init__(self, data: FillData, free: Fill | None = None) -> None:
        self.data = data
        self._free = self if free is None else free  # its programs fit all parameter values

    @property
    def rows(self) -> Kind:
        """The space of owned points and ghosts."""
        return self._kind(self.data.wide)

    @property
    def cols(self) -> Kind:
        """The space of the owned points."""
        return self._kind(self.data.owned)

    def _kind(self, spaces: tuple[Space, ...]) -> Kind:
        count = self.data.components
        kinds = tuple(space if count is None else space.vector(count) for space in spaces)
        return kinds if self.data.several else kinds[0]

    @property
    def name(self) -> str:
        """The fill as it was written."""
        return f"fill({', '.join(rule.text for rule in self.data.ruled.rules)})"

    def __repr__(self) -> str:
        return f"<Fill {self.name}: {label(self.cols)} -> {label(self.rows)}>"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the rules."""
        return self.data.declared.missing

    @property
    def rules(self) -> tuple[Ruled, ...]:
        """The sets of rules that its programs are for."""
        return (self.data.ruled,)

    @property
    def value_kinds(self) -> list[Any]:
        """The kinds of `values`, as for `ssr.program`."""
        fields = self.data.ruled.fields
        spaces = {name: field.space for name, field in fields.items()}
        return [spaces.get(name, ssr.scalar) for name in self.data.ruled.missing]

    def bind(self, **values: Any) -> Fill:
        """Return the fill with values for its parameters and sizes.

        Parameters
        ----------
        **values
            By the names of `bc.parameter`: numbers; functions of coordinates; arrays, with an
            element for each point of the side, or shaped as a field on ``cells.side(axis, end)``,
            which are copied; inside the body of a program its scalars, and expressions on a space
            that holds the points next to the side. With ranks, fields on such a space. Integers for
            symbolic sizes.

        Raises
        ------
        ArgumentError
            If there is no such name, or a value is not finite.
        ShapeError
            If an array does not fit the side.
        """
        self.check_values(values)
        for name, value in values.items():
            if isinstance(value, str):
                raise ArgumentError(f"The parameter {name} is {value!r}, not a number.")
        return self._with(bound(self.data, {**self.data.bound, **values}))

    def _with(self, data: FillData) -> Fill:
        return Fill(data, self._free if data.ruled is self.data.ruled else None)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes."""
        return tuple(self.data.ruled.frame.sizes)

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound."""
        return {n: int(v) for n, v in self.data.bound.items() if n in self.sizes}

    # -- application -----------------------------------------------------------------------------

    def applied(self, x: Any) -> Any:
        """Return x, a field of a program or a tuple of them, with its ghosts."""
        count, several = self.data.components, self.data.several
        fields = self._fields(x)
        if count is None and all(isinstance(f, Vector) for f in fields):
            each = [self.applied(one if several else one[0]) for one in zip(*fields, strict=True)]
            if not several:
                return Vector(each)
            return tuple(Vector(list(kind)) for kind in zip(*each, strict=True))
        self.values()
        values = [self.data.bound[n] for n in self.data.ruled.parameters]
        if any((len(f) if isinstance(f, Vector) else None) != count for f in fields):
            raise SpaceError(f"{self.name} fills fields of {label(self.cols)}.")
        each = flat(tuple(fields))
        made = list(extend(self.step, each, *values))
        if self.data.ruled.live:
            made = overwritten(self.data, each, made)
        if count is not None:
            vectors = [Vector(made[n : n + count]) for n in range(0, len(made), count)]
            return tuple(vectors) if several else vectors[0]
        return tuple(made) if several else made[0]

    def _fields(self, x: Any) -> list[Any]:
        """Return the fields of an operand, one for each kind of blocks."""
        if not self.data.several:
            return operands_of(self.name, self.cols, x)
        found = list(x) if isinstance(x, (tuple, list)) else []
        kinds, count = len(self.data.wide), self.data.components or 1
        if count > 1 and len(found) == kinds * count:
            found = [Vector(found[n : n + count]) for n in range(0, len(found), count)]
        if len(found) != kinds:
            raise ArgumentError(
                f"{self.name} is applied to a tuple of {kinds} fields.",
                note=f"its columns are {label(self.cols)}",
            )
        return found

    def values(self) -> list[Any]:
        """Return the values of all parameters that programs take.

        Raises
        ------
        UnboundError
            If one has none.
        """
        names = self.data.ruled.missing
        missing = [n for n in names if n not in self.data.bound]
        if missing:
            raise UnboundError(
                f"{self.name} needs a value for {missing[0]!r}.",
                hint=f"Bind it: fill.bind({missing[0]}=...).",
            )
        return [self.data.bound[n] for n in names]

    def _given(self, values: Sequence[Any]) -> Fill:
        """Return the fill with other values of the same kinds, in the order of `values`."""
        named = dict(zip(self.data.ruled.missing, values, strict=True))
        return self._with(replace(self.data, bound=MappingProxyType({**self.data.bound, **named})))

    @property
    def step(self) -> Ghosts:
        """The program step that computes the ghosts."""
        data = self.data
        spaces = tuple(zip(data.owned, data.wide, strict=True))
        kinds = data.components or 1, spaces, (None,) * len(spaces)
        return Ghosts((Member(data.ruled, *kinds, data.narrow, data.join, data.once),))

    @cached_property
    def _run(self) -> ssr.Program:
        """The program ``w[:] = fill @ u``."""
        return self._program("fill", {**named("w", self.rows), **named("u", self.cols)})

    @cached_property
    def _in_place(self) -> ssr.Program:
        """The program ``w[:] = fill @ w[owned]``."""
        return self._program("ghosts", named("w", self.rows))

    def _program(self, name: str, fields: Mapping[str, Any]) -> ssr.Program:
        """Return the program that fills the first fields, from the others or from themselves."""
        data, count = self.data, len(self.data.wide)

        def body(*given: Any) -> None:
            targets, values = given[:count], given[len(fields) :]
            sources = given[count : len(fields)] or tuple(
                target[owned] for target, owned in zip(targets, data.owned, strict=True)
            )
            store(targets, self._given(values).applied(sources if data.several else sources[0]))

        names = data.ruled.missing
        kinds = {_apart(n, names): kind for n, kind in fields.items()}
        kinds |= dict(zip(names, self.value_kinds, strict=True))
        body.__name__ = name
        return own_program(**kinds)(body)

    @property
    def _is_distributed(self) -> bool:
        return any(map(is_distributed, self.data.bound.values()))

    def run(self, made: Sequence[Array], given: Sequence[Array]) -> None:
        """Apply the fill to the arrays given, and store the result in those made."""
        self._free._run(*made, *given, *self.values())

    def ghosts(self, *wide: Array) -> None:
        """Fill the ghosts of arrays in place from their owned points.

        Parameters
        ----------
        *wide
            An array of the shape of the wide space, for each kind of blocks; or such fields of
            several ranks.

        Raises
        ------
        ShapeError, DtypeError, ContiguityError
            If an array does not fit.
        """
        if any(map(is_distributed, wide)):
            first: Any = next(filter(is_distributed, wide))
            check_known(self.name, self.known_sizes(), first.distribution.sizes, "the field")
        elif [np.ndim(w) for w in wide] == [len(kind.shape) for kind in fields_of(self.rows)]:
            check_sizes(self.name, self.known_sizes(), self.operand, self.rows, wide)
        self._free._in_place(*wide, *self.values())

    # -- as a matrix -----------------------------------------------------------------------------

    @cached_property
    def linear(self) -> Any:
        """The linear part B: an `ssr.Matrix` of staged families; an `ssr.BlockMatrix` for several.

        Where weights come from tables, as those of `bc.transform_vector`, or from rows of a sparse
        matrix for numbers on blocks of one shape, it is a stored matrix, of SciPy's entries.
        Coefficients that vary are data of the matrix; those that are not bound are data to be bound
        by their names.

        Raises
        ------
        UnboundError
            If weights come from tables and a size is not bound.
        UnsupportedError
            If blocks of several shapes have symbolic sizes; use `to_scipy`.
        """
        data = self.data
        if data.ruled.tabled and data.ruled.live:
            raise UnsupportedError(
                f"The linear part of {self.name} is not staged.",
                note="a program gives coefficients, and other rules have weights in tables",
                hint="Bind the coefficients to numbers or arrays.",
            )
        if data.ruled.varying and not data.ruled.live and not data.ruled.tabled:
            with suppress(UnsupportedError):  # functions of coordinates that fail on symbols
                return self._staged()
            return self._stored()
        if data.ruled.tabled and data.several and self.sizes:
            raise UnsupportedError(
                f"The linear part of {self.name} is not staged.",
                note="the weights of its rules come from tables",
                hint="Give the blocks their sizes as numbers, or use fill.to_scipy().",
            )
        single = data.components is None and not data.several
        if data.ruled.tabled or (data.ruled.pointwise and single):
            return self._stored()
        return self._staged()

    def _stored(self) -> Any:
        rows, cols = map(fields_alone, (self.rows, self.cols))
        return ssr.from_scipy(self.to_scipy(), rows=rows, cols=cols)

    def _staged(self) -> Any:
        data = self.data
        shape = len(data.wide), len(data.owned)
        given = data.components, self.known_sizes()
        return staged(self._between, shape, *given, several=data.several)

    def _between(self, r: int, c: int) -> ssr.Matrix:
        """Return the linear part from the fields of one kind of blocks to those of another."""
        rows, cols = self.data.wide[r], self.data.owned[c]
        more = [name for name in self.sizes if name not in (*rows.sizes, *cols.sizes)]
        if more:
            raise UnsupportedError(
                f"The linear part of {self.name} is not staged.",
                note=f"what {rows!r} reads of {cols!r} depends on {more[0]}, a size of others",
                hint="Give the blocks their sizes as numbers, or use fill.to_scipy().",
            )
        return rows_matrix(self.data.ruled, rows, cols, (r, c, 0), self.data.bound)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the linear part as a SciPy matrix, by following the rules point by point.

        Raises
        ------
        UnboundError
            If a size is not bound.
        """
        return self._definition().to_scipy()

    def _definition(self) -> Definition:
        self._check_numbers()
        sizes = self._all_sizes("Bind it: fill")
        return self.data.ruled.definition(sizes, self.data.components or 1)

    def _check_numbers(self) -> None:
        """Refuse coefficients that are not known."""
        if not self.data.ruled.live:
            return
        self.values()
        raise UnsupportedError(
            f"{self.name} has coefficients that a program or fields of ranks give.",
            hint="Bind numbers or arrays.",
        )

    def explain(self) -> str:
        """Return a report on the ghosts, region by region: their formulas and rules."""
        return "\n".join([repr(self), *explain_ghosts(self.data.ruled, self.known_sizes())])

    def draw(self, *, block: int | None = None, ax: Any = None) -> Any:
        """Draw the ghosts of a block, or of all blocks, and the points that they read.

        Blocks have two dimensions, and all sizes have values. Returns the axes of matplotlib.

        Parameters
        ----------
        block
            The number of the block; by default all are drawn.
        ax
            The axes of matplotlib to draw into; by default new ones.
        """
        sizes = self._all_sizes("Draw fill")
        self._check_numbers()
        return draw_regions(self.data.ruled, sizes, self.data.components or 1, block, ax)


def _apart(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
