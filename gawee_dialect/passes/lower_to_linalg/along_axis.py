"""Running sums and softmax to `linalg.generic`."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import math
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.along_axis import CumSumOp, LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.combining import (
    MAXIMUM,
    SUM,
    combined,
    in_element_type,
    kept_axes,
    mapped,
    spread,
)
from gawee_dialect.passes.lower_to_linalg.conversions import computed_type
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.structured import generic, reads
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerCumSum(Pattern):
    """gawee.cumsum -> linalg.generic that add the element 1, 2, 4, ... places before

    After the step over n places, every element is the sum of the last 2n up to it. This is n log n
    additions, in parallel, and rounds less than adding one after the other.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CumSumOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        element, axis = element_type(op.input), op.resolved_axis
        result = in_element_type(rewriter, op.input, computed_type(element))
        distance = 1
        while distance < tensor_shape(op.input)[axis]:
            result = with_earlier(rewriter, result, axis, distance)
            distance *= 2
        rewriter.replace(op, (), [in_element_type(rewriter, result, element)])


def with_earlier(builder: Builder, source: SSAValue, axis: int, distance: int) -> SSAValue:
    """Add to every element the one some places before it along an axis, where there is one."""
    type = tensor_type(source)
    rank = type.get_num_dims()

    def body(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        zero = scalars.index(0)
        indices = [scalars.position(loop) for loop in range(rank)]
        earlier = scalars.subtract(indices[axis], scalars.index(distance))
        outside = scalars.less(earlier, zero)
        indices[axis] = scalars.maximum(earlier, zero)
        addend = scalars.element(source, indices)
        nothing = scalars.constant(0, addend.type)
        return scalars.add(args[0], scalars.select(outside, nothing, addend))

    return generic(builder, type, [(source, reads(rank, *range(rank)))], body)


def raised(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
    """exp(x - greatest)"""
    return scalars.apply(math.ExpOp, scalars.subtract(values[0], values[1]))


class LowerSoftmax(Pattern):
    """gawee.softmax -> linalg.generic: maximum, exp(x - maximum), their sum, the division"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SoftmaxOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        rewriter.replace(op, (), [softmax(rewriter, op.input, op.resolved_axis)])


def softmax(builder: Builder, input: SSAValue, axis: int) -> SSAValue:
    """Insert exp(x - maximum) and its quotient by its sum along an axis; f16 is summed in f32."""
    type = tensor_type(input)
    kept = kept_axes(type.get_num_dims(), [axis])
    greatest = combined(builder, input, [axis], MAXIMUM)
    wide = TensorType(computed_type(type.element_type), type.get_shape())
    powers = spread(builder, input, [(greatest, kept)], wide, raised)
    total = combined(builder, powers, [axis], SUM)

    def quotient(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
        return scalars.divide(*values)

    return spread(builder, powers, [(total, kept)], type, quotient)


class LowerLogSoftmax(Pattern):
    """gawee.log_softmax -> linalg.generic: maximum, sum of exp(x - maximum), the subtractions"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LogSoftmaxOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        type, axis = tensor_type(op.result), op.resolved_axis
        kept = kept_axes(type.get_num_dims(), [axis])
        greatest = combined(rewriter, op.input, [axis], MAXIMUM)
        total = combined(rewriter, op.input, [axis], SUM, beside=[greatest], term=raised)

        def logarithm(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
            return scalars.apply(math.LogOp, values[0])

        def less_both(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
            value, most, scale = values
            return scalars.subtract(scalars.subtract(value, most), scale)

        total = mapped(rewriter, total, element_type(total), logarithm)
        beside = [(greatest, kept), (total, kept)]
        rewriter.replace(op, (), [spread(rewriter, op.input, beside, type, less_both)])
