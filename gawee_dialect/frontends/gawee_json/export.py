"""From a module to a Gawee graph: its text, and the data files that go with it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
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
from gawee_dialect.frontends.gawee_json.export_ops import NodeText, write_op
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.locations import node_name
from gawee_dialect.parameters.contained_file import FileProblem, check_relative

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

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self._taken:
            count += 1
            unique = f"{name}_{count}"
        self._taken.add(unique)
        return unique

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
            self.names[result] = self._unique(stem)
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
            self.names[value] = name if is_constant else self._unique(name)
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
