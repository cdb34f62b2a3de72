"""The named operations of kernel IR, and the types of their results.

Each operation has an implementation in Python, in ``ssr.runtime``, and a translation to LLVM IR, in
``ssr.native``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ..elementary import FUNCTIONS
from . import ir
from .types import (
    BYTES,
    DOUBLE,
    INTEGER,
    TRUTH,
    Opaque,
    Type,
    TypeMismatch,
    Vector,
    common,
    component,
)

Rule: TypeAlias = Callable[[tuple[Type, ...]], Type]
"""The type of the result of an operation, given the types of its arguments."""

BUNDLE = 64
"""The bytes of a bundle: eight numbers in double precision."""


def _nothing(given: tuple[Type, ...]) -> Type:
    return None


def _always(found: Type) -> Rule:
    return lambda given: found


def _floating(given: tuple[Type, ...]) -> Type:
    """Return the type of a function of numbers, which integers have not."""
    found = common(given)
    return DOUBLE if found == INTEGER else found


def _integer(given: tuple[Type, ...]) -> Type:
    if common(given) != INTEGER:
        raise TypeMismatch(f"An operation on integers is given values of the types {given}.")
    return INTEGER


def _array(given: tuple[Type, ...]) -> ir.Array:
    found = given[0]
    if not isinstance(found, ir.Array):
        raise TypeMismatch(f"An operation on an array is given a value of the type {found}.")
    return found


def _bundle(given: tuple[Type, ...]) -> Type:
    element = _array(given).element
    return Vector(element, BUNDLE // BYTES[element])


LANES = 2, 4, 8, 16
"""The possible numbers of lanes of vectors of rows."""


def _of_lanes(name: str, rule: Callable[[tuple[Type, ...], int], Type]) -> dict[str, Rule]:
    """Return the operations that create vectors, whose names end with the number of lanes."""

    def of(lanes: int) -> Rule:
        return lambda given: rule(given, lanes)

    return {f"{name}{lanes}": of(lanes) for lanes in LANES}


def _shuffled(given: tuple[Type, ...]) -> Type:
    vector = common(given[:2])
    return Vector(vector.element, len(given) - 2)


MODULES: Mapping[str, Mapping[str, Rule]] = {
    "bundles": {
        "take": _bundle,
        **dict.fromkeys(("put", "gather", "scatter"), _nothing),
    },
    "check_layout": {"refused": _always(TRUTH)},
    "checked": {"require": _nothing},
    "intrinsics": {
        "address": _always(INTEGER),
        "apart": _always(TRUTH),
        "component": lambda given: component(_array(given)),
        **dict.fromkeys(("fma", "minimum", "maximum", "sign"), common),
        **{name: _floating for name, function in FUNCTIONS.items() if function.printed == name},
        "prefetch": _nothing,
    },
    "parts": {"between": _array, "rows": lambda given: replace(_array(given), axes=2)},
    "periods": {
        **dict.fromkeys(("repeated", "take_wanted"), _bundle),
        "take_rows": lambda given: given[2],
        "of_two": lambda given: given[0],
        "fma_present": common,
        "put_rows": _nothing,
    },
    "polling": {"stopwatch": _always(Opaque("stopwatch")), "poll": _nothing},
    "steps": {"follow": _always(INTEGER), **dict.fromkeys(("copy", "copy_column"), _nothing)},
    "sums": {
        **dict.fromkeys(("accumulate", "accumulate_squares", "extreme"), _nothing),
        **dict.fromkeys(("found", "root", "total"), _always(DOUBLE)),
    },
    "vectors": {
        **_of_lanes("vector_load", lambda given, lanes: Vector(_array(given).element, lanes)),
        **_of_lanes("spread", lambda given, lanes: Vector(common(given).element, lanes)),
        **_of_lanes("rows_between", lambda given, lanes: Vector("b1", lanes)),
        "shuffle": _shuffled,
        "blend": lambda given: common(given[1:]),
        "complement": common,
        **dict.fromkeys(("vector_store", "request"), _nothing),
        **dict.fromkeys(("elements", "line_steps"), _always(INTEGER)),
        "seldom": common,
        "scratch_numbers": lambda given: ir.Array(_array(given).element),
        "scratch_truths": _always(ir.Array("b1")),
    },
}
"""The operations that modules of ``ssr.runtime`` define in Python."""

RULES: Mapping[str, Rule] = {
    **{name: rule for rules in MODULES.values() for name, rule in rules.items()},
    **dict.fromkeys(("min", "max"), _integer),
    "abs": common,
    **dict.fromkeys(
        ("np.power", *(function.printed for function in FUNCTIONS.values())), _floating
    ),
    "np.float64": _always(DOUBLE),
}


def result(function: str, given: tuple[Type, ...]) -> Type:
    """Return the type of the result of an operation.

    >>> result("fma", (ir.Scalar("f4"),) * 3), result("take", (ir.Array("f4"), INTEGER))
    (Scalar(element='f4'), Vector(element='f4', lanes=16))
    """
    if function not in RULES:
        raise TypeMismatch(f"There is no operation {function}.")
    return RULES[function](given)
