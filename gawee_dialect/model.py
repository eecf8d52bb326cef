"""A network and its weights: load it, run it at any level, compile it, export it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from gawee_dialect.analysis.open_sizes import (
    open_names,
    size_name,
    sizes_of_shapes,
    specialized,
    with_ranges,
)
from gawee_dialect.analysis.signature import Entry
from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.entry import MAIN, EntryArgument, find_function
from gawee_dialect.dialect.native_code import sources_of
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.identifiers import c_name
from gawee_dialect.levels import Level, level_of, lower_to, makes_open_code

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from xdsl.interpreter import Interpreter, InterpreterFunctions
    from xdsl.passes import ModulePass

    from gawee_dialect.analysis.batch_axes import BatchArguments
    from gawee_dialect.analysis.cost import CostReport
    from gawee_dialect.backend.batched import BatchedModel
    from gawee_dialect.backend.compiled import CompiledModel
    from gawee_dialect.evaluation.turns import RunTimes
    from gawee_dialect.frontends.graph import Graph
    from gawee_dialect.frontends.npu_ir.pytorch import Module
    from gawee_dialect.inspection.graph_view import GraphView
    from gawee_dialect.instruments.profile import NodeTime
    from gawee_dialect.parameters.given_inputs import Inputs
    from gawee_dialect.parameters.store import Array
    from gawee_dialect.passes.insertion import Insertion
    from gawee_dialect.quantization.calibration import Observer
    from gawee_dialect.quantization.quantizer import Activations
    from gawee_dialect.report.document import Report
    from gawee_dialect.source import Source

    Runner = Callable[[Inputs], dict[str, Array]]


RUN_AS_THEY_ARE = ("builtin", "func", "gawee", "linalg", "tensor", "arith", "math")
"""Dialects of graphs that hold no described op."""


@dataclass
class Model:
    """A module at any level, and the weights that go with it.

    `parameters` may be any mapping from parameter names to arrays: a ParameterStore reads each
    array when it is first used.
    """

    module: ModuleOp
    parameters: Mapping[str, Array] = field(default_factory=dict[str, "Array"])
    name: str = "model"
    allow_native_code: bool = False
    """Whether C that the module brings is compiled and run: it has all rights of this process."""
    _of_sizes: dict[object, Model] = field(
        default_factory=dict[object, "Model"], init=False, repr=False, compare=False
    )

    @staticmethod
    def from_torch(
        net: Module, example_inputs: Sequence[object], *, name: str | None = None
    ) -> Model:
        """Take a live model of PyTorch with its weights; see `extract_ir` for what it must be.

        example_inputs: the positional arguments of `forward`; their shapes are those of every run.

        Raises ExportError and ConversionError for a model that cannot be extracted or imported.
        """
        from gawee_dialect.frontends.npu_ir.extract import extract_ir
        from gawee_dialect.frontends.npu_ir.importer import import_ir
        from gawee_dialect.frontends.npu_ir.trace import one_trace
        from gawee_dialect.pytorch.graph_weights import used_weights

        state: Callable[[], Mapping[str, object]] = getattr(net, "state_dict")
        with one_trace:
            ir = extract_ir(net, example_inputs, model_name=name, strict=False)
            return Model(import_ir(ir), used_weights(ir, state()), name=ir.model_name)

    def view(self) -> GraphView:
        """Describe the graph for inspection; raises GaweeError where there is no entry function."""
        from gawee_dialect.inspection.graph_view import module_view

        return module_view(self.module, self.name)

    def __repr__(self) -> str:
        from gawee_dialect.inspection.notebook import graph_line

        try:
            line = graph_line(self.view())
        except GaweeError as error:
            line = error.diagnostics[0].message
        return f"<Model '{self.name}' at level {level_of(self.module)}: {line}>"

    def _repr_html_(self) -> str:
        from gawee_dialect.inspection.notebook import graph_html

        return graph_html(f"Model '{self.name}' at level {level_of(self.module)}", self.view())

    @property
    def entry(self) -> Entry:
        """How the module is called, as it is now; raises GaweeError where there is no `@main`."""
        return Entry.of(self.module)

    @property
    def function(self) -> FuncOp:
        """The entry function; raises GaweeError where there is none of the func dialect."""
        function = find_function(self.module)
        if function is None:
            raise GaweeError(f"expected a function '@{MAIN}' in the module, got none")
        return function

    @property
    def arguments(self) -> Sequence[EntryArgument]:
        """What a run needs: inputs, parameters and constants, those of `@prepare` included."""
        return self.entry.arguments

    @cached_property
    def bound(self) -> Mapping[str, Array]:
        """Every parameter's array by name; raises GaweeError that lists all that do not fit."""
        from gawee_dialect.parameters import bind_parameters

        return bind_parameters(self.entry.weights, self.parameters)

    def _checked_weights(self) -> Mapping[str, Array]:
        """Return every parameter by name: those in files are read at their first use."""
        from gawee_dialect.parameters import ParameterStore
        from gawee_dialect.parameters.binding import checked_parameters

        if "bound" in vars(self) or not isinstance(self.parameters, ParameterStore):
            return self.bound
        return checked_parameters(self.entry.weights, self.parameters)

    @property
    def sizes(self) -> Mapping[str, str]:
        """The named sizes that the graph is open in, with the values that each may have."""
        return {each.name: each.range_text() for each in open_names(self.module)}

    def specialized(self, sizes: Mapping[str, int]) -> Model:
        """Return the model of numbers for all its named sizes, on the same weights; kept.

        Raises GaweeError for a size that is missing, unknown, or out of its range.
        """
        key = tuple(sorted(sizes.items()))
        if key not in self._of_sizes:
            model = replace(self, module=specialized(self.module, sizes))
            self._of_sizes[key] = model
        return self._of_sizes[key]

    def for_inputs(self, inputs: Inputs) -> Model:
        """Return the model of the sizes that inputs have; itself where none is open.

        Raises GaweeError for inputs whose shapes do not fit.
        """
        if not self.sizes:
            return self
        from gawee_dialect.parameters.given_inputs import WantedInput, shapes_of

        shapes = shapes_of(WantedInput.of(self.arguments), inputs)
        return self.specialized(sizes_of_shapes(self.function, shapes))

    def lowered(self, level: Level | str, options: CodeOptions | None = None) -> ModuleOp:
        """Return a copy of the module at a level, by the passes that are left from where it is.

        Raises GaweeError where it cannot get there.
        """
        return lower_to(self.module, Level(level), options)

    def runner(
        self,
        level: Level | str,
        *,
        options: CodeOptions | None = None,
        cache: bool = True,
        listeners: Sequence[Interpreter.Listener] = (),
    ) -> Runner:
        """Lower once; return a function from inputs to outputs by name.

        It runs natively at `llvm`, in NumPy otherwise, where `listeners` see every op. Loops are
        plain ones in NumPy unless `options` say otherwise.
        """
        level = Level(level)
        if self.sizes:
            return self._open_runner(level, options, cache, listeners)
        if level is Level.LLVM:
            return self.compile(options, cache=cache).run
        if options is None and level is Level.LOOPS:
            options = CodeOptions(algorithms=PLAIN)
        from gawee_dialect.interpreter import run_module
        from gawee_dialect.parameters.given_inputs import WantedInput, given_arrays

        module, bound = self.lowered(level, options), self.bound
        native = self._native_code(module)
        expected = WantedInput.of(self.arguments)

        def run(inputs: Inputs) -> dict[str, Array]:
            arguments = {**bound, **given_arrays(expected, inputs)}
            return run_module(module, arguments, listeners=listeners, implementations=native)

        return run

    def _open_runner(
        self,
        level: Level,
        options: CodeOptions | None,
        cache: bool,
        listeners: Sequence[Interpreter.Listener],
    ) -> Runner:
        """Return a function that lowers for the sizes of its inputs, the first time they come.

        Native code of the plain algorithms is made once for all sizes, where the ops take that.
        That of others is faster with numbers: `compile(sizes=ranges)` asks for one.
        """
        chosen = options or CodeOptions()
        is_plain = chosen.algorithms == PLAIN
        if level is Level.LLVM and is_plain and makes_open_code(self.module, chosen):
            with suppress(GaweeError):  # an op that needs numbers: it has them in each run
                return self.compile(options, cache=cache).run
        runners: dict[int, Runner] = {}

        def run(inputs: Inputs) -> dict[str, Array]:
            model = self.for_inputs(inputs)
            if id(model) not in runners:  # models are kept
                runners[id(model)] = model.runner(
                    level, options=options, cache=cache, listeners=listeners
                )
            return runners[id(model)](inputs)

        return run

    def _native_code(self, module: ModuleOp) -> Sequence[InterpreterFunctions]:
        """Return what runs the C that a module brings; raises GaweeError where that may not be."""
        if not sources_of(module):
            return ()
        from gawee_dialect.backend.native_code import native_code_allowed, native_implementations

        with native_code_allowed(self.allow_native_code):
            return native_implementations(module)

    def run(self, inputs: Inputs, level: Level | str = Level.GAWEE) -> dict[str, Array]:
        """Run at a level on one array or tensor, or on several in a list or by name.

        Returns the outputs by name. A float or an integer of another width becomes one of the width
        that the graph has. Raises GaweeError for inputs or parameters that are missing or do not
        fit.
        """
        return self.runner(level)(inputs)

    def profile(
        self,
        inputs: Inputs,
        level: Level | str = Level.LLVM,
        options: CodeOptions | None = None,
        *,
        runs: int = 3,
    ) -> Sequence[NodeTime]:
        """Time every node at a level, the best of some runs where it is native code.

        `inputs` are as for `run`.
        """
        from gawee_dialect.instruments.kernel_profile import profile_model

        return profile_model(self, inputs, Level(level), options or CodeOptions(), runs)

    def report(
        self,
        level: Level | str = Level.LLVM,
        options: CodeOptions | None = None,
        *,
        passes: Sequence[ModulePass] = (),
        inputs: Inputs | None = None,
    ) -> Report:
        """Return what `passes`, and then those to a level, do: notebooks show it as a page.

        With `inputs` it gives the time of each node at that level too. The model stays as it is.
        Raises GaweeError.
        """
        from gawee_dialect.report.document import report_of_model

        return report_of_model(self, Level(level), options, passes, inputs)

    def quantize(
        self,
        data: Inputs,
        *,
        observer: Observer = "minmax",
        exclude: Iterable[str] = (),
        activations: Activations = "unsigned",
    ) -> Model:
        """Return the network on integers of 8 bits, in ONNX's QDQ form, which all levels run.

        `data` are inputs as for `run`, with samples along the first axis: on them ranges of
        activations are found. `observer` takes whole ranges (`minmax`), 99.99 % of the numbers
        (`percentile`), or what makes the least squared error (`mse`). Normalizations are folded
        first; weights have a scale for each output channel. Nodes of `exclude` stay in float.
        Raises GaweeError for data that does not fit or is not finite, and for unknown nodes.
        """
        from gawee_dialect.quantization.quantizer import quantize

        return quantize(self, data, observer, exclude, activations)

    def cost(self) -> CostReport | None:
        """Return FLOPs and bytes of every node; None where the module is no longer a graph."""
        from gawee_dialect.analysis.cost import cost_of_graph

        return cost_of_graph(self.function) if level_of(self.module) is Level.GAWEE else None

    def save(
        self,
        directory: str | Path,
        kinds: Sequence[str] = ("shared",),
        options: CodeOptions | None = None,
        *,
        name: str | None = None,
        weights: bool = True,
        triple: str = "",
    ) -> list[Path]:
        """Write code for C: `ll`, `asm`, `obj`, `shared`, `header`, `example`; returns the paths.

        The code is for the processor that the options name as `target`, and a system by LLVM's
        `triple`: by default this one, where it can have such a processor. With `weights` the bound
        weights go into one file beside it, as the code needs them. The caller's OpenMP settings say
        how many threads run it; for one thread it needs no OpenMP. Raises GaweeError.
        """
        from gawee_dialect.backend.compiled import export
        from gawee_dialect.backend.jit import target_elsewhere

        chosen = (options or CodeOptions()).without_idle_teams
        target = target_elsewhere(chosen.machine.processor, triple)
        return export(
            self.lowered(Level.LLVM, chosen),
            name or c_name(self.name),
            Path(directory),
            kinds,
            parameters=self.bound if weights else None,
            target=target,
        )

    @overload
    def compile(
        self,
        options: CodeOptions | None = None,
        *,
        passes: Sequence[Insertion] = (),
        cache: bool = True,
        dynamic_batch: Literal[False] = False,
        sizes: Mapping[str, int | tuple[int, int]] | None = None,
    ) -> CompiledModel: ...

    @overload
    def compile(
        self,
        options: CodeOptions | None = None,
        *,
        passes: Sequence[Insertion] = (),
        cache: bool = True,
        dynamic_batch: Literal[True] | Mapping[str, int],
        sizes: Mapping[str, int | tuple[int, int]] | None = None,
    ) -> BatchedModel: ...

    def compile(
        self,
        options: CodeOptions | None = None,
        *,
        passes: Sequence[Insertion] = (),
        cache: bool = True,
        dynamic_batch: bool | Mapping[str, int] = False,
        sizes: Mapping[str, int | tuple[int, int]] | None = None,
        **unknown: object,
    ) -> CompiledModel:
        """Compile for this processor; returns a callable on NumPy arrays.

        `passes` go in beside those of the options: `[after("fold-conv-add", MyPass())]`. With
        `cache`, code that an earlier process compiled from the same graph is used again.

        With `dynamic_batch` the callable takes any number of images, along axis 0 of all inputs but
        scalars; `{"x": 1}` says that they are along axis 1 of input x, and that all other inputs
        are the same for every image. Raises GaweeError with all ops that mix images.

        `sizes` are numbers for the named sizes of a graph that is open in some, or ranges:
        `{"batch": 4, "length": (1, 512)}`. One code is made for all values of names that are left
        open.
        """
        _refuse_options(options, unknown)
        chosen = options or CodeOptions()
        chosen = replace(chosen, passes=(*chosen.passes, *passes))
        model = self
        if sizes is not None or (self.sizes and chosen.algorithms != PLAIN):
            model = replace(self, module=self._of_some_sizes(sizes or {}))
        return model._compiled(chosen, cache, dynamic_batch)

    @no_garbage_collection()
    def _compiled(
        self,
        chosen: CodeOptions,
        cache: bool,
        dynamic_batch: bool | Mapping[str, int],
    ) -> CompiledModel:
        from gawee_dialect.compilation import compile_module

        if self.sizes and not makes_open_code(self.module, chosen):
            self._of_some_sizes({})  # says which names have no numbers
        module, images = self.module, None
        if dynamic_batch is not False:
            module, images = self.for_one_image(dynamic_batch)
        return compile_module(
            module,
            chosen,
            self._checked_weights,
            images,
            cache=cache,
            allow_native_code=self.allow_native_code,
        )

    def _of_some_sizes(self, sizes: Mapping[str, int | tuple[int, int]]) -> ModuleOp:
        """Return the module of numbers and of ranges for its names.

        Raises GaweeError for a name without either, unless others have a range.
        """
        numbers = {name: size for name, size in sizes.items() if isinstance(size, int)}
        ranges = {name: size for name, size in sizes.items() if not isinstance(size, int)}
        if not ranges:
            return specialized(self.module, numbers)
        narrowed = with_ranges(self.module, ranges)
        return specialized(narrowed, numbers, some=True) if numbers else narrowed

    def for_one_image(
        self,
        axes: Literal[True] | Mapping[str, int],
        other: Callable[[], ModuleOp] | None = None,
    ) -> tuple[ModuleOp, BatchArguments]:
        """Return the graph of one image, and what has images; `axes` are as for `compile`.

        `other` makes the same network for another number of images: what the two compute
        differently with one image depends on that number. Raises GaweeError.
        """
        from gawee_dialect.passes.graph.specialize_batch import graph_of_one_image

        if level_of(self.module) is not Level.GAWEE:
            raise GaweeError(
                f"expected a graph for a dynamic batch, got level '{level_of(self.module)}'"
            )
        return graph_of_one_image(self.module, None if axes is True else dict(axes), other)

    def benchmark(
        self,
        inputs: Inputs | None = None,
        options: CodeOptions | None = None,
        *,
        runs: int = 20,
        least_seconds: float = 0.5,
        patience: float = 2.0,
    ) -> RunTimes:
        """Compile the model, run it often, and say how long a run takes: median, spread and noise.

        `inputs` are as for `run`, seeded random arrays unless given. Runs are in rounds, which wait
        until other programs are quiet, `patience` seconds in all.
        """
        from gawee_dialect.evaluation.turns import benchmark

        return benchmark(self.compile(options), inputs, runs, least_seconds, patience)


def _refuse_options(options: object, given: Mapping[str, object]) -> None:
    """Raise GaweeError for keywords that `compile` has not: options of code are a value."""
    if not isinstance(options, CodeOptions | None):
        message = f"expected CodeOptions or None, got {type(options).__name__}"
        raise GaweeError(Diagnostic(message, hint="compile(CodeOptions(...)) takes options"))
    known = [each.name for each in fields(CodeOptions)]
    for name, value in given.items():
        hint = did_you_mean(name, known, f"options of code: {', '.join(known)}")
        if name in known:
            hint = f"write compile(CodeOptions({name}={value!r}))"
        raise GaweeError(Diagnostic(f"unexpected argument '{name}' of compile", hint=hint))


@no_garbage_collection()
def load(
    path: str | Path,
    weights: str | Path | Mapping[str, Array] | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    format: str = "auto",
    allow_native_code: bool = False,
) -> Model:
    """Read a graph in any format, `-` for one from standard input, with its weights.

    `weights` are a folder of raw files, an .npz, .safetensors or .pt, or a mapping from names to
    arrays; without it raw files are looked for beside the graph, and a format that holds its own
    weights has those. `shapes` are sizes that the graph leaves open: those of an input by its name,
    or one that has a name itself; `ranges` the least and the greatest value of names that stay open
    (`{"length": (1, 512)}`); `values` elements of inputs that say a shape, axes or a count
    (ONNX), which are then constants. `format` is found by content, or named as by `--from`. With
    `allow_native_code`, operators that are described in C run, with all rights of this process.
    Raises GaweeError for a graph that cannot be read; weights are checked when they are first
    needed.
    """
    from gawee_dialect.frontends.formats import open_graph
    from gawee_dialect.frontends.graph import ReadOptions
    from gawee_dialect.source import Source

    _require_path(path)
    source = Source.read(path)
    folder = source.folder if weights is None else None
    names = {name: size_name(name, *ends) for name, ends in (ranges or {}).items()}
    options = ReadOptions(folder, shapes or {}, names, values or {}, weights is not None)
    graph = open_graph(source, options, format)
    model = model_of(graph, weights, source)
    model.allow_native_code = allow_native_code
    return model


def _require_path(path: object) -> None:
    """Raise GaweeError for what is no file, and say what takes it."""
    if isinstance(path, str | Path):
        return
    hint = None
    if isinstance(path, ModuleOp):
        hint = "Model(module, parameters) takes a module"
    elif type(path).__name__ == "NPU_IR":
        hint = "gawee_dialect.pytorch.ir_model(ir, weights) takes an NPU_IR"
    elif hasattr(path, "state_dict"):
        hint = "Model.from_torch(net, example_inputs) takes a module of PyTorch"
    elif hasattr(path, "SerializeToString"):
        hint = "onnx.save(model, 'net.onnx'), then load('net.onnx')"
    raise GaweeError(
        Diagnostic(f"expected the path of a graph, got {type(path).__name__}", hint=hint)
    )


def _of_gawee_ops(graph: Graph) -> ModuleOp:
    """Return the module of a graph, whose described ops are lowered to gawee ops."""
    module = graph.module()
    if all(op.dialect_name() in RUN_AS_THEY_ARE for op in module.walk()):
        return module
    from gawee_dialect.passes.graph.lower_opdesc import lower_described_ops

    return lower_described_ops(module)


def model_of(
    graph: Graph, weights: str | Path | Mapping[str, Array] | None, source: Source
) -> Model:
    """Return the model of a graph that was opened from a source; `weights` as for `load`."""
    from gawee_dialect.parameters import MemoryStore, ParameterStore, open_parameters
    from gawee_dialect.parameters.binding import take_resources
    from gawee_dialect.parameters.store import joined

    model = Model(_of_gawee_ops(graph), name=_model_name(source))
    if isinstance(weights, ParameterStore):
        store = weights
    elif isinstance(weights, Mapping):
        store = MemoryStore(weights)
    else:
        store = open_parameters(weights or source.folder, model.entry.weights)
    model.parameters = graph.weights(store)
    function = find_function(model.module)
    resources = None if function is None else take_resources(function)
    if resources:  # an array that the user gives goes before the one in the text
        model.parameters = joined(model.parameters, resources)
    return model


def _model_name(source: Source) -> str:
    if source.path is None:
        return "model"
    return source.path.parent.name if source.path.stem == "graph" else source.path.stem


def compile(
    module: ModuleOp,
    parameters: Mapping[str, Array] | None = None,
    options: CodeOptions | None = None,
    *,
    passes: Sequence[Insertion] = (),
    cache: bool = True,
) -> CompiledModel:
    """Compile a module at any level; see `Model.compile`."""
    return Model(module, parameters or {}).compile(options, passes=passes, cache=cache)
