"""The backend of `torch.compile(model, backend="gawee")`.

TorchDynamo finds the graphs of a model, AOTAutograd makes them functional and takes their ops
apart; what it calls the inference graph is imported and compiled here, once for each set of shapes.
Weights are arguments of such a graph. They are bound once, and again when one of them was written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.backend.batched import BatchedModel
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.prepared_family import PreparedFamily
from gawee_dialect.backend.program import Program
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.compilation import program_of
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.npu_ir.convert import Converter
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, TensorMeta
from gawee_dialect.frontends.npu_ir.pytorch import (
    GraphModule,
    Tensor,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.model import Model
from gawee_dialect.pytorch.image_places import ImagePlaces, image_places, shape_key
from gawee_dialect.pytorch.open_sizes import has_open_sizes, with_sizes
from gawee_dialect.pytorch.tensors import Array, array_of_tensor, tensor_of_array

logger = logging.getLogger(__name__)

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
    """A functional graph, compiled when its shapes are known, and again for other shapes.

    Where it computes of each image by itself, what is compiled takes any number of them.
    """

    def __init__(self, graph: GraphModule, static: frozenset[int]) -> None:
        self._graph = graph
        self._static = static
        self._places = image_places(graph, static)
        if has_open_sizes(graph):
            import_module("gawee_dialect.passes.pipelines")  # passes stay: they are needed again
        self._compiled: dict[object, StaticGraph] = {}
        self._family = PreparedFamily()
        self._mixes = False

    def __call__(self, *args: object) -> Sequence[object]:
        """Run on tensors, and on numbers where a size is one."""
        places = None if self._mixes else self._places
        key = tuple(map(shape_key, args)) if places is None else places.key(args)
        if key not in self._compiled:
            self._compiled[key] = self._compile(args, places)
        return self._compiled[key].run(args)

    def _compile(self, args: Sequence[object], places: ImagePlaces | None) -> StaticGraph:
        if places is not None:
            try:
                return self._of_images(args, places)
            except GaweeError as error:
                # Graphs that mix images are usual: nobody asked for one code here.
                logger.info("compiled for each number of images: %s", error.diagnostics[0])
                self._mixes = True
        graph = ConvertedGraph(with_sizes(self._graph, args), self._static)
        program = _program(import_ir(graph.ir))
        return StaticGraph(graph, CompiledModel(program, family=self._family))

    def _of_images(self, args: Sequence[object], places: ImagePlaces) -> StaticGraph:
        """Compile for any number of images; raises GaweeError."""

        def converted(images: int) -> ConvertedGraph:
            return ConvertedGraph(
                with_sizes(self._graph, places.resized(args, images)), self._static
            )

        found = places.images(args)
        images = max(2, found) if isinstance(found, int) else 2
        graph = converted(images)
        axes = {graph.names[index]: axis for index, axis in places.axes.items()}

        def other() -> ModuleOp:
            another = converted(images + 1)
            if another.numbers != graph.numbers:
                raise GaweeError("a graph returns how many images there are")
            return import_ir(another.ir)

        module, arguments = Model(import_ir(graph.ir)).for_one_image(axes, other)
        return StaticGraph(graph, BatchedModel(_program(module), None, arguments))


def _program(module: ModuleOp) -> Program:
    with no_garbage_collection():
        return program_of(module, CodeOptions(), cache=True)


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


class ConvertedGraph:
    """A graph of known shapes as NPU_IR; its outputs may also be inputs, numbers and None."""

    def __init__(self, graph: GraphModule, static: frozenset[int]) -> None:
        converter = Converter()
        given = sum(node.op == "placeholder" for node in graph.graph.nodes)
        self.constants = lift_constants(graph)
        static |= frozenset(range(given, given + len(self.constants)))
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        metas = [
            converter.add_placeholder(node, weight=index in static)
            for index, node in enumerate(placeholders)
        ]
        returned = converter.convert(graph)
        self.returned: Sequence[object] = returned if is_sequence(returned) else [returned]
        self.names = {i: meta.name for i, meta in enumerate(metas) if meta is not None}
        self.weights = {i: name for i, name in self.names.items() if i in static}
        by_kind: tuple[list[TensorMeta], list[TensorMeta]] = ([], [])
        for index, meta in enumerate(metas):
            if meta is not None:
                by_kind[index in static].append(meta)
        outputs = [each for each in self.returned if isinstance(each, TensorMeta)]
        inputs, weights = by_kind
        self.ir = NPU_IR(converter.nodes, inputs, outputs, weights)

    @property
    def numbers(self) -> Sequence[object]:
        """What is returned, without the tensors."""
        return [None if isinstance(each, TensorMeta) else each for each in self.returned]


class StaticGraph:
    """A compiled graph, called with what the graph of TorchDynamo is called with."""

    def __init__(self, graph: ConvertedGraph, native: CompiledModel) -> None:
        self._graph, self._native = graph, native
        self._bound: object = None
        self._held: Mapping[str, object] = {}

    def run(self, args: Sequence[object]) -> Sequence[object]:
        """Run on the arguments of the graph."""
        args = (*args, *self._graph.constants)
        self._bind(args)
        arrays: dict[str, Array] = {}
        for index, name in self._graph.names.items():
            value = args[index]
            if index not in self._graph.weights and is_tensor(value):
                arrays[name] = array_of_tensor(value)
        results = iter(self._native.run(arrays).values())
        return [
            tensor_of_array(next(results)) if isinstance(each, TensorMeta) else each
            for each in self._graph.returned
        ]

    def _bind(self, args: Sequence[object]) -> None:
        """Bind the weights where they are not those of the last call, unchanged since."""
        tensors = {name: args[index] for index, name in self._graph.weights.items()}
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
