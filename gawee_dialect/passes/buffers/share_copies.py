"""Let one function do all copies of weights into other orders: their sizes are its arguments."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.strided_copies import CopyLoop, StridedCopy, strided_copies
from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.entry import PREPARE, find_function, is_public
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.kernels.structured_kernel import element_of, shape_of
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_tiles import ROLLED, UNROLL
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import located_builder
from gawee_dialect.upstream.arith import index_constant
from gawee_dialect.upstream.walk import all_ops

RANK = 6
"""Loops of the shared function."""

INDEX = IndexType()
IDLE = CopyLoop(1, 0, 0)


@dataclass(frozen=True)
class ShareCopies(ModulePass):
    """Let one function do all copies of weights into other orders: their sizes are its arguments.

    1. A function of one kernel that only moves elements, between dense buffers by dimensions and
       blocks of them, is replaced where `@prepare` calls it by one for all of an element type. It
       is called for whole blocks, and for the rest of each: with offsets, and counts and strides of
       its loops.
    2. Where the output has elements that no point is about, zero is copied to all of it before.
    3. The outer two loops of the function are parallel where those of one kernel are.

    Such kernels differ in little but sizes, are run once, and wait for memory: code for each of
    them would take longer to make than it saves, and that for all sizes other networks know too.
    Comes after `outline-kernels` and `plan-memory`, before kernels are lowered.

    rewrite:
        @prepare(%v, %p, %w, %q) { call @copy_0(%v, %p); call @copy_1(%w, %q) }
        ->
        @prepare(%v, %p, %w, %q) {
          call @strided_copy_f32(%v, %p, %c0, %c0, %c4, ..); call @strided_copy_f32(%w, %q, ..)
        }
    """

    name = "share-copies"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        prepare = find_function(op, PREPARE)
        if prepare is None or len(prepare.body.blocks) != 1:
            return
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, FuncOp)}
        movers = {name: made for name, each in functions.items() if (made := _mover(each))}
        by_element: dict[Attribute, list[tuple[CallOp, Mover]]] = {}
        for call in prepare.body.block.ops:
            if isinstance(call, CallOp) and (mover := movers.get(call.callee.string_value())):
                by_element.setdefault(element_of(mover.kernel.target), []).append((call, mover))
        for element, calls in by_element.items():
            _share(op, element, calls)
            report_statistic(self, f"copies of {element}", len(calls))
        called = {each.callee for each in all_ops(op) if isinstance(each, CallOp)}
        for name in movers:
            if SymbolRefAttr(name) not in called:
                functions[name].detach()
                functions[name].erase()


@dataclass(frozen=True)
class Mover:
    """A function of a kernel that only moves elements, between two arguments by their numbers."""

    kernel: KernelOp
    source: int
    target: int
    copies: Sequence[StridedCopy]


def _mover(function: FuncOp) -> Mover | None:
    """Return what a function moves, where the shared one can do it."""
    if is_public(function) or len(function.body.blocks) != 1:
        return None
    kernel = function.body.block.first_op
    if not isinstance(kernel, KernelOp) or not isinstance(kernel.next_op, ReturnOp):
        return None
    copies = strided_copies(kernel) if kernel.has_zeros_outside else ()
    if not copies or any(len(copy.loops) > RANK for copy in copies):
        return None
    source, target = kernel.inputs[0], kernel.target
    if not isinstance(source, BlockArgument) or not isinstance(target, BlockArgument):
        return None
    return Mover(kernel, source.index, target.index, copies)


def _share(module: ModuleOp, element: Attribute, calls: Sequence[tuple[CallOp, Mover]]) -> None:
    shared = SharedCopy(module, element)
    schedules = [mover.kernel.schedule for _, mover in calls]
    is_parallel = any(each is not None and each.data.parallel for each in schedules)
    made = _copying_function(shared.name, element, is_parallel=is_parallel)
    hand_on_location(module, made)
    module.body.block.add_op(made)
    for call, mover in calls:
        source, target = call.arguments[mover.source], call.arguments[mover.target]
        if not mover.kernel.covers_output():
            fill = StridedCopy(0, 0, [CopyLoop(prod(shape_of(target)), 0, 1)])
            shared.call(call, shared.zero(call), target, fill)
        for copy in mover.copies:
            shared.call(call, source, target, copy)
        call.detach()
        call.erase()


# Calls of the shared function.


@dataclass
class SharedCopy:
    """The function that copies elements of a type, and what it is called with."""

    module: ModuleOp
    element: Attribute
    numbers: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    @property
    def name(self) -> str:
        """What it is called."""
        return f"strided_copy_{self.element}"

    def call(
        self, before: Operation, source: SSAValue, target: SSAValue, copy: StridedCopy
    ) -> None:
        """Insert a copy in front of an op."""
        builder = located_builder(before)
        loops = _padded(copy.loops)
        numbers = [copy.source, copy.target]
        numbers += [each.count for each in loops]
        numbers += [each.source for each in loops]
        numbers += [each.target for each in loops]
        flat = [_flat(builder, each) for each in (source, target)]
        operands = [*flat, *(self._number(before, each) for each in numbers)]
        name = SymbolRefAttr(self.name)
        builder.insert(CallOp.create(operands=operands, properties={"callee": name}))

    def zero(self, before: Operation) -> SSAValue:
        """Insert the address of a zero in front of an op."""
        type = MemRefType(self.element, [1])
        return located_builder(before).insert(memref.GetGlobalOp(self._zero, type)).memref

    @cached_property
    def _zero(self) -> str:
        name = f"{self.name}.zero"
        value = dense_of(np.zeros(1), TensorType(self.element, [1]))
        type = MemRefType(self.element, [1])
        made = memref.GlobalOp.get(StringAttr(name), type, value, constant=UnitAttr())
        first = self.module.body.block.first_op
        assert first is not None
        hand_on_location(first, made)
        self.module.body.block.insert_op_before(made, first)
        return name

    def _number(self, before: Operation, value: int) -> SSAValue:
        """Return a constant, one for each number at the top of the function."""
        if value not in self.numbers:
            block = before.parent_block()
            assert block is not None
            assert block.first_op is not None
            self.numbers[value] = _constant(block, block.first_op, value)
        return self.numbers[value]


def _padded(loops: Sequence[CopyLoop]) -> Sequence[CopyLoop]:
    """Return as many loops as the function has: the outer two are parallel, the last is a row."""
    idle = [IDLE] * (RANK - len(loops))
    outer = min(2, max(0, len(loops) - 1))
    return [*loops[:outer], *idle, *loops[outer:]]


def _constant(block: Block, before: Operation, value: int) -> SSAValue:
    constant = index_constant(value)
    hand_on_location(before, constant)
    block.insert_op_before(constant, before)
    return constant.result


def _flat(builder: Builder, buffer: SSAValue) -> SSAValue:
    """View a dense buffer as elements one after another, of which the type says no number."""
    size = prod(shape_of(buffer))
    line = memref.ReinterpretCastOp(
        buffer, [], [], [], [0], [size], [1], MemRefType(element_of(buffer), [size])
    )
    builder.insert(line)
    type = MemRefType(element_of(buffer), [DYNAMIC_INDEX])
    return builder.insert(memref.CastOp.get(line.result, type)).dest


# The shared function.


def _copying_function(name: str, element: Attribute, *, is_parallel: bool) -> FuncOp:
    """Return a function of source and target, where each begins, and counts and strides."""
    buffer = MemRefType(element, [DYNAMIC_INDEX])
    types = [buffer, buffer, *[INDEX] * (2 + 3 * RANK)]
    block = Block(arg_types=types)
    source, target, *numbers = block.args
    source.name_hint, target.name_hint = "source", "target"
    counts, steps = numbers[2 : 2 + RANK], numbers[2 + RANK :]
    loops = [*zip(counts, steps[:RANK], steps[RANK:], strict=True)]
    builder = Builder(InsertPoint.at_end(block))
    nest = _Nest(builder, (source, target), loops)
    nest.build(numbers[:2], parallel=2 if is_parallel else 0)
    builder.insert(ReturnOp())
    return FuncOp(name, (types, ()), Region(block), "private")


class _Nest:
    """Builds the loops of the shared function."""

    def __init__(
        self,
        builder: Builder,
        buffers: tuple[SSAValue, SSAValue],
        loops: Sequence[tuple[SSAValue, SSAValue, SSAValue]],
    ):
        self._builder, self._buffers, self._loops = builder, buffers, loops
        self._zero, self._one = (builder.insert(index_constant(each)).result for each in (0, 1))

    def build(self, places: Sequence[SSAValue], *, parallel: int) -> None:
        """Insert all loops, of which the outermost may be one parallel loop."""
        if not parallel:
            return self._insert_loops(self._builder, self._loops, places)
        counts = [count for count, _, _ in self._loops[:parallel]]
        body = Block(arg_types=[INDEX] * parallel)
        inner = Builder(InsertPoint.at_end(body))
        for counter, (_, *steps) in zip(body.args, self._loops, strict=False):
            places = _advanced(inner, places, counter, steps)
        self._insert_loops(inner, self._loops[parallel:], places)
        inner.insert(scf.ReduceOp())
        lower, step = [self._zero] * parallel, [self._one] * parallel
        self._builder.insert(scf.ParallelOp(lower, counts, step, Region(body)))
        return None

    def _insert_loops(
        self,
        builder: Builder,
        loops: Sequence[tuple[SSAValue, SSAValue, SSAValue]],
        places: Sequence[SSAValue],
    ) -> None:
        if not loops:
            element = builder.insert(memref.LoadOp.get(self._buffers[0], [places[0]])).res
            builder.insert(memref.StoreOp.get(element, self._buffers[1], [places[1]]))
            return
        (count, *steps), *others = loops
        body = Block(arg_types=[INDEX])
        inner = Builder(InsertPoint.at_end(body))
        self._insert_loops(inner, others, _advanced(inner, places, body.args[0], steps))
        inner.insert(scf.YieldOp())
        loop = builder.insert(scf.ForOp(self._zero, count, self._one, [], Region(body)))
        loop.attributes[UNROLL] = ROLLED


def _advanced(
    builder: Builder, places: Sequence[SSAValue], counter: SSAValue, steps: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    moved: list[SSAValue] = []
    for place, step in zip(places, steps, strict=True):
        distance = builder.insert(arith.MuliOp(counter, step)).result
        moved.append(builder.insert(arith.AddiOp(place, distance)).result)
    return moved
