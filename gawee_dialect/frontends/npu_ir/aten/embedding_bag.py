"""Sums, means and extremes of rows of a table."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.arithmetic import MaximumOp
from gawee_dialect.dialect.comparison import WhereOp
from gawee_dialect.dialect.elementwise import DivOp, MulOp
from gawee_dialect.dialect.position import IotaOp
from gawee_dialect.dialect.reduction import ReduceSumOp
from gawee_dialect.dialect.scatter import ScatterNdOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import sub
from gawee_dialect.frontends.npu_ir.aten.comparison import compared
from gawee_dialect.frontends.npu_ir.aten.indexing import embedding
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal

SUM, MEAN, MAX = range(3)
"""How PyTorch numbers the modes."""


def bags_of(emit: Emitter, offsets: SSAValue, count: int) -> SSAValue:
    """Return the number of the bag that each of so many indices is in."""
    place = emit(IotaOp(TensorType(element_type(offsets), [count]), axis=0))
    begun = compared(emit, offsets, unsqueeze(emit, place, -1), "le")
    return sub(emit, emit(ReduceSumOp(emit.cast(begun, i64), axes=[1], keep_dims=False)), 1)


def embedding_bag(
    emit: Emitter,
    weight: SSAValue,
    indices: SSAValue,
    offsets: SSAValue,
    scale_grad_by_freq: object = False,
    mode: int = 0,
    sparse: object = False,
    per_sample_weights: SSAValue | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> Sequence[SSAValue | None]:
    """The sum, mean or greatest of the rows in each bag, and what only gradients need: nothing"""
    if mode not in (SUM, MEAN, MAX):
        raise Refusal(f"unsupported mode {mode}; supported: 0, 1, 2")
    if any(emit.is_used(index) for index in range(1, 4)):
        raise Refusal("unsupported use of what only gradients need; supported: the first result")
    (count,), (rows, width) = tensor_shape(indices), tensor_shape(weight)
    (bags,) = tensor_shape(offsets)
    if include_last_offset:
        bags -= 1
        offsets = part(emit, offsets, 0, 0, bags)
    element = element_type(weight)
    values, place = embedding(emit, weight, indices), bags_of(emit, offsets, count)
    if per_sample_weights is not None:
        values = emit(MulOp(values, unsqueeze(emit, per_sample_weights, -1)))
    one = emit.full((count, 1), 1, element)
    if padding_idx >= 0:
        kept = unsqueeze(emit, compared(emit, indices, padding_idx % rows, "ne"), -1)
        one = emit.cast(kept, element)
        ignored = emit.number(float("-inf") if mode == MAX else 0, element)
        values = emit(WhereOp(kept, values, ignored))

    def collected(updates: SSAValue, start: float, reduction: str) -> SSAValue:
        empty = emit.full((bags, tensor_shape(updates)[1]), start, element)
        where = unsqueeze(emit, place, -1)
        return emit(ScatterNdOp(empty, where, updates, reduction=reduction))

    if mode == SUM:
        return collected(values, 0, "add"), None, None, None
    counts = collected(one, 0, "add")
    if mode == MEAN:
        divisor = emit(MaximumOp(counts, emit.number(1, element)))
        return emit(DivOp(collected(values, 0, "add"), divisor)), None, None, None
    greatest = collected(values, float("-inf"), "max")
    filled = emit.broadcast(compared(emit, counts, 0, "gt"), (bags, width))
    return emit(WhereOp(filled, greatest, emit.number(0, element))), None, None, None


FIRST_ALONE = ("what only gradients need is not made",)

for _name in ("_embedding_bag", "_embedding_bag_forward_only"):
    _register: Callable[..., object] = register_op(f"aten.{_name}", limits=FIRST_ALONE)
    _register(embedding_bag)
