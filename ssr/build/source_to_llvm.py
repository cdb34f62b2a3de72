"""The body of a generated function in LLVM's language, straight from its source.

Numba reads the bytecode of a function, finds its variables and infers their types from all their
uses. That is for functions that people write. In generated ones the type of every value follows
from those before it, and most variables are assigned once, so that one walk over the source does.
What operations, functions and conversions mean is still looked up with Numba, and is the same.

The language is that of kernels: numbers, arrays, tuples; assignments, branches, loops over ranges,
loops with a condition; calls of the functions of ``runtime``, of ufuncs, and of other parts.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir as llvm
from numba.core import types
from numba.core.cgutils import alloca_once, get_item_pointer2, unpack_tuple
from numba.core.errors import UnsupportedError
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

from ..runtime import descriptors, intrinsics, lanes
from . import (
    chain_plans,
    instructions,
    line_sides,
    python_wrapper,
    requests,
    streaming,
    vector_chains,
    vector_loops,
    vector_plans,
    vector_sums,
)

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.USub: operator.neg,
    ast.Not: operator.not_, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip

_COSTLY = ast.Call, ast.Subscript, ast.Div, ast.FloorDiv, ast.Mod
"""What is not done unless an earlier operand of ``and`` or ``or`` asks for it."""

NEARLY_NEVER = 1, 1_000_000
"""How often a branch is taken, and how often it is not."""


@lru_cache(maxsize=8)
def _functions(text: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module by name."""
    nodes = _statements(ast.parse(text))
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def source_of(function: FunctionType) -> ast.FunctionDef:
    """Return the source of a function as a tree."""
    lines = linecache.getlines(function.__code__.co_filename)
    return _functions("".join(lines))[function.__code__.co_name]


def result_of(function: FunctionType) -> Any:
    """Return the type of what a function returns, as Numba names it: an integer, or nothing."""
    returns = (n for n in _statements(source_of(function)) if isinstance(n, ast.Return))
    return types.intp if any(node.value is not None for node in returns) else types.none


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements in the blocks of a module, a function or a statement."""
    for block in ("body", "orelse"):
        for one in getattr(node, block, ()):
            yield one
            yield from _statements(one)


class Value(NamedTuple):
    """A value of a function under translation: Numba's type, and LLVM's value."""

    kind: Any
    bits: Any


class _Uses(ast.NodeVisitor):
    """Where variables are assigned and read.

    An assignment is in force until its block ends. A variable is *plain* if no two of its
    assignments are in force at one place, and it is read only where one is: each reading then
    means one assignment, and no memory is needed. Variables that are assigned once have
    ``definitions``. Some names are read or assigned ``in_loops``. The lines of ``summed`` arrays
    are added up by one call each, and stored by one statement; nothing else is done with them.
    Nothing reads elements of ``unread`` arrays.
    """

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.in_loops: set[str] = set()
        self._place = self._loops = 0
        self._values: dict[str, ast.expr] = {}
        self._calls: dict[str, ast.Call] = {}
        self._outside: Counter[str] = Counter()
        self._open: list[list[tuple[str, int]]] = [[]]
        self._assigned: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._read: dict[str, list[int]] = defaultdict(list)
        for argument in tree.args.args:
            self._open[-1].append((argument.arg, 0))
        self._block(tree.body)
        self._close()
        self.plain = frozenset(name for name in self._assigned if self._is_plain(name))
        self.definitions = {
            name: value for name, value in self._values.items() if len(self._assigned[name]) == 1
        }

    @property
    def summed(self) -> Mapping[str, ast.Call]:
        """The calls that add up arrays."""
        return {name: call for name, call in self._calls.items() if len(self._read[name]) == 2}

    @property
    def unread(self) -> frozenset[str]:
        """The names that only stores mention, and checks of arguments."""
        return frozenset(n for n, count in self._outside.items() if count == len(self._read[n]))

    def _is_plain(self, name: str) -> bool:
        spans = sorted(self._assigned[name])
        apart = all(a[1] < b[0] for a, b in pairwise(spans))
        return apart and all(any(a < here <= b for a, b in spans) for here in self._read[name])

    def _block(self, body: Sequence[ast.stmt], target: str | None = None) -> None:
        self._open.append([])
        if target is not None:
            self._assign(target)
        for node in body:
            self.visit(node)
        self._close()

    def _close(self) -> None:
        self._place += 1
        for name, begin in self._open.pop():
            self._assigned[name].append((begin, self._place))

    def _assign(self, name: str) -> None:
        self._place += 1
        self._open[-1].append((name, self._place))

    def visit_Name(self, node: ast.Name) -> None:
        """Note a reading or an assignment."""
        if self._loops:
            self.in_loops.add(node.id)
        if isinstance(node.ctx, ast.Store):
            self._assign(node.id)
        else:
            self._place += 1
            self._read[node.id].append(self._place)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Visit what is assigned before what it is assigned to."""
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
        if isinstance(node.targets[0], ast.Name):
            self._values[node.targets[0].id] = node.value

    def visit_Expr(self, node: ast.Expr) -> None:
        """Note calls that add up lines."""
        found = vector_sums.summed(node)
        if found is not None:
            self._calls[found[0]] = found[1]
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        """Note the arrays that functions do not read."""
        match node:
            case ast.Call(ast.Name(id="st" | "address"), [ast.Name(id=array), *_]):
                self._outside[array] += 1
            case ast.Call(ast.Name(id="refused"), [ast.Tuple(elts=arrays), *_]):
                self._outside.update(ast.unparse(array) for array in arrays)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Note that the target is read, too."""
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self._place += 1
            self._read[node.target.id].append(self._place)
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        """Visit the bounds, then the body, at whose beginning the variable is assigned."""
        self.visit(node.iter)
        assert isinstance(node.target, ast.Name)
        self._loops += 1
        self._block(node.body, node.target.id)
        self._loops -= 1

    def visit_While(self, node: ast.While) -> None:
        """Visit the condition, which is read again after the body."""
        self.visit(node.test)
        self._block(node.body)
        self.visit(node.test)

    def visit_If(self, node: ast.If) -> None:
        """Visit the condition and both branches."""
        self.visit(node.test)
        self._block(node.body)
        self._block(node.orelse)


class _Group(llvm.MDValue):  # type: ignore[misc]
    """A group of accesses to memory in LLVM's language: it is told from others by being another."""

    def __init__(self, module: Any) -> None:
        super().__init__(module, (), name=str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        """Write what it is."""
        buf.append("distinct !{}\n")


class Translation(Lower):
    """The translation of a generated function, in the place of Numba's from its own language."""

    def init(self) -> None:
        """Numba looks for variables here that are assigned once."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        names = instructions.Names(self.function.scope)
        self.function.scope = self.entry_block.scope = names
        self.builder = instructions.Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def lower_normal_function(self, fndesc: Any) -> None:
        """Write a function, and what Python calls to run it."""
        super().lower_normal_function(fndesc)
        if not self.flags.no_cpython_wrapper:
            python_wrapper.write(self.context, self.function, fndesc, may_raise=not fndesc.noalias)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Numba writes its own one here."""

    def lower_function_body(self) -> Any:
        """Write the function, and return the block at whose end its body begins."""
        function = self.func_ir.func_id.func
        tree = source_of(function)
        self._globals = function.__globals__
        self._typing = self.context.typing_context
        uses = _Uses(tree)
        self.plain = uses.plain
        self.definitions: Mapping[str, ast.expr] = uses.definitions
        kinds = dict(zip((one.arg for one in tree.args.args), self.fndesc.argtypes, strict=True))
        arrays = {n: kind for n, kind in kinds.items() if isinstance(kind, types.Array)}
        self.arrays = len(arrays.keys() & uses.in_loops)
        self.fields: Sequence[str] = [name for name, kind in arrays.items() if kind.layout == "A"]
        self.unread = uses.unread
        self.loops = 0
        self.plans: dict[ast.For, vector_plans.Plan] = {}
        self._summing = False  # before that no sum has anything to give to its state
        self.backwards = self.inner = False
        self._values: dict[str, Value] = {}
        self._memory: dict[str, Value] = {}
        self._known: dict[Any, tuple[Any, Any]] = {}
        self.pre_lower()
        entry = self.builder.basic_block
        self.blkmap[self.firstblk] = self.new_block("body")
        self.builder.position_at_end(self.blkmap[self.firstblk])
        for argument, kind, bits in zip(
            tree.args.args, self.fndesc.argtypes, self.fnargs, strict=True
        ):
            self._assign(argument.arg, Value(kind, bits))
        line = types.Array(types.float64, 1, "C")
        self.sums: Mapping[str, vector_plans.Terms] = {
            name: self._sum_of(call)
            for name, call in vector_sums.apart(uses.summed).items()
            if kinds.get(name) == line and self.static(call.func) is lanes.accumulate
        }
        self._run(tree.body)
        if not self.builder.block.is_terminated:
            self._close_sums()
            self._return(Value(types.none, self.context.get_dummy_value()))
        self.post_lower()
        streaming.settle(self.function)
        return entry

    def new_block(self, name: str) -> Any:
        """Return a new basic block at the end of the function."""
        return self.function.append_basic_block(name)

    def _refuse(self, node: ast.AST) -> UnsupportedError:
        where = f"line {getattr(node, 'lineno', '?')} of {self.func_ir.func_id.func_name}"
        return UnsupportedError(f"Generated functions have no such source: {where}.")

    # statements

    def _run(self, body: Sequence[ast.stmt]) -> None:
        place, vectors = 0, self.fndesc.noalias and vector_loops.available()
        while place < len(body) and not self.builder.block.is_terminated:
            node, rest = body[place], body[place + 1 :]
            self.mark(node)
            if vectors and isinstance(node, ast.For):
                chain = chain_plans.chain(self, body[place:])
                if chain is not None:
                    self._run(chain.before)
                    vector_chains.write(self, chain)
                    place += chain.length
                    continue
            elif vectors and isinstance(node, ast.If):
                more = chain_plans.shared(self, node, rest)
                sides = [*node.body, *rest[:more]], [*node.orelse, *rest[:more]]
                node = ast.If(node.test, *sides) if more else node
                place += more
            place += 1
            match node:
                case ast.Assign(targets=[target]):
                    self._close_sums(node)
                    self._store(target, self._opaque(node.value))
                case ast.AugAssign():
                    self._close_sums(node)
                    self._augment(node)
                case ast.Expr():
                    self._do(node)
                case ast.If():
                    self._branch(node)
                case ast.For():
                    self._for(node)
                case ast.While():
                    self._while(node)
                case ast.Return(value=None):
                    self._close_sums()
                    self._return(Value(types.none, self.context.get_dummy_value()))
                case ast.Return(value=value) if value is not None:
                    self._close_sums()
                    self._return(self.value(value))
                case _:
                    raise self._refuse(node)

    def _do(self, node: ast.Expr) -> None:
        """Write a call; lines that are added up may have been added up where they were made."""
        found = vector_sums.summed(node)
        known = self.sums.get(found[0]) if found else None
        if found is None or known is None:
            self._close_sums(node)
            self.value(node.value)
            return
        self._summing = True
        *_, start, count = found[1].args
        place, many = self.integer_of(start), self.integer_of(count)
        known.end(place, many, lambda: self.value(node.value))

    def _close_sums(self, *reading: ast.AST) -> None:
        """Give states what sums still have: all, or those of which some expressions read."""
        if not self._summing:
            return
        read = vector_sums.states(reading)
        for one in self.sums.values():
            name, row = one.state
            rows = {number for array, number in read if array == name}
            if not reading or None in rows or row in rows or (rows and not row.isdigit()):
                one.close()

    def _sum_of(self, call: ast.Call) -> vector_sums.Sum:
        """Return the sum that a call adds lines to."""
        state, row = call.args[:2]
        assert isinstance(state, ast.Name)

        def place() -> Any:
            array, number = self.value(state), self.integer_of(row)
            return lanes.state_of(self.context, self.builder, array.kind, array.bits, number)

        return vector_sums.Sum(self, (state.id, ast.unparse(row)), place)

    def _store(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self._assign(name, value)
            case ast.Tuple(elts=targets):
                for n, part in enumerate(targets):
                    self._store(part, self._part(value, n))
            case ast.Subscript():
                array = self.value(target.value)
                self._put(array, self._places(array, target.slice), value)
            case _:
                raise self._refuse(target)

    def _opaque(self, node: ast.expr) -> Value:
        """Return the value of an expression; outside of inner loops, LLVM takes no sum apart.

        Loops along a line access elements at such sums. LLVM would try all ways to split the sums
        between registers, which takes it as long as all the rest of its work on a loop.
        """
        found = self.value(node)
        if self.inner or not isinstance(node, ast.BinOp) or found.kind != types.intp:
            return found
        block, bits = self.builder.block, found.bits
        frozen = llvm.instructions.Instruction(block, bits.type, "freeze", [bits])
        self.builder._insert(frozen)  # llvmlite has no name for it
        return Value(found.kind, frozen)

    def _augment(self, node: ast.AugAssign) -> None:
        """Write ``x += y`` as ``x = x + y``; numbers are changed in no other way."""
        more = self.value(node.value)
        match node.target:
            case ast.Name(id=name):
                self._assign(name, self._apply(_OPERATORS[type(node.op)], (self.named(name), more)))
            case ast.Subscript():
                array = self.value(node.target.value)
                places = self._places(array, node.target.slice)
                old = self._at(array, places)
                self._put(array, places, self._apply(_OPERATORS[type(node.op)], (old, more)))
            case _:
                raise self._refuse(node)

    def _assign(self, name: str, value: Value) -> None:
        if name in self.plain:
            self._values[name] = value
            return
        if name not in self._memory:
            room = alloca_once(self.builder, value.bits.type, name=name)
            self._memory[name] = Value(value.kind, room)
        kind, room = self._memory[name]
        self.builder.store(self._kept(value, kind), room)

    def named(self, name: str) -> Value:
        """Return the value of a variable."""
        if name in self._memory:
            kind, room = self._memory[name]
            return Value(kind, self.builder.load(room))
        return self._values[name]

    def _return(self, value: Value) -> None:
        kind = self.fndesc.restype
        bits = self.context.get_return_value(self.builder, kind, self._kept(value, kind))
        self.call_conv.return_value(self.builder, bits)

    def _branch(self, node: ast.If) -> None:
        then, orelse, end = (self.new_block(name) for name in ("then", "else", "end"))
        self.builder.cbranch(self._truth(node.test), then, orelse)
        ends = False
        for block, body in ((then, node.body), (orelse, node.orelse)):
            self.builder.position_at_end(block)
            self._run(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(end)
                ends = True
        self.builder.position_at_end(end)
        if not ends:
            self.builder.unreachable()

    def _for(self, node: ast.For) -> None:
        """Write a loop over a range."""
        if self.sums and not self._summing:
            inside = (one for one in ast.walk(node) if isinstance(one, ast.Expr))
            self._summing = any(map(vector_sums.summed, inside))
        match node:
            case ast.For(
                target=ast.Name(),
                iter=ast.Call(
                    func=ast.Name(id="range" | "interleaved" | "independent" as kind), args=bounds
                ),
                orelse=[],
            ):
                self._close_sums(*bounds)
                given = [self.value(bound) for bound in bounds]
            case _:
                raise self._refuse(node)
        zero, one = self._integer(0), self._integer(1)
        ranges = {1: (zero, *given, one), 2: (*given, one), 3: tuple(given)}
        start, stop, step = (self._kept(bound, types.intp) for bound in ranges[len(given)])
        if len(bounds) == 3:
            self._rows(node, start, stop, step)
        else:
            self._between(node, kind, start, stop)

    def _between(self, node: ast.For, kind: str, start: Any, stop: Any) -> None:
        """Write a loop over all rows from one until another: over vectors, or row by row."""
        assert isinstance(node.target, ast.Name)
        plan, one = None, self._integer(1).bits
        if self.fndesc.noalias and vector_loops.available():
            plan = vector_plans.plan(self, node, kind)
        inside = plan.inside if plan else line_sides.inside(node.body, node.target.id)
        inside = None if inside and inside.by_line else inside
        if plan is not None and not plan.far and not (inside and len(plan.parts) > 1):
            vector_loops.write(self, node, plan, start, stop)
        elif inside is not None:
            self._inside_and_ends(node, kind, inside, start, stop)
        elif plan is not None:
            self._near_or_far(node, plan, start, stop, one)
        else:
            self._rows(node, start, stop, one)

    def _inside_and_ends(
        self, node: ast.For, kind: str, inside: line_sides.Inside, start: Any, stop: Any
    ) -> None:
        """Write a loop as one of the rows inside, and one at each end of the line."""
        b, one = self.builder, self._integer(1).bits
        low, high = line_sides.limits(b, self.integer_of, inside.sides, start, stop)
        first = line_sides.extreme(b, "<", (low, stop))
        last = line_sides.extreme(b, ">", (low, high))
        self._rows(node, start, first, one, few=True)
        inner = ast.copy_location(ast.For(node.target, node.iter, inside.body, []), node)
        self._between(inner, kind, low, high)
        self._rows(node, last, stop, one, few=True)

    def _near_or_far(
        self, node: ast.For, plan: vector_plans.Plan, start: Any, stop: Any, step: Any
    ) -> None:
        """Write a loop twice: for fields that are far, and for others.

        LLVM is told that they are near. What is for others only lies behind the rest of the code
        then, and takes no registers from it; where fields are far, memory is what they wait for.
        """
        far, near, end = (self.new_block(name) for name in ("far", "near", "end"))
        chosen = self.builder.cbranch(requests.are_far(self, plan), far, near)
        chosen.set_weights(NEARLY_NEVER)
        self.builder.position_at_end(far)
        vector_loops.write_masked(self, node, plan, start, stop)
        self.builder.branch(end)
        self.builder.position_at_end(near)
        self._rows(node, start, stop, step)
        self.builder.branch(end)
        self.builder.position_at_end(end)

    def _rows(self, node: ast.For, start: Any, stop: Any, step: Any, *, few: bool = False) -> None:
        """Write a loop over a range row by row; LLVM makes vectors of it if it can, and not few."""
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        assert isinstance(node.iter.func, ast.Name)
        name, kind, bounds = node.target.id, node.iter.func.id, node.iter.args
        test, body, end = (self.new_block(n) for n in ("range", "row", "end"))
        before = self.builder.block
        self.builder.branch(test)
        self.builder.position_at_end(test)
        counter = self.builder.phi(start.type, name)
        counter.add_incoming(start, before)
        inside = self.builder.icmp_signed("<", counter, stop)
        if len(bounds) == 3:
            upwards = self.builder.icmp_signed(">", step, step.type(0))
            above = self.builder.icmp_signed(">", counter, stop)
            inside = self.builder.select(upwards, inside, above)
        self.builder.cbranch(inside, body, end)
        self.builder.position_at_end(body)
        self._assign(name, Value(types.intp, counter))
        first = len(self.function.blocks)
        around = self.loops, self.backwards, self.inner
        self.loops += 1
        self.backwards |= len(bounds) == 3 and isinstance(bounds[2], ast.UnaryOp)
        inside = (one for one in ast.walk(node) if one is not node)
        self.inner = not any(isinstance(one, ast.For) for one in inside)
        self._run(node.body)
        self.loops, self.backwards, self.inner = around
        if not self.builder.block.is_terminated:
            following = self.builder.add(counter, step, flags=["nsw"])
            counter.add_incoming(following, self.builder.block)
            back = self.builder.branch(test)
            if few:
                one = ["llvm.loop.vectorize.width", llvm.IntType(32)(1)]
                back.set_metadata("llvm.loop", self.loop(one, ["llvm.loop.unroll.disable"]))
            elif kind == "interleaved":
                two = ["llvm.loop.interleave.count", llvm.IntType(32)(2)]
                back.set_metadata("llvm.loop", self.loop(two))
            elif kind == "independent":
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

    # what loops over vectors ask for

    def kind_of(self, name: str) -> Any:
        """Return the type of a name that has a value, as Numba names it."""
        known = self._memory.get(name) or self._values.get(name)
        if known is not None:
            return known.kind
        value = self._globals.get(name)
        return None if isinstance(value, str) else self._typing.resolve_value_type(value)

    def mark(self, node: ast.stmt) -> None:
        """Let what follows stand for a statement, in what is known about lines of the source."""
        self.debuginfo.mark_location(self.builder, node.lineno)

    def counts(self, name: str, bits: Any) -> None:
        """Let the variable of a loop be an integer of LLVM's."""
        self._assign(name, Value(types.intp, bits))

    def start_of(self, array: str) -> Any:
        """Return the address of an array's first element."""
        kind, bits = self.named(array)
        return intrinsics.first(self.context, self.builder, kind, bits)

    def steps_of(self, array: str) -> Any:
        """Return the bits of all bytes between neighbours of an array, but for its last axis."""
        value = self.named(array)
        steps = self._member(value, "strides")
        found = self._integer(0).bits
        for axis in range(value.kind.ndim - 1):
            found = self.builder.or_(found, self.builder.extract_value(steps, axis))
        return found

    def pitch_of(self, array: str) -> Any:
        """Return how many elements lie between neighbours of an array along its last axis but one.

        Of an array with one axis, it is nought.
        """
        value = self.named(array)
        if value.kind.ndim < 2:
            return self._integer(0).bits
        step = self.builder.extract_value(self._member(value, "strides"), value.kind.ndim - 2)
        size = self._integer(descriptors.itemsize(value.kind)).bits
        return self.builder.sdiv(step, size)

    def count_of(self, array: str) -> Any:
        """Return the number of elements of an array."""
        return self._member(self.named(array), "nitems")

    def _member(self, value: Value, name: str) -> Any:
        """Return a member of what describes an array."""
        return descriptors.member(self.context, self.builder, value.kind, value.bits, name)

    def bits_of(self, node: ast.expr) -> Any:
        """Return LLVM's value of an expression."""
        return self.value(node).bits

    def integer_of(self, node: ast.expr) -> Any:
        """Return LLVM's value of an integer."""
        return self._kept(self.value(node), types.intp)

    def _while(self, node: ast.While) -> None:
        test, body, end = (self.new_block(n) for n in ("while", "body", "end"))
        self.builder.branch(test)
        self.builder.position_at_end(test)
        self.builder.cbranch(self._truth(node.test), body, end)
        self.builder.position_at_end(body)
        self._run(node.body)
        if not self.builder.block.is_terminated:
            self.builder.branch(test)
        self.builder.position_at_end(end)

    # values

    def value(self, node: ast.expr) -> Value:
        """Write what computes an expression, and return its value."""
        match node:
            case ast.Name(id=name):
                if name in self._memory or name in self._values:
                    return self.named(name)
                return self._constant(self.static(node))
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
                return self._extreme("<" if name == "min" else ">", args)
            case ast.Call(func=function, args=args, keywords=[]):
                return self._apply(self.static(function), [self.value(a) for a in args])
            case ast.BinOp(left, ast.FloorDiv() | ast.Mod() as op, ast.Constant(value=int(number))):
                return self._divided(self.value(left), op, number)
            case ast.BinOp(left, op, right):
                return self._apply(_OPERATORS[type(op)], (self.value(left), self.value(right)))
            case ast.Constant(value=int(number)):
                return self._integer(number)
            case ast.Constant(value=value):
                return self._constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return self._integer(-number)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Value(types.boolean, self.builder.not_(self._truth(operand)))
            case ast.UnaryOp(op, operand):
                return self._apply(_OPERATORS[type(op)], (self.value(operand),))
            case ast.Compare():
                return self._comparison(node)
            case ast.BoolOp():
                return self._both(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.Tuple(elts=parts):
                values = [self.value(part) for part in parts]
                kind = types.BaseTuple.from_types(tuple(v.kind for v in values))
                bits = self.context.make_tuple(self.builder, kind, [v.bits for v in values])
                return Value(kind, bits)
            case ast.Subscript(value=whole, slice=index):
                return self._element(self.value(whole), index)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return self._attribute(self.named(name), attribute)
        raise self._refuse(node)

    def static(self, node: ast.expr) -> Any:
        """Return what a name means outside of the function."""
        match node:
            case ast.Name(id=name):
                return self._globals[name] if name in self._globals else getattr(builtins, name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                module = self._globals[name]
                assert isinstance(module, ModuleType)
                return getattr(module, attribute)
        raise self._refuse(node)

    def _constant(self, value: Any) -> Value:
        """Return a number of the module; a text there is a type of its own, as Numba has it."""
        is_text = isinstance(value, str)
        kind = types.literal(value) if is_text else self._typing.resolve_value_type(value)
        return Value(kind, self.context.get_constant_generic(self.builder, kind, value))

    def _integer(self, number: int) -> Value:
        return Value(types.intp, self.context.get_constant(types.intp, number))

    def _as(self, value: Value, kind: Any) -> Any:
        """Return LLVM's value of a value as one of a type."""
        if value.kind == kind:
            return value.bits
        return self.context.cast(self.builder, value.bits, value.kind, kind)

    def _kept(self, value: Value, kind: Any) -> Any:
        """Return LLVM's value of a value as one of a type that holds all of its type."""
        if value.kind != kind and self._typing.unify_types(kind, value.kind) != kind:
            raise UnsupportedError(f"A variable of type {kind} is given one of {value.kind}.")
        return self._as(value, kind)

    def _apply(self, function: Any, values: Sequence[Value]) -> Value:
        """Return what a function or an operator makes of values."""
        kinds, given = [value.kind for value in values], [value.bits for value in values]
        found = instructions.arithmetic(self.builder, function, kinds, given)
        if found is not None:
            return Value(
                types.boolean if function in instructions.ORDERS else values[0].kind, found
            )
        if function in (np.sqrt, builtins.abs) and isinstance(kinds[0], types.Float):
            return Value(kinds[0], self._in_llvm(vector_plans.IN_LLVM[function], *given))
        key = function, tuple(kinds)
        if key not in self._known:
            kind = self._typing.resolve_value_type(function)
            signature = self._typing.resolve_function_type(kind, key[1], {})
            if signature is None:
                raise UnsupportedError(f"There is no {function} of {key[1]}.")
            self._known[key] = signature, self.context.get_function(kind, signature)
        signature, write = self._known[key]
        bits = [self._as(value, kind) for value, kind in zip(values, signature.args, strict=True)]
        return Value(signature.return_type, write(self.builder, bits))

    def _in_llvm(self, name: str, value: Any) -> Any:
        """Return what one of LLVM's functions makes of a number, as of each one of a vector."""
        return self.builder.call(self.module.declare_intrinsic(name, [value.type]), [value])

    def _divided(self, value: Value, op: ast.operator, number: int) -> Value:
        """Return the quotient, rounded down, or the remainder of an integer and a known one."""
        if value.kind != types.intp or number <= 0:
            return self._apply(_OPERATORS[type(op)], (value, self._integer(number)))
        builder, divisor, zero = self.builder, self._integer(number).bits, self._integer(0).bits
        rest = builder.srem(value.bits, divisor)
        below = builder.icmp_signed("<", rest, zero)
        if isinstance(op, ast.Mod):
            found = builder.select(below, builder.add(rest, divisor), rest)
        else:
            quotient = builder.sdiv(value.bits, divisor)
            found = builder.add(quotient, builder.sext(below, quotient.type))
        return Value(types.intp, found)

    def _truth(self, node: ast.expr) -> Any:
        """Return LLVM's value of a condition."""
        self._close_sums(node)
        kind, bits = self.value(node)
        return bits if kind == types.boolean else self.context.is_true(self.builder, kind, bits)

    def _comparison(self, node: ast.Compare) -> Value:
        found = None
        left = self.value(node.left)
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right = self.value(operand)
            result = self._apply(_OPERATORS[type(op)], (left, right))
            found = result.bits if found is None else self.builder.and_(found, result.bits)
            left = right
        return Value(types.boolean, found)

    def _both(self, node: ast.BoolOp) -> Value:
        """Write ``and`` and ``or``; what costs something is left out where Python leaves it out."""
        is_and = isinstance(node.op, ast.And)
        found = self._truth(node.values[0])
        for operand in node.values[1:]:
            if not any(isinstance(part, _COSTLY) for part in ast.walk(operand)):
                combine = self.builder.and_ if is_and else self.builder.or_
                found = combine(found, self._truth(operand))
                continue
            more, end = self.new_block("more"), self.new_block("end")
            before = self.builder.block
            self.builder.cbranch(found, *((more, end) if is_and else (end, more)))
            self.builder.position_at_end(more)
            other = self._truth(operand)
            after = self.builder.block
            self.builder.branch(end)
            self.builder.position_at_end(end)
            phi = self.builder.phi(found.type)
            phi.add_incoming(found, before)
            phi.add_incoming(other, after)
            found = phi
        return Value(types.boolean, found)

    def _choice(self, node: ast.IfExp) -> Value:
        then, orelse, end = (self.new_block(name) for name in ("then", "else", "end"))
        self.builder.cbranch(self._truth(node.test), then, orelse)
        made = []
        for block, branch in ((then, node.body), (orelse, node.orelse)):
            self.builder.position_at_end(block)
            made.append((self.value(branch), self.builder.block))
        kind = self._typing.unify_types(*(value.kind for value, _ in made))
        ways = []
        for value, block in made:
            self.builder.position_at_end(block)
            ways.append((self._as(value, kind), self.builder.block))
            self.builder.branch(end)
        self.builder.position_at_end(end)
        phi = self.builder.phi(ways[0][0].type)
        for bits, block in ways:
            phi.add_incoming(bits, block)
        return Value(kind, phi)

    def _extreme(self, order: str, nodes: Sequence[ast.expr]) -> Value:
        """Return the least or the greatest of some integers."""
        found, *others = (self._kept(self.value(node), types.intp) for node in nodes)
        for bits in others:
            found = self.builder.select(self.builder.icmp_signed(order, bits, found), bits, found)
        return Value(types.intp, found)

    def _element(self, whole: Value, index: ast.expr) -> Value:
        """Return an element of a tuple or of an array, whose indices are never negative."""
        kind = whole.kind
        if isinstance(kind, types.BaseTuple):
            return self._part(whole, ast.literal_eval(index))
        return self._at(whole, self._places(whole, index))

    def _places(self, array: Value, index: ast.expr) -> list[Any]:
        """Return the place of an element along each axis."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not isinstance(array.kind, types.Array) or array.kind.ndim != len(parts):
            raise self._refuse(index)
        return [self.integer_of(part) for part in parts]

    def _at(self, array: Value, places: Sequence[Any]) -> Value:
        """Return the element of an array at a place."""
        kind, pointer = array.kind, self._place(array, places)
        return Value(kind.dtype, load_item(self.context, self.builder, kind, pointer))

    def _put(self, array: Value, places: Sequence[Any], value: Value) -> None:
        """Store a value in an array at a place."""
        kind, pointer = array.kind, self._place(array, places)
        store_item(self.context, self.builder, kind, self._as(value, kind.dtype), pointer)

    def _place(self, array: Value, places: Sequence[Any]) -> Any:
        """Return the address of an element; what describes an array is not put into memory."""
        data, sizes, steps = (self._member(array, n) for n in ("data", "shape", "strides"))
        if array.kind.layout != "C":
            sizes, steps = (unpack_tuple(self.builder, one) for one in (sizes, steps))
            return get_item_pointer2(
                self.context, self.builder, data, sizes, steps, array.kind.layout, places
            )
        number, *others = places
        for axis, place in enumerate(others, 1):
            before = self.builder.mul(number, self.builder.extract_value(sizes, axis))
            number = self.builder.add(before, place)
        return self.builder.gep(data, [number], inbounds=True)

    def _part(self, whole: Value, number: int) -> Value:
        """Return a part of a tuple."""
        bits = self.builder.extract_value(whole.bits, number)
        return Value(whole.kind.types[number], bits)

    def _attribute(self, value: Value, name: str) -> Value:
        kind = self._typing.resolve_getattr(value.kind, name)
        if isinstance(value.kind, types.Array) and name == "shape":
            return Value(kind, self._member(value, name))
        read = self.context.get_getattr(value.kind, name)
        return Value(kind, read(self.context, self.builder, value.kind, value.bits, name))
