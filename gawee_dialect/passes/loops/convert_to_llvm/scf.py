"""Structured control flow to blocks: loop-carried values become block arguments."""

from functools import cache

from xdsl.dialects import arith, llvm, memref, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.passes.loops.convert_to_llvm.conversion import (
    Declined,
    FunctionConversion,
    converted_type,
    rule,
)
from gawee_dialect.passes.loops.convert_to_llvm.instructions import add, branch, jump, less_than
from gawee_dialect.upstream.llvm import LoopAnnotationAttr

LOOP_ANNOTATION = "loop_annotation"
"""The attribute of `scf.for` that its back edge hands to LLVM's loop passes."""

UNROLL = "gawee.unroll"
"""The attribute of `scf.for` that requests unrolling: "full", or how many bodies; 1 forbids it."""


INDEX_OPS = (arith.ConstantOp, arith.IndexCastOp)
"""What computes no element."""


def constant_of(value: SSAValue) -> int | None:
    """Return the number that an llvm value is, None where it is not constant."""
    if isinstance(value.owner, llvm.ConstantOp) and isa(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def _following(counter: SSAValue, upper: SSAValue, step: SSAValue) -> Operation:
    # The last sum is below upper + step, which is known not to wrap for constants only.
    upper_bound, width = constant_of(upper), constant_of(step)
    assert isa(upper.type, IntegerType)
    largest = 1 << (upper.type.width.data - 1)
    if upper_bound is None or width is None or upper_bound + width >= largest:
        return llvm.AddOp(counter, step)
    return add(counter, step)


_UNROLLED = LoopAnnotationAttr.of(unroll={"full": True})

_ONE_BY_ONE = LoopAnnotationAttr.of(vectorize={"disable": True}, unroll={"count": 8})
"""For elements at positions that memory holds: LLVM would load vectors of positions, take each of
them out again, and put elements together. Zen 5, 256 rows of 128 elements: 11.6 us, so 8.7 us."""


@cache
def _unrolled_by(count: int) -> LoopAnnotationAttr:
    return LoopAnnotationAttr.of(unroll={"count": count})


def annotation(op: scf.ForOp) -> Attribute | None:
    """Return what a loop's back edge is annotated with; raises Declined for a wrong request."""
    request = op.attributes.get(UNROLL)
    if request is None:
        return op.attributes.get(LOOP_ANNOTATION, _ONE_BY_ONE if _only_picks(op) else None)
    if LOOP_ANNOTATION in op.attributes:
        raise Declined(f"expected either {UNROLL} or {LOOP_ANNOTATION}, got both")
    if request == StringAttr("full"):
        return _UNROLLED
    if isa(request, IntegerAttr) and request.value.data > 0:
        return _unrolled_by(request.value.data)
    raise Declined(f'expected {UNROLL} to be "full" or a positive integer, got {request}')


def _only_picks(op: scf.ForOp) -> bool:
    """Whether a loop does nothing but move elements, some at positions that it reads."""
    *ops, _ = op.body.block.ops
    moves = [each for each in ops if isinstance(each, memref.LoadOp | memref.StoreOp)]
    if len(moves) + sum(isinstance(each, INDEX_OPS) for each in ops) < len(ops):
        return False
    return any(_is_read(index) for each in moves for index in each.indices)


def _is_read(index: SSAValue) -> bool:
    """Whether an index is an element of a memref."""
    cast = index.owner
    return isinstance(cast, arith.IndexCastOp) and isinstance(cast.input.owner, memref.LoadOp)


def convert_for(op: scf.ForOp, to: FunctionConversion) -> None:
    """scf.for  ->  a header that tests the bound, the body, a back edge with the next values"""
    lower, upper, step = (to.value(value) for value in (op.lb, op.ub, op.step))
    header = to.block_like(op.body.block.args)
    if header.args[0].name_hint is None:
        header.args[0].name_hint = "i"
    body, done = Block(), Block()
    front = to.block
    to.append(jump(header, [lower, *to.all_values(op.iter_args)]))

    to.start(header)
    less = to.compute(less_than(header.args[0], upper))
    to.append(branch(less, body, done))

    to.start(body)
    carried = to.convert_body(op.body.block, front)
    following = to.compute(_following(header.args[0], upper, step))
    back_edge = jump(header, [following, *carried])
    if (annotated := annotation(op)) is not None:
        back_edge.attributes[LOOP_ANNOTATION] = annotated
    to.append(back_edge)

    to.start(done)
    for result, value in zip(op.results, header.args[1:], strict=True):
        to.define(result, value)


def convert_if(op: scf.IfOp, to: FunctionConversion) -> None:
    """scf.if  ->  a branch to one of two blocks, and a block whose arguments are the results"""
    merge = Block(arg_types=[converted_type(result.type) for result in op.results])
    then = Block()
    has_else = bool(op.false_region.blocks)
    otherwise = Block() if has_else else merge
    to.append(llvm.CondBrOp(to.value(op.cond), then, [], otherwise, []))

    to.start(then)
    to.append(llvm.BrOp(merge, *to.convert_body(op.true_region.block)))
    if has_else:
        to.start(otherwise)
        to.append(llvm.BrOp(merge, *to.convert_body(op.false_region.block)))

    to.start(merge)
    for result, value in zip(op.results, merge.args, strict=True):
        to.define(result, value)


def convert_while(op: scf.WhileOp, to: FunctionConversion) -> None:
    """scf.while  ->  a block that tests, the body, a back edge, and a block of the results"""
    test, body = (to.block_like(each.block.args) for each in (op.before_region, op.after_region))
    done = Block(arg_types=[converted_type(result.type) for result in op.results])
    to.append(jump(test, to.all_values(op.arguments)))

    to.start(test)
    condition, *passed = to.convert_body(op.before_region.block)
    to.append(llvm.CondBrOp(condition, body, passed, done, passed))

    to.start(body)
    to.append(jump(test, to.convert_body(op.after_region.block)))

    to.start(done)
    for result, value in zip(op.results, done.args, strict=True):
        to.define(result, value)


RULES = (
    rule(scf.ForOp, convert_for),
    rule(scf.IfOp, convert_if),
    rule(scf.WhileOp, convert_while),
)
