"""The kernel IR and its form as Python text are the same."""

from __future__ import annotations

import pytest

from ssr.errors import UnsupportedError
from ssr.kernel import ir
from ssr.kernel.from_python import expression, functions_of
from ssr.kernel.print_python import expression_text
from ssr.kernel.rewriting import with_parts


def changed(node: ir.Expression) -> ir.Expression:
    """Return an expression in which all names are longer."""
    return ir.Name(f"{node.name}_") if isinstance(node, ir.Name) else with_parts(node, changed)


@pytest.mark.parametrize(
    "text",
    [
        "a - (b - c) * -d // 2",
        "(a if b < c else d) if not (e and f) else g",
        "(a or b) and not c | d & e",
        "ld(y, r + i - 1) + fma(a, np.sqrt(b), -c)",
        "t[i, 0] + t[n - 1, 1] + x.shape[0] + (a, b)[1]",
        "1 << a >> 2 == 0.5 % b",
    ],
)
def test_expressions_are_read_as_they_are_printed(text: str) -> None:
    found = expression(text)
    assert expression(expression_text(found)) == found
    assert with_parts(found, lambda part: part) == found
    assert ir.names(changed(found)) - {"x"} == {f"{n}_" for n in ir.names(found) - {"x"}}


@pytest.mark.parametrize(
    "text",
    [
        "c = f(a, key=b)",
        "c = [a for a in b]",
        "c = a ** b",
        "c = a is b",
        "c = 'text'",
        "c = a.size",
        "a **= 2",
        "c, a[0] = b",
        "for i in range(a, b, 1, 2): c = i",
        "del a",
    ],
)
def test_what_kernels_do_not_have_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError, match="line 2"):
        functions_of(f"def f(a, b):\n    {text}\n")
