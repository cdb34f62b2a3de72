"""How many random examples a test runs: a part of those named, or all with ``SSR_THOROUGH=1``.

Where examples are drawn again in each run, few of them in many runs find as much as many in one; in
CI they are always the same. The programs of `tests.fuzz` run as many as there is time for.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

THOROUGH = os.environ.get("SSR_THOROUGH") == "1"
PART = 1.0 if THOROUGH else 0.2


def examples(count: int) -> settings:
    """Return settings without shrinking: isl takes a second for some of the shrunk matrices."""
    return settings(
        max_examples=max(2, round(PART * count)),
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
