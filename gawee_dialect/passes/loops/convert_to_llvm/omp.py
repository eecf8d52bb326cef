"""Teams of threads: parallel regions, and loops whose iterations a team shares out.

Every thread computes its own contiguous part of all iterations (OpenMP's static schedule), from
its number and the number of threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, llvm, memref, omp, scf, vector
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i32,
    i64,
)
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from gawee_dialect.dialect.entry import ArgumentKind, entry_arguments
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Declined,
    FunctionConversion,
    Team,
    converted_type,
    rule,
)
from gawee_dialect.passes.loops.convert_to_llvm.func import NO_KEYWORDS, pointer_attributes
from gawee_dialect.passes.loops.convert_to_llvm.instructions import NSW, address_at, load, store
from gawee_dialect.passes.loops.convert_to_llvm.memref import ALIGNMENT
from gawee_dialect.passes.loops.convert_to_llvm.scf import constant_of
from gawee_dialect.upstream import llvm as ours
from gawee_dialect.upstream import scf as our_scf
from gawee_dialect.upstream.walk import inner_ops

# A parallel region as a function of its own, which every thread of a team calls.
#
# The region's function takes what the region uses from outside as arguments, so that LLVM has
# its pointers what it knew of them before: that they do not overlap, and how they are aligned. The
# runtime calls only functions of one pointer, so a second function unpacks the arguments from
# there.

START_TEAM = "GOMP_parallel"
TEAM_SIZE = "omp_get_max_threads"
THREAD_NUMBER = "omp_get_thread_num"
THREAD_COUNT = "omp_get_num_threads"
BARRIER = "GOMP_barrier"

RUNTIME: dict[str, LLVMFunctionType] = {
    START_TEAM: LLVMFunctionType([LLVMPointerType(), LLVMPointerType(), i32, i32]),
    TEAM_SIZE: LLVMFunctionType([], i32),
    THREAD_NUMBER: LLVMFunctionType([], i32),
    THREAD_COUNT: LLVMFunctionType([], i32),
    BARRIER: LLVMFunctionType([]),
}
"""What is called of an OpenMP runtime; GCC's, LLVM's and Intel's define all of it."""

ONE_COPY = ArrayAttr([StringAttr("noinline"), StringAttr("noduplicate")])
"""Attributes without which LLVM makes a second copy of a region for when there is one thread."""

VIEWS = (
    memref.ViewOp,
    memref.SubviewOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.CastOp,
    memref.ReinterpretCastOp,
)
RECOMPUTED = (arith.ConstantOp, vector.BroadcastOp, memref.GetGlobalOp, memref.DimOp, *VIEWS)
"""Ops that cost nothing: a region computes them again, so that LLVM sees constants and roots.

A vector that is an argument would take a register of a tile.
"""


@dataclass(frozen=True)
class Captures:
    """What a region uses from outside of it."""

    values: Sequence[SSAValue]
    """Handed over, in the order of first use."""

    recomputed: Sequence[Operation]
    """Computed again from those, in an order that may be."""


def find_captures(region: Region) -> Captures:
    """Return what the ops of a region use and do not define."""
    ops = inner_ops(region)
    inside = {block for op in ops for inner in op.regions for block in inner.blocks}
    inside |= set(region.blocks)
    values: dict[SSAValue, None] = {}
    recomputed: dict[Operation, None] = {}

    def visit(value: SSAValue) -> None:
        owner = value.owner
        block = owner if type(owner) is Block else owner.parent
        if block in inside or owner in recomputed:
            return
        if not isinstance(owner, RECOMPUTED):
            values[value] = None
            return
        for operand in owner.operands:
            visit(operand)
        recomputed[owner] = None

    for op in ops:
        for operand in op.operands:
            visit(operand)
    return Captures(list(values), list(recomputed))


def _is_own_memory(value: SSAValue) -> bool:
    """Whether a memref is known not to overlap any other such: an argument, or on the stack."""
    if isinstance(value, BlockArgument):
        return isinstance(value.block.parent_op(), func.FuncOp)
    return isinstance(value.owner, memref.AllocaOp)


def _kind(value: SSAValue) -> ArgumentKind | None:
    """Return what an argument of the function is; ours to align are also stack buffers."""
    if not isinstance(value, BlockArgument):
        return ArgumentKind.WORKSPACE if isinstance(value.owner, memref.AllocaOp) else None
    function = value.block.parent_op()
    if not isinstance(function, func.FuncOp):
        return None
    argument = entry_arguments(function)[value.index]
    return argument.kind if argument.is_marked else None


def _argument_attributes(
    captured: Sequence[SSAValue], inner: FunctionConversion
) -> ArrayAttr[DictionaryAttr]:
    """Return what LLVM may assume of the arguments of the region's function."""
    buffers = [value for value in captured if isinstance(value.type, MemRefType)]
    apart = all(_is_own_memory(value) for value in buffers)
    entries: list[DictionaryAttr] = []
    for value in captured:
        if not isa(value.type, MemRefType[Attribute]):
            entries.append(DictionaryAttr({}))
            continue
        read_only = inner.is_read_only(value)
        known = dict(pointer_attributes(value.type, _kind(value), read_only, is_sized=True))
        if not apart:
            del known["llvm.noalias"]
        entries.append(DictionaryAttr(known))
    return ArrayAttr([*entries, DictionaryAttr({}), DictionaryAttr({})])


def _region_function(
    name: str, region: Region, captures: Captures, to: FunctionConversion
) -> llvm.FuncOp:
    """Make the function that does one thread's part: its last arguments are thread and count."""
    inner = FunctionConversion(to.rules, Region(), to.fast_math, name, to.processor)
    types = [converted_type(value.type) for value in captures.values]
    block = inner.block_like(captures.values)
    for hint in ("thread", "threads"):
        block.insert_arg(i64, len(block.args)).name_hint = hint
    inner.team = Team(block.args[-2], block.args[-1])
    inner.start(block)
    inner.convert_ops(captures.recomputed)
    inner.convert_body(region.block)
    inner.append(llvm.ReturnOp())
    inner.finish()
    to.adopt(inner, captures.values)
    return llvm.FuncOp(
        name,
        LLVMFunctionType([*types, i64, i64]),
        LinkageAttr("internal"),
        body=inner.region,
        other_props={
            **NO_KEYWORDS,
            "arg_attrs": _argument_attributes(captures.values, inner),
            "passthrough": ONE_COPY,
        },
    )


def _unpacking_function(function: llvm.FuncOp, packed: LLVMStructType) -> llvm.FuncOp:
    """Make what the runtime calls in every thread: it finds the arguments behind one pointer."""
    block = Block(arg_types=[LLVMPointerType()])
    block.args[0].name_hint = "captured"
    arguments: list[SSAValue] = []
    names = function.body.blocks[0].args
    for index, type in enumerate(packed.types):
        place = address_at(block.args[0], [0, index], packed)
        loaded = load(place.results[0], type, None)
        loaded.results[0].name_hint = names[index].name_hint
        block.add_ops((place, loaded))
        arguments.append(loaded.results[0])
    for symbol in (THREAD_NUMBER, THREAD_COUNT):
        call = llvm.CallOp(symbol, return_type=i32)
        wide = llvm.SExtOp(call.results[0], i64)
        block.add_ops((call, wide))
        arguments.append(wide.res)
    block.add_ops((llvm.CallOp(function.sym_name.data, *arguments), llvm.ReturnOp()))
    return llvm.FuncOp(
        f"{function.sym_name.data}_team",
        LLVMFunctionType([LLVMPointerType()]),
        LinkageAttr("internal"),
        body=Region(block),
        other_props={**NO_KEYWORDS},
    )


def _start_team(
    team: llvm.FuncOp, captured: Sequence[SSAValue], packed: LLVMStructType, to: FunctionConversion
) -> None:
    pointer = LLVMPointerType()
    data = to.in_prologue(llvm.AllocaOp(to.integer(1), packed, ALIGNMENT))
    data.name_hint = "captured"
    for index, value in enumerate(captured):
        place = to.compute(address_at(data, [0, index], packed))
        to.append(store(value, place, None))
    address = to.compute(llvm.AddressOfOp(team.sym_name.data, pointer))
    zero = to.integer(0, i32)
    to.append(llvm.CallOp(START_TEAM, address, data, zero, zero))


def convert_parallel_region(op: omp.ParallelOp, to: FunctionConversion) -> None:
    """Call the region's function from a team, or directly where the team has one thread."""
    captures = find_captures(op.region)
    name = to.outlined_name()
    function = _region_function(name, op.region, captures, to)
    packed = LLVMStructType.from_type_list([*function.function_type.inputs.data[:-2]])
    team = _unpacking_function(function, packed)
    for made in (function, team):
        hand_on_location(op, made)
        to.outlined.append(made)
    to.runtime |= RUNTIME

    size = to.compute(llvm.CallOp(TEAM_SIZE, return_type=i32))
    alone = to.compute(llvm.ICmpOp(size, to.integer(1, i32), IntegerAttr(0, i64)))
    arguments = [to.value(value) for value in captures.values]
    direct, several, done = Block(), Block(), Block()
    to.append(llvm.CondBrOp(alone, direct, [], several, []))
    to.start(direct)
    to.append(llvm.CallOp(name, *arguments, to.integer(0), to.integer(1)))
    to.append(llvm.BrOp(done))
    to.start(several)
    _start_team(team, arguments, packed, to)
    to.append(llvm.BrOp(done))
    to.start(done)


SIGNED_LESS = IntegerAttr(2, i64)

Bounds = tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]]
"""Lower bounds, upper bounds and steps of a nest, outermost first."""

ALLOWED = ("operandSegmentSizes", "schedule_kind", "nowait", "collapse_num_loops", "loop_inclusive")


def check_clauses(op: IRDLOperation) -> None:
    """Raise Declined for a clause that would change what the op does."""
    clauses = [name for name in op.properties if name not in ALLOWED]
    if clauses:
        raise Declined(f"unsupported clause '{clauses[0]}'")


def convert_parallel(op: omp.ParallelOp, to: FunctionConversion) -> None:
    """omp.parallel  ->  a private function, called by every thread of GOMP_parallel's team"""
    check_clauses(op)
    if op.operands:
        raise Declined(f"expected no clause with values, got {len(op.operands)}")
    if len(op.region.blocks) != 1:
        raise Declined(f"expected one block, got {len(op.region.blocks)}")
    convert_parallel_region(op, to)


def trip_count(
    to: FunctionConversion, lower: SSAValue, upper: SSAValue, step: SSAValue, inclusive: bool
) -> SSAValue:
    """Return how many iterations a loop has, which is not negative: a constant where known."""
    known = [constant_of(value) for value in (lower, upper, step)]
    if None not in known:
        first, last, width = (value for value in known if value is not None)
        return to.integer(max(0, -(-(last + inclusive - first) // width)))
    span = to.compute(llvm.SubOp(upper, lower))
    added = to.compute(llvm.SubOp(step, to.integer(0 if inclusive else 1)))
    rounded = to.compute(llvm.AddOp(span, added))
    trips = to.compute(llvm.SDivOp(rounded, step))
    return to.compute(ours.SMaxOp(trips, to.integer(0)))


def _own_part(to: FunctionConversion, total: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the first iteration of the current thread, and the one after its last.

    What is left over goes to threads all over the team, not to the first of them.
    """
    assert to.team is not None
    thread, threads = to.team.thread, to.team.threads

    def start(number: SSAValue) -> SSAValue:
        scaled = to.compute(llvm.MulOp(number, total, overflow=NSW))
        return to.compute(llvm.UDivOp(scaled, threads))

    following = to.compute(llvm.AddOp(thread, to.integer(1), overflow=NSW))
    return start(thread), start(following)


def _indices(
    to: FunctionConversion, position: SSAValue, trips: Sequence[SSAValue], bounds: Bounds
) -> list[SSAValue]:
    """Return the induction variables of one iteration of a nest; the innermost runs fastest."""
    result: list[SSAValue] = []
    for depth in reversed(range(len(trips))):
        number = position
        if depth:
            number = to.compute(llvm.URemOp(position, trips[depth]))
            position = to.compute(llvm.UDivOp(position, trips[depth]))
        lower, step = bounds[0][depth], bounds[2][depth]
        if constant_of(step) != 1:
            number = to.compute(llvm.MulOp(number, step, overflow=NSW))
        if constant_of(lower) != 0:
            number = to.compute(llvm.AddOp(number, lower, overflow=NSW))
        result.insert(0, number)
    return result


def _product(to: FunctionConversion, values: Sequence[SSAValue]) -> SSAValue:
    total = to.integer(1)
    for value in values:
        known = constant_of(total), constant_of(value)
        if known[0] is not None and known[1] is not None:
            total = to.integer(known[0] * known[1])
        else:
            total = to.compute(llvm.MulOp(total, value, overflow=NSW))
    return total


def _convert_range(
    to: FunctionConversion,
    body: Block,
    part: tuple[SSAValue, SSAValue],
    trips: Sequence[SSAValue],
    bounds: Bounds,
) -> None:
    """Run the iterations of a nest from one number to another."""
    header, inside, done = Block(arg_types=[i64]), Block(), Block()
    header.args[0].name_hint = "iteration"
    front = to.block
    to.append(llvm.BrOp(header, part[0]))
    to.start(header)
    less = to.compute(llvm.ICmpOp(header.args[0], part[1], SIGNED_LESS))
    to.append(llvm.CondBrOp(less, inside, [], done, []))
    to.start(inside)
    for argument, index in zip(body.args, _indices(to, header.args[0], trips, bounds), strict=True):
        to.define(argument, index)
    for argument, *ends in zip(body.args, bounds[0], bounds[2], strict=True):
        if all(number is not None and number >= 0 for number in map(constant_of, ends)):
            to.mark_not_negative(argument)
    to.convert_body(body, front)
    following = to.compute(llvm.AddOp(header.args[0], to.integer(1), overflow=NSW))
    to.append(llvm.BrOp(header, following))
    to.start(done)


def _check_indices(arguments: Sequence[BlockArgument]) -> None:
    for argument in arguments:
        if not isinstance(argument.type, IndexType):
            raise Declined(f"expected bounds of type 'index', got '{argument.type}'")


def convert_shared_loop(op: omp.WsLoopOp, to: FunctionConversion) -> None:
    """omp.wsloop { omp.loop_nest }  ->  a loop over this thread's part of the iterations"""
    check_clauses(op)
    nest = op.body.block.first_op
    if not isinstance(nest, omp.LoopNestOp) or op.operands:
        raise Declined("expected 'omp.loop_nest' alone inside, and no clause with values")
    if to.team is None:
        raise Declined("expected 'omp.parallel' around it")
    kind = op.schedule_kind
    if kind is not None and kind.data is not omp.ScheduleKind.STATIC:
        raise Declined(f"unsupported schedule '{kind.data}'; supported: static")
    check_clauses(nest)
    body = nest.body.block
    _check_indices(body.args)
    bounds = (
        to.all_values(nest.lowerBound),
        to.all_values(nest.upperBound),
        to.all_values(nest.step),
    )
    inclusive = nest.loop_inclusive is not None
    trips = [trip_count(to, *each, inclusive) for each in zip(*bounds, strict=True)]
    _convert_range(to, body, _own_part(to, _product(to, trips)), trips, bounds)
    if op.nowait is None and not isinstance(op.next_op, omp.TerminatorOp):
        _wait(to)


def convert_barrier(op: omp.BarrierOp, to: FunctionConversion) -> None:
    """omp.barrier  ->  llvm.call @GOMP_barrier where the team has several threads"""
    if to.team is None:
        raise Declined("expected 'omp.parallel' around it")
    _wait(to)


def _wait(to: FunctionConversion) -> None:
    assert to.team is not None
    waiting, done = Block(), Block()
    one = to.integer(1)
    several = to.compute(llvm.ICmpOp(one, to.team.threads, SIGNED_LESS))
    to.append(llvm.CondBrOp(several, waiting, [], done, []))
    to.start(waiting)
    to.runtime |= RUNTIME
    to.append(llvm.CallOp(BARRIER))
    to.append(llvm.BrOp(done))
    to.start(done)


def convert_serially(op: scf.ParallelOp, to: FunctionConversion) -> None:
    """scf.parallel  ->  one loop over all iterations, where no pass gave them to threads"""
    if op.initVals:
        raise Declined(f"expected no reductions, got {len(op.initVals)}")
    bounds = (
        to.all_values(op.lowerBound),
        to.all_values(op.upperBound),
        to.all_values(op.step),
    )
    trips = [trip_count(to, *each, False) for each in zip(*bounds, strict=True)]
    part = (to.integer(0), _product(to, trips))
    _convert_range(to, op.body.block, part, trips, bounds)


RULES = (
    rule(omp.ParallelOp, convert_parallel),
    rule(omp.WsLoopOp, convert_shared_loop),
    rule(omp.BarrierOp, convert_barrier),
    rule(scf.ParallelOp, convert_serially),
    rule(our_scf.ParallelOp, convert_serially),
)
