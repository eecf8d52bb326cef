"""One use of gawee-run: the graph, its weights and inputs, and where to print."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gawee_dialect.analysis.open_sizes import sizes_of_shapes
from gawee_dialect.code_options import FAST, PLAIN, CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.levels import Level
from gawee_dialect.model import Model, model_of
from gawee_dialect.parameters import open_archive
from gawee_dialect.parameters.given_inputs import random_parameters
from gawee_dialect.parameters.store import Array, joined
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_pipeline
from gawee_dialect.source import Source
from gawee_dialect.tools.code_flags import code_options
from gawee_dialect.tools.graph_arguments import read_options
from gawee_dialect.tools.run_inputs import PictureScale, given_shapes, input_specs, read_inputs
from gawee_dialect.universe import all_passes, make_context

if TYPE_CHECKING:
    from gawee_dialect.backend.memory import MemoryUse
    from gawee_dialect.instruments.trace_events import TraceEvents
    from gawee_dialect.model import Runner
    from gawee_dialect.report.document import Report

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


AnyArray = NDArray[np.generic]


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
        if arguments.constants is not None:
            add_constants(model, arguments.constants)
    model.allow_native_code = arguments.allow_native_code
    passes = parse_passes(arguments.passes, all_passes())
    run_pipeline(make_context(), model.module, passes)
    scale = PictureScale(arguments.mean, arguments.std)
    if model.sizes and not arguments.emit:
        shapes = given_shapes(model.entry.main.inputs, arguments.input, arguments.inputs)
        model = model.specialized(sizes_of_shapes(model.function, shapes))
    specs = input_specs(model.entry.main.inputs)
    inputs: dict[str, AnyArray] = {}
    if not arguments.emit:
        inputs = read_inputs(specs, arguments.input, arguments.inputs, arguments.seed, scale)
    return Session(arguments, graph, model, inputs, code_options(arguments), Console(), progress)


def add_constants(model: Model, path: str) -> None:
    """Let constants of the graph come from a file; raises GaweeError for names that are none."""
    constants = open_archive(path)
    names = [each.name for each in model.arguments if each.kind is ArgumentKind.CONSTANT]
    unknown = [name for name in constants if name not in names]
    if unknown:
        listing = f"constants that can be given: {', '.join(names) or 'none'}"
        raise GaweeError(Diagnostic(f"unknown constant '{unknown[0]}' in '{path}'", hint=listing))
    model.parameters = joined(constants, model.parameters)
