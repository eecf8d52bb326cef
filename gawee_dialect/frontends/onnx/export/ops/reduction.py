"""Reductions, sums along an axis, and order."""

import numpy as np
from xdsl.ir import Operation

from gawee_dialect.dialect.along_axis import CumSumOp, LogSoftmaxOp, SoftmaxOp
from gawee_dialect.dialect.order import SortOp, TopKOp
from gawee_dialect.dialect.reduction import (
    ArgMaxOp,
    ArgMinOp,
    ReduceAllOp,
    ReduceAnyOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceOp,
    ReduceProdOp,
    ReduceSumOp,
)
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.export.graph import Figures
from gawee_dialect.frontends.onnx.export.ops.contraction import sizes
from gawee_dialect.frontends.onnx.export.registry import Nodes, exports

REDUCTIONS: dict[type[ReduceOp], str] = {
    **{ReduceSumOp: "ReduceSum", ReduceMeanOp: "ReduceMean", ReduceMaxOp: "ReduceMax"},
    **{ReduceMinOp: "ReduceMin", ReduceProdOp: "ReduceProd"},
    **{ReduceAnyOp: "ReduceMax", ReduceAllOp: "ReduceMin"},
}
"""ONNX's names; of booleans the greatest is whether any holds."""


@exports(*REDUCTIONS)
def reduce(nodes: Nodes, op: ReduceOp) -> None:
    """A reduction over some axes; over none it changes nothing"""
    axes = op.axes.get_values()
    if not axes:
        nodes("Identity", [op.input], op.results)
        return
    keep = int(op.keep_dims is not None)
    nodes(REDUCTIONS[type(op)], [op.input, sizes(axes, "axes")], op.results, keepdims=keep)


@exports(ArgMaxOp, ArgMinOp)
def position(nodes: Nodes, op: ArgMaxOp | ArgMinOp) -> None:
    """Where the first extreme is"""
    name = "ArgMax" if isinstance(op, ArgMaxOp) else "ArgMin"
    keep = int(op.keep_dims is not None)
    nodes(name, [op.input], op.results, axis=op.axis.value.data, keepdims=keep)


ALONG: dict[type[Operation], str] = {SoftmaxOp: "Softmax", LogSoftmaxOp: "LogSoftmax"}


@exports(SoftmaxOp, LogSoftmaxOp)
def softmax(nodes: Nodes, op: SoftmaxOp | LogSoftmaxOp) -> None:
    """Exponentials as parts of their sum, or their logarithms"""
    nodes(ALONG[type(op)], [op.input], op.results, axis=op.axis.value.data)


@exports(CumSumOp)
def cumsum(nodes: Nodes, op: CumSumOp) -> None:
    """Running sums along an axis"""
    axis = Figures("axis", np.asarray(op.axis.value.data, np.int64))
    nodes("CumSum", [op.input, axis], op.results)


@exports(TopKOp)
def top_k(nodes: Nodes, op: TopKOp) -> None:
    """The largest or smallest elements, and where they are"""
    k, largest = sizes([op.k.value.data], "k"), int(bool(op.largest.value.data))
    nodes("TopK", [op.input, k], op.results, axis=op.axis.value.data, largest=largest)


@exports(SortOp)
def sort(nodes: Nodes, op: SortOp) -> None:
    """All elements of an axis, the largest or smallest first"""
    axis = op.axis.value.data
    k = sizes([tensor_shape(op.input)[axis]], "k")
    largest = int(bool(op.descending.value.data))
    nodes("TopK", [op.input, k], op.results, axis=axis, largest=largest)
