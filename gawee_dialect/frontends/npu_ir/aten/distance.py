"""Distances between the rows of two matrices."""

from xdsl.ir import SSAValue

from gawee_dialect.frontends.npu_ir.aten.arithmetic import sub
from gawee_dialect.frontends.npu_ir.aten.reduction import vector_norm
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.shape import unsqueeze
from gawee_dialect.frontends.op_mapping.emitter import Emitter


@register_op("aten._cdist_forward", "aten.cdist")
def cdist(
    emit: Emitter, x1: SSAValue, x2: SSAValue, p: float = 2.0, compute_mode: object = None
) -> SSAValue:
    """The vector norm of each row of one matrix minus each row of the other"""
    difference = sub(emit, unsqueeze(emit, x1, -2), unsqueeze(emit, x2, -3))
    return vector_norm(emit, difference, p, [-1])


@register_op("aten._euclidean_dist")
def euclidean_dist(emit: Emitter, x1: SSAValue, x2: SSAValue) -> SSAValue:
    """The length of each row of one matrix minus each row of the other"""
    return cdist(emit, x1, x2)
