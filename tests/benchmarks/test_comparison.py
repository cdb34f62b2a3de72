"""`benchmarks.comparison` runs the tools that are installed and writes the table of the page."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import comparison


def test_the_command_writes_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "comparison.json"
    given = "--size", "24", "--steps", "4", "--rounds", "2", "--starts", "1"
    only = "numpy", "ssr", "numba", "petsc"
    comparison.main([*given, "--only", *only, "--json", str(path)])
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["date"]
    assert "load" in found["machine"]
    rows = {row["tool"]: row for row in found["rows"]}
    assert set(rows) == {tool.title for tool in comparison.TOOLS.values()}
    for title in "NumPy", "this package", "Numba":
        assert rows[title]["step"] > 0
        assert rows[title]["version"]
    assert rows["JAX"]["step"] == "not measured"
    if importlib.util.find_spec("petsc4py") is None:
        assert re.search("PETSc: petsc4py is not installed", capsys.readouterr().out)
        assert rows["PETSc"]["step"] == "not measured"


def test_fields_that_differ_are_an_error() -> None:
    field = np.ones((3, 3))
    comparison.agree({"one": field, "two": field + 1e-13})
    with pytest.raises(ArithmeticError, match=r"two differs from one by 1\.0e-11"):
        comparison.agree({"one": field, "two": field + 1e-11})
