"""Hooks of MkDocs: formulas become MathML, and files of the checkout that pages link are copied."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

FORMULA = re.compile(
    r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>', re.DOTALL
)
"""Formulas as the Markdown extension ``pymdownx.arithmatex`` marks them, inline or displayed."""

LINK = re.compile(r"\]\(([^)#:\s]+)")
"""Links of Markdown to files."""


def on_page_content(text: str, **_: Any) -> str:
    r"""Return the HTML of a page with its formulas as MathML, which needs no script.

    Examples
    --------
    >>> on_page_content(r'at <span class="arithmatex">\(h^2\)</span>')[:60]
    'at <math xmlns="http://www.w3.org/1998/Math/MathML" display='
    """

    def mathml(found: re.Match[str]) -> str:
        inline, displayed = found[2], found[3]
        if inline is not None:
            return convert(html.unescape(inline))
        return f"<p>{convert(html.unescape(displayed), display='block')}</p>"

    return FORMULA.sub(mathml, text)


def on_post_build(config: Any) -> None:
    """Copy the linked files outside of ``docs`` into the site, at their places in the checkout.

    A page of ``docs`` and its place in the site differ by one folder, so links remain as they are.
    """
    for path in linked_files():
        target = Path(config["site_dir"]) / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def linked_files() -> set[Path]:
    """Return the files outside of ``docs`` to which its pages link."""
    links = (
        (page.parent / link).resolve()
        for page in DOCS.rglob("*.md")
        for link in LINK.findall(page.read_text(encoding="utf-8"))
    )
    return {p for p in links if p.is_file() and p.is_relative_to(ROOT) and DOCS not in p.parents}
