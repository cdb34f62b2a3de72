"""Random whole programs against NumPy and SciPy, and against the interpreter to the last bit.

The same body runs on symbols and on arrays: `Symbols` and `Arrays` are the two sets of functions.
"""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.compiler.pipeline import lower

from . import memory, plain
from . import strategies as some
from .interpret import interpret_program

Array = np.ndarray[Any, Any]
cells = ssr.Space(*ssr.sizes("ny nx"))
faces = cells.faces(1)
V = cells.vector(2)

CROSS = ssr.stencil(
    cells, cells, {(0, 0): 0.5, (0, 1): 0.25, (0, -1): 0.125, (1, 0): -0.5, (-1, 0): 0.25},
    outside="zero",
)  # fmt: skip
SKEW = ssr.stencil(cells, cells, {(0, 0): 1.0, (-2, 1): 0.5}, outside="zero")


@ssr.matrix(rows=faces, cols=cells)
def slope(j: Any, i: Any) -> Any:
    for shift, weight in ((-1, -1.0), (0, 1.0)):
        if (j, i + shift) in cells:
            yield (j, i + shift), weight


across = -slope.T


@ssr.matrix(rows=V, cols=V)
def mixed(j: Any, i: Any) -> Any:
    yield (j, i), [[0.5, 0.25], [0.0, 1.0]]
    if j > 0:
        yield (j - 1, i), [[0.0, 0.125], [0.5, 0.0]]


class Symbols:
    """What a body computes with in a program."""

    def __init__(self) -> None:
        self.where, self.sqrt, self.minimum, self.vector = (
            ssr.where, ssr.sqrt, ssr.minimum, ssr.vector
        )  # fmt: skip
        self.dot, self.total, self.largest = ssr.dot, ssr.sum, ssr.max
        self.smooth = ssr.program(u=cells, v=cells)(smoothing(self))

    def __call__(self, matrix: Any) -> Any:
        return matrix


class Arrays:
    """The same for NumPy arrays."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.where, self.sqrt, self.minimum = np.where, np.sqrt, np.minimum
        self.dot, self.total, self.largest = np.vdot, np.sum, np.max
        self.sizes = sizes
        self.smooth = smoothing(self)

    def vector(self, *parts: Any) -> Array:
        return np.stack(parts)

    def __call__(self, matrix: Any) -> Any:
        return Dense(matrix.bind(**self.sizes).to_scipy(), (self.sizes["ny"], -1))


class Dense:
    """A SciPy matrix that acts on arrays of the shape of a grid."""

    def __init__(self, csr: Any, shape: tuple[int, int]) -> None:
        self.csr, self.shape = csr, shape

    def __matmul__(self, u: Array) -> Array:
        result = self.csr @ u.ravel()
        return result.reshape((*u.shape[: u.ndim - 2], *self.shape))


def smoothing(f: Any) -> Any:
    def smooth(u: Any, v: Any) -> None:
        for _ in range(2):
            u[:] = u + 0.25 * (f(CROSS) @ v - u)
            v[:] = f.minimum(u, v)

    return smooth


def body(f: Any, steps: list[Any]) -> Any:
    """Return a body over fields x and y, a vector field U and a scalar s."""

    def run(x: Any, y: Any, U: Any, s: Any) -> Any:
        found = []
        for kind, first in steps:
            u, v = (x, y) if first else (y, x)
            if kind == "stencil":
                v[:] = f(SKEW) @ (f(CROSS) @ (u * u)) - s * v
            elif kind == "mask":
                v[:] = f.where((u > v) & (v < s), f(CROSS) @ u, v * 0.5)
            elif kind == "reduce":
                number = f.dot(u, f(CROSS) @ v)
                found.append(number)
                v[:] = v / (1.0 + number * number) + u
            elif kind == "number":
                found.append(f.largest(u * v) + s)
                found.append(f.total(u - v))
            elif kind == "vector":
                U[:] = f.vector(U[1] - u, f(CROSS) @ U[0] + s)
            elif kind == "component":
                U[0] = U[0] / f.sqrt(1.0 + U[1] * U[1])
                v[:] = v + U[1]
            elif kind == "blocks":
                U[:] = f(mixed) @ U
            elif kind == "faces":
                flux = f(slope) @ u
                v[:] = v + 0.125 * (f(across) @ (flux * abs(flux)))
            else:
                f.smooth(u, v)
        x[:] = x + y
        return tuple(found)

    return run


KINDS = (
    "stencil", "mask", "reduce", "number", "vector", "component", "blocks", "faces", "call",
)  # fmt: skip
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.booleans()), min_size=1, max_size=5)
SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 7))


def drawn(seed: int, shape: tuple[int, int]) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {
        "x": memory.array(rng, shape, "float64"),
        "y": memory.array(rng, shape, "float64"),
        "U": np.stack([memory.array(rng, shape, "float64") for _ in range(2)]),
    }


def declared(steps: list[Any], options: ssr.Options) -> ssr.Program:
    made = ssr.program(x=cells, y=cells, U=V, s=ssr.scalar, options=options)
    return made(body(Symbols(), steps))


@some.examples(40)
@given(STEPS, memory.seeds, SHAPES)
def test_against_numpy(steps: list[Any], seed: int, shape: tuple[int, int]) -> None:
    given, meant = drawn(seed, shape), drawn(seed, shape)
    found = plain.run(declared(steps, ssr.Options()), *given.values(), 0.5)
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    wanted = body(Arrays(sizes), steps)(**meant, s=0.5)
    scale = 1.0 + max(abs(a).max() for a in meant.values()) + max(map(abs, wanted), default=0.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11 * scale)
    for name, array in given.items():
        np.testing.assert_allclose(array, meant[name], rtol=1e-9, atol=1e-11 * scale)


@some.examples(40)
@given(STEPS, memory.seeds, SHAPES)
def test_against_the_interpreter(steps: list[Any], seed: int, shape: tuple[int, int]) -> None:
    program = declared(steps, ssr.Options(exact=True))
    given, meant = drawn(seed, shape), drawn(seed, shape)
    fields = {"x": meant["x"], "y": meant["y"], "U[0]": meant["U"][0], "U[1]": meant["U"][1]}
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    wanted = interpret_program(program.ir, fields, {"s": 0.5}, sizes)
    assert plain.run(program, *given.values(), 0.5) == wanted
    for name, array in given.items():
        plain.check_same(array, meant[name])


def test_the_bodies_use_what_the_compiler_does() -> None:
    """Shared nests, rotations and reductions occur in these programs."""
    program = declared([(kind, True) for kind in KINDS], ssr.Options())
    nests = lower(program.ir, program.options, "float64", "title").nests
    assert any(nest.fused and nest.folds for nest in nests)
    assert any(buffer.rows > 1 for nest in nests for buffer in nest.buffers)
