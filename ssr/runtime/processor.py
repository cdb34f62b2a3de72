"""The processor that kernels are compiled for, and the one at hand.

``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES`` in the environment choose another one than that at
hand, as for Numba. Without the second one the features of the processor at hand come in addition to
those of the name: kernels without AVX-512 need ``NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES=``.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

SKYLAKE = {"skylake-avx512", "cascadelake", "cooperlake"}
"""Intel's server processors of 2017 to 2020, whose cores are alike, as LLVM calls them."""


@cache
def host() -> str:
    """Return the name of the processor at hand as LLVM has it, such as ``znver4``."""
    from llvmlite.binding import get_host_cpu_name

    return str(get_host_cpu_name())


def name() -> str:
    """Return the name of the processor that kernels are compiled for: `host`, by default."""
    return os.environ.get("NUMBA_CPU_NAME") or host()


def features() -> str:
    """Return which instructions kernels may use, as LLVM has them, such as ``+avx2,-avx512f``.

    Those of the processor's name come in addition.
    """
    from llvmlite.binding import get_host_cpu_features

    chosen = os.environ.get("NUMBA_CPU_FEATURES")
    if chosen is not None or name() == "generic":
        return chosen or ""
    try:
        return str(get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM does not know them on every platform
        return ""


def target_machine() -> Any:
    """Return the compiler of LLVM for this processor."""
    from llvmlite import binding

    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(cpu=name(), features=features(), opt=3)


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
