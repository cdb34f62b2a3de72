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
    for module in (
        ssr,
        ssr.solvers,
        ssr.coordinates,
        ssr.integrate,
        ssr.output,
        ssr.simulation,
        boundary,
    )
    for name in module.__all__
    if inspect.isfunction(given := getattr(module, name))
]

METHODS = [
    pytest.param(kind, method, id=f"{module.__name__}.{kind.__name__}.{name}")
    for module in (
        ssr,
        ssr.solvers,
        ssr.coordinates,
        ssr.integrate,
        ssr.output,
        ssr.simulation,
        boundary,
    )
    for kind in map(vars(module).get, module.__all__)
    if inspect.isclass(kind)
    for name, method in names.methods(kind)
]


def test_the_page_is_up_to_date() -> None:
    assert names.PAGE.read_text(encoding="utf-8") == names.page(), "run python tools/names.py"


@pytest.mark.parametrize(
    "module",
    [ssr, ssr.solvers, ssr.coordinates, ssr.integrate, ssr.output, ssr.simulation, boundary],
    ids=lambda m: m.__name__,
)
def test_all_names_are_shown(module: ModuleType) -> None:
    shown = {n for of, text in names.SECTIONS.values() if of is module for n in text.split()}
    assert shown == set(module.__all__) - names.MODULES


@pytest.mark.parametrize("given", FUNCTIONS)
def test_arguments_are_explained(given: Any) -> None:
    assert unexplained(given, inspect.getdoc(given) or "") == []


@pytest.mark.parametrize(("kind", "method"), METHODS)
def test_arguments_of_methods_are_explained(kind: type, method: Any) -> None:
    """In the docstring of the method, or of that which it replaces."""
    name = method.__name__
    texts = [vars(base)[name].__doc__ or "" for base in kind.__mro__ if name in vars(base)]
    assert unexplained(method, "\n".join([inspect.getdoc(method) or "", *texts])) == []


def unexplained(given: Any, text: str) -> list[str]:
    """Return the arguments whose names do not occur in a text."""
    found = (parameter.name for parameter in names.parameters(given))
    return [name for name in found if not re.search(rf"\b{name}\b", text)]
