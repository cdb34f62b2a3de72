"""Choices by lines: expressions, sets, and values that differ from line to line."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import ir
from ssr.lower.steps.merge_boundary_terms import NOTHING, merge_boundary_terms
from ssr.points import graph
from ssr.points.affine import Affine, Choice
from ssr.points.sets import Domain

from .. import strategies as some
from ..interpret import Meaning

AXES = ("j", "i")
j, i, n, m = map(Affine.name, ("j", "i", "n", "m"))
SIZES = {"n": 4, "m": 5}
ROWS = Domain.where(AXES, "0 <= j < n and 0 <= i < m", ("n", "m"))
U = ir.Field("u", (Affine(), Affine()), (n, m))


def chosen(test: Affine, then: Affine, orelse: Affine) -> Affine:
    return Affine(((Choice((test,), then, orelse), 1),))


def test_expressions_with_choices() -> None:
    nested = chosen(j - 1, j - 1, chosen(n - 2, n - 1, Affine.of(0))) * 2 + i
    for values in (dict(zip("jin", v, strict=True)) for v in product(range(4), repeat=3)):
        want = values["j"] - 1 if values["j"] >= 1 else values["n"] - 1 if values["n"] >= 2 else 0
        assert nested.evaluate(values) == 2 * want + values["i"]
        assert nested.substitute(values).evaluate({}) == 2 * want + values["i"]
        assert eval(str(nested), {}, values) == 2 * want + values["i"]
        held = [e for tests, e in nested.cases() if all(t.evaluate(values) >= 0 for t in tests)]
        assert [e.evaluate(values) for e in held] == [2 * want + values["i"]]
    assert nested.names() == {"j", "i", "n"}


def test_sets_know_choices() -> None:
    before = chosen(j - 1, j - 1, j - 1 + n)
    image = ROWS.image((before, i), AXES)
    assert image.equals(ROWS)
    first = Domain.where(AXES, "0 <= j < n - 1 and 0 <= i < m", ("n", "m"))
    back = first.preimage((before, i), AXES)
    assert (back & ROWS).equals(ROWS & Domain.where(AXES, "0 < j"))
    assert ROWS.equal((before,), (n - 1,)).equals(ROWS & Domain.where(AXES, "j = 0"))


SIMPLE = st.builds(
    lambda a, b, c, d: a * j + b * i + c * n + d,
    *(st.integers(-1, 2) for _ in range(3)),
    st.integers(-3, 3),
)


def deeper(inner: st.SearchStrategy[Affine]) -> st.SearchStrategy[Affine]:
    tests = st.lists(SIMPLE, min_size=1, max_size=2).map(tuple)
    choices = st.builds(lambda t, a, b: Affine(((Choice(t, a, b), 1),)), tests, inner, inner)
    return st.one_of(
        choices,
        st.builds(lambda a, b, c: c * a + b, inner, inner, st.integers(-2, 2)),
        st.builds(lambda a, d: a // d, inner, st.integers(2, 3)),
    )


INDICES = st.recursive(SIMPLE, deeper, max_leaves=6)


@some.examples(60)
@given(INDICES, INDICES)
def test_isl_combines_choices_as_we_do(one: Affine, other: Affine) -> None:
    image = one, other
    assert one.ways == len(one.cases())
    combined = graph._combined("[n] -> ", "[j, i]", image)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "MANY", 10**9)
        written = graph.graph.__wrapped__(AXES, (*image, Affine.name("n")))
    assert combined.is_single_valued()
    n_too = combined.flat_range_product(graph.graph(AXES, (Affine.name("n"),)))
    assert n_too.is_equal(written)


def test_indices_with_many_choices_are_combined() -> None:
    index = j
    for _ in range(9):
        index = chosen(j - 1, index - 1, index + n)
    assert index.ways > graph.MANY
    moved = graph.graph(("j",), (index,))
    values = moved.intersect_domain(Domain.where(("j",), "j = 3").isl).range()
    assert values.is_equal(Domain.where(("j",), "j = -6").isl)


@pytest.mark.parametrize(
    ("condition", "tests"),
    [
        ("j > 0", ["j - 1"]),
        ("j = 0", ["-j"]),
        ("j = n - 1", ["j - n + 1"]),
        ("0 < j < n - 1", ["-j + n - 2", "j - 1"]),
        ("0 <= j", []),
        ("j = 0 or j = n - 1", None),
        ("j mod 2 = 0", None),
    ],
)
def test_tests_of_sets(condition: str, tests: list[str] | None) -> None:
    found = (ROWS & Domain.where(AXES, condition, ("n",))).tests(ROWS)
    assert tests == (None if found is None else sorted(map(str, found)))


def test_tests_of_sets_with_more_sizes_than_axes() -> None:
    every = Domain.where(("i",), "0 <= i < a + b + c", ("a", "b", "c"))
    (test,) = (every & Domain.where(("i",), "i >= a + c", ("a", "c"))).tests(every)
    assert str(test) == str(i - Affine.name("a") - Affine.name("c"))


LINES = ["j = 0", "0 < j < n - 1", "j = n - 1 and n > 1"]
EVERY = Domain.where(AXES, "0 = 0")


def sums(*terms: ir.Term) -> ir.Value:
    return ir.Sum(terms)


VALUES = st.sampled_from(
    [
        ir.Load("u", (j, i)),
        ir.Load("u", (Affine.of(0), i)),
        ir.Load("u", (n - 1 - j, i)),
        ir.Load("u", (j, m - 1 - i)),
        sums(ir.Term(EVERY, ir.Const(-0.5), ir.Load("u", (n - 1 - j, i)))),
        sums(ir.Term(EVERY, ir.Const(2.0)), ir.Term(EVERY, ir.Const(-1.0), ir.Load("u", (j, i)))),
        ir.Const(0.0),
        ir.Const(1.5),
    ]
)


@some.examples(60)
@given(st.lists(VALUES, min_size=3, max_size=3), st.integers(0, 9))
def test_values_by_line_keep_bits(values: list[ir.Value], seed: int) -> None:
    terms = [
        ir.Term(ROWS & Domain.where(AXES, line, ("n",)), ir.ONE, value)
        for line, value in zip(LINES, values, strict=True)
    ]
    found = merge_boundary_terms(terms, {"u": U})
    rng = np.random.default_rng(seed)
    u = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.7], (4, 5))
    if len({_last(v) for v in values} - {None}) == 1:
        assert len(found) == 1, "lines decide everything"
    meaning = Meaning(np.float64, SIZES, {})

    def at(these: list[ir.Term], row: tuple[int, ...]) -> Any:
        (here,) = [t for t in these if row in set(meaning.points(t.domain))]
        return meaning.evaluate(ir.Sum((here,)), row, ROWS, lambda _, index: u[index])

    with np.errstate(all="ignore"):
        for row in meaning.points(ROWS):
            one, other = at(terms, row), at(found, row)
            np.testing.assert_array_equal(one, other)
            assert np.isnan(one) or np.signbit(one) == np.signbit(other)


def _last(value: ir.Value) -> Affine | None:
    loads = ir.loads(value)
    return loads[0].index[-1] if loads else None


def test_nothing_is_the_zero_that_changes_no_number() -> None:
    assert isinstance(NOTHING, ir.Const)
    assert np.signbit(NOTHING.value)


def test_tests_of_lines_are_made_before_their_loops() -> None:
    ny, nx = ssr.sizes("ny nx")
    cells = ssr.Space(ny, nx)

    @ssr.matrix(rows=cells, cols=cells, c=cells)
    def A(j: Any, i: Any, *, c: Any) -> Any:
        yield (j, i), ssr.where(1.0 * j < 3.0, c[j, i], 2.0)

    @ssr.program(y=cells, x=cells, c=cells)
    def product_of(y: Any, x: Any, c: Any) -> None:
        y[:] = A.bind(c=c) @ x

    source = product_of.explain("source")
    assert source.count("real(j)") == 1
    assert source.index("real(j)") < source.index("for i in")
    x, c = np.random.default_rng(0).random((2, 5, 33))
    y = np.empty_like(x)
    product_of(y, x, c)
    assert np.array_equal(y, np.where(np.arange(5)[:, None] < 3, c, 2.0) * x)
