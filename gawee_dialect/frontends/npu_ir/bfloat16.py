"""bfloat16, which tensors are stored in: each node computes in float32 and rounds its results.

That is what PyTorch's own functions do on a processor. What only moves elements needs neither.
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType, bf16, f32
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.arrangement import BroadcastToOp, ReverseOp, TileOp, TransposeOp
from gawee_dialect.dialect.cast import CastOp
from gawee_dialect.dialect.gather import IndexedOp
from gawee_dialect.dialect.shape import CatOp, ReshapeOp
from gawee_dialect.dialect.slicing import InsertSliceOp, SliceOp
from gawee_dialect.dialect.types import ELEMENT_TYPES, element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.ir import AttributeValue
from gawee_dialect.frontends.op_mapping.emitter import Emitter, dtype_element
from gawee_dialect.frontends.op_mapping.refusal import Refusal

BFLOAT16 = "bfloat16"

MOVES = (
    *(BroadcastToOp, CatOp, IndexedOp, InsertSliceOp, ReshapeOp, ReverseOp, SliceOp, TileOp),
    TransposeOp,
)
"""Ops whose result is made of elements of their operands, whatever those are."""


def stored_element(dtype: str) -> Attribute:
    """Return the element type of a dtype of tensors; raises Refusal for one that there is not."""
    if dtype == BFLOAT16:
        return bf16
    if dtype not in ELEMENT_TYPES:
        known = ", ".join((*ELEMENT_TYPES, BFLOAT16))
        raise Refusal(f"unsupported dtype '{dtype}'; supported: {known}")
    return dtype_element(dtype)


def in_float32(
    emit: Emitter, inputs: Sequence[SSAValue], attributes: Mapping[str, AttributeValue]
) -> tuple[Sequence[SSAValue], Mapping[str, AttributeValue]]:
    """Return what a node computes with: float32 in the place of bfloat16.

    A call whose dtype is bfloat16 rounds its inputs before it computes.
    """
    named = {key for key, value in attributes.items() if value == f"torch.{BFLOAT16}"}
    wide = [_widened(emit, each, rounded=bool(named)) for each in inputs]
    return wide, {
        key: "torch.float32" if key in named else value for key, value in attributes.items()
    }


def _widened(emit: Emitter, value: SSAValue, *, rounded: bool) -> SSAValue:
    if rounded and is_float(element_type(value)):
        value = emit.cast(value, bf16)
    return emit.cast(value, f32) if element_type(value) == bf16 else value


def rounded(emit: Emitter, value: SSAValue, dtype: str) -> SSAValue:
    """Return a result as its node declares it: float32 rounded to bfloat16 where that is it."""
    if dtype != BFLOAT16 or element_type(value) != f32:
        return value
    return _moved(emit, value) or emit.cast(value, bf16)


def _moved(emit: Emitter, value: SSAValue) -> SSAValue | None:
    """Return the bfloat16 value that a value is equal to without rounding; None where none is."""
    op = value.owner
    if isinstance(op, CastOp):
        return op.input if element_type(op.input) == bf16 else None
    if not isinstance(op, MOVES):
        return None
    operands: list[SSAValue] = []
    for each in op.operands:
        narrow = _moved(emit, each) if element_type(each) == f32 else each
        if narrow is None:
            return None
        operands.append(narrow)
    type = TensorType(bf16, tensor_shape(value))
    return emit(op.create(operands=operands, result_types=[type], properties=op.properties))
