"""The backend of `torch.compile(model, backend="gawee")`.

TorchDynamo finds the graphs of a model, AOTAutograd makes them functional and takes their ops
apart; what it calls the inference graph is imported and compiled here, once for each set of shapes.
Weights are arguments of such a graph. They are bound once, and again when one of them was written.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.frontends.npu_ir.convert import Converter
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, TensorMeta
from gawee_dialect.frontends.npu_ir.pytorch import (
    GraphModule,
    Tensor,
    is_graph_module,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.model import Model
from gawee_dialect.pytorch.tensors import Array, array_of_tensor, tensor_of_array

Compiled = Callable[..., Sequence[object]]
"""A graph that takes tensors by position and returns a list of them."""


def gawee_backend(graph: GraphModule, example_inputs: Sequence[object]) -> Compiled:
    """Compile a graph that TorchDynamo found.

    Graphs that gradients flow through stay with PyTorch. Raises ConversionError that lists every op
    that is not supported.
    """
    backends = import_module("torch._dynamo.backends.common")
    keep: Callable[[GraphModule, Sequence[object]], object] = import_module(
        "torch._functorch.compilers"
    ).nop
    decompositions: Mapping[object, object] = torch()._decomp.core_aten_decompositions()
    aot_autograd: Callable[..., Callable[..., Compiled]] = getattr(backends, "aot_autograd")
    compiler = aot_autograd(
        fw_compiler=keep, bw_compiler=keep, inference_compiler=_boxed, decompositions=decompositions
    )
    return compiler(graph, example_inputs)


def _boxed(graph: GraphModule, example_inputs: Sequence[object]) -> Compiled:
    make: Callable[[Compiled], Compiled] = import_module("functorch.compile").make_boxed_func
    return make(InferenceGraph(graph, static_inputs()))


def static_inputs() -> frozenset[int]:
    """Return the positions of the graph's inputs that are weights, as AOTAutograd notes them."""
    guards = import_module("torch._guards")
    context: object = guards.TracingContext.try_get()
    metadata: object = getattr(context, "fw_metadata", None)
    indices: object = getattr(metadata, "static_input_indices", None)
    return (
        frozenset(index for index in indices if isinstance(index, int))
        if is_sequence(indices)
        else frozenset()
    )


class InferenceGraph:
    """A functional graph, compiled when its shapes are known, and again for other shapes."""

    def __init__(self, graph: GraphModule, static: frozenset[int]) -> None:
        self._graph = graph
        self._static = static
        self._compiled: dict[object, StaticGraph] = {}

    def __call__(self, *args: object) -> Sequence[object]:
        """Run on tensors, and on numbers where a size is one."""
        key = tuple(_shape_key(each) for each in args)
        if key not in self._compiled:
            self._compiled[key] = StaticGraph(_with_sizes(self._graph, args), self._static)
        return self._compiled[key].run(args)


def _shape_key(value: object) -> object:
    return (tuple(value.shape), value.dtype) if is_tensor(value) else value


def _with_sizes(graph: GraphModule, args: Sequence[object]) -> GraphModule:
    """Return the graph with its sizes as numbers: traced again where some are symbols."""
    symbols = torch().SymInt
    values = [node.meta.get("val") for node in graph.graph.nodes]
    shapes = [value.shape for value in values if is_tensor(value)]
    symbolic = any(isinstance(value, symbols) for value in values)
    if not symbolic and all(isinstance(size, int) for shape in shapes for size in shape):
        return graph
    make_fx: Callable[..., Callable[..., object]] = import_module(
        "torch.fx.experimental.proxy_tensor"
    ).make_fx
    traced = make_fx(graph, tracing_mode="fake")(*args)
    assert is_graph_module(traced)
    return traced


def lift_constants(graph: GraphModule) -> list[Tensor]:
    """Make tensors that a graph holds itself its last inputs; return them."""
    nodes = list(graph.graph.nodes)
    held = [node for node in nodes if node.op == "get_attr"]
    constants: list[Tensor] = []
    body = next(node for node in nodes if node.op != "placeholder")
    for node in held:
        constant: object = getattr(graph, str(node.target))
        if not is_tensor(constant):
            continue
        constants.append(constant)
        with getattr(graph.graph, "inserting_before")(body):
            lifted = getattr(graph.graph, "placeholder")(f"constant_{len(constants)}")
        lifted.meta["val"] = constant
        getattr(node, "replace_all_uses_with")(lifted)
    return constants


class StaticGraph:
    """A compiled graph of known shapes; its outputs may also be inputs, numbers and None."""

    def __init__(self, graph: GraphModule, static: frozenset[int]) -> None:
        converter = Converter()
        given = sum(node.op == "placeholder" for node in graph.graph.nodes)
        self._constants = lift_constants(graph)
        static |= frozenset(range(given, given + len(self._constants)))
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        metas = [
            converter.add_placeholder(node, weight=index in static)
            for index, node in enumerate(placeholders)
        ]
        returned = converter.convert(graph)
        self._returned: Sequence[object] = returned if is_sequence(returned) else [returned]
        self._inputs = {i: meta.name for i, meta in enumerate(metas) if meta is not None}
        self._weights = {i: name for i, name in self._inputs.items() if i in static}
        self._native = self._compile(converter, metas, static)
        self._bound: object = None
        self._held: Mapping[str, object] = {}

    def _compile(
        self,
        converter: Converter,
        metas: Sequence[TensorMeta | None],
        static: frozenset[int],
    ) -> CompiledModel:
        by_kind: tuple[list[TensorMeta], list[TensorMeta]] = ([], [])
        for index, meta in enumerate(metas):
            if meta is not None:
                by_kind[index in static].append(meta)
        self._outputs = [each for each in self._returned if isinstance(each, TensorMeta)]
        inputs, weights = by_kind
        ir = NPU_IR(converter.nodes, inputs, self._outputs, weights)
        return CompiledModel(Model(import_ir(ir)).lowered("llvm"))

    def run(self, args: Sequence[object]) -> Sequence[object]:
        """Run on the arguments of the graph."""
        args = (*args, *self._constants)
        self._bind(args)
        arrays: dict[str, Array] = {}
        for index, name in self._inputs.items():
            value = args[index]
            if index not in self._weights and is_tensor(value):
                arrays[name] = array_of_tensor(value)
        results = iter(self._native.run(arrays).values())
        return [
            tensor_of_array(next(results)) if isinstance(each, TensorMeta) else each
            for each in self._returned
        ]

    def _bind(self, args: Sequence[object]) -> None:
        """Bind the weights where they are not those of the last call, unchanged since."""
        tensors = {name: args[index] for index, name in self._weights.items()}
        state = [_state_of(each) for each in tensors.values()]
        if state == self._bound:
            return
        # While they are held, no other tensor can have their address.
        self._held = tensors
        needed = {buffer.name for buffer in self._native.parameters}
        self._native.rebind(
            {
                name: array_of_tensor(each)
                for name, each in tensors.items()
                if name in needed and is_tensor(each)
            }
        )
        self._bound = state


def _state_of(value: object) -> tuple[object, object]:
    """Return what is another one after a tensor was replaced or written."""
    assert is_tensor(value)
    return getattr(value, "data_ptr")(), _version(value)


def _version(tensor: Tensor) -> object:
    # Tensors made under inference_mode count no versions.
    return None if getattr(tensor, "is_inference")() else getattr(tensor, "_version")
