"""Which nodes of an NPU_IR graph can be imported: the verdict on each, whatever the others are."""

from collections.abc import Sequence

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport
from gawee_dialect.frontends.npu_ir.aten.registry import find_mapping
from gawee_dialect.frontends.npu_ir.importer import Importer
from gawee_dialect.frontends.npu_ir.ir import GETITEM, NPU_IR, OpNode
from gawee_dialect.frontends.op_mapping.coverage import made_since


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
