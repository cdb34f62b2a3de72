"""Sets of integer points, implemented with isl.

A `Domain` is immutable. Its isl text is its identity: equal text, equal digest. Set equality is
`equals`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import islpy as isl

from .affine import Affine, lexicographic
from .boxes import Box, narrowed, valued
from .condition import Condition
from .effort import each_in_turn
from .graph import graph

_CONTEXT = isl.DEFAULT_CONTEXT

Bounds: TypeAlias = tuple[tuple[Affine, ...], ...]
"""Expressions in the parameters of a set, for each axis."""


REMEMBERED = 4096
"""Size of the cache of results of each set operation: passes repeat the same operations."""


@each_in_turn
class Domain:
    """A Presburger set of index tuples with symbolic parameters.

    >>> d = Domain.where(("i",), "0 <= i < n", ("n",))
    >>> d
    [n] -> { [i] : 0 <= i < n }
    """

    __slots__ = ("_cases", "_text", "axes", "isl")

    def __init__(self, axes: tuple[str, ...], raw: Any) -> None:
        self.axes = axes
        self.isl = raw
        self._text: str | None = None
        self._cases: tuple[tuple[Affine, ...], ...] | None = None

    @staticmethod
    def where(axes: tuple[str, ...], condition: str, parameters: Sequence[str] = ()) -> Domain:
        """Return the points of an index space that satisfy a condition in isl's notation."""
        return Domain(axes, _parse(axes, condition, tuple(sorted(set(parameters)))))

    @staticmethod
    def of(axes: tuple[str, ...], condition: Condition) -> Domain:
        """Return the points that satisfy a condition; names other than axes are parameters."""
        names: set[str] = set()
        for case in condition.cases:
            for expression, _ in case:
                names |= expression.names()
        return Domain.where(axes, condition.isl() or "1 = 0", sorted(names - set(axes)))

    @staticmethod
    def box(axes: tuple[str, ...], lower: Sequence[Affine], upper: Sequence[Affine]) -> Domain:
        """Return the points with ``lower <= index < upper``."""
        case = []
        for name, low, high in zip(axes, lower, upper, strict=True):
            here = Affine.name(name)
            case += [(here - low, ">= 0"), (high - here - 1, ">= 0")]
        return Domain.of(axes, Condition((tuple(case),)))

    @property
    def text(self) -> str:
        """The set in isl's notation."""
        if self._text is None:
            self._text = str(self.isl)
        return self._text

    def read_again(self) -> Domain:
        """Return the same set as isl parses it from its text."""
        return Domain(self.axes, type(self.isl)(self.text))

    @staticmethod
    def union(domains: Sequence[Domain]) -> Domain:
        """Return the points of at least one of some sets."""
        raw = domains[0].isl
        for other in domains[1:]:
            raw = raw.union(other.isl)
        return Domain(domains[0].axes, raw.coalesce())

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return False
        return (self._text or self.text) == (other._text or other.text)

    def __hash__(self) -> int:
        return hash(self._text or self.text)

    def __and__(self, other: Domain) -> Domain:
        return _intersection(self.axes, self, other)

    def __or__(self, other: Domain) -> Domain:
        return _union(self.axes, self, other)

    def __sub__(self, other: Domain) -> Domain:
        return _difference(self.axes, self, other)

    def __le__(self, other: Domain) -> bool:
        return _is_subset(self, other)

    def equals(self, other: Domain) -> bool:
        """Whether both hold the same points for all parameters."""
        return bool(self.isl.is_equal(other.isl))

    @property
    def empty(self) -> bool:
        """Whether no parameter value gives a point."""
        return bool(self.isl.is_empty())

    def simplified(self, context: Domain | None = None) -> Domain:
        """Return an equal set in a short form; within ``context`` only, if given."""
        raw = self.isl.coalesce()
        if context is not None:
            raw = raw.gist(context.isl).coalesce()
        return Domain(self.axes, raw.detect_equalities().coalesce())

    def canonical(self, context: Domain | None = None) -> Domain:
        """Return an equal set in a short form: one conjunction, if the set is one.

        It is equal within ``context`` only, if that is given.
        """
        raw = self.isl.coalesce()
        if raw.n_basic_set() > 1:
            hull = isl.Set.from_basic_set(raw.simple_hull())
            if (hull if context is None else hull.intersect(context.isl)).is_subset(raw):
                raw = hull
        return Domain(self.axes, raw.remove_redundancies())

    def around(self) -> Domain:
        """Return a set that holds this one and is one conjunction of its conditions.

        >>> ends = Domain.where(("i",), "0 <= i < n and (i = 0 or i >= 3)", ("n",))
        >>> print(ends.around().notation())
        0 <= i < n
        """
        return Domain(self.axes, isl.Set.from_basic_set(self.isl.simple_hull()))

    def preimage(self, image: tuple[Affine, ...], axes: tuple[str, ...]) -> Domain:
        """Return the points over ``axes`` whose image lies in this set."""
        return _preimage(axes, image, self)

    def image(self, image: tuple[Affine, ...], axes: tuple[str, ...]) -> Domain:
        """Return the images of this set's points, as a set over ``axes``."""
        moved = self._graph(image).range()
        return Domain(axes, _named(moved, axes).coalesce())

    def injective(self, image: tuple[Affine, ...]) -> bool:
        """Whether an affine map leads from different points of this set to different points."""
        return bool(self._graph(image).is_injective())

    def resolved(self, image: tuple[Affine, ...]) -> tuple[Affine, ...]:
        """Return an affine map as this set allows to write it: floors that it decides are gone.

        Where an index has one value, an index with a constant added is still written as that.

        >>> from .affine import Affine
        >>> whole = Affine.name("i") // 2 * 2
        >>> for condition in "i mod 2 = 0", "i = 2 n":
        ...     print(*Domain.where(("i",), condition, ("n",)).resolved((whole - 2,)))
        i - 2
        i - 2
        """
        if all(isinstance(atom, str) for e in image for atom, _ in e.terms):
            return image
        found = pieces_of(isl.PwMultiAff.from_map(self._graph(image)), self.axes)
        if len(found) != 1:
            return image
        pairs = zip(found[0][1], image, strict=True)
        return tuple(self._as_index(made, given.names()) for made, given in pairs)

    def _as_index(self, expression: Affine, names: Collection[str]) -> Affine:
        """Return an expression without indices as one of some with a constant added, if it is."""
        if expression.names().isdisjoint(self.axes):
            for axis in (a for a in self.axes if a in names):
                shift = self.values(expression - Affine.name(axis), 1)
                if len(shift) == 1 and shift[0].is_constant:
                    return Affine.name(axis) + shift[0].constant
        return expression

    def values(self, expression: Affine, most: int) -> tuple[Affine, ...]:
        """Return the values of an expression at all points, free of indices; itself if too many.

        >>> from .affine import Affine
        >>> last = Domain.where(("i",), "i = n - 1", ("n",))
        >>> print(*last.values(Affine.name("i") + 1, 4))
        n
        >>> some = Domain.where(("i",), "n <= i < n + 3", ("n",))
        >>> print(*some.values(Affine.name("i") % 2, 4))
        0 1
        """
        if expression.names().isdisjoint(self.axes):
            return (expression,)
        image = self.image((expression,), ("d",))
        values = isl.Map.from_range(image.isl)
        if values.is_single_valued():
            found = pieces_of(isl.PwMultiAff.from_map(values), ())
            return found[0][1] if len(found) == 1 else (expression,)
        free = image.fixed({})
        if not free.bounded() or free.isl.count_val().gt(isl.Val(most)):
            return (expression,)
        return tuple(Affine((), value) for (value,) in free.points())

    def _graph(self, image: tuple[Affine, ...]) -> Any:
        return graph(self.axes, image).intersect_domain(self.isl)

    def project(self, keep: Sequence[str]) -> Domain:
        """Return the shadow of the set on some of its axes."""
        return self.image(tuple(Affine.name(a) for a in keep), tuple(keep))

    def before(self, left: tuple[Affine, ...], right: tuple[Affine, ...]) -> Domain:
        """Return the points at which ``left < right`` in lexicographic order."""
        return self & Domain.of(self.axes, Condition(lexicographic(left, right)))

    def equal(self, left: tuple[Affine, ...], right: tuple[Affine, ...]) -> Domain:
        """Return the points at which two index tuples agree."""
        case = tuple((a - b, "= 0") for a, b in zip(left, right, strict=True))
        return self & Domain.of(self.axes, Condition((case,)))

    def fixed(self, values: Mapping[str, int]) -> Domain:
        """Return the set for given values of parameters."""
        raw = self.isl
        for name, value in values.items():
            position = raw.find_dim_by_name(isl.dim_type.param, name)
            if position >= 0:
                raw = raw.fix_val(isl.dim_type.param, position, isl.Val(value))
        return Domain(self.axes, raw.project_out_all_params())

    def tests(self, context: Domain) -> tuple[Affine, ...] | None:
        """Return expressions that are all >= 0 at the points of a context that are in this set.

        None if the set is not one conjunction of such tests there.

        >>> every = Domain.where(("i",), "0 <= i < n", ("n",))
        >>> print(*Domain.where(("i",), "0 < i < n", ("n",)).tests(every))
        i - 1
        """
        found: list[Affine] = []
        parts = self.isl.gist(context.isl).coalesce().get_basic_sets()
        if len(parts) != 1 or parts[0].dim(isl.dim_type.div):
            return None
        for constraint in parts[0].get_constraints():
            test = self._test(constraint)
            if not constraint.is_equality():
                found.append(test)
                continue
            for one, other in ((test, -test), (-test, test)):
                if context <= Domain.of(self.axes, Condition((((one, ">= 0"),),))):
                    found.append(other)
                    break
            else:
                found += [test, -test]
        return tuple(found)

    def boxes(self, box: Box, values: Mapping[str, int]) -> list[Box] | None:
        """Return the points of a box that are in the set, for values of all parameters, as boxes.

        None if arithmetic cannot decide this; isl computes the conditions at the first call only.

        >>> cross = Domain.where(("j", "i"), "i < n and j - i <= 1 or i = 4 and j >= n", ("n",))
        >>> cross.boxes(((0, 1), (-1, 9)), {"n": 4}), cross.boxes(((4, 7), (4, 9)), {"n": 4})
        ([((0, 1), (-1, 4))], [((4, 7), (4, 5))])
        """
        if self._cases is None:
            parts = self.isl.get_basic_sets()
            flat = all(not part.dim(isl.dim_type.div) for part in parts)
            self._cases = tuple(self._conjunction(part) for part in parts) if flat else ()
        found: list[Box] = []
        for case in self._cases:
            places = dict(zip(self.axes, box, strict=True))
            tests = [valued(test, values) for test in case]
            known = narrowed(places, tests)
            if known is None:
                return None
            if known:
                found.append(tuple(places[axis] for axis in self.axes))
        return found if self._cases else None

    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Return the smallest box that holds a set without parameters, which is not empty.

        >>> Domain.where(("j", "i"), "0 <= j < 3 and i = 2 * j").bounds()
        ((0, 3), (0, 5))
        """
        parts = _filled(self.isl)
        return tuple(
            (
                min(int(part.dim_min_val(d).to_python()) for part in parts),
                max(int(part.dim_max_val(d).to_python()) for part in parts) + 1,
            )
            for d in range(len(self.axes))
        )

    def largest(self, expression: Affine) -> int | None:
        """Return the largest value of an expression at all points for all parameters.

        None if there are no points, or if there is no largest value.

        >>> near = Domain.where(("i",), "lo <= i < hi and i < 4 <= hi", ("lo", "hi"))
        >>> near.largest(Affine.name("i") + 2 - Affine.name("hi"))
        1
        """
        values = self._graph((expression,)).range().project_out_all_params()
        each = [part.dim_max_val(0) for part in _filled(values)]
        if not each or not all(most.is_int() for most in each):
            return None
        return max(int(most.to_python()) for most in each)

    def hulls(self) -> Iterator[tuple[Bounds, Bounds, tuple[Affine, ...]]]:
        """Yield for each conjunction of the set the bounds of its points, free of indices.

        Conditions on remainders are left out; conditions on several axes are projected to each
        axis.

        Examples
        --------
        >>> d = Domain.where(("j", "i"), "j <= 2 * i < n and 0 <= j <= m < n", ("m", "n"))
        >>> for low, high, when in d.hulls():
        ...     print([*map(str, low[0]), "|", *map(str, low[1]), "|", *map(str, high[1])], *when)
        ['0', '|', '0', '|', '((n + 1)//2)'] -m + n - 1 m
        """
        for part in self.isl.get_basic_sets():
            if part.is_empty():
                continue
            low: list[list[Affine]] = [[] for _ in self.axes]
            high: list[list[Affine]] = [[] for _ in self.axes]
            when: list[Affine] = []
            tests = self._tests(part)
            if any(len(test.names() & {*self.axes}) > 1 for test in tests):
                tests = [test for n in range(len(self.axes)) for test in self._shadow(part, n)]
            for test in dict.fromkeys(tests):
                factors = dict(test.terms)
                place = next((n for n, axis in enumerate(self.axes) if axis in factors), None)
                if place is None:
                    when.append(test)
                    continue
                factor = factors[self.axes[place]]
                rest = test - Affine.name(self.axes[place]) * factor
                if factor > 0:
                    low[place].append(-(rest // factor))
                else:
                    high[place].append(rest // -factor + 1)
            yield tuple(map(tuple, low)), tuple(map(tuple, high)), tuple(when)

    def _shadow(self, part: Any, axis: int) -> list[Affine]:
        """Return the tests of a conjunction's shadow on one axis."""
        behind = len(self.axes) - 1 - axis
        shadow = part.project_out(isl.dim_type.set, axis + 1, behind)
        shadow = shadow.project_out(isl.dim_type.set, 0, axis)
        return Domain((self.axes[axis],), None)._tests(shadow)

    def _tests(self, part: Any) -> list[Affine]:
        """Return expressions that are >= 0 on a conjunction, without conditions on remainders."""
        return list(self._conjunction(part.remove_divs().remove_redundancies()))

    def _conjunction(self, part: Any) -> tuple[Affine, ...]:
        """Return the expressions of which a conjunction says that they are >= 0."""
        found: list[Affine] = []
        for constraint in part.get_constraints():
            test = self._test(constraint)
            found += [test, -test] if constraint.is_equality() else [test]
        return tuple(found)

    def _test(self, constraint: Any) -> Affine:
        """Return the expression of which a constraint says that it is zero, or >= 0."""
        test = Affine((), int(constraint.get_constant_val().to_python()))
        for kind in (isl.dim_type.set, isl.dim_type.param):
            for place in range(constraint.dim(kind)):
                factor = int(constraint.get_coefficient_val(kind, place).to_python())
                named = kind == isl.dim_type.param
                name = constraint.get_dim_name(kind, place) if named else self.axes[place]
                test += Affine.name(name) * factor
        return test

    def without(self, names: Sequence[str]) -> Domain:
        """Return the points that the set has for any values of some parameters.

        >>> Domain.where(("i",), "lo <= i < n and lo >= 0", ("lo", "n")).without(("lo",))
        [n] -> { [i] : 0 <= i < n }
        """
        raw = self.isl
        for name in names:
            position = raw.find_dim_by_name(isl.dim_type.param, name)
            if position >= 0:
                raw = raw.project_out(isl.dim_type.param, position, 1)
        return Domain(self.axes, raw.coalesce())

    def where_filled(self, other: Domain) -> Domain:
        """Return the set restricted to parameter values for which another set has points.

        >>> box = Domain.where(("i",), "0 <= i < n", ("n",))
        >>> box.where_filled(Domain.where(("i",), "0 <= i < n and n >= 3", ("n",)))
        [n] -> { [i] : n >= 3 and 0 <= i < n }
        """
        return Domain(self.axes, self.isl.intersect_params(other.isl.params()))

    def points(self) -> Iterator[tuple[int, ...]]:
        """Yield all points of a set without parameters, in lexicographic order."""
        found: list[tuple[int, ...]] = []
        count = len(self.axes)

        def take(point: Any) -> None:
            found.append(
                tuple(
                    int(point.get_coordinate_val(isl.dim_type.set, d).to_python())
                    for d in range(count)
                )
            )

        self.isl.foreach_point(take)
        yield from sorted(found)

    @property
    def thick(self) -> bool:
        """Whether a part of the set has points in every direction: no equation holds on it.

        >>> Domain.where(("i",), "0 <= i < n", ("n",)).thick, Domain.where(("i",), "i = 0").thick
        (True, False)
        """
        return any(not _equations(part) for part in self.isl.get_basic_sets())

    @property
    def periodic(self) -> bool:
        """Whether remainders are among the conditions of the set.

        >>> Domain.where(("i",), "i mod 3 = 1").periodic, Domain.where(("i",), "i > 1").periodic
        (True, False)
        """
        return any(part.dim(isl.dim_type.div) for part in self.isl.get_basic_sets())

    def congruences(self) -> Iterator[tuple[Affine, int]]:
        """Yield expressions and divisors of which the set's conditions fix the remainder.

        >>> checks = Domain.where(("j", "i"), "(j + 3*i + 1) mod 2 = 0 and i > 0")
        >>> [(str(e), divisor) for e, divisor in checks.congruences()]
        [('i + j', 2)]
        """
        for constraint in (c for part in self.isl.get_basic_sets() for c in part.get_constraints()):
            count = constraint.dim(isl.dim_type.div)
            factors = [constraint.get_coefficient_val(isl.dim_type.div, n) for n in range(count)]
            divisors = [abs(int(f.to_python())) for f in factors if not f.is_zero()]
            if constraint.is_equality() and len(divisors) == 1 and divisors[0] > 1:
                yield _reduced(self._test(constraint), divisors[0]), divisors[0]

    def conjunctions(self) -> Iterator[Domain]:
        """Yield sets, each of them one conjunction of conditions, that are this one together.

        They come in the order of their texts; isl's own is another one in each process.

        >>> ends = Domain.where(("i",), "i = 0 or i = n - 1", ("n",))
        >>> print(*(part.notation() for part in ends.conjunctions()))
        i = -1 + n i = 0
        """
        parts = (Domain(self.axes, isl.Set.from_basic_set(b)) for b in self.isl.get_basic_sets())
        yield from sorted(parts, key=lambda part: part.text)

    def without_remainders(self) -> Domain:
        """Return the set without its conditions on remainders.

        >>> some = Domain.where(("i",), "i mod 3 = 1 and 0 <= i < 9")
        >>> print(some.without_remainders().notation())
        0 <= i <= 8
        """
        return Domain(self.axes, self.isl.remove_divs().coalesce())

    def involves(self, names: Sequence[str]) -> bool:
        """Whether a condition on some axes is written down in the set."""
        places = (self.axes.index(name) for name in names)
        return any(self.isl.involves_dims(isl.dim_type.set, place, 1) for place in places)

    def bounded(self) -> bool:
        """Whether the set has finitely many points for each parameter value."""
        return bool(self.isl.is_bounded())

    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        count = self.isl.dim(isl.dim_type.param)
        return tuple(self.isl.get_dim_name(isl.dim_type.param, d) for d in range(count))

    def cases(self) -> tuple[tuple[tuple[Affine, Literal["==", ">="]], ...], ...]:
        """Return the conjunctions of the set: expressions, and whether they are == 0 or >= 0."""
        return tuple(
            tuple(
                (_expression(c.get_aff(), self.axes), "==" if c.is_equality() else ">=")
                for c in part.get_constraints()
            )
            for part in self.isl.compute_divs().get_basic_sets()
        )

    def notation(self) -> str:
        """Return the set as a person writes it: conditions on the indices, without isl's frame."""
        body = self.text.split("{", 1)[1].rsplit("}", 1)[0].strip()
        shown = []
        for piece in body.split(";"):
            head, _, condition = piece.partition(":")
            shown.append(_region(head.strip(), condition.strip(), self.axes))
        return "; or ".join(shown)


def _region(head: str, condition: str, axes: tuple[str, ...]) -> str:
    inside = head.strip("[] ")
    parts = []
    for name, entry in zip(axes, inside.split(","), strict=False):
        _, equals, value = entry.partition("=")
        if equals:
            parts.append(f"{name} = {value.strip()}")
        elif entry.strip() != name:
            parts.append(f"{name} = {entry.strip()}")
    parts += [condition] if condition else []
    return " and ".join(parts) if parts else "everywhere"


@lru_cache(maxsize=4096)
def _parse(axes: tuple[str, ...], condition: str, parameters: tuple[str, ...]) -> Any:
    prefix = f"[{', '.join(parameters)}] -> " if parameters else ""
    return isl.Set.read_from_str(_CONTEXT, f"{prefix}{{ [{', '.join(axes)}] : {condition} }}")


def _reduced(expression: Affine, divisor: int) -> Affine:
    """Return a form with the smallest factors that determines an expression's remainder."""
    terms = {atom: factor % divisor for atom, factor in expression.terms}
    found = Affine.build(terms, 0)
    if found.terms and 2 * found.terms[0][1] > divisor:
        return Affine.build({atom: -factor % divisor for atom, factor in terms.items()}, 0)
    return found


def _filled(raw: Any) -> list[Any]:
    """Return the conjunctions of a set of isl that have points, as sets.

    For the least or largest value of a union, isl takes zero as the value of an empty part.
    """
    return [part.to_set() for part in raw.get_basic_sets() if not part.is_empty()]


def _equations(raw: Any) -> bool:
    """Whether an equation between axes and parameters holds on a basic set."""
    hull = raw.remove_divs().affine_hull()
    axes = isl.dim_type.set, 0, hull.dim(isl.dim_type.set)
    return any(c.is_equality() and c.involves_dims(*axes) for c in hull.get_constraints())


def _named(raw: Any, axes: tuple[str, ...]) -> Any:
    for d, name in enumerate(axes):
        raw = raw.set_dim_name(isl.dim_type.set, d, name)
    return raw


def pieces_of(function: Any, axes: tuple[str, ...]) -> list[tuple[Domain, tuple[Affine, ...]]]:
    """Return a piecewise function over ``axes`` as domains and expressions."""
    found: list[tuple[Domain, tuple[Affine, ...]]] = []

    def take(domain: Any, value: Any) -> None:
        count = value.dim(isl.dim_type.out)
        image = tuple(_expression(value.get_at(n), axes) for n in range(count))
        found.append((Domain(axes, _named(domain, axes)), image))

    function.foreach_piece(take)
    return found


def _expression(function: Any, axes: tuple[str, ...]) -> Affine:
    """Return the floor of one of isl's quasi-affine functions over ``axes``."""
    divisor = function.get_denominator_val()

    def times(kind: Any, place: int) -> int:
        value = function.get_coefficient_val(kind, place)
        return int(value.mul(divisor).to_python())

    total = Affine((), int(function.get_constant_val().mul(divisor).to_python()))
    for place, name in enumerate(axes):
        total += Affine.name(name) * times(isl.dim_type.in_, place)
    for place in range(function.dim(isl.dim_type.param)):
        name = function.get_dim_name(isl.dim_type.param, place)
        total += Affine.name(name) * times(isl.dim_type.param, place)
    for place in range(function.dim(isl.dim_type.div)):
        factor = times(isl.dim_type.div, place)
        if factor:
            total += _expression(function.get_div(place), axes) * factor
    return total // int(divisor.to_python())


@lru_cache(maxsize=REMEMBERED)
def _intersection(axes: tuple[str, ...], one: Domain, other: Domain) -> Domain:
    return Domain(axes, one.isl.intersect(other.isl).coalesce())


@lru_cache(maxsize=REMEMBERED)
def _union(axes: tuple[str, ...], one: Domain, other: Domain) -> Domain:
    return Domain(axes, one.isl.union(other.isl).coalesce())


@lru_cache(maxsize=REMEMBERED)
def _preimage(axes: tuple[str, ...], image: tuple[Affine, ...], points: Domain) -> Domain:
    return Domain(axes, graph(axes, image).intersect_range(points.isl).domain().coalesce())


@lru_cache(maxsize=REMEMBERED)
def _difference(axes: tuple[str, ...], one: Domain, other: Domain) -> Domain:
    return Domain(axes, one.isl.subtract(other.isl).coalesce())


@lru_cache(maxsize=REMEMBERED)
def _is_subset(one: Domain, other: Domain) -> bool:
    return bool(one.isl.is_subset(other.isl))
