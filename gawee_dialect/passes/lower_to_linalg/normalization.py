"""Normalization to `linalg.generic`."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.normalization import BatchNormOp, GroupNormOp, LayerNormOp, RmsNormOp
from gawee_dialect.dialect.types import element_type, tensor_shape, tensor_type
from gawee_dialect.passes.lower_to_linalg.combining import (
    SUM,
    combined,
    kept_axes,
    mapped,
    spread,
)
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.shape import reshaped
from gawee_dialect.passes.rewrite_pass import Pattern


class LowerBatchNorm(Pattern):
    """gawee.batch_norm -> one linalg.generic that reads the statistics of the element's channel"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchNormOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        per_channel = [op.mean, op.variance]
        per_channel += [value for value in (op.scale, op.bias) if value is not None]

        def term(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
            value, mean, variance, *affine = values
            eps = scalars.constant(op.eps.value.data, value.type)
            deviation = scalars.square_root(scalars.add(variance, eps))
            value = scalars.divide(scalars.subtract(value, mean), deviation)
            if op.scale is not None:
                value = scalars.multiply(value, affine.pop(0))
            if op.bias is not None:
                value = scalars.add(value, affine.pop(0))
            return value

        beside = [(value, (1,)) for value in per_channel]
        result = spread(rewriter, op.input, beside, tensor_type(op.result), term)
        rewriter.replace(op, (), [result])


class LowerRowNorm(Pattern):
    """gawee.layer_norm, gawee.rms_norm -> linalg.generic: mean, deviation, then every element"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LayerNormOp | RmsNormOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        rank = tensor_type(op.result).get_num_dims()
        axes = range(rank - op.normalized_rank.value.data, rank)
        bias = op.bias if isinstance(op, LayerNormOp) else None
        normalization = Normalization(
            op.input, axes, op.eps.value.data, centred=isinstance(op, LayerNormOp)
        )
        result = normalization.build(rewriter, (op.scale, axes), (bias, axes))
        rewriter.replace(op, (), [result])


class LowerGroupNorm(Pattern):
    """gawee.group_norm -> the channels split into groups, a normalization over all but two axes"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GroupNormOp, rewriter: PatternRewriter) -> None:
        rewriter.name_hint = op.result.name_hint
        batch, channels, *spatial = shape = tensor_shape(op.input)
        grouped = (op.groups.value.data, channels // op.groups.value.data)
        input = reshaped(rewriter, op.input, (batch, *grouped, *spatial))
        scale, bias = (
            None if affine is None else reshaped(rewriter, affine, grouped)
            for affine in (op.scale, op.bias)
        )
        axes = range(2, len(shape) + 1)
        normalization = Normalization(input, axes, op.eps.value.data, centred=True)
        result = normalization.build(rewriter, (scale, (1, 2)), (bias, (1, 2)))
        rewriter.replace(op, (), [reshaped(rewriter, result, shape)])


@dataclass(frozen=True)
class Normalization:
    """Division of a tensor by its deviation along some axes, its mean first taken off."""

    input: SSAValue
    axes: Sequence[int]
    eps: float
    centred: bool

    def build(
        self,
        builder: Builder,
        scale: tuple[SSAValue | None, Sequence[int]],
        bias: tuple[SSAValue | None, Sequence[int]],
    ) -> SSAValue:
        """Insert all of it; scale and bias come with the axes of the input that they have."""
        type = tensor_type(self.input)
        kept = kept_axes(type.get_num_dims(), self.axes)
        means = [self._mean(builder)] if self.centred else []
        beside: list[tuple[SSAValue, Sequence[int]]] = [(mean, kept) for mean in means]
        beside.append((self._deviation(builder, means), kept))
        beside += [(value, axes) for value, axes in (scale, bias) if value is not None]

        def term(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
            rest = iter(values[1:])
            value = scalars.subtract(values[0], next(rest)) if self.centred else values[0]
            value = scalars.divide(value, next(rest))
            if scale[0] is not None:
                value = scalars.multiply(value, next(rest))
            return value if bias[0] is None else scalars.add(value, next(rest))

        return spread(builder, self.input, beside, type, term)

    def _count(self) -> int:
        shape = tensor_shape(self.input)
        return prod(shape[axis] for axis in self.axes)

    def _mean(self, builder: Builder) -> SSAValue:
        total = combined(builder, self.input, self.axes, SUM)

        def mean(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
            return scalars.divide(values[0], scalars.constant(self._count(), values[0].type))

        return mapped(builder, total, element_type(total), mean)

    def _deviation(self, builder: Builder, means: Sequence[SSAValue]) -> SSAValue:
        """sqrt(mean of (x - mean)^2 + eps)"""

        def square(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
            value = scalars.subtract(*values) if means else values[0]
            return scalars.multiply(value, value)

        total = combined(builder, self.input, self.axes, SUM, beside=means, term=square)

        def root(scalars: Scalars, values: Sequence[SSAValue]) -> SSAValue:
            count = scalars.constant(self._count(), values[0].type)
            eps = scalars.constant(self.eps, values[0].type)
            return scalars.square_root(scalars.add(scalars.divide(values[0], count), eps))

        return mapped(builder, total, element_type(total), root)
