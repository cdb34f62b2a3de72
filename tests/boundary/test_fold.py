"""Ghosts folded into what reads them: the same bits as with ghosts that are stored, everywhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, reject
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.errors import AmbiguousGhostError
from boundary.ghosts import Ghosts
from boundary.pieces import evaluate
from ssr.interpret import interpret_program
from ssr.pipeline import apart, direct

from ..ssr import plain
from ..ssr import strategies as some

Array = np.ndarray[Any, Any]

NUMBERS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 1e-320, 3e38, 0.1]
"""Numbers that show what is done to them."""

SIZES = [1, 2, 3, 4, 7]


def gone(program: ssr.Program) -> bool:
    """Whether a program has no calls left."""
    short, _ = direct(program.ir, program.options)
    return not any(
        hasattr(step, "external") for step in apart(short, program.options, "float64").program.steps
    )


def notes(program: ssr.Program) -> str:
    """Return what `explain` says of folding."""
    text = program.explain("passes")
    return text.partition("-- fold --\n")[2].partition("\n-- nest")[0]


def fields(
    program: ssr.Program, sizes: Mapping[str, int], seed: int, dtype: Any
) -> dict[str, Array]:
    """Return arrays of numbers, some of them special, for all fields of a program."""
    rng = np.random.default_rng(seed)
    found = {}
    for f in program.ir.fields:
        shape = tuple(n.evaluate(sizes) for n in f.shape)
        usual = rng.uniform(-2, 2, shape)
        special = rng.choice(NUMBERS, shape)
        found[f.name] = np.where(rng.random(shape) < 0.2 * (seed % 3), special, usual).astype(dtype)
    return found


def as_stored(
    ghosts: Ghosts, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
) -> None:
    """Make ghosts as the pieces say, each with the bits it is stored with."""
    lows = [whole.lower for _, whole in ghosts.fields]
    rolled = [np.roll(a, low, range(a.ndim)) for a, low in zip(arrays, lows, strict=True)]
    evaluate([*ghosts.parts(sizes), *ghosts.standing(sizes)], rolled, scalars)
    for a, made, low in zip(arrays, rolled, lows, strict=True):
        a[...] = np.roll(made, tuple(-x for x in low), range(a.ndim))


def check(
    program: ssr.Program, sizes: Mapping[str, int], seed: int, dtype: Any = np.float64
) -> None:
    """Compare a program with itself unfolded; where all is kept as written, with its meaning."""
    scalars = {name: dtype(0.3 + n) for n, name in enumerate(program.ir.scalars)}
    results = []
    for fold in True, False:
        arrays = fields(program, sizes, seed, dtype)
        run = program.with_options(replace(program.options, fold=fold))
        with np.errstate(all="ignore"):
            numbers = plain.run(run, *arrays.values(), *scalars.values())
        results.append((arrays, numbers))
    if program.options.exact:
        arrays = fields(program, sizes, seed, dtype)
        with patch.object(Ghosts, "reference", as_stored):
            numbers = interpret_program(program.ir, arrays, scalars, sizes, dtype)
        results.append((arrays, numbers if len(numbers) > 1 else numbers[0] if numbers else None))
    (first, number), *others = results
    for arrays, other in others:
        np.testing.assert_array_equal(number, other)
        for name, array in arrays.items():
            plain.check_same(first[name], array)


# -- random rules, matrices and bodies -----------------------------------------------------------

SIDES: Mapping[str, Callable[[int, Any], bc.Rule]] = {
    "mirror": lambda axis, end: bc.symmetric(axis, end),
    "odd": lambda axis, end: bc.symmetric(axis, end, sign=-1),
    "scaled": lambda axis, end: bc.symmetric(axis, end, sign=-0.3),
    "zero": lambda axis, end: bc.zero(axis, end),
    "constant": lambda axis, end: bc.constant(1.5, axis, end),
    "dirichlet": lambda axis, end: bc.dirichlet(0.1, axis, end),
    "tide": lambda axis, end: bc.dirichlet(bc.parameter("p"), axis, end),
    "neumann": lambda axis, end: bc.neumann(0.7, axis, end),
    "robin": lambda axis, end: bc.robin(1.0, 0.3, bc.parameter("p"), axis, end),
}


@st.composite
def programs(draw: Any) -> tuple[ssr.Program, dict[str, int]]:
    dims = draw(st.integers(1, 3))
    names = ["nz", "ny", "nx"][-dims:]
    sizes = {name: draw(st.sampled_from(SIZES if dims < 3 else SIZES[:4])) for name in names}
    extents = [
        ssr.size(name) if draw(st.integers(0, 3)) else value for name, value in sizes.items()
    ]
    cells = ssr.Space(*extents)
    width = draw(st.integers(1, 2 if dims < 3 else 1))
    wide = cells.grow(width)
    rules: list[bc.Rule] = []
    for axis in range(dims):
        kinds = draw(st.sampled_from(["periodic", *SIDES]))
        if kinds == "periodic":
            rules.append(bc.periodic(axis))
            continue
        other = draw(st.sampled_from([kinds, *SIDES]))
        rules += [SIDES[kinds](axis, "low"), SIDES[other](axis, "high")]
    fill = bc.fill(wide, *rules)
    offsets = list(product(range(-width, width + 1), repeat=dims))
    if draw(st.booleans()):  # no corners
        offsets = [o for o in offsets if sum(map(bool, o)) < 2]
    matrices = []
    for _ in range(2):
        chosen = draw(st.lists(st.sampled_from(offsets), min_size=1, max_size=9, unique=True))
        weights = [1.0, 1.0, -1.0, 0.5, -0.1]
        matrices.append(
            ssr.stencil(cells, wide, {o: draw(st.sampled_from(weights)) for o in chosen})
        )
    whole = draw(st.sampled_from([False, True]))
    if whole and dims > 1:  # sums that are shared between rows
        matrices[0] = ssr.stencil(cells, wide, dict.fromkeys(offsets, 0.25))
    kind = draw(
        st.sampled_from(["product", "two", "values", "weights", "numbers", "turns", "copy"])
    )
    made = _program(cells, fill, matrices, kind, exact=draw(st.booleans()))
    return made, {n: v for n, v in sizes.items() if n in cells.sizes}


def _program(
    cells: Any, fill: Any, matrices: Sequence[Any], kind: str, *, exact: bool
) -> ssr.Program:
    A, B = matrices

    def body(u: Any, y: Any, z: Any, p: Any) -> Any:
        own = fill.bind(p=p) if fill.parameters else fill
        if kind == "turns":
            y[:] = u + A @ (own @ u)
            z[:] = y - B @ (own @ y)
            return None
        t = own @ u
        match kind:
            case "product":
                y[:] = A @ t
            case "two":
                y[:] = z - A @ t
                z[:] = y * (B @ t)
            case "values":
                y[:] = ssr.where((A @ t) > z, t[cells] * t[cells], -abs(B @ t))
            case "weights":
                y[:] = (A @ t) * t[cells] + z * (B @ t) / 3.0
            case "numbers":
                return ssr.max(B @ t), ssr.sum(A @ t)
            case "copy":
                z[:] = u
                y[:] = A @ (own @ z) + z
        return None

    kinds = {"u": cells, "y": cells, "z": cells, "p": ssr.scalar}
    return ssr.program(options=ssr.Options(exact=exact), **kinds)(body)


@some.examples(60)
@given(st.data(), st.integers(0, 99), st.sampled_from([np.float64, np.float32]))
def test_random_programs(data: Any, seed: int, dtype: Any) -> None:
    try:
        program, sizes = data.draw(programs())
    except AmbiguousGhostError:
        reject()
    check(program, sizes, seed, dtype)
