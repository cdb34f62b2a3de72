"""Instructions of LLVM: known results are not written, and repeated instructions once."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import binding
from llvmlite import ir as llvm

from ssr.kernel import ir
from ssr.kernel.types import DOUBLE, INTEGER, TypeMismatch, Vector
from ssr.native.arithmetic import binary, compare
from ssr.native.builder import Builder
from ssr.native.values import ELEMENTS, Value

WORD = llvm.IntType(64)


def begun(*arguments: Any, result: Any = WORD) -> tuple[Builder, Any]:
    """Return what writes a new function, and the function."""
    module = llvm.Module("test")
    module.triple = binding.get_process_triple()
    function = llvm.Function(module, llvm.FunctionType(result, arguments), "f")
    return Builder(function.append_basic_block("entry")), function


def written(function: Any) -> list[str]:
    """Return the instructions of a function that LLVM accepts."""
    binding.parse_assembly(str(function.module)).verify()
    return [one.opname for block in function.blocks for one in block.instructions]


numbers = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-1, 0, 1, -(2**63), 2**63 - 1])


@given(st.sampled_from(["add", "sub", "mul"]), numbers, numbers)
def test_known_integers_are_reckoned_modulo_their_size(name: str, a: int, b: int) -> None:
    builder, function = begun()
    found = getattr(builder, name)(WORD(a), WORD(b))
    exact = getattr(operator, name)(a, b)
    assert (found.constant - exact) % 2**64 == 0
    assert -(2**63) <= found.constant < 2**63
    builder.ret(found)
    assert written(function) == ["ret"]


@given(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), numbers, numbers)
def test_known_integers_are_compared(order: str, a: int, b: int) -> None:
    builder, _ = begun()
    compare = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
    assert bool(builder.icmp_signed(order, WORD(a), WORD(b)).constant) is compare[order]


def test_what_changes_nothing_is_not_written() -> None:
    builder, function = begun(WORD, WORD.as_pointer())
    x, p = function.args
    assert builder.add(x, WORD(0)) is builder.add(WORD(0), x) is x
    assert builder.sub(x, WORD(0)) is builder.mul(x, WORD(1)) is builder.mul(WORD(1), x) is x
    assert builder.mul(x, WORD(0)).constant == builder.mul(WORD(0), x).constant == 0
    assert builder.gep(p, [WORD(0)]) is p
    assert builder.select(llvm.IntType(1)(1), x, WORD(3)) is x
    builder.ret(x)
    assert written(function) == ["ret"]


def test_a_difference_from_zero_is_no_number() -> None:
    builder, function = begun(WORD)
    builder.ret(builder.sub(WORD(0), function.args[0]))
    assert written(function) == ["sub", "ret"]


def test_what_a_block_has_is_not_written_again() -> None:
    builder, function = begun(WORD, WORD.as_pointer())
    x, p = function.args
    first = builder.add(x, WORD(2))
    assert builder.add(x, WORD(2)) is first
    assert builder.add(x, WORD(2), flags=["nsw"]) is not first
    assert builder.add(x, WORD(3)) is not first
    assert builder.gep(p, [first]) is builder.gep(p, [first])
    assert builder.gep(p, [first]) is not builder.gep(p, [first], inbounds=True)
    assert builder.icmp_signed("<", x, first) is builder.icmp_signed("<", x, first)
    assert builder.icmp_signed("<", x, first) is not builder.icmp_signed("<=", x, first)
    other = function.append_basic_block("other")
    builder.branch(other)
    builder.position_at_end(other)
    assert builder.add(x, WORD(2)) is not first
    builder.ret(x)
    assert written(function).count("add") == 4


def test_what_is_written_in_the_middle_of_a_block_stands_before_its_use() -> None:
    """What comes behind that place does not count there."""
    builder, function = begun(WORD)
    (x,) = function.args
    later = builder.add(x, WORD(2))
    end = builder.ret(later)
    builder.position_before(later)
    assert builder.add(x, WORD(2)) is not later
    assert written(function) == ["add", "add", "ret"]
    assert function.blocks[0].instructions[-1] is end


KINDS = {"i8": "integer", "f8": "number", "f4": "number", "b1": "truth"}
OPERATORS: dict[str, tuple[str, ...]] = {
    "integer": ("+", "-", "*", "//", "%", "&", "|", "<<", ">>"),
    "number": ("+", "-", "*", "/"),
    "truth": ("&", "|"),
}


@pytest.mark.parametrize("element", KINDS)
def test_arithmetic_is_for_operands_of_one_type(element: str) -> None:
    """There are no other operations; comparisons are for all types."""
    bits = ELEMENTS[element]
    builder, function = begun(bits, bits, result=llvm.VoidType())
    operands = [Value(ir.Scalar(element), bits) for bits in function.args]
    for operator_ in ("+", "-", "*", "/", "//", "%", "&", "|", "<<", ">>"):
        if operator_ in OPERATORS[KINDS[element]]:
            assert binary(builder, operator_, *operands).type == ir.Scalar(element)
        else:
            with pytest.raises(TypeMismatch):
                binary(builder, operator_, *operands)
    for relation in ("<", "==", "!="):
        assert compare(builder, relation, *operands).type == ir.Scalar("b1")
    builder.ret_void()
    written(function)
    if KINDS[element] == "number":  # NaN is unequal to itself, and not equal
        orders = [one.op for one in function.blocks[0].instructions if one.opname == "fcmp"]
        assert orders == ["olt", "oeq", "une"]


def test_vectors_have_no_arithmetic_with_other_types() -> None:
    vector = Vector("f8", 4)
    builder, function = begun(llvm.VectorType(llvm.DoubleType(), 4), result=llvm.VoidType())
    value = Value(vector, function.args[0])
    assert binary(builder, "*", value, Value(DOUBLE, llvm.DoubleType()(2.0))).type == vector
    for other in Value(INTEGER, WORD(2)), Value(ir.Scalar("f4"), llvm.FloatType()(2.0)):
        with pytest.raises(TypeMismatch):
            binary(builder, "*", value, other)
    builder.ret_void()
    assert written(function) == ["fmul", "ret void"]


def test_names_of_a_function_differ() -> None:
    module = llvm.Module("test")
    function = llvm.Function(module, llvm.FunctionType(WORD, [WORD]), "f")
    function.args[0].name = "x"
    builder = Builder.beginning(function)
    values = [builder.add(function.args[0], WORD(n), name) for n, name in enumerate("xxy", 1)]
    values += [builder.add(function.args[0], WORD(n)) for n in (4, 5)]
    assert len({"x", *(value.name for value in values)}) == 6
    builder.ret(values[-1])
    assert written(function).count("add") == 5
