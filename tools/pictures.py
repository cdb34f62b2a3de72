"""Draw the pictures of docs/explanation: ``python tools/pictures.py [FOLDER]``.

They are made by `boundary.Fill.draw` and `boundary.draw`, and only put together here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the packages of this checkout

import boundary as bc  # noqa: E402
import ssr  # noqa: E402


def fill() -> Any:
    """Draw the fill at the head of the page."""
    figure, (axes,) = _figure(5.5, 5.2, 1, 1)
    filled = bc.fill(
        ssr.Space(3, 4).grow(1),
        bc.periodic(axis=1),
        bc.symmetric(axis=0, side="low"),
        bc.dirichlet(1.0, axis=0, side="high"),
    )
    filled.draw(ax=axes)
    return figure


def rules() -> Any:
    """Draw each rule on a line of four cells, with two layers of ghosts."""
    shown = {
        "periodic(axis=1)": bc.periodic(axis=1),
        "zero(axis=1)": bc.zero(axis=1),
        "symmetric(axis=1)": bc.symmetric(axis=1),
        "constant(3.0, axis=1)": bc.ghost_value(3.0, axis=1),
        "symmetric(axis=1, sign=-1)": bc.symmetric(axis=1, sign=-1),
        "dirichlet(3.0, axis=1)": bc.dirichlet(3.0, axis=1),
        'symmetric(axis=1, about="point")': bc.symmetric(axis=1, about="point"),
        "neumann(1.0, axis=1)": bc.neumann(1.0, axis=1),
        "extrapolate(2, axis=1)": bc.extrapolate(2, axis=1),
        "robin(1.0, 1.0, 3.0, axis=1)": bc.robin(1.0, 1.0, 3.0, axis=1),
    }
    figure, each = _figure(12, 9.5, len(shown) // 2, 2)
    for axes, (name, rule) in zip(each, shown.items(), strict=True):
        bc.fill(ssr.Space(1, 4).grow(0, 2), rule).draw(ax=axes)
        axes.get_legend().remove()
        axes.set(ylim=(-0.35, 1.35))
        axes.set_title(name, fontsize=11)
    return figure


def corners() -> Any:
    """Draw corners on which two rules agree, and a twisted link."""
    figure, (left, right) = _figure(13, 5, 1, 2)
    box = ssr.Space(3, 4).grow(1)
    bc.fill(box, bc.periodic(axis=1), bc.symmetric(axis=0)).draw(ax=left)
    pair = bc.Grid(2 * [(3, 3)], links=bc.topologies.glued(twist=True))
    bc.fill(pair.cells.grow(1), bc.linked(), bc.zero()).draw(ax=right)
    return figure


def links() -> Any:
    """Draw some of the functions that link blocks."""
    shown = {
        "two_by_two()": bc.topologies.two_by_two(),
        "bricks(1, 2, periodic=[1])": bc.topologies.bricks(1, 2, periodic=[1]),
        "o_grid(4)": bc.topologies.o_grid(4),
        "glued(twist=True)": bc.topologies.glued(twist=True),
        "moebius()": bc.topologies.moebius(),
        'from_corners(["mabc", "mbde", "mdaf"])': bc.topologies.from_corners(
            ["mabc", "mbde", "mdaf"]
        ),
    }
    figure, each = _figure(12, 6.5, 2, 3)
    for axes, (name, linked) in zip(each, shown.items(), strict=True):
        bc.draw(linked, ax=axes)
        axes.set_title(name, fontsize=11)
    return figure


def kinds() -> Any:
    """Draw the ghosts of an L of three blocks."""
    figure, (axes,) = _figure(8, 6.5, 1, 1)
    up = bc.join(2, bc.Side(0, 0, "high"), bc.Side(1, 0, "low"))
    right = bc.join(2, bc.Side(0, 1, "high"), bc.Side(2, 1, "low"))
    corner = bc.Grid([(3, 4), (2, 4), (3, 2)], links=[up, right])
    bc.fill(tuple(kind.grow(1) for kind in corner.kinds), bc.linked(), bc.dirichlet(0.0)).draw(
        ax=axes
    )
    return figure


def sphere() -> Any:
    """Draw the links of the cubed sphere."""
    figure, (axes,) = _figure(7, 5.5, 1, 1)
    bc.draw(bc.cubed_sphere(), ax=axes)
    axes.set_title("cubed_sphere()", fontsize=11)
    return figure


def panel() -> Any:
    """Draw the ghosts of one panel of a cubed sphere."""
    figure, (axes,) = _figure(9, 7.5, 1, 1)
    sphere = bc.Grid(6 * [(3, 3)], links=bc.cubed_sphere())
    bc.fill(sphere.cells.grow(1), bc.linked()).draw(block=1, ax=axes)
    return figure


def _figure(width: float, height: float, rows: int, columns: int) -> tuple[Any, list[Any]]:
    """Return a figure in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


PICTURES: tuple[Callable[[], Any], ...] = (fill, rules, corners, links, kinds, sphere, panel)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the pictures of docs/explanation.")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "docs" / "images")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        path = folder / f"{picture.__name__}.png"
        picture().savefig(path, dpi=75)
        print(path)


if __name__ == "__main__":
    main()
