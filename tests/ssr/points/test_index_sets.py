"""Index arithmetic, conditions and sets against brute force; how generators are traced."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.algebra.oracle import holds
from ssr.errors import NotAffineError
from ssr.points.affine import Affine, lexicographic
from ssr.points.condition import Condition, deciding
from ssr.points.sets import Domain
from ssr.symbols.index import Index, affine

from ...random_examples import examples

AXES = ("j", "i")
BOX = Domain.where(AXES, "-3 <= j <= 4 and -3 <= i <= 4")
POINTS = list(product(range(-3, 5), repeat=2))
i, n = Affine.name("i"), Affine.name("n")

# -- arithmetic ----------------------------------------------------------------------------------

Expression = Callable[[Any, Any, Any], Any]
LEAVES: list[tuple[str, Expression]] = [
    ("j", lambda j, i, n: j),
    ("i", lambda j, i, n: i),
    ("n", lambda j, i, n: n),
    ("3", lambda j, i, n: 3),
]


def _grow(inner: Any) -> Any:
    number = st.integers(-4, 4)
    return st.one_of(
        st.builds(
            lambda a, b: (f"({a[0]} + {b[0]})", lambda *p: a[1](*p) + b[1](*p)), inner, inner
        ),
        st.builds(
            lambda a, b: (f"({a[0]} - {b[0]})", lambda *p: a[1](*p) - b[1](*p)), inner, inner
        ),
        st.builds(lambda a, c: (f"{c}*{a[0]}", lambda *p: c * a[1](*p)), inner, number),
        st.builds(lambda a, c: (f"({a[0]}*{c})", lambda *p: a[1](*p) * c), inner, number),
        st.builds(
            lambda a, d: (f"({a[0]}//{d})", lambda *p: a[1](*p) // d), inner, st.integers(1, 5)
        ),
        st.builds(
            lambda a, d: (f"({a[0]} % {d})", lambda *p: a[1](*p) % d), inner, st.integers(1, 5)
        ),
        st.builds(lambda a: (f"(-{a[0]})", lambda *p: -a[1](*p)), inner),
    )


expressions = st.recursive(st.sampled_from(LEAVES), _grow, max_leaves=6)
SYMBOLS = tuple(Index(Affine.name(name)) for name in ("j", "i", "n"))


def symbolic(expression: tuple[str, Expression]) -> Affine:
    return affine(expression[1](*SYMBOLS))


@examples(200)
@given(expressions, st.tuples(*(st.integers(-7, 9) for _ in "jin")))
def test_arithmetic_is_that_of_integers(
    expression: tuple[str, Expression], point: tuple[int, int, int]
) -> None:
    made = symbolic(expression)
    values = dict(zip("jin", point, strict=True))
    expected = expression[1](*point)
    assert made.evaluate(values) == expected
    assert made.substitute(values) == Affine((), expected)
    assert eval(str(made), dict(values)) == expected
    half = made.substitute({"j": values["j"], "i": Affine.name("n") - 2})
    assert half.evaluate(values) == expression[1](point[0], point[2] - 2, point[2])
    assert made.names() <= {"j", "i", "n"}


@examples(60)
@given(expressions, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), expressions)
def test_comparisons_are_sets(
    left: tuple[str, Expression], relation: str, right: tuple[str, Expression]
) -> None:
    """By evaluation, and by isl: the same points of a box."""
    size = 3
    compare = eval(f"lambda a, b: a {relation} b")
    meant = [p for p in POINTS if compare(left[1](*p, size), right[1](*p, size))]
    found = compare(Index(symbolic(left)), Index(symbolic(right)))
    assert isinstance(found, Condition)
    by_value = [p for p in POINTS if holds(found, dict(zip(AXES, p, strict=True)) | {"n": size})]
    assert by_value == meant
    domain = (BOX & Domain.of(AXES, found)).fixed({"n": size})
    assert list(domain.points()) == meant


def test_reflected_and_mixed_arithmetic() -> None:
    index, size = Index(i), Index(n)
    assert affine(3 - index) == Affine((("i", -1),), 3)
    assert affine(abs(-3) * +index) == i * 3
    assert affine((2 * index + 1) // 2) == i
    assert affine((index * 4 + 3) % 2) == Affine((), 1)
    assert repr(index * 0.5) == "((i) * 0.5)"
    assert repr(1 / size) == "(1.0 / (n))"
    assert int(index - index + 7) == 7
    assert repr(2.0 * (index * size - 1.0)) == "(2.0 * (((i) * (n)) - 1.0))"
    for wrong in (lambda: affine(index * size), lambda: 7 // index, lambda: index % size,
                  lambda: index // 0, lambda: affine(index**2), lambda: range(index),
                  lambda: bool(index * index < size)):  # fmt: skip
        with pytest.raises(NotAffineError):
            wrong()


@examples(50)
@given(expressions, st.lists(st.booleans(), min_size=2, max_size=2))
def test_abs_min_max_follow_the_decisions(
    expression: tuple[str, Expression], answers: list[bool]
) -> None:
    index = Index(symbolic(expression)) + SYMBOLS[1]  # never constant? then no decision
    asked = []

    def decide(condition: Condition) -> bool:
        asked.append(condition)
        return answers[len(asked) - 1]

    with deciding(decide):
        size = abs(index)
        least = min(index, 2)
    if len(asked) == 2:
        assert affine(size) == (-index.affine if answers[0] else index.affine)
        assert affine(least) == (Affine((), 2) if answers[1] else index.affine)
    else:
        assert index.affine.is_constant


# -- sets ----------------------------------------------------------------------------------------

conditions = st.builds(
    lambda a, relation, b: eval(f"lambda a, b: a {relation} b")(
        Index(symbolic(a)), Index(symbolic(b))
    ),
    expressions,
    st.sampled_from(["<", ">=", "==", "!="]),
    expressions,
)


def brute(condition: Condition) -> set[tuple[int, ...]]:
    """Return the points of the box that meet a condition, for n = 3."""
    return {p for p in POINTS if holds(condition, dict(zip(AXES, p, strict=True)) | {"n": 3})}


def points(domain: Domain) -> set[tuple[int, ...]]:
    return set((domain & BOX).fixed({"n": 3}).points())


@examples(40)
@given(conditions, conditions, expressions)
def test_set_operations(a: Condition, b: Condition, e: tuple[str, Expression]) -> None:
    left, right = Domain.of(AXES, a) & BOX, Domain.of(AXES, b) & BOX
    p, q = brute(a), brute(b)
    assert points(left & right) == p & q
    assert points(left | right) == p | q
    assert points(left - right) == p - q
    assert points(left.canonical()) == points(left.simplified()) == p
    assert points(left.simplified(right) & right) == p & q
    assert (left - right).empty <= (p <= q)
    assert ((left & right) <= left) is True
    assert left.equals((left & right) | (left - right))
    number = symbolic(e)
    here = {x: number.evaluate(dict(zip(AXES, x, strict=True)) | {"n": 3}) for x in p}
    moved = left.image((number, Affine.name("j") - 1), AXES).fixed({"n": 3})
    assert set(moved.points()) == {(here[x], x[0] - 1) for x in p}
    back = right.preimage((Affine.name("i"), Affine.name("j") + 1), AXES)
    assert points(back) == {x for x in POINTS if (x[1], x[0] + 1) in q}
    assert set(left.fixed({"n": 3}).project(("i",)).points()) == {(x[1],) for x in p}


@examples(40)
@given(st.tuples(expressions, expressions), st.tuples(expressions, expressions))
def test_lexicographic_order(left: Any, right: Any) -> None:
    def at(pair: Any, point: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(e[1](*point, 3) for e in pair)

    a, b = tuple(map(symbolic, left)), tuple(map(symbolic, right))
    before = {p for p in POINTS if at(left, p) < at(right, p)}
    assert points(BOX.before(a, b)) == before
    assert points(BOX.equal(a, b)) == {p for p in POINTS if at(left, p) == at(right, p)}
    assert brute(Condition(lexicographic(a, b))) == before


def test_domain_queries() -> None:
    d = Domain.where(("i",), "0 <= i < n", ("n",))
    assert d.parameters() == ("n",)
    assert d.bounded()
    assert not Domain.where(("i",), "i >= 0").bounded()
    assert Domain.where(("i",), "i > i").empty
    assert not d.empty
    assert d == Domain.box(("i",), [Affine((), 0)], [n])
    assert hash(d) == hash(Domain.box(("i",), [Affine((), 0)], [n]))
    assert list(d.fixed({"n": 3}).points()) == [(0,), (1,), (2,)]
    assert list(d.fixed({"n": 0}).points()) == []
    assert Domain.where(("i",), "i = 3").notation() == "i = 3"


@examples(25)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(-2, 2)), min_size=1, max_size=4))
def test_spaces_contain_their_points(axes: list[tuple[int, int]]) -> None:
    shape = [extent for extent, _ in axes]
    widths = [(max(g, 0), g if extent + g + max(g, 0) > 0 else 0) for extent, g in axes]
    space = ssr.Space(*shape).grow(*widths)
    ranges = [range(-low, e + high) for e, (low, high) in zip(shape, widths, strict=True)]
    assert list(space.points({})) == list(product(*ranges))
    around = product(*(range(r.start - 1, r.stop + 1) for r in ranges))
    assert {p for p in around if p in space} == set(product(*ranges))
    parts = space.split(*(2 for _ in shape))
    covered = [p for box in parts for p in product(*(range(*edge) for edge in box))]
    assert sorted(covered) == list(product(*ranges))


# -- boxes ---------------------------------------------------------------------------------------

CASES = st.lists(
    st.tuples(
        st.tuples(*[st.integers(-2, 2)] * 3), st.integers(-4, 4), st.sampled_from([">=", "="])
    ),
    max_size=3,
)


@examples(100)
@given(
    st.lists(CASES, min_size=1, max_size=2),
    st.tuples(*[st.integers(-3, 4)] * 4),
    st.integers(-2, 4),
)
def test_boxes_are_the_points_of_a_set(cases: Any, edges: Any, n: int) -> None:
    low, high, first, last = edges
    box = ((min(low, high), max(low, high) + 1), (min(first, last), max(first, last) + 1))
    text = " or ".join(
        " and ".join(
            [f"{a}*j + {b}*i + {c}*n + {d} {sign} 0" for (a, b, c), d, sign in case] + ["n < 9"]
        )
        for case in cases
    )
    found = Domain.where(AXES, text, ("n",)).boxes(box, {"n": n})

    def inside(j: int, i: int) -> bool:
        return any(
            all(v >= 0 if sign == ">=" else v == 0 for v, sign in values)
            for values in (
                [(a * j + b * i + c * n + d, sign) for (a, b, c), d, sign in case] for case in cases
            )
        )

    if found is not None:
        covered = {point for each in found for point in product(*(range(*ends) for ends in each))}
        assert covered == {p for p in product(*(range(*ends) for ends in box)) if inside(*p)}


def test_boxes_of_the_reads_of_a_stencil_at_one_line() -> None:
    star = Domain.where(AXES, "0 <= j < n and 0 <= i < n", ("n",))
    around = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)]
    moved = [star.image((Affine.name("j") + a, i + b), AXES) for a, b in around]
    reads = moved[0] | moved[1] | moved[2] | moved[3] | moved[4]
    assert reads.boxes(((-1, 0), (-1, 6)), {"n": 5}) == [((-1, 0), (0, 5))]
    assert reads.boxes(((-1, 0), (-1, 0)), {"n": 5}) == []
    assert reads.boxes(((-1, 6), (-1, 6)), {"n": 5}) is None


def test_bounds_of_a_union_whose_parts_may_be_empty() -> None:
    """Asked for the least value of this one, isl says 0, that of a part without points."""
    names = "m", "n", "hi", "one", "two"
    text = (
        "i = n + 1 and (0 <= one <= j < two <= m and (n - 2 <= hi < n and j <= two - 2 or hi = n)"
        " or j = one - 1 and n - 2 <= hi <= n and 0 < one < two <= m)"
    )
    found = Domain.where(("j", "i"), text, names).fixed({"m": 1, "n": 5})
    assert found.bounds() == ((0, 1), (6, 7))
    assert Domain.where(("j", "i"), text, names).largest(Affine.name("i") - Affine.name("n")) == 1
