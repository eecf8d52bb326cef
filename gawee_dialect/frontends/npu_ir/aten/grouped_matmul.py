"""Products of matrices whose rows, columns or inner elements are in groups.

The ends of the groups are data, so every product is made of everything, and what is not of the
group is left out.
"""

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from gawee_dialect.dialect.bitwise import BitwiseAndOp
from gawee_dialect.dialect.comparison import WhereOp
from gawee_dialect.dialect.position import IotaOp
from gawee_dialect.dialect.reduction import ReduceSumOp
from gawee_dialect.dialect.shape import CatOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.contraction import matmul, product
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter, dtype_element
from gawee_dialect.frontends.op_mapping.refusal import Refusal


def members(emit: Emitter, offs: SSAValue, count: int) -> SSAValue:
    """Return which of so many positions are in each group (groups, count), by the groups' ends."""
    (groups,) = tensor_shape(offs)
    element = element_type(offs)
    first = emit.full((1,), 0, element)
    begins = first if groups == 1 else emit(CatOp([first, part(emit, offs, 0, 0, groups - 1)]))
    place = emit(IotaOp(TensorType(element, [count]), axis=0))
    after = compared(emit, unsqueeze(emit, begins, 1), place, "le")
    return emit(BitwiseAndOp(after, compared(emit, unsqueeze(emit, offs, 1), place, "gt")))


def kept(emit: Emitter, value: SSAValue, mask: SSAValue) -> SSAValue:
    """Return elements where a mask says so, and zeros."""
    return emit(WhereOp(mask, value, emit.number(0, element_type(value))))


@register_op("aten._grouped_mm")
def grouped_mm(
    emit: Emitter,
    self: SSAValue,
    mat2: SSAValue,
    offs: SSAValue | None = None,
    bias: SSAValue | None = None,
    out_dtype: str | None = None,
) -> SSAValue:
    """A product for each group: of rows, of columns, of inner elements, or of a batch"""
    if bias is not None:
        raise Refusal("unsupported bias; supported: none")
    ranks = len(tensor_shape(self)), len(tensor_shape(mat2))
    result = product(emit, self, mat2) if ranks == (3, 3) else None
    if result is None and offs is None:
        raise Refusal("expected argument 'offs', got none")
    if result is None and offs is not None:
        result = _by_offsets(emit, self, mat2, offs, ranks)
    assert result is not None
    return result if out_dtype is None else emit.cast(result, dtype_element(out_dtype))


def _by_offsets(
    emit: Emitter, self: SSAValue, mat2: SSAValue, offs: SSAValue, ranks: tuple[int, int]
) -> SSAValue:
    if ranks == (2, 2):
        inner = members(emit, offs, tensor_shape(self)[1])
        return matmul(emit, kept(emit, self, unsqueeze(emit, inner, 1)), mat2)
    everything = matmul(emit, self, mat2)
    rows, axis = (tensor_shape(self)[0], 2) if ranks == (2, 3) else (tensor_shape(mat2)[1], 1)
    mask = unsqueeze(emit, members(emit, offs, rows), axis)
    return emit(ReduceSumOp(kept(emit, everything, mask), axes=[0], keep_dims=False))


@register_op("transformers.grouped_mm_fallback")
def grouped_mm_fallback(
    emit: Emitter, input: SSAValue, weight: SSAValue, offs: SSAValue
) -> SSAValue:
    """A product for each group of rows, as transformers makes it of experts"""
    return grouped_mm(emit, input, weight, offs)
