"""Rules of ops that compute: all that are defined by equations, and those that are not."""

from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from gawee_dialect.analysis.batch_axes.rules import (
    Axes,
    Carried,
    apart,
    broadcast,
    one_axis,
    rule,
    shared,
)
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.graph.along_axis import CumSumOp
from gawee_dialect.dialect.graph.attention import AttentionOp
from gawee_dialect.dialect.graph.conv import ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import ElementwiseOp
from gawee_dialect.dialect.graph.grid_sample import GridSampleOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import MovedOp
from gawee_dialect.dialect.graph.non_max_suppression import NonMaxSuppressionOp
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp, ArgMinOp, ArgOp
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.equations.axes import walks_of


def _first(op: IRDLOperation, axes: Axes) -> int:
    """Return the axis of the first operand's images, which no other operand has."""
    axis, *others = axes
    for index, other in enumerate(others, 1):
        shared(f"operand #{index}", other)
    assert axis is not None
    return axis


@rule(EquationOp)
def _equation(op: EquationOp, axes: Axes) -> Carried:
    """Follow the index that walks images: nothing but it walks their axes, each as a whole."""
    (_, split), meaning = op.split_axes(), op.meaning()
    names, walks = meaning.program.inputs, walks_of(meaning)
    found: dict[object, int] = {}
    for index, axis in enumerate(axes):
        if axis is None:
            continue
        of = "" if len(axes) == 1 else f" of operand #{index}"
        apart(
            axis != split[index] or isinstance(op, AttentionOp),
            f"groups of axis {axis}{of}, which counts images",
        )
        slot = names[index], seen(axis, split[index])
        mixed = walks.mixed(slot)
        apart(mixed is None, f"{mixed} axis {axis}{of}, which counts images")
        found[walks.first(slot)] = axis
    apart(len(found) == 1, f"images along axes {' and '.join(map(str, found.values()))}, apart")
    (first,) = found

    def walked(name: str, split: int | None, rank: int) -> int | None:
        all = (axis for axis in range(rank) if walks.first((name, seen(axis, split))) == first)
        return next(all, None)

    wanted: list[int | None] = []
    for index, (name, value) in enumerate(zip(names, op.operands, strict=True)):
        shape = tensor_shape(value)
        place = walked(name, split[index], len(shape))
        repeats = place is not None and shape[place] == 1 and axes[index] is None
        wanted.append(None if repeats and _broadcasts(op, value) else place)
    results = [
        walked(name, split[0] if split else None, len(tensor_shape(value)))
        for name, value in zip(meaning.program.outputs, op.results, strict=True)
    ]
    kept = [axis for axis in results if axis is not None]
    apart(len(kept) == len(results), "a result that has none of them")
    sizes = {op.SIZES: kept[0]} if isinstance(op, MovedOp) and op.SIZES else {}
    return Carried(wanted, kept, sizes)


def seen(axis: int, split: int | None) -> int:
    """Return which axis of the equations' view an axis is: the groups where it is split."""
    return axis if split is None or axis <= split else axis + 1


def _broadcasts(op: EquationOp, operand: SSAValue) -> bool:
    """Whether an op repeats an operand along an axis of size 1."""
    return isinstance(op, BatchMatMulOp) or (isinstance(op, AttentionOp) and operand is op.mask)


@rule(ElementwiseOp)
def _elementwise(op: ElementwiseOp, axes: Axes) -> Carried:
    wanted, axis = broadcast(op.operands, axes, tensor_shape(op.output))
    return Carried(wanted, [axis])


@rule(CumSumOp, SortOp, TopKOp)
def _lines(op: CumSumOp | SortOp | TopKOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    along = op.axis.value.data % len(tensor_shape(op.input))
    apart(along != axis, f"lines along axis {axis}, which counts images")
    return Carried(axes, [axis] * len(op.results))


@rule(ArgMaxOp, ArgMinOp)
def _search(op: ArgOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    apart(axis != op.searched_axis, f"a reduction of axis {axis}, which counts images")
    return Carried(axes, [axis - (op.keep_dims is None and op.searched_axis < axis)])


@rule(ConvTransposeOp)
def _convolution(op: ConvTransposeOp, axes: Axes) -> Carried:
    shared("weight", axes[1])
    if op.bias is not None:
        shared("bias", axes[2])
    axis = _first(op, axes)
    apart(axis == 0, f"images along axis {axis} of its input, which it adds up")
    return Carried(axes, [0])


@rule(InterpolateOp)
def _interpolate(op: InterpolateOp, axes: Axes) -> Carried:
    axis = _first(op, axes)
    apart(axis < 2, f"samples along axis {axis}, which counts images")
    return Carried(axes, [axis])


@rule(GridSampleOp)
def _grid_sample(op: GridSampleOp, axes: Axes) -> Carried:
    apart(one_axis(axes) == 0, f"samples along axis {one_axis(axes)}, which counts images")
    return Carried([0, 0], [0])


@rule(NonMaxSuppressionOp)
def _suppression(op: NonMaxSuppressionOp, axes: Axes) -> Carried:
    axis = one_axis(axes)
    last = len(tensor_shape(op.candidates)) - 1
    apart(axis < last, f"candidates along axis {axis}, which counts images")
    return Carried([axis, axis], [axis])
