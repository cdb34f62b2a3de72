"""Interpolation to points off the grid, compared with NumPy: ``python -m benchmarks.points``.

NumPy gathers the values of all stencils, ``u.ravel()[index]``, and in a second candidate also sums
them with their weights. Points are at random places, so that the values of each come from memory
that no other one needs.
"""

from __future__ import annotations

import argparse

import numpy as np

import boundary as bc
import ssr
from benchmarks.timing import Comparison, compare

METHODS = "nearest", "linear", "cubic"


def interpolation(
    method: str, count: int = 10_000, size: int = 1000, pairs: int = 51
) -> Comparison:
    """Return the times of an interpolation at some points of a square field."""
    rng = np.random.default_rng(0)
    u = rng.random((size, size))
    points = bc.points(ssr.Space(size, size), rng.uniform(2, size - 3, (count, 2)), method)
    matrix = points.as_matrix().to_scipy()
    index = matrix.indices.reshape(count, -1).astype(np.intp)
    weights = matrix.data.reshape(index.shape)
    others = {
        "gather": lambda: u.ravel()[index],
        "weighted sum": lambda: (weights * u.ravel()[index]).sum(axis=1),
    }
    return compare(lambda: points.interpolate(u), others, pairs)


def main() -> None:
    """Print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000, help="points (default: 10000)")
    count = parser.parse_args().count
    for method in METHODS:
        found = interpolation(method, count)
        ratios = ", ".join(f"{r.median:.2f} of {r.other}" for r in found.ratios)
        print(f"{method:8} {1e6 * found.ours.median:6.0f} us for {count} points: {ratios}")


if __name__ == "__main__":
    main()
