"""Random whole programs with boundaries.

Compared are NumPy and SciPy, to rounding; and to the last bit the interpreter, the source run as
plain Python, steps in one nest or each alone, sums written out or built up along lines, and the
steps as they were recorded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st

import ssr
from boundary.errors import AmbiguousGhostError
from ssr.lower import declaration_passes

from ...ssr import plain
from ...ssr import strategies as some
from ...ssr.interpret import interpret_program
from .. import bodies
from ..bodies import NAMES, STEPS, Array, Arrays, Setting, Step, declared, drawn, setting

SIZES = st.fixed_dictionaries({n: st.sampled_from([1, 2, 3, 4, 5, 9]) for n in ("n", "ny", "nx")})


def sized(of: Setting, sizes: Mapping[str, int]) -> dict[str, int]:
    return {n: v for n, v in sizes.items() if n in of.cells.sizes}


def interpreted(
    program: ssr.Program, arrays: Mapping[str, Array], s: float, sizes: Mapping[str, int]
) -> tuple[float, ...]:
    """Run the interpreter on the arrays of a program, in place."""
    fields = {n: a for n, a in arrays.items() if n != "U"}
    fields |= {f"U[{c}]": part for c, part in enumerate(arrays["U"])}
    return interpret_program(program.ir, fields, {"s": s}, sizes)


def recorded(of: Setting, steps: Sequence[Step]) -> ssr.Program:
    """Return a program whose calls are where the body has them, and make all ghosts."""
    with patch.object(declaration_passes, "DECLARATION", declaration_passes.DECLARATION[:-1]):
        return declared(of, steps, ssr.Options(exact=True))


def check_close(found: Mapping[str, Array], wanted: Mapping[str, Array]) -> None:
    scale = 1.0 + max(np.nanmax(abs(a)) for a in wanted.values())
    for name, array in found.items():
        np.testing.assert_allclose(array, wanted[name], rtol=1e-9, atol=1e-11 * scale, err_msg=name)


def check_all(name: str, steps: Sequence[Step], sizes: Mapping[str, int], seed: int) -> None:
    """Compare all ways to run a program."""
    of = setting(name)
    sizes = sized(of, sizes)
    program = declared(of, steps, ssr.Options(exact=True))
    given = [drawn(of, sizes, seed) for _ in range(6)]
    wanted = bodies.body(Arrays(of, sizes), steps)(**given[0], s=0.5)
    with np.errstate(all="ignore"):
        numbers = [
            interpreted(recorded(of, steps), given[1], 0.5, sizes),
            interpreted(program, given[2], 0.5, sizes),
            plain.run(program, *given[3].values(), 0.5),
        ]
        for n, other in enumerate(({"fuse": False}, {"split": False}), start=4):
            changed = program.with_options(replace(program.options, **other))
            numbers.append(plain.run(changed, *given[n].values(), 0.5))
    check_close(given[1], given[0])
    np.testing.assert_allclose(numbers[0], wanted, rtol=1e-9, atol=1e-11)
    for other, found in zip(given[2:], numbers[1:], strict=True):
        np.testing.assert_array_equal(found, numbers[0])
        for field, array in other.items():
            plain.check_same(array, given[1][field])


@some.examples(25)
@example("bricks", [("two fills", False, 0), ("both", True, 1)], {"ny": 2, "nx": 2}, 0)
@example("plane", [("part copy", False, 0), ("read", False, 0)], {"ny": 3, "nx": 1}, 0)
@example("plane", [("nested", True, 1), ("inner", False, 0)], {"ny": 3, "nx": 2}, 0)
@given(st.sampled_from(NAMES), STEPS, SIZES, st.integers(0, 99))
def test_all_ways_agree(name: str, steps: Any, sizes: Any, seed: int) -> None:
    try:
        check_all(name, steps, sizes, seed)
    except AmbiguousGhostError:  # corners of the cubed sphere are read
        assert name == "cubed sphere"
        reject()


# -- compiled ------------------------------------------------------------------------------------

LONG: dict[str, list[Step]] = {
    "bricks": [
        ("late copy", False, 0), ("fluxes", False, 1), ("both", True, 0), ("shared", True, 1),
        ("dot", False, 0), ("call", True, 0), ("other wide", False, 1), ("read", False, 0),
    ],
    "plane": [
        ("apart", False, 0), ("number", False, 0), ("call wide", True, 0), ("near", False, 0),
        ("swap", False, 1), ("vector", False, 0), ("two copies", True, 0), ("nested", False, 1),
    ],
}  # fmt: skip
"""Programs of many steps, which end in fields of all kinds."""


@pytest.mark.parametrize("name", LONG)
def test_compiled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    of, steps = setting(name), LONG[name]
    program = declared(of, steps, ssr.Options(exact=True))
    apart = program.with_options(replace(program.options, fuse=False))
    for ny, nx in (1, 1), (2, 3), (5, 4), (9, 17):
        sizes = sized(of, {"ny": ny, "nx": nx})
        first, second, third, fourth, wanted = (drawn(of, sizes, ny) for _ in range(5))
        numbers = program(*first.values(), 0.5)
        assert numbers == program(*fourth.values(), 0.5)  # in the arrays that the first run left
        for field, array in first.items():
            plain.check_same(array, fourth[field])
        assert numbers == apart(*second.values(), 0.5)
        for field, array in first.items():
            plain.check_same(array, second[field])
        meant = bodies.body(Arrays(of, sizes), steps)(**wanted, s=0.5)
        np.testing.assert_allclose(numbers, meant, rtol=1e-9)
        check_close(first, wanted)
        if ny * nx <= 20:
            assert interpreted(program, third, 0.5, sizes) == numbers
            for field, array in first.items():
                plain.check_same(array, third[field])
