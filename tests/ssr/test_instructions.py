"""Instructions of LLVM: what is known is not written, and what is written twice is written once."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import binding
from llvmlite import ir as llvm
from numba import types

from ssr.build.instructions import Builder, Names, Structure, arithmetic

WORD = llvm.IntType(64)
BYTE = llvm.IntType(8)
PAIR = llvm.LiteralStructType([WORD, llvm.ArrayType(WORD, 2)])


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


def test_members_of_structures_are_those_that_were_put_in() -> None:
    builder, function = begun(WORD, WORD, llvm.ArrayType(WORD, 2))
    x, y, both = function.args
    made = builder.insert_value(llvm.Constant(PAIR, llvm.Undefined), x, 0)
    made = builder.insert_value(made, both, 1)
    changed = builder.insert_value(made, y, [1, 0])
    assert isinstance(changed, Structure)
    assert changed.type == PAIR
    assert builder.extract_value(changed, 0) is x
    assert builder.extract_value(changed, [1, 0]) is y
    assert builder.extract_value(made, 1) is both
    assert function.blocks[0].instructions == []
    builder.extract_value(changed, [1, 1])
    whole = builder.extract_value(changed, 1)
    builder.ret(builder.extract_value(whole, 0))
    assert "insertvalue" in written(function)


def test_structures_are_written_where_they_are_wanted_as_a_whole() -> None:
    builder, function = begun(WORD, PAIR.as_pointer(), result=PAIR)
    x, place = function.args
    made = builder.insert_value(llvm.Constant(PAIR, llvm.Undefined), x, 0)
    builder.store(made, place)
    kind = llvm.FunctionType(llvm.VoidType(), [PAIR])
    builder.call(llvm.Function(function.module, kind, "g"), [made])
    chosen = builder.select(builder.icmp_signed("<", x, WORD(1)), made, builder.load(place))
    builder.ret(builder.insert_value(chosen, x, 0))
    assert written(function).count("insertvalue") == 4


@pytest.mark.parametrize("kind", [types.intp, types.float64, types.float32, types.boolean])
def test_arithmetic_is_for_operands_of_one_type(kind: Any) -> None:
    meant = {types.intp: WORD, types.float64: llvm.DoubleType(), types.float32: llvm.FloatType()}
    bits = meant.get(kind, llvm.IntType(1))
    builder, function = begun(bits, bits, result=llvm.VoidType())
    known = {
        types.intp: ["add", "sub", "mul", "lt", "eq", "ne"],
        types.boolean: ["and_", "or_"],
    }.get(kind, ["add", "sub", "mul", "truediv", "lt", "eq", "ne"])
    for name in ("add", "sub", "mul", "truediv", "lt", "eq", "ne", "and_", "or_", "mod"):
        found = arithmetic(builder, getattr(operator, name), [kind, kind], function.args)
        assert (found is not None) is (name in known), name
    assert arithmetic(builder, operator.add, [kind, types.uint8], function.args) is None
    assert arithmetic(builder, operator.neg, [kind], function.args[:1]) is None
    builder.ret_void()
    names = written(function)
    assert len(names) == len(known) + 1
    if isinstance(kind, types.Float):  # NaN is unequal to itself, and not equal
        orders = [one.op for one in function.blocks[0].instructions if one.opname == "fcmp"]
        assert orders == ["olt", "oeq", "une"]


def test_names_of_a_function_differ() -> None:
    _, function = begun(WORD)
    function.args[0].name = "x"
    names = Names(function.scope)
    given_names = [names.register(name, deduplicate=True) for name in ("", "x", "x", "", "y")]
    assert len({*given_names, "x"}) == 6
