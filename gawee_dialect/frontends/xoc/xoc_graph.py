"""An XOC graph, by the interface of every format's graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, LocationAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import OpResult, SSAValue

from gawee_dialect.diagnostics import GaweeError, verify_module
from gawee_dialect.dialect.entry import ArgumentKind, find_function
from gawee_dialect.dialect.types import AnyTensor, dtype_name, shape_text, tensor_type
from gawee_dialect.frontends.coverage import CoverageReport
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.metadata import GRAPH, METADATA, TENSOR_METADATA, metadata_attribute
from gawee_dialect.frontends.onnx.importer import OnnxImporter
from gawee_dialect.frontends.onnx.model import (
    Array,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxValue,
    Scope,
    Value,
)
from gawee_dialect.frontends.onnx.onnx_graph import onnx_coverage
from gawee_dialect.frontends.onnx.registry import LATEST_OPSET, find_mapping
from gawee_dialect.frontends.op_mapping.emitter import dtype_element
from gawee_dialect.frontends.op_mapping.registry import Kind, OpMapping, Refusal
from gawee_dialect.frontends.xoc.document import (
    Role,
    XocDocument,
    XocNode,
    XocTensor,
    XocWeights,
    node_order,
    read_xoc,
    weight_keys,
)
from gawee_dialect.identifiers import name_hint
from gawee_dialect.inspection.graph_view import GraphView, NodeView, TensorView
from gawee_dialect.parameters.store import ParameterStore
from gawee_dialect.source import Source

# XOC graphs as modules, by the mappings of ONNX's ops.


# Operands that are weights without data: what the declared shapes of a node say they hold.
#
# A target shape, axes, repeats, sizes of parts: all of them follow from what goes in and comes
# out.

Shape = tuple[int, ...]
Ints = Sequence[int]


MOST_OF_RESIZE = 4
"""Operands of a Resize: the tensor, the region, scales and sizes."""

MAX_FIGURES = 16
"""Tensors of more axes than these are not looked at: there are too many ways to choose some."""


class Shapes:
    """The shapes that a node's operands and results are declared with."""

    def __init__(self, document: XocDocument, node: XocNode) -> None:
        self.attributes = node.attributes
        self.inputs: Sequence[Shape] = [document.tensors[each].shape for each in node.inputs]
        self.outputs: Sequence[Shape] = [document.tensors[each].shape for each in node.outputs]

    @property
    def result(self) -> Shape:
        """The shape of the only output; raises Refusal where there are several or none."""
        if len(self.outputs) != 1:
            raise Refusal(f"expected one output, got {len(self.outputs)}")
        return self.outputs[0]

    def number(self, name: str, otherwise: int) -> int:
        """Return an attribute that is an integer, or what it is where it is absent."""
        value = self.attributes.get(name, otherwise)
        return value if isinstance(value, int) else otherwise


def _unsayable(what: str, shapes: Shapes) -> Refusal:
    old, new = list(shapes.inputs[0]), [list(each) for each in shapes.outputs]
    return Refusal(
        f"expected shapes that say its {what}, got {old} to {', '.join(map(str, new))}",
        f"give the {what} as an attribute: tensors of a graph have no data",
    )


def _target(shapes: Shapes, count: int) -> Ints:
    return shapes.result


def _squeezed(shapes: Shapes, count: int) -> Ints:
    """Return which axes of size 1 are gone; which of several neighbours makes no difference."""
    return _removed(shapes.inputs[0], shapes.result, count, shapes, only_ones=True)


def _unsqueezed(shapes: Shapes, count: int) -> Ints:
    return _removed(shapes.result, shapes.inputs[0], count, shapes, only_ones=True)


def _reduced(shapes: Shapes, count: int) -> Ints:
    """Return which axes are reduced; those of size 1 may be chosen freely."""
    old, new = shapes.inputs[0], shapes.result
    if not shapes.number("keepdims", 1):
        return _removed(old, new, count, shapes, only_ones=False)
    changed = [axis for axis, (a, b) in enumerate(zip(old, new, strict=False)) if a != b]
    free = [axis for axis, size in enumerate(new) if size == 1 and axis not in changed]
    axes = sorted([*changed, *free[: max(count - len(changed), 0)]])
    if len(old) != len(new) or len(axes) != count or any(new[axis] != 1 for axis in axes):
        raise _unsayable("axes", shapes)
    return axes


def _removed(whole: Shape, rest: Shape, count: int, shapes: Shapes, *, only_ones: bool) -> Ints:
    """Return the axes whose removal leaves a shape; raises Refusal where it may be others."""
    candidates = (
        [a for a, size in enumerate(whole) if size == 1] if only_ones else range(len(whole))
    )
    found: dict[Shape, Ints] = {}
    for axes in combinations(candidates, count):
        if tuple(size for axis, size in enumerate(whole) if axis not in axes) == rest:
            found.setdefault(tuple(axis for axis in axes if whole[axis] != 1), axes)
    if len(found) != 1:
        raise _unsayable("axes", shapes)
    return next(iter(found.values()))


def _repeats(shapes: Shapes, count: int) -> Ints:
    old, new = shapes.inputs[0], shapes.result
    whole = len(old) == len(new) and all(b % a == 0 if a else b == 0 for a, b in zip(old, new))
    if not whole or 0 in new:
        raise _unsayable("repeats", shapes)
    return [b // a for a, b in zip(old, new, strict=True)]


def _parts(shapes: Shapes, count: int) -> Ints:
    axis = shapes.number("axis", 0)
    rank = len(shapes.inputs[0])
    if not -rank <= axis < rank or any(len(each) != rank for each in shapes.outputs):
        raise _unsayable("split", shapes)
    return [each[axis] for each in shapes.outputs]


def _taken(shapes: Shapes, count: int) -> Ints:
    axis = shapes.number("axis", -1)
    new = shapes.outputs[0] if shapes.outputs else ()
    if not -len(new) <= axis < len(new):
        raise _unsayable("k", shapes)
    return [new[axis]]


REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp")

Figures = Callable[[Shapes, int], Ints]

FIGURES: Mapping[tuple[str, int], Figures] = {
    **{("Reshape", 1): _target, ("Expand", 1): _target, ("ConstantOfShape", 0): _target},
    **{("Squeeze", 1): _squeezed, ("Unsqueeze", 1): _unsqueezed},
    **{("Tile", 1): _repeats, ("Split", 1): _parts, ("TopK", 1): _taken},
    **{(f"Reduce{how}", 1): _reduced for how in REDUCTIONS},
}
"""What says the elements of an operand, by the operator and which operand it is.

The functions take the shapes, and how many elements there are.
"""


def recovered(document: XocDocument, node: XocNode, index: int) -> Array | None:
    """Return the elements of an operand that is a weight; None where it is data that is given.

    Raises Refusal where they follow from shapes, but not from these.
    """
    tensor = document.tensors[node.inputs[index]]
    if tensor.role is not Role.WEIGHT:
        return None
    if node.name in ("Resize", "Upsample") and index < MOST_OF_RESIZE:
        return _resizing(Shapes(document, node), index)
    figures = FIGURES.get((node.name, index))
    if figures is None or tensor.dtype not in ("int64", "int32"):
        return None
    shapes, count = Shapes(document, node), prod(tensor.shape)
    if count > MAX_FIGURES or len(shapes.inputs[0]) > MAX_FIGURES:
        raise Refusal(f"expected '{tensor.id}' of at most {MAX_FIGURES} elements, as many axes")
    elements = np.array(figures(shapes, count), np.int64)
    if elements.size != count:
        raise Refusal(f"expected '{tensor.id}' of {elements.size} elements, got {count}")
    return elements


def _resizing(shapes: Shapes, index: int) -> Array | None:
    """Return sizes, whole factors, or the region: nothing."""
    declared = shapes.inputs[index]
    if 0 in declared:
        return np.zeros(declared, np.float32)
    if index == 3:
        return np.array(shapes.result, np.int64)
    old, new = shapes.inputs[0], shapes.result
    is_scales = index == (1 if len(shapes.inputs) == 2 else 2)
    if not is_scales or len(old) != len(new):
        return None
    # A factor of 2.1 may give the same size as 2, so only whole ones are taken for what is meant.
    if not all(a and b and (b % a == 0 or a % b == 0) for a, b in zip(old, new, strict=True)):
        raise _unsayable("scales", shapes)
    return np.array([b / a for a, b in zip(old, new, strict=True)], np.float32)


PADDED = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool")
"""Operators whose pads may be one number an axis: as much before as after it."""


class XocImporter(OnnxImporter):
    """Imports a graph whose weights have no data, and whose tensors declare their shapes.

    `tensors` has the id of the tensor that each parameter was made of.
    """

    def __init__(self, document: XocDocument, name: str) -> None:
        super().__init__(_model(document), name, {}, {})
        self.document = document
        self.nodes = {each.id: each for each in document.nodes}
        self.declared = {each.id: each for each in document.tensors}
        self.tensors: dict[str, str] = {}

    def module(self) -> ModuleOp:
        module = super().module()
        function = find_function(module)
        assert function is not None
        self._mark_arguments(function)
        function.attributes[GRAPH] = metadata_attribute(
            {"id": self.document.id, "name": self.document.name}
        )
        if self.document.metadata:
            function.attributes[METADATA] = metadata_attribute(self.document.metadata)
        return module

    def _mark_arguments(self, function: FuncOp) -> None:
        arguments = self.function.arguments
        marks = [dict(each.attributes().data) for each in arguments]
        for mark, argument in zip(marks, arguments, strict=True):
            metadata = self.declared[self.tensors.get(argument.name, argument.name)].metadata
            if metadata:
                mark[METADATA] = metadata_attribute(metadata)
        function.arg_attrs = ArrayAttr(map(DictionaryAttr, marks))

    def start(self) -> Scope:
        scope = super().start()
        for tensor in self.document.tensors:
            if tensor.role is Role.WEIGHT and tensor.id not in scope:
                scope[tensor.id] = Value(tensor.id)
        return scope

    def place(self, node: OnnxNode) -> str:
        source = self.document.source
        return self.name if source is None else source.place(self.nodes[node.name].offset)

    def location(self, node: OnnxNode) -> LocationAttr:
        source = self.document.source
        if source is None:
            return super().location(node)
        return source.location(self.nodes[node.name].offset, node.name)

    def find_mapping(self, node: OnnxNode, opsets: Mapping[str, int]) -> OpMapping | None:
        """Return the newest mapping that has all of a node's attributes: files say no version."""
        if node.op_type == "Resize" and len(node.inputs) == 2:  # scales alone, as before opset 11
            return find_mapping(node.op_type, 10)
        for version in range(LATEST_OPSET, 0, -1):
            mapping = find_mapping(node.op_type, version)
            if mapping is not None and _has_attributes(mapping, node.attributes):
                return mapping
        return find_mapping(node.op_type, LATEST_OPSET)

    def _add_node(
        self,
        node: OnnxNode,
        inputs: Sequence[Value | None],
        scope: Scope,
        opsets: Mapping[str, int],
    ) -> None:
        own = self.nodes[node.name]
        if not node.outputs:
            raise Refusal("expected an output, got none")
        self.emit.location = self.location(node)
        given = self._operands(own, inputs)
        super()._add_node(self._completed(own, node), given, scope, opsets)
        made = [(self.declared[name], scope[name]) for name in node.outputs if name in scope]
        try:
            for declared, value in made:
                _check(declared, value)
        except Refusal:
            for declared, _ in made:
                del scope[declared.id]
            raise
        for declared, value in made:
            _keep_tensor_metadata(declared, value)

    def _completed(self, own: XocNode, node: OnnxNode) -> OnnxNode:
        """Return a node with pads on both sides, and with zeros that are sizes where it says so."""
        attributes: dict[str, object] = dict(node.attributes)
        pads = own.attributes.get("pads")
        if node.op_type in PADDED and isinstance(pads, list) and own.inputs:
            axes = len(self.document.tensors[own.inputs[0]].shape) - 2
            if len(pads) not in (axes, 2 * axes):
                raise Refusal(f"expected pads of {axes} or {2 * axes} numbers, got {pads}")
            attributes["pads"] = pads * 2 if len(pads) == axes else pads
        is_recovered = len(own.inputs) > 1 and self._reads_weight(own, 1)
        if node.op_type == "Reshape" and is_recovered:
            attributes["allowzero"] = 1
        return replace(node, attributes=attributes)

    def _reads_weight(self, node: XocNode, index: int) -> bool:
        return self.document.tensors[node.inputs[index]].role is Role.WEIGHT

    def _operands(self, node: XocNode, values: Sequence[Value | None]) -> Sequence[Value | None]:
        """Return what a node reads: of a weight its elements, or the parameter that has them."""
        given = list(values)
        held: list[Value] = []
        for index, value in enumerate(values):
            if value is None or not self._reads_weight(node, index):
                continue
            elements = recovered(self.document, node, index)
            if elements is None:
                held.append(value)
            else:
                given[index] = Value(value.name, elements=elements)
        for key, value in zip(weight_keys(node.name, len(held)), held, strict=True):
            if value.tensor is None:  # no other node's weight
                self._add_parameter(f"{node.id}.{key}", value)
        return given

    def _add_parameter(self, name: str, value: Value) -> None:
        declared = self.declared[value.name]
        type: AnyTensor = TensorType(dtype_element(declared.dtype), declared.shape)
        value.tensor = self.function.add_argument(ArgumentKind.PARAMETER, name, type)
        self.tensors[name] = value.name

    def tensor(self, value: Value) -> SSAValue:
        """Return the tensor of a value; what a graph says in itself is a constant."""
        if value.tensor is None and value.elements is None:
            self._add_parameter(value.name, value)
        if value.tensor is None:
            array = np.asarray(value.elements)
            value.tensor = self.emit.array(array, dtype_element(array.dtype.name))
            value.tensor.name_hint = name_hint(value.name)
        assert value.tensor is not None
        return value.tensor


def _keep_tensor_metadata(declared: XocTensor, value: Value) -> None:
    result = value.tensor
    if not declared.metadata or not isinstance(result, OpResult):
        return
    owner = result.op
    every = [DictionaryAttr({}) for _ in owner.results]
    every[result.index] = metadata_attribute(declared.metadata)
    owner.attributes[TENSOR_METADATA] = ArrayAttr(every)


def _check(declared: XocTensor, value: Value) -> None:
    """Hold a result against what the graph declares; raises Refusal where they differ."""
    if value.tensor is not None:
        type = tensor_type(value.tensor)
        shape, dtype = type.get_shape(), dtype_name(type.element_type)
    else:
        array = np.asarray(value.elements)
        shape, dtype = array.shape, array.dtype.name
    what = f"expected tensor '{declared.id}'"
    if shape != declared.shape:
        wanted, got = shape_text(declared.shape), shape_text(shape)
        raise Refusal(f"{what} of shape {wanted}, as it is declared, got {got}")
    if dtype != declared.dtype:
        raise Refusal(f"{what} of dtype {declared.dtype}, as it is declared, got {dtype}")


def _model(document: XocDocument) -> OnnxModel:
    """Return a graph as the importer of ONNX reads it: nodes in order, tensors by their ids."""

    def ids(indices: Sequence[int]) -> list[str]:
        return [document.tensors[index].id for index in indices]

    def values(indices: Sequence[int]) -> list[OnnxValue]:
        tensors = [document.tensors[index] for index in indices]
        return [OnnxValue(each.id, each.dtype, each.shape) for each in tensors]

    ordered = [document.nodes[index] for index in node_order(document)]
    nodes = [
        OnnxNode(
            *(each.id, each.name, ids(each.inputs), ids(each.outputs), each.attributes),
            metadata=each.metadata,
        )
        for each in ordered
    ]
    graph = OnnxGraph(document.name, nodes, values(document.inputs), values(document.outputs))
    return OnnxModel(graph, {"": LATEST_OPSET})


def _has_attributes(mapping: OpMapping, attributes: Mapping[str, object]) -> bool:
    sayable = {each.name for each in mapping.parameters if each.kind in (Kind.VALUE, Kind.KNOWN)}
    return sayable.issuperset(attributes)


class XocGraph(Graph):
    """A graph, in `document`; raises GaweeError for a text that is none."""

    format = "xoc"

    def __init__(self, source: Source) -> None:
        self.document = read_xoc(source)
        self._source = source
        self._importer = XocImporter(self.document, source.name)

    def build_module(self) -> ModuleOp:
        module = self._importer.module()
        if self._importer.problems:
            raise GaweeError(self._importer.problems)
        verify_module(module)
        return module

    def weights(self, store: ParameterStore) -> ParameterStore:
        self.module()
        return XocWeights(self.document, store, self._importer.tensors, self._source.path)

    def view(self) -> GraphView:
        return document_view(self.document)

    def coverage(self) -> CoverageReport:
        importer = XocImporter(self.document, self._source.name)
        return onnx_coverage(importer, self._source.name, self.format)


def document_view(document: XocDocument) -> GraphView:
    """Describe a graph as it is written; its operators need not be known."""
    tensors = [TensorView(each.id, each.shape, each.dtype) for each in document.tensors]

    def views(indices: Sequence[int]) -> list[TensorView]:
        return [tensors[index] for index in indices]

    ordered = [document.nodes[index] for index in node_order(document)]
    return GraphView(
        document.name,
        views(document.inputs),
        views(document.outputs),
        [
            view
            for view, each in zip(tensors, document.tensors, strict=True)
            if each.role is Role.WEIGHT
        ],
        [
            NodeView(
                node.id,
                node.name,
                [tensors[index].name for index in node.inputs],
                views(node.outputs),
            )
            for node in ordered
        ],
    )
