"""Fold batch normalization into the layer before it, and what scales and shifts it into both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp, f16, f32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    op_type_rewrite_pattern,
)

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import ReshapeOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp, FoldBatchNormOp, GroupNormOp
from gawee_dialect.dialect.types import (
    element_type,
    float_attribute,
    shape_text,
    tensor_shape,
)
from gawee_dialect.passes.graph.fold_conv_add import has_one_matrix, per_channel_size, stored_weight
from gawee_dialect.passes.graph.layer import (
    Layer,
    folded_operand,
    hand_on_identity,
    with_parameters,
)
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.pattern_walk import PatternWalk
from gawee_dialect.passes.rewrite_pass import Driver, Pattern, RewritePass
from gawee_dialect.passes.tensors.parameter_analysis import (
    ParameterAnalysis,
    describe,
    reader_count,
    reason_against_computed,
    reason_against_readers,
)


def wide_type(norm: BatchNormOp) -> AnyFloat:
    """Return the type that a norm is computed in."""
    element = element_type(norm.mean)
    assert isinstance(element, AnyFloat)
    return f32 if element == f16 else element


def name_after(value: SSAValue, source: SSAValue | None) -> None:
    """Name a folded value after what it replaces: `%conv1_weight_folded` for `%conv1_weight`."""
    if source is not None and source.name_hint is not None:
        value.name_hint = f"{source.name_hint}_folded"


Norm: TypeAlias = BatchNormOp | GroupNormOp
"""A normalization with one scale and one bias a channel."""


class FoldIntoNorm(Pattern):
    """mul(batch_norm(x), c) -> batch_norm(x) with scale * c and bias * c; so add, so group_norm"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MulOp | AddOp, rewriter: PatternRewriter) -> None:
        kinds = (BatchNormOp, GroupNormOp)
        found = folded_operand(op, kinds, self._reason_against, "a batch or group normalization")
        if isinstance(found, str):
            self.missed(op, found)
            return
        norm, constant = found
        rewriter.replace(op, scaled_or_shifted(op, norm, constant, rewriter))
        rewriter.erase(norm)

    def _reason_against(self, op: MulOp | AddOp, norm: Norm, constant: SSAValue) -> str | None:
        values = (constant, norm.scale, norm.bias)
        return (
            reason_against_readers(norm)
            or reason_against_computed(self._analysis, "scales and biases", values)
            or reason_against_channels(op, norm, constant)
        )


def reason_against_channels(
    op: MulOp | AddOp, before: Norm | ConvOp, constant: SSAValue
) -> str | None:
    """Return why an operand has not one number for each channel of the other; None where it has."""
    shape, result = tensor_shape(constant), tensor_shape(before.result)
    if op.result.type != before.result.type or per_channel_size(shape, result) != result[1]:
        wanted = shape_text((result[1], *(1 for _ in result[2:])))
        return f"expected a shape of channels alone, such as {wanted}, got {shape_text(shape)}"
    return None


def scaled_or_shifted(
    op: MulOp | AddOp, norm: Norm, constant: SSAValue, rewriter: PatternRewriter
) -> Norm:
    """Insert the scale and bias of a normalization with a constant taken in; return that one."""
    constant = reshaped(constant, tensor_shape(norm.input)[1:2], rewriter)
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
    eps = norm.eps.value.data
    if isinstance(norm, GroupNormOp):
        changed = GroupNormOp(norm.input, scale, bias, groups=norm.groups.value.data, eps=eps)
    else:
        changed = BatchNormOp(norm.input, norm.mean, norm.variance, scale, bias, eps=eps)
    hand_on_identity(norm, changed)
    return changed


class FoldIntoLayer(Pattern):
    """batch_norm(conv(x, w, b)) -> conv(x, fold_batch_norm(w, b, ...)), so of matmul"""

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
        parameters = layer.weight, layer.bias, op.mean, op.variance, op.scale, op.bias
        folded = rewriter.insert(FoldBatchNormOp(*parameters, eps=op.eps.value.data))
        name_after(folded.folded_weight, layer.weight)
        name_after(folded.folded_bias, op.bias if layer.bias is None else layer.bias)
        changed = with_parameters(layer, folded.folded_weight, folded.folded_bias)
        rewriter.replace(op, changed)
        rewriter.erase(layer)

    def _reason_against(self, norm: BatchNormOp, layer: Layer) -> str | None:
        reason = reason_against_readers(layer)
        if reason is not None:
            return reason
        rank = len(tensor_shape(layer.result))
        if isinstance(layer, MatMulOp) and rank != 2:
            # Of a higher rank, the channels of the norm are not the features of the layer.
            return f"expected '{layer.name}' result of rank 2, got rank {rank}"
        eps, element = norm.eps.value.data, wide_type(norm)
        if eps > 0 and float_attribute(eps, element).value.data == 0:
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
        reasons = (
            reason_against_computed(self._analysis, name, (value,)) for name, value in named.items()
        )
        return next(filter(None, reasons), None)


class FoldScale(Pattern):
    """mul(conv(x, w, b), c) -> conv(x, w * c, b * c), where c has one number a channel"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MulOp, rewriter: PatternRewriter) -> None:
        found = folded_operand(op, (ConvOp,), self._reason_against, "'gawee.conv'")
        if isinstance(found, str):
            self.missed(op, found)
            return
        conv, constant = found
        channels, *others = tensor_shape(conv.weight)
        per_filter = reshaped(constant, [channels, *(1 for _ in others)], rewriter)
        weight = rewriter.insert(MulOp(conv.weight, per_filter)).result
        name_after(weight, conv.weight)
        bias = conv.bias
        if bias is not None:
            factors = reshaped(constant, [channels], rewriter)
            bias = rewriter.insert(MulOp(bias, factors)).result
            name_after(bias, conv.bias)
        rewriter.replace(op, with_parameters(conv, weight, bias))
        rewriter.erase(conv)

    def _reason_against(self, op: MulOp, conv: ConvOp, constant: SSAValue) -> str | None:
        values = (constant, conv.weight, conv.bias)
        return (
            reason_against_readers(conv)
            or reason_against_computed(self._analysis, "factors, weights and biases", values)
            or reason_against_channels(op, conv, constant)
        )


class FlattenProduct(Pattern):
    """batch_norm(reshape(x @ w)) -> batch_norm(matmul(reshape(x), w)), rows joined to a matrix"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        product = op.input.owner
        if not isinstance(product, BatchMatMulOp | MatMulOp):
            self.missed(op, f"expected input from a product, got {describe(op.input)}")
            return
        if (reason := reason_against_rows(op, product)) is not None:
            self.missed(op, reason)
            return
        input = product.a if isinstance(product, BatchMatMulOp) else product.input
        rows = tensor_shape(op.result)[0], tensor_shape(input)[-1]
        flat = rewriter.insert(ReshapeOp(input, shape=rows)).result
        bias = product.bias if isinstance(product, MatMulOp) else None
        layer = MatMulOp(flat, stored_weight(product, rewriter), bias)
        hand_on_identity(product, layer)
        rewriter.replace(op, layer)
        rewriter.erase(product)


def reason_against_rows(view: ReshapeOp, product: BatchMatMulOp | MatMulOp) -> str | None:
    """Return why a reshaped product is not the rows of a layer that a batch_norm follows."""
    readers = [use.operation for use in view.result.uses]
    if len(readers) != 1 or not isinstance(readers[0], BatchNormOp):
        return "expected a 'gawee.batch_norm' to read the reshaped product, and nothing else"
    if reader_count(product.result) != 1:
        return f"expected the result of '{product.name}' to have one reader"
    before, after = tensor_shape(view.input), tensor_shape(view.result)
    if len(after) != 2 or after[-1] != before[-1] or not has_one_matrix(product):
        return f"expected rows of a product with one matrix of weights, got {shape_text(after)}"
    return None


def reshaped(value: SSAValue, shape: Sequence[int], rewriter: PatternRewriter) -> SSAValue:
    """Insert a value under another shape; itself where it has that shape."""
    same = tensor_shape(value) == tuple(shape)
    return value if same else rewriter.insert(ReshapeOp(value, shape=shape)).result


@dataclass(frozen=True)
class FoldBatchNorm(RewritePass):
    """Fold batch normalization into the convolution (or matmul of rank 2) before it.

    A product or sum of a batch or group normalization and one number a channel, as Caffe's
    networks have them, first becomes part of its scale and bias. A product behind a convolution is
    such a scale too: an exporter has folded the normalization between them. A product of matrices
    whose rows are reshaped to one matrix becomes a product of that matrix.

    The new weight and bias are computed in the IR, so no weight data is needed;
    `hoist-parameter-computation` moves that arithmetic out of the run. The original parameters
    stay as they are for their other readers.

    Requires: nothing else reads the layer's result (a function result counts as a reader), and the
    weight, mean, variance, scale and biases are computed from parameters and constants alone
    (else the folded arithmetic would be work at every run).

    rewrite:
        %y = gawee.conv %x, %w bias %b ...
        %z = gawee.batch_norm %y mean %m variance %v scale %g bias %beta eps e
        ->  %w2, %b2 = gawee.fold_batch_norm %w bias %b mean %m variance %v
                           scale %g shift %beta eps e
            %z = gawee.conv %x, %w2 bias %b2 ...
        %y = gawee.conv %x, %w bias %b ...; %z = gawee.mul %y, %c
        ->  %z = gawee.conv %x, %w * reshape(%c, [C, 1, 1, 1]) bias %b * %c ...
    """

    name = "fold-batch-norm"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True

    patterns = (FoldIntoNorm, FoldScale, FlattenProduct, FoldIntoLayer)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pattern in self.patterns:  # all that scales a norm, before the norm is gone
            PatternWalk(Driver([pattern()], ctx)).rewrite_module(op)
