"""NPU_IR as every format's graph is asked."""

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.npu_ir.coverage import npu_ir_coverage
from gawee_dialect.frontends.npu_ir.graph_weights import GraphWeights
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.read import read_ir
from gawee_dialect.frontends.npu_ir.view import ir_view
from gawee_dialect.inspection.graph_view import GraphView
from gawee_dialect.parameters import ParameterStore
from gawee_dialect.source import Source


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
