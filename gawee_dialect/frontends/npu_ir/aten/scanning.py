"""Running products and extremes along an axis.

In log2(n) steps: after each one, an element holds what twice as many elements before it make.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.bitwise import BitwiseOrOp
from gawee_dialect.dialect.comparison import IsNanOp, WhereOp
from gawee_dialect.dialect.elementwise import MulOp
from gawee_dialect.dialect.position import IotaOp
from gawee_dialect.dialect.shape import CatOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of, dtype_element
from gawee_dialect.frontends.op_mapping.promotion import summed

Values: TypeAlias = Sequence[SSAValue]
Combine: TypeAlias = Callable[[Values, Values], Values]
"""What two neighbouring runs of elements make, the earlier run first."""


def scanned(emit: Emitter, values: Values, axis: int, combine: Combine) -> Values:
    """Combine each element along an axis with all before it."""
    size = tensor_shape(values[0])[axis]
    step = 1
    while step < size:
        heads = [part(emit, each, axis, 0, step) for each in values]
        earlier = [part(emit, each, axis, 0, size - step) for each in values]
        later = [part(emit, each, axis, step, size - step) for each in values]
        joined = zip(heads, combine(earlier, later), strict=True)
        values = [emit(CatOp(pair, dim=axis)) for pair in joined]
        step *= 2
    return values


@register_op("aten.cumprod")
def cumprod(emit: Emitter, self: SSAValue, dim: int, dtype: str | None = None) -> SSAValue:
    """Products of the elements up to each, along an axis; of integers and booleans in int64"""
    value = summed(emit, self) if dtype is None else emit.cast(self, dtype_element(dtype))
    if not tensor_shape(self):
        return value

    def combine(earlier: Values, later: Values) -> Values:
        return (emit(MulOp(earlier[0], later[0])),)

    return scanned(emit, [value], axis_of(value, dim), combine)[0]


def running_extreme(predicate: str) -> Callable[[Emitter, SSAValue, int], Values]:
    """Return the mapping of an extreme of the elements up to each: the last of equal ones."""

    def mapping(emit: Emitter, self: SSAValue, dim: int) -> Values:
        shape = tensor_shape(self)
        if not shape:
            return self, emit.number(0, i64)

        def combine(earlier: Values, later: Values) -> Values:
            newer = compared(emit, later[0], earlier[0], predicate)
            if is_float(element_type(self)):
                newer = emit(BitwiseOrOp(newer, emit(IsNanOp(later[0]))))
            pairs = zip(later, earlier, strict=True)
            return [emit(WhereOp(newer, *pair)) for pair in pairs]

        axis = axis_of(self, dim)
        positions = emit(IotaOp(TensorType(i64, shape), axis=axis))
        return scanned(emit, (self, positions), axis, combine)

    return mapping


register_op("aten.cummax")(running_extreme("ge"))
register_op("aten.cummin")(running_extreme("le"))
