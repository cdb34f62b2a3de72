"""The `golden` fixture and the `fortran` marker of ``conftest.py``."""

from pathlib import Path

import pytest

from .conftest import TARGETS, TESTS

pytest_plugins = ["pytester"]


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers = fortran")
    return pytester


def test_golden(suite: pytest.Pytester) -> None:
    suite.makepyfile("def test(golden): golden('kernel.py', 'x = 1\\n')")
    file = suite.path / "golden/kernel.py"

    missing = suite.runpytest_inprocess()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*golden/kernel.py is missing; write it with --update-golden"])

    suite.runpytest_inprocess("--update-golden").assert_outcomes(passed=1)
    assert file.read_text() == "x = 1\n"
    suite.runpytest_inprocess().assert_outcomes(passed=1)

    file.write_text("x = 2\n")
    differs = suite.runpytest_inprocess()
    differs.assert_outcomes(failed=1)
    differs.stdout.fnmatch_lines(["-x = 2", "+x = 1"])


@pytest.mark.parametrize(("ci", "outcome"), [("true", "errors"), ("", "skipped")])
def test_fortran_without_compiler(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, ci: str, outcome: str
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", "")
    suite.makepyfile("import pytest\n@pytest.mark.fortran\ndef test(): pass")
    run = suite.runpytest_inprocess("-rs")
    run.assert_outcomes(**{outcome: 1})
    run.stdout.fnmatch_lines(["*gfortran is not installed*"])


def test_modules_that_depend_on_the_processor_exist() -> None:
    assert all((TESTS / f"{name}.py").exists() for name in TARGETS)
