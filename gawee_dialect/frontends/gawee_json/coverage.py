"""Which nodes of a Gawee graph can be read: the verdict on each, whatever the others are like."""

from collections.abc import Sequence

from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport
from gawee_dialect.frontends.gawee_json.build import GraphBuilder
from gawee_dialect.frontends.gawee_json.graph import (
    Graph,
    check_live_shapes,
    check_names,
    check_op,
)
from gawee_dialect.frontends.gawee_json.ops import readers
from gawee_dialect.frontends.gawee_json.schema import fixed_attributes
from gawee_dialect.frontends.report import Report


def op_support() -> Sequence[OpSupport]:
    """Return the registry of op types, in the order of `readers`."""
    return [
        OpSupport(op_type, reader.op.name, (*reader.limits, *fixed_attributes(op_type)))
        for op_type, reader in readers().items()
    ]


def gawee_json_coverage(graph: Graph) -> CoverageReport:
    """Say of each node whether it can be read; no weight file is looked at.

    A node that cannot be read is taken to make what `values` declares, so that the nodes after it
    are checked as well.
    """
    report = Report(graph.source)
    check_names(graph, report)
    check_live_shapes(graph, report)
    sound = not report.problems
    builder = GraphBuilder(graph, None, report)
    builder.add_inputs()
    support = {entry.op_type: entry for entry in op_support()}
    around, verdicts = report.problems, list[NodeVerdict]()
    for node in graph.nodes:
        report.problems = []
        if check_op(node, report) and sound:  # shapes say nothing where names are wrong
            builder.add_node(node)
        problems = [problem for _, problem in report.problems]
        if problems:
            verdicts.append(NodeVerdict.against(node.op_type, node.name, problems))
        else:
            verdicts.append(NodeVerdict.of(support[node.op_type], node.name))
        for output in node.outputs if sound else ():
            builder.add_stand_in(output)
    report.problems = around
    if sound:
        builder.outputs()
    problems = [problem for _, problem in report.problems]
    return CoverageReport(graph.source.name, "gawee-json", verdicts, problems)
