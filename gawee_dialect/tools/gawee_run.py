"""gawee-run: run a graph on data, at any level of the IR, or export it for C."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gawee_dialect.code_options import ALGORITHMS, FAST, PLAIN, CodeOptions
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.graph import Graph, ReadOptions
from gawee_dialect.levels import Level
from gawee_dialect.model import Model, model_of
from gawee_dialect.parameters import open_archive
from gawee_dialect.parameters.joined import joined
from gawee_dialect.parameters.random_arrays import random_array
from gawee_dialect.passes.insertion import declared, parse_insertion
from gawee_dialect.passes.instrument import instrumented
from gawee_dialect.passes.pass_manager import parse_passes, run_pipeline
from gawee_dialect.schedules.database import NO_CHOICES
from gawee_dialect.schedules.file import read_schedules
from gawee_dialect.source import Source
from gawee_dialect.target.description import HOST, PROCESSORS, Processor, find_processor
from gawee_dialect.tools.command_line import DONE, WRONG_INPUT, CommandParser, positive, run_tool
from gawee_dialect.tools.compare_oracle import compare_parser, is_compare, run_compare
from gawee_dialect.tools.graph_arguments import add_graph, add_inputs, add_insert, read_shapes
from gawee_dialect.tools.plugin_file import (
    LOAD_HELP,
    LOAD_OPS_HELP,
    NATIVE_CODE_HELP,
    loaded_files,
    split_load_flags,
)
from gawee_dialect.tools.report_flags import add_report_flags, recorded, reported
from gawee_dialect.tools.run_inputs import PictureScale, input_specs, read_inputs
from gawee_dialect.tools.run_options import check_options
from gawee_dialect.universe import all_passes, make_context
from gawee_dialect.whole_file import check_writable, whole_file, write_file

if TYPE_CHECKING:
    from gawee_dialect.backend.memory import MemoryUse
    from gawee_dialect.instruments.profile import NodeTime
    from gawee_dialect.model import Runner
    from gawee_dialect.report.document import Report

PROG = "gawee-run"
DEFAULT_TOLERANCE = 1e-4
"""Part of an output's range: float32 networks of any usual depth stay far below it."""

EMIT_KINDS = ("ll", "asm", "obj", "shared", "header", "example")

AnyArray = NDArray[np.generic]


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


def argument_parser() -> CommandParser:
    """Describe the command line."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        allow_abbrev=False,
        epilog="exit code: 0 all that was asked for succeeded; 1 it did not, or outputs differ; "
        "2 a bug in gawee-run",
    )
    add = parser.add_argument
    levels = tuple(level.value for level in Level)
    add_graph(parser)
    add("--constants", metavar="NPZ", help="data of constants that the graph has none for")
    add_inputs(parser)
    add("--mean", type=_numbers, default=(0.0,), metavar="R,G,B", help="for pictures (default: 0)")
    add("--std", type=_numbers, default=(1.0,), metavar="R,G,B", help="for pictures (default: 1)")
    add("--output", metavar="NPZ", help="write the outputs, by name, to a .npz file")
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    add(
        "-p",
        "--passes",
        default="",
        metavar="PIPELINE",
        help="run these passes on the graph before those of the level: 'a,b{option=1}'",
    )
    add_insert(parser)
    add("--level", choices=levels, default="llvm", help="what executes (default: llvm)")
    add("--compare", choices=levels, metavar="LEVEL", help="run this level too and compare")
    add(
        "--tolerance",
        type=float,
        default=DEFAULT_TOLERANCE,
        help="largest difference that --compare accepts, as a part of the output's range "
        f"(default: {DEFAULT_TOLERANCE:g})",
    )
    add(
        "--verify",
        action="store_true",
        help="run the graph by PyTorch too (NPU_IR), compare every output to --tolerance, and name "
        "the first node that differs; needs PyTorch",
    )
    add("--repeat", type=positive, default=1, metavar="N", help="run N times, report the best")
    add(
        "--profile",
        action="store_true",
        help="print the time of each node, its rates, and the least time this machine can take",
    )
    add(
        "--write-profile",
        metavar="FILE",
        help="write the graph as XOC with the time of each node, in ms, as its metadata "
        "performance.time.cpu",
    )
    add(
        "--roofline",
        metavar="FILE",
        help="draw the profile under this machine's limits, as .svg or .png; needs matplotlib",
    )
    add(
        "--measure",
        action="store_true",
        help="measure this machine's limits, keep them, and print a profile; takes a second",
    )
    add("--cost", action="store_true", help="print FLOPs and bytes of each node")
    add("--json", metavar="FILE", help="write times, differences, cost and profile as JSON")
    add_report_flags(parser)
    add(
        "--emit",
        action="append",
        default=[],
        choices=EMIT_KINDS,
        help="write code for C instead of running (obj and shared bring the header, example the "
        "object and a program that calls it)",
    )
    add("--emit-dir", default=".", metavar="DIR", help="where --emit writes (default: .)")
    add("--name", help="prefix of emitted files and functions (default: the graph's name)")
    add(
        "--target",
        default=HOST,
        metavar="CPU",
        help=f"the processor that --emit writes code for, of {HOST} (default), "
        + ", ".join(PROCESSORS),
    )
    add(
        "--triple",
        default="",
        help="the system that --emit writes code for, by LLVM's name such as "
        "aarch64-unknown-linux-gnu (default: this one, where it can have such a processor)",
    )
    add(
        "--algorithms",
        choices=ALGORITHMS,
        default=ALGORITHMS[0],
        help="of level llvm: fast (default; Winograd's convolution where it pays), exact (each sum "
        "as defined, but for its order) or plain loops",
    )
    add(
        "--schedules",
        metavar="FILE",
        help="choices for kernels, as gawee-tune writes them, in the place of the cost model's",
    )
    add("--fast-math", metavar="FLAGS", help="LLVM's float flags, such as contract or fast")
    add("--trust-indices", action="store_true", help="no check of indices that come at run time")
    add(
        "--num-threads",
        type=positive,
        metavar="N",
        help="threads of level llvm (default: one a core); code emitted with 1 needs no OpenMP",
    )
    add("--allow-native-code", action="store_true", help=NATIVE_CODE_HELP)
    add("--no-cache", action="store_true", help="compile even what an earlier run compiled")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def parse_arguments(argv: Sequence[str]) -> Namespace:
    """Read the command line; raises GaweeError, with the nearest flag, for an unknown one.

    Options that do not go together are refused, and files that cannot be written.
    """
    parser = argument_parser()
    arguments = parser.parse_all(argv)
    check_options(arguments, parser.parse_args([arguments.graph]))
    for path in (arguments.output, arguments.json, arguments.roofline):
        if path is not None:
            check_writable(Path(path))
    return arguments


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
        with self.progress.status(f"preparing level {level}"):
            run = self.ready(level, options)
        seconds = {"prepare": perf_counter() - start, "run": float("inf")}
        outputs: dict[str, AnyArray] = {}
        with self.progress.status(f"running level {level}"):
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


def make_session(arguments: Namespace) -> Session:
    """Read the graph, its weights and inputs; raises GaweeError."""
    progress = Console(stderr=True)
    with progress.status("reading the graph"):
        source = Source.read(arguments.graph)
        folder = source.folder if arguments.weights is None else None
        options = ReadOptions(folder, read_shapes(arguments.shape))
        graph = open_graph(source, options, arguments.source)
        if arguments.weights == "random":
            model = model_of(graph, {}, source)
            model.parameters = random_parameters(model, arguments.seed)
        else:
            model = model_of(graph, arguments.weights, source)
        if arguments.constants is not None:
            add_constants(model, arguments.constants)
    model.allow_native_code = arguments.allow_native_code
    passes = parse_passes(arguments.passes, all_passes())
    run_pipeline(make_context(), model.module, passes)
    scale = PictureScale(arguments.mean, arguments.std)
    specs = input_specs(model.entry.main.inputs)
    inputs: dict[str, AnyArray] = {}
    if not arguments.emit:
        inputs = read_inputs(specs, arguments.input, arguments.inputs, arguments.seed, scale)
    return Session(arguments, graph, model, inputs, code_options(arguments), Console(), progress)


def code_options(arguments: Namespace) -> CodeOptions:
    """Return what native code is made; raises OSError, GaweeError for a file of schedules."""
    path: str | None = arguments.schedules
    return CodeOptions(
        fast_math=arguments.fast_math,
        trust_indices=arguments.trust_indices,
        algorithms=arguments.algorithms,
        target=arguments.target,
        schedules=NO_CHOICES if path is None else read_schedules(path),
        num_threads=arguments.num_threads,
        passes=tuple(parse_insertion(text, all_passes()) for text in arguments.insert),
    )


def add_constants(model: Model, path: str) -> None:
    """Let constants of the graph come from a file; raises GaweeError for names that are none."""
    constants = open_archive(path)
    names = [each.name for each in model.arguments if each.kind is ArgumentKind.CONSTANT]
    unknown = [name for name in constants if name not in names]
    if unknown:
        listing = f"constants that can be given: {', '.join(names) or 'none'}"
        raise GaweeError(Diagnostic(f"unknown constant '{unknown[0]}' in '{path}'", hint=listing))
    model.parameters = joined(constants, model.parameters)


def random_parameters(model: Model, seed: int) -> dict[str, AnyArray]:
    """Return a seeded array for every parameter: small normal numbers, positive variances."""
    generator = np.random.default_rng(seed)
    arrays: dict[str, AnyArray] = {}
    for spec in input_specs(model.entry.weights):
        array = random_array(spec.shape, spec.dtype, generator)
        if spec.dtype.kind == "f":
            fan_in = max(1, int(np.prod(spec.shape[1:])))
            array = (array / np.sqrt(fan_in)).astype(spec.dtype)
        arrays[spec.name] = np.abs(array) + 1 if spec.name.endswith("running_var") else array
    return arrays


def emit(session: Session) -> int:
    """Write code for C; raises GaweeError."""
    arguments = session.arguments
    with session.progress.status("compiling"):
        paths = session.model.save(
            Path(arguments.emit_dir),
            arguments.emit,
            session.options,
            name=arguments.name,
            triple=arguments.triple,
        )
    for path in paths:
        session.console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    return DONE


def execute(session: Session) -> int:
    """Run, compare, profile and report as asked; return the exit code."""
    from gawee_dialect.tools import run_report as report

    arguments, console = session.arguments, session.console
    level = Level(arguments.level)
    result = session.result
    result["level"] = level.value
    with recorded(session.report):
        outputs, result["seconds"] = session.run_level(level, session.options)
    report.print_outputs(console, outputs)
    code = DONE
    if arguments.compare is not None:
        other = Level(arguments.compare)
        with declared(()):  # a user's own passes are what is compared
            reference, _ = session.run_level(other, replace(session.options, passes=()))
        differences = [report.compare(n, outputs[n], reference[n]) for n in outputs]
        report.print_differences(console, differences, level, other, arguments.tolerance)
        result["differences"] = {d.output: [d.largest, d.relative] for d in differences}
        if not all(each.relative <= arguments.tolerance for each in differences):
            code = WRONG_INPUT
    if arguments.verify and not verified(session, outputs, result):
        code = WRONG_INPUT
    drawn = (arguments.roofline, arguments.write_profile)
    if arguments.profile or arguments.measure or any(each is not None for each in drawn):
        result.update(profile(session, level))
    if arguments.output is not None:
        write_archive(arguments.output, outputs)
    if arguments.json is not None:
        write_file(Path(arguments.json), json.dumps(result, indent=1) + "\n")
    return code


def verified(session: Session, outputs: Mapping[str, AnyArray], result: dict[str, object]) -> bool:
    """Hold outputs against PyTorch's, and print how they compare; raises GaweeError."""
    from gawee_dialect.tools.verify_graph import verify_outputs

    arguments = session.arguments
    engine = "native" if arguments.level == Level.LLVM else "interpreter"
    report = verify_outputs(
        session.graph,
        session.model.bound,
        session.inputs,
        list(outputs.values()),
        tolerance=arguments.tolerance,
        engine=engine,
    )
    session.console.print(str(report), highlight=False, soft_wrap=True, markup=False)
    result["verification"] = {
        "passed": report.is_valid,
        "outputs": [asdict(each) for each in report.output_details],
    }
    return report.is_valid


def profile(session: Session, level: Level) -> dict[str, object]:
    """Time each node, print and draw what is asked for; return what goes into the JSON."""
    from gawee_dialect.instruments.profile import processor_json
    from gawee_dialect.tools.run_report import print_memory, print_profile

    arguments = session.arguments
    processor = this_processor(measured=arguments.measure)
    times = session.model.profile(
        session.inputs, level, session.options, runs=max(3, arguments.repeat)
    )
    print_profile(session.console, times, processor)
    if session.report is not None:
        session.report.profile, session.report.processor = times, processor
    if session.memory is not None:
        print_memory(session.console, session.memory)
    if arguments.roofline is not None:
        from gawee_dialect.plots.roofline import draw_roofline

        draw_roofline(arguments.roofline, times, processor, f"{session.model.name}, level {level}")
        session.console.print(f"wrote {arguments.roofline}", highlight=False, soft_wrap=True)
    if arguments.write_profile is not None:
        write_profile(session, times)
    result: dict[str, object] = {
        "limits": processor_json(processor),
        "profile": [time.to_json(processor) for time in times],
    }
    if session.memory is not None:
        result["memory_bytes"] = asdict(session.memory)
    return result


def write_profile(session: Session, times: "Sequence[NodeTime]") -> None:
    """Write the graph as XOC with the time of each node; raises GaweeError, OSError."""
    from gawee_dialect.frontends.xoc.times import timed_document
    from gawee_dialect.frontends.xoc.write import xoc_text
    from gawee_dialect.whole_file import whole_file

    path = session.arguments.write_profile
    seconds = {(time.node, time.place): time.seconds for time in times}
    model = session.model
    document = timed_document(session.graph, model.module, seconds, model.name)
    with whole_file(Path(path)) as draft:
        draft.write_text(xoc_text(document))
    session.console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def this_processor(*, measured: bool) -> Processor:
    """Describe this machine, after measuring it where that is asked for."""
    if measured:
        from gawee_dialect.backend.measure import measured_host

        return measured_host()
    return find_processor(HOST)


def write_archive(path: str, outputs: Mapping[str, AnyArray]) -> None:
    """Write a .npz file that is whole or not there."""
    # np.savez takes no output named `file`.
    with whole_file(Path(path)) as draft, ZipFile(draft, "w") as archive:
        for name, array in outputs.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.save(member, array, allow_pickle=False)


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    if is_compare(argv):
        return run_compare(compare_parser().parse_all(argv[1:]))
    paths, rest = split_load_flags(PROG, argv)
    with loaded_files(paths) as loaded, instrumented(*loaded.instruments):
        try:
            arguments = parse_arguments(rest)
            with reported(arguments, PROG, argv, arguments.graph) as report:
                return run_session(arguments, report)
        finally:
            for instrument in loaded.instruments:
                instrument.report()


def run_session(arguments: Namespace, report: "Report | None") -> int:
    """Read the graph and do all that is asked for; raises GaweeError and OSError."""
    if arguments.roofline is not None:
        from gawee_dialect.plots.roofline import check_picture

        check_picture(arguments.roofline)
    with recorded(report):
        session = make_session(arguments)
    session.report = report
    if arguments.cost:
        print_cost(session)
    if arguments.emit:
        return emit(session)
    return execute(session)


def print_cost(session: Session) -> None:
    """Print what each node costs, and keep it for the JSON; raises GaweeError."""
    from gawee_dialect.analysis.cost import cost_table

    cost = session.model.cost()
    if cost is None:
        raise GaweeError("cannot count the cost of a module that is not at the gawee level")
    session.console.print(cost_table(cost))
    session.result["cost"] = cost.to_json()


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-run; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
