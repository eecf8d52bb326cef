"""The backend of `torch.compile(model, backend="gawee")`.

TorchDynamo finds the graphs of a model, AOTAutograd makes them functional and takes their ops
apart; what it calls the inference graph is imported and compiled here, once for each set of shapes.
Weights are arguments of such a graph. They are bound once, and again when one of them was written.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from traceback import walk_stack
from weakref import WeakSet

from xdsl.dialects.builtin import ModuleOp

import gawee_dialect
from gawee_dialect.backend.batched import BatchedModel
from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.backend.prepared_family import PreparedFamily
from gawee_dialect.backend.program import Program
from gawee_dialect.code_options import EXACT, FAST, CodeOptions
from gawee_dialect.compilation import program_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError, nearest
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.pytorch import GraphModule, is_sequence, library_folder, torch
from gawee_dialect.frontends.npu_ir.trace import core_decompositions
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.model import Model
from gawee_dialect.pytorch import background
from gawee_dialect.pytorch.compilation_process import CompilationProcess, InterpreterEnds
from gawee_dialect.pytorch.cut_graph import (
    CutGraph,
    Failure,
    call_functions_directly,
    failure_of,
    forward_of,
    without_data,
)
from gawee_dialect.pytorch.explanation import (
    ExplainedGraph,
    Explanation,
    explained,
    explained_whole,
)
from gawee_dialect.pytorch.image_places import ImagePlaces, image_places, shape_key
from gawee_dialect.pytorch.open_graph import (
    OpenGraph,
    has_open_sizes,
    inputs_of_other_shapes,
    numbers_of_symbols,
    open_graph,
    ranges_of_symbols,
    with_sizes,
)
from gawee_dialect.pytorch.partition import (
    Part,
    elements_of,
    is_getitem,
    is_view,
    static_inputs_of,
    tensors_of,
    views_of_inputs,
    with_outputs,
)
from gawee_dialect.pytorch.static_graph import ConvertedGraph, StaticGraph

# What `torch.compile(model, backend="gawee", options={...})` may say.


@dataclass(frozen=True)
class BackendOptions:
    """How graphs are compiled that TorchDynamo found."""

    background: bool = False
    """Whether PyTorch runs a graph, as it is, until the code for its shapes is ready."""
    fallback: bool = True
    """Whether PyTorch runs what is not supported; otherwise that is an error."""

    @staticmethod
    def of(given: Mapping[str, object] | None) -> BackendOptions:
        """Return what a user gave; raises GaweeError that lists all that is not right."""
        given = given or {}
        known = [field.name for field in fields(BackendOptions)]
        problems = [
            Diagnostic(
                f"unknown option '{name}' of backend 'gawee'; expected: {', '.join(known)}",
                _place_of_call(),
                hint=nearest(name, known),
            )
            for name in given
            if name not in known
        ]
        for name in known:
            value = given.get(name, False)
            if not isinstance(value, bool):
                message = f"expected option '{name}' to be True or False, got {value!r}"
                problems.append(Diagnostic(message, _place_of_call()))
        if problems:
            raise GaweeError(problems)
        return BackendOptions(**{name: value is True for name, value in given.items()})


def _place_of_call() -> str | None:
    """Return the line of the user's that calls what PyTorch is compiling."""
    ours = (library_folder(), str(Path(gawee_dialect.__file__).parent), "<")
    for frame, line in walk_stack(None):
        if not frame.f_code.co_filename.startswith(ours):
            return f"{frame.f_code.co_filename}:{line}"
    return None


logger = logging.getLogger(__name__)

Compiled = Callable[..., Sequence[object]]
"""A graph that takes tensors by position and returns a list of them."""


Run = Callable[[Sequence[object]], Sequence[object]]
"""Runs a graph on its arguments, and returns a list of what it returns."""

GRADIENTS = (
    "nothing is compiled: gradients flow through this graph, which stays with PyTorch\n"
    "hint: call the model under torch.no_grad() or torch.inference_mode(), or "
    "model.requires_grad_(False)"
)

_told: set[str] = set()
"""What is said once in a process."""

_dynamo: object = import_module("torch._dynamo.config")
if hasattr(_dynamo, "allow_rnn"):
    setattr(_dynamo, "allow_rnn", True)  # otherwise no graph has LSTM and GRU modules


def gawee_backend(
    graph: GraphModule,
    example_inputs: Sequence[object],
    *,
    options: Mapping[str, object] | None = None,
    seen: Callable[[InferenceGraph], object] = lambda graph: None,
) -> Compiled:
    """Compile a graph that TorchDynamo found.

    Graphs that gradients flow through stay with PyTorch, and so does of others what is not
    supported. With `options={"background": True}` all do until their code is ready; with
    `{"fallback": False}` what is not supported is a ConversionError that lists every such op.
    Raises GaweeError for another option. `seen` gets each graph.
    """
    chosen = BackendOptions.of(options)
    boxed: Callable[[Compiled], Compiled] = import_module("functorch.compile").make_boxed_func

    native: list[InferenceGraph] = []

    def compiled(graph: GraphModule, example_inputs: Sequence[object]) -> Compiled:
        # Where sizes are symbols, AOTAutograd goes by where views of inputs lie in memory.
        views = views_of_inputs(graph) if has_open_sizes(graph) else ()
        rest = with_outputs(graph, lambda place: place not in views) if views else graph
        if not computes(rest):
            return boxed(forward_of(graph))
        native.append(InferenceGraph(rest, static_inputs(), chosen))
        seen(native[-1])
        return boxed(_with_views(native[-1], graph, views) if views else native[-1])

    def kept(graph: GraphModule, example_inputs: Sequence[object]) -> Compiled:
        _tell_of_gradients()
        return keep(graph, example_inputs)

    if returns_gradients(graph):
        _tell_of_gradients()
        call_functions_directly(graph)
        return forward_of(graph)
    keep: Callable[[GraphModule, Sequence[object]], Compiled] = import_module(
        "torch._functorch.compilers"
    ).nop
    backends = import_module("torch._dynamo.backends.common")
    aot_autograd: Callable[..., Callable[..., Compiled]] = getattr(backends, "aot_autograd")
    compiler = aot_autograd(
        fw_compiler=kept,
        bw_compiler=keep,
        inference_compiler=compiled,
        decompositions=_decompositions(),
    )
    run = compiler(graph, example_inputs)
    # A call through AOTAutograd takes 10 us more than the graph that TorchDynamo found.
    return run if native else forward_of(graph)


def _decompositions() -> Mapping[object, object]:
    """Return how ops are taken apart; what draws random numbers is not, so as to draw the same."""
    seeded: object = torch().Tag.nondeterministic_seeded
    return {
        op: function
        for op, function in core_decompositions().items()
        if seeded not in getattr(op, "tags", ())
    }


def returns_gradients(graph: GraphModule) -> bool:
    """Whether gradients flow through a graph of TorchDynamo, as it notes of what is returned."""
    output = next(node for node in graph.graph.nodes if node.op == "output")
    values = (node.meta.get("example_value") for node in output.all_input_nodes)
    return torch().is_grad_enabled() and any(
        getattr(each, "requires_grad", False) for each in values
    )


def computes(graph: GraphModule) -> bool:
    """Whether a graph of ATen ops does more than take views of its inputs."""
    calls = (node for node in graph.graph.nodes if node.op == "call_function")
    return not all(is_view(node) or is_getitem(node) for node in calls)


def _with_views(rest: Compiled, graph: GraphModule, views: Collection[int]) -> Compiled:
    """Return what runs a graph of which PyTorch makes the outputs at some places."""
    made_by_pytorch = forward_of(with_outputs(graph, lambda place: place in views))

    def run(*args: object) -> Sequence[object]:
        outputs = [*rest(*args)]
        for place, view in zip(views, made_by_pytorch(*args), strict=True):
            outputs.insert(place, view)
        return outputs

    return run


FEW = 16
"""Of so few values the deviation may be next to nothing by chance: a rounding error divided by it
is as large as the values. A training step of inception_v3 on two small images, whose last layers
normalise two values each, has 4 times eager's error with Winograd's F(4x4), 2.5 times without."""


def takes_statistics_of_few(graph: GraphModule) -> bool:
    """Whether a graph of known shapes normalises a batch by statistics of fewer than FEW values."""
    op: object = torch().ops.aten._native_batch_norm_legit_functional.default
    for node in graph.graph.nodes:
        if node.target is op and node.args[5] is True:
            values, means, *_ = tensors_of(node)
            if elements_of(values) < FEW * elements_of(means):
                return True
    return False


def _tell_of_gradients() -> None:
    if GRADIENTS not in _told:
        _told.add(GRADIENTS)
        logger.warning(GRADIENTS)


def static_inputs() -> frozenset[int]:
    """Return the positions of the graph's inputs that are weights, as AOTAutograd notes them.

    Those that the graph changes are none: they would be bound again in every call.
    """
    guards = import_module("torch._guards")
    context: object = guards.TracingContext.try_get()
    metadata: object = getattr(context, "fw_metadata", None)
    indices: object = getattr(metadata, "static_input_indices", None)
    changed: object = getattr(metadata, "mutated_inp_runtime_indices", None)
    found, others = (
        {index for index in each if isinstance(index, int)} if is_sequence(each) else set[int]()
        for each in (indices, changed)
    )
    tokens: Mapping[object, object] = getattr(metadata, "tokens", {})
    before = len(tokens)  # they come before all other inputs of the graph
    return frozenset(found - {index + before for index in others})


class InferenceGraph:
    """A functional graph, compiled when its shapes are known, and again for other shapes.

    Where it computes of each image by itself, what is compiled takes any number of them. Where
    something of it cannot be compiled it is cut, once for all shapes.
    """

    def __init__(self, graph: GraphModule, static: frozenset[int], options: BackendOptions) -> None:
        self._graph = graph
        self._static = static
        self._options = options
        self._places = image_places(graph, static)
        self._other_shapes = inputs_of_other_shapes(graph, static)
        self._ready: dict[object, Run] = {}
        self._family = PreparedFamily()
        self._mixes = False
        self._has_open_sizes = has_open_sizes(graph) and not options.background
        """Whether one code may be for all sizes."""
        self._open: OpenGraph | None = None
        self._told: set[str] = set()
        self._shapes: Sequence[object] | None = None
        self._cut: CutGraph | None = None
        self.forget_threads()
        _graphs.add(self)
        if self._has_open_sizes:
            import_module("gawee_dialect.passes.pipelines")  # passes stay: they are needed again

    def forget_threads(self) -> None:
        """Release the lock of this graph: a forked process has none of the threads that held it."""
        self._lock = threading.Lock()
        self._compiling: dict[object, threading.Thread] = {}

    def __call__(self, *args: object) -> Sequence[object]:
        """Run on tensors, and on numbers where a size is one."""
        run = self._ready.get(self._key(args))
        if run is None:
            run = self._meanwhile(args) if self._options.background else self._compiled(args)
        return run(args)

    def _key(self, args: Sequence[object]) -> object:
        """Return what is equal for arguments that the same code takes."""
        if self._places is None or self._mixes:
            return tuple([shape_key(args[index]) for index in self._other_shapes])
        return self._places.key(args)

    def _meanwhile(self, args: Sequence[object]) -> Run:
        """See to it that these shapes are compiled; return what runs until then."""
        key = self._key(args)
        thread = self._compiling.get(key)
        if thread is None or not thread.is_alive():
            shapes = without_data(args, self._static)
            self._compiling[key] = background.start(lambda: self._compile_or_tell(shapes))
        return self._run_by_pytorch

    def _run_by_pytorch(self, args: Sequence[object]) -> Sequence[object]:
        return forward_of(self._graph)(*args)

    def _compile_or_tell(self, args: Sequence[object]) -> None:
        """Compile in a thread of its own; where that cannot be, PyTorch goes on."""
        try:
            failure = failure_of(lambda: self._compiled(args))
        except InterpreterEnds:
            return
        if failure is not None:
            self.leave(args, failure)

    def leave(self, args: Sequence[object], failure: Failure) -> None:
        """Leave some shapes to PyTorch, and report why."""
        self._tell(f"a graph stays with PyTorch:\n{failure}", failure.bug)
        self._ready[self._key(args)] = self._run_by_pytorch

    def _tell(self, text: str, bug: Exception | None) -> None:
        if text not in self._told:
            self._told.add(text)
            logger.warning("%s", text, exc_info=bug)

    def _compiled(self, args: Sequence[object]) -> Run:
        """Compile for the shapes of some arguments, once; raises GaweeError without fallback."""
        with self._lock:
            if self._key(args) not in self._ready:
                # All others would have their garbage too, where this goes on beside them.
                with nullcontext() if self._options.background else no_garbage_collection():
                    run = self._whole_or_cut(args)
                self._ready[self._key(args)] = run
            return self._ready[self._key(args)]

    def _whole_or_cut(self, args: Sequence[object]) -> Run:
        if self._shapes is None:
            self._shapes = without_data(args, frozenset())
        if self._cut is not None:
            self._cut.prepare(args)
            return self._cut.run
        made: list[Run] = []
        if not self._options.fallback:
            return self._whole(args)
        failure = failure_of(lambda: made.append(self._whole(args)))
        if failure is None:
            return made[0]
        cuts: list[CutGraph] = []
        broken = failure_of(lambda: cuts.append(CutGraph(self._graph, args, failure, self._part)))
        if broken is not None:
            self.leave(args, broken)
            return self._run_by_pytorch
        self._cut = cuts[0]
        self._tell(str(self.explained()), self._cut.bug)
        return self._cut.run

    def _whole(self, args: Sequence[object]) -> Run:
        """Compile the whole graph; raises GaweeError."""
        made = self._compile(args)
        made.bind(args)
        return made.run

    def prepare(self, args: Sequence[object]) -> None:
        """Compile the whole graph for the shapes of some arguments; raises whatever stops that."""
        with self._lock:
            if self._key(args) not in self._ready:
                self._ready[self._key(args)] = self._whole(args)

    def _part(self, part: Part) -> InferenceGraph:
        placeholders = [node for node in self._graph.graph.nodes if node.op == "placeholder"]
        static = [placeholders[index] for index in self._static]
        return InferenceGraph(part.graph, static_inputs_of(part, static), self._options)

    @property
    def was_called(self) -> bool:
        """Whether it was compiled for any shapes."""
        return self._shapes is not None

    def explained(self, *, unlocks: bool = False) -> ExplainedGraph:
        """Tell what of it is compiled; `unlocks` as for `explanation.explained`."""
        if self._cut is not None:
            cut = self._cut
            return explained(cut.partition, cut.nodes, cut.refused, unlocks=unlocks)
        sized = with_sizes(self._graph, self._shapes or ())
        return explained_whole([*sized.graph.nodes])

    def _compile(self, args: Sequence[object]) -> StaticGraph:
        if self._has_open_sizes and len(ranges_of_symbols(self._graph)) > 1:
            made = self._of_open_sizes(args)
            if made is not None:
                self._places = None  # images are one size among others
                return made
        if self._places is not None and not self._mixes:
            try:
                return self._of_images(args, self._places)
            except GaweeError as error:
                # Graphs that mix images are usual, and one code for all is only tried here.
                logger.info("compiled for each number of images: %s", error.diagnostics[0])
                self._mixes = True
        made = self._of_open_sizes(args) if self._has_open_sizes else None
        if made is not None:
            return made
        sized = with_sizes(self._graph, args)
        algorithms = EXACT if takes_statistics_of_few(sized) else FAST
        graph = ConvertedGraph(sized, self._static)
        program = self._program(import_ir(graph.ir), algorithms)
        return StaticGraph(graph, CompiledModel(program, family=self._family))

    def _of_open_sizes(self, args: Sequence[object]) -> StaticGraph | None:
        """Return the code for all sizes, None where it cannot be made."""
        if self._open is None or not self._open.takes(numbers_of_symbols(self._graph, args)):
            given, before = (self._graph, self._static, args, self._program), self._open
            try:
                self._open = open_graph(*given, before)
            except GaweeError as error:
                # Some rules ask what is not the same for all sizes.
                logger.info("compiled for each set of sizes: %s", error.diagnostics[0])
                self._has_open_sizes = self._open is not None  # that goes on for other sizes
                return None
        return self._open.code

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
        return StaticGraph(graph, BatchedModel(self._program(module), None, arguments))

    def _program(self, module: ModuleOp, algorithms: str = FAST) -> Program:
        elsewhere = _process.code if self._options.background else None
        options = CodeOptions(algorithms=algorithms)
        return program_of(module, options, cache=True, elsewhere=elsewhere)


_process = CompilationProcess()
_graphs: WeakSet[InferenceGraph] = WeakSet()


def _forget_threads() -> None:
    for graph in _graphs:
        graph.forget_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def explain(net: Callable[..., object], args: Sequence[object]) -> Explanation:
    """Compile a model for some arguments, run it without gradients, and report what became of it.

    net: a module or a function, as for `torch.compile`; it is called with `args`. Returns data that
    prints as text. Raises what the model raises.
    """
    found: list[InferenceGraph] = []

    def backend(graph: GraphModule, inputs: Sequence[object]) -> object:
        return gawee_backend(graph, inputs, seen=found.append)

    with torch().no_grad():
        torch().compile(net, backend=backend)(*args)
    return Explanation([graph.explained(unlocks=True) for graph in found if graph.was_called])
