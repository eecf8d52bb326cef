"""Tensors put together."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.shape import CatOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import stacked
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.promotion import all_promoted
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Tensors


@register_op("aten.cat", "aten.concat", "aten.concatenate")
def cat(emit: Emitter, tensors: Tensors, dim: int = 0) -> SSAValue:
    """One after the other along an axis; vectors without elements do not count"""
    counted = [each for each in tensors if tensor_shape(each) != (0,)] or list(tensors[:1])
    if not counted:
        raise Refusal("expected at least one tensor, got none")
    axis = axis_of(counted[0], dim)
    values = all_promoted(emit, counted)
    return values[0] if len(values) == 1 else emit(CatOp(values, dim=axis))


@register_op("aten.stack")
def stack(emit: Emitter, tensors: Tensors, dim: int = 0) -> SSAValue:
    """Along a new axis"""
    if not tensors:
        raise Refusal("expected at least one tensor, got none")
    axis = axis_of(tensors[0], dim, new=True)
    return stacked(emit, all_promoted(emit, tensors), axis)


@register_op("aten.hstack")
def hstack(emit: Emitter, tensors: Tensors) -> SSAValue:
    """Along the second axis, vectors along their only one"""
    return cat(emit, tensors, 0 if len(tensor_shape(tensors[0])) <= 1 else 1)


@register_op("aten.meshgrid", "aten.meshgrid.indexing")
def meshgrid(emit: Emitter, tensors: Tensors, indexing: str = "ij") -> Sequence[SSAValue]:
    """Each vector along an axis of its own, repeated along the others"""
    if indexing not in ("ij", "xy"):
        raise Refusal(f"unsupported indexing '{indexing}'; supported: ij, xy")
    rank = len(tensors)
    axes = list(range(rank))
    if indexing == "xy" and rank >= 2:
        axes[:2] = [1, 0]
    sizes = [(tensor_shape(each) or (1,))[0] for each in tensors]
    shape = [1] * rank
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    grids: list[SSAValue] = []
    for tensor, axis, size in zip(tensors, axes, sizes, strict=True):
        alone = [size if each == axis else 1 for each in range(rank)]
        grids.append(emit.broadcast(emit.reshape(tensor, alone), shape))
    return grids
