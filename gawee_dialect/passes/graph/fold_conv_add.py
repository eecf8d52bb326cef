"""Fold the addition of a per-channel constant into the bias of the layer before it."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.activation import ClipOp, HardSigmoidOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import ReshapeOp, TransposeOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import (
    element_type,
    is_float,
    shape_text,
    shaped_bytes,
    tensor_shape,
)
from gawee_dialect.passes.graph.layer import (
    folded_operand,
    hand_on_identity,
    scalar_like,
    with_parameters,
)
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.parameter_analysis import (
    ParameterAnalysis,
    describe,
    reason_against_computed,
    reason_against_readers,
)


def per_channel_size(shape: tuple[int, ...], result: tuple[int, ...]) -> int | None:
    """Return 1 or the channels where a shape broadcasts along them alone, None elsewhere.

    NumPy aligns shapes at the last axis: [C] lies along the width, [C, 1, 1] along the channels.
    """
    if len(shape) > len(result):
        return None
    batch, size, *spatial = (1,) * (len(result) - len(shape)) + shape
    alone = {batch, *spatial} == {1} and size in (1, result[1])
    return size if alone else None


class FoldIntoBias(Pattern):
    """add(conv(x, w, b), c) -> conv(x, w, b + c), operands in either order"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        found = folded_operand(op, (ConvOp,), self._reason_against, "'gawee.conv'")
        if isinstance(found, str):
            self.missed(op, found)
            return
        conv, constant = found
        bias = summed_bias(conv, constant, rewriter)
        rewriter.replace(op, with_parameters(conv, conv.weight, bias))
        rewriter.erase(conv)

    def _reason_against(self, add: AddOp, conv: ConvOp, constant: SSAValue) -> str | None:
        if (reason := reason_against_bias(conv, self._analysis)) is not None:
            return reason
        if not self._analysis.is_known_early(constant):
            return (
                "expected the other operand to be computed from parameters and constants alone, "
                f"got {describe(constant)}"
            )
        shape, result = tensor_shape(constant), tensor_shape(conv.result)
        if add.result.type != conv.result.type or per_channel_size(shape, result) is None:
            channels, *spatial = result[1:]
            wanted = shape_text((channels, *(1 for _ in spatial)))
            return (
                f"expected a scalar or a shape that broadcasts along {channels} channels alone, "
                f"such as {wanted}, got {shape_text(shape)}"
            )
        return None


def reason_against_bias(conv: ConvOp, analysis: ParameterAnalysis) -> str | None:
    """Return why the bias of a convolution cannot take something in; None where it can."""
    return reason_against_readers(conv) or reason_against_computed(
        analysis, "the bias", (conv.bias,)
    )


class FoldHardSigmoid(Pattern):
    """hard_sigmoid(conv(x, w, b)) -> clip(conv(x, w, b + 3), 0, 6) / 6"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: HardSigmoidOp, rewriter: PatternRewriter) -> None:
        conv = op.input.owner
        if not isinstance(conv, ConvOp):
            self.missed(op, f"expected input from a convolution, got {describe(op.input)}")
            return
        if (reason := reason_against_bias(conv, self._analysis)) is not None:
            self.missed(op, reason)
            return
        three = rewriter.insert(scalar_like(conv.result, 3.0)).result
        bias = summed_bias(conv, three, rewriter)
        layer = rewriter.insert(with_parameters(conv, conv.weight, bias))
        clipped = rewriter.insert(ClipOp(layer.result, min=0, max=6)).result
        six = rewriter.insert(scalar_like(conv.result, 6.0)).result
        rewriter.replace(op, DivOp(clipped, six))
        rewriter.erase(conv)


class FoldIntoProduct(Pattern):
    """add(x @ w, c) -> matmul(x, w) bias c, where c has one number for each column of w"""

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        products = (MatMulOp, BatchMatMulOp)
        found = folded_operand(op, products, self._reason_against, "a product")
        if isinstance(found, str):
            self.missed(op, found)
            return
        product, constant = found
        rewriter.replace(op, biased(product, constant, rewriter))
        rewriter.erase(product)

    def _reason_against(
        self, add: AddOp, product: MatMulOp | BatchMatMulOp, constant: SSAValue
    ) -> str | None:
        reason = reason_against_readers(product)
        if reason is not None:
            return reason
        weight = product.b if isinstance(product, BatchMatMulOp) else product.weight
        early = all(map(self._analysis.is_known_early, (weight, constant)))
        biased_already = isinstance(product, MatMulOp) and product.bias is not None
        if biased_already or not early:
            return "expected a product without bias, of weights, and a parameter or constant"
        if not has_one_matrix(product):
            return "expected a weight that is one matrix of floats, and its input as it is stored"
        shape, result = tensor_shape(constant), tensor_shape(product.result)
        if (
            add.result.type != product.result.type
            or prod(shape) != result[-1]
            or (shape[-1:] != result[-1:])
        ):
            return f"expected one number for each of {result[-1]} columns, got {shape_text(shape)}"
        return None


def biased(
    product: MatMulOp | BatchMatMulOp, constant: SSAValue, rewriter: PatternRewriter
) -> MatMulOp:
    """Insert what a linear layer stores of a product's weight and of a constant; return it."""
    columns = tensor_shape(product.result)[-1:]
    if tensor_shape(constant) != columns:
        constant = rewriter.insert(ReshapeOp(constant, shape=columns)).result
    if isinstance(product, MatMulOp):
        return with_bias(product, product.input, product.weight, constant)
    return with_bias(product, product.a, stored_weight(product, rewriter), constant)


def has_one_matrix(product: MatMulOp | BatchMatMulOp) -> bool:
    """Whether a product is one of its input as it is stored and of one matrix of floats."""
    if isinstance(product, MatMulOp):
        return is_float(element_type(product.weight))
    rank = len(tensor_shape(product.b))
    return product.transpose_a is None and rank == 2 and is_float(element_type(product.b))


def stored_weight(product: MatMulOp | BatchMatMulOp, rewriter: PatternRewriter) -> SSAValue:
    """Insert the weight of a product with one matrix as a linear layer stores it: (out, in)."""
    if isinstance(product, MatMulOp):
        return product.weight
    if product.transpose_b is not None:
        return product.b
    return rewriter.insert(TransposeOp(product.b, permutation=[1, 0])).result


def with_bias(product: GaweeOp, input: SSAValue, weight: SSAValue, bias: SSAValue) -> MatMulOp:
    """Make a linear layer from the place of a product."""
    layer = MatMulOp(input, weight, bias)
    hand_on_identity(product, layer)
    return layer


def summed_bias(conv: ConvOp, constant: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    """Insert the bias of a convolution, zeros where it has none, plus a per-channel constant."""
    channels = tensor_shape(conv.result)[1]
    size = per_channel_size(tensor_shape(constant), tensor_shape(conv.result))
    assert size is not None
    addend = constant
    if tensor_shape(constant) != (size,):
        addend = rewriter.insert(ReshapeOp(constant, shape=[size])).result
    if conv.bias is not None:
        return rewriter.insert(AddOp(conv.bias, addend)).result
    if size == channels:
        return addend
    zeros = rewriter.insert(zero_bias(conv, channels))
    return rewriter.insert(AddOp(zeros.result, addend)).result


def zero_bias(conv: ConvOp, channels: int) -> ConstantOp:
    """Make the bias that a convolution without one has."""
    type = TensorType(element_type(conv.result), [channels])
    zeros = bytes(shaped_bytes(type))  # zero is all bits 0 in every element type
    return ConstantOp(DenseIntOrFPElementsAttr.new([type, BytesAttr(zeros)]))


@dataclass(frozen=True)
class FoldConvAdd(RewritePass):
    """Fold the addition of a per-channel constant into the bias of the layer before it.

    A layer is a convolution, or a product with a weight that is one matrix: what a linear layer is
    where its format has none. A hard sigmoid behind a convolution begins with such an addition.

    Requires: nothing else reads the layer's result (a function result counts as a reader); the
    other operand is computed from parameters and constants alone; its shape is a scalar, [1],
    [C, 1, 1] or [1, C, 1, 1] behind a convolution, where [C] broadcasts along the width, so it
    stays. Behind a product it is [C] or [1, C], and the product's weight is a parameter.

    rewrite:
        %y = gawee.conv %x, %w bias %b ...; %z = gawee.add %y, %c
        ->  %z = gawee.conv %x, %w bias %b + reshape(%c, [C]) ...
        %y = gawee.batch_matmul %x, %w; %z = gawee.add %y, %c
        ->  %z = gawee.matmul %x, transpose(%w) bias %c
        %y = gawee.conv %x, %w bias %b ...; %z = gawee.hard_sigmoid %y
        ->  %z = (gawee.clip (gawee.conv %x, %w bias %b + 3 ...) min 0 max 6) / 6
    """

    name = "fold-conv-add"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True

    patterns = (FoldIntoBias, FoldIntoProduct, FoldHardSigmoid)
