"""From a checked graph to a module: one op per node, weights as arguments of the entry function."""

from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.python_value import PythonValueType
from gawee_dialect.dialect.types import AnyTensor, shape_text, tensor_type
from gawee_dialect.frontends.coverage import CoverageReport, NodeVerdict, OpSupport
from gawee_dialect.frontends.gawee_json.graph import (
    SMALL,
    Graph,
    Node,
    ValueEntry,
    check_file,
    check_live_shapes,
    check_names,
    check_op,
    read_constant,
    read_type,
)
from gawee_dialect.frontends.gawee_json.ops import NodeReader, readers
from gawee_dialect.frontends.gawee_json.schema import fixed_attributes
from gawee_dialect.frontends.graph import Report
from gawee_dialect.frontends.op_mapping.emitter import EntryFunction
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import name_hint, take_name
from gawee_dialect.located_json import JsonObject
from gawee_dialect.parameters.binding import LISTED, missing_weights
from gawee_dialect.parameters.data_files import MissingFile, check_relative


class GraphBuilder:
    """Builds the entry function node by node.

    A node that is refused leaves its output unknown; nodes that read it are passed over silently,
    so that every problem is reported once.
    """

    def __init__(self, graph: Graph, folder: Path | None, report: Report) -> None:
        self.graph = graph
        self.folder = folder
        self.report = report
        self.function = EntryFunction()
        self.values: dict[str, SSAValue] = {}
        self._readers = readers()
        self._refused_constants: set[str] = set()
        self._files: set[str] = set()
        self._missing: dict[str, tuple[Node | None, Refusal]] = {}
        self._node: Node | None = None
        self._weights: dict[str, SSAValue] = {}
        # Constants keep their names, so weights must not take them.
        self._names = {*graph.inputs, *(name for name in graph.values if graph.is_constant(name))}

    def build(self) -> ModuleOp:
        """Build the module; raises GaweeError with every problem of the graph."""
        self.add_inputs()
        for node in self.graph.nodes:
            self.add_node(node)
        outputs = self.outputs()
        self._report_missing()
        self.report.raise_if_any()
        location = self.graph.source.location(self.graph.offset)
        return self.function.located_module(outputs, self.graph.outputs, location)

    def add_inputs(self) -> None:
        """Make the arguments of the graph's inputs; report those that cannot be made."""
        for name in self.graph.inputs:
            self._add_input(name)

    def add_node(self, node: Node) -> None:
        """Make a node's op; report why where it is refused."""
        self._node = node
        try:
            self._add_node(node)
        except (Refusal, VerifyException) as problem:
            self._report(node, problem)

    def add_stand_in(self, name: str) -> None:
        """Make an argument of a value's declared type, so that what reads it can be checked."""
        if name not in self.values and name in self.graph.values:
            self._add_input(name)

    def outputs(self) -> list[SSAValue]:
        """Return the values of the graph's outputs; those of refused nodes are left out."""
        outputs: list[SSAValue] = []
        for name in self.graph.outputs:
            try:
                value = self._value(name)
            except Refusal as problem:
                self.report.add(problem.offset or self.graph.offset, problem.message)
                continue
            if value is not None and isinstance(value.type, PythonValueType):
                message = f"expected graph output '{name}' to be a tensor, got a Python value"
                self.report.add(self.graph.offset, message)
            elif value is not None:
                outputs.append(value)
        return outputs

    def _report(self, node: Node, problem: Refusal | VerifyException) -> None:
        message, hint, offset = str(problem), None, None
        if isinstance(problem, Refusal):
            hint, offset = problem.hint, problem.offset
        text = f"'{node.op_type}' node {message}"
        self.report.add(node.offset if offset is None else offset, text, node.name, hint)

    def _report_missing(self) -> None:
        """Report data files that are not there: each, or of many their number, at the first."""
        paths = list(self._missing)
        if len(paths) > LISTED:
            _, first = self._missing[paths[0]]
            summary = missing_weights(paths, len(self._files))
            offset = self.graph.offset if first.offset is None else first.offset
            self.report.add(offset, summary.message, hint=summary.hint)
            return
        for node, problem in self._missing.values():
            if node is not None:
                self._report(node, problem)
            else:
                self.report.add(problem.offset or self.graph.offset, problem.message)

    def _checked(self, path: str, type: AnyTensor, what: str, offset: int) -> str:
        """Return the normal form of a data file's path; one that is missing is reported later."""
        self._files.add(path)
        try:
            return check_file(self.folder, path, type, what)
        except Refusal as problem:
            located = Refusal(problem.message, problem.hint, offset)
            if not isinstance(problem.__cause__, MissingFile):
                raise located from problem
            self._missing.setdefault(path, (self._node, located))
            return check_relative(path)

    def _declared_type(self, name: str) -> AnyTensor | None:
        entry = self.graph.values.get(name)
        if entry is None or entry.shape is None:
            return None
        if entry.dtype is None:
            raise Refusal(f"expected a dtype of value '{name}', got null", offset=entry.offset)
        try:
            return read_type(entry.shape, entry.dtype, f"value '{name}'")
        except Refusal as problem:
            raise Refusal(problem.message, offset=entry.offset) from problem

    def _add_input(self, name: str) -> None:
        try:
            type = self._declared_type(name)
            if type is not None:  # what has no shape is refused before, or a Python value
                self.values[name] = self.function.add_argument(ArgumentKind.INPUT, name, type)
        except Refusal as problem:
            self.report.add(problem.offset or self.graph.offset, problem.message)

    def _value(self, name: str) -> SSAValue | None:
        """Return a value, made now if it is a constant; None where its node was refused."""
        if name in self.values:
            return self.values[name]
        if not self.graph.is_constant(name) or name in self._refused_constants:
            return None
        self._refused_constants.add(name)
        value = self._add_constant(self.graph.values[name])
        self._refused_constants.remove(name)
        self.values[name] = value
        return value

    def _add_constant(self, entry: ValueEntry) -> SSAValue:
        what = f"constant '{entry.name}'"
        type = self._declared_type(entry.name)
        assert type is not None
        assert entry.path is not None
        path = self._checked(entry.path, type, what, entry.offset)
        absent = self.folder is None or entry.path in self._missing
        if absent or type.element_count() > SMALL:
            return self.function.add_argument(ArgumentKind.CONSTANT, entry.name, type, path)
        assert self.folder is not None
        op = ConstantOp(read_constant(self.folder, path, type, what))
        op.location = self.graph.source.location(entry.offset)
        op.result.name_hint = name_hint(entry.name)
        self.function.block.add_op(op)
        return op.result

    def _weight(self, node: Node, key: str, data: JsonObject) -> SSAValue:
        """Return the argument of a weight object; objects with one path are one argument."""
        shape, dtype, path = data["shape"], data["dtype"], data["path"]
        assert isa(shape, list[int])
        assert isinstance(dtype, str)
        assert isinstance(path, str)
        what = f"weight '{key}'"
        try:
            type = read_type(shape, dtype, what)
        except Refusal as problem:
            raise Refusal(problem.message, problem.hint, data.offset) from problem
        path = self._checked(path, type, what, data.offset)
        known = self._weights.get(path)
        if known is None:
            name = take_name(f"{node.module}.{key}", self._names, 2)
            known = self._weights[path] = self.function.add_argument(
                ArgumentKind.PARAMETER, name, type, path
            )
        if known.type != type:
            raise Refusal(
                f"expected '{type}' of '{path}' to match '{known.type}', its type elsewhere",
                offset=data.offset,
            )
        return known

    def _add_node(self, node: Node) -> None:
        operands = [self._value(name) for name in node.inputs]
        known = [value for value in operands if value is not None]
        if len(known) != len(operands):
            return
        reader = self._readers[node.op_type]
        reader.check_arity(len(known))
        declared = self._declared_type(node.outputs[0])
        op = reader.read(NodeReader(node, known, declared, self._weight))
        op.location = self.graph.source.location(node.offset, node.name)
        result = op.results[0]
        result.name_hint = name_hint(node.outputs[0])
        self.function.block.add_op(op)
        self.values[node.outputs[0]] = result
        if not isinstance(result.type, PythonValueType) and declared is not None:
            self._check_declared(node, tensor_type(result), declared)

    def _check_declared(self, node: Node, inferred: AnyTensor, declared: AnyTensor) -> None:
        name = node.outputs[0]
        if inferred.get_shape() != declared.get_shape():
            raise Refusal(
                f"expected output '{name}' of shape {shape_text(inferred.get_shape())}, "
                f"got {shape_text(declared.get_shape())}"
            )
        if inferred != declared:
            raise Refusal(f"expected output '{name}' of type '{inferred}', got '{declared}'")


# Which nodes of a Gawee graph can be read: the verdict on each, whatever the others are like.


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
