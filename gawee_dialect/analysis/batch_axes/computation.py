"""Rules of ops that compute: element by element, along axes, by windows and by products."""

from collections.abc import Sequence

from xdsl.irdl import IRDLOperation

from gawee_dialect.analysis.batch_axes.rules import (
    Axes,
    Carried,
    MixesImages,
    apart,
    broadcast,
    one_axis,
    rule,
    shared,
)
from gawee_dialect.dialect.graph.along_axis import AlongAxisOp, CumSumOp, LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.grid_sample import GridSampleOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.graph.normalization import (
    BatchNormOp,
    GroupNormOp,
    LayerNormOp,
    RmsNormOp,
)
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ArgOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.types import tensor_shape


def _first(op: IRDLOperation, axes: Axes) -> int:
    """Return the axis of the first operand's images, which no other operand has."""
    axis, *others = axes
    for index, other in enumerate(others, 1):
        shared(f"operand #{index}", other)
    assert axis is not None
    return axis


@rule(ElementwiseOp)
def _elementwise(op: ElementwiseOp, axes: Axes) -> Carried:
    wanted, axis = broadcast(op.operands, axes, tensor_shape(op.output))
    return Carried(wanted, [axis])


@rule(SoftmaxOp, LogSoftmaxOp, CumSumOp)
def _along_axis(op: AlongAxisOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    apart(op.resolved_axis != axis, f"lines along axis {axis}, which counts images")
    return Carried(axes, [axis])


@rule(SortOp, TopKOp)
def _order(op: SortOp | TopKOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    along = op.axis.value.data % len(tensor_shape(op.input))
    apart(along != axis, f"lines along axis {axis}, which counts images")
    return Carried(axes, [axis, axis])


@rule(ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp, ReduceAnyOp, ReduceAllOp)
def _reduction(op: ReduceOp, axes: Axes) -> Carried:
    return _reduced(axes, op.reduced_axes, keep=op.keep_dims is not None)


@rule(ArgMaxOp, ArgMinOp)
def _search(op: ArgOp, axes: Axes) -> Carried:
    return _reduced(axes, [op.searched_axis], keep=op.keep_dims is not None)


def _reduced(axes: Axes, reduced: Sequence[int], *, keep: bool) -> Carried:
    axis = one_axis(axes)
    apart(axis not in reduced, f"a reduction of axis {axis}, which counts images")
    gone = 0 if keep else sum(each < axis for each in reduced)
    return Carried(axes, [axis - gone])


@rule(ConvOp, ConvTransposeOp)
def _convolution(op: ConvOp | ConvTransposeOp, axes: Axes) -> Carried:
    shared("weight", axes[1])
    if op.bias is not None:
        shared("bias", axes[2])
    axis = _first(op, axes)
    apart(axis == 0, f"images along axis {axis} of its input, which it adds up")
    return Carried(axes, [0])


@rule(MaxPoolOp, AvgPoolOp, AdAvgPoolOp, AdMaxPoolOp, InterpolateOp)
def _windows(op: IRDLOperation, axes: Axes) -> Carried:
    axis = _first(op, axes)
    apart(axis < 2, f"windows along axis {axis}, which counts images")
    return Carried(axes, [axis])


@rule(GridSampleOp)
def _grid_sample(op: GridSampleOp, axes: Axes) -> Carried:
    apart(one_axis(axes) == 0, f"samples along axis {one_axis(axes)}, which counts images")
    return Carried([0, 0], [0])


@rule(BatchNormOp)
def _batch_norm(op: BatchNormOp, axes: Axes) -> Carried:
    axis = _first(op, axes)
    apart(axis != 1, "images along the axis of its channels")
    return Carried(axes, [axis])


@rule(GroupNormOp)
def _group_norm(op: GroupNormOp, axes: Axes) -> Carried:
    axis = _first(op, axes)
    apart(axis == 0, f"a normalization over axis {axis}, which counts images")
    return Carried(axes, [axis])


@rule(LayerNormOp, RmsNormOp)
def _row_norm(op: LayerNormOp | RmsNormOp, axes: Axes) -> Carried:
    axis = _first(op, axes)
    rows = len(tensor_shape(op.input)) - op.normalized_rank.value.data
    apart(axis < rows, f"a normalization over axis {axis}, which counts images")
    return Carried(axes, [axis])


@rule(MatMulOp)
def _layer(op: MatMulOp, axes: Axes) -> Carried:
    shared("weight", axes[1])
    axis = _first(op, axes)
    last = len(tensor_shape(op.input)) - 1
    apart(axis != last, f"a sum over axis {axis}, which counts images")
    return Carried(axes, [axis])


@rule(BatchMatMulOp)
def _product(op: BatchMatMulOp, axes: Axes) -> Carried:
    shape = tensor_shape(op.result)
    flags = (op.transpose_a is not None, op.transpose_b is None)
    for index, (operand, axis, is_second) in enumerate(zip(op.operands, axes, flags, strict=True)):
        rank = len(tensor_shape(operand))
        if axis is None or axis < rank - 2:
            continue
        # Of a the rows, of b the columns: the other axis of a matrix is added up.
        kept = rank - 1 if is_second else rank - 2
        apart(axis == kept, f"a sum over axis {axis} of operand #{index}, which counts images")
        shared(f"operand #{1 - index}", axes[1 - index])
        return Carried(axes, [len(shape) - 2 + index])
    wanted, axis = broadcast(op.operands, axes, shape)
    return Carried(wanted, [axis])


@rule(AttentionOp)
def _attention(op: AttentionOp, axes: Axes) -> Carried:
    shape = tensor_shape(op.q)
    mask = None if op.mask is None else tensor_shape(op.mask)
    start = 0 if mask is None else len(shape) - len(mask)
    placed = [*axes[:3], *(None if each is None else each + start for each in axes[3:])]
    axis = one_axis(placed)
    apart(axis < len(shape) - 2, f"attention along axis {axis}, which counts images")
    if mask is None:
        return Carried([axis] * 3, [axis])
    place = axis - start
    if place < 0 or (mask[place] == 1 and axes[3] is None):
        return Carried([axis, axis, axis, None], [axis])
    if mask[place] != shape[axis]:
        raise MixesImages(f"one image's mask for all {shape[axis]}")
    return Carried([axis, axis, axis, place], [axis])


@rule(NonMaxSuppressionOp)
def _suppression(op: NonMaxSuppressionOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    last = len(tensor_shape(op.candidates)) - 1
    apart(axis < last, f"candidates along axis {axis}, which counts images")
    return Carried([axis, axis], [axis])
