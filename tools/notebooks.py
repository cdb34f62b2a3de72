"""Make the notebooks of docs/notebooks and run them: ``python tools/notebooks.py [NAME ...]``.

A page becomes cells of text and of code, whose sessions lose their prompts and their output. A
program of the gallery becomes a cell of text, its docstring, cells of definitions, and two cells
that solve the problem on a small grid and draw it. Then all cells run, and their text, results and
pictures are stored. A test verifies that the cells of the notebooks are current.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import doctest
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the packages of this checkout

FOLDER = ROOT / "docs" / "notebooks"
GALLERY = ROOT / "docs" / "gallery"

PAGES: Mapping[str, Path] = {
    "first_program": ROOT / "README.md",
    "laptop": ROOT / "docs" / "laptop.md",
}
PROGRAMS: Mapping[str, str] = {
    "cavity": "run(n=32, time=10.0, dt=5e-2, levels=3)",
    "drifters": "run(size=24, days=7.0)",
    "sphere": "run(size=32)",
}
"""Calls that solve problems of the gallery in seconds."""

ADDED: Mapping[str, str] = {
    "first_program": (
        "import matplotlib.pyplot as plt\n\n"
        "image = plt.imshow(u, origin='lower')\n"
        "plt.colorbar(image, label='temperature');"
    ),
    "laptop": (
        "import matplotlib.pyplot as plt\n\n"
        "image = plt.imshow(c.gather(), origin='lower')\n"
        "plt.colorbar(image, label='concentration');"
    ),
}
"""Cells of code at the end of pages that draw nothing."""

Kind = Literal["markdown", "code"]


class Cell(NamedTuple):
    """The kind and the text of a cell."""

    kind: Kind
    text: str


def page_cells(path: Path) -> Iterator[Cell]:
    """Yield the cells of a page: of the sections that have code, and the text before the first."""
    parts = re.split(r"^(?=## )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title, *sections = [part for n, part in enumerate(parts) if n == 0 or "```python\n" in part]
    for section in (title, *sections):
        pieces = re.split(r"^```python\n(.*?)^```$", section, flags=re.DOTALL | re.MULTILINE)
        for n, piece in enumerate(pieces):
            if n % 2:
                yield from code_cells(piece)
            elif piece.strip():
                yield Cell("markdown", linked(piece.strip(), path.parent))


def code_cells(block: str) -> Iterator[Cell]:
    """Yield a cell for each result of a session, or one for a block without prompts."""
    if ">>>" not in block:
        yield Cell("code", block.strip())
        return
    text = ""
    for example in doctest.DocTestParser().get_examples(block):
        text += example.source
        if example.want:
            yield Cell("code", text.rstrip())
            text = ""
    if text:
        yield Cell("code", text.rstrip())


def linked(text: str, folder: Path) -> str:
    """Return text whose links start from the folder of notebooks instead of another one."""

    def moved(link: re.Match[str]) -> str:
        if "://" in link[1] or link[1].startswith("#"):
            return link[0]
        return f"]({os.path.relpath(folder / link[1], FOLDER)})"

    return re.sub(r"\]\(([^)\s]+)\)", moved, text)


def program_cells(name: str) -> Iterator[Cell]:
    """Yield the cells of a program of the gallery."""
    text = (GALLERY / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    title, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
    link = f"From [{name}.py](../gallery/{name}.py)."
    yield Cell("markdown", f"# {title.rstrip('.')}\n\n{rest}\n\n{link}")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :])
    for part in re.split(r"\n\n\n", code.strip()):  # two blank lines around functions
        yield Cell("code", part.strip())
    yield Cell("markdown", "## On a small grid")
    yield Cell("code", f"found = {PROGRAMS[name]}")
    drawn = 'import sys\n\nsys.path.insert(0, "../gallery")\nimport draw\n\n'
    yield Cell("code", f"{drawn}figure = draw.{name}(*found)")


def cells(name: str) -> list[Cell]:
    """Return the cells of a notebook."""
    if name in PROGRAMS:
        return list(program_cells(name))
    added = [Cell("code", ADDED[name])] if name in ADDED else []
    return [*page_cells(PAGES[name]), *added]


class Run:
    """The cells of a notebook as they run in one namespace, in the folder of notebooks."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "notebook"}

    def outputs(self, text: str, count: int) -> list[dict[str, Any]]:
        """Run a cell and return its text, result and pictures, as notebooks store them."""
        printed, value = io.StringIO(), None
        tree = ast.parse(text)
        last = tree.body[-1]
        with contextlib.redirect_stdout(printed), contextlib.chdir(FOLDER):
            if isinstance(last, ast.Expr) and not text.endswith(";"):
                tree.body.pop()
                exec(compile(tree, "<cell>", "exec"), self.names)
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)
            else:
                exec(compile(tree, "<cell>", "exec"), self.names)
        found: list[dict[str, Any]] = []
        if printed.getvalue():
            found.append(
                {"output_type": "stream", "name": "stdout", "text": split(printed.getvalue())}
            )
        if value is not None:
            shown = {"text/plain": split(repr(value))}
            found.append(
                {
                    "output_type": "execute_result",
                    "execution_count": count,
                    "metadata": {},
                    "data": shown,
                }
            )
        return found + list(pictures())


def pictures() -> Iterator[dict[str, Any]]:
    """Yield the figures that are open, and close them."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    plt = sys.modules["matplotlib.pyplot"]
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, dpi=60, metadata={"Software": None})
        shown = {"image/png": base64.b64encode(file.getvalue()).decode()}
        yield {"output_type": "display_data", "metadata": {}, "data": shown}
    plt.close("all")


def split(text: str) -> list[str]:
    """Return text as notebooks store it."""
    return text.splitlines(keepends=True)


def notebook(name: str) -> dict[str, Any]:
    """Return a notebook that has run."""
    run, made, count = Run(), [], 0
    for n, (kind, text) in enumerate(cells(name)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"{name}-{n}", "metadata": {}}
        cell["source"] = split(text)
        if kind == "code":
            count += 1
            cell |= {"execution_count": count, "outputs": run.outputs(text, count)}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def main(names: list[str]) -> None:
    """Write notebooks."""
    import matplotlib

    matplotlib.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*PAGES, *PROGRAMS]:
        path = FOLDER / f"{name}.ipynb"
        path.write_text(json.dumps(notebook(name), indent=1) + "\n", encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
