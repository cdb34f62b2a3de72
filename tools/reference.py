"""Write the reference of the public names from their docstrings, as web pages.

``python tools/reference.py FOLDER`` needs pdoc, of the extra ``docs``. Anything that pdoc warns
about is an error, such as a docstring that it cannot read, or a name that it cannot find.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

MODULES = (
    "ssr",
    "boundary",
    "!ssr[.](?!(coordinates|integrate|output|simulation|solvers|errors)$)",
    "!boundary[.]",
)
"""The modules that have pages: those that users import, and not the files behind them."""


class Written(str):
    """An annotation that is printed as it stands in the source."""

    def __repr__(self) -> str:
        return str(self)


def write(folder: Path, modules: Sequence[str] = MODULES) -> None:
    """Write the pages; ``index.html`` is the first."""
    import pdoc
    import pdoc.doc
    import pdoc.doc_types
    import pdoc.render

    # If annotations were evaluated, each alias in them would become a long union.
    for module in pdoc.doc, pdoc.doc_types:
        module.safe_eval_type = _as_written
    pdoc.render.configure(docformat="numpy", show_source=False, footer_text="Staged Sparse Row")
    for name in MODULES[:2]:
        importlib.import_module(name)  # warnings of other packages are not ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pdoc.pdoc(*modules, output_directory=folder)


def _as_written(annotation: Any, *_: Any) -> Any:
    return Written(annotation) if isinstance(annotation, str) else annotation


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the reference of the public names.")
    parser.add_argument("folder", type=Path, help="where the pages go")
    parser.add_argument("--also", nargs="*", default=[], help="further modules")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))  # the packages of this checkout
    write(given.folder, (*MODULES, *given.also))
    print(given.folder / "index.html")


if __name__ == "__main__":
    main()
