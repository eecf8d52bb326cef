"""What a graph costs: arithmetic and memory traffic of every node, and in total.

1. Nodes are the ops of the gawee dialect, but for constants and for what depends on parameters
   alone: weights, and the arithmetic that folding puts on them, run once per load.
2. FLOPs are those of `op_work`: two for a multiply-add, one for other arithmetic on an element.
   Totals are published of conv, matmul, add, sub, mul and div alone: `published_flops`.
3. A node reads the bytes of its tensor operands that are values of the graph, constants included,
   weights not; it writes the bytes of its result.
4. What takes or makes a Python value has no cost.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.analysis.op_cost import op_work
from gawee_dialect.analysis.work import has_cost
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import MAIN, ArgumentKind, entry_arguments, find_function
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.types import is_tensor, shaped_bytes
from gawee_dialect.locations import node_name, place

if TYPE_CHECKING:
    from rich.table import Table

PUBLISHED = frozenset(op.name for op in (ConvOp, MatMulOp, AddOp, SubOp, MulOp, DivOp))
"""Ops whose FLOPs are in the totals that other tools publish."""


@dataclass(frozen=True)
class NodeCost:
    """The cost of one node; None where it has none, since it takes or makes a Python value."""

    name: str
    op: str
    flops: int | None
    read_bytes: int | None
    write_bytes: int | None


@dataclass(frozen=True)
class CostReport:
    """The cost of every node of a function, in order, and their sums."""

    nodes: Sequence[NodeCost]

    @property
    def flops(self) -> int:
        """The sum of all FLOPs."""
        return sum(node.flops or 0 for node in self.nodes)

    @property
    def published_flops(self) -> int:
        """The sum of the FLOPs of PUBLISHED ops alone, to compare with totals of other tools."""
        return sum(node.flops or 0 for node in self.nodes if node.op in PUBLISHED)

    @property
    def read_bytes(self) -> int:
        """The sum of all bytes read."""
        return sum(node.read_bytes or 0 for node in self.nodes)

    @property
    def write_bytes(self) -> int:
        """The sum of all bytes written."""
        return sum(node.write_bytes or 0 for node in self.nodes)

    def to_json(self) -> dict[str, object]:
        """Return the report as `json.dumps` takes it: totals and nodes."""
        return {
            "total": {
                "nodes": len(self.nodes),
                "flops": self.flops,
                "published_flops": self.published_flops,
                "read_bytes": self.read_bytes,
                "write_bytes": self.write_bytes,
            },
            "nodes": [asdict(node) for node in self.nodes],
        }


def _weights(function: FuncOp) -> set[SSAValue]:
    """Return the values that depend on parameters and on no input: weights, ready or in the making.

    What depends on constants alone is not among them: that is a part of the graph.
    """
    kinds = (ArgumentKind.PARAMETER, ArgumentKind.PREPARED)
    arguments = function.body.block.args
    described = entry_arguments(function)
    weights: set[SSAValue] = {arguments[a.index] for a in described if a.kind in kinds}
    inputs: set[SSAValue] = {arguments[a.index] for a in described if a.kind is ArgumentKind.INPUT}
    for op in function.body.block.ops:
        if any(operand in inputs for operand in op.operands):
            inputs.update(op.results)
        elif any(operand in weights for operand in op.operands):
            weights.update(op.results)
    return weights


def _bytes(values: Iterable[SSAValue]) -> int | None:
    """Return the bytes of values together, None where one of them is no tensor."""
    total = 0
    for value in values:
        if not is_tensor(value.type):
            return None
        total += shaped_bytes(value.type)
    return total


def _node_cost(op: Operation, weights: set[SSAValue]) -> NodeCost:
    read = _bytes(operand for operand in op.operands if operand not in weights)
    written = _bytes(op.results)
    known = read is not None and written is not None
    work = op_work(op)
    return NodeCost(
        name=node_name(op.location) or op.results[0].name_hint or "",
        op=op.name,
        flops=None if work is None else work.flops,
        read_bytes=read if known else None,
        write_bytes=written if known else None,
    )


def analyze_cost(function: FuncOp) -> CostReport:
    """Return the cost of a function whose body is of the gawee dialect.

    Raises GaweeError where it holds ops of another dialect, whose cost has no rule.
    """
    weights = _weights(function)
    costs: list[NodeCost] = []
    foreign: list[Operation] = []
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp | ConstantOp):
            continue
        if not has_cost(op):
            foreign.append(op)
        elif not any(result in weights for result in op.results):
            costs.append(_node_cost(op, weights))
    if foreign:
        names = ", ".join(f"'{name}'" for name in sorted({op.name for op in foreign}))
        message = f"cannot count the cost of {names}; cost is counted on gawee ops"
        raise GaweeError(Diagnostic(message, place(foreign[0].location)))
    return CostReport(costs)


def cost_of_graph(function: FuncOp) -> CostReport | None:
    """Return what the nodes of a graph cost; None where one has no cost that is known."""
    ops = function.body.block.ops
    known = all(op.dialect_name() == "func" or has_cost(op) for op in ops)
    return analyze_cost(function) if known else None


def analyze_module_cost(module: ModuleOp, name: str = MAIN) -> CostReport:
    """Return the cost of a module's entry function; raises GaweeError where there is none."""
    function = find_function(module, name)
    if function is None:
        raise GaweeError(f"expected a function @{name}, got none")
    return analyze_cost(function)


def _cell(value: int | None) -> str:
    return "-" if value is None else f"{value:,}".replace(",", " ")


def cost_table(report: CostReport) -> "Table":
    """Return a table for `rich.print`: one row a node, then the totals.

    Below them is the total of the ops that published totals count.
    """
    from rich.table import Table

    count = len(report.nodes)
    table = Table(title=f"cost of {count} {'node' if count == 1 else 'nodes'}", show_footer=True)
    table.add_column("node", footer="total\nconv, matmul, + - * /", overflow="fold")
    table.add_column("op", footer="")
    flops = f"{_cell(report.flops)}\n{_cell(report.published_flops)}"
    table.add_column("FLOPs", footer=flops, justify="right")
    table.add_column("bytes read", footer=_cell(report.read_bytes), justify="right")
    table.add_column("bytes written", footer=_cell(report.write_bytes), justify="right")
    for node in report.nodes:
        cells = (_cell(node.flops), _cell(node.read_bytes), _cell(node.write_bytes))
        table.add_row(node.name, node.op.removeprefix("gawee."), *cells)
    return table
