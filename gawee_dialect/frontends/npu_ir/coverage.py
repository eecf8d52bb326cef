"""Which nodes of an NPU_IR graph can be imported: the verdict on each, whatever the others are."""

import dis
import inspect
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from types import CodeType, FunctionType

from xdsl.ir import Operation

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport
from gawee_dialect.frontends.npu_ir.aten.emitter import Emitter
from gawee_dialect.frontends.npu_ir.aten.registry import OpMapping, find_mapping, mappings
from gawee_dialect.frontends.npu_ir.importer import Importer
from gawee_dialect.frontends.npu_ir.ir import GETITEM, OpNode
from gawee_dialect.frontends.npu_ir.read import parse_ir


def op_support() -> Sequence[OpSupport]:
    """Return the registry of ops; what a mapping makes of one is found in its code."""
    return [
        OpSupport(each.name, ", ".join(dict.fromkeys(_ops_in(each.function, set()))), each.limits)
        for each in mappings()
    ]


def _ops_in(function: Callable[..., object], seen: set[object]) -> Iterator[str]:
    """Yield the names of the ops that a function, or one that it calls, constructs."""
    seen.add(function)
    for value in _used(function) if isinstance(function, FunctionType) else ():
        if inspect.isclass(value) and issubclass(value, Operation):
            yield value.name
        elif inspect.isfunction(value) and value not in seen and _is_mapping(value):
            yield from _ops_in(value, seen)


def _used(function: FunctionType) -> Iterator[object]:
    """Yield what a function names: of the functions around it, its module, and the emitter."""
    yield from inspect.getclosurevars(function).nonlocals.values()
    emitter = "self" if vars(Emitter).get(function.__name__) is function else "emit"
    for code in _codes(function.__code__):
        for before, each in pairwise(dis.get_instructions(code)):
            if each.opname == "LOAD_GLOBAL":
                yield function.__globals__.get(each.argval)
            elif before.argval == emitter and each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                yield vars(Emitter).get(each.argval)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code and that of the functions inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _is_mapping(function: Callable[..., object]) -> bool:
    return function.__module__.startswith("gawee_dialect.frontends.npu_ir.aten")


def npu_ir_coverage(text: str, name: str) -> CoverageReport:
    """Say of each node whether it can be imported; weights are not looked at.

    A node that cannot is taken to make what it declares, so that the nodes after it are checked as
    well. Raises SerializationError for a text that is no graph.
    """
    judge = _Judge(Importer(parse_ir(text, name)))
    verdicts = [judge.verdict(index, node) for index, node in enumerate(judge.importer.ir.nodes)]
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
        before = importer.block.last_op
        importer.add_node(node)
        importer.report_unsupported()
        for output in node.outputs:
            importer.add_stand_in(output)
        if importer.problems:
            return NodeVerdict.against(node.op_type, node.name, importer.problems)
        made = list(_made_since(importer.block.last_op, before))
        ops = ", ".join(dict.fromkeys(reversed(made)))
        return NodeVerdict.of(OpSupport(node.op_type, ops, _limits(node)), node.name)


def _limits(node: OpNode) -> Sequence[str]:
    mapping: OpMapping | None = None if node.op_type == GETITEM else find_mapping(node.op_type)
    return () if mapping is None else mapping.limits


def _made_since(last: Operation | None, before: Operation | None) -> Iterator[str]:
    while last is not None and last is not before:
        yield last.name
        last = last.prev_op
