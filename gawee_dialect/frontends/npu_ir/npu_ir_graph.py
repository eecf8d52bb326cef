"""NPU_IR, by the interface of every format's graph."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.npu_ir.aten.registry import find_mapping
from gawee_dialect.frontends.npu_ir.importer import Importer, import_ir
from gawee_dialect.frontends.npu_ir.ir import GETITEM, NPU_IR, OpNode, TensorMeta, selected_input
from gawee_dialect.frontends.npu_ir.json_text import read_ir
from gawee_dialect.frontends.npu_ir.weights import check_weights
from gawee_dialect.frontends.op_mapping.coverage import made_since
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView
from gawee_dialect.parameters import ParameterStore
from gawee_dialect.parameters.store import Array, ArrayDescription, read_only
from gawee_dialect.python_numbers import PARTS, parts_of_array
from gawee_dialect.source import Source

# NPU_IR as inspection sees it.


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


# Which nodes of an NPU_IR graph can be imported: the verdict on each, whatever the others are.


def npu_ir_coverage(ir: NPU_IR, name: str) -> CoverageReport:
    """Say of each node whether it can be imported; weights are not looked at.

    A node that cannot is taken to make what it declares, so that the nodes after it are checked as
    well. `name` is what the report calls the graph.
    """
    judge = _Judge(Importer(ir))
    verdicts = [judge.verdict(index, node) for index, node in enumerate(ir.nodes)]
    return CoverageReport(name, "npu-ir", verdicts, judge.around)


class _Judge:
    def __init__(self, importer: Importer) -> None:
        self.importer = importer
        importer.add_arguments()
        self.around: Sequence[Diagnostic] = importer.problems

    def verdict(self, index: int, node: OpNode) -> NodeVerdict:
        """Import one node, and say how it went."""
        importer = self.importer
        importer.problems, importer.unsupported, importer.index = [], [], index
        before = importer.function.block.last_op
        importer.add_node(node)
        importer.report_unsupported()
        for output in node.outputs:
            importer.add_stand_in(output)
        if importer.problems:
            return NodeVerdict.against(node.op_type, node.name, importer.problems)
        ops = ", ".join(made_since(importer.function.block, before))
        return NodeVerdict.of(OpSupport(node.op_type, ops, _limits(node)), node.name)


def _limits(node: OpNode) -> Sequence[str]:
    mapping = None if node.op_type == GETITEM else find_mapping(node.op_type)
    return () if mapping is None else mapping.limits


# Weights of a graph as its function needs them: by name, on demand.


class GraphWeights(ParameterStore):
    """A store under the names of a graph's weights, with the constants that the graph carries.

    Where the store does not have a weight's name, it may have that of a placeholder. Complex
    numbers are pairs, as in the module.
    """

    def __init__(self, ir: NPU_IR, store: ParameterStore) -> None:
        self._ir = ir
        self._store = store

    @cached_property
    def _found(self) -> Mapping[str, str]:
        return check_weights(self._ir, self._store).found

    def describe(self, name: str) -> ArrayDescription:
        if name in self._found:
            held = self._store.describe(self._found[name])
        else:
            constant = self._ir.constants[name]
            held = ArrayDescription(constant.data.shape, constant.dtype)
        parts = PARTS.get(held.dtype)
        return held if parts is None else ArrayDescription((*held.shape, 2), parts)

    def __getitem__(self, name: str) -> Array:
        if name in self._found:
            return parts_of_array(self._store[self._found[name]])
        return parts_of_array(read_only(self._ir.constants[name].array))

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys((*self._found, *self._ir.constants))

    def __len__(self) -> int:
        return len({*self._found, *self._ir.constants})


class NpuIrGraph(Graph):
    """The graph of a PyTorch model, in `ir`; raises SerializationError for a text that is none."""

    format = "npu-ir"

    def __init__(self, source: Source) -> None:
        self.ir = read_ir(source)
        self._name = source.name

    def build_module(self) -> ModuleOp:
        return import_ir(self.ir)

    def weights(self, store: ParameterStore) -> ParameterStore:
        return GraphWeights(self.ir, store)

    def view(self) -> GraphView:
        return ir_view(self.ir)

    def coverage(self) -> CoverageReport:
        return npu_ir_coverage(self.ir, self._name)
