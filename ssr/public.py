"""Common behavior of public functions and classes: errors for wrong arguments, and copying."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import numpy as np

from .errors import ArgumentError, MissingNameError, UnsupportedError

T = TypeVar("T")


def explained(function: Callable[..., T]) -> Callable[..., T]:
    """Return a function that raises an `ArgumentError` if its arguments do not fit.

    Examples
    --------
    >>> import ssr
    >>> ssr.stencil(rows=ssr.Space(3), cols=ssr.Space(3), weight={0: 1.0})
    Traceback (most recent call last):
        ...
    ssr.errors.ArgumentError: stencil has no argument 'weight'.
      ...
      Hint: Did you mean 'weights'?
    """

    @wraps(function)
    def called(*args: Any, **named: Any) -> T:
        try:
            return function(*args, **named)
        except TypeError:
            check_arguments(function, args, named)
            raise

    return called


def explain_public(names: dict[str, Any], public: Sequence[str]) -> None:
    """Let the functions, and the methods of classes, with public names of a module be `explained`.

    Methods with names of Python's own are left alone, but for those that make an object.
    """
    for name in public:
        if isinstance(names[name], FunctionType):
            names[name] = explained(names[name])
    classes = {kind for name in public if isinstance(kind := names[name], type)}
    for kind in {base for found in classes for base in found.__mro__}:
        if not kind.__module__.startswith(("ssr.", "boundary.")):
            continue
        for name, method in list(vars(kind).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if isinstance(method, FunctionType) and not hasattr(method, "__wrapped__"):
                setattr(kind, name, explained(method))
            elif isinstance(method, classmethod) and not hasattr(method.__func__, "__wrapped__"):
                setattr(kind, name, classmethod(explained(method.__func__)))


def argument_name(parameter: inspect.Parameter) -> str:
    """Return the name of an argument with the stars of its declaration."""
    stars: Mapping[Any, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    return stars.get(parameter.kind, "") + parameter.name


def check_arguments(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Check that a function can be called with some arguments."""
    signature = inspect.signature(function)
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    known = list(map(argument_name, parameters))
    try:
        signature.bind(*args, **named)
    except TypeError as error:
        plain = [argument for argument in known if not argument.startswith("*")]
        near = {given: get_close_matches(given, plain, 1) for given in named if given not in plain}
        takes_any = any(argument.startswith("**") for argument in known)
        unknown = [given for given, names in near.items() if names or not takes_any]
        if len(args) == 1 and isinstance(args[0], FunctionType) and not named:
            raise ArgumentError(
                f"{name} is called with a function alone.",
                hint=f"Use the decorator with arguments: @ssr.{name}(...).",
            ) from None
        if unknown:
            names = near[unknown[0]]
            takes = f"It takes {', '.join(known)}." if known else "It takes none."
            raise ArgumentError(
                f"{name} has no argument {unknown[0]!r}.",
                hint=f"Did you mean {names[0]!r}?" if names else takes,
            ) from None
        raise ArgumentError(
            f"{name}: {error}.", hint=f"Its arguments are {', '.join(known)}."
        ) from None


def is_one_of(value: Any, words: Collection[str]) -> bool:
    """Whether a value is a string that is one of some words."""
    return isinstance(value, str) and value in words


def flag(text: str, name: str, value: Any) -> bool:
    """Return a truth value, the argument with a name of the function called ``text``."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{text}: {name} is {value!r}, not True or False.")
    return bool(value)


def counted(number: int, one: str, several: str) -> str:
    """Return a count with its noun in the singular or plural: ``1 family``, ``5 families``."""
    return f"{number} {one if number == 1 else several}"


class Immutable:
    """Immutable objects, whose copies are the objects themselves, as for functions.

    Arrays among its data are used as they are.
    """

    habits: ClassVar[Mapping[str, str]] = {}
    """Suggested replacements for names of other packages."""

    if not TYPE_CHECKING:  # type checkers still reject misspelled attributes

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            near = get_close_matches(name, [known for known in dir(self) if known[0] != "_"], 1)
            hint = self.habits.get(name) or (f"Did you mean {near[0]!r}?" if near else None)
            raise MissingNameError(f"{self!r} has no {name!r}.", hint=hint)

    def __copy__(self: T) -> T:
        return self

    def __deepcopy__(self: T, memo: object) -> T:
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Callable[..., Any], tuple[str, str]]:
        """Return the name of the variable of a module that holds it, as for functions."""
        place = _variable_of(self)
        if place is None:
            raise UnsupportedError(
                f"{self!r} cannot be pickled.",
                note="It is made of functions, and is not a variable of a module.",
                hint="Make it at the top level of a module, or again from its definition in each "
                "process; kernels come from the cache.",
            )
        return value_of, place


def value_of(module: str, name: str) -> Any:
    """Return the value of a variable of a module, for pickles."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnsupportedError(
            f"A pickle names {module}.{name}, which is not here.",
            note=str(error),
            hint="The process that reads it imports the same modules.",
        ) from error


def _variable_of(value: object) -> tuple[str, str] | None:
    """Return the module and the name of a variable that holds a value, if there is one."""
    for module, imported in list(sys.modules.items()):
        if module != "__mp_main__":
            for name, held in list(getattr(imported, "__dict__", {}).items()):
                if held is value:
                    return module, name
    return None
