"""The code of README.md, of all pages in docs and of apps/swe runs, with the outputs of the pages.

The fenced ``python`` blocks of a page run in order, in a namespace of the page. A block with
``>>>`` is a session whose output is compared as in a doctest; any other block is simply executed.
Line numbers of a failure are those of the page.
"""

import doctest
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tools.layers import LAYERS

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "apps" / "swe" / "README.md",
]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its text, and the line of the page at which the text starts, from 1."""

    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """Yield the ``python`` blocks of a page."""
    for found in re.finditer(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        yield Block(found[1], page.count("\n", 0, found.start(1)) + 1)


def run(block: Block, path: Path, names: dict[str, Any]) -> None:
    """Run one block in a namespace; fail if it raises or prints otherwise than it says."""
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, str(path), "exec"), names)
        return
    session = doctest.DocTestParser().get_doctest(
        block.text, {}, path.name, str(path), block.line - 1
    )
    session.globs = names  # not a copy: functions see what later blocks define
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(
        session, out=said.append, clear_globs=False
    )
    if failed:
        pytest.fail("".join(said), pytrace=False)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # pages may write files
    names: dict[str, Any] = {"__name__": "page"}  # no name of a package: errors skip these
    for block in blocks(path.read_text(encoding="utf-8")):
        run(block, path, names)


def anchors(page: str) -> set[str]:
    """Return the anchors of headings, without punctuation, and of the names of a module."""
    heads = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    modules = re.findall(r"^::: (.*)$", page, re.MULTILINE)
    names = {f"{m}.{name}" for m in modules for name in importlib.import_module(m).__all__}
    return names | {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def broken_links(path: Path) -> list[str]:
    """Return the local links of a page, and pictures, that lead nowhere."""
    page = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        found = target.exists() and (
            not anchor or anchor in anchors(target.read_text(encoding="utf-8"))
        )
        broken += [] if found else [link]
    return broken


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# One idea\n[a](#one-idea) [b](#two) ![c](no.png) [d](page.md)\n")
    assert broken_links(path) == ["#two", "no.png"]


def named_paths(page: str) -> set[str]:
    """Return the files and folders that a page names in backticks by a path: ``room/module``."""
    return set(re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.[a-z]+)?)`", page))


def test_the_design_names_files_that_are_there() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    places = [ROOT, ROOT / "ssr", ROOT / "boundary", ROOT / "ssr" / "lower"]
    ends = ["", ".py"]
    missing = [
        name
        for name in sorted(named_paths(page))
        if not any((place / f"{name}{end}").exists() for place in places for end in ends)
    ]
    assert missing == []


def test_the_design_has_all_layers_from_the_bottom_up() -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    tables = re.findall(
        r"^\| layer.* \| contents \|.*\n\| ---.*\n((?:\|.*\n)+)", page, re.MULTILINE
    )
    folders = "ssr", "boundary", "boundary/parallel"
    for folder, table in zip(folders, tables, strict=True):
        layers = [name for name in LAYERS[folder] if (ROOT / folder / name).is_dir()]
        assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == layers


def test_pictures_are_those_of_the_pages(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = [sys.executable, "tools/pictures.py", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    pages = (ROOT / "docs" / "explanation").glob("*.md")
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert drawn == set(re.findall(r"\(\.\./images/(\w+\.png)\)", text))


def test_blocks_are_found_with_their_lines() -> None:
    page = "a\n```python\nx = 1\n```\n\n```text\nno\n```\n```python\n>>> x\n1\n```\n"
    assert list(blocks(page)) == [Block("x = 1\n", 3), Block(">>> x\n1\n", 10)]


def test_wrong_output_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="line 11"):
        run(Block(">>> 1 + 1\n3\n", 11), Path("page.md"), {})


def test_blocks_share_one_namespace() -> None:
    names: dict[str, Any] = {}
    for text in "def f(): return later\n", "later = 5\n", ">>> f()\n5\n>>> found = f()\n":
        run(Block(text, 1), Path("page.md"), names)
    assert names["found"] == 5
