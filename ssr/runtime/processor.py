"""What is known of the processor at hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

SKYLAKE = {"skylake-avx512", "cascadelake", "cooperlake"}
"""Intel's server processors of 2017 to 2020, whose cores are alike, as LLVM calls them."""


@cache
def name() -> str:
    """Return its name as LLVM has it, such as ``znver4``."""
    from llvmlite.binding import get_host_cpu_name

    return str(get_host_cpu_name())


def is_skylake() -> bool:
    """Whether it is one of `SKYLAKE`."""
    return name() in SKYLAKE


@cache
def second_level() -> int:
    """Return the bytes of a core's second-level cache; 0 if the system does not tell."""
    for cache_of in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if int((cache_of / "level").read_text()) == 2:
                return 1024 * int((cache_of / "size").read_text().strip().removesuffix("K"))
        except (OSError, ValueError):  # it is told in another way, or not to us
            continue
    return 0
