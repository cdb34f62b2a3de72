"""The generated source of typical kernels, as files: a change of the compiler shows in review.

``pytest tests/ssr/compiler/test_golden.py --update-golden`` writes them anew.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ssr.compiler.pipeline import lower
from tests.ssr import sample_programs as programs

KERNELS = {
    "five_point_apply": "float64",
    "five_point_gauss_seidel": "float64",
    "five_point_backward": "float64",
    "five_point_exact": "float64",
    "twenty_seven_apply": "float64",
    "twenty_seven_gauss_seidel": "float64",
    "varying_solve": "float64",
    "red_black": "float64",
    "restriction": "float64",
    "jacobi": "float64",
    "five_point_apply_float32": "float32",
}


def source(name: str, dtype: str) -> str:
    """Return the source of a program of the catalogue."""
    program = programs.PROGRAMS[name.removesuffix("_float32")]()
    title = f"{program.ir.name}, generated for {dtype}."
    return lower(program.ir, program.options, dtype, title).source


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"kernels/{name}.py", source(name, KERNELS[name]))


@pytest.mark.parametrize("name", ["five_point_gauss_seidel", "red_black"])
def test_source_does_not_depend_on_what_was_lowered_before(name: str) -> None:
    assert source(name, "float64") == source(name, "float64")
