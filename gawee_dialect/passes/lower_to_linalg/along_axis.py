"""Softmax to `linalg.generic`."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import math
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.along_axis import LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.types import element_type, tensor_type
from gawee_dialect.passes.lower_to_linalg.combining import (
    MAXIMUM,
    SUM,
    combined,
    kept_axes,
    mapped,
    spread,
)
from gawee_dialect.passes.lower_to_linalg.conversions import computed_type
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.rewrite_pass import Pattern


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
