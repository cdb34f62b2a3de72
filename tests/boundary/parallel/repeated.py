"""Run programs on the ranks of a job and print the bits of what they make; see `test_repeat`.

mpiexec -n 2 python -m tests.boundary.parallel.repeated
"""

import sys
from typing import Any

import numpy as np

import boundary as bc
import ssr
from boundary.parallel.worlds.channels import ask, begin
from boundary.parallel.worlds.mpi_functions import Requests

ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
around = plane.grow(1)
five = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
closed = ssr.stencil(plane, around, five) @ bc.fill(
    around, bc.periodic(axis=1), bc.symmetric(axis=0)
)
ROWS = [(0.125, 1.0), (0.0625, 0.5), (0.25, 0.75), (0.1, 2.0)]


@ssr.program(u=plane, c=plane, dt=ssr.scalar, a=ssr.scalar)
def diffuse(u: Any, c: Any, dt: Any, a: Any) -> None:
    """Exchange two fields, one of which does not change."""
    u[:] = u + dt * (closed @ u) + a * (closed @ c)


@ssr.program(u=plane, c=plane, dt=ssr.scalar, a=ssr.scalar)
def scaled(u: Any, c: Any, dt: Any, a: Any) -> Any:
    """Reduce in the middle, and exchange what the number has changed."""
    u[:] = u + dt * (closed @ u)
    norm = ssr.sum(u * u)
    u[:] = u / norm + a * (closed @ (c * c))
    return norm, ssr.max(u)


@ssr.program(u=plane)
def smooth(u: Any) -> Any:
    """Exchange twice, and take no number."""
    u[:] = u + 0.1 * (closed @ u)
    u[:] = u + 0.1 * (closed @ u)
    return ssr.min(u)


def lines(ranks: Any, *, together: bool) -> list[str]:
    """Return what programs return and make, as text that shows all bits.

    Parameters
    ----------
    ranks
        As for `boundary.distribute`.
    together
        Whether runs are one call, or a call each.
    """
    on = bc.distribute(plane, ranks, ny=19, nx=26)
    found = []
    for program in (diffuse, scaled, smooth):
        u, c = on.zeros(plane), on.zeros(plane)
        u.fill(lambda j, i: 1.0 + 0.37 * j - 0.011 * i * j)
        c.fill(lambda j, i: 0.2 * i + 1.0 / (1.0 + j))
        bound = program.bind(u) if program is smooth else program.bind(u, c)
        rows: list[Any] = [()] * 5 if program is smooth else ROWS
        for _ in range(2):
            if together:
                numbers = bound.repeat(rows).tolist()
            else:
                returned = [bound(*row) for row in rows]
                numbers = [
                    [] if r is None else list(r) if isinstance(r, tuple) else [r] for r in returned
                ]
            c.fill(lambda j, i: 0.1 * i - 1.0 / (1.0 + j))  # what is fresh, is not any more
            whole = u.gather()
            assert whole is not None
            found.append(f"{program.ir.name} {numbers} {whole.tobytes().hex()}")
    return [*found, *in_sequence(on, together=together)]


def in_sequence(on: Any, *, together: bool) -> list[str]:
    """Return what programs make that run one after the other, as one or in a call each."""
    u, v, c = (on.zeros(plane) for _ in range(3))
    u.fill(lambda j, i: 1.0 + 0.37 * j - 0.011 * i * j)
    v.fill(lambda j, i: 2.0 - 0.03 * i)
    c.fill(lambda j, i: 0.2 * i + 1.0 / (1.0 + j))
    bound = [
        smooth.bind(u), diffuse.bind(v, c), scaled.bind(u, c, a=0.5), smooth.bind(v),
        diffuse.bind(u, c, 0.1, 0.3),
    ]  # fmt: skip
    run = ssr.sequence(*bound)
    found = []
    for dt in 0.125, 0.0625, 0.03125, 0.015625:
        rows: list[Any] = [(), (dt, 0.25), (dt,), (), ()]
        if together:
            numbers = run(*(number for row in rows for number in row))
        else:
            numbers = tuple([each(*row) for each, row in zip(bound, rows, strict=True)])
        if dt == 0.0625:
            c.fill(lambda j, i: 0.1 * i - 1.0 / (1.0 + j))
        found.append(f"sequence {numbers} {u.gather().tobytes().hex()}")
    return [*found, v.gather().tobytes().hex()]


def fail() -> None:
    """Send more than the other rank has room for, and print what is wrong."""
    comm = bc.world()
    values = np.zeros(8 if comm.rank == 0 else 4)
    made = comm.Send_init(values, 1) if comm.rank == 0 else comm.Recv_init(values, 0)
    known = Requests([made])
    starting, waiting = known.functions
    assert begin(starting) == 0
    done, code = False, 0
    while not done and not code:
        done, code = ask(waiting)
    if code:
        sys.stdout.write(f"{known.failure(code)}\n")


def main() -> None:
    """Print the lines on the first rank, after a comparison of the two ways to run."""
    if sys.argv[1:] == ["fail"]:
        fail()
        return
    ranks = bc.world()
    found = lines(ranks, together=True)
    for one, other in zip(found, lines(ranks, together=False), strict=True):
        assert one == other, f"in one call:\n{one}\nin a call each:\n{other}"
    if ranks is None or ranks.rank == 0:
        sys.stdout.write("\n".join([*found, ""]))


if __name__ == "__main__":
    main()
