"""Check the vocabulary of docstrings, comments, messages and documents.

``python tools/vocabulary.py [root]`` prints each expression that has a better one in the field, as
``file:line: expression: suggestion``, and exits with 1 if there is any. Names in the source and
code on pages are not examined.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

EXPRESSIONS = {
    r"(?<!\{)\btold\b": "given, reported",
    r"\banew\b": "again",
    r"\b(nobody|somebody|whoever)\b": "name the rank, thread or function",
    r"(?<!here )\b(is|are) none\b(?! of)": "is not a ...",
    r"(?<!here )\bis no (?!longer|\w+er\b)": "is not a",
    r"\b(in|into|takes?) the place of\b": "instead of, replaces",
    r"\bfor want of\b": "without",
    r"\bbehind (the|a|each|one|some|both|these) (side|face|edge)s?\b": "beyond",
    r'^\W*"""What ': "a noun",
}
"""Expressions, each with its replacement."""

FOLDERS = "ssr", "boundary", "apps", "tools"
PAGES = "README.md", "CONTRIBUTING.md", "docs/**/*.md"


def violations(root: Path) -> Iterator[str]:
    """Yield a line for each expression below ``root``."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if path != Path(__file__).resolve():
                yield from _found(root, path, _texts(path.read_text(encoding="utf-8")))
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            yield from _found(root, path, _prose(path.read_text(encoding="utf-8")))


def _found(root: Path, path: Path, texts: Iterator[tuple[int, str]]) -> Iterator[str]:
    for number, text in texts:
        for expression, better in EXPRESSIONS.items():
            if found := re.search(expression, text):
                place = path.relative_to(root).as_posix()
                yield f"{place}:{number}: {found[0].strip()!r}: {better}"


def _texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of comments and strings of a module."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in kinds:
            for offset, line in enumerate(token.string.split("\n")):
                yield token.start[0] + offset, line


def _prose(page: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that are not code."""
    code = False
    for number, line in enumerate(page.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code:
            yield number, re.sub(r"`[^`]*`", "", line)


def main(root: Path) -> int:
    """Print all violations; return the exit status."""
    found = list(violations(root))
    print("\n".join(found) or "vocabulary: no expression of the list")
    return 1 if found else 0


if __name__ == "__main__":
    default = Path(__file__).resolve().parent.parent
    raise SystemExit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else default))
