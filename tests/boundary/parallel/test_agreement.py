"""Ranks that do different things are told so; memory that cannot be shared is done without."""

from __future__ import annotations

import re

import pytest

from boundary.parallel.worlds.agreement import disagreement
from ssr.errors import ArgumentError

from .test_mpi import needs_mpi, start

DIFFERENCES = {
    "sizes": "about the size n: 40 on ranks 0, 2; 41 on rank 1.",
    "dtype": "about the dtype: float64 on ranks 0, 2; float32 on rank 1.",
    "space": "about the space: Space(9, 12) on ranks 0, 2; Space(10, 13, nodes) on rank 1.",
    "components": "about the space: Space(9, 12).vector(2) on ranks 0, 2; Space(9, 12).vector(3)",
    "boxes": "about the boxes: [0:9, 0:4] of rank 0, [0:9, 4:8] of rank 1, [0:9, 8:12] of rank 2",
    "many boxes": "and 32 others",
    "levels": "about the dtype: float64 on ranks 0, 2; float32 on rank 1.",
    "programs": "the binding of shrink on ranks 0, 2; the binding of diffuse on rank 1.",
    "program and field": "the making of a field on ranks 0, 2; the binding of diffuse on rank 1.",
    "bodies": "about the text of the program: that with the digest",
    "options": "about the options: ",
    "fields": "about the field u: number 1 on ranks 0, 2; number 2 on rank 1.",
    "scalars": "about the scalar dt: 1.0 on ranks 0, 2; 2.0 on rank 1.",
    "some scalars": "about the scalars: none on ranks 0, 2; dt on rank 1.",
    "data": "the preparation of 1.0 * stencil apply on ranks 0, 2; the preparation of 2.0",
    "roots": "about the root: 0 on ranks 0, 2; 1 on rank 1.",
    "parts": "about the box: ((0, 2), (0, 3)) on ranks 0, 2; ((0, 3), (0, 3)) on rank 1.",
    "calls in debug builds": "about the scalars: [[1.0]] on ranks 0, 2; [[2.0]] on rank 1.",
    "reductions": "This rank is at a decision of others, and others are at something else.",
}


@needs_mpi
@pytest.mark.parametrize("ranks", [3, 1])
def test_all_ranks_are_told_in_what_they_differ(ranks: int) -> None:
    """With so many ranks on a node. They go on together, as nothing has been exchanged."""
    found = start(3, "disagrees", str(ranks))
    assert found.returncode == 0, found.stderr
    lines = dict(line.split(": ", 1) for line in found.stdout.splitlines() if ": " in line)
    assert lines.keys() == {*DIFFERENCES, "afterwards"}
    for what, text in DIFFERENCES.items():
        assert lines[what].startswith("ArgumentError: ")
        assert text in lines[what]
    assert lines["afterwards"] == "nothing"
    assert "216.0 216.0" in found.stdout


@needs_mpi
@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("order", r"This rank is at a reduction of \w+, and others are at something else"),
        ("once more", r"This rank is at a reduction of \w+, and others are at something else"),
        (
            "other",
            r"Rank \d has waited in (a reduction of total|the gathering of a field) for 15 s",
        ),
        ("field", r"Rank \d has waited in (a reduction of total|the making of a field) for 15 s"),
    ],
)
def test_jobs_end_whose_ranks_call_different_things(how: str, message: str) -> None:
    found = start(3, "calls apart", how)
    assert found.returncode not in (0, 137)
    assert "done" not in found.stdout
    assert re.search(message, found.stderr), found.stderr


@needs_mpi
@pytest.mark.parametrize("calls", ["shared", "python"])
def test_fields_and_programs_that_are_dropped_leave_no_descriptors(calls: str) -> None:
    found = start(3, "drops", BOUNDARY_CALLS=calls)
    assert found.returncode == 0, found.stderr


@needs_mpi
@pytest.mark.parametrize(
    "limit", [("FSIZE", "64"), ("NOFILE", "4"), ("AS", "300000000")], ids=lambda limit: limit[0]
)
def test_memory_beyond_limits_is_not_shared(limit: tuple[str, str]) -> None:
    """Messages are those of MPI then (``ulimit -f``, ``-n``, ``-v``)."""
    found = start(3, "limited", *limit)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("done") == 3


def test_messages_of_disagreement() -> None:
    same, other = {"step": "a", "size": "1"}, {"step": "a", "size": "2"}
    error = disagreement([same] * 9 + [other])
    assert isinstance(error, ArgumentError)
    assert "1 on ranks 0, 1, 2, 3, 4, 5, 6, 7 and others; 2 on rank 9." in str(error)
    assert error.note == "all of them are at a"
    error = disagreement([same, {"step": "b"}])
    assert error.note is None
    assert "about the step: a on rank 0; b on rank 1." in str(error)
    assert "about the size: 1 on rank 0; missing on rank 1." in str(
        disagreement([same, {"step": "a"}])
    )
