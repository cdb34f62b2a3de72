"""Rows inside a line need no tests: what they compute, and where they are."""

import pytest

from ssr.build import line_sides, vector_loops, vector_plans
from ssr.kernel import ir
from ssr.kernel.from_python import functions_of
from ssr.kernel.print_python import expression_text, function_lines
from ssr.runtime import internals
from tests.ssr.generated import compiled
from tests.ssr.test_vector_loops import check_bits, made, vector_stores

TWO_SIDES = (
    "s = third + ld(x, off + i - 1) if (i >= 5) else third",
    "t = s + ld(c, off + i) if (i <= hi - 3) else s",
    "st(y, off + i, fma(third, ld(x, off + i + 1), t))",
)
RADIUS = (
    "s = ld(x, off + i)",
    *(f"s{n} = fma(third, ld(x, off + i - {n}), s) if (i >= {2 + n}) else s" for n in range(1, 5)),
    "st(y, off + i, s1 + s2 + s3 + s4 - (ld(c, off + i + 2) if (i <= hi - 3) else s))",
)
FAR_APART = ("st(y, off + i, third + ld(x, off + i) if (i >= 40) & (i <= 60) else third)",)
NOWHERE = ("st(y, off + i, third + ld(x, off + i) if (i >= 9) & (i <= 6) else third)",)
NUMBERS = (
    "s = fma(third, (ld(x, off + i - 1) if (i >= 5) else third), third)",
    "t = s - (ld(c, off + i) if (i <= hi - 3) & test1 else third)",
    "st(y, off + i, fma(third, ld(x, off + i + 1), t))",
)
BY_LINE = ("s = third if test1 else ld(x, off + i)", *TWO_SIDES[1:])
IN_TURN = ("st(y, off + i, ld(y, off + i - 1) + ld(x, off + i) if (i >= 4) else third)",)

BODIES = {
    "two sides": ("range", TWO_SIDES),
    "two at a time": ("interleaved", TWO_SIDES),
    "radius": ("range", RADIUS),
    "far apart": ("range", FAR_APART),
    "numbers": ("range", NUMBERS),
    "numbers two at a time": ("interleaved", NUMBERS),
    "nowhere": ("range", NOWHERE),
    "by line": ("range", BY_LINE),
    "in turn": ("range", IN_TURN),
}


@pytest.mark.parametrize("masks", [True, False])
@pytest.mark.parametrize("dtype", ["np.float64", "np.float32"])
@pytest.mark.parametrize("name", list(BODIES))
def test_bits_are_those_of_rows(
    name: str, dtype: str, masks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On vectors with masks, and in three loops on processors that have none."""
    if not internals.are_known():
        pytest.skip("Numba itself compiles the loops.")
    if not masks:
        monkeypatch.setattr(vector_loops, "available", lambda: False)
    kind, body = BODIES[name]
    module = made(f"sides {name} {masks}", dtype, kind, body)
    run = compiled(module["kernel"], module["SIGNATURE"])
    if masks and vector_loops.available() and name != "in turn":
        assert vector_stores(module, dtype)
    check_bits(run, vector_plans.intrinsics.plain(module["kernel"]), dtype)


def body_of(*lines: str) -> tuple[ir.Statement, ...]:
    """Return statements in kernel IR."""
    (function,) = functions_of("def f():\n" + "".join(f"    {line}\n" for line in lines))
    return function.body


def printed(body: tuple[ir.Statement, ...]) -> list[str]:
    """Return statements as lines of Python."""
    return [line.strip() for line in function_lines(ir.Function("f", (), body))[1:]]


def test_rows_inside_have_no_tests() -> None:
    body = body_of(
        "s = a + ld(x, (i - 1 if i >= 1 else i)) if (i >= 1) else a",
        "t = (s if i <= n else b) if test1 & (i <= n - 2) else s",
        "st(y, i, c if u < v else t)",
    )
    found = line_sides.inside(body, "i")
    assert found is not None
    assert [(s.after, expression_text(s.place)) for s in found.sides] == [
        (True, "1"), (False, "n - 2"), (False, "n"),
    ]  # fmt: skip
    assert found.by_line
    assert printed(found.body) == [
        "s = a + ld(x, i - 1 if i >= 1 else i)",
        "t = s if test1 else s",
        "st(y, i, c if u < v else t)",
    ]
    scalars = line_sides.inside(body_of("t = a if scalar1 & (i >= 1) else b"), "i")
    assert scalars is not None
    assert not scalars.by_line  # the same for all lines


def test_loops_without_sides() -> None:
    assert line_sides.inside(body_of("st(y, i, a if u < v else b)"), "i") is None
    assert line_sides.inside(body_of("st(y, i, ld(x, i if i >= 0 else n))"), "i") is None
    assert line_sides.inside(body_of("st(y, i, a if j >= 0 else b)"), "i") is None
