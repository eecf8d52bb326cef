"""What of a graph in the vocabulary of ONNX can go through, node by node."""

from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport
from gawee_dialect.frontends.onnx.importer import OnnxImporter
from gawee_dialect.frontends.op_mapping.coverage import made_since


def onnx_coverage(importer: OnnxImporter, file: str, format: str) -> CoverageReport:
    """Say of every node whether it can be read; the importer is new, and used up."""
    scope = importer.start()
    around = list(importer.problems)
    verdicts: list[NodeVerdict] = []
    for node in importer.model.graph.nodes:
        importer.problems = []
        before = importer.function.block.last_op
        importer.add_node(node, scope, importer.model.opsets)
        importer.report_unsupported()
        if importer.problems:
            verdict = NodeVerdict.against(node.full_type, node.name, importer.problems)
        else:
            ops = ", ".join(made_since(importer.function.block, before))
            verdict = NodeVerdict.of(OpSupport(node.full_type, ops), node.name)
        verdicts.append(verdict)
    return CoverageReport(file, format, verdicts, around)
