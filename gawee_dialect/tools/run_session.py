"""One use of gawee-run: the graph, its weights and inputs, and where to print."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.analysis.open_sizes import sizes_of_shapes
from gawee_dialect.analysis.tensor_shapes import unnamed_inputs, with_shapes
from gawee_dialect.code_options import FAST, PLAIN, CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.dialect.types import (
    dtype_name,
    install_hint,
    is_shaped,
    require_input_shape,
    shape_text,
)
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.levels import Level
from gawee_dialect.model import Model, load, model_of
from gawee_dialect.parameters import open_archive
from gawee_dialect.parameters.archives import read_npy, read_npz
from gawee_dialect.parameters.data_files import MAX_TENSOR_BYTES
from gawee_dialect.parameters.given_inputs import fitted, random_array, random_parameters
from gawee_dialect.parameters.store import Array, joined
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_pipeline
from gawee_dialect.source import Source
from gawee_dialect.tools.code_flags import code_options
from gawee_dialect.tools.graph_arguments import read_options, read_shapes, read_values
from gawee_dialect.universe import all_passes, make_context

if TYPE_CHECKING:
    from gawee_dialect.backend.memory import MemoryUse
    from gawee_dialect.instruments.trace_events import TraceEvents
    from gawee_dialect.model import Runner
    from gawee_dialect.report.document import Report


# The arrays that a run starts from: .npy and .npz files, pictures, or seeded random numbers.


PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")

AnyArray = NDArray[np.generic]


@dataclass(frozen=True)
class PictureScale:
    """How pixels become numbers: (pixel / 255 - mean) / std, channel by channel."""

    mean: Sequence[float] = (0.0,)
    std: Sequence[float] = (1.0,)


@dataclass(frozen=True)
class InputSpec:
    """What an input must be: its name, shape and NumPy dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    is_updated: bool = False
    """Whether it is a buffer that the run also writes: it starts as zeros without an array."""

    @staticmethod
    def of(argument: EntryArgument) -> "InputSpec":
        """Describe an entry argument: a tensor, a buffer or a number; raises GaweeError."""
        type = argument.type
        element, shape = (type.element_type, type.get_shape()) if is_shaped(type) else (type, ())
        try:
            dtype = np.dtype(dtype_name(element))
        except VerifyException as error:
            message = f"{argument.kind} '{argument.name}': {error}"
            raise GaweeError(Diagnostic(message, hint=install_hint(element))) from error
        known = [size for size in shape if size != DYNAMIC_INDEX]
        if prod(known) * dtype.itemsize > MAX_TENSOR_BYTES:
            raise GaweeError(
                f"expected {argument.kind} '{argument.name}' of at most {MAX_TENSOR_BYTES} bytes, "
                f"got shape {shape_text(shape)}"
            )
        return InputSpec(argument.name, shape, dtype, argument.kind is ArgumentKind.UPDATED)

    @property
    def known_shape(self) -> tuple[int, ...]:
        """The shape of an array that is made up; raises GaweeError where a size of it is open."""
        if DYNAMIC_INDEX not in self.shape:
            return self.shape
        text = f"expected the shape of input '{self.name}' ({shape_text(self.shape)}), got none"
        sizes = ",".join("2" if n == DYNAMIC_INDEX else str(n) for n in self.shape)
        hint = f"--shape {self.name}={sizes}, or an array: --input {self.name}=x.npy"
        raise GaweeError(Diagnostic(text, hint=hint))

    def check(self, array: AnyArray, source: str) -> AnyArray:
        """Return the array in this dtype; raises GaweeError for another shape or kind."""
        return fitted(f"input '{self.name}'", array, self.shape, self.dtype, f" from '{source}'")


def read_inputs(
    specs: Sequence[InputSpec],
    given: Sequence[str],
    archive: str | None,
    seed: int,
    scale: PictureScale,
) -> dict[str, AnyArray]:
    """Return every input's array, in the order of the function's arguments.

    `given` are texts `name=source`, or a source alone where there is one input; `archive` is an
    .npz. An input that neither names is random, zeros where the run updates it. Raises GaweeError
    for a name that is no input, for a file that cannot be read, and for a wrong shape or dtype.
    """
    names = [spec.name for spec in specs]
    sources = dict(_split(text, names) for text in given)
    stored: Mapping[str, AnyArray] = {} if archive is None else read_npz(archive)
    twice = [name for name in sources if name in stored]
    if twice:
        raise GaweeError(f"expected input '{twice[0]}' once, got it by --input and in '{archive}'")
    unknown = [name for name in (*sources, *stored) if name not in names]
    if unknown:
        raise GaweeError(
            Diagnostic(
                f"unknown input '{unknown[0]}'", hint=f"inputs of the graph: {', '.join(names)}"
            )
        )
    generator = np.random.default_rng(seed)
    arrays: dict[str, AnyArray] = {}
    for spec in specs:
        if spec.name in stored:
            arrays[spec.name] = spec.check(stored[spec.name], str(archive))
        elif spec.is_updated and spec.name not in sources:
            arrays[spec.name] = np.zeros(spec.known_shape, spec.dtype)
        else:
            arrays[spec.name] = _read(spec, sources.get(spec.name, "random"), generator, scale)
    return arrays


def given_shapes(
    arguments: Sequence[EntryArgument], given: Sequence[str], archive: str | None
) -> Mapping[str, Sequence[int]]:
    """Return the shapes of inputs that are in files of arrays, by name; as for `read_inputs`."""
    names = [each.name for each in arguments]
    sources = dict(_split(text, names) for text in given)
    stored: Mapping[str, AnyArray] = {} if archive is None else read_npz(archive)
    arrays = {name: read_npy(source) for name, source in sources.items() if _is_npy(source)}
    return {name: array.shape for name, array in (arrays | dict(stored)).items()}


def _is_npy(source: str) -> bool:
    return Path(source).suffix.lower() == ".npy"


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    name, equals, source = text.partition("=")
    if equals:
        return name, source
    if len(names) == 1:
        return names[0], text
    raise GaweeError(f"expected --input name=source where there are {len(names)} inputs")


def _read(
    spec: InputSpec, source: str, generator: np.random.Generator, scale: PictureScale
) -> AnyArray:
    if source == "random":
        return random_array(spec.known_shape, spec.dtype, generator)
    suffix = Path(source).suffix.lower()
    if suffix == ".npy":
        return spec.check(read_npy(source), source)
    if suffix in PICTURES:
        return read_picture(spec, source, scale)
    raise GaweeError(
        f"unsupported input '{source}' for '{spec.name}'; "
        f"supported: random, .npy, {', '.join(PICTURES)}"
    )


def read_picture(spec: InputSpec, path: str, scale: PictureScale) -> AnyArray:
    """Return a picture, resized, as an array of shape (1, 1 or 3, height, width).

    Raises GaweeError where the input has another shape, or Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise GaweeError(
            Diagnostic(
                f"cannot read '{path}': pictures need Pillow",
                hint="pip install 'gawee-dialect[image]'",
            )
        ) from error
    if len(spec.shape) != 4 or spec.shape[0] != 1 or spec.shape[1] not in (1, 3):
        raise GaweeError(
            f"expected input '{spec.name}' of shape 1x1xHxW or 1x3xHxW for a picture, "
            f"got {shape_text(spec.shape)}"
        )
    _, channels, height, width = spec.shape
    try:
        with Image.open(path) as picture:
            converted = picture.convert("L" if channels == 1 else "RGB")
    except Exception as error:  # damage takes all forms: SyntaxError, ValueError, ...
        raise GaweeError(f"cannot read '{path}': {error}") from error
    pixels = np.asarray(converted.resize((width, height), Image.Resampling.BILINEAR))
    planes = pixels.reshape(height, width, channels).transpose(2, 0, 1) / 255.0
    mean, std = (np.reshape(values, (-1, 1, 1)) for values in (scale.mean, scale.std))
    return np.ascontiguousarray(((planes - mean) / std)[None], spec.dtype)


def input_specs(arguments: Sequence[EntryArgument]) -> list[InputSpec]:
    """Describe what arguments must be given."""
    return [InputSpec.of(argument) for argument in arguments]


# `gawee-run --prove-each`: the passes to the level that runs are proved, on its data.


def add_proof(parser: ArgumentParser) -> None:
    """Add `--prove-each`."""
    parser.add_argument(
        "--prove-each",
        action="store_true",
        help="run the network before and after every pass in exact arithmetic, on its weights and "
        "inputs; stop at the first pass that computes another number",
    )


@contextmanager
def proved(
    arguments: Namespace, arrays: Callable[[], Mapping[str, Array]], report: "Report | None" = None
) -> Generator[None]:
    """Prove the passes that run inside a with block, where `--prove-each` asks for it.

    Results go into the report, and to standard error. Raises GaweeError
    for a wrong one.
    """
    if not arguments.prove_each:
        yield
        return
    from gawee_dialect.instruments.check.each_pass import CheckSettings
    from gawee_dialect.instruments.prove.each import ProveEach

    proof = ProveEach(CheckSettings(arrays=arrays()))
    if report is not None:
        report.proofs, report.first_proved = proof.steps, len(report.recording.passes)
    with instrumented(proof):
        try:
            yield
        finally:
            proof.report()


@dataclass
class Session:
    """One use of the tool: the model, its inputs, and where to print."""

    arguments: Namespace
    graph: Graph
    model: Model
    inputs: Mapping[str, AnyArray]
    options: CodeOptions
    """What native code is made."""
    console: Console
    progress: Console
    """Standard error: what is being done, where a person watches."""

    result: dict[str, object] = field(default_factory=dict[str, object])
    """What --json writes."""
    memory: "MemoryUse | None" = None
    """What the native code of the last level needs."""
    report: "Report | None" = None
    """What --report-json and --html write."""
    trace: "TraceEvents | None" = None
    """What --trace writes."""

    def arrays(self) -> Mapping[str, AnyArray]:
        """Return weights and inputs by name."""
        return {**self.model.bound, **self.inputs}

    def ready(self, level: Level, options: CodeOptions) -> "Runner":
        """Lower and compile the model; return a function from inputs to outputs by name."""
        if level is not Level.LLVM:
            algorithms = PLAIN if level is Level.LOOPS else FAST
            interpreted = CodeOptions(algorithms=algorithms, passes=options.passes)
            return self.model.runner(level, options=interpreted)
        compiled = self.model.compile(options, cache=not self.arguments.no_cache)
        self.memory = compiled.memory
        return compiled.run

    def run_level(
        self, level: Level, options: CodeOptions
    ) -> tuple[dict[str, AnyArray], dict[str, float]]:
        """Return the outputs at a level, and seconds: `prepare` once, `run` the best of all."""
        start = perf_counter()
        preparing = phase(self.trace, f"prepare level {level}")
        proving = proved(self.arguments, self.arrays, self.report)
        with self.progress.status(f"preparing level {level}"), preparing, proving:
            run = self.ready(level, options)
        seconds = {"prepare": perf_counter() - start, "run": float("inf")}
        outputs: dict[str, AnyArray] = {}
        running = phase(self.trace, f"run level {level}, {self.arguments.repeat} times")
        with self.progress.status(f"running level {level}"), running:
            for _ in range(self.arguments.repeat):
                start = perf_counter()
                outputs = run(self.inputs)
                seconds["run"] = min(seconds["run"], perf_counter() - start)
        self.console.print(
            f"level {level}: ready in {seconds['prepare']:.2f} s, "
            f"ran in {seconds['run'] * 1e3:.2f} ms",
            highlight=False,
            soft_wrap=True,
        )
        return outputs, seconds


def phase(trace: "TraceEvents | None", name: str) -> AbstractContextManager[None]:
    """Return what notes when a phase of the tool ran, where --trace asks for it."""
    return nullcontext() if trace is None else trace.phase(name)


def make_session(arguments: Namespace) -> Session:
    """Read the graph, its weights and inputs; raises GaweeError."""
    progress = Console(stderr=True)
    with progress.status("reading the graph"):
        source = Source.read(arguments.graph)
        folder = source.folder if arguments.weights is None else None
        options = read_options(arguments, folder, other_weights=arguments.weights is not None)
        graph = open_graph(source, options, arguments.source)
        if arguments.weights == "random":
            model = model_of(graph, {}, source)
            model.parameters = random_parameters(input_specs(model.entry.weights), arguments.seed)
        else:
            model = model_of(graph, arguments.weights, source)
        check_shapes(model, options.shapes)
        if arguments.constants is not None:
            add_constants(model, arguments.constants)
    model.allow_native_code = arguments.allow_native_code
    passes = parse_passes(arguments.passes, all_passes())
    run_pipeline(make_context(), model.module, passes)
    scale = PictureScale(arguments.mean, arguments.std)
    if not arguments.emit and (model.sizes or unnamed_inputs(model.module)):
        shapes = given_shapes(model.entry.main.inputs, arguments.input, arguments.inputs)
        if model.sizes:
            model = model.specialized(sizes_of_shapes(model.function, shapes))
        model.module = with_shapes(model.module, shapes)
    specs = input_specs(model.entry.main.inputs)
    inputs: dict[str, AnyArray] = {}
    if not arguments.emit:
        inputs = read_inputs(specs, arguments.input, arguments.inputs, arguments.seed, scale)
    return Session(arguments, graph, model, inputs, code_options(arguments), Console(), progress)


def read_model(arguments: Namespace, *, weights: bool = True) -> Model:
    """Read the network that a command line names; raises GaweeError and OSError.

    Random weights are drawn where `weights` are needed.
    """
    random = arguments.weights == "random"
    model = load(
        arguments.graph,
        {} if random else arguments.weights,
        shapes=read_shapes(arguments.shape),
        values=read_values(arguments.value),
        format=arguments.source,
    )
    check_shapes(model, read_shapes(arguments.shape))
    if random and weights:
        model.parameters = random_parameters(input_specs(model.entry.weights), arguments.seed)
    return model


def check_shapes(model: Model, shapes: Mapping[str, Sequence[int]]) -> None:
    """Raise GaweeError where the graph says another shape of an input than the command line."""
    for each in model.entry.main.inputs:
        said = each.type.get_shape() if is_shaped(each.type) else ()
        require_input_shape(each.name, said, shapes.get(each.name, said))


def add_constants(model: Model, path: str) -> None:
    """Let constants of the graph come from a file; raises GaweeError for names that are none."""
    constants = open_archive(path)
    names = [each.name for each in model.arguments if each.kind is ArgumentKind.CONSTANT]
    unknown = [name for name in constants if name not in names]
    if unknown:
        listing = f"constants that can be given: {', '.join(names) or 'none'}"
        raise GaweeError(Diagnostic(f"unknown constant '{unknown[0]}' in '{path}'", hint=listing))
    model.parameters = joined(constants, model.parameters)
