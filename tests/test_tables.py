"""Tables and programs of the pages are those of their files; programs agree."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.comparison_process import program
from tools import tables


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: page.name)
def test_pages_have_the_tables_of_the_data(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<!-- end -->" in text
    assert tables.written(text) == text, "run: make tables"


def test_data_say_where_and_how_they_were_measured() -> None:
    for path in tables.DATA.glob("*.json"):
        found = tables.data(path.stem)
        assert found["machine"]
        assert found["command"].startswith("python -m benchmarks.")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])
        assert all(row.keys() <= found["columns"].keys() for row in found["rows"])


@pytest.mark.parametrize("tool", ["ssr", "numba", "jax", "devito"])
def test_programs_of_the_comparison_agree(tool: str) -> None:
    if tool != "ssr":
        pytest.importorskip(tool)
    u = np.random.default_rng(0).random((12, 17))
    found = [program(name).solver(u, 0.2) for name in ("numpy", tool)]
    for advance in found:
        advance(1)
    np.testing.assert_allclose(found[1](4), found[0](4), 1e-12)


def test_the_least_is_taken_of_builds() -> None:
    case = {
        "title": "work",
        "shape": [4, 4],
        "points": 16,
        "timings": {
            "timings": [
                {"name": name, "minimum": seconds}
                for name, seconds in (("ours", 1.6), ("tuned O3", 3.2), ("tuned Ofast", 2.0))
            ]
        },
    }
    columns, (row,) = tables.take_fortran([{"cases": {"work": case}}] * 2)
    assert row["AVX2 / Fortran, tuned"] == pytest.approx(0.8)
    assert row["operation"] == "work, 4^2"
    assert "AVX-512 / Fortran, natural" not in columns
