"""Fields as data of a matrix: their elements as symbols inside its generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from .. import ir
from ..errors import ArgumentError, DtypeError, MissingNameError, OutOfSpaceError, SpaceError
from ..points.affine import Affine
from ..points.sets import Domain
from ..spaces.space import Space
from ..symbols.index import affine
from ..symbols.values import Operand, Value


class FieldData(Operand):
    """A field given to a generator: ``u[i, j]`` is its value at a point, relative to the row."""

    __slots__ = ("name", "outside", "space")

    def __init__(
        self,
        name: str,
        space: Space,
        outside: Callable[[Space, tuple[Affine, ...]], Domain | None],
    ) -> None:
        self.name = name
        self.space = space
        self.outside = outside

    def __repr__(self) -> str:
        return f"<Field {self.name}>"

    @property
    def node(self) -> NoReturn:
        """A field is not a number; an element of it is one."""
        self._without_a_point()

    def _without_a_point(self, *_: object) -> NoReturn:
        raise DtypeError(
            f"Field {self.name!r} is used as a number.",
            hint=f"Read it at a point: {self.name}[...].",
        )

    def __len__(self) -> NoReturn:
        raise ArgumentError(
            f"Field {self.name!r} has no length.", hint="Use the sizes of its space, such as n."
        )

    def __iter__(self) -> NoReturn:
        raise ArgumentError(
            f"Field {self.name!r} is used as a sequence.",
            note="A generator makes one row; it has no loop over all points.",
            hint=f"Read the field at points near the row: {self.name}[...].",
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise MissingNameError(
            f"Field {self.name!r} has no {name!r}.", hint=f"Read it at a point: {self.name}[...]."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _without_a_point
    __matmul__ = __rmatmul__ = __floordiv__ = __mod__ = _without_a_point
    __truediv__ = __rtruediv__ = __pow__ = __neg__ = __abs__ = _without_a_point
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = _without_a_point

    def __getitem__(self, point: object) -> Value:
        index = point if isinstance(point, tuple) else (point,)
        if len(index) != self.space.ndim:
            raise SpaceError(
                f"Field {self.name!r} is read with {len(index)} of {self.space.ndim} indices."
            )
        column = tuple(affine(p) for p in index)
        outside = self.outside(self.space, column)
        if outside is not None:
            raise OutOfSpaceError(
                f"Field {self.name!r} is read outside its space, "
                f"at ({', '.join(map(str, column))}).",
                note=f"That is outside for {outside.notation()}.",
                hint="Guard the read with `if`, or give the field on space.grow(width).",
            )
        return Value(ir.Load(self.name, column))
