"""What a graph costs: arithmetic and memory traffic of every node, and in total.

1. Nodes are the ops of the gawee dialect, but for constants and for what depends on parameters
   alone: weights, and the arithmetic that folding puts on them, run once per load.
2. FLOPs are known for conv, matmul (two for a multiply-add, bias not counted) and add, sub, mul,
   div (one for an element), and for a scan those of its body at every step. They are unknown, not
   zero, for the others: coverage says for how many nodes they are known.
3. A node reads the bytes of its tensor operands that are values of the graph, constants included,
   weights not; it writes the bytes of its result.
4. A node that takes or makes a Python value has no known bytes at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.conv import ConvOp
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, SubOp
from gawee_dialect.dialect.entry import MAIN, ArgumentKind, entry_arguments, find_function
from gawee_dialect.dialect.matmul import MatMulOp
from gawee_dialect.dialect.operation import CountedOp
from gawee_dialect.dialect.scan import ScanOp
from gawee_dialect.dialect.types import is_tensor, shaped_bytes, tensor_shape
from gawee_dialect.locations import node_name

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class NodeCost:
    """The cost of one node; None where it is unknown."""

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
        """The sum of all known FLOPs."""
        return sum(node.flops or 0 for node in self.nodes)

    @property
    def flops_known(self) -> int:
        """For how many nodes FLOPs are known."""
        return sum(node.flops is not None for node in self.nodes)

    @property
    def read_bytes(self) -> int:
        """The sum of all known bytes read."""
        return sum(node.read_bytes or 0 for node in self.nodes)

    @property
    def write_bytes(self) -> int:
        """The sum of all known bytes written."""
        return sum(node.write_bytes or 0 for node in self.nodes)

    @property
    def bytes_known(self) -> int:
        """For how many nodes the bytes are known."""
        return sum(node.write_bytes is not None for node in self.nodes)

    def to_json(self) -> dict[str, object]:
        """Return the report as `json.dumps` takes it: totals, coverage and nodes."""
        return {
            "total": {
                "nodes": len(self.nodes),
                "flops": self.flops,
                "flops_known": self.flops_known,
                "read_bytes": self.read_bytes,
                "write_bytes": self.write_bytes,
                "bytes_known": self.bytes_known,
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


def _flops(op: Operation) -> int | None:
    match op:
        case ConvOp():
            return 2 * prod(tensor_shape(op.result)) * prod(tensor_shape(op.weight)[1:])
        case MatMulOp():
            return 2 * prod(tensor_shape(op.result)) * tensor_shape(op.weight)[1]
        case AddOp() | SubOp() | MulOp() | DivOp():
            return prod(tensor_shape(op.result))
        case ScanOp():
            return op.num_steps * sum(_flops(inner) or 0 for inner in op.body.block.ops)
        case CountedOp():
            return op.flops()
        case _:
            return None


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
    return NodeCost(
        name=node_name(op.location) or op.results[0].name_hint or "",
        op=op.name,
        flops=_flops(op),
        read_bytes=read if known else None,
        write_bytes=written if known else None,
    )


def has_cost(op: Operation) -> bool:
    """Whether there is a rule for the cost of an op: it is a node of a graph."""
    return op.dialect_name() == "gawee" or isinstance(op, CountedOp)


def analyze_cost(function: FuncOp) -> CostReport:
    """Return the cost of a function whose body is of the gawee dialect.

    Raises GaweeError where it holds ops of another dialect, whose cost has no rule.
    """
    weights = _weights(function)
    costs: list[NodeCost] = []
    foreign: set[str] = set()
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp | ConstantOp):
            continue
        if not has_cost(op):
            foreign.add(op.name)
        elif not any(result in weights for result in op.results):
            costs.append(_node_cost(op, weights))
    if foreign:
        names = ", ".join(f"'{name}'" for name in sorted(foreign))
        raise GaweeError(f"cannot count the cost of {names}; cost is counted on gawee ops")
    return CostReport(costs)


def analyze_module_cost(module: ModuleOp, name: str = MAIN) -> CostReport:
    """Return the cost of a module's entry function; raises GaweeError where there is none."""
    function = find_function(module, name)
    if function is None:
        raise GaweeError(f"expected a function @{name}, got none")
    return analyze_cost(function)


def _cell(value: int | None) -> str:
    return "?" if value is None else f"{value:,}".replace(",", " ")


def cost_table(report: CostReport) -> "Table":
    """Return a table for `rich.print`: one row a node, then the totals with their coverage."""
    from rich.table import Table

    count = len(report.nodes)
    table = Table(title=f"cost of {count} {'node' if count == 1 else 'nodes'}", show_footer=True)
    table.add_column("node", footer="total", overflow="fold")
    table.add_column("op", footer="")
    known = f"{report.flops_known}/{count} known"
    table.add_column("FLOPs", footer=f"{_cell(report.flops)}\n{known}", justify="right")
    known = f"{report.bytes_known}/{count} known"
    table.add_column("bytes read", footer=f"{_cell(report.read_bytes)}\n{known}", justify="right")
    table.add_column(
        "bytes written", footer=f"{_cell(report.write_bytes)}\n{known}", justify="right"
    )
    for node in report.nodes:
        cells = (_cell(node.flops), _cell(node.read_bytes), _cell(node.write_bytes))
        table.add_row(node.name, node.op.removeprefix("gawee."), *cells)
    return table
