"""What the tests and the doctests share: a kernel cache for this run alone."""

import os
import sys
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Point SSR_CACHE_DIR at a temporary directory; xdist workers inherit it from their parent."""
    if not hasattr(config, "workerinput"):
        cache = tempfile.TemporaryDirectory(prefix="ssr-test-cache-", ignore_cleanup_errors=True)
        config.add_cleanup(cache.cleanup)
        os.environ["SSR_CACHE_DIR"] = cache.name


def pytest_runtest_teardown() -> None:
    """Close the figures of a test; Matplotlib warns of many that are open."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
