"""Gathering and scattering."""

from gawee_dialect.dialect.gather import GatherElementsOp, GatherNdOp, GatherOp
from gawee_dialect.dialect.scatter import ScatterElementsOp, ScatterNdOp
from gawee_dialect.frontends.onnx.export.registry import Nodes, exports


@exports(GatherOp)
def gather(nodes: Nodes, op: GatherOp) -> None:
    """Slices along an axis"""
    nodes("Gather", [op.input, op.indices], op.results, axis=op.axis.value.data)


@exports(GatherElementsOp)
def gather_elements(nodes: Nodes, op: GatherElementsOp) -> None:
    """Elements along an axis"""
    nodes("GatherElements", [op.input, op.indices], op.results, axis=op.axis.value.data)


@exports(GatherNdOp)
def gather_nd(nodes: Nodes, op: GatherNdOp) -> None:
    """Slices at positions"""
    batch = op.batch_dims.value.data
    nodes("GatherND", [op.input, op.indices], op.results, batch_dims=batch)


@exports(ScatterElementsOp)
def scatter_elements(nodes: Nodes, op: ScatterElementsOp) -> None:
    """Elements put along an axis"""
    given = [op.input, op.indices, op.updates]
    axis, how = op.axis.value.data, op.reduction.data
    nodes("ScatterElements", given, op.results, axis=axis, reduction=how)


@exports(ScatterNdOp)
def scatter_nd(nodes: Nodes, op: ScatterNdOp) -> None:
    """Slices put to positions"""
    given = [op.input, op.indices, op.updates]
    nodes("ScatterND", given, op.results, reduction=op.reduction.data)
