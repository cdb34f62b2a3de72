"""Mistakes with fields of several ranks: each is told when a program is bound, or before."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr import errors

cells = ssr.Space(*ssr.sizes("ny nx"))
four = ssr.Space(4)


@ssr.program(x=cells, y=cells, s=ssr.scalar)
def axpy(x: Any, y: Any, s: Any) -> None:
    y[:] = s * x + y


def spread(ranks: int = 2, **more: Any) -> bc.Distribution:
    return bc.distribute(cells, bc.simulated_ranks(ranks), ny=4, nx=4, **more)


on = spread()
x, y = on.zeros(cells), on.zeros(cells)
line = bc.distribute(four, bc.simulated_ranks(2))
grid = bc.Grid(2 * [(3, 3)], links=bc.topologies.bricks(1, 2))
wall = bc.dirichlet(bc.parameter("g"), axis=0, side="low")
inflow = bc.fill(cells.grow((1, 0), 0), wall).bind(g=on.zeros(cells.side(0, "low")))


@ssr.matrix(rows=cells, cols=cells.grow((1, 0), 0), k=cells)
def scaled(j: Any, i: Any, *, k: Any) -> Any:
    yield (j - 1, i), k[j, i]


affine = scaled.bind(k=on.zeros(cells)) @ bc.fill(cells.grow((1, 0), 0), bc.ghost_value(1.0))

MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "array": (lambda: axpy.bind(x, np.zeros((4, 4))), errors.ArgumentError, "'y' is ndarray"),
    "array first": (lambda: axpy(np.zeros((4, 4)), y, 1.0), errors.ArgumentError, "'x' is ndarray"),
    "plain": (lambda: axpy.run_plain(x, y, 1.0), errors.ArgumentError, "'x' is Field"),
    "spreads": (
        lambda: axpy.bind(x, spread(3).zeros(cells)), errors.ArgumentError, "is distributed diff",
    ),
    "space": (lambda: axpy.bind(x, on.zeros(cells.nodes())), errors.SpaceError, "'y' is on Space"),
    "dtype": (
        lambda: axpy.bind(x, on.zeros(cells, np.float32)), errors.DtypeError, "float32, float64",
    ),
    "twice": (lambda: axpy.bind(x, x), errors.ArgumentError, "are the same field"),
    "scalar": (lambda: axpy.bind(x, y, "a"), errors.ArgumentError, "'s' is str, not a number"),
    "scalar field": (lambda: axpy(x, y, x), errors.ArgumentError, "'s' is Field, not a number"),
    "no scalar": (lambda: axpy.bind(x, y)(), errors.ArgumentError, "takes 1 numbers, not 0"),
    "missing": (lambda: axpy(x), errors.ArgumentError, "misses y, s"),
    "boxes": (lambda: axpy(x, y, 1.0, boxes=[((0, 4), (0, 4))]), errors.BoxError, "take boxes="),
    "sum": (lambda: x + 1.0, errors.UnsupportedError, "no arithmetic"),
    "array first in a product": (
        lambda: np.ones((4, 4)) * x, errors.UnsupportedError, "np.multiply does not apply"
    ),
    "item": (lambda: x.__setitem__(..., 1.0), errors.UnsupportedError, "no item assignment"),
    "ufunc": (lambda: np.sin(x), errors.UnsupportedError, "(?s)np.sin does not apply.*ssr.sin"),
    "ufunc without a program": (
        lambda: np.isnan(x), errors.UnsupportedError, r"(?s)np.isnan does not apply.*u.gather\(\)"
    ),
    "ufunc for its result": (
        lambda: np.add(1.0, 1.0, out=x), errors.UnsupportedError, "np.add does not apply"
    ),
    "maximum": (lambda: x.max(), errors.UnsupportedError, r"(?s)'max'.*return ssr.max\(u\)"),
    "sum along an axis": (
        lambda: np.sum(x, axis=0), errors.UnsupportedError, r"(?s)'sum'.*return ssr.sum\(u\)"
    ),
    "dot": (lambda: x.dot(y), errors.UnsupportedError, r"(?s)'dot'.*return ssr.dot\(u, v\)"),
    "mean": (lambda: x.mean(), errors.UnsupportedError, r"(?s)'mean'.*divide the result by u.size"),
    "std": (lambda: x.std(), errors.UnsupportedError, r"(?s)'std'.*u.gather\(\).std\(\)"),
    "value at a point": (lambda: x[0, 0], errors.UnsupportedError, r"(?s)no items.*u.gather\(\)"),
    "length": (lambda: len(x), errors.UnsupportedError, "(?s)no length.*u.shape"),
    "loop": (lambda: list(x), errors.UnsupportedError, r"(?s)not iterable.*u.parts\(\)"),
    "membership": (lambda: 1.0 in x, errors.UnsupportedError, "not iterable"),
    "float": (lambda: float(x), errors.UnsupportedError, r"(?s)not a number.*return ssr.max\(u\)"),
    "truth": (lambda: x or y, errors.UnsupportedError, "(?s)no truth value.*u is None"),
    "equality": (lambda: x == y, errors.UnsupportedError, "(?s)not compared.*np.array_equal"),
    "inequality": (lambda: x != 0.0, errors.UnsupportedError, "not compared"),
    "order": (lambda: np.ones((4, 4)) < x, errors.UnsupportedError, "np.less does not apply"),
    "product of an array": (
        lambda: np.ones((4, 4)) @ x, errors.UnsupportedError, "np.matmul does not apply"
    ),
    "product of a list": (lambda: [1.0] @ x, errors.UnsupportedError, "no arithmetic"),
    "product of fields": (lambda: x @ y, errors.UnsupportedError, "no arithmetic"),
    "remainder": (lambda: x % 2, errors.UnsupportedError, "no arithmetic"),
    "sum in place": (lambda: np.ones((4, 4)).__iadd__(x), errors.UnsupportedError, "np.add does"),
    "array of it without a copy": (
        lambda: np.asarray(x, copy=False), errors.ArgumentError, "without a copy"
    ),
    "no size": (lambda: bc.distribute(cells, ny=4), errors.UnboundError, "the size nx"),
    "other size": (lambda: on.zeros(ssr.Space(ssr.size("q"))), errors.UnboundError, "the size q"),
    "fraction": (lambda: bc.distribute(cells, ny=4.5, nx=4), errors.ArgumentError, "an integer"),
    "no cells": (lambda: bc.distribute(cells, ny=0, nx=4), errors.EmptySpaceError, "along axis 0"),
    "no space": (lambda: bc.distribute("cells"), errors.ArgumentError, "a space, not 'cells'"),
    "ranks": (lambda: bc.distribute(cells, 2, ny=4, nx=4), errors.ArgumentError, "ranks is 2"),
    "no ranks": (lambda: bc.simulated_ranks(0), errors.ArgumentError, "not a positive integer"),
    "gaps": (
        lambda: spread(boxes=[(0, 0, ((0, 4), (0, 3)))]), errors.ArgumentError, "12 of the 16",
    ),
    "overlap": (
        lambda: spread(boxes=[(0, 0, ((0, 4), (0, 3))), (1, 0, ((0, 4), (2, 4)))]),
        errors.ArgumentError, "overlap",
    ),
    "axes": (
        lambda: spread(boxes=[(0, 0, ((0, 4),))]), errors.ArgumentError, "and 2 pairs of integers",
    ),
    "no boxes": (lambda: spread(boxes=[1]), errors.ArgumentError, "1 is not a rank, a kind and"),
    "real": (
        lambda: spread(boxes=[(0, 0, ((0, 4.5), (0, 4)))]), errors.ArgumentError, "pairs of int",
    ),
    "kind": (
        lambda: spread(boxes=[(0, 0, ((0, 4), (0, 4))), (0, 1, ((0, 4), (0, 4)))]),
        errors.ArgumentError, r"of kinds \[0, 1\], and there are 1",
    ),
    "root": (lambda: x.gather(2), errors.ArgumentError, "no rank 2 of 2"),
    "root text": (lambda: x.gather("a"), errors.ArgumentError, "no rank 'a' of 2"),
    "box": (lambda: x.gather(0, ((0, 4), (2, 5))), errors.ArgumentError, "not a box of points of"),
    "box axes": (lambda: x.gather(0, [(0, 4)]), errors.ArgumentError, "not a box of points of"),
    "box nothing": (lambda: x.gather(0, 7), errors.ArgumentError, "box is 7, not a box of points"),
    "box empty": (lambda: x.gather(0, ((1, 1), (0, 4))), errors.ArgumentError, "not a box of"),
    "moved cells": (
        lambda: x.redistributed(bc.distribute(cells, bc.simulated_ranks(2), ny=4, nx=5)),
        errors.ArgumentError, "not a distribution of the same cells",
    ),
    "moved nowhere": (lambda: x.redistributed(7), errors.ArgumentError, "moved to 7: it is not"),
    "moved ranks": (lambda: x.redistributed(spread(3)), errors.ArgumentError, "to <Simulated: 3"),
    "both": (lambda: spread(cut=(1, 1), boxes=[]), errors.ArgumentError, "Both cut and boxes"),
    "cut": (lambda: spread(cut=2), errors.ArgumentError, "cut is 2"),
    "cut 0": (lambda: spread(cut=(0, 1)), errors.ArgumentError, "one positive number of parts"),
    "cut axes": (lambda: spread(cut=(2,)), errors.ArgumentError, "each of the 2 axes"),
    "integers": (
        lambda: on.scatter(cells, np.zeros((4, 4), int)), errors.DtypeError, "not int64",
    ),
    "shape": (lambda: on.scatter(cells, np.zeros((3, 4))), errors.ShapeError, r"not \(3, 4\)"),
    "no kind": (lambda: on.empty(3), errors.ArgumentError, "on a space, not on 3"),
    "other grid": (
        lambda: bc.distribute(bc.Grid(3 * [(3, 3)])).zeros(grid.cells),
        errors.ArgumentError, "other blocks than the partition",
    ),
    "offset with a distributed parameter": (
        lambda: inflow.offset,
        errors.ArgumentError, r"(?s)its offset is an array.*H @ on.zeros\(H.cols\)",
    ),
    "offset of a product": (
        lambda: (2.0 * (ssr.identity(inflow.rows) @ inflow)).offset,
        errors.ArgumentError, r"(?s)its offset is an array.*H @ on.zeros\(H.cols\)",
    ),
    "offset with a distributed matrix": (
        lambda: affine.offset,
        errors.ArgumentError, r"(?s)its offset is an array.*H @ on.zeros\(H.cols\)",
    ),
    "array for a distributed matrix": (
        lambda: affine @ np.zeros((4, 4)),
        errors.ArgumentError, r"(?s)is applied to an array.*H @ on.scatter\(space, array\)",
    ),
}  # fmt: skip


def test_fields_are_keys() -> None:
    assert {x: 1, y: 2}[y] == 2
    assert x in [x, y]


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    make, kind, text = MISTAKES[name]
    with pytest.raises(kind) as found:
        make()
    assert isinstance(found.value, ssr.Error)
    told = [found.value.message, found.value.note, found.value.hint]
    assert re.search(text, "\n".join(filter(None, told)))  # without the line of this file


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (np.zeros(7), errors.ShapeError), ("text", errors.ArgumentError),
        (1j, errors.DtypeError), (None, errors.ArgumentError),
    ],
)  # fmt: skip
def test_a_field_is_as_before_after_a_mistake(wrong: Any, kind: type[errors.Error]) -> None:
    field = on.scatter(cells, np.arange(16.0).reshape(4, 4))
    later: list[Any] = [1.0, wrong]
    with pytest.raises(kind, match=r"for the box \(\(2, 4\), \(0, 4\)\)"):
        field.fill(lambda j, i: later.pop(0))
    with pytest.raises(errors.ShapeError):
        field.set(np.zeros((4, 5)))
    assert np.array_equal(field.gather(), np.arange(16.0).reshape(4, 4))


WRONG_VALUES = {
    "none": (None, errors.ArgumentError),
    "text": ("a", errors.ArgumentError),
    "bytes": (b"a", errors.ArgumentError),
    "memoryview": (memoryview(np.ones((4, 4))), errors.ArgumentError),
    "masked": (np.ma.masked_array(np.ones((4, 4))), errors.ArgumentError),
    "ragged": ([[1, 2], [3]], errors.DtypeError),
    "complex number": (1j, errors.DtypeError),
    "large integer": (10**400, errors.DtypeError),
    "object": (object(), errors.DtypeError),
    "complex": (np.ones((4, 4)) * 1j, errors.DtypeError),
    "texts": (np.full((4, 4), "1"), errors.DtypeError),
    "objects": (np.full((4, 4), None), errors.DtypeError),
    "times": (np.zeros((4, 4), "m8[s]"), errors.DtypeError),
    "records": (np.zeros((4, 4), "f4,f8"), errors.DtypeError),
    "other shape": (np.zeros((4, 5)), errors.ShapeError),
}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_values_that_are_not_real_numbers_are_refused(name: str) -> None:
    wrong, kind = WRONG_VALUES[name]
    field = on.scatter(cells, np.arange(16.0).reshape(4, 4))
    for give in (
        field.set, lambda values: on.scatter(cells, values), lambda v: field.fill(lambda j, i: v),
    ):  # fmt: skip
        with pytest.raises(errors.Error) as caught:
            give(wrong)
        assert type(caught.value) is kind
    assert np.array_equal(field.gather(), np.arange(16.0).reshape(4, 4))
    for dtype in "floaty", "i8", "c16", ">f8", object, 3:
        with pytest.raises(errors.DtypeError):
            on.zeros(cells, dtype)


def test_values_of_other_forms_are_taken() -> None:
    field, whole = on.zeros(cells), np.arange(16.0).reshape(4, 4)
    for values in (whole.tolist(), whole.astype(">f8"), whole.astype("i2"), whole.T.copy().T):
        field.set(0.0)
        field.set(values)
        assert np.array_equal(field.gather(), whole)
    for number in True, 1, np.float32(1), np.array(1):
        field.set(number)
        assert (field.gather() == 1.0).all()


@pytest.mark.parametrize("ranks", [None, bc.threads(2), bc.simulated_ranks(3)], ids=repr)
def test_a_field_of_one_process_is_an_array_for_numpy(ranks: Any) -> None:
    whole = np.arange(16.0).reshape(4, 4)
    field = bc.distribute(cells, ranks, ny=4, nx=4).scatter(cells, whole)
    found = np.asarray(field)
    assert np.array_equal(found, whole)
    found[...] = 0.0
    assert np.array_equal(np.array(field, dtype="i4", copy=True), whole)
    if ranks is None:
        view = np.asarray(field, copy=False)
        assert np.array_equal(view, whole)
        assert not view.flags.writeable
    else:
        with pytest.raises(errors.ArgumentError, match="without a copy"):
            np.asarray(field, copy=False)


def test_a_field_takes_the_values_of_another() -> None:
    one, other = on.zeros(cells), spread(cut=(1, 4)).zeros(cells)
    other.fill(lambda j, i: 4.0 * j + i)
    one.set(other)
    assert np.array_equal(one.gather(), np.arange(16.0).reshape(4, 4))
    assert np.array_equal(one.copy().gather(), one.gather())
    with pytest.raises(errors.SpaceError, match="is on Space"):
        one.set(on.zeros(cells.nodes()))


def sweep(axis: int) -> ssr.Program:
    before = (-1, 0) if axis == 0 else (0, -1)
    lower = ssr.stencil(cells, cells, {(0, 0): 2.0, before: -1.0}, outside="zero")

    @ssr.program(x=cells, b=cells)
    def solve(x: Any, b: Any) -> None:
        x[:] = lower.solve(b)

    return solve


@pytest.mark.parametrize("axis", [0, 1])
def test_solves_run_along_axes_that_are_not_cut(axis: int) -> None:
    b = np.random.default_rng(0).uniform(-1, 1, (4, 4))
    wanted = np.empty((4, 4))
    sweep(axis)(wanted, b)
    parts = [1, 1]
    parts[1 - axis] = 3
    uncut = spread(3, cut=tuple(parts))
    field = uncut.empty(cells)
    sweep(axis)(field, uncut.scatter(cells, b))
    found = field.gather()
    assert found is not None
    assert found.tobytes() == wanted.tobytes()
