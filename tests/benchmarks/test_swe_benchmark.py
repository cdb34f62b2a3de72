"""The shallow-water benchmark: its counts, and that it runs and writes what it measures."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import swe


def test_statements_about_boundaries() -> None:
    source = (
        "fill = bc.fill(wide)\n"
        "def f(x):\n"
        "    y = 2 * x\n"
        "    return fill @ y\n"
        "class C:\n"
        "    def g(self):\n"
        "        self.turn = bc.zero(\n"
        "            axis=0)\n"
        "        a = self.turn @ self.x\n"
        "        b = a + 1\n"
    )
    assert swe.about_boundaries(source).splitlines() == [
        "fill = bc.fill(wide)",
        "return fill @ y",
        "self.turn = bc.zero(",
        "            axis=0)",
        "a = self.turn @ self.x",
    ]


def test_the_boundary_part_of_the_solver_is_all_there() -> None:
    found = swe.about_boundaries(swe.our_source())
    for text in (
        "bc.Grid(",
        "bc.interpolate(",
        "bc.transform_vector(",
        "self.fill @",
        "synchronize @",
    ):
        assert text in found
    assert "ssr.sqrt" not in found
    assert "bottom_sides" not in swe.our_source()


def test_the_boundary_program_makes_equal_points_of_equal_points() -> None:
    V, H, v, f, g = swe.boundary_arrays(8)
    H[:, 3:-3, 3:-3] = 5.0
    before = H.copy()
    swe.boundary_program(8)(V, H, v, f, g)
    ghosts = H[:, :3, 3:-3]
    np.testing.assert_allclose(ghosts, 5.0, rtol=1e-13)
    assert (H[:, 3:-3, 3:-3] == before[:, 3:-3, 3:-3]).all()
    np.testing.assert_array_equal(f[0, -1], f[4, 0])  # beta faces of panels 0 and 4 meet


@pytest.mark.fortran
@pytest.mark.slow
def test_the_command_writes_what_it_measures(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    parts = ["linear-48", "rhs-48", "shares", "tiny", "source"]
    swe.main(["--quick", "--json", str(path), "--only", *parts])
    found = json.loads(path.read_text())
    for name in "linear-48", "rhs-48":
        case = found["cases"][name]
        assert case["shape"] == [6, 12, 12]
        assert max(case["distances"].values()) < 1e-12
    assert set(found["shares"]) == {"12"}
    assert all(0 < share < 1 for share in found["shares"]["12"].values())
    assert found["tiny"]["ours"] > 0
    assert found["source"]["boundaries"]["ours"][1] < found["source"]["boundaries"]["fortran"][1]
