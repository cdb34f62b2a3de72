"""The page of public names has all of them, and their arguments are explained."""

import inspect
import re
from types import ModuleType
from typing import Any

import pytest

import boundary
import ssr
from tools import names

FUNCTIONS = [
    pytest.param(given, id=f"{module.__name__}.{name}")
    for module in (ssr, ssr.solvers, boundary)
    for name in module.__all__
    if inspect.isfunction(given := getattr(module, name))
]


def test_the_page_is_up_to_date() -> None:
    assert names.PAGE.read_text(encoding="utf-8") == names.page(), "run python tools/names.py"


@pytest.mark.parametrize("module", [ssr, ssr.solvers, boundary], ids=lambda m: m.__name__)
def test_all_names_are_shown(module: ModuleType) -> None:
    shown = {n for of, text in names.SECTIONS.values() if of is module for n in text.split()}
    assert shown == set(module.__all__) - names.MODULES


@pytest.mark.parametrize("given", FUNCTIONS)
def test_arguments_are_explained(given: Any) -> None:
    text = inspect.getdoc(given) or ""
    missing = [
        parameter.name
        for parameter in names.parameters(given)
        if not re.search(rf"\b{parameter.name}\b", text)
    ]
    assert missing == []
