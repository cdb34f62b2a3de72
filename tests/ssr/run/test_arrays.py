"""Arrays of every form, in every order, by every path: the right values, or one of our errors."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from ssr import errors
from ssr.run import prepare

Array = np.ndarray[Any, Any]

n, m = ssr.sizes("n m")
plane = ssr.Space(n, m)
SHAPE = 3, 4


# -- arrays ----------------------------------------------------------------------------------------


def values() -> Array:
    """Return the values that every array of the right shape holds: small integers."""
    return np.arange(1.0, 13.0).reshape(SHAPE)


def moved(count: int) -> Array:
    """Return an array whose memory begins some bytes after an aligned address."""
    memory = np.zeros(12 * 8 + 16, np.uint8)
    made = memory[count : count + 96].view(np.float64).reshape(SHAPE)
    made[...] = values()
    return made


def read_only(a: Array) -> Array:
    a.flags.writeable = False
    return a


def strided(a: Array) -> Array:
    """Return an array with every second column of a wider one."""
    made = np.zeros((3, 8))
    made[:, ::2] = a
    return made[:, ::2]


def padded(a: Array) -> Array:
    """Return an array whose rows are apart in memory."""
    made = np.zeros((6, 7))
    made[::2, 1:5] = a
    return made[::2, 1:5]


def backwards(a: Array) -> Array:
    return a[::-1].copy()[::-1]


class Own(np.ndarray[Any, Any]):
    """An array that says so itself."""


def memory_map(a: Array) -> Array:
    """Return an array that is mapped from a file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = np.memmap(Path(folder, "a"), np.float64, "w+", shape=SHAPE)
    made[...] = a
    return made


@dataclass(frozen=True)
class Case:
    """How an array is made, and the errors where it is read and where it is written, if any."""

    make: Callable[[], Any]
    read: type[errors.Error] | None = None
    written: type[errors.Error] | None = None

    def error(self, is_written: bool) -> type[errors.Error] | None:
        return self.written if is_written else self.read


def refused(make: Callable[[], Any], *kinds: type[errors.Error]) -> Case:
    return Case(make, kinds[0], kinds[-1])


D, S, C, A = errors.DtypeError, errors.ShapeError, errors.ContiguityError, errors.ArgumentError
R, O = errors.ReadOnlyError, errors.OverlapError  # noqa: E741

OTHER_DTYPES = (
    "i8", "i4", "u1", "?", "f2", "g", "c8", "c16", "O", "U8", "S8", "m8[s]", "M8[s]", "f8,f8",
    ">f8", ">f4", ">i8",
)  # fmt: skip


def of_dtype(dtype: str) -> Case:
    def make() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.zeros(SHAPE, dtype) if "," in dtype else values().astype("i8").astype(dtype)

    return refused(make, D)


CASES: dict[str, Case] = {
    "plain": Case(values),
    "padded": Case(lambda: padded(values())),
    "memory map": Case(lambda: memory_map(values())),
    "subclass": Case(lambda: values().view(Own)),
    "matrix": Case(lambda: values().view(np.matrix)),
    "native order by name": Case(lambda: values().astype(np.dtype("f8").newbyteorder("="))),
    "dtype with metadata": Case(lambda: values().astype(np.dtype("f8", metadata={"a": 1}))),
    "read-only": Case(lambda: read_only(values()), written=R),
    "read-only memory": Case(
        lambda: np.frombuffer(values().tobytes()).reshape(SHAPE), written=R
    ),
    "rows broadcast": Case(lambda: np.broadcast_to(values()[:1], SHAPE), C, C),
    "columns broadcast": refused(lambda: np.broadcast_to(values()[:, :1], SHAPE), C),
    "Fortran order": refused(lambda: np.asfortranarray(values()), C),
    "every second column": refused(lambda: strided(values()), C),
    "negative stride": refused(lambda: backwards(values()), C),
    "both backwards": refused(lambda: values()[::-1, ::-1], C),
    "masked": refused(lambda: np.ma.masked_array(values()), A),
    "list": refused(lambda: values().tolist(), A),
    "None": refused(lambda: None, A),
    "number": refused(lambda: 1.0, A),
    "NumPy number": refused(lambda: np.float64(1.0), A),
    "memoryview": refused(lambda: memoryview(values()), A),
    "text": refused(lambda: "a", A),
    "no axes": refused(lambda: np.array(1.0), S),
    "one axis": refused(lambda: values()[0], S),
    "three axes": refused(lambda: values()[None], S),
    "empty": refused(lambda: np.zeros((3, 0)), S),
    "other length": refused(lambda: np.ones((3, 5)), S),
    "one point": refused(lambda: np.ones((1, 1)), S),
    **{f"{bytes_} bytes astray": refused(lambda b=bytes_: moved(b), C) for bytes_ in range(1, 8)},
    "eight bytes further": Case(lambda: moved(8)),
    "misaligned and big-endian": refused(
        lambda: moved(4).view(">f8"), D
    ),
    "read-only, big-endian": refused(lambda: read_only(values().astype(">f8")), D),
    "read-only, misaligned": refused(lambda: read_only(moved(4)), C),
    "other precision": refused(lambda: values().astype("f4"), D),
    **{f"dtype {dtype}": of_dtype(dtype) for dtype in OTHER_DTYPES},
}  # fmt: skip


# -- paths -----------------------------------------------------------------------------------------


def double_body(y: Any, x: Any) -> None:
    y[:] = 2.0 * x


double = ssr.program(y=plane, x=plane)(double_body)
checked = ssr.program(y=plane, x=plane, options=ssr.Options(debug=True))(double_body)
twice = ssr.stencil(plane, plane, {(0, 0): 2.0}, outside="zero")
half = ssr.stencil(plane, plane, {(0, 0): 0.5}, outside="zero")


@ssr.program(y=plane, x=plane, a=ssr.scalar)
def scaled(y: Any, x: Any, a: Any) -> None:
    y[:] = a * x


@ssr.matrix(rows=plane, cols=plane, c=plane)
def weights(j: Any, i: Any, *, c: Any) -> Iterator[Any]:
    yield (j, i), c[j, i]


PATHS: dict[str, Callable[[Any, Any], Any]] = {
    "call": lambda y, x: double(y, x),
    "call by name": lambda y, x: double(x=x, y=y),
    "call with a number": lambda y, x: scaled(y, x, 2.0),
    "call with an integer": lambda y, x: scaled(y, x, 2),
    "boxes": lambda y, x: double(y, x, boxes=[((0, 3), (0, 2)), ((0, 3), (2, 4))]),
    "bound": lambda y, x: double.bind(y, x)(),
    "bound, repeated": lambda y, x: double.bind(y, x).repeat([()] * 2),
    "sequence": lambda y, x: ssr.sequence(double.bind(y, x), scaled.bind(y, x, 2.0))(),
    "debug": lambda y, x: checked(y, x),
    "plain Python": lambda y, x: double.run_plain(y, x),
    "product": lambda y, x: twice.apply(x, out=y),
    "solution": lambda y, x: half.solve(x, out=y),
}


def tried(path: str, y: Any, x: Any) -> type[BaseException] | None:
    """Return the type of the error of a call, which has changed nothing then."""
    before = np.copy(y) if type(y) is np.ndarray and y.dtype.kind == "f" else None
    try:
        PATHS[path](y, x)
    except errors.Error as error:
        assert before is None or np.array_equal(y, before)
        return type(error)
    assert np.array_equal(np.asarray(y), 2.0 * values())
    return None


def check(path: str, name: str, is_written: bool) -> None:
    case = CASES[name]
    made = case.make()
    y, x = (made, values()) if is_written else (np.zeros(SHAPE), made)
    if is_written and path in ("product", "solution") and made is None:
        return  # no array is given
    expected = case.error(is_written)
    found = tried(path, y, x)
    assert found is expected, (path, name, is_written)


@pytest.mark.parametrize("path", PATHS)
def test_every_form_on_every_path(path: str) -> None:
    check(path, "plain", False)
    for name, is_written in product(CASES, (False, True)):
        check(path, name, is_written)
    check(path, "plain", False)


@pytest.mark.parametrize("is_written", [False, True])
def test_no_form_is_remembered_for_another(is_written: bool) -> None:
    """In every order of two."""
    for pair in product(CASES, CASES):
        for name in pair:
            check("call", name, is_written)


def test_forms_and_paths_in_a_random_order() -> None:
    rng = random.Random(7)
    for _ in range(2000):
        check(rng.choice([*PATHS]), rng.choice([*CASES]), rng.random() < 0.5)


@pytest.mark.parametrize("path", PATHS)
def test_kernels_that_compare_nothing_are_guarded(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in the debug build, and those that Numba compiles."""
    monkeypatch.setattr(prepare, "is_compiled", lambda run: False)
    for program in (double, scaled, twice.program("apply"), half.program("solve")):
        monkeypatch.setattr(program._launcher, "launches", {})
        monkeypatch.setattr(program._launcher, "last", None)
    for name, is_written in product(CASES, (False, True)):
        check(path, name, is_written)
        check(path, "plain", is_written)


def outcome(run: Callable[[Any], Any], x: Any) -> Any:
    """Return what a function makes of an array, or the type of its error."""
    try:
        return run(x)
    except errors.Error as error:
        return type(error)


def test_products_and_solutions_that_make_their_result() -> None:
    """They take sizes and precision from the operand; more axes are right sides of their own."""
    right = {
        "other length": 2.0 * np.ones((3, 5)),
        "one point": 2.0 * np.ones((1, 1)),
        "other precision": 2.0 * values(),
    }
    for name, case in CASES.items():
        if not isinstance(case.make(), np.ndarray):
            continue  # operators of Python and NumPy decide what these mean
        for run in twice.__matmul__, half.solve:
            found = outcome(run, case.make())
            several = name == "three axes" and run == half.solve
            expected = right.get(name, 2.0 * values()[None] if several else 2.0 * values())
            if case.read is None or name in right or several:
                assert np.array_equal(found, expected), name
            else:
                assert found is case.read, name
    assert outcome(twice.__matmul__, np.zeros((100, 100), object)) is D


def test_right_sides_of_several_components() -> None:
    b = np.stack([values(), 3.0 * values()])
    out = np.zeros_like(b)
    assert half.solve(b, out=out) is out
    assert np.array_equal(out, 2.0 * b)
    memory = np.zeros((3, *SHAPE))
    for wrong, error in (
        (out[:1], S), (out[0], S), (out.tolist(), A), (read_only(out.copy()), R), (b, O),
        (memory[1:], O), (out.astype(">f8"), D), (out[:, ::-1], C),
    ):  # fmt: skip
        given = memory[:2] if wrong.__class__ is np.ndarray and wrong.base is memory else b
        with pytest.raises(errors.Error) as caught:
            half.solve(given, out=wrong)
        assert type(caught.value) is error
    assert np.array_equal(b, np.stack([values(), 3.0 * values()]))


# -- arrays in other places ------------------------------------------------------------------------


def test_vector_fields() -> None:
    for debug in False, True:

        @ssr.program(w=plane.vector(2), x=plane, options=ssr.Options(debug=debug))
        def both(w: Any, x: Any) -> None:
            w[0] = 2.0 * x
            w[1] = 3.0 * w[0]

        def good(run: Any = both) -> None:
            w = np.zeros((2, *SHAPE))
            run(w, values())
            assert np.array_equal(w[1], 6.0 * values())

        good()
        whole = np.zeros((2, *SHAPE))
        for wrong, error in (
            (whole.astype(">f8"), D), (whole.astype("f4"), D), (whole.astype("i8"), D),
            (whole[:, :, ::-1], C), (whole[:, ::-1], C), (np.asfortranarray(whole), C),
            (read_only(whole.copy()), R), (whole[:1], S), (np.zeros((3, *SHAPE)), S),
            (whole[0], S), (np.broadcast_to(np.zeros(SHAPE), whole.shape), R),
            (np.ma.masked_array(whole), A), (whole.tolist(), A), (None, A),
            (np.frombuffer(bytearray(8 * 24 + 4), "f8", 24, 4).reshape(whole.shape), C),
        ):  # fmt: skip
            for form in range(2):
                with pytest.raises(errors.Error) as caught:
                    (both if form else both.bind)(wrong, values())
                assert type(caught.value) is error, (wrong, caught.value)
            good()
        backward = np.zeros((2, *SHAPE))[::-1]
        both(backward, values())
        assert np.array_equal(backward[1], 6.0 * values())


def test_data_of_matrices() -> None:
    for name, case in CASES.items():
        found = outcome(lambda c: weights.bind(c=c) @ values(), case.make())
        if case.read is None:
            assert np.array_equal(found, values() ** 2)
        else:
            assert isinstance(found, type), name


def test_arrays_that_share_memory() -> None:
    memory = np.zeros(64)
    memory[:12] = memory[26:38] = values().ravel()

    def at(place: int) -> Array:
        return memory[place : place + 12].reshape(SHAPE)

    for run in (double, lambda y, x: double.bind(y, x)(), lambda y, x: twice.apply(x, out=y)):
        for y, x in ((0, 0), (1, 0), (11, 0), (0, 11), (4, 0)):
            before = memory.copy()
            with pytest.raises(errors.OverlapError):
                run(at(y), at(x))
            assert np.array_equal(memory, before)
        run(at(12), at(0))  # next to each other
        assert np.array_equal(at(12), 2.0 * values())
    both = np.zeros((3, 8))
    both[:, :4] = values()
    double(both[:, 4:], both[:, :4])
    assert np.array_equal(both[:, 4:], 2.0 * values())
    with pytest.raises(errors.OverlapError):
        double(both[:, 3:7], both[:, :4])


def test_arrays_of_one_row_or_column() -> None:
    """Strides along axes of length one mean nothing, whatever they are."""
    from numpy.lib.stride_tricks import as_strided

    for shape, strides in (
        ((1, 4), (-7, 8)), ((1, 4), (0, 8)), ((3, 1), (8, 3)), ((3, 1), (16, -5)), ((1, 1), (1, 1)),
    ):  # fmt: skip
        memory = np.arange(1.0, 13.0)
        x = as_strided(memory, shape, strides)
        y = np.zeros(shape)
        double(y, x)
        assert np.array_equal(y, 2.0 * x)
        wide = as_strided(np.zeros(12), shape, strides)
        double(wide, np.ones(shape))
        assert (wide == 2.0).all()


def test_arrays_that_change_after_they_were_bound() -> None:
    def swap(a: Array) -> None:
        a.dtype = np.dtype(">f8")

    def protect(a: Array) -> None:
        a.flags.writeable = False

    def reshape(a: Array) -> None:
        a.resize((4, 3), refcheck=False)

    def flatten(a: Array) -> None:
        a.resize((12,), refcheck=False)

    for change in (swap, protect, reshape, flatten):
        y, x = np.zeros(SHAPE), values()
        run, later = double.bind(y, x), double.bind(x, y)
        run()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            change(y)
        before = y.tobytes()
        with pytest.raises(errors.ShapeError, match="than when it was bound"):
            run()
        assert y.tobytes() == before
        if change is protect:  # it is only read there
            later()
            assert np.array_equal(x, 4.0 * values())
        else:
            with pytest.raises(errors.ShapeError, match="than when it was bound"):
                later()


def test_read_only_inputs_need_no_memory_of_their_own() -> None:
    @ssr.program(y=plane, x=plane)
    def copy(y: Any, x: Any) -> None:
        y[:] = x

    for x in (values(), read_only(values()), values()[:], np.frombuffer(values().tobytes())):
        copy(np.zeros(SHAPE), x.reshape(SHAPE))
    assert len(copy._launcher.launches) == 1
