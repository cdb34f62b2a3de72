"""The processor that every side of a comparison is compiled for.

``SSR_CPU=x86-64-v3 python -m benchmarks.peers`` compares code for AVX2 with code for AVX2 on a
processor that has AVX-512 too. Without ``SSR_CPU`` all sides are compiled for the processor at
hand.
"""

from __future__ import annotations

import os


def march() -> str:
    """Return GCC's flag for the processor.

    Examples
    --------
    >>> from unittest import mock
    >>> with mock.patch.dict(os.environ, SSR_CPU="x86-64-v3"):
    ...     march()
    '-march=x86-64-v3'
    """
    return f"-march={os.environ.get('SSR_CPU') or 'native'}"


def restrict_others() -> None:
    """Restrict Numba and JAX, before their import, to the instructions of the processor."""
    wanted = os.environ.get("SSR_CPU")
    if not wanted:
        return
    os.environ["NUMBA_CPU_NAME"] = wanted
    os.environ["NUMBA_CPU_FEATURES"] = ""
    if wanted != "x86-64-v4":
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_max_isa=AVX2".strip()
