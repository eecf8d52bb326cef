"""Boxes of detectors."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arithmetic import MaximumOp, MinimumOp
from gawee_dialect.dialect.graph.constant import IotaOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherElementsOp, ScatterNdOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, CompareOp, WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.order import NonMaxSuppressionOp, SortOp
from gawee_dialect.dialect.graph.reduction import CumSumOp
from gawee_dialect.dialect.types import (
    element_type,
    require_rank,
    shape_text,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part
from gawee_dialect.frontends.op_mapping.registry import KnownInts, KnownNumberOrNone, Refusal

Corners = tuple[SSAValue, SSAValue, SSAValue, SSAValue]
"""Of boxes: the lower and the higher end on one axis, and on the other."""

LIMIT = (
    "as many rows as there can be, or as the graph's output says it has; "
    "those that are not needed are -1"
)


@register_op("NonMaxSuppression", limits=[LIMIT])
def non_max_suppression(
    emit: Emitter,
    boxes: SSAValue,
    scores: SSAValue,
    max_output_boxes_per_class: KnownInts = (),
    iou_threshold: KnownNumberOrNone = None,
    score_threshold: KnownNumberOrNone = None,
    center_point_box: int = 0,
) -> SSAValue:
    """The best boxes of each class that do not overlap: rows of batch, class and box"""
    require_rank("boxes", tensor_type(boxes), 3)
    require_rank("scores", tensor_type(scores), 3)
    batch, classes, count = tensor_shape(scores)
    if tensor_shape(boxes) != (batch, count, 4):
        got = shape_text(tensor_shape(boxes))
        raise Refusal(f"expected boxes of shape {batch}x{count}x4, got {got}")
    most = min(max_output_boxes_per_class[0] if max_output_boxes_per_class else 0, count)
    if most < 1:
        raise Refusal(f"expected max_output_boxes_per_class of at least 1, got {most}")
    best, order = emit.all(SortOp(scores, axis=2, descending=True))
    ends = _corners(emit, boxes, center_point_box)
    ordered = [_in_order(emit, each, order) for each in ends]
    overlaps = _overlaps(emit, (ordered[0], ordered[1], ordered[2], ordered[3]), iou_threshold or 0)
    kept = emit(NonMaxSuppressionOp(_candidates(emit, best, score_threshold), overlaps))
    rank = emit(CumSumOp(emit.cast(kept, i64), axis=2))
    limit = emit.full(tensor_shape(rank), most, i64)
    kept = emit(BitwiseAndOp(kept, emit(CompareOp(rank, limit, predicate="le"))))
    rows = batch * classes * most
    if emit.output_types:
        said = emit.output_types[0].get_shape()
        if len(said) != 2:
            raise Refusal(f"expected an output of rows, got {shape_text(said)}")
        rows = said[0]
    return _selected(emit, kept, order, rows)


def _corners(emit: Emitter, boxes: SSAValue, by_center: int) -> Corners:
    """Return the ends of boxes, (batch, boxes) each; corners come in any order."""
    shape = tensor_shape(boxes)[:2]
    parts = [emit.reshape(part(emit, boxes, 2, index, 1), shape) for index in range(4)]
    if by_center:
        half = emit.full(shape, 0.5, element_type(boxes))
        halves = [emit(MulOp(each, half)) for each in parts[2:]]
        low = [emit(SubOp(at, by)) for at, by in zip(parts, halves, strict=False)]
        high = [emit(AddOp(at, by)) for at, by in zip(parts, halves, strict=False)]
    else:
        low = [emit(MinimumOp(parts[axis], parts[axis + 2])) for axis in range(2)]
        high = [emit(MaximumOp(parts[axis], parts[axis + 2])) for axis in range(2)]
    return low[0], high[0], low[1], high[1]


def _in_order(emit: Emitter, value: SSAValue, order: SSAValue) -> SSAValue:
    """Return what belongs to boxes, (batch, boxes), in each class's order."""
    batch, classes, count = tensor_shape(order)
    wide = emit.broadcast(emit.reshape(value, (batch, 1, count)), (batch, classes, count))
    return emit(GatherElementsOp(wide, order, axis=2))


def _overlaps(emit: Emitter, ends: Corners, threshold: float) -> SSAValue:
    """Say of every two boxes whether their intersection is a larger part of their union."""
    shape = tensor_shape(ends[0])
    pairs = (*shape, shape[-1])

    def first(value: SSAValue) -> SSAValue:
        return emit.broadcast(emit.reshape(value, (*shape, 1)), pairs)

    def second(value: SSAValue) -> SSAValue:
        return emit.broadcast(emit.reshape(value, (*shape[:-1], 1, shape[-1])), pairs)

    def common(low: SSAValue, high: SSAValue) -> SSAValue:
        end = emit(MinimumOp(first(high), second(high)))
        start = emit(MaximumOp(first(low), second(low)))
        return emit(ReluOp(emit(SubOp(end, start))))

    lows, highs = ends[::2], ends[1::2]
    sides = [emit(SubOp(high, low)) for low, high in zip(lows, highs, strict=True)]
    area = emit(MulOp(sides[0], sides[1]))
    shared = emit(MulOp(common(lows[0], highs[0]), common(lows[1], highs[1])))
    union = emit(SubOp(emit(AddOp(first(area), second(area))), shared))
    limit = emit.full(pairs, threshold, element_type(area))
    return emit(CompareOp(emit(DivOp(shared, union)), limit, predicate="gt"))


def _candidates(emit: Emitter, scores: SSAValue, threshold: float | None) -> SSAValue:
    shape = tensor_shape(scores)
    if threshold is None:
        return emit.full(shape, True, i1)
    return emit(
        CompareOp(scores, emit.full(shape, threshold, element_type(scores)), predicate="gt")
    )


def _selected(emit: Emitter, kept: SSAValue, order: SSAValue, rows: int) -> SSAValue:
    """Return batch, class and box of what is kept, one row after the other, then rows of -1."""
    shape = tensor_shape(order)
    count = int(np.prod(shape))
    places: Sequence[SSAValue] = [
        emit(IotaOp(TensorType(i64, shape), axis=axis)) for axis in (0, 1)
    ]
    columns = [emit.reshape(each, (count, 1)) for each in (*places, order)]
    flat = emit.reshape(kept, (count,))
    ranks = emit(CumSumOp(emit.cast(flat, i64), axis=0))
    row = emit(SubOp(ranks, emit.full((count,), 1, i64)))
    # What is not kept, and what there is no row for, goes to a row that is cut off.
    spare = emit.full((count,), rows, i64)
    to = emit(MinimumOp(emit(WhereOp(flat, row, spare)), spare))
    nothing = emit.full((rows + 1, 3), -1, i64)
    updates = emit(CatOp(columns, dim=1))
    written = emit(ScatterNdOp(nothing, emit.reshape(to, (count, 1)), updates))
    return part(emit, written, 0, 0, rows)
