"""NPU_IR as inspection sees it."""

from collections.abc import Sequence

from gawee_dialect.frontends.npu_ir.ir import GETITEM, NPU_IR, OpNode, TensorMeta, selected_input
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView


def ir_view(ir: NPU_IR) -> GraphView:
    """Describe a graph; its ops need not be known."""
    return GraphView(
        ir.model_name,
        _tensors(ir.graph_inputs),
        _tensors(ir.graph_outputs),
        _tensors(ir.weights),
        [
            NodeView(
                node.name, node.op_type, list(map(_name, _inputs(node))), _tensors(node.outputs)
            )
            for node in ir.nodes
        ],
        {placeholder: weight.name for placeholder, weight in ir.placeholders()},
    )


def _inputs(node: OpNode) -> Sequence[TensorMeta]:
    # A getitem lists all results of its producer; it uses one.
    selected = selected_input(node) if node.op_type == GETITEM else None
    return node.inputs if selected is None else [selected]


def _name(tensor: TensorMeta) -> str:
    return tensor.name


def _tensors(tensors: Sequence[TensorMeta]) -> list[TensorView]:
    return [TensorView(each.name, each.shape, each.dtype) for each in tensors]
