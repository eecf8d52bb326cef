"""Graphs in the vocabulary of ONNX as modules, whatever file they are read from."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    LocationAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    TensorType,
    UnknownLoc,
)
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from gawee_dialect.analysis.open_sizes import RANGES_HINT
from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.graph.movement import IdentityOp
from gawee_dialect.dialect.open_size import OpenSize, SizeName, UnknownSize, parse_size
from gawee_dialect.dialect.types import AnyTensor, element_type, is_float, shape_text, tensor_shape
from gawee_dialect.frontends.metadata import METADATA, metadata_attribute
from gawee_dialect.frontends.onnx.control_flow import CONTROL_FLOW, Resolve
from gawee_dialect.frontends.onnx.folding import known_results, offer_results
from gawee_dialect.frontends.onnx.held_types import (
    HELD,
    dtype_of,
    element_of,
    held_array,
    held_results,
    prepared_inputs,
    standard_function,
    type_sources,
)
from gawee_dialect.frontends.onnx.model import (
    Array,
    AttributeReference,
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxValue,
    Scope,
    Value,
)
from gawee_dialect.frontends.onnx.old_forms import in_later_form
from gawee_dialect.frontends.onnx.ops.training import gradient
from gawee_dialect.frontends.onnx.registry import (
    ONNX,
    check_arguments,
    find_mapping,
)
from gawee_dialect.frontends.op_mapping.emitter import (
    INLINE_ELEMENTS,
    EntryFunction,
    check_elements,
    numbers_of_sizes,
)
from gawee_dialect.frontends.op_mapping.registry import (
    Input,
    Known,
    OpMapping,
    Refusal,
    Result,
    UnknownElements,
    bind,
)
from gawee_dialect.identifiers import c_name, name_hint
from gawee_dialect.located_json import JsonValue

# Functions of a model in the place of their calls.


def body_of_call(
    call: OnnxNode, function: OnnxFunction, given: Sequence[str]
) -> Iterator[OnnxNode]:
    """Yield the nodes of a function with the attributes of a call, which gives some inputs."""
    attributes = {**function.attributes, **call.attributes}
    absent = set(function.inputs) - set(given)
    for each in function.nodes:
        yield OnnxNode(
            f"{call.name}/{each.name}",
            each.op_type,
            ["" if name in absent else name for name in each.inputs],
            each.outputs,
            _resolved(each.attributes, attributes),
            each.domain,
            overload=each.overload,
        )


def _resolved(
    attributes: Mapping[str, object], outer: Mapping[str, object]
) -> Mapping[str, object]:
    """Return attributes with references replaced; what the call leaves out is left out."""
    found = {
        key: outer.get(value.name) if isinstance(value, AttributeReference) else value
        for key, value in attributes.items()
    }
    return {key: value for key, value in found.items() if value is not None}


# Why some ops of ONNX cannot become ops on tensors of known sizes.

SIZE = "how large its result is depends on elements"
RANDOM = "it draws other numbers every time"
SEQUENCE = "it is on sequences or optional values, not tensors"
TEXT = "it is on text"
MAP = "it is on maps, not tensors"

REASONS: Mapping[str, str] = {
    **dict.fromkeys(("NonZero", "Unique"), SIZE),
    **dict.fromkeys(("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike"), RANDOM),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), RANDOM),
    **dict.fromkeys(
        ("SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceAt"), SEQUENCE
    ),
    **dict.fromkeys(
        (
            "SequenceInsert",
            "SequenceLength",
            "SequenceMap",
            "Optional",
            "OptionalHasElement",
            "OptionalGetElement",
        ),
        SEQUENCE,
    ),
    **dict.fromkeys(("ConcatFromSequence", "SplitToSequence"), SEQUENCE),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"), TEXT),
    **dict.fromkeys(("ai.onnx.ml.LabelEncoder", "ai.onnx.ml.CategoryMapper"), TEXT),
    **dict.fromkeys(("ai.onnx.ml.ZipMap", "ai.onnx.ml.DictVectorizer", "ai.onnx.ml.CastMap"), MAP),
    "ImageDecoder": "it decodes a file",
}
"""By full type; `onnx_backend` runs them on the host. What is known when the graph is read is
computed then, whatever it is."""


OF_GRAPHS: Mapping[str, Resolve] = {
    **CONTROL_FLOW,
    "ai.onnx.preview.training.Gradient": gradient,
}
"""Ops that are imported by more than their inputs: graphs inside of them, or what is around."""

MAX_NODES = 1 << 16
"""Of a graph in which functions and loops are written out: more would take minutes to read."""


NAMELESS = "?"
"""What a size is called that the model says nothing of."""

MAX_NAMED = 4
"""Inputs that a hint names."""


class OnnxImporter:
    """Imports node by node; a node that is refused leaves its outputs unknown.

    Nodes that read what is unknown are passed over silently, so that every problem is reported
    once. `weights` has the array of every parameter that was made; `looked_up` the names of inputs
    whose elements were used.
    """

    def __init__(
        self,
        model: OnnxModel,
        name: str,
        shapes: Mapping[str, Sequence[int]],
        values: Mapping[str, Array] | None = None,
    ) -> None:
        self.model = model
        self.name = name
        self.shapes = shapes
        self.ranges: Mapping[str, SizeName] = {}
        """What is known of sizes that stay open."""
        self.values = values or {}
        """Elements that inputs have in this run; those that are used are in `looked_up`."""
        self.problems: list[Diagnostic] = []
        self.function = EntryFunction()
        self.emit = self.function.emit
        self.weights: dict[str, Array] = {}
        self.looked_up: list[str] = []
        self.writes_numbers = False
        """Whether weights of one element are constants, as exporters write numbers."""
        self._unsupported: dict[str, list[OnnxNode]] = {}
        self._read = _names_read(model.graph)
        self._calls: list[str] = []
        self._nodes = 0

    def module(self) -> ModuleOp:
        """Import the whole graph; what is wrong with it is in `problems`.

        Raises GaweeError for a graph that is too large where functions and loops are written out.
        """
        try:
            return self._module()
        except RecursionError as error:
            text = "expected less nesting of graphs and functions"
            raise GaweeError(Diagnostic(text, self.name)) from error

    def _module(self) -> ModuleOp:
        scope = self.start()
        for node in self.model.graph.nodes:
            self.add_node(node, scope, self.model.opsets)
        self.report_unsupported()
        outputs = self.outputs(scope)
        return self.function.module(outputs, [each.name for each in self.model.graph.outputs])

    def start(self) -> Scope:
        """Make the arguments of the graph's inputs; return what its nodes may read."""
        graph = self.model.graph
        scope: Scope = {}
        for each in graph.inputs:
            if each.name not in graph.initializers:
                self._add_input(each, scope)
        self._add_initializers(graph, scope)
        return scope

    def _add_initializers(self, graph: OnnxGraph, scope: Scope) -> None:
        for name, array in graph.initializers.items():
            scope[name] = Value(name, elements=array)

    def _add_input(self, value: OnnxValue, scope: Scope) -> None:
        try:
            if not value.name:
                raise Refusal("expected a name, got none")
            type: AnyTensor = TensorType(element_of(value.dtype), self._shape(value))
            check_elements(type)
        except Refusal as problem:
            text = f"graph input '{value.name}': {problem.message}"
            self.problems.append(Diagnostic(text, self.name, hint=problem.hint))
            return
        tensor = self.function.add_argument(ArgumentKind.INPUT, value.name, type)
        if value.dtype in HELD:
            self.emit.held[tensor] = value.dtype
        offered = self.values.get(value.name)
        scope[value.name] = Value(value.name, tensor, offered=offered, sources=[value.name])

    def _shape(self, value: OnnxValue) -> tuple[int, ...]:
        if value.name in self.shapes:
            return tuple(self.shapes[value.name])
        hint = f"--shape {value.name}=1,2,3 gives all sizes, --shape NAME=1 one that has a name"
        if value.shape is None:
            raise Refusal("expected a shape, got none", hint)
        return tuple(self._size(value, axis, hint) for axis in range(len(value.shape)))

    def size_names(self) -> AbstractSet[str]:
        """Return the names of inputs and of sizes, as the model and the module have them."""
        inputs = [e for e in self.model.graph.inputs if e.name not in self.model.graph.initializers]
        names = {each.name for each in inputs}
        for each in inputs:
            for axis, size in enumerate(each.shape or ()):
                if isinstance(size, str):
                    texts = {size, *re.findall(r"\w+", size)} - {NAMELESS}
                    names |= texts or {f"{each.name}_{axis}"}
        return names | set(map(c_name, names))

    def _size(self, value: OnnxValue, axis: int, hint: str) -> int:
        """Return a size: a number, one that is given for its name, or its name."""
        size = (value.shape or ())[axis]
        if isinstance(size, int):
            return size
        known = self.shapes.get(size)
        if known is not None and len(known) == 1:
            return known[0]
        if size == NAMELESS:
            size = f"{c_name(value.name)}_{axis}"
        try:
            found = parse_size(size, lambda name: self._size_name(c_name(name)))
        except VerifyException:  # no sum of names, as some exporters write them
            found = OpenSize.named(self._size_name(c_name(size)))
        return found.at(self._numbers()) if isinstance(found, OpenSize) else found

    def _size_name(self, name: str) -> SizeName:
        return self.ranges.get(name, SizeName(name))

    def _numbers(self) -> Mapping[str, int]:
        """Return the sizes that are given by their names alone."""
        return {c_name(name): each[0] for name, each in self.shapes.items() if len(each) == 1}

    def add_node(self, node: OnnxNode, scope: Scope, opsets: Mapping[str, int]) -> None:
        """Make a node's ops; report why where it is refused."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            text = f"expected at most {MAX_NODES} nodes where functions and loops are written out"
            raise GaweeError(Diagnostic(text, self.place(node), node.name))
        names = [name for name in node.inputs if name]
        if not all(name in scope for name in names):
            return
        inputs = [scope[name] if name else None for name in node.inputs]
        try:
            self._add_node(node, inputs, scope, opsets)
        except (Refusal, VerifyException) as problem:
            hint = problem.hint if isinstance(problem, Refusal) else None
            if isinstance(problem, UnknownElements):
                hint = _hint_to_values(inputs)
            elif isinstance(problem, UnknownSize):
                hint = RANGES_HINT
            text = f"'{node.full_type}' node {problem}"
            self.problems.append(Diagnostic(text, self.place(node), node.name, hint))

    def place(self, node: OnnxNode) -> str:
        """Return where messages say that a node is."""
        return self.name

    def location(self, node: OnnxNode) -> LocationAttr:
        """Return the location of the ops that a node becomes."""
        return NameLoc(StringAttr(node.name), UnknownLoc())

    def find_mapping(self, node: OnnxNode, opsets: Mapping[str, int]) -> OpMapping | None:
        """Return what makes the ops of a node; None where nothing is registered for it."""
        return find_mapping(node.full_type, opsets.get("", 1))

    def _add_node(
        self,
        node: OnnxNode,
        inputs: Sequence[Value | None],
        scope: Scope,
        opsets: Mapping[str, int],
    ) -> None:
        function = self.model.functions.get(node.function_name)
        if function is not None:
            self._inline(node, function, inputs, scope)
            return
        resolve = OF_GRAPHS.get(node.full_type)
        if resolve is not None:
            made = resolve(self, node, inputs, scope, opsets)
            scope.update(_named(node, made))
            return
        node, inputs = in_later_form(self.emit, node, inputs, opsets.get("", 1))
        folded = known_results(node, inputs)
        if folded is not None:
            known = [Value("", elements=elements) for elements in folded]
            scope.update(_named(node, known))
            return
        mapping = self.find_mapping(node, opsets)
        if mapping is None:
            function = standard_function(node, opsets, [self._type(each) for each in inputs])
            if function is not None:
                self._inline(node, function, inputs, scope)
                return
            self._unsupported.setdefault(node.full_type, []).append(node)
            return
        before = self.function.block.last_op
        results = self._call(mapping, node, inputs, opsets)
        sources = sorted({one for each in inputs if each for one in each.sources})
        made = [each and Value("", each, sources=sources) for each in results]
        scope.update(_named(node, made))
        offer_results(node, inputs, scope)
        if node.metadata and node.outputs and node.outputs[0] in scope:
            self._keep_metadata(node.metadata, scope[node.outputs[0]], before)

    def _type(self, value: Value | None) -> tuple[str, Sequence[int]] | None:
        """Return the dtype and the shape of a value."""
        if value is None:
            return None
        if value.elements is not None:
            sizes = value.elements.dtype.kind == "O"
            return "int64" if sizes else value.elements.dtype.name, value.elements.shape
        assert value.tensor is not None
        return dtype_of(self.emit, value.tensor), tensor_shape(value.tensor)

    def _keep_metadata(
        self, metadata: Mapping[str, JsonValue], value: Value, before: Operation | None
    ) -> None:
        """Mark the op that makes a value; where it is none of the node's, a new one."""
        assert value.tensor is not None
        own, last = list[Operation](), self.function.block.last_op
        while last is not None and last is not before:
            own.append(last)
            last = last.prev_op
        if value.tensor.owner not in own:  # a Reshape to the same shape, say
            value.tensor = self.emit(IdentityOp(value.tensor))
            value.tensor.name_hint = name_hint(value.name)
        owner = value.tensor.owner
        assert isinstance(owner, Operation)
        owner.attributes[METADATA] = metadata_attribute(metadata)

    def _call(
        self,
        mapping: OpMapping,
        node: OnnxNode,
        inputs: Sequence[Value | None],
        opsets: Mapping[str, int],
    ) -> Sequence[SSAValue | None]:
        self.emit.location = self.location(node)
        self.emit.outputs = len(node.outputs)
        self.emit.output_types = self._declared(node)
        used = [bool(name) and name in self._read for name in node.outputs]
        self.emit.is_used = lambda index: index < len(used) and used[index]
        given = [self._input(each) for each in inputs]
        while given and given[-1] is None:
            given.pop()
        dtypes = [each and self._held_dtype(each) for each in inputs]
        if any(dtypes):
            given = prepared_inputs(self.emit, node.full_type, given, dtypes)
        arguments = bind(mapping.parameters, given, node.attributes)
        check_arguments(node.full_type, mapping, arguments)
        made: Result = mapping.function(self.emit, **arguments)
        if made is None:
            return []
        results = [made] if isinstance(made, SSAValue) else made
        if not any(dtypes):
            return results
        sources = type_sources(node, opsets)
        return held_results(self.emit, node.op_type, results, sources, dtypes)

    def _held_dtype(self, value: Value) -> str | None:
        """Return the dtype of a value of which the dialect has no tensors."""
        if value.elements is not None:
            return value.elements.dtype.name if value.elements.dtype.name in HELD else None
        return None if value.tensor is None else self.emit.held.get(value.tensor)

    def _declared(self, node: OnnxNode) -> Sequence[AnyTensor]:
        """Return the types of a node's outputs where the graph says them all."""
        said = {each.name: each for each in self.model.graph.outputs}
        types: list[AnyTensor] = []
        for name in node.outputs:
            shape = said[name].shape if name in said else None
            if shape is None or not isa(shape, Sequence[int]):
                return ()
            types.append(TensorType(element_of(said[name].dtype), shape))
        return types

    def _input(self, value: Value | None) -> Input:
        if value is None:
            return None
        if value.elements is None and value.offered is None:
            return value.tensor
        return Known(lambda: self.elements(value), lambda: self.tensor(value))

    def elements(self, value: Value) -> Array:
        """Return the elements of a value that has some, or to which some are offered."""
        if value.elements is not None:
            return value.elements
        assert value.offered is not None
        self.looked_up.extend(value.sources)
        return value.offered

    def tensor(self, value: Value) -> SSAValue:
        """Return the tensor of a value; known elements become a parameter or a constant.

        Raises Refusal for a dtype that this dialect does not have.
        """
        if value.tensor is None:
            assert value.elements is not None
            # Around the body of a loop, so that what follows the loop may read it too.
            block, self.emit.block = self.emit.block, self.function.block
            try:
                value.tensor = self._of_elements(value.name, value.elements)
            finally:
                self.emit.block = block
        return value.tensor

    def _of_elements(self, name: str, elements: Array) -> SSAValue:
        if elements.dtype.kind == "O":
            sizes: Sequence[int] = elements.reshape(-1).tolist()
            return numbers_of_sizes(self.emit, sizes, elements.shape)
        array, dtype = held_array(elements), elements.dtype.name
        element = element_of(dtype)
        if self._is_filled(array):
            made = self.emit.full(array.shape, array.flat[0].item(), element)
        elif self._is_weight(array):
            type: AnyTensor = TensorType(element, array.shape)
            check_elements(type)
            self.weights[name] = array
            made = self.function.add_argument(ArgumentKind.PARAMETER, name, type)
        else:
            made = self.emit.array(array, element)
            made.name_hint = name_hint(name)
        if dtype in HELD:
            self.emit.held[made] = dtype
        return made

    def _is_filled(self, array: Array) -> bool:
        """Whether known floats are one number on several axes, as exporters write empty masks."""
        is_tensor = self.writes_numbers and array.dtype.kind == "f" and array.ndim > 1
        if not is_tensor or array.size < 2 or (array.flat[:64] != array.flat[0]).any():
            return False
        return bool((array == array.flat[0]).all())

    def _is_weight(self, array: Array) -> bool:
        """Whether known elements are a parameter: floats, but for numbers, and what is large."""
        is_number = array.ndim == 0 or (self.writes_numbers and array.size == 1)
        return (array.dtype.kind == "f" and not is_number) or array.size > INLINE_ELEMENTS

    def _inline(
        self,
        node: OnnxNode,
        function: OnnxFunction,
        inputs: Sequence[Value | None],
        scope: Scope,
    ) -> None:
        """Import a function's body in the place of its call."""
        if len(inputs) > len(function.inputs):
            raise Refusal(f"expected {len(function.inputs)} inputs, got {len(inputs)}")
        inner: Scope = {
            name: value
            for name, value in zip(function.inputs, inputs, strict=False)
            if value is not None
        }
        name = node.full_type
        if name in self._calls:
            raise Refusal(f"expected a function that does not call itself, got '{name}'")
        self._calls.append(name)
        for each in body_of_call(node, function, list(inner)):
            self._read |= {*each.inputs, *function.outputs}
            self.add_node(each, inner, function.opsets or self.model.opsets)
        self._calls.pop()
        for outer, name in zip(node.outputs, function.outputs, strict=False):
            if outer and name in inner:
                scope[outer] = inner[name]

    def body(
        self,
        body: OnnxGraph,
        arguments: Sequence[Value | None],
        scope: Scope,
        opsets: Mapping[str, int],
    ) -> list[Value | None]:
        """Import the body of control flow, which reads what is around it; return its outputs."""
        inner: Scope = dict(scope)
        self._add_initializers(body, inner)
        for formal, value in zip(body.inputs, arguments, strict=False):
            if value is not None:
                inner[formal.name] = value
        self._read |= _names_read(body)
        for each in body.nodes:
            self.add_node(each, inner, opsets)
        return [inner.get(output.name) for output in body.outputs]

    def step(
        self,
        node: OnnxNode,
        body: OnnxGraph,
        arguments: Sequence[Value],
        scope: Scope,
        opsets: Mapping[str, int],
    ) -> list[Value]:
        """Import a body as a step of a loop; return its outputs.

        Raises Refusal, and forgets the problems of the body, where it is more than ops on tensors
        whose elements are those of the dialect.
        """
        problems = len(self.problems)
        unsupported = {name: [*nodes] for name, nodes in self._unsupported.items()}
        for formal, each in zip(body.inputs, arguments, strict=True):
            if each.tensor is not None:
                each.tensor.name_hint = name_hint(formal.name)
        outputs = self.body(body, arguments, scope, opsets)
        is_whole = len(self.problems) == problems and self._unsupported == unsupported
        del self.problems[problems:]
        self._unsupported = unsupported
        made = [each for each in outputs if each is not None]
        if not is_whole or len(made) < len(outputs):
            raise Refusal("expected a step of ops on tensors")
        if self.emit.held.keys() & {each.tensor for each in (*arguments, *made)}:
            raise Refusal("expected a step of ops on elements of the dialect")
        self.emit.location = self.location(node)
        return made

    @property
    def has_unsupported(self) -> bool:
        """Whether a node was met that nothing is registered for, and that is not reported yet."""
        return bool(self._unsupported)

    def report_unsupported(self) -> None:
        """Report the ops that nothing is registered for, each once, with its nodes."""
        known = [each.name for each in ONNX]
        unsupported, self._unsupported = self._unsupported, {}
        for name, nodes in sorted(unsupported.items()):
            more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
            hint = did_you_mean(name, known, "the page of formats lists what is supported")
            text = f"unsupported op '{name}' of node '{nodes[0].name}'{more}"
            if name in REASONS:
                text, hint = f"{text}: {REASONS[name]}", "gawee_dialect.onnx_backend runs it"
            self.problems.append(Diagnostic(text, self.place(nodes[0]), hint=hint))

    def outputs(self, scope: Scope) -> list[SSAValue]:
        """Return the graph's outputs; those of refused nodes are left out."""
        found: list[SSAValue] = []
        for output in self.model.graph.outputs:
            value = scope.get(output.name)
            if value is not None:
                self._take_output(output, value, found)
            elif not self.problems:
                text = f"expected a node that makes graph output '{output.name}', got none"
                self.problems.append(Diagnostic(text, self.name))
        return found

    def _take_output(self, output: OnnxValue, value: Value, found: list[SSAValue]) -> None:
        try:
            tensor = self.tensor(value)
        except UnknownSize as problem:
            text = f"graph output '{output.name}': {problem}"
            self.problems.append(Diagnostic(text, self.name, hint=RANGES_HINT))
            return
        except Refusal as problem:
            text = f"graph output '{output.name}': {problem.message}"
            self.problems.append(Diagnostic(text, self.name, hint=problem.hint))
            return
        known = output.shape is not None and all(isinstance(size, int) for size in output.shape)
        if known and not self.shapes and tensor_shape(tensor) != tuple(output.shape or ()):
            sizes = [int(size) for size in output.shape or ()]
            text = f"expected graph output '{output.name}' of shape {shape_text(sizes)}"
            got = shape_text(tensor_shape(tensor))
            self.problems.append(Diagnostic(f"{text}, got {got}", self.name))
        found.append(tensor)


def _hint_to_values(inputs: Sequence[Value | None]) -> str:
    """Return what makes known what the integers that a node reads are computed of."""
    integers = [
        each for each in inputs if each and each.tensor and not is_float(element_type(each.tensor))
    ]
    sources = sorted({one for each in integers for one in each.sources})
    flags = " ".join(f"--value {name}=..." for name in sources[:MAX_NAMED])
    backend = "gawee_dialect.onnx_backend runs it on any"
    return f"{flags} gives the elements of inputs; {backend}" if flags else backend


def _names_read(graph: OnnxGraph) -> set[str]:
    names = {name for node in graph.nodes for name in node.inputs}
    inner = [
        value
        for node in graph.nodes
        for value in node.attributes.values()
        if isinstance(value, OnnxGraph)
    ]
    return names.union({each.name for each in graph.outputs}, *map(_names_read, inner))


def _named(node: OnnxNode, values: Sequence[Value | None]) -> Scope:
    """Return the outputs of a node that are there and have a name, by name."""
    found: Scope = {}
    for name, value in zip(node.outputs, values, strict=False):
        if not name or value is None:
            continue
        found[name] = value
        value.name = value.name or name
        if value.tensor is not None:
            value.tensor.name_hint = value.tensor.name_hint or name_hint(name)
    return found
