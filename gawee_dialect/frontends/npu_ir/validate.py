"""What in a graph contradicts what: names, producers, shapes, lists; all of it at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.frontends.npu_ir.ir import (
    GETITEM,
    LIST_NONE_MASKS,
    LIST_SIZES,
    NPU_IR,
    OpNode,
    SerializationError,
    TensorMeta,
    place_text,
    selected_input,
)

Infer = Callable[[OpNode], Sequence[tuple[tuple[int, ...], str]] | None]
"""Returns shape and dtype of a node's results by its op; None for an unknown op.

It raises GaweeError where the op refuses its inputs.
"""


def validate_ir(ir: NPU_IR, infer: Infer | None = None) -> None:
    """Check a graph; raises SerializationError that lists every problem.

    With `infer` the shapes that nodes declare are held against what their ops make.
    """
    problems = list(ir_problems(ir, infer))
    if problems:
        raise SerializationError(problems)


def ir_problems(ir: NPU_IR, infer: Infer | None = None) -> Iterator[Diagnostic]:
    """Yield every problem of a graph, in the order of its parts."""
    check = _Check(ir)
    yield from check.tensors("graph input", ir.graph_inputs, None)
    yield from check.tensors("weight", ir.weights, None)
    yield from check.sources()
    names: set[str] = set()
    for node in ir.nodes:
        yield from _node_problems(node, names)
        yield from check.inputs(node)
        yield from check.outputs(node)
        if infer is not None:
            yield from _inference_problems(node, infer)
        for graph in node.graphs.values():
            yield from ir_problems(graph, infer)
    yield from check.graph_outputs()


def _problem(node: OpNode, message: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic(message, place_text(node.place), node.name or None, hint)


def _described(tensor: TensorMeta) -> str:
    return f"{shape_text(tensor.shape)} of {tensor.dtype}"


@dataclass
class _Check:
    """The names that are known so far, and what checks use of them."""

    ir: NPU_IR
    values: dict[str, TensorMeta] = field(default_factory=dict[str, TensorMeta])
    weights: dict[str, TensorMeta] = field(default_factory=dict[str, TensorMeta])
    made_by: dict[str, list[TensorMeta]] = field(default_factory=dict[str, list[TensorMeta]])
    later: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.later = {node.name for node in self.ir.nodes}
        self.later |= {each.name for node in self.ir.nodes for each in node.outputs}

    def tensors(
        self, what: str, tensors: Sequence[TensorMeta], node: OpNode | None
    ) -> Iterator[Diagnostic]:
        """Check names, shapes and dtypes by themselves."""
        for index, each in enumerate(tensors):
            place = place_text(each.place) or (None if node is None else place_text(node.place))
            owner = None if node is None else node.name
            subject = f"{what} '{each.name}'" if each.name else f"{what} {index}"
            if not each.name:
                yield Diagnostic(f"expected {subject} to have a name", place, owner)
            if not each.dtype:
                yield Diagnostic(f"expected {subject} to have a dtype", place, owner)
            sizes = list[object](each.shape)
            if any(isinstance(size, bool) or not isinstance(size, int) for size in sizes):
                message = f"expected sizes of {subject} to be integers, got {sizes}"
                hint = "only static shapes are supported"
                yield Diagnostic(message, place, owner, hint)
            elif any(size < 0 for size in each.shape):
                message = f"expected sizes of {subject} of at least 0, got {sizes}"
                yield Diagnostic(message, place, owner)

    def sources(self) -> Iterator[Diagnostic]:
        """Take the names of graph inputs and weights, and check the names of the latter."""
        for each in self.ir.graph_inputs:
            yield from self._define(each, place_text(each.place), None)
            self.made_by[each.name] = [each]
        listed = [weight.name for weight in self.ir.weights]
        for weight in self.ir.weights:
            if listed.count(weight.name) > 1 and self.weights.get(weight.name) is None:
                message = f"expected one weight '{weight.name}', got {listed.count(weight.name)}"
                yield Diagnostic(message, place_text(weight.place))
            self.weights[weight.name] = weight
        for placeholder, name in self.ir.weight_name_mapping.items():
            if name not in self.weights:
                message = f"expected weight '{name}' of placeholder '{placeholder}' to be listed"
                yield Diagnostic(message, place_text(self.ir.place))
        self.values |= dict(self.ir.placeholders())
        yield from self._constants()

    def _constants(self) -> Iterator[Diagnostic]:
        for name, constant in self.ir.constants.items():
            weight = self.weights.get(name)
            if weight is None:
                message = f"expected constant '{name}' to be listed among the weights"
                yield Diagnostic(message, place_text(self.ir.place))
            elif constant.data.size or 0 not in weight.shape:
                got = TensorMeta(name, constant.data.shape, constant.dtype)
                if (got.shape, got.dtype) != (weight.shape, weight.dtype):
                    message = f"expected constant '{name}' {_described(weight)}"
                    yield Diagnostic(f"{message}, got {_described(got)}", place_text(weight.place))

    def _define(
        self, tensor: TensorMeta, place: str | None, node: str | None
    ) -> Iterator[Diagnostic]:
        if tensor.name in self.values:
            message = f"expected tensors to differ in name, got '{tensor.name}' twice"
            yield Diagnostic(message, place, node)
        self.values[tensor.name] = tensor

    def inputs(self, node: OpNode) -> Iterator[Diagnostic]:
        """Check that what a node reads is there, and is what the node says it is."""
        yield from self.tensors("input", node.inputs, node)
        for each in node.inputs:
            wrong = self._producer_problem(node, each)
            if wrong is not None:
                yield wrong
                continue
            source = self.values[each.name]
            if (source.shape, source.dtype) != (each.shape, each.dtype):
                message = f"expected input '{each.name}' {_described(source)} as it was made"
                yield _problem(node, f"{message}, got {_described(each)}")

    def _producer_problem(self, node: OpNode, tensor: TensorMeta) -> Diagnostic | None:
        """Return why an input is not where it says it is, None where it is."""
        name, producer = tensor.name, tensor.producer_node
        index = tensor.producer_output_idx
        hint = "nodes are listed in the order they run"
        if producer is not None and producer not in self.made_by:
            message = f"expected producer '{producer}' of input '{name}' to be an earlier node"
            return _problem(node, message, hint if producer in self.later else None)
        if producer is not None:
            made = self.made_by[producer]
            if not 0 <= index < len(made):
                message = f"expected output index of '{producer}' below {len(made)}, got {index}"
                return _problem(node, message)
            if made[index].name != name:
                message = f"expected output {index} of '{producer}' to be '{name}'"
                return _problem(node, f"{message}, got '{made[index].name}'")
        if name not in self.values:
            message = f"expected input '{name}' to be a graph input, a weight or an earlier result"
            return _problem(node, message, hint if name in self.later else None)
        return None

    def outputs(self, node: OpNode) -> Iterator[Diagnostic]:
        """Check what a node makes, and take the names."""
        yield from self.tensors("output", node.outputs, node)
        for each in node.outputs:
            yield from self._define(each, place_text(node.place), node.name)
        self.made_by[node.name] = node.outputs
        self.later -= {node.name, *(each.name for each in node.outputs)}

    def graph_outputs(self) -> Iterator[Diagnostic]:
        """Check that every graph output has a producer."""
        yield from self.tensors("graph output", self.ir.graph_outputs, None)
        for each in self.ir.graph_outputs:
            source = self.values.get(each.name)
            if source is None:
                message = f"expected a node that makes graph output '{each.name}', got none"
                yield Diagnostic(message, place_text(each.place))
            elif (source.shape, source.dtype) != (each.shape, each.dtype):
                message = f"expected graph output '{each.name}' {_described(source)} as it was made"
                yield Diagnostic(f"{message}, got {_described(each)}", place_text(each.place))


def _node_problems(node: OpNode, names: set[str]) -> Iterator[Diagnostic]:
    """Check one node by itself, then add its name."""
    if not node.name:
        yield _problem(node, f"expected a node of '{node.op_type}' to have a name")
    elif node.name in names:
        yield _problem(node, f"expected nodes to differ in name, got '{node.name}' twice")
    names.add(node.name)
    if not node.op_type:
        yield _problem(node, "expected node to have an op_type")
    if node.op_type == GETITEM and selected_input(node) is None:
        index, count = node.attrs.get("index"), len(node.inputs)
        yield _problem(node, f"expected index of getitem below {count}, got {index}")
    yield from _list_problems(node)


def _list_problems(node: OpNode) -> Iterator[Diagnostic]:
    sizes = node.attrs.get(LIST_SIZES, [])
    masks = node.attrs.get(LIST_NONE_MASKS, [])
    if not isa(sizes, list[int]) or any(size < 0 for size in sizes):
        yield _problem(node, f"expected '{LIST_SIZES}' to be a list of sizes, got {sizes}")
    elif sum(sizes) > len(node.inputs):
        message = f"expected lists of {sum(sizes)} tensors, got {len(node.inputs)} inputs"
        yield _problem(node, message)
    elif not isa(masks, list[list[bool]]):
        yield _problem(node, f"expected '{LIST_NONE_MASKS}' to be lists of booleans, got {masks}")
    else:
        counts = [mask.count(False) for mask in masks]
        if (len(counts) == len(sizes) and counts != sizes) or not _within(counts, sizes):
            message = f"expected masks of {sizes} tensors, got masks of {counts}"
            yield _problem(node, message)


def _within(counts: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether counts are some of the sizes, in their order."""
    remaining = iter(sizes)
    return all(count in remaining for count in counts)


def _inference_problems(node: OpNode, infer: Infer) -> Iterator[Diagnostic]:
    try:
        inferred = infer(node)
    except GaweeError as error:
        yield from (_problem(node, each.message, each.hint) for each in error.diagnostics)
        return
    if inferred is None:
        return
    declared = [(each.shape, each.dtype) for each in node.outputs]
    if len(inferred) != len(declared):
        message = f"expected {len(inferred)} outputs of '{node.op_type}', got {len(declared)}"
        yield _problem(node, message)
        return
    for index, (wanted, got) in enumerate(zip(inferred, declared, strict=True)):
        if wanted != got:
            texts = [f"{shape_text(shape)} of {dtype}" for shape, dtype in (wanted, got)]
            yield _problem(node, f"expected output {index} {texts[0]}, got {texts[1]}")
