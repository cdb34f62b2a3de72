"""Golden files, tests that need a compiler, and Hypothesis profiles."""

import difflib
import math
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from ssr.algebra.assemble import by_entries
from ssr.algebra.oracle import Points, by_definition
from tests.random_examples import THOROUGH

CI = os.environ.get("CI") == "true"
TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"

collect_ignore = ["golden"]

settings.register_profile(
    "tests", derandomize=CI, deadline=None, max_examples=50 if THOROUGH else 15
)
settings.load_profile("tests")

os.environ["SSR_QUIET"] = "1"  # standard error is what a test expects on slow machines too


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in golden/")


TARGETS = """
    ssr/programs/test_vectors
    ssr/lower/test_line_ends
    ssr/lower/test_boundary_lines
    ssr/lower/test_wide_stencils
    ssr/lower/test_periodic_sums
    ssr/test_compiled
    ssr/native/test_machine_code
    ssr/compiler/test_golden
    ssr/programs/test_reductions
    apps/test_poisson
    boundary/parallel/test_sweeps
    boundary/parallel/test_threads
""".split()  # noqa: SIM905
"""The modules of tests whose outcome depends on the processor that kernels are compiled for."""


def depends_on_target(path: Path) -> bool:
    return os.path.relpath(path.with_suffix(""), TESTS) in TARGETS


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no other module of tests where ``-m target`` chooses."""
    chosen = config.option.markexpr == "target" and collection_path.suffix == ".py"
    return True if chosen and not depends_on_target(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if depends_on_target(item.path):
            item.add_marker("target")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("fortran") and shutil.which("gfortran") is None:
        (pytest.fail if CI else pytest.skip)("gfortran is not installed")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file of ``tests/golden``, or write it with ``--update-golden``."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("update_golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists():
            pytest.fail(f"golden/{name} is missing; write it with --update-golden", pytrace=False)
        elif (expected := path.read_text(encoding="utf-8")) != text:
            lines = expected.splitlines(), text.splitlines()
            diff = difflib.unified_diff(*lines, f"golden/{name}", "this run", lineterm="")
            pytest.fail("\n".join(diff) or "only line ends differ", pytrace=False)

    return compare


@pytest.fixture(autouse=True, scope="session")
def definitions() -> Iterator[None]:
    """Let `to_scipy` run the definition of small matrices too, and compare the two."""

    def compared(matrix: Any, sizes: Any, values: Any) -> Any:
        if math.prod(matrix.rows.extent(sizes)) > 1000:
            return by_entries(matrix, sizes, values)
        made = by_definition(matrix, sizes, values)
        arrays = (value.array if isinstance(value, Points) else value for value in values.values())
        single = any(getattr(array, "dtype", None) == np.float32 for array in arrays)
        same_entries(by_entries(matrix, sizes, values), made, 1e-6 if single else 0.0)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ssr.matrices.matrix.by_entries", compared)
        yield


def same_entries(one: Any, other: Any, relative: float = 0.0) -> None:
    """Compare two CSR arrays: structure and types, and bits but for a relative difference."""
    assert one.shape == other.shape
    for name in "indptr", "indices", "data":
        left, right = getattr(one, name), getattr(other, name)
        assert left.dtype == right.dtype
        np.testing.assert_allclose(left, right, relative if name == "data" else 0.0)
