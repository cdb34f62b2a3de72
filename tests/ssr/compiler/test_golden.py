"""The kernels of typical programs as files: a change of the compiler shows in review.

A file is the kernel IR as text: its Python, from which the same IR is read again, and in a comment
the types of the arguments, which Python does not show. ``golden/vectors`` has some kernels as they
are after vectorization for a processor.

``pytest tests/ssr/compiler/test_golden.py --update-golden`` writes the files anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from ssr.compiler.pipeline import lower, vectorized
from ssr.kernel import ir
from ssr.kernel.from_python import functions_of
from ssr.kernel.print_python import printed
from ssr.runtime import target
from tests.ssr.compiler.golden_programs import KERNELS

SINGLE = "five_point_apply", "fill_symmetric", "line_solve_0", "reductions"
"""The kernels that are files for float32, too."""

VECTORS = "five_point_apply", "fill_symmetric", "five_point_gauss_seidel", "jacobi"
"""The kernels that are files after vectorization."""

CASES = [*((name, "float64") for name in KERNELS), *((name, "float32") for name in SINGLE)]


@cache
def kernel(name: str, dtype: str) -> ir.Module:
    """Return the kernel of a program."""
    program = KERNELS[name]()
    title = f"{program.ir.name}, generated for {dtype}."
    return lower(program.ir, program.options, dtype, title).kernel


def text(module: ir.Module) -> str:
    """Return kernel IR as text."""
    entry = module.functions[-1]
    given = zip(entry.arguments, module.types, strict=True)
    types = [f"#     {name}: {type_text(type_)}" for name, type_ in given]
    lines = [printed(module).rstrip("\n"), "", "", f"# The arguments of {entry.name}:", *types]
    return "\n".join([*lines, ""])


def type_text(type_: ir.Type) -> str:
    """Return a type of an argument as text."""
    if isinstance(type_, ir.Scalar):
        return type_.element
    traits = ["contiguous"] * type_.contiguous + ["written"] * type_.written
    return " ".join([f"{type_.element}[{', '.join(':' * type_.axes)}]", *traits])


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_kernel(name: str, dtype: str, golden: Callable[[str, str], None]) -> None:
    file = name if dtype == "float64" else f"{name}_{dtype}"
    golden(f"kernels/{file}.py", text(kernel(name, dtype)))


@pytest.mark.parametrize("processor", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", VECTORS)
def test_kernel_on_vectors(name: str, processor: str, golden: Callable[[str, str], None]) -> None:
    with target.compiling_for(target.named(processor)):
        golden(f"vectors/{name}_{processor}.py", text(vectorized(kernel(name, "float64"))))


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_the_text_holds_all_of_the_kernel(name: str, dtype: str) -> None:
    module = kernel(name, dtype)
    assert functions_of(text(module)) == module.functions


@pytest.mark.parametrize("name", ["five_point_gauss_seidel", "red_black"])
def test_text_does_not_depend_on_what_was_lowered_before(name: str) -> None:
    before = text(kernel(name, "float64"))
    kernel.cache_clear()
    assert text(kernel(name, "float64")) == before
