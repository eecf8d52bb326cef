"""Rules of ops that move elements: views, boxes, gathers and scatters."""

from gawee_dialect.analysis.batch_axes.rules import (
    Axes,
    Carried,
    apart,
    one_axis,
    rule,
    shared,
)
from gawee_dialect.dialect.graph.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.graph.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.dialect.graph.shape import CatOp
from gawee_dialect.dialect.graph.slicing import InsertSliceOp
from gawee_dialect.dialect.types import tensor_shape


@rule(CatOp)
def _cat(op: CatOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    along = op.dim.value.data % len(tensor_shape(op.result))
    apart(along != axis, f"concatenation along axis {axis}, which counts images")
    return Carried([axis] * len(axes), [axis])


@rule(InsertSliceOp)
def _insert_slice(op: InsertSliceOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    whole = tensor_shape(op.input)[axis] == tensor_shape(op.update)[axis]
    apart(whole, f"a part of axis {axis}, which counts images")
    return Carried([axis, axis], [axis])


@rule(GatherOp)
def _gather(op: GatherOp, axes: Axes) -> Carried:
    of_input, of_indices = axes
    (named,) = op.named_axes
    if of_input is None:
        assert of_indices is not None
        return Carried(axes, [named + of_indices])
    shared("indices of images", of_indices)
    apart(of_input != named, f"images chosen along axis {named}")
    rank = len(tensor_shape(op.indices))
    return Carried(axes, [of_input if of_input < named else of_input + rank - 1])


@rule(GatherElementsOp)
def _gather_elements(op: GatherElementsOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    (named,) = op.named_axes
    apart(axis != named, f"images chosen along axis {axis}")
    whole = tensor_shape(op.input)[axis] == tensor_shape(op.indices)[axis]
    apart(whole, f"a part of axis {axis}, which counts images")
    return Carried([axis, axis], [axis])


@rule(GatherNdOp)
def _gather_nd(op: GatherNdOp, axes: Axes) -> Carried:
    of_input, of_indices = axes
    together = op.batch_dims.value.data
    last = len(tensor_shape(op.indices)) - 1
    if of_input is None and of_indices is not None and together <= of_indices < last:
        return Carried(axes, [of_indices])
    axis = one_axis(axes)
    if axis < together:
        return Carried([axis, axis], [axis])
    shared("indices of images", of_indices)
    apart(axis not in op.named_axes, f"images chosen along axis {axis}")
    return Carried(axes, [axis - len(op.named_axes) + last - together])


@rule(ScatterElementsOp)
def _scatter_elements(op: ScatterElementsOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    apart(axis not in op.named_axes, f"images chosen along axis {axis}")
    whole = tensor_shape(op.input)[axis] == tensor_shape(op.indices)[axis]
    apart(whole, f"a part of axis {axis}, which counts images")
    return Carried([axis, axis, axis], [axis])


@rule(ScatterNdOp)
def _scatter_nd(op: ScatterNdOp, axes: Axes) -> Carried:
    shared("indices of images", axes[1])
    rows = len(tensor_shape(op.indices)) - 1 - len(op.named_axes)
    axis = one_axis([axes[0], None if axes[2] is None else axes[2] - rows])
    apart(axis not in op.named_axes and axis >= 0, f"images chosen along axis {axis}")
    return Carried([axis, None, axis + rows], [axis])
