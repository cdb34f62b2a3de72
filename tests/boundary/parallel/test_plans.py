"""Plans of any rank of any job: as text, as a command, and what they cost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.__main__ import main
from boundary.parallel.partition.boxes import as_box
from boundary.parallel.schedules.plan import plan
from ssr.errors import Error

(n,) = ssr.sizes("n")
cube = ssr.Space(n, n, n)
all27 = {o: 1.0 / (9 + sum(o)) for o in product((-1, 0, 1), repeat=3)}
A = ssr.stencil(cube, cube, all27, outside="zero")


@ssr.program(y=cube, x=cube)
def multiply(y, x):  # type: ignore[no-untyped-def]
    y[:] = A @ x


@ssr.program(x=cube, dt=ssr.scalar)
def relax(x, dt):  # type: ignore[no-untyped-def]
    x[:] = x - dt * (A @ x)


def test_a_schedule_tells_peers_messages_and_bytes() -> None:
    on = bc.distribute(cube, bc.simulated_ranks(4), n=8, cut=(2, 2, 1))
    run = multiply.bind(on.zeros(cube), on.zeros(cube))
    schedule = run.schedule
    assert str(schedule).splitlines() == [
        "send exchange 0",
        "run y[:] = ..., inner rows",
        "wait for exchange 0: x",
        "run y[:] = ..., outer rows",
    ]
    lines = schedule.explain(rank=1).splitlines()
    assert lines[:5] == [
        "multiply on rank 1 of 4",
        "  owns      [0:4, 4:8, 0:8]",
        "  peers     0, 2, 3",
        "  messages  3 sent with 576 bytes",
        "  receives  576 bytes, 576 at least",
    ]
    assert "  to rank 0: 32 numbers, x[0:4, 4:5, 0:8]" in lines
    run()
    assert str(run.schedule) == "run y[:] = ..."  # x has not changed since


def test_what_a_program_changes_moves_at_each_call() -> None:
    on = bc.distribute(cube, bc.simulated_ranks(2), n=8, cut=(2, 1, 1))
    run = relax.bind(on.zeros(cube))
    assert run.schedule.bytes(0) == 8 * 64
    run(0.5)
    assert run.schedule.bytes(0) == 8 * 64


def test_short_rows_are_not_cut_along_the_last_axis() -> None:
    on = bc.distribute(cube, bc.simulated_ranks(2), n=8, cut=(1, 1, 2))
    run = multiply.bind(on.zeros(cube), on.zeros(cube))
    assert "all rows: cutting short rows along the last axis" in str(run.schedule)


def test_the_plan_of_one_rank_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    where = f"{__name__}:multiply"
    assert main(["plan", where, "n=64", "--ranks", "512", "--rank", "219"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "multiply on rank 219 of 512"
    assert lines[2].count(",") == 25  # peers on all sides
    assert lines[4].startswith("  receives  ")


def test_what_boxes_read_in_a_fill_is_listed_once() -> None:
    """A list for what is near and one for what is far, however many taps read it."""
    wide = cube.grow(1)
    edges = bc.extrapolate(order=3, axis=1), bc.extrapolate(order=3, axis=2)
    far = ssr.stencil(cube, wide, all27) @ bc.fill(wide, bc.periodic(axis=0), *edges)

    @ssr.program(y=cube, x=cube, options=ssr.Options(fuse=False))
    def closed(y, x):  # type: ignore[no-untyped-def]
        y[:] = far @ x

    on = bc.distribute(cube, bc.simulated_ranks(8), n=8, cut=(2, 2, 2))
    footprint = plan(closed, on.partition, np.dtype("f8")).footprint
    reads = [r for r in footprint.reads if footprint.units[r.unit].kind == "call"]
    assert reads
    assert len({(r.unit, r.array, r.far) for r in reads}) == len(reads)
    for read in reads:
        boxes = [(int(n), tuple(b.ravel())) for n, b in zip(read.numbers, read.boxes, strict=True)]
        assert boxes == sorted(set(boxes))
        assert all(read.of(n) == [as_box(b) for b in read.boxes[read.numbers == n]] for n in (0, 7))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere:x"], "There is no nowhere:x."),
        ([f"{__name__}:A", "n=4"], "is Matrix, not a program"),
        ([f"{__name__}:multiply"], "No value is given for the size n."),
        ([f"{__name__}:multiply", "n"], "'n' is not NAME=VALUE."),
        ([f"{__name__}:multiply", "n=4", "--rank", "9"], "none is 9"),
    ],
)
def test_mistakes_in_a_command(arguments: list[str], message: str) -> None:
    with pytest.raises(Error, match=re.escape(message)):
        main(["plan", *arguments, "--ranks", "2"])


def test_a_plan_of_many_ranks_holds_no_field() -> None:
    made = plan(
        multiply, bc.distribute(cube, bc.simulated_ranks(4096), n=256).partition, np.dtype("f8")
    )
    assert made.explain(1000).startswith("multiply on rank 1000 of 4096\n  owns      [")


def test_the_shallow_water_step_on_ten_thousand_ranks() -> None:
    command = [sys.executable, "-m", "boundary", "plan", "apps.swe.volumes:program", "size=64"]
    command += ["passive=False", "weights=linear", "more=59", "--ranks", "10752", "--rank", "77"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found.startswith("stage on rank 77 of 10752\n")


def test_plans_need_no_compiler(tmp_path: Path) -> None:
    code = (
        "import sys; from boundary.__main__ import main; main(sys.argv[1:]); "
        "print('numba' in sys.modules, 'ssr.native' in sys.modules)"
    )
    where = f"{__name__}:multiply"
    command = [sys.executable, "-c", code, "plan", where, "n=16", "--ranks", "8", "--rank", "3"]
    kept = {**os.environ, "SSR_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True, env=kept).stdout
        for _ in range(2)
    )
    assert first.endswith("False False\n")
    assert second == first
