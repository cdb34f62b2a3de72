"""The body of a function in LLVM's language, from its kernel IR.

Numba reads the bytecode of a function, finds its variables and infers their types from all their
uses. That is for functions that people write. In kernels the type of every value follows from those
before it, and most variables are assigned once, so that one walk over the kernel IR does. What
operations, functions and conversions mean is still looked up with Numba, and is the same.

Calls are those of the functions of ``runtime``, of ufuncs, and of other parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from llvmlite import ir as llvm
from numba import types

from ..kernel import ir
from ..runtime import lanes
from ..runtime.target import current
from . import (
    chain_plans,
    line_sides,
    python_wrapper,
    requests,
    vector_chains,
    vector_loops,
    vector_plans,
    vector_sums,
)
from .kernel_ir import ir_of
from .uses import Uses
from .values import Value, Values

_ADDED = lanes.accumulate, lanes.accumulate_squares
"""What adds up lines."""

NEARLY_NEVER = 1, 1_000_000
"""How often a branch is taken, and how often it is not."""


class _Group(llvm.MDValue):  # type: ignore[misc]
    """A group of accesses to memory in LLVM's language: it is told from others by being another."""

    def __init__(self, module: Any) -> None:
        super().__init__(module, (), name=str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        """Write what it is."""
        buf.append("distinct !{}\n")


class Translation(Values):
    """The translation of a generated function, in the place of Numba's from its own language."""

    def init(self) -> None:
        """Numba looks for variables here that are assigned once."""

    def lower_normal_function(self, fndesc: Any) -> None:
        """Write a function, and what Python calls to run it."""
        super().lower_normal_function(fndesc)
        if not self.flags.no_cpython_wrapper:
            python_wrapper.write(self.context, self.function, fndesc, may_raise=not fndesc.noalias)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Numba writes its own one here."""

    def lower_function_body(self) -> Any:
        """Write the function, and return the block at whose end its body begins."""
        function = ir_of(self.func_ir.func_id.func)
        uses = Uses(function)
        self.plain = uses.plain
        self.definitions = uses.definitions
        kinds = dict(zip(function.arguments, self.fndesc.argtypes, strict=True))
        arrays = {n: kind for n, kind in kinds.items() if isinstance(kind, types.Array)}
        self.arrays = len(arrays.keys() & uses.in_loops)
        self.fields: Sequence[str] = [name for name, kind in arrays.items() if kind.layout == "A"]
        self.plans: dict[int, vector_plans.Plan] = {}
        self._summing = False  # before that no sum has anything to give to its state
        self.backwards = self.inner = False
        self.pre_lower()
        entry = self.builder.basic_block
        self.blkmap[self.firstblk] = self.new_block("body")
        self.builder.position_at_end(self.blkmap[self.firstblk])
        for (argument, kind), bits in zip(kinds.items(), self.fnargs, strict=True):
            self._assign(argument, Value(kind, bits))
        line = types.Array(types.float64, 1, "C")
        sums_fit = current().lanes(64) == lanes.LANES
        self.sums: Mapping[str, vector_plans.Terms] = {
            name: self._sum_of(call)
            for name, call in vector_sums.apart(uses.summed).items()
            if kinds.get(name) == line and self.static(call.function) in _ADDED and sums_fit
        }
        self._run(function.body)
        if not self.builder.block.is_terminated:
            self._close_sums()
            self._return(Value(types.none, self.context.get_dummy_value()))
        self.post_lower()
        return entry

    def _run(self, body: Sequence[ir.Statement]) -> None:
        place, vectors = 0, self.fndesc.noalias and vector_loops.available()
        while place < len(body) and not self.builder.block.is_terminated:
            node, rest = body[place], body[place + 1 :]
            self.mark(node)
            if vectors and isinstance(node, ir.For):
                chain = chain_plans.chain(self, body[place:])
                if chain is not None:
                    self._run(chain.before)
                    vector_chains.write(self, chain)
                    place += chain.length
                    continue
            elif vectors and isinstance(node, ir.If):
                more = chain_plans.shared(self, node, rest)
                both = tuple(rest[:more])
                node = replace(node, then=node.then + both, orelse=node.orelse + both)
                place += more
            place += 1
            self._statement(node)

    def _statement(self, node: ir.Statement) -> None:
        match node:
            case ir.Let((name,), ir.Binary(left=ir.Name(counter)) as expression) if counter == name:
                self._close_sums(expression)
                self._assign(name, self.value(expression))  # LLVM sees how it grows
            case ir.Let(targets, expression):
                self._close_sums(expression)
                self._let(targets, self._opaque(expression))
            case ir.Store(array, offset, expression):
                self._close_sums(array, offset, expression)
                self._apply(self.static("st"), list(map(self.value, (array, offset, expression))))
            case ir.SetElement(array, index, expression):
                self._close_sums(ir.Name(array), *index, expression)
                value, whole = self._opaque(expression), self.named(array)
                self._put(whole, self._places(whole, index), value)
            case ir.Do():
                self._do(node)
            case ir.If():
                self._branch(node)
            case ir.For():
                self._for(node)
            case ir.While():
                self._while(node)
            case ir.Return(result):
                self._close_sums()
                nothing = Value(types.none, self.context.get_dummy_value())
                self._return(nothing if result is None else self.value(result))

    def _do(self, node: ir.Do) -> None:
        """Write a call; lines that are added up may have been added up where they were made."""
        found = vector_sums.summed(node)
        known = self.sums.get(found[0]) if found else None
        if found is None or known is None:
            self._close_sums(node.call)
            self.value(node.call)
            return
        self._summing = True
        *_, start, count = found[1].arguments
        place, many = self.integer_of(start), self.integer_of(count)
        known.end(place, many, lambda: self.value(node.call))

    def _close_sums(self, *reading: ir.Expression) -> None:
        """Give states what sums still have: all, or those of which some expressions read."""
        if not self._summing:
            return
        read = vector_sums.states(reading)
        for one in self.sums.values():
            name, row = one.state
            rows = {number for array, number in read if array == name}
            if (
                not reading
                or None in rows
                or row in rows
                or (rows and not isinstance(row, ir.Integer))
            ):
                one.close()

    def _sum_of(self, call: ir.Call) -> vector_sums.Sum:
        """Return the sum that a call adds lines to."""
        state, row = call.arguments[:2]
        assert isinstance(state, ir.Name)

        def place() -> Any:
            array, number = self.value(state), self.integer_of(row)
            return lanes.state_of(self.context, self.builder, array.kind, array.bits, number)

        squares = self.static(call.function) is lanes.accumulate_squares
        return vector_sums.Sum(self, (state.name, row), place, squares=squares)

    def _truth(self, node: ir.Expression) -> Any:
        """Return LLVM's value of a condition, behind the sums that it reads."""
        self._close_sums(node)
        return super()._truth(node)

    def _let(self, targets: Sequence[str], value: Value) -> None:
        if len(targets) == 1:
            self._assign(targets[0], value)
            return
        for number, name in enumerate(targets):
            self._assign(name, self._part(value, number))

    def _opaque(self, node: ir.Expression) -> Value:
        """Return the value of an expression; outside of inner loops, LLVM takes no sum apart.

        Loops along a line access elements at such sums. LLVM would try all ways to split the sums
        between registers, which takes it as long as all the rest of its work on a loop.
        """
        found = self.value(node)
        if self.inner or not isinstance(node, ir.Binary) or found.kind != types.intp:
            return found
        block, bits = self.builder.block, found.bits
        frozen = llvm.instructions.Instruction(block, bits.type, "freeze", [bits])
        self.builder._insert(frozen)  # llvmlite has no name for it
        return Value(found.kind, frozen)

    def _return(self, value: Value) -> None:
        kind = self.fndesc.restype
        bits = self.context.get_return_value(self.builder, kind, self._kept(value, kind))
        self.call_conv.return_value(self.builder, bits)

    def _branch(self, node: ir.If) -> None:
        then, orelse, end = (self.new_block(name) for name in ("then", "else", "end"))
        self.builder.cbranch(self._truth(node.test), then, orelse)
        ends = False
        for block, body in ((then, node.then), (orelse, node.orelse)):
            self.builder.position_at_end(block)
            self._run(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(end)
                ends = True
        self.builder.position_at_end(end)
        if not ends:
            self.builder.unreachable()

    def _for(self, node: ir.For) -> None:
        """Write a loop."""
        if self.sums and not self._summing:
            self._summing = any(map(vector_sums.summed, ir.statements(node.body)))
        bounds = node.start, node.stop, node.step
        self._close_sums(*bounds)
        values = [self.value(bound) for bound in bounds]
        start, stop, step = (self._kept(value, types.intp) for value in values)
        if node.step == ir.Integer(1):
            self._between(node, start, stop)
        else:
            self._rows(node, start, stop, step)

    def _between(self, node: ir.For, start: Any, stop: Any) -> None:
        """Write a loop over all rows from one until another: over vectors, or row by row."""
        plan = None
        if self.fndesc.noalias and vector_loops.available():
            plan = vector_plans.plan(self, node)
        inside = plan.inside if plan else line_sides.inside(node.body, node.variable)
        inside = None if inside and inside.by_line else inside
        if plan is not None and not plan.far and not (inside and len(plan.parts) > 1):
            vector_loops.write(self, plan, start, stop)
        elif inside is not None:
            self._inside_and_ends(node, inside, start, stop)
        elif plan is not None:
            self._near_or_far(plan, start, stop)
        else:
            self._rows(node, start, stop, self._integer(1).bits)

    def _inside_and_ends(
        self, node: ir.For, inside: line_sides.Inside, start: Any, stop: Any
    ) -> None:
        """Write a loop as one of the rows inside, and one at each end of the line."""
        b, one = self.builder, self._integer(1).bits
        low, high = line_sides.limits(b, self.integer_of, inside.sides, start, stop)
        first = line_sides.extreme(b, "<", (low, stop))
        last = line_sides.extreme(b, ">", (low, high))
        self._rows(node, start, first, one, few=True)
        self._between(replace(node, body=inside.body), low, high)
        self._rows(node, last, stop, one, few=True)

    def _near_or_far(self, plan: vector_plans.Plan, start: Any, stop: Any) -> None:
        """Write a loop twice: for fields that are far, and for others.

        LLVM is told that they are near. What is for others only lies behind the rest of the code
        then, and takes no registers from it; where fields are far, memory is what they wait for.
        """
        far, near, end = (self.new_block(name) for name in ("far", "near", "end"))
        chosen = self.builder.cbranch(requests.are_far(self, plan), far, near)
        chosen.set_weights(NEARLY_NEVER)
        self.builder.position_at_end(far)
        vector_loops.write_masked(self, plan, start, stop)
        self.builder.branch(end)
        self.builder.position_at_end(near)
        self._rows(plan.loop, start, stop, self._integer(1).bits)
        self.builder.branch(end)
        self.builder.position_at_end(end)

    def write_rows(self, node: ir.For, start: Any, stop: Any) -> None:
        """Write a loop of few rows, row by row."""
        self._rows(node, start, stop, self._integer(1).bits, few=True)

    def _rows(self, node: ir.For, start: Any, stop: Any, step: Any, *, few: bool = False) -> None:
        """Write a loop over a range row by row; LLVM makes vectors of it if it can, and not few."""
        test, body, end = (self.new_block(n) for n in ("range", "row", "end"))
        before = self.builder.block
        self.builder.branch(test)
        self.builder.position_at_end(test)
        counter = self.builder.phi(start.type, node.variable)
        counter.add_incoming(start, before)
        inside = self.builder.icmp_signed("<", counter, stop)
        if node.step != ir.Integer(1):
            upwards = self.builder.icmp_signed(">", step, step.type(0))
            above = self.builder.icmp_signed(">", counter, stop)
            inside = self.builder.select(upwards, inside, above)
        self.builder.cbranch(inside, body, end)
        self.builder.position_at_end(body)
        self._assign(node.variable, Value(types.intp, counter))
        first = len(self.function.blocks)
        around = self.backwards, self.inner
        self.backwards |= _is_negative(node.step)
        self.inner = not any(isinstance(one, ir.For) for one in ir.statements(node.body))
        self._run(node.body)
        self.backwards, self.inner = around
        if not self.builder.block.is_terminated:
            following = self.builder.add(counter, step, flags=["nsw"])
            counter.add_incoming(following, self.builder.block)
            back = self.builder.branch(test)
            if few:
                one = ["llvm.loop.vectorize.width", llvm.IntType(32)(1)]
                back.set_metadata("llvm.loop", self.loop(one, ["llvm.loop.unroll.disable"]))
            elif node.order == "interleaved":
                two = ["llvm.loop.interleave.count", llvm.IntType(32)(2)]
                back.set_metadata("llvm.loop", self.loop(two))
            elif node.order == "independent":
                group = self._accesses([body, *self.function.blocks[first:]])
                back.set_metadata("llvm.loop", self.loop(["llvm.loop.parallel_accesses", group]))
        self.builder.position_at_end(end)

    def loop(self, *facts: list[Any]) -> llvm.MDValue:
        """Return what tells LLVM facts about a loop: it names itself, and them."""
        known = map(self.module.add_metadata, facts)
        loop = llvm.MDValue(self.module, (), name=str(len(self.module.metadata)))
        loop.operands = (loop, *known)
        return loop

    def _accesses(self, blocks: Sequence[Any]) -> _Group:
        """Return the group of all loads and stores of some blocks."""
        group = _Group(self.module)
        for instruction in (one for block in blocks for one in block.instructions):
            if instruction.opname in ("load", "store"):
                instruction.set_metadata("llvm.access.group", group)
        return group

    def mark(self, node: ir.Statement) -> None:
        """Let what follows stand for a statement, at its line of the printed module."""
        self.debuginfo.mark_location(self.builder, node.line)

    def _while(self, node: ir.While) -> None:
        test, body, end = (self.new_block(n) for n in ("while", "body", "end"))
        self.builder.branch(test)
        self.builder.position_at_end(test)
        self.builder.cbranch(self._truth(node.test), body, end)
        self.builder.position_at_end(body)
        self._run(node.body)
        if not self.builder.block.is_terminated:
            self.builder.branch(test)
        self.builder.position_at_end(end)


def _is_negative(step: ir.Expression) -> bool:
    match step:
        case ir.Integer(number):
            return number < 0
    return isinstance(step, ir.Negative)
