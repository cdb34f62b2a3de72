"""Run by mpiexec: products on several ranks equal those on one, bit for bit."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

import boundary as bc
import ssr


def cases() -> list[ssr.Matrix]:
    line = ssr.Space(7)
    wide = ssr.stencil(line, line.grow((0, 3)), {0: 1.5, 1: -0.25, 3: 0.1})
    nx = ssr.size("nx")
    plane = ssr.Space(6, nx)
    cross = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.1, (1, 0): 0.9, (-1, 0): 1.3}
    box = ssr.Space(5, 4, 6)
    all27 = {o: 1.0 / (9 + o[0] + 2 * o[1] + 5 * o[2]) for o in product((-1, 0, 1), repeat=3)}
    return [
        wide,
        ssr.stencil(plane, plane.grow(1), cross).bind(nx=5),
        ssr.stencil(box, box.grow(1), all27),
    ]


def compare(comm: object) -> None:
    rng = np.random.default_rng(1)
    for A in cases():
        D = bc.Distributed(A, comm)
        one = bc.Distributed(A)
        for dtype in (np.float64, np.float32):
            whole = rng.random(one.shape).astype(dtype)
            x, y = D.local(whole), whole
            for _ in range(3):  # messages are used again
                x, y = D @ x, one @ y
            assert np.array_equal(D.gather(x), y), D
            assert D.gather(x).dtype == dtype
    done = comm.allreduce(1)  # type: ignore[attr-defined]
    if D.plan.rank == 0:
        sys.stdout.write(f"equal bits on {done} ranks\n")


def fail(comm: object) -> None:
    """Let the last rank make a mistake while the others wait for it."""
    A = cases()[1]
    D = bc.Distributed(A, comm)
    last = D.plan.rank == D.layout.ranks - 1
    D @ (np.zeros((1, 2)) if last else np.zeros(D.shape))


if __name__ == "__main__":
    world = bc.world()
    assert world is not None
    assert world.size == int(sys.argv[2])
    {"compare": compare, "fail": fail}[sys.argv[1]](world)
