"""Memory that two processes share: opened by both, without descriptors; none beyond limits."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from boundary.parallel.worlds import shared_pages
from boundary.parallel.worlds.shared_pages import mapped, new_pages, opened

pytestmark = pytest.mark.skipif(not shared_pages.is_possible(), reason="needs Linux")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def made(length: int) -> Any:
    pages = new_pages(length)
    assert pages is not None
    return pages


def test_memory_is_opened_by_another_process() -> None:
    pages = made(800)
    offer = pages.offer()
    pages.bytes[-1] = 7
    child = os.fork()
    if child == 0:
        try:
            pages.close()  # it is opened as that of the parent
            memory = opened(offer, 800)
            right = memory is not None and memory[-1] == 7
            if memory is not None:
                memory[-2] = 8
            os._exit(0 if right else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pages.bytes[-2] == 8
    pages.close()


@pytest.mark.parametrize("change", [{0: 1}, {1: 5}, {2: 2**30}, {3: 10**6}, {4: 3}, {5: 8000}])
def test_memory_of_others_is_refused(change: dict[int, int]) -> None:
    """Another node, name space, process or file, and memory that is not what was offered."""
    pages = made(800)
    offer = pages.offer()
    for place, value in change.items():
        offer[place] = value
    assert opened(offer, 800) is None
    pages.close()


def test_memory_of_another_length_is_refused() -> None:
    """Nothing is read beyond what is there, whatever is said about it."""
    pages = made(800)
    assert opened(pages.offer(), 4000) is None
    offer = pages.offer()
    offer[-1] = 4000
    assert opened(offer, 4000) is None
    pages.close()


def test_nothing_is_opened_where_nothing_is_offered() -> None:
    assert opened(np.zeros(shared_pages.OFFER, np.int64), 800) is None


def test_memory_takes_no_descriptors_and_is_given_back() -> None:
    before = descriptors()
    kept = []
    for _ in range(50):
        pages = made(5000)
        memory = opened(pages.offer(), 5000)
        assert memory is not None
        kept += [pages.bytes, memory]
        pages.close()
    assert descriptors() == before
    kept[0][-1] = 3
    assert kept[1][-1] == 3
    places = {each.ctypes.data for each in kept}
    del kept, pages, memory
    gc.collect()
    with open("/proc/self/maps") as maps:
        starts = {int(line.split("-")[0], 16) for line in maps if "memfd:boundary" in line}
    assert not places & starts


def test_what_cannot_be_mapped_is_an_error() -> None:
    file = os.open("/dev/null", os.O_RDWR)
    with pytest.raises(OSError, match=r".+"):
        mapped(file, 4096)
    os.close(file)


LIMITED = """
import os, resource
from boundary.parallel.worlds.shared_pages import new_pages, opened
pages = new_pages(2**24)
offer = pages.offer()
kept = os.listdir("/proc/self/fd")
{limit}
assert new_pages(2**24) is None
assert opened(offer, 2**24) is {found}
assert len(os.listdir("/proc/self/fd")) == len(kept), "a descriptor was left"
"""


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        ("resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))", "not None"),
        ("resource.setrlimit(resource.RLIMIT_NOFILE, (len(kept) - 1,) * 2)", "None"),
        (
            "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
            "resource.setrlimit(resource.RLIMIT_AS, (used + 2**21,) * 2)",
            "None",
        ),
    ],
    ids=["ulimit -f", "ulimit -n", "ulimit -v"],
)
def test_there_is_none_beyond_limits_of_the_process(limit: str, found: str) -> None:
    if "NOFILE" in limit:  # listing takes one descriptor itself
        limit += "\nos.listdir = lambda path: kept"
    run = subprocess.run(
        [sys.executable, "-c", LIMITED.format(limit=limit, found=found)],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
