"""The notebooks have the cells of their pages and programs, their output, and pictures."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools import notebooks
from tools.notebooks import Cell

pytest.importorskip("matplotlib")

NAMES = [*notebooks.PAGES, *notebooks.PROGRAMS]


def made(name: str) -> dict:
    return json.loads((notebooks.FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_those_of_the_source(name: str) -> None:
    found = [Cell(c["cell_type"], "".join(c["source"])) for c in made(name)["cells"]]
    assert found == notebooks.cells(name), "run: make notebooks"


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_kept(name: str) -> None:
    outputs = [o for cell in made(name)["cells"] for o in cell.get("outputs", ())]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(output["output_type"] == "error" for output in outputs)


def test_the_folder_and_the_page_have_these_notebooks() -> None:
    page = (notebooks.ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert {path.stem for path in notebooks.FOLDER.glob("*")} == set(NAMES)
    assert all(f"(notebooks/{name}.ipynb)" in page for name in NAMES)


@pytest.mark.parametrize("name", ["first_program", "laptop"])
def test_output_is_that_of_a_run(name: str) -> None:
    code = f"import json, tools.notebooks as n; print(json.dumps(n.notebook({name!r})))"
    command = [sys.executable, "-c", f"import matplotlib; matplotlib.use('Agg'); {code}"]
    done = subprocess.run(command, cwd=notebooks.ROOT, check=True, capture_output=True, text=True)
    for run, kept in zip(json.loads(done.stdout)["cells"], made(name)["cells"], strict=True):
        for one, other in zip(run.get("outputs", ()), kept.get("outputs", ()), strict=True):
            if "image/png" in one.get("data", {}):
                assert other["output_type"] == "display_data"  # versions of matplotlib differ
            else:
                assert one == other


def test_a_page_becomes_cells(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(
        "# Title\n\nSee [a](b.md), [c](https://d).\n\n## Left out\n\ntext\n\n## Kept\n\n"
        "```python\n>>> x = 1\n>>> x\n1\n>>> y = 2\n```\n\n```sh\nno\n```\n"
    )
    link = notebooks.linked("[a](b.md)", tmp_path)
    assert list(notebooks.page_cells(path)) == [
        Cell("markdown", f"# Title\n\nSee {link}, [c](https://d)."),
        Cell("markdown", "## Kept"),
        Cell("code", "x = 1\nx"),
        Cell("code", "y = 2"),
        Cell("markdown", "```sh\nno\n```"),
    ]


def test_what_a_cell_prints_and_returns_is_kept() -> None:
    run = notebooks.Run()
    assert run.outputs("x = 3", 1) == []
    printed, returned = run.outputs("print('a')\nx + 1", 2)
    assert printed["text"] == ["a\n"]
    assert returned["data"] == {"text/plain": ["4"]}
    assert run.outputs("x + 1;", 3) == []
