"""From a module to a graph in the vocabulary of ONNX, op by op."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.dense import array_of
from gawee_dialect.dialect.entry import (
    MAIN,
    WEIGHTS,
    ArgumentKind,
    entry_arguments,
    find_function,
    output_names,
)
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.quantization import QuantizationOp
from gawee_dialect.dialect.graph.scan import ScanOp, without_scans
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.types import AnyTensor, is_tensor, tensor_type
from gawee_dialect.frontends.metadata import (
    GRAPH,
    METADATA,
    TENSOR_METADATA,
    metadata_values,
)
from gawee_dialect.frontends.onnx.export.open_sizes import SizeNodes
from gawee_dialect.frontends.onnx.export.recurrence import not_needed, recurrences, write_layer
from gawee_dialect.frontends.onnx.export.registry import (
    Attribute,
    ExportedBody,
    ExportedGraph,
    ExportedNode,
    ExportedValue,
    Given,
    OpenFigures,
    Operand,
    Outputs,
    writers,
)
from gawee_dialect.frontends.onnx.model import Array
from gawee_dialect.frontends.op_mapping.emitter import dtype_element
from gawee_dialect.frontends.op_mapping.registry import Refusal
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import take_name
from gawee_dialect.located_json import JsonValue
from gawee_dialect.locations import node_name


def export_graph(module: ModuleOp, *, bodies: bool = True) -> ExportedGraph:
    """Say a module at the gawee level in the vocabulary of ONNX.

    Names of inputs, outputs, parameters and nodes are kept, and so is metadata. A scan is a node
    with a body, or without `bodies` its steps. Raises GaweeError that lists every op that has no
    twin.
    """
    function = find_function(module if bodies else without_scans(module), MAIN)
    if function is None:
        raise GaweeError(f"expected a function @{MAIN}, got none")
    return _Exporter(function, bodies=bodies).export()


class _Exporter:
    """Writes the entry function of a module; every op that ONNX cannot say is in one report."""

    def __init__(self, function: FuncOp, *, bodies: bool) -> None:
        self.function = function
        self.bodies = bodies
        self.problems: list[Diagnostic] = []
        self.values: dict[SSAValue, ExportedValue] = {}
        self.constants: dict[str, Array] = {}
        self.nodes: list[ExportedNode] = []
        self.tensor_metadata: dict[str, dict[str, JsonValue]] = {}
        self.taken: set[str] = set()
        self.node_names: set[str] = set()
        self.inputs: list[ExportedValue] = []
        self.weights: list[ExportedValue] = []
        self.layers = recurrences(function)
        self.gone = not_needed(self.layers.values())

    def export(self) -> ExportedGraph:
        """Return the graph; raises GaweeError with all that cannot be written."""
        self._add_arguments()
        self.sizes = SizeNodes(self.inputs, self.unique)
        returned = self.function.body.block.last_op
        assert isinstance(returned, ReturnOp)
        names = output_names(self.function)
        self._reserve(returned, names)
        for op in self.function.body.block.ops:
            if not isinstance(op, ReturnOp | ConstantOp) and op not in self.gone:
                self._add(op)
        if self.problems:
            raise GaweeError(self.problems)
        outputs = [
            self._output(value, name) for value, name in zip(returned.operands, names, strict=True)
        ]
        own = metadata_values(self.function.attributes.get(GRAPH)) or {}
        id, name = own.get("id"), own.get("name")
        return ExportedGraph(
            id if isinstance(id, str) else None,
            name if isinstance(name, str) else None,
            self.inputs,
            outputs,
            self.weights,
            self.constants,
            [*self.sizes.nodes, *self.nodes],
            metadata_values(self.function.attributes.get(METADATA)),
            self.tensor_metadata,
        )

    def _add_arguments(self) -> None:
        marks = self.function.arg_attrs
        for argument in entry_arguments(self.function):
            value = self.function.body.block.args[argument.index]
            if argument.kind not in (ArgumentKind.INPUT, *WEIGHTS) or not is_tensor(value.type):
                what = f"takes {argument.kind} '{argument.name}'"
                self._refuse(self.function, f"cannot be written as ONNX because it {what}")
                continue
            self.taken.add(argument.name)
            self.values[value] = made = ExportedValue(argument.name, value.type)
            (self.inputs if argument.kind is ArgumentKind.INPUT else self.weights).append(made)
            own = None if marks is None else marks.data[argument.index].data.get(METADATA)
            self._keep_metadata(argument.name, metadata_values(own))

    def _keep_metadata(self, name: str, metadata: dict[str, JsonValue] | None) -> None:
        if metadata:
            self.tensor_metadata[name] = metadata

    def _refuse(self, op: Operation, message: str, hint: str | None = None) -> None:
        self.problems.append(Diagnostic.at(op, message, hint))

    def _reserve(self, returned: ReturnOp, names: Sequence[str]) -> None:
        """Name the values that the function returns as its outputs are named."""
        for value, name in zip(returned.operands, names, strict=True):
            if name in self.taken and not (
                value in self.values and self.values[value].name == name
            ):
                self._refuse(self.function, f"expected names to differ, got '{name}' twice")
            self.taken.add(name)
            if value not in self.values and is_tensor(value.type):
                self.values[value] = ExportedValue(name, value.type)
                if isinstance(value.owner, ConstantOp):
                    self.constants[name] = array_of(value.owner.value)

    def _output(self, value: SSAValue, name: str) -> ExportedValue:
        """Return an output; an Identity makes one that is called otherwise, or is a constant."""
        source = self.value(value)
        if source.name == name and name not in self.constants:
            return source
        if source.name == name:
            given = replace(source, name=self.unique(f"{name}_value"))
            self.constants[given.name] = self.constants.pop(name)
            source = given
        result = ExportedValue(name, source.type)
        identity = ExportedNode("Identity", [source], [result], {}, None)
        identity.name = self._unique_node(name)
        self.nodes.append(identity)
        return result

    def value(self, value: SSAValue) -> ExportedValue:
        """Return what a value is called; a constant becomes one of the graph's."""
        if value in self.values:
            return self.values[value]
        owner = value.owner
        stem = owner.name.removeprefix("gawee.") if isinstance(owner, Operation) else "value"
        made = ExportedValue(self.unique(value.name_hint or stem), tensor_type(value))
        self.values[value] = made
        if isinstance(owner, ConstantOp):
            self.constants[made.name] = array_of(owner.value)
        return made

    def unique(self, name: str) -> str:
        """Return a name that no tensor has yet: this one, or it with a number."""
        return take_name(name, self.taken)

    def _unique_node(self, name: str) -> str:
        return take_name(name, self.node_names)

    def _body(self, region: Region) -> ExportedBody:
        """Return a body as a graph, whose outputs are of its own nodes, each by one name."""
        outer, self.nodes, block = self.nodes, [], region.block
        inputs = [self.value(each) for each in block.args]
        for each in block.ops:
            if not isinstance(each, YieldOp | ConstantOp | scf.YieldOp):
                self._add(each)
        outputs: list[ExportedValue] = []
        assert block.last_op is not None
        for value in map(self.value, block.last_op.operands):
            made = value
            if value in outputs or not any(value in each.outputs for each in self.nodes):
                made = ExportedValue(self.unique(f"{value.name}_out"), value.type)
                name = self._unique_node(made.name)
                self.nodes.append(ExportedNode("Identity", [value], [made], {}, None, name))
            outputs.append(made)
        nodes, self.nodes = self.nodes, outer
        return ExportedBody(inputs, outputs, nodes)

    def _add(self, op: Operation) -> None:
        writer = writers().get(type(op))
        nodes = _OpNodes(self, op)
        try:
            if op in self.layers:
                write_layer(nodes, self.layers[op])
                self._finish(op, nodes.made)
                return
            if isinstance(op, ScanOp):
                nodes.scan(op, self._body(op.body))
                self._finish(op, nodes.made)
                return
            if isinstance(op, tensor.ExtractOp) and not op.indices:  # what a branch is chosen by
                self.values[op.result] = self.value(op.tensor)
                return
            if isinstance(op, scf.IfOp) and self.bodies:
                yes, no = map(self._body, op.regions)
                nodes("If", [op.cond], op.results, then_branch=yes, else_branch=no)
                self._finish(op, nodes.made)
                return
            if writer is None:
                raise Refusal(
                    "cannot be written as ONNX, which has no twin of it",
                    "the pages of formats list what has one",
                )
            writer(nodes, op)
            if isinstance(op, QuantizationOp):  # the name of its weight is that of a layer
                self._name_by_outputs(nodes.made)
            else:
                self._finish(op, nodes.made)
        except (Refusal, VerifyException) as problem:
            hint = problem.hint if isinstance(problem, Refusal) else None
            self._refuse(op, str(problem), hint)

    def _name_by_outputs(self, made: Sequence[ExportedNode]) -> None:
        for node in made:
            node.name = self._unique_node(f"{node.outputs[0].name}_{node.op_type}")
        self.nodes.extend(made)

    def _finish(self, op: Operation, made: Sequence[ExportedNode]) -> None:
        """Name an op's nodes: the one that has its weights, or the last, is the op's own."""
        weights = {each.name for each in self.weights}
        held = [[each for each in node.inputs if _is_of(each, weights)] for node in made]
        most = max(range(len(made)), key=lambda index: (len(held[index]), index))
        own = made[most]
        by_weight = _name_by_weight(held[most])
        if by_weight in self.node_names:  # of a node that has the same weight
            by_weight = None
        name = by_weight or node_name(op.location) or own.outputs[0].name
        own.name, own.is_own = self._unique_node(name), True
        own.metadata = metadata_values(op.attributes.get(METADATA))
        for node in made:
            node.name = node.name or self._unique_node(f"{name}_{node.op_type}")
        every = op.attributes.get(TENSOR_METADATA)
        if isa(every, ArrayAttr[DictionaryAttr]):
            for result, metadata in zip(op.results, every, strict=False):
                self._keep_metadata(self.value(result).name, metadata_values(metadata))
        self.nodes.extend(made)


class _OpNodes:
    """The nodes of one op."""

    def __init__(self, exporter: _Exporter, op: Operation) -> None:
        self.exporter = exporter
        self.op = op
        self.made: list[ExportedNode] = []

    def __call__(
        self,
        op_type: str,
        inputs: Sequence[Given],
        outputs: Outputs,
        **attributes: Attribute,
    ) -> ExportedValue:
        given = [self._given(each) for each in inputs]
        while given and given[-1] is None:
            given.pop()
        if isinstance(outputs, TensorType):
            made = [self.new(op_type, outputs)]
        else:
            made = [
                each if isinstance(each, ExportedValue) else self.exporter.value(each)
                for each in outputs
            ]
        self.made.append(ExportedNode(op_type, given, made, attributes, self.op))
        return made[0]

    def _given(self, given: Given) -> Operand:
        if isinstance(given, OpenFigures):
            return self.exporter.sizes.list_of(given.sizes, given.name)
        return self.exporter.value(given) if isinstance(given, SSAValue) else given

    def scan(self, op: ScanOp, body: ExportedBody) -> None:
        """Append a Scan along the first axis of its sequences."""
        backwards = int(op.reverse is not None)
        self(
            "Scan",
            op.operands,
            op.results,
            body=body,
            num_scan_inputs=len(op.sequences),
            scan_input_directions=[backwards] * len(op.sequences),
            scan_output_directions=[backwards] * (len(op.results) - len(op.initial)),
        )

    def new(self, op_type: str, type: AnyTensor) -> ExportedValue:
        """Return a tensor that a node of this op makes."""
        stem = self.exporter.value(self.op.results[0]).name
        return ExportedValue(self.exporter.unique(f"{stem}_{op_type}"), type)

    def constant(self, array: Array) -> ExportedValue:
        """Return a tensor whose elements the graph holds."""
        stem = self.exporter.value(self.op.results[0]).name
        name = self.exporter.unique(f"{stem}_constant")
        self.exporter.constants[name] = np.asarray(array)
        return ExportedValue(name, TensorType(dtype_element(array.dtype.name), array.shape))


def _is_of(operand: Operand, weights: set[str]) -> bool:
    return isinstance(operand, ExportedValue) and operand.name in weights


def _name_by_weight(weights: Sequence[Operand]) -> str | None:
    """Return the node's name as its parameters imply it: `conv1` of `conv1.weight`."""
    names = [each.name.rpartition(".")[0] for each in weights if isinstance(each, ExportedValue)]
    return next((name for name in names if name), None)
