"""Golden files, tests that need a compiler, and Hypothesis profiles."""

import difflib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

CI = os.environ.get("CI") == "true"
GOLDEN = Path(__file__).parent / "golden"

collect_ignore = ["golden"]

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("dev", deadline=None, max_examples=25)
settings.load_profile("ci" if CI else "dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files in golden/")


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
