"""Gawee graph JSON, read and written.

Reading is three steps, each with its own errors: decode (located_json.py), check (schema.py,
graph.py), build (build.py with the op table of ops.py). Writing is two: say the module as a graph
(with the op table of export_ops.py), then put the files in place.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.analysis.open_sizes import require_numbers
from gawee_dialect.analysis.signature import Entry
from gawee_dialect.diagnostics import Diagnostic, GaweeError, verify_module
from gawee_dialect.dialect.entry import (
    MAIN,
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.scan import without_scans
from gawee_dialect.dialect.types import dtype_name, is_tensor, tensor_type
from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.frontends.gawee_json.build import GraphBuilder, gawee_json_coverage
from gawee_dialect.frontends.gawee_json.export_ops import NodeText, write_op
from gawee_dialect.frontends.gawee_json.graph import (
    check_live_shapes,
    check_names,
    check_ops,
    elements,
    read_graph,
)
from gawee_dialect.frontends.gawee_json.schema import check_structure
from gawee_dialect.frontends.graph import Graph, Report
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.identifiers import take_name
from gawee_dialect.inspection.graph_view import GraphView, module_view
from gawee_dialect.located_json import decode_json
from gawee_dialect.locations import node_name
from gawee_dialect.parameters.binding import bind_parameters
from gawee_dialect.parameters.data_files import FileProblem, check_relative
from gawee_dialect.source import Source
from gawee_dialect.whole_file import whole_file

# From a module to a Gawee graph: its text, and the data files that go with it.


Data = str | DenseIntOrFPElementsAttr
"""What goes into a file: the array of an argument of this name, or a constant of the IR."""


@dataclass(frozen=True)
class GraphText:
    """A graph as JSON text, and the data of every file it refers to, by path."""

    text: str
    files: dict[str, Data] = field(default_factory=dict[str, Data])


def _one_line_lists(text: str) -> str:
    """Put lists without nested ones on one line, so that a shape is a line and not five."""

    def join(match: re.Match[str]) -> str:
        return "[" + ", ".join(item.strip() for item in match[1].split(",\n")) + "]"

    return re.sub(r"\[\n([^\[\]{}\"]*)\n *\]", join, text)


class GraphExporter:
    """Writes the entry function of a module; every op that JSON cannot say is in one report."""

    def __init__(self, function: FuncOp) -> None:
        self.function = function
        self.block: Block = function.body.block
        self.arguments: dict[SSAValue, EntryArgument] = {
            self.block.args[argument.index]: argument for argument in entry_arguments(function)
        }
        self.problems: list[Diagnostic] = []
        self.values: dict[str, dict[str, object]] = {}
        self.nodes: list[dict[str, object]] = []
        self.files: dict[str, Data] = {}
        self.names: dict[SSAValue, str] = {}
        self._taken: set[str] = set()
        self._paths: dict[SSAValue, str] = {}

    def export(self) -> GraphText:
        """Return the graph; raises GaweeError with all that cannot be written."""
        inputs = self._name_arguments()
        terminator = self.block.last_op
        assert isinstance(terminator, ReturnOp)
        outputs = output_names(self.function)
        self._reserve_outputs(terminator, outputs)
        for op in self.block.ops:
            if isinstance(op, ReturnOp | ConstantOp):
                continue
            try:
                self._add_node(op)
            except (Refusal, VerifyException) as problem:
                hint = problem.hint if isinstance(problem, Refusal) else None
                self.problems.append(Diagnostic.at(op, str(problem), hint))
        if not self.problems:
            self._add_outputs(terminator, outputs)
        if self.problems:
            raise GaweeError(self.problems)
        graph = {
            "inputs": inputs,
            "outputs": outputs,
            "values": self.values,
            "nodes": self.nodes,
        }
        return GraphText(_one_line_lists(json.dumps(graph, indent=2)) + "\n", self.files)

    def _name_arguments(self) -> list[str]:
        inputs: list[str] = []
        for value, argument in self.arguments.items():
            if argument.kind is ArgumentKind.INPUT:
                inputs.append(argument.name)
                self.names[value] = argument.name
                self._describe(argument.name, value)
            if argument.kind is not ArgumentKind.PARAMETER:
                self._taken.add(argument.name)
        return inputs

    def _reserve_outputs(self, terminator: ReturnOp, outputs: Sequence[str]) -> None:
        """Name the values that the function returns as its outputs are named."""
        for value, name in zip(terminator.operands, outputs, strict=True):
            if name in self._taken and self.names.get(value) != name:
                self.problems.append(
                    Diagnostic.at(self.function, f"expected names to differ, got '{name}' twice")
                )
            self._taken.add(name)
            if not isinstance(value, BlockArgument) and value not in self.names:
                self.names[value] = name

    def _add_outputs(self, terminator: ReturnOp, outputs: Sequence[str]) -> None:
        """Add an Identity wherever an output is called otherwise than its value."""
        for value, name in zip(terminator.operands, outputs, strict=True):
            source = self._operand(value)
            if source != name:
                self._append(NodeText("Identity", [value]), name, [source], name, {})
                self._describe(name, value)

    def _describe(self, name: str, value: SSAValue, path: str | None = None) -> None:
        entry: dict[str, object] = {"id": name, "shape": None, "dtype": None}
        if is_tensor(value.type):
            prefix = "torch." if path is None else ""
            entry["shape"] = list(value.type.get_shape())
            entry["dtype"] = prefix + dtype_name(value.type.element_type)
        if path is not None:
            entry["path"] = path
        self.values[name] = entry

    def _result_name(self, op: Operation) -> str:
        result = op.results[0]
        if result not in self.names:
            stem = result.name_hint or op.name.removeprefix("gawee.")
            self.names[result] = take_name(stem, self._taken)
        return self.names[result]

    def _operand(self, value: SSAValue) -> str:
        """Return the name of an operand; parameters and constants become graph constants."""
        if value in self.names and value in self._paths:
            return self.names[value]
        if isinstance(value.owner, ConstantOp) or value in self.arguments:
            return self._constant(value)
        assert isinstance(value.owner, Operation)
        return self._result_name(value.owner)

    def _constant(self, value: SSAValue) -> str:
        argument = self.arguments.get(value)
        if argument is not None and argument.kind is ArgumentKind.INPUT:
            return argument.name
        if value not in self.names:
            is_constant = argument is not None and argument.kind is ArgumentKind.CONSTANT
            name = value.name_hint or "const" if argument is None else argument.name
            self.names[value] = name if is_constant else take_name(name, self._taken)
        name = self.names[value]
        path = self._path(value, f"constants/{_file_stem(name)}.bin")
        self._describe(name, value, path)
        return name

    def _path(self, value: SSAValue, otherwise: str) -> str:
        """Return the file of a parameter or constant, its own where it has one."""
        if value in self._paths:
            return self._paths[value]
        argument = self.arguments.get(value)
        path = _own_path(argument) or otherwise
        stem, count = path.removesuffix(".bin"), 0
        while path in self.files:
            count += 1
            path = f"{stem}_{count}.bin"
        owner = value.owner
        if argument is not None:
            self.files[path] = argument.name
        else:
            assert isinstance(owner, ConstantOp)
            self.files[path] = owner.value
        self._paths[value] = path
        return path

    def _weight(self, node: str, key: str, value: SSAValue) -> dict[str, object]:
        argument = self.arguments.get(value)
        is_data = argument is not None and argument.kind is not ArgumentKind.INPUT
        if not is_data and not isinstance(value.owner, ConstantOp):
            owner = value.owner
            got = f"a result of '{owner.name}'" if isinstance(owner, Operation) else "an input"
            raise Refusal(
                f"cannot be written as JSON because its {key} is {got}, not a parameter",
                "JSON has no arithmetic on weights",
            )
        path = self._path(value, f"weights/{_file_stem(node)}_{key}_{len(self.files)}.bin")
        type = tensor_type(value)
        return {
            "shape": list(type.get_shape()),
            "dtype": dtype_name(type.element_type),
            "path": path,
        }

    def _name_by_weight(self, text: NodeText) -> str | None:
        """Return the node's name as its parameters imply it: `conv1` of `conv1.weight`.

        `conv1.weight_2` is how reading calls the weight of another `conv1`.
        """
        for key, value in text.weights.items():
            argument = None if value is None else self.arguments.get(value)
            found = argument and re.fullmatch(rf"(.+)\.{key}(_\d+)?", argument.name)
            if found:
                return found[1]
        return None

    def _node_name(self, op: Operation, text: NodeText) -> str | None:
        """Return what the node is called in the file: a module that is called again keeps its name.

        Reading it again calls the second `conv`, with the weights of the first, `conv_1`.
        """
        located, module = node_name(op.location), self._name_by_weight(text)
        if located is None or module is None:
            return located or module
        return module if re.fullmatch(rf"{re.escape(module)}_\d+", located) else located

    def _add_node(self, op: Operation) -> None:
        text = write_op(op)
        output = self._result_name(op)
        name = self._node_name(op, text) or output
        inputs = [self._operand(value) for value in text.inputs]
        weights = {
            key: self._weight(name, key, value)
            for key, value in text.weights.items()
            if value is not None
        }
        self._append(text, name, inputs, output, weights)
        self._describe(output, op.results[0])

    def _append(
        self,
        text: NodeText,
        name: str,
        inputs: Sequence[str],
        output: str,
        weights: dict[str, dict[str, object]],
    ) -> None:
        self.nodes.append(
            {
                "op_type": text.op_type,
                "name": name,
                "inputs": inputs,
                "outputs": [output],
                "attrs": {**text.attributes, **weights},
            }
        )


def _file_stem(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".") or "value"


def _own_path(argument: EntryArgument | None) -> str | None:
    if argument is None or argument.path is None:
        return None
    try:
        return check_relative(argument.path)
    except FileProblem as problem:
        raise Refusal(str(problem)) from problem


def export_graph(module: ModuleOp) -> GraphText:
    """Say a module at the gawee level as a Gawee graph, without touching any file.

    Scans are written out, step by step. Raises GaweeError that lists every op JSON cannot say.
    """
    require_numbers(module, "Gawee JSON")
    function = find_function(without_scans(module), MAIN)
    if function is None:
        raise GaweeError(f"expected a function @{MAIN}, got none")
    arguments = entry_arguments(function)
    if any(argument.kind is ArgumentKind.PREPARED for argument in arguments):
        raise GaweeError(
            Diagnostic.at(
                function,
                "cannot be written as JSON because it takes prepared values",
                "export the module from before hoist-parameter-computation",
            )
        )
    return GraphExporter(function).export()


# Write a graph and its data into a folder: all of it, or nothing.

Arrays = Mapping[str, NDArray[np.generic]]


def module_to_gawee_json(
    module: ModuleOp, arrays: Arrays | None, folder: Path, *, file_name: str = "graph.json"
) -> Path:
    """Write a module at the gawee level as a Gawee graph; return the path of its JSON.

    `arrays` are its parameters and large constants by name, a ParameterStore for example; with
    None only the JSON and the constants of the IR are written.

    Raises GaweeError, before anything is written, for ops that JSON cannot say and for arrays that
    are missing or of another shape or dtype.
    """
    graph = export_graph(module)
    bound = None if arrays is None else bind_parameters(Entry.of(module).weights, arrays)
    folder.mkdir(parents=True, exist_ok=True)
    targets = {path: _target(folder, path) for path in graph.files}
    with ExitStack() as drafts:
        # What comes first takes its place last: a reader that finds the graph finds its data.
        text = drafts.enter_context(whole_file(folder / file_name))
        text.write_text(graph.text)
        for path, data in graph.files.items():
            array = _array(data, bound)
            if array is not None:
                targets[path].parent.mkdir(parents=True, exist_ok=True)
                draft = drafts.enter_context(whole_file(targets[path]))
                np.ascontiguousarray(array, _little_endian(array)).tofile(draft)
    return folder / file_name


def _array(data: Data, bound: Arrays | None) -> NDArray[np.generic] | None:
    if not isinstance(data, str):
        return elements(data)
    return None if bound is None else bound[data]


def _little_endian(array: NDArray[np.generic]) -> np.dtype[np.generic]:
    return array.dtype.newbyteorder("<")


def _target(folder: Path, path: str) -> Path:
    target = folder / path
    if not target.parent.resolve().is_relative_to(folder.resolve()):
        raise GaweeError(f"expected path '{path}' to stay inside '{folder}'")
    return target


# Gawee JSON, by the interface of every format's graph.


class GaweeJsonGraph(Graph):
    """A graph whose structure has been checked; raises GaweeError for a text that has none.

    `folder` is where the paths of weights and constants start; their files are checked for
    existence and size, and small constants are read. With None nothing is read: all constants
    become arguments.
    """

    format = "gawee-json"

    def __init__(self, source: Source, folder: Path | None) -> None:
        root = decode_json(source)
        report = Report(source)
        check_structure(root, report)
        report.raise_if_any()
        self._graph = read_graph(root, source)
        self._folder = folder

    def build_module(self) -> ModuleOp:
        report = Report(self._graph.source)
        check_ops(self._graph, report)
        check_names(self._graph, report)
        check_live_shapes(self._graph, report)
        report.raise_if_any()
        module = GraphBuilder(self._graph, self._folder, report).build()
        verify_module(module)
        return module

    def view(self) -> GraphView:
        return module_view(self.module(), Path(self._graph.source.name).stem)

    def coverage(self) -> CoverageReport:
        return gawee_json_coverage(self._graph)


__all__ = ["GaweeJsonGraph", "export_graph", "module_to_gawee_json", "parse_gawee_json"]


def parse_gawee_json(text: str, *, name: str, folder: Path | None) -> ModuleOp:
    """Read a Gawee graph; every op's location is its node's place in the text and its name.

    `folder` is where data files are, as GaweeJsonGraph says. Raises GaweeError with every problem
    of the first step that fails.
    """
    return GaweeJsonGraph(Source.of_text(text, name), folder).module()
