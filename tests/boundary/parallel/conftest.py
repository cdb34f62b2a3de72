"""All schedules of these tests are proved before they run, as with ``SSR_VERIFY=1``."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundary.parallel.programs.bound.wanted", lambda: True)
