"""Fold batch normalization into the layer before it, and what scales and shifts it into both."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    TensorType,
)
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    op_type_rewrite_pattern,
)

from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.folding import is_filled_with
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.dialect.normalization import BatchNormOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.shape import ReshapeOp
from gawee_dialect.dialect.types import element_type, shape_text, tensor_shape
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.fold_conv_add import per_channel_size
from gawee_dialect.passes.layer import Layer, folded_operand, with_parameters
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.parameter_analysis import ParameterAnalysis, describe, reader_count
from gawee_dialect.passes.rewrite_pass import Driver, Pattern, RewritePass


def scalar_like(value: SSAValue, number: float) -> ConstantOp:
    """Make a constant scalar in the element type of a float tensor."""
    element = element_type(value)
    assert isinstance(element, AnyFloat)
    rounded = FloatAttr(number, element).value.data
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(element, []), [rounded]))


def channel_scale(norm: BatchNormOp, rewriter: PatternRewriter) -> SSAValue:
    """Insert scale / sqrt(variance + eps), with 1 for an absent scale."""

    def insert(op: GaweeOp) -> SSAValue:
        return rewriter.insert(op).output

    eps = insert(scalar_like(norm.variance, norm.eps.value.data))
    deviation = insert(SqrtOp(insert(AddOp(norm.variance, eps))))
    scale = norm.scale
    if scale is None:
        scale = insert(scalar_like(norm.variance, 1.0))
    return insert(DivOp(scale, deviation))


def channel_shift(
    norm: BatchNormOp, scale: SSAValue, bias: SSAValue | None, rewriter: PatternRewriter
) -> SSAValue:
    """Insert (bias - mean) * scale + beta, with 0 for what is absent."""

    def insert(op: GaweeOp) -> SSAValue:
        return rewriter.insert(op).output

    if bias is None:
        beta = norm.bias
        if beta is None:
            beta = insert(scalar_like(norm.mean, 0.0))
        return insert(SubOp(beta, insert(MulOp(norm.mean, scale))))
    scaled = insert(MulOp(insert(SubOp(bias, norm.mean)), scale))
    return scaled if norm.bias is None else insert(AddOp(scaled, norm.bias))


def name_after(value: SSAValue, source: SSAValue | None) -> None:
    """Name a folded value after what it replaces: `%conv1_weight_folded` for `%conv1_weight`."""
    if source is not None and source.name_hint is not None:
        value.name_hint = f"{source.name_hint}_folded"


class FoldIntoNorm(Pattern):
    """mul(batch_norm(x), c) -> batch_norm(x) with scale * c and bias * c; so with add"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MulOp | AddOp, rewriter: PatternRewriter) -> None:
        found = folded_operand(op, (BatchNormOp,), self._reason_against, "'gawee.batch_norm'")
        if isinstance(found, str):
            self.missed(op, found)
            return
        norm, constant = found
        rewriter.replace(op, scaled_or_shifted(op, norm, constant, rewriter))
        rewriter.erase(norm)

    def _reason_against(
        self, op: MulOp | AddOp, norm: BatchNormOp, constant: SSAValue
    ) -> str | None:
        readers = reader_count(norm.result)
        if readers != 1:
            return f"expected the result of 'gawee.batch_norm' to have one reader, got {readers}"
        for value in (constant, norm.scale, norm.bias):
            if value is not None and not self._analysis.is_known_early(value):
                return (
                    "expected scales and biases to be computed from parameters and constants "
                    f"alone, got {describe(value)}"
                )
        shape, result = tensor_shape(constant), tensor_shape(norm.result)
        if op.result.type != norm.result.type or per_channel_size(shape, result) != result[1]:
            wanted = shape_text((result[1], *(1 for _ in result[2:])))
            return f"expected a shape of channels alone, such as {wanted}, got {shape_text(shape)}"
        return None


def scaled_or_shifted(
    op: MulOp | AddOp, norm: BatchNormOp, constant: SSAValue, rewriter: PatternRewriter
) -> BatchNormOp:
    """Insert the scale and bias of a normalization with a constant taken in; return that one."""
    channels = tensor_shape(norm.mean)
    if tensor_shape(constant) != channels:
        constant = rewriter.insert(ReshapeOp(constant, shape=channels)).result
    kind = type(op)

    def joined(value: SSAValue | None) -> SSAValue:
        new = constant if value is None else rewriter.insert(kind(value, constant)).result
        if value is not None:
            name_after(new, value)
        return new

    scale, bias = norm.scale, norm.bias
    if kind is MulOp:
        scale = joined(scale)
    if kind is AddOp or bias is not None:
        bias = joined(bias)
    changed = BatchNormOp(
        norm.input, norm.mean, norm.variance, scale, bias, eps=norm.eps.value.data
    )
    hand_on_location(norm, changed)
    return changed


class FoldIntoLayer(Pattern):
    """batch_norm(conv(x, w, b)) -> conv(x, w * s, (b - mean) * s + beta)"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchNormOp, rewriter: PatternRewriter) -> None:
        layer = op.input.owner
        if not isinstance(layer, Layer):
            self.missed(
                op, f"expected input from a convolution or matmul, got {describe(op.input)}"
            )
            return
        reason = self._reason_against(op, layer)
        if reason is not None:
            self.missed(op, reason)
            return
        scale = channel_scale(op, rewriter)
        channels, *others = tensor_shape(layer.weight)
        per_filter = rewriter.insert(ReshapeOp(scale, shape=[channels, *(1 for _ in others)]))
        weight = rewriter.insert(MulOp(layer.weight, per_filter.result))
        bias = channel_shift(op, scale, layer.bias, rewriter)
        name_after(weight.result, layer.weight)
        name_after(bias, op.bias if layer.bias is None else layer.bias)
        rewriter.replace(op, with_parameters(layer, weight.result, bias))
        rewriter.erase(layer)

    def _reason_against(self, norm: BatchNormOp, layer: Layer) -> str | None:
        readers = reader_count(layer.result)
        if readers != 1:
            return f"expected the result of '{layer.name}' to have one reader, got {readers}"
        rank = len(tensor_shape(layer.result))
        if isinstance(layer, MatMulOp) and rank != 2:
            # Of a higher rank, the channels of the norm are not the features of the layer.
            return f"expected '{layer.name}' result of rank 2, got rank {rank}"
        eps, element = norm.eps.value.data, element_type(norm.mean)
        if eps > 0 and is_filled_with(scalar_like(norm.mean, eps).result, 0):
            return f"expected eps ({eps}) to stay above 0 in '{element}'"
        return self._run_time_operand(norm, layer)

    def _run_time_operand(self, norm: BatchNormOp, layer: Layer) -> str | None:
        named: dict[str, SSAValue | None] = {
            "weight": layer.weight,
            "layer bias": layer.bias,
            "mean": norm.mean,
            "variance": norm.variance,
            "scale": norm.scale,
            "bias": norm.bias,
        }
        for name, value in named.items():
            if value is not None and not self._analysis.is_known_early(value):
                return (
                    f"expected {name} to be computed from parameters and constants alone, "
                    f"got {describe(value)}"
                )
        return None


@dataclass(frozen=True)
class FoldBatchNorm(RewritePass):
    """Fold batch normalization into the convolution (or matmul of rank 2) before it.

    A product or sum of a batch normalization and one number a channel, as Caffe's networks have
    them, first becomes part of its scale and bias.

    The new weight and bias are computed in the IR, so no weight data is needed;
    `hoist-parameter-computation` moves that arithmetic out of the run. The original parameters
    stay as they are for their other readers.

    Requires: nothing else reads the layer's result (a function result counts as a reader), and the
    weight, mean, variance, scale and biases are computed from parameters and constants alone
    (else the folded arithmetic would be work at every run).

    rewrite:
        %y = gawee.conv %x, %w bias %b ...
        %z = gawee.batch_norm %y mean %m variance %v scale %g bias %beta eps e
        ->  %s = %g / sqrt(%v + e)
            %z = gawee.conv %x, %w * reshape(%s, [C, 1, 1, 1]) bias (%b - %m) * %s + %beta ...
    """

    name = "fold-batch-norm"
    numerics: ClassVar[Numerics] = REASSOCIATES

    patterns = (FoldIntoNorm, FoldIntoLayer)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pattern in self.patterns:  # all that scales a norm, before the norm is gone
            PatternRewriteWalker(Driver([pattern()], ctx)).rewrite_module(op)
