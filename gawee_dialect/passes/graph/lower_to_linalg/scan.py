"""Scans to loops that carry tensors: the body is moved, its slices are cut out and put together."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, UnitAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.graph.scan import MARK, ScanOp, element_of_sequence, keep_marks
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import mixed_sizes
from gawee_dialect.passes.graph.lower_to_linalg.tensors import constant, empty
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerScan(Pattern):
    """gawee.scan -> scf.for { tensor.extract_slice; the body; tensor.insert_slice }"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScanOp, rewriter: PatternRewriter) -> None:
        index = IndexType()
        lower, upper, one = (constant(rewriter, each, index) for each in (0, op.num_steps, 1))
        made = [empty(rewriter, tensor_type(each)) for each in op.results[len(op.initial) :]]
        carried = [*op.initial, *made]
        block = Block(arg_types=[index, *(value.type for value in carried)])
        _write_step(op, block, rewriter)
        loop = scf.ForOp(lower, upper, one, carried, Region(block))
        loop.attributes[MARK] = UnitAttr()
        keep_marks(op, loop)
        rewriter.replace(op, loop)


def _write_step(op: ScanOp, block: Block, rewriter: PatternRewriter) -> None:
    """Move the body into the block of a loop, between what it takes and what it makes."""
    step, *versions = block.args
    builder = Builder(InsertPoint.at_end(block))
    position = step
    if op.reverse is not None:
        last = constant(builder, op.num_steps - 1, IndexType())
        position = builder.insert(arith.SubiOp(last, step)).result
    count = len(op.initial)
    now = [_element(builder, sequence, position) for sequence in op.sequences]
    taken: Sequence[SSAValue] = [*versions[:count], *now]
    for argument, value in zip(op.body.block.args, taken, strict=True):
        value.name_hint = value.name_hint or argument.name_hint
        argument.replace_all_uses_with(value)
    *body, terminator = op.body.block.ops
    yielded = list(terminator.operands)
    rewriter.erase(terminator)
    for inner in body:
        inner.detach()
        block.add_op(inner)
    ends = yielded[:count]
    for value, version in zip(yielded[count:], versions[count:], strict=True):
        ends.append(_inserted(builder, value, version, position))
    builder.insert(scf.YieldOp(*ends))


def _element(builder: Builder, sequence: SSAValue, position: SSAValue) -> SSAValue:
    """Cut an element of a sequence out."""
    type = element_of_sequence(tensor_type(sequence))
    shape = type.get_shape()
    starts = [position, *(0 for _ in shape)]
    ones = [1] * len(starts)
    static, values = mixed_sizes(builder, shape)
    open_sizes = iter(values)
    sizes = [next(open_sizes) if size == DYNAMIC_INDEX else size for size in static]
    slice = tensor.ExtractSliceOp(sequence, starts, (1, *sizes), ones, type)
    return builder.insert(slice).result


def _inserted(builder: Builder, value: SSAValue, into: SSAValue, position: SSAValue) -> SSAValue:
    """Put a tensor into a sequence."""
    shape = tensor_shape(value)
    starts = [DYNAMIC_INDEX, *(0 for _ in shape)]
    static, values = mixed_sizes(builder, shape)
    insertion = tensor.InsertSliceOp.get(
        value, into, (1, *static), starts, offsets=(position,), sizes=values
    )
    return builder.insert(insertion).result
