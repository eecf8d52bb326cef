"""Ops that change the element type or nothing at all, and those that only assert."""

from xdsl.ir import SSAValue

from gawee_dialect.dialect.types import element_type
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, dtype_element
from gawee_dialect.frontends.op_mapping.registry import Refusal


@register_op("aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten._to_copy")
def to(emit: Emitter, self: SSAValue, dtype: str | None = None) -> SSAValue:
    """Cast; where and how the tensor is stored does not count."""
    return self if dtype is None else emit.cast(self, dtype_element(dtype))


@register_op("prims.convert_element_type")
def convert_element_type(emit: Emitter, a: SSAValue, dtype: str) -> SSAValue:
    """Cast."""
    return emit.cast(a, dtype_element(dtype))


@register_op("aten.to.other", "aten.type_as")
def type_as(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """Cast to the element type of another tensor."""
    return emit.cast(self, element_type(other))


@register_op("aten.alias", "aten.detach", "aten.lift", "aten.lift_fresh", "aten.lift_fresh_copy")
@register_op("aten.lift_fresh_copy", "aten.resolve_conj", "aten.resolve_neg", "aten.alias_copy")
@register_op("aten.detach_copy", "aten.positive", "aten.clone", "aten.contiguous")
def alias(emit: Emitter, self: SSAValue) -> SSAValue:
    """The tensor itself"""
    return self


@register_op("aten.dropout", "aten.feature_dropout", "aten.alpha_dropout")
@register_op("aten.feature_alpha_dropout")
def dropout(emit: Emitter, input: SSAValue, p: float, train: bool) -> SSAValue:
    """The tensor itself: nothing is dropped at inference"""
    if train and p > 0:
        raise Refusal(
            "unsupported dropout with train=True; supported: train=False",
            hint="model.eval() before the model is extracted",
        )
    return input


@register_op("aten.native_dropout")
def native_dropout(
    emit: Emitter, input: SSAValue, p: float, train: bool | None
) -> tuple[SSAValue, None]:
    """The tensor itself; the mask of what is dropped is not made"""
    return dropout(emit, input, p, bool(train)), None


@register_op("aten._assert_tensor_metadata")
def assert_tensor_metadata(
    emit: Emitter, a: SSAValue, size: object = None, stride: object = None, dtype: object = None
) -> None:
    """Nothing: shapes and dtypes are checked when the graph is read."""


@register_op("aten._assert_async", "aten._functional_assert_async", "aten._assert_scalar")
@register_op("aten._functional_assert_scalar")
def assert_value(emit: Emitter, self: object = None, assert_msg: object = None) -> None:
    """Nothing: a value that is wrong is not noticed."""
