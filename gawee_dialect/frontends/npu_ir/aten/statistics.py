"""Variance and standard deviation."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from gawee_dialect.dialect.elementwise import MulOp, SqrtOp
from gawee_dialect.dialect.reduction import ReduceMeanOp, ReduceSumOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import sub
from gawee_dialect.frontends.npu_ir.aten.reduction import reduced
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axes_of
from gawee_dialect.frontends.op_mapping.schema import Ints, Number


def moments(
    emit: Emitter, value: SSAValue, dims: Ints | None, correction: Number, keepdim: bool
) -> tuple[SSAValue, SSAValue]:
    """Return variance and mean; the variance is divided by the count less the correction."""
    mean = reduced(emit, ReduceMeanOp, value, dims, True)
    deviation = sub(emit, value, mean)
    total = reduced(emit, ReduceSumOp, emit(MulOp(deviation, deviation)), dims, keepdim)
    count = prod(tensor_shape(value)[axis] for axis in axes_of(value, dims))
    # 0 degrees of freedom make NaN, as in PyTorch; so 0 * inf, not a division here.
    freedom = max(count - correction, 0)
    factor = emit.number(1 / freedom if freedom else float("inf"), element_type(value))
    return emit(MulOp(total, factor)), emit.reshape(mean, tensor_shape(total))


@register_op("aten.var.correction")
def var(
    emit: Emitter,
    self: SSAValue,
    dim: Ints | None = None,
    correction: Number | None = None,
    keepdim: bool = False,
) -> SSAValue:
    """The variance"""
    return moments(emit, self, dim, 1 if correction is None else correction, keepdim)[0]


@register_op("aten.std.correction")
def std(
    emit: Emitter,
    self: SSAValue,
    dim: Ints | None = None,
    correction: Number | None = None,
    keepdim: bool = False,
) -> SSAValue:
    """The standard deviation"""
    return emit(SqrtOp(var(emit, self, dim, correction, keepdim)))


@register_op("aten.var.dim")
def var_dim(
    emit: Emitter, self: SSAValue, dim: Ints | None, unbiased: bool = True, keepdim: bool = False
) -> SSAValue:
    """The variance"""
    return var(emit, self, dim, int(unbiased), keepdim)


@register_op("aten.std.dim")
def std_dim(
    emit: Emitter, self: SSAValue, dim: Ints | None, unbiased: bool = True, keepdim: bool = False
) -> SSAValue:
    """The standard deviation"""
    return std(emit, self, dim, int(unbiased), keepdim)


@register_op("aten.var.default")
def var_all(emit: Emitter, self: SSAValue, unbiased: bool = True) -> SSAValue:
    """The variance of all elements"""
    return var(emit, self, None, int(unbiased))


@register_op("aten.std.default")
def std_all(emit: Emitter, self: SSAValue, unbiased: bool = True) -> SSAValue:
    """The standard deviation of all elements"""
    return std(emit, self, None, int(unbiased))


@register_op("aten.var_mean.correction")
def var_mean(
    emit: Emitter,
    self: SSAValue,
    dim: Ints | None = None,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Sequence[SSAValue]:
    """Variance and mean"""
    return moments(emit, self, dim, 1 if correction is None else correction, keepdim)


@register_op("aten.std_mean.correction")
def std_mean(
    emit: Emitter,
    self: SSAValue,
    dim: Ints | None = None,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Sequence[SSAValue]:
    """Standard deviation and mean"""
    variance, mean = var_mean(emit, self, dim, correction, keepdim)
    return emit(SqrtOp(variance)), mean
