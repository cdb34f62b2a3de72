"""Bundles: numbers of several neighbouring lines, one of each, which are computed with at once.

In machine code a bundle is a vector register. Operations on bundles, or on a bundle and a number,
are those on each of its numbers. Line buffers hold one bundle after the other; ``take`` and ``put``
access them at a flat offset, ``gather`` and ``scatter`` copy points of lines from and to arrays.
Called from plain Python a bundle is an array.

Importing this module teaches Numba the type and its operations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, models, register_model, type_callable

from .constants import BYTES
from .intrinsics import fma, ld, maximum, minimum, pointer, repeat, st

WORD, HALF = llvm.IntType(64), llvm.IntType(32)


def width(itemsize: int) -> int:
    """Return how many lines a bundle has, for the bytes of a number."""
    return BYTES // itemsize


# -- in plain Python -------------------------------------------------------------------------------


def take(lines: Any, place: int) -> Any:
    """Return the bundle at an offset of a line buffer."""
    return np.array([ld(lines, place + n) for n in range(width(lines.array.itemsize))])


def put(lines: Any, place: int, value: Any) -> None:
    """Store a bundle, or a number for all of its lines."""
    count = width(lines.array.itemsize)
    for n, number in enumerate(np.broadcast_to(value, (count,))):
        st(lines, place + n, number)


def gather(
    lines: Any, place: int, step: int, array: Any, start: int, along: int, across: int, count: int,
    many: int,
) -> None:  # fmt: skip
    """Copy points of ``many`` lines of an array to a line buffer; the last line fills a bundle up.

    Parameters
    ----------
    lines, place, step
        The buffer, where the first bundle stands, and the distance of the next.
    array, start
        The array, and where the first point of the first line is.
    along, across
        Distances of points in the array: to the next point of a line, and to the next line.
    count
        How many points of each line.
    many
        How many lines there are, at most as many as a bundle has.
    """
    for n in range(count):
        for lane in range(width(lines.array.itemsize)):
            source = start + n * along + min(lane, many - 1) * across
            st(lines, place + n * step + lane, ld(array, source))


def scatter(
    lines: Any, place: int, step: int, array: Any, start: int, along: int, across: int, count: int,
    many: int,
) -> None:  # fmt: skip
    """Copy points of ``many`` lines of a line buffer to an array; see `gather`."""
    for n in range(count):
        for lane in range(many):
            value = ld(lines, place + n * step + lane)
            st(array, start + n * along + lane * across, value)


# -- the type --------------------------------------------------------------------------------------


class Bundle(types.Type):
    """The type of a bundle of numbers of a type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Bundle({dtype})")

    @property
    def width(self) -> int:
        """How many numbers it has."""
        return width(self.dtype.bitwidth // 8)


@register_model(Bundle)
class BundleModel(models.PrimitiveModel):
    """A bundle in machine code."""

    def __init__(self, manager: Any, kind: Any) -> None:
        element = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, llvm.VectorType(element, kind.width))


def _common(*given: Any) -> Any:
    """Return the type of a bundle of which all of some types are, or can be made; None if none."""
    found = {kind for kind in given if isinstance(kind, Bundle)}
    if len(found) != 1:
        return None
    (bundle,) = found
    return bundle if all(kind in (bundle, bundle.dtype) for kind in given) else None


def _spread(builder: Any, kind: Any, value: Any, wanted: Any) -> Any:
    """Return a number as a bundle; a bundle as it is."""
    if isinstance(kind, Bundle):
        return value
    return repeat(builder, value, wanted.width)


def _operands(builder: Any, signature: Any, args: Any) -> list[Any]:
    wanted = _common(*signature.args)
    pairs = zip(signature.args, args, strict=True)
    return [_spread(builder, kind, value, wanted) for kind, value in pairs]


def suffix(vector: Any) -> str:
    """Return the type of a vector as it stands in the names of functions of LLVM."""
    element = "f64" if isinstance(vector.element, llvm.DoubleType) else "f32"
    return f"v{vector.count}{element}"


def intrinsic(builder: Any, name: str, values: list[Any]) -> Any:
    """Return the value of a function of LLVM that is one for vectors too."""
    vector = values[0].type
    kind = llvm.FunctionType(vector, [vector] * len(values))
    whole = f"llvm.{name}.{suffix(vector)}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, whole), values)


Operation = Callable[[Any, list[Any]], Any]


def _defined(function: Any, count: int, operation: Operation) -> None:
    """Teach Numba a function of bundles, or of bundles and numbers."""
    typers: dict[int, Callable[[Any], Any]] = {
        1: lambda context: lambda a: _common(a),
        2: lambda context: lambda a, b: _common(a, b),
        3: lambda context: lambda a, b, c: _common(a, b, c),
    }
    type_callable(function)(typers[count])

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return operation(builder, _operands(builder, signature, args))

    kinds: list[tuple[Any, ...]] = [()]
    for _ in range(count):
        kinds = [(*known, kind) for known in kinds for kind in (Bundle, types.Float)]
    for known in kinds:
        if Bundle in known:
            lower_builtin(function, *known)(lower)


def _chosen(order: str) -> Operation:
    def operation(builder: Any, values: list[Any]) -> Any:
        a, b = values
        ordered = builder.fcmp_ordered(order, a, b)
        return builder.select(builder.or_(ordered, builder.fcmp_unordered("uno", a, a)), a, b)

    return operation


for _function, _count, _operation in (
    (operator.add, 2, lambda builder, values: builder.fadd(*values)),
    (operator.sub, 2, lambda builder, values: builder.fsub(*values)),
    (operator.mul, 2, lambda builder, values: builder.fmul(*values)),
    (operator.truediv, 2, lambda builder, values: builder.fdiv(*values)),
    (operator.neg, 1, lambda builder, values: builder.fneg(*values)),
    (abs, 1, lambda builder, values: intrinsic(builder, "fabs", values)),
    (fma, 3, lambda builder, values: intrinsic(builder, "fma", values)),
    (minimum, 2, _chosen("<")),
    (maximum, 2, _chosen(">")),
):
    _defined(_function, _count, _operation)


# -- memory ----------------------------------------------------------------------------------------


def _load(builder: Any, data: Any, count: int) -> Any:
    """Return numbers that stand side by side, as a vector."""
    vector = llvm.VectorType(data.type.pointee, count)
    value = builder.load(builder.bitcast(data, vector.as_pointer()))
    value.align = bytes_of(data)
    return value


def _store(builder: Any, value: Any, data: Any) -> None:
    """Store a vector as numbers that stand side by side."""
    stored = builder.store(value, builder.bitcast(data, value.type.as_pointer()))
    stored.align = bytes_of(data)


def bytes_of(data: Any) -> int:
    """Return the bytes of a number that is pointed at."""
    return 8 if isinstance(data.type.pointee, llvm.DoubleType) else 4


@type_callable(take)
def _type_take(context: Any) -> Callable[..., Any]:
    return lambda lines, place: Bundle(lines.dtype) if isinstance(lines, types.Array) else None


@lower_builtin(take, types.Array, types.Integer)
def _lower_take(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = pointer(context, builder, signature.args[0], *args)
    return _load(builder, data, signature.return_type.width)


@type_callable(put)
def _type_put(context: Any) -> Callable[..., Any]:
    return lambda lines, place, value: types.void if isinstance(lines, types.Array) else None


def _lower_put(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    lines, place, value = args
    kind = signature.args[0]
    if not isinstance(signature.args[2], Bundle):
        value = context.cast(builder, value, signature.args[2], kind.dtype)
        value = _spread(builder, kind.dtype, value, Bundle(kind.dtype))
    _store(builder, value, pointer(context, builder, kind, lines, place))
    return context.get_dummy_value()


for _kind in (Bundle, types.Float):
    lower_builtin(put, types.Array, types.Integer, _kind)(_lower_put)


@type_callable(gather)
@type_callable(scatter)
def _type_copy(context: Any) -> Callable[..., Any]:
    return lambda lines, place, step, array, start, along, across, count, many: types.void


_ARGUMENTS = (
    types.Array, types.Integer, types.Integer, types.Array, *[types.Integer] * 5
)  # fmt: skip


@lower_builtin(gather, *_ARGUMENTS)
def _lower_gather(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _call(context, builder, signature, args, _gathering)


@lower_builtin(scatter, *_ARGUMENTS)
def _lower_scatter(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _call(context, builder, signature, args, _scattering)


def _call(context: Any, builder: Any, signature: Any, args: Any, write: Any) -> Any:
    """Call the function of the module that copies lines."""
    kinds = signature.args
    lines = pointer(context, builder, kinds[0], args[0], args[1])
    array = pointer(context, builder, kinds[3], args[3], args[4])
    rest = [args[2], *args[5:]]
    numbers = [builder.sext(n, WORD) if n.type != WORD else n for n in rest]
    function = _function_of(builder.module, lines.type, write)
    builder.call(function, [lines, array, *numbers])
    return context.get_dummy_value()


def _function_of(module: Any, kind: Any, write: Any) -> Any:
    """Return the function that copies lines between memory of a type, made when first needed."""
    name = f"ssr{write.__name__}_{kind.pointee}"
    known = module.globals.get(name)
    if known is not None:
        return known
    made = llvm.Function(
        module, llvm.FunctionType(llvm.VoidType(), [kind, kind, *[WORD] * 5]), name
    )
    made.linkage = "internal"
    made.attributes.add("noinline")
    for pointer_ in made.args[:2]:
        pointer_.add_attribute("noalias")
    builder = llvm.IRBuilder(made.append_basic_block("entry"))
    size = BYTES // (8 if isinstance(kind.pointee, llvm.DoubleType) else 4)
    write(builder, size, *made.args)
    builder.ret_void()
    return made


def _ways(
    b: Any, size: int, along: Any, across: Any, count: Any, many: Any, one: Any, block: Any,
    single: Any,
) -> None:  # fmt: skip
    """Write the ways to copy: points side by side, blocks of as many points as lines, one by one.

    Parameters
    ----------
    one, block
        Write the copy of a point, and of a block of points from one on, of a full bundle.
    single
        Writes the copy of a point of all lines there are, number by number.
    """
    whole = b.icmp_signed("==", many, WORD(size))
    with b.if_else(b.and_(whole, b.icmp_signed("==", across, WORD(1)))) as (then, otherwise):
        with then, cgutils.for_range(b, count) as loop:
            one(loop.index)
        with otherwise:
            blocks = b.sdiv(count, WORD(size))
            turned = b.and_(whole, b.icmp_signed("==", along, WORD(1)))
            blocks = b.select(turned, blocks, WORD(0))
            with cgutils.for_range(b, blocks) as loop:
                block(b.mul(loop.index, WORD(size)))
            done = b.mul(blocks, WORD(size))
            with cgutils.for_range(b, b.sub(count, done)) as loop:
                single(b.add(done, loop.index))


def _gathering(
    b: Any, size: int, lines: Any, array: Any, step: Any, along: Any, across: Any, count: Any,
    many: Any,
) -> None:  # fmt: skip
    def to(point: Any) -> Any:
        return b.gep(lines, [b.mul(point, step)])

    def one(point: Any) -> None:
        _store(b, _load(b, b.gep(array, [b.mul(point, along)]), size), to(point))

    def block(first: Any) -> None:
        of = [b.gep(array, [b.add(first, b.mul(WORD(n), across))]) for n in range(size)]
        for n, vector in enumerate(_turned(b, [_load(b, data, size) for data in of])):
            _store(b, vector, to(b.add(first, WORD(n))))

    def single(point: Any) -> None:
        last = b.sub(many, WORD(1))
        with cgutils.for_range(b, WORD(size)) as lane:
            line = b.select(b.icmp_signed("<", lane.index, last), lane.index, last)
            of = b.add(b.mul(point, along), b.mul(line, across))
            b.store(b.load(b.gep(array, [of])), b.gep(to(point), [lane.index]))

    _ways(b, size, along, across, count, many, one, block, single)


def _scattering(
    b: Any, size: int, lines: Any, array: Any, step: Any, along: Any, across: Any, count: Any,
    many: Any,
) -> None:  # fmt: skip
    def of(point: Any) -> Any:
        return b.gep(lines, [b.mul(point, step)])

    def one(point: Any) -> None:
        _store(b, _load(b, of(point), size), b.gep(array, [b.mul(point, along)]))

    def block(first: Any) -> None:
        rows = [_load(b, of(b.add(first, WORD(n))), size) for n in range(size)]
        for n, vector in enumerate(_turned(b, rows)):
            _store(b, vector, b.gep(array, [b.add(first, b.mul(WORD(n), across))]))

    def single(point: Any) -> None:
        with cgutils.for_range(b, many) as lane:
            to = b.add(b.mul(point, along), b.mul(lane.index, across))
            b.store(b.load(b.gep(of(point), [lane.index])), b.gep(array, [to]))

    _ways(b, size, along, across, count, many, one, block, single)


def _turned(b: Any, rows: list[Any]) -> list[Any]:
    """Return the columns of a square block of numbers that is given by its rows.

    Blocks on both sides of the diagonal change places: halves first, then quarters, and so on.
    """
    size, distance = len(rows), len(rows) // 2
    found = list(rows)
    while distance:
        low = [n if not n & distance else size + n - distance for n in range(size)]
        high = [n + distance if not n & distance else size + n for n in range(size)]
        for n in range(size):
            if not n & distance:
                pair = found[n], found[n + distance]
                found[n], found[n + distance] = (
                    b.shuffle_vector(*pair, llvm.Constant(llvm.VectorType(HALF, size), places))
                    for places in (low, high)
                )
        distance //= 2
    return found
