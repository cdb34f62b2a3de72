"""The site of the documentation is built without a warning, and has all public names."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.layers import PUBLIC

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parent.parent


def test_the_site(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for module in sorted(PUBLIC):
        page = (tmp_path / "api" / module / "index.html").read_text(encoding="utf-8")
        names = importlib.import_module(module).__all__
        objects = [name for name in names if f"{module}.{name}" not in PUBLIC | {"ssr.errors"}]
        assert [name for name in objects if f'id="{module}.{name}"' not in page] == []


def test_all_pages_are_in_the_navigation() -> None:
    listed = set(re.findall(r"[\w./-]+\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not page.startswith("decisions/")} <= listed
