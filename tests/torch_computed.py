"""PyTorch's meaning of the ops that compute each element: elementwise, reductions, normalizations."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch.nn.utils.fusion import fuse_conv_bn_weights
from xdsl.ir import Operation

from gawee_dialect.dialect import ELEMENTWISE
from gawee_dialect.dialect.graph import (
    activation,
    arithmetic,
    logic,
    normalization,
    quantization,
    reduction,
)
from gawee_dialect.dialect.graph.cast import BitcastOp, CastOp
from gawee_dialect.dialect.types import FLOATS, tensor_shape

Tensor = torch.Tensor

DTYPES = {
    **{"f16": torch.float16, "f32": torch.float32, "f64": torch.float64, "i1": torch.bool},
    **{"i8": torch.int8, "ui8": torch.uint8, "i32": torch.int32, "i64": torch.int64},
}


def clip(op: activation.ClipOp, x: Tensor) -> Tensor:
    low, high = (None if each is None else each.value.data for each in (op.min, op.max))
    return torch.clamp(x, low, high)


def cast(op: CastOp, x: Tensor) -> Tensor:
    return x.to(DTYPES[str(op.result.type.element_type)])


def of_each(op: quantization.QuantizationOp, value: Tensor) -> Tensor:
    """Return the scale, or the zero point, of each element."""
    shape = tensor_shape(op.input)
    index = torch.meshgrid(*map(torch.arange, shape), indexing="ij") if shape else ()
    places = map(quantization.axis_and_block, op.map.data.results)
    at = tuple(index[axis] // block for axis, block in places)
    return value[at] if at else value


def quantize(
    op: quantization.QuantizeOp, x: Tensor, scale: Tensor, zero: Tensor | None = None
) -> Tensor:
    scale = of_each(op, scale)
    steps = x / scale.float() if op.reciprocal is None else x * (1 / scale.double()).float()
    whole = steps.round() if zero is None else steps.round() + of_each(op, zero)
    return whole.clamp(*op.bounds).to(DTYPES[str(op.result.type.element_type)])


def dequantize(
    op: quantization.DequantizeOp, x: Tensor, scale: Tensor, zero: Tensor | None = None
) -> Tensor:
    whole = x.int() if zero is None else x.int() - of_each(op, zero).int()
    return whole.float() * of_each(op, scale).float()


def affine(op: Operation, rest: tuple[Tensor, ...]) -> dict[str, Tensor]:
    """Return scale and bias by PyTorch's names, where the op has them."""
    names = [name for name in ("scale", "bias") if getattr(op, name) is not None]
    torch_names = {"scale": "weight", "bias": "bias"}
    return {torch_names[name]: value for name, value in zip(names, rest, strict=True)}


def layer_norm(op: normalization.LayerNormOp, x: Tensor, *rest: Tensor) -> Tensor:
    shape = x.shape[-op.normalized_rank.value.data :]
    return F.layer_norm(x, shape, **affine(op, rest), eps=op.eps.value.data)


def rms_norm(op: normalization.RmsNormOp, x: Tensor, scale: Tensor | None = None) -> Tensor:
    shape = x.shape[-op.normalized_rank.value.data :]
    return F.rms_norm(x, shape, scale, eps=op.eps.value.data)


def group_norm(op: normalization.GroupNormOp, x: Tensor, *rest: Tensor) -> Tensor:
    return F.group_norm(x, op.groups.value.data, **affine(op, rest), eps=op.eps.value.data)


def fold_batch_norm(op: normalization.FoldBatchNormOp, *values: Tensor) -> Sequence[Tensor]:
    """Those of half precision are computed in single precision."""
    named = ("weight", "bias", "mean", "variance", "scale", "shift")
    present = [name for name in named if getattr(op, name) is not None]
    wide = [value.float() if value.dtype == torch.float16 else value for value in values]
    given = dict(zip(present, wide, strict=True))
    weight, mean, variance = (given[name] for name in ("weight", "mean", "variance"))
    bias, scale, shift = map(given.get, ("bias", "scale", "shift"))
    eps = op.eps.value.data
    folded = fuse_conv_bn_weights(weight, bias, mean, variance, eps, scale, shift)
    return [each.detach().to(values[0].dtype) for each in folded]


def reduced(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Apply a function along one axis after another, from the last on."""

    def run(op: reduction.ReduceOp, x: Tensor) -> Tensor:
        keep = op.keep_dims is not None
        for axis in sorted((axis % x.ndim for axis in op.axes.get_values()), reverse=True):
            x = function(x, axis, keepdim=keep)
        return x

    return run


def reduced_at_once(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Apply a function along all axes, so that f16 is rounded once."""

    def run(op: reduction.ReduceOp, x: Tensor) -> Tensor:
        axes = tuple(axis % x.ndim for axis in op.axes.get_values())
        return function(x, axes, keepdim=op.keep_dims is not None) if axes else x

    return run


def along(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda op, x: function(x, op.axis.value.data)


def arg(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda op, x: function(x, op.axis.value.data, keepdim=op.keep_dims is not None)


def plain(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda op, *operands: function(*operands)


COMPUTED: dict[type[Operation], Callable[..., Tensor | Sequence[Tensor]]] = {
    **{
        kind: plain(getattr(torch.ops.aten, kind.ATEN.removeprefix("aten.")))
        for kind in ELEMENTWISE
        if kind.ATEN and kind.ELEMENTS is FLOATS
    },
    normalization.LayerNormOp: layer_norm,
    normalization.RmsNormOp: rms_norm,
    normalization.FoldBatchNormOp: fold_batch_norm,
    normalization.GroupNormOp: group_norm,
    arithmetic.NegOp: plain(torch.neg),
    arithmetic.AbsOp: plain(torch.abs),
    arithmetic.FloorOp: plain(torch.floor),
    arithmetic.CeilOp: plain(torch.ceil),
    arithmetic.RoundOp: plain(torch.round),
    arithmetic.SignOp: plain(torch.sign),
    arithmetic.PowOp: plain(torch.pow),
    arithmetic.MaximumOp: plain(torch.maximum),
    arithmetic.MinimumOp: plain(torch.minimum),
    arithmetic.RemainderOp: plain(torch.remainder),
    arithmetic.FmodOp: plain(torch.fmod),
    arithmetic.FloorDivOp: plain(torch.floor_divide),
    arithmetic.Atan2Op: plain(torch.atan2),
    activation.SoftplusOp: plain(F.softplus),
    activation.LeakyReluOp: lambda op, x: F.leaky_relu(x, op.alpha.value.data),
    activation.EluOp: lambda op, x: F.elu(x, op.alpha.value.data),
    activation.GeluOp: lambda op, x: F.gelu(x, approximate=op.approximate.data),
    activation.ClipOp: clip,
    logic.LogicalNotOp: plain(torch.logical_not),
    logic.BitwiseNotOp: plain(torch.bitwise_not),
    logic.BitwiseAndOp: plain(torch.bitwise_and),
    logic.BitwiseOrOp: plain(torch.bitwise_or),
    logic.BitwiseXorOp: plain(torch.bitwise_xor),
    logic.CompareOp: lambda op, a, b: getattr(torch, op.predicate.data)(a, b),
    logic.IsNanOp: plain(torch.isnan),
    logic.WhereOp: plain(torch.where),
    CastOp: cast,
    quantization.QuantizeOp: quantize,
    quantization.DequantizeOp: dequantize,
    BitcastOp: lambda op, x: x.view(DTYPES[str(op.result.type.element_type)]),
    reduction.ReduceSumOp: reduced_at_once(torch.sum),
    reduction.ReduceMeanOp: reduced_at_once(torch.mean),
    reduction.ReduceMaxOp: reduced(torch.amax),
    reduction.ReduceMinOp: reduced(torch.amin),
    reduction.ReduceProdOp: reduced(torch.prod),
    reduction.ReduceAnyOp: reduced(torch.any),
    reduction.ReduceAllOp: reduced(torch.all),
    reduction.ArgMaxOp: arg(torch.argmax),
    reduction.ArgMinOp: arg(torch.argmin),
    reduction.CumSumOp: along(torch.cumsum),
    reduction.SoftmaxOp: along(F.softmax),
    reduction.LogSoftmaxOp: along(F.log_softmax),
}
"""What PyTorch function each op class stands for, given the op and its operands."""
