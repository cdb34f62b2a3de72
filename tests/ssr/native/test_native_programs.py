"""Programs called from functions that Numba compiles, from ctypes and from C."""

from __future__ import annotations

import ctypes
import gc
import pickle
import shutil
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

import boundary as bc
import ssr
from ssr.errors import ArgumentError, OverlapError, ReadOnlyError, ShapeError, UnsupportedError
from ssr.runtime.constants import REFUSED

ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
around = bc.fill(plane.grow(1), bc.periodic())
laplace = ssr.stencil(
    plane, plane.grow(1), {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
)
lower = ssr.stencil(plane, plane, {(0, 0): 2.0, (0, -1): -1.0, (-1, 0): -0.5}, outside="zero")


@ssr.program(v=plane, u=plane)
def heat(v: Any, u: Any) -> Any:
    """Periodic, two arrays."""
    v[:] = u + 0.1 * (laplace @ (around @ u))


@ssr.program(dt=ssr.scalar, u=plane, r=ssr.scalar)
def in_place(dt: Any, u: Any, r: Any) -> Any:
    """In place, with scalars before and after an array, and two results."""
    u[:] = u + dt * (laplace @ (around @ u)) - r
    return ssr.sum(u), ssr.max(u)


@ssr.program(x=plane, b=plane)
def sweep(x: Any, b: Any) -> Any:
    """Substitution, and one result."""
    x[:] = lower.solve(b + 0.1 * x)
    return ssr.dot(x, b)


@ssr.program(w=plane.vector(2), u=plane)
def vector(w: Any, u: Any) -> Any:
    """Assign both components of a vector field."""
    w[0] = u + laplace @ (around @ w[1])
    w[1] = 0.5 * w[0]


@numba.njit
def repeated(step: Any, count: int, args: Any) -> Any:
    """Run a program with the same arguments; return its last result."""
    for _ in range(count - 1):
        step(*args)
    return step(*args)


def random(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    return np.random.default_rng(1).random(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("program", [heat, in_place, sweep, vector])
def test_compiled_functions_get_the_bits_of_calls(program: ssr.Program, dtype: Any) -> None:
    made: dict[str, tuple[Any, ...]] = {
        "heat": (random((7, 20), dtype), random((9, 30), dtype)[1:-1, 3:23]),
        "in_place": (0.125, random((7, 20), dtype), 3),
        "sweep": (random((7, 20), dtype), random((7, 20), dtype)),
        "vector": (random((2, 7, 20), dtype), random((7, 20), dtype)),
    }
    args = made[program.ir.name]
    known = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    arrays = {n: a for (n, _), a in zip(program.signature.kinds, args, strict=True)}
    step = program.native(**{n: a for n, a in arrays.items() if isinstance(a, np.ndarray)})
    result = repeated(step, 3, args)
    for _ in range(3):
        expected = program(*known)
    assert result == expected
    assert type(result) is type(expected)
    for found, wanted in zip(args, known, strict=True):
        assert np.array_equal(found, wanted)
    assert step(*args) == program(*known)
    assert np.array_equal(args[0], known[0])


def test_a_program_may_be_a_global_variable_and_take_names() -> None:
    u, v = random((5, 6)), np.zeros((5, 6))
    step, add = heat.native(v, u), in_place.native(u=u)

    @numba.njit
    def run(u: Any, v: Any) -> Any:
        step(v, u=u)
        return add(r=1, u=v, dt=0.5)[0]

    w, x = u.copy(), v.copy()
    heat(x, w)
    assert run(u, v) == in_place(0.5, x, 1)[0]
    assert np.array_equal(v, x)


def test_functions_with_a_program_as_a_constant_are_not_cached(tmp_path: Path) -> None:
    script = """
    import warnings, numba, numpy as np, ssr
    cells = ssr.Space(ssr.size("n"))
    @ssr.program(u=cells)
    def twice(u):
        u[:] = 2 * u
    u = np.ones(3)
    step = twice.native(u)
    @numba.njit(cache=True)
    def constant(u):
        step(u)
    @numba.njit(cache=True)
    def argument(step, u):
        step(u)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        constant(u)
    assert any(isinstance(w.message, numba.core.errors.NumbaWarning) for w in caught), caught
    argument(step, u)
    assert u[0] == 4.0
    print(sum(argument.stats.cache_hits.values()), sum(constant.stats.cache_hits.values()))
    """
    file = tmp_path / "cached.py"
    file.write_text("\n".join(line[4:] for line in script.splitlines()))
    for hits in "0 0", "1 0":
        found = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
        assert found.stdout.strip() == hits


def test_other_layouts_are_refused() -> None:
    u, v = random((5, 6)), np.zeros((5, 6))
    step = heat.native(v, u)
    for other in u[:, :5], u[:4], random((5, 8))[:, :6], random((6, 5)):
        before = v.copy()
        with pytest.raises(ValueError, match="another shape or other strides"):
            repeated(step, 1, (v, other))
        with pytest.raises(ShapeError, match="Array 'u' has shape"):
            step(v, other)
        assert np.array_equal(v, before)


def test_arrays_that_overlap_or_are_not_aligned_are_refused() -> None:
    memory = random((6, 6))
    u, v = memory[:5], memory[1:]
    step = heat.native(np.zeros((5, 6)), u)
    before = memory.copy()
    crooked = np.frombuffer(bytearray(5 * 6 * 8 + 1), np.uint8)[1:].view(np.float64)
    for args in (v, u), (u, u), (v, crooked.reshape(5, 6)):
        with pytest.raises(ValueError, match="overlaps another one in memory, or an array is not"):
            repeated(step, 1, args)
    assert np.array_equal(memory, before)
    with pytest.raises(OverlapError):
        heat.native(u, u)
    with pytest.raises(OverlapError):
        step(u, u)


def test_wrong_arguments_are_found_when_functions_are_compiled() -> None:
    u, v = random((5, 6)), np.zeros((5, 6))
    step, add = heat.native(v, u), in_place.native(u=u)
    fixed = v.copy()
    fixed.flags.writeable = False
    for args, message in (
        ((v, u.astype(np.float32)), "'u' is an array of float32 with 2 axes"),
        ((v, u[0]), "'u' is an array of float64 with 1 axes"),
        ((v, 1.0), "'u' is float64, not an array"),
        ((fixed, u), "'v' is assigned, but it is read-only"),
        ((v,), "missing a required argument: 'u'"),
        ((v, u, u), "too many positional arguments"),
    ):
        with pytest.raises(TypingError, match=message):
            repeated(step, 1, args)
    for scalar in 1j, True:
        with pytest.raises(TypingError, match="The scalar 'dt' is"):
            repeated(add, 1, (scalar, u, 1.0))
    repeated(step, 1, (v, fixed))  # it is only read


def test_arrays_that_do_not_fit_the_program() -> None:
    u = random((5, 6))
    fixed = u.copy()
    fixed.flags.writeable = False
    with pytest.raises(ReadOnlyError):
        heat.native(fixed, u)
    with pytest.raises(ArgumentError, match="misses u"):
        heat.native(u)
    with pytest.raises(ArgumentError, match="not a NumPy array"):
        heat.native(u, u.copy())(u, [1.0])


def test_programs_that_compiled_code_cannot_call(monkeypatch: pytest.MonkeyPatch) -> None:
    u, v = random((5, 6)), np.zeros((5, 6))
    with pytest.raises(UnsupportedError, match="debug build"):
        heat.with_options(ssr.Options(debug=True)).native(v, u)
    on = bc.distribute(plane, bc.simulated_ranks(1), ny=4, nx=4)
    with pytest.raises(UnsupportedError, match="fields on ranks"):
        heat.native(on.zeros(plane), on.zeros(plane))
    with pytest.raises(UnsupportedError, match="cannot be pickled"):
        pickle.dumps(heat.native(v, u))
    monkeypatch.setenv("SSR_COMPILER", "numba")
    with pytest.raises(UnsupportedError, match=r"compiled by numba\.njit"):
        heat.native(v, u)


def test_memory_is_freed_with_the_program_but_not_that_of_constants() -> None:
    u, v = random((5, 6)), np.zeros((5, 6))
    given = heat.native(v, u)
    kept = [weakref.ref(given)]

    def compiled(v: Any, u: Any) -> Any:
        constant = heat.native(v, u)
        kept.append(weakref.ref(constant))
        run = numba.njit(lambda v, u: constant(v, u))
        run(v, u)
        return run.overloads[run.signatures[0]].entry_point  # not the function and its variables

    run = compiled(v, u)
    repeated(given, 2, (v, u))
    array = weakref.ref(u)
    del given, u
    assert [found() is None for found in kept] == [True, False]
    gc.collect()
    assert array() is None
    w = random((5, 6))
    run(v, w)
    heat(x := np.zeros((5, 6)), w)
    assert np.array_equal(v, x)


def test_threads_have_memory_of_their_own() -> None:
    shape = (120, 130)

    @ssr.program(v=plane, u=plane)
    def two(v: Any, u: Any) -> Any:
        w = ssr.materialize(laplace @ (around @ u))
        v[:] = laplace @ (around @ w)
        return ssr.sum(v)

    @numba.njit(nogil=True)
    def run(step: Any, v: Any, u: Any, count: int) -> Any:
        total = 0.0
        for _ in range(count):
            total += step(v, u)
        return total

    fields = [random(shape) + n for n in range(4)]
    step = two.native(np.zeros(shape), fields[0])
    run(step, np.zeros(shape), fields[0], 1)
    with ThreadPoolExecutor(4) as pool:
        sums = [*pool.map(lambda u: run(step, np.zeros(shape), u, 100), fields)]
    for u, found in zip(fields, sums, strict=True):
        expected, one = 0.0, two(np.zeros(shape), u)
        for _ in range(100):
            expected += one
        assert found == expected


def pointers(*arrays: Any) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


def test_ctypes_call_it() -> None:
    u = random((5, 6))
    step, w = in_place.native(u=u), u.copy()
    kind = ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)
    scalars, results = np.array([0.5, 1.0]), np.zeros(2)
    code = kind(step.address)(step.handle, pointers(u), scalars.ctypes.data, results.ctypes.data)
    assert code == 0
    assert tuple(results) == in_place(0.5, w, 1.0)
    assert np.array_equal(u, w)
    two = heat.native(np.zeros((5, 6)), u)
    assert kind(two.address)(two.handle, pointers(u, u), None, None) == REFUSED


C = """
#include <stdint.h>
typedef int64_t step(void *handle, void *const *arrays, const double *scalars, double *results);

int64_t run(step *step, void *handle, void *u, void *v, int64_t count)
{
    for (int64_t t = 0; t < count; t++) {
        void *arrays[2] = {t % 2 ? u : v, t % 2 ? v : u};
        int64_t status = step(handle, arrays, 0, 0);
        if (status) return status;
    }
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_calls_it(tmp_path: Path) -> None:
    (tmp_path / "run.c").write_text(C)
    command = ["cc", "-shared", "-fPIC", "-o", tmp_path / "run.so", tmp_path / "run.c"]
    subprocess.run(command, check=True)
    run = ctypes.PyDLL(str(tmp_path / "run.so")).run
    run.argtypes = [*[ctypes.c_void_p] * 4, ctypes.c_int64]
    run.restype = ctypes.c_int64
    u, v = random((5, 6)), np.zeros((5, 6))
    w, x = u.copy(), v.copy()
    step = heat.native(v, u)
    assert run(step.address, step.handle, u.ctypes.data, v.ctypes.data, 4) == 0
    for _ in range(2):
        heat(x, w)
        heat(w, x)
    assert np.array_equal(u, w)
    assert np.array_equal(v, x)
