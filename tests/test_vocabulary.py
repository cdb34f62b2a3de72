"""The vocabulary check finds expressions in prose, and leaves names and code alone."""

from pathlib import Path

from tools import vocabulary

ROOT = Path(__file__).parent.parent


def test_real_tree() -> None:
    assert list(vocabulary.violations(ROOT)) == []


def test_prose_and_code(tmp_path: Path) -> None:
    (tmp_path / "ssr").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "ssr" / "a.py").write_text(
        '"""Return what is told."""\n\ntold = 1  # anew\nname = f"{told}: no"\n'
    )
    (tmp_path / "docs" / "b.md").write_text(
        "There is no ghost.\nIt is no ghost.\n```python\ntold = 1\n```\n`told`\n"
    )
    assert [line.rsplit(": ", 1)[0] for line in vocabulary.violations(tmp_path)] == [
        "ssr/a.py:1: 'told'",
        "ssr/a.py:3: 'anew'",
        "docs/b.md:2: 'is no'",
    ]
