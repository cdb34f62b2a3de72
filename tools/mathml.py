"""A hook of MkDocs: formulas become MathML, which browsers show without scripts or downloads."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>', re.DOTALL
)
"""Formulas as the Markdown extension ``pymdownx.arithmatex`` marks them, inline or displayed."""


def on_page_content(text: str, **_: Any) -> str:
    r"""Return the HTML of a page with its formulas as MathML.

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
