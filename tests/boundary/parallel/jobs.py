"""Jobs of several ranks: ``python -m tests.boundary.parallel.jobs NAME ARGUMENTS``."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import boundary as bc
import ssr
from boundary.parallel.worlds import shared_pages
from boundary.parallel.worlds.waiting import watch_of
from ssr.compiler import pipeline
from ssr.errors import ArgumentError
from ssr.native import python_entry

plane = ssr.Space(9, 12)
wide = plane.grow(1)
CROSS = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
closed = ssr.stencil(plane, wide, CROSS) @ bc.fill(wide, bc.periodic(axis=1), bc.symmetric(axis=0))
product = ssr.stencil(plane, plane, CROSS, outside="zero")
bricks = bc.Grid(4 * [(5, 7)], links=bc.topologies.two_by_two(periodic=True))


@ssr.program(u=plane, dt=ssr.scalar)
def diffuse(u: Any, dt: Any) -> Any:
    u[:] = u + dt * (closed @ u)
    return ssr.sum(u * u), ssr.max(u), ssr.min(u), ssr.sum(u)


def programs(comm: Any) -> list[Any]:
    """Return numbers and bits of fields that programs, fills, products and moves make."""
    found: list[Any] = []
    for dtype in "float64", "float32":
        on = bc.distribute(plane, comm)
        u = on.zeros(plane, dtype)
        u.fill(lambda j, i: (j + 0.5 * i) / 3)
        step = diffuse.bind(u)
        found += [step(0.125) for _ in range(3)]
        found += [
            bits(u),
            bits(product @ u),
            bits(u.redistributed(bc.distribute(plane, comm, cut=(1, 3)))),
        ]
        for value in np.inf, -np.inf, np.nan:
            u.fill(lambda j, i, value=value: np.where((j == 2) & (i == 3), value, 1.0))
            found.append(step(0.0))
    return [*found, linked(comm), levels(comm), swept(comm), cooled(comm)]


def linked(comm: Any) -> str:
    """Return the bits of values at the nodes of linked blocks, which share those on their sides."""
    nodes, on = bricks.cells.nodes(), bc.distribute(bricks, comm)
    mean = bc.synchronize(nodes)

    @ssr.program(x=nodes)
    def shared(x: Any) -> None:
        x[:] = mean @ (0.5 * x)

    x = on.empty(nodes)
    x.fill(lambda block, j, i: block + j / 3 + i / 7)
    shared(x)
    return bits(x)


def cooled(comm: Any) -> str:
    """Return the bits of a program with a field for the coefficient of a boundary condition."""
    whole, top, on = plane.grow(1), plane.side(0, "high"), bc.distribute(plane, comm)
    rule = bc.robin(bc.parameter("a"), 1.0, 0.5, axis=0)
    fill = bc.fill(whole, rule, bc.periodic(axis=1))
    mean = ssr.stencil(plane, whole, {(1, 1): 0.25, (-1, 0): 0.5, (0, 1): 0.25})

    @ssr.program(u=plane, a=plane)
    def cool(u: Any, a: Any) -> None:
        u[:] = mean @ (fill.bind(a=a) @ u)
        u[top] = 2.0 * u[top]

    u, a = on.empty(plane), on.empty(plane)
    u.fill(lambda j, i: j / 3 + i / 7)
    a.fill(lambda j, i: 1.0 + i)
    for _ in range(2):
        cool(u, a)
    return bits(u)


def swept(comm: Any) -> str:
    """Return the bits of sweeps whose rows wait for rows of other ranks, forwards and backwards."""

    @ssr.program(x=plane)
    def sweeps(x: Any) -> None:
        x[:] = product.tril().solve(1.0 - product.triu(1) @ x)
        x[:] = product.triu().solve(1.0 - product.tril(-1) @ x)

    on = bc.distribute(plane, comm, cut=(3, 4))
    x = on.zeros(plane)
    for _ in range(3):
        sweeps(x)
    return bits(x)


def levels(comm: Any) -> str:
    """Return the bits of a cycle of multigrid, whose coefficients are spread over the ranks."""
    line = ssr.Space(ssr.size("n"))

    @ssr.matrix(rows=line, cols=line, c=line)
    def A(i: Any, *, c: Any) -> Any:
        yield i, 4.0
        for near in i - 1, i + 1:
            if near in line:
                yield near, -0.5 * (c[i] + c[near])

    on = bc.distribute(line, comm, n=31)
    c, z, r = (on.zeros(line) for _ in range(3))
    for field in c, r:
        field.fill(lambda i: 1.0 + i % 7 / 7)
    grids = ssr.solvers.Multigrid.galerkin(A.bind(c=c), 3, smoother=ssr.solvers.Jacobi())
    grids(z, r)
    return bits(z)


def eigenvalues(comm: Any) -> str:
    """Return the bits of eigenvalues and of an eigenvector."""
    on, fields = bc.distribute(plane, comm), []
    for k in range(2):
        fields.append(on.zeros(plane))
        fields[k].fill(lambda j, i, k=k: np.sin((1.0 + k) * i + (2.0 + k) * j))
    w, v = ssr.solvers.lobpcg(product @ product.T, fields, maxiter=3)
    return f"{w.tobytes().hex()} {bits(v[0])}"


def bits(field: bc.Field) -> str:
    return hashlib.sha256(field.gather().tobytes()).hexdigest()[:16]


def ends(how: str, pids: str) -> None:
    """End one rank, or all, in some way, between the steps of a program."""
    comm = bc.world(timeout=3.0 if how == "goes on" else None)
    Path(pids, str(os.getpid())).touch()
    on = bc.distribute(plane, comm)
    u = on.zeros(plane)
    step = diffuse.bind(u)
    step(0.125)
    if how == "all abort":
        bc.abort("The depth is negative.", status=3)
    if comm.rank == comm.size - 1:
        END[how]()
        return
    step(0.125)


def fail() -> None:
    raise RuntimeError("no more")


def go_on() -> None:
    """Catch an error of this rank alone, and run something else than the others."""
    try:
        fail()
    except RuntimeError:
        bc.distribute(bricks, bc.world()).zeros(bricks.cells).gather()


END: dict[str, Callable[[], Any]] = {
    "raises": fail,
    "exits": sys.exit,
    "is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "falls off the end": lambda: None,
    "is interrupted": lambda: signal.raise_signal(signal.SIGINT),
    "aborts": lambda: bc.abort("The depth is negative.", status=3),
    "goes on": go_on,
}


def waits() -> None:
    """Let all ranks wait for one that works, in a program and at the end."""
    comm = bc.world()
    u = bc.distribute(plane, comm).zeros(plane)
    step = diffuse.bind(u)
    if comm.rank == 1:
        time.sleep(3.5)
    step(0.125)
    if comm.rank == 0:
        time.sleep(3.5)
        print("done")


def breaks_off() -> None:
    """Interrupt a program on all ranks while they wait for one; fields can still be gathered."""
    comm = bc.world()
    u = bc.distribute(plane, comm, cut=(comm.size, 1)).zeros(plane)
    step = diffuse.bind(u)
    step(0.125)
    try:
        if comm.rank == 0:
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        step(0.125)
    except KeyboardInterrupt:
        gc.collect()
        u.gather()
    if comm.rank == 1:
        step(0.125)


@ssr.program(u=plane)
def total(u: Any) -> Any:
    return ssr.sum(u)


def reduces(how: str, place: str) -> None:
    """Let ranks wait in a reduction for one that has ended, or works, or until they are stopped."""
    comm = bc.world()
    u = bc.distribute(plane, comm).zeros(plane)
    u.set(1.0)
    run = total.bind(u)
    run()
    if how == "ends" and comm.rank == 2:
        return
    if how != "ends" and comm.rank == 1:
        time.sleep(2.5)
    elif how == "breaks off":
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        found = run()
    except KeyboardInterrupt:
        gc.collect()
        found = -1.0
    Path(place, str(comm.rank)).write_text(str(found))


def without_files() -> None:
    """Run programs where ranks with odd numbers can make no memory for others."""
    comm = bc.world()
    full = patch.object(
        shared_pages.os, "memfd_create", side_effect=OSError(24, "Too many open files")
    )
    with full if comm.rank % 2 else contextlib.nullcontext():
        found = programs(comm)
    pairs = [pair for pair, boxes in watch_of(comm).node._known.items() if boxes]
    assert pairs
    assert not any(source % 2 for source, _ in pairs)
    if comm.rank == 0:
        print(found)


def on_nodes(ranks: str) -> None:
    """Run programs with so many ranks on a node, as far as they know: other messages are MPI's."""
    comm = bc.world()
    with patch.object(shared_pages, "place", lambda: (comm.rank // int(ranks), 1)):
        found = programs(comm)
        kept = [len(boxes) for boxes in watch_of(comm).node._known.values()]
        assert bool(sum(kept)) == (int(ranks) > 1)
        if comm.rank == 0:
            print(found)


def builds(place: str) -> None:
    """Note which ranks lower a program and compile it."""
    comm = bc.world()
    u = bc.distribute(plane, comm).zeros(plane)
    lower, compiled = pipeline.lower, python_entry.begin

    def note(name: str, then: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any, **named: Any) -> Any:
            Path(place, f"{name} {comm.rank}").touch()
            return then(*given, **named)

        return noted

    with (
        patch.object(pipeline, "lower", note("lowered", lower)),
        patch.object(python_entry, "begin", note("compiled", compiled)),
    ):
        diffuse(u, 0.125)


@ssr.program(u=plane, dt=ssr.scalar)
def shrink(u: Any, dt: Any) -> Any:
    u[:] = dt * u
    return ssr.sum(u)


debugged = shrink.with_options(ssr.Options(debug=True))


def other_body(factor: float) -> ssr.Program:
    """Return a program whose name says nothing of what it does."""

    @ssr.program(u=plane)
    def step(u: Any) -> None:
        u[:] = factor * u

    return step


def disagrees(ranks: str) -> None:
    """Let one rank do something else than others; all are told so, and go on together."""
    comm = bc.world(timeout=60.0)
    odd = comm.rank == 1
    n, line = ssr.size("n"), ssr.Space(ssr.size("n"))

    def tried(what: str, run: Callable[[], Any]) -> None:
        try:
            run()
            told = "nothing"
        except ssr.Error as error:
            told = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        every = comm.gather(told)
        if comm.rank == 0:
            same = {
                each.replace("at a decision of all ranks", "at a decision of others")
                for each in every
            }
            assert len(same) == 1, every
            print(f"{what}: {every[0]}")

    with patch.object(shared_pages, "place", lambda: (comm.rank // int(ranks), 1)):
        on, sized = bc.distribute(plane, comm), bc.distribute(line, comm, n=40)
        u, v = on.zeros(plane), on.zeros(plane)
        step = shrink.bind(u, 1.0)
        for what, run in {
            "sizes": lambda: bc.distribute(line, comm, n=40 + odd).zeros(line),
            "dtype": lambda: on.zeros(plane, "f4" if odd else "f8"),
            "space": lambda: on.zeros(plane.nodes() if odd else plane),
            "components": lambda: on.zeros(plane.vector(2 + odd)),
            "boxes": lambda: bc.distribute(plane, comm, cut=(3, 1) if odd else (1, 3)).zeros(plane),
            "many boxes": lambda: bc.distribute(
                line, comm, n=40, boxes=[(b // 14, 0, [(b, b + 1)]) for b in range(39 - odd)]
                + [(2, 0, [(39 - odd, 40)])],
            ).zeros(line),
            "levels": lambda: sized.coarsen(ssr.Space(n)).zeros(line, "f4" if odd else "f8"),
            "programs": lambda: (diffuse if odd else shrink).bind(u),
            "program and field": lambda: diffuse.bind(u) if odd else on.zeros(plane),
            "bodies": lambda: other_body(2.0 + odd)(u),
            "options": lambda: shrink.with_options(ssr.Options(fuse=not odd))(v, 1.0),
            "fields": lambda: shrink.bind(v if odd else u),
            "scalars": lambda: shrink.bind(u, 1.0 + odd),
            "some scalars": lambda: shrink.bind(u, 1.0) if odd else shrink.bind(u),
            "data": lambda: (product.bind() * (1.0 + odd)) @ u,
            "roots": lambda: u.gather(root=int(odd)),
            "parts": lambda: u.gather(box=((0, 2 + odd), (0, 3))),
            "calls in debug builds": lambda: debugged(u, 1.0 + odd),
            "reductions": lambda: on.any(True) if odd else on.world.combine(
                np.zeros(0, np.int64), np.zeros(1, np.int64), "a decision of others"
            ),
        }.items():  # fmt: skip
            tried(what, run)
        u.set(2.0)
        tried("afterwards", lambda: print(step(), step()) if comm.rank == 0 else (step(), step()))


def calls_apart(how: str) -> None:
    """Let one rank call another program, or once more, or in another order."""
    comm = bc.world(timeout=15.0)
    odd = comm.rank == 1
    on = bc.distribute(plane, comm)
    u = on.zeros(plane)
    one, other = shrink.bind(u, 1.0), total.bind(u)
    if how == "order":
        for run in (other, one) if odd else (one, other):
            run()
    for _ in range(2 + odd if how == "once more" else 2):
        one()
    if how == "other" and odd:
        u.gather()
    other()
    if how == "field":
        on.zeros(plane) if odd else other()
    print("done")


def drops() -> None:
    """Make and drop spreads, fields and programs; file descriptors do not become more."""
    comm = bc.world()
    counts = []
    for number in range(6):
        on = bc.distribute(plane, comm)
        u = on.zeros(plane)
        diffuse.bind(u)(0.125)
        diffuse(u, 0.125)
        (product @ u).gather()
        swept(comm)
        if number % 2:
            gc.collect()
            counts.append(len(os.listdir("/proc/self/fd")))
    assert len(set(counts)) == 1, counts
    maps = Path("/proc/self/maps").read_text()
    assert ("memfd:boundary" in maps) == (os.environ.get("BOUNDARY_CALLS", "shared") == "shared")


def limited(what: str, value: str) -> None:
    """Run programs with a limit of the process, set when MPI has begun."""
    import resource

    comm = bc.world()
    expected = programs(comm.Split())  # kernels are in the cache now
    used = {
        "FSIZE": 0,
        "NOFILE": len(os.listdir("/proc/self/fd")),
        "AS": int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize(),
    }[what]
    limit = used + int(value)
    resource.setrlimit(getattr(resource, f"RLIMIT_{what}"), (limit, limit))
    assert repr(programs(comm)) == repr(expected)
    print("done")


def files(folder: str) -> None:
    from .test_output_writer import job

    job(Path(folder), bc.world())


def simulations(folder: str) -> None:
    from .test_simulation import job

    job(Path(folder), bc.world())


def drifting(comm: Any) -> list[Any]:
    """Return what points find that move with a field that they change."""
    on, rank = bc.distribute(plane, comm), 0 if comm is None else comm.rank
    size = 1 if comm is None else comm.size
    found: list[Any] = []
    mine = np.arange(30)[rank::size]  # each rank begins with points that others own
    start = np.random.default_rng(0).uniform((-0.5, -0.5), (8.5, 11.5), (30, 2))
    points = bc.points(on, start[mine], "cubic", periodic=(0, 1), numbers=mine)
    for dtype in "float64", "float32":
        u = on.empty(plane.vector(2), dtype)
        u.fill(lambda j, i: np.stack([np.sin(j + i / 2), np.cos(i - j / 3)]))
        first, age = points.coordinates, np.zeros(len(points), np.int32)
        for _ in range(4):
            half = points.interpolate(u)
            first, age = points.move(first + 0.5 * half, first, age)
            (age,) = points.move(first + points.interpolate(u), age + 1)
            first = points.coordinates
            points.inject(u, 0.1 * points.interpolate(u))
        found += [bits(u), points.gather(first).tobytes().hex()[:64], points.gather(age).tolist()]
    every = bc.points(on, points.gather(points.coordinates), "linear")
    values = every.gather(every.interpolate(u), root=size - 1)
    assert (values is None) == (rank != size - 1)
    return [*found, every.count, points.gather(points.numbers).tolist()]


def drifts() -> None:
    """Print what `drifting` finds, and let all ranks refuse a point of one that leaves."""
    comm = bc.world()
    found = drifting(comm)
    on = bc.distribute(plane, comm)
    points = bc.points(on, np.random.default_rng(0).uniform(0, 8, (20, 2)))
    leaves, refused = comm.rank == 1, ""
    try:
        points.move(points.coordinates + (20.0 if leaves else 0.0))
    except ArgumentError as error:
        refused = type(error).__name__
    assert refused == ("OutOfRangeError" if leaves else "ArgumentError")
    points.interpolate(on.zeros(plane))
    if comm.rank == 0:
        print(found)


def eigenvalue_job() -> None:
    """Print the eigenvalues that all ranks find."""
    comm = bc.world()
    found = eigenvalues(comm)
    if comm.rank == 0:
        print(found)


JOBS: dict[str, Callable[..., None]] = {
    "ends": ends,
    "drifts": drifts,
    "waits": waits,
    "breaks off": breaks_off,
    "reduces": reduces,
    "builds": builds,
    "on nodes": on_nodes,
    "without files": without_files,
    "disagrees": disagrees,
    "calls apart": calls_apart,
    "drops": drops,
    "eigenvalues": eigenvalue_job,
    "limited": limited,
    "simulations": simulations,
    "files": files,
}


def main(name: str, *arguments: str) -> None:
    if name == "programs":
        comm = bc.world()
        found = programs(comm)
        if comm is None or comm.rank == 0:
            print(found)
        if comm is not None and comm.size > 1:
            for size in 2, 3:
                part = comm.Split(comm.rank < size)
                assert repr(programs(part)) == repr(found)
    else:
        JOBS[name](*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
