"""Kernels as built-in functions of Python, with the conversion and checks of their arguments.

All kernels use one C function as their entry. Its ``self`` is a tuple that begins with the address
of a table: the address of the kernel, the number of arguments, the number of words that the kernel
takes (`translate`), and for each argument a row with the fields of `Row`.

Callers pass NumPy arrays for array arguments, and Python numbers for scalars
(`ssr.run.launcher`). The properties of arrays with arbitrary strides, such as those of the user,
are compared here before any element is read: number of axes, type and byte order of elements,
alignment, and whether arrays that are written are writeable. The kernel then compares shapes and
strides (`control`). Contiguous arguments are always arrays that the launch has allocated. The
members of arrays are read directly from NumPy's structures.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from enum import IntEnum

import numpy as np
from llvmlite import ir as llvm

from ..kernel import ir
from ..kernel.types import Type
from ..runtime import target
from ..runtime.constants import ALIGNED, RAISED, REFUSED, WRITEABLE
from . import machine_code
from .builder import ADDRESS, BIT, BYTE, DOUBLE, NUMBER, WORD, WORDS, Builder
from .control import error
from .machine_code import Code, Loaded
from .translate import ENTRY

HEAD = object.__basicsize__
"""Bytes of the header of a Python object."""

DATA, AXES, SHAPE, STRIDES, DTYPE, FLAGS = (HEAD + place for place in (0, 8, 16, 24, 40, 48))
"""Offsets in a NumPy array of the address of its elements, the number of axes, the addresses of
shape, strides and dtype, and the flags.

They are part of NumPy's binary interface (``PyArrayObject_fields``).
"""

ORDER, KIND = HEAD + 10, HEAD + 12
"""Offsets in a NumPy dtype of its byte order, a character, and its number (``PyArray_Descr``)."""


class Row(IntEnum):
    """The integers of an argument."""

    AXES = 0
    """The axes of an array; -1 for a number."""
    KIND = 1
    """The number of an array's dtype; -1 if it is not compared."""
    FLAGS = 2
    """The flags that an array needs."""


FIRST = 3
"""The index of the first row."""


class Compiled:
    """A kernel as machine code.

    Attributes
    ----------
    address
        The address of ``int64_t kernel(int64_t *words)``, as `translate` describes it.
    call
        The kernel as a built-in function, which is faster to call than this object.
    """

    __slots__ = ("_loaded", "address", "call")

    def __init__(self, loaded: Loaded, types: Sequence[Type]) -> None:
        self._loaded = loaded
        self.address = loaded.address(ENTRY)
        words = [1 if isinstance(t, ir.Scalar) else 1 + 2 * _axes(t) for t in types]
        head = self.address, len(types), sum(words)
        table = np.array([*head, *(n for t in types for n in _row(t))], np.int64)
        (start,) = table.__array_interface__["data"][:1]
        self.call = _built_in((start, table, loaded))

    def __call__(self, *args: llvm.Value) -> int:
        """Run the kernel."""
        return self.call(*args)


def _axes(type_: Type) -> int:
    assert isinstance(type_, ir.Array)
    return type_.axes


def _row(type_: Type) -> tuple[int, int, int]:
    if not isinstance(type_, ir.Array):
        return -1, -1, 0
    if type_.contiguous:
        return type_.axes, -1, 0
    number = np.dtype(type_.element).num
    return type_.axes, number, ALIGNED | (WRITEABLE if type_.written else 0)


def begin(module: llvm.Module) -> Callable[[], Code]:
    """Begin the work on the module of a kernel that Python calls."""
    machine_code.share(_name(), _KIND, _write)
    return machine_code.begin(module, _name())


def compiled(code: Code, types: Sequence[Type]) -> Compiled:
    """Return a kernel with arguments of some types, loaded from its machine code."""
    return Compiled(machine_code.load(code), types)


def _name() -> str:
    return f"ssr_call.{target.processor().key}"


class _Definition(ctypes.Structure):
    """Python's record of a built-in function (``PyMethodDef``)."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


METH_FASTCALL = 0x80
"""Calling convention of a C array of objects, and their number."""

_definitions: dict[int, _Definition] = {}
"""Definitions of built-in functions by address; Python holds no reference to them."""


def _built_in(owner: tuple[object, ...]) -> Callable[..., int]:
    """Return the built-in function with an object as ``self``."""
    address = machine_code.shared_address(_name())
    definition = _definitions.setdefault(
        address, _Definition(b"kernel", address, METH_FASTCALL, b"A kernel as machine code.")
    )
    found: Callable[..., int] = _MAKE(ctypes.addressof(definition), owner, None)
    return found


_MAKE = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyCFunction_NewEx", ctypes.pythonapi)
)
"""Creates a built-in function from its definition, its ``self`` and its module."""


_KIND = llvm.FunctionType(ADDRESS, [ADDRESS, ADDRESS.as_pointer(), WORD])


def _write(function: llvm.Function) -> None:
    """Write ``PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)``."""
    owner, arguments, count = function.args
    b = Builder.beginning(function)
    first = b.call(b.external("PyTuple_GetItem", ADDRESS, ADDRESS, WORD), [owner, WORD(0)])
    start = b.call(b.external("PyLong_AsVoidPtr", ADDRESS, ADDRESS), [first])
    table = b.bitcast(start, WORDS)
    address, wanted, length = (b.get(table, n) for n in range(FIRST))
    with b.unlikely(b.icmp_signed("!=", count, wanted)):
        _raise(b, "TypeError", "a kernel is called with another number of arguments")
    words = b.alloca(WORD, size=length)
    place, fit = b.variable(WORD(0)), b.variable(BIT(1))
    with b.count_to(count) as number:
        row = b.at(table, b.add(WORD(FIRST), b.mul(number, WORD(len(Row)))))
        given = b.get(arguments, number)
        axes = b.get(row, Row.AXES)
        with b.if_else(b.icmp_signed("<", axes, WORD(0))) as (is_number, is_array):
            with is_number:
                _take_number(b, given, b.at(words, b.load(place)))
                b.store(b.add(b.load(place), WORD(1)), place)
            with is_array:
                kind = b.get(row, Row.KIND)
                with b.if_then(b.icmp_signed(">=", kind, WORD(0))):
                    fits = _fits(b, given, axes, kind, b.get(row, Row.FLAGS))
                    b.store(b.and_(b.load(fit), fits), fit)
                with b.if_then(b.load(fit)):
                    _take_array(b, given, axes, b.at(words, b.load(place)))
                more = b.add(WORD(1), b.mul(axes, WORD(2)))
                b.store(b.add(b.load(place), more), place)
    integer = b.external("PyLong_FromLongLong", ADDRESS, WORD)
    with b.unlikely(b.not_(b.load(fit))):
        b.ret(b.call(integer, [WORD(REFUSED)]))
    thread = b.call(b.external("PyEval_SaveThread", ADDRESS), [])
    kernel = b.inttoptr(address, llvm.FunctionType(WORD, [WORDS]).as_pointer())
    code = b.call(kernel, [words])
    b.call(b.external("PyEval_RestoreThread", llvm.VoidType(), ADDRESS), [thread])
    with b.unlikely(b.icmp_signed("==", code, WORD(RAISED))):
        b.ret(ADDRESS(None))
    b.ret(b.call(integer, [code]))


def _raise(b: Builder, kind: str, message: str) -> None:
    """Write the end of the call with an exception."""
    error(b, kind, message)
    b.ret(ADDRESS(None))


def _take_number(b: Builder, given: llvm.Value, word: llvm.Value) -> None:
    """Write the conversion of a number of Python."""
    found = b.call(b.external("PyFloat_AsDouble", DOUBLE, ADDRESS), [given])
    with b.unlikely(b.fcmp_ordered("==", found, DOUBLE(-1.0))):
        problem = b.call(b.external("PyErr_Occurred", ADDRESS), [])
        with b.unlikely(b.icmp_unsigned("!=", problem, ADDRESS(None))):
            b.ret(ADDRESS(None))
    b.store(b.bitcast(found, WORD), word)


def _fits(
    b: Builder, given: llvm.Value, axes: llvm.Value, kind: llvm.Value, flags: llvm.Value
) -> llvm.Value:
    """Return whether an array of NumPy is of the type that is taken."""
    dtype = _member(b, given, DTYPE, ADDRESS)
    needed = b.trunc(flags, NUMBER)
    swapped = ">" if sys.byteorder == "little" else "<"
    tests = [
        b.icmp_signed("==", _member(b, given, AXES, NUMBER), b.trunc(axes, NUMBER)),
        b.icmp_signed("==", b.and_(_member(b, given, FLAGS, NUMBER), needed), needed),
        b.icmp_signed("==", _member(b, dtype, KIND, NUMBER), b.trunc(kind, NUMBER)),
        b.icmp_signed("!=", _member(b, dtype, ORDER, BYTE), BYTE(ord(swapped))),
    ]
    found = BIT(1)
    for test in tests:
        found = b.and_(found, test)
    return found


def _take_array(b: Builder, given: llvm.Value, axes: llvm.Value, words: llvm.Value) -> None:
    """Write the address, the shape and the strides of an array."""
    b.store(b.ptrtoint(_member(b, given, DATA, ADDRESS), WORD), words)
    shape, strides = (_member(b, given, place, WORDS) for place in (SHAPE, STRIDES))
    with b.count_to(axes) as axis:
        b.store(b.get(shape, axis), b.at(words, b.add(axis, WORD(1))))
        further = b.add(b.add(axis, axes), WORD(1))
        b.store(b.get(strides, axis), b.at(words, further))


def _member(b: Builder, thing: llvm.Value, place: int, kind: llvm.Type) -> llvm.Value:
    """Return a member of an object of Python."""
    return b.load(b.bitcast(b.at(thing, place), kind.as_pointer()))
