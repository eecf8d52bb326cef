"""gawee-translate: read a graph in any supported format, write MLIR or a graph format."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.signature import Entry
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import find_entry
from gawee_dialect.frontends.coverage import CoverageReport, coverage_table
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.graph import Graph
from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.source import Source
from gawee_dialect.tools.command_line import (
    DONE,
    WRONG_INPUT,
    CommandParser,
    run_tool,
    write_text,
)
from gawee_dialect.tools.graph_arguments import add_translated_file, read_options
from gawee_dialect.tools.inspect_graph import is_sub_command, run_sub_command
from gawee_dialect.tools.plugin_file import LOAD_HELP, LOAD_OPS_HELP, loaded_files, split_load_flags
from gawee_dialect.tools.report_flags import add_report_flags, wants_report, write_report

if TYPE_CHECKING:
    from gawee_dialect.parameters import ParameterStore
    from gawee_dialect.parameters.store import Array
    from gawee_dialect.report.document import Report

PROG = "gawee-translate"


@dataclass(frozen=True)
class Job:
    """A graph to write, and what the command line says about how."""

    graph: Graph
    arguments: Namespace
    weights: Path | None
    """Where the weights that the module names are, None where none are to be read."""

    @property
    def module(self) -> ModuleOp:
        """The module of the graph."""
        return self.graph.module()

    def arrays(self) -> "ParameterStore | None":
        """Open the weights of the module's entry function."""
        from gawee_dialect.parameters import open_parameters

        if self.weights is None or find_entry(self.module) is None:
            return None
        return self.graph.weights(open_parameters(self.weights, Entry.of(self.module).weights))

    def bound(self) -> "Mapping[str, Array] | None":
        """Return the weights, each of which is there and fits; None as `arrays` does."""
        from gawee_dialect.parameters import bind_parameters

        store = self.arrays()
        return None if store is None else bind_parameters(Entry.of(self.module).weights, store)


def _write_mlir(job: Job) -> None:
    text = print_mlir(job.module, locations=job.arguments.mlir_print_debuginfo)
    write_text(job.arguments.output, text)


def _write_gawee_json(job: Job) -> None:
    from gawee_dialect.frontends.gawee_json import export_graph, module_to_gawee_json

    output = job.arguments.output
    if output == "-" or job.arguments.no_weights:
        graph = export_graph(job.module)
        if graph.files and not job.arguments.no_weights:
            raise GaweeError(
                Diagnostic(
                    f"cannot write {len(graph.files)} weight files to standard output",
                    hint="-o graph.json writes them beside it, --no-weights leaves them out",
                )
            )
        write_text(output, graph.text)
        return
    target = Path(output)
    module_to_gawee_json(job.module, job.arrays(), target.parent, file_name=target.name)


def _write_llvm_ir(job: Job) -> None:
    from gawee_dialect.backend.llvm_text import llvm_text

    foreign = sorted({op.name for op in job.module.ops if op.dialect_name() != "llvm"})
    if foreign:
        raise GaweeError(
            Diagnostic(
                f"expected a module of the llvm dialect, got '{foreign[0]}'",
                hint="gawee-opt --gawee-to-llvm takes a graph there",
            )
        )
    write_text(job.arguments.output, llvm_text(job.module))


def _write_invocations(job: Job) -> None:
    from gawee_dialect.opdesc.graph_import import export_invocations
    from gawee_dialect.opdesc.invocation_graph import invocations_json, invocations_text

    invocations = export_invocations(job.module)
    write = invocations_text if job.arguments.target.endswith("-text") else invocations_json
    write_text(job.arguments.output, write(invocations))


def _write_onnx(job: Job) -> None:
    from gawee_dialect.frontends.onnx.export.model_file import export_onnx
    from gawee_dialect.whole_file import whole_file

    output = job.arguments.output
    if output == "-":
        hint = "-o FILE.onnx names one"
        raise GaweeError(Diagnostic("cannot write an ONNX model to standard output", hint=hint))
    path = Path(output)
    with whole_file(path) as draft:
        draft.write_bytes(export_onnx(job.module, job.bound(), path.stem))


def _write_xoc(job: Job) -> None:
    from gawee_dialect.frontends.xoc.document import xoc_text
    from gawee_dialect.frontends.xoc.export import export_xoc, write_xoc

    output, edges = job.arguments.output, job.arguments.edges
    if output != "-":
        write_xoc(job.module, Path(output), job.bound(), with_edges=edges)
        return
    exported = export_xoc(job.module)
    if any(node.tensors for node in exported.weights) and not job.arguments.no_weights:
        raise GaweeError(
            Diagnostic(
                "cannot write a graph and its weights to standard output",
                hint="-o net.xoc.json writes net.uwef.json beside it, --no-weights leaves it out",
            )
        )
    write_text(output, xoc_text(exported.document, with_edges=edges))


TARGETS: dict[str, Callable[[Job], None]] = {
    "mlir": _write_mlir,
    "gawee-json": _write_gawee_json,
    "xoc": _write_xoc,
    "onnx": _write_onnx,
    "llvm-ir": _write_llvm_ir,
    "invocations": _write_invocations,
    "invocations-text": _write_invocations,
}
"""What `--to` may name, and how each is written; a new target is one line."""


def argument_parser() -> CommandParser:
    """Describe the command line."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        allow_abbrev=False,
        epilog="`gawee-translate info FILE` and `gawee-translate visualize FILE` look at a graph; "
        "exit code: 0 done, or with --coverage: the whole model can go through; "
        "1 the input or the command line is wrong; 2 a bug in gawee-translate",
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", help="graph or MLIR file, - for standard input")
    add_translated_file(parser)
    add("--to", dest="target", default="mlir", choices=tuple(TARGETS), help="default: mlir")
    add(
        "--weights",
        metavar="DIR",
        help="folder (or .npz, .safetensors, .pt) of the weights "
        "(default: the folder of the input)",
    )
    add(
        "--no-weights",
        action="store_true",
        help="look at no weight file: shapes only, all constants become arguments",
    )
    add("--edges", action="store_true", help="with --to xoc: write edges, which follow from nodes")
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    add("--mlir-print-debuginfo", action="store_true", help="print locations")
    add(
        "--coverage",
        action="store_true",
        help="translate nothing: print for each op type whether its nodes can be read and lowered, "
        "and why not; looks at no weight file",
    )
    add_report_flags(
        parser,
        "the nodes of the graph, and whether each can be read and lowered, as documented JSON; "
        "translates nothing",
    )
    add("--json", action="store_true", help="with --coverage: print JSON instead of a table")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def parse_arguments(argv: Sequence[str]) -> Namespace:
    """Read the command line; raises GaweeError, with the nearest flag, for an unknown one."""
    arguments = argument_parser().parse_all(argv)
    if arguments.no_weights and arguments.weights is not None:
        raise GaweeError("expected --weights or --no-weights, got both")
    if arguments.edges and arguments.target != "xoc":
        raise GaweeError("expected --edges to go with --to xoc")
    if arguments.json and not arguments.coverage:
        raise GaweeError("expected --json to go with --coverage")
    return arguments


def weights_path(arguments: Namespace) -> Path | None:
    """Return where the weights are: the folder of the input by default, None for none."""
    if arguments.no_weights:
        return None
    if arguments.weights is not None:
        return Path(arguments.weights)
    return Path() if arguments.input == "-" else Path(arguments.input).parent


def coverage_text(report: CoverageReport) -> str:
    """Return the report as a table as wide as the terminal, and its summary."""
    from rich.console import Console

    stream = StringIO()
    console = Console(file=stream, width=None if sys.stdout.isatty() else 140)
    console.print(coverage_table(report))
    lines = (line.rstrip() for line in stream.getvalue().splitlines())
    problems = (str(problem) for problem in report.problems)
    return "\n".join((*lines, *problems, report.summary)) + "\n"


def surveyed(graph: Graph, coverage: CoverageReport, words: Sequence[str]) -> "Report":
    """Return the report of a graph alone, with the verdict on every node."""
    from gawee_dialect.report.document import Report
    from gawee_dialect.report.snapshot import graph_level, listed_nodes

    try:
        view = graph.view()
    except GaweeError:  # some formats have no values apart from the module's
        view = listed_nodes(coverage.file, ((each.name, each.op_type) for each in coverage.nodes))
    report = Report(PROG, words, coverage.file, coverage=coverage)
    report.recording.add_level(graph_level(view, report.recording.origins))
    return report


def survey(arguments: Namespace, graph: Graph, words: Sequence[str]) -> int:
    """Write what of a model can go through, as text and as a page; return the exit code."""
    from gawee_dialect.passes.graph.lowerings import lowerings

    coverage = graph.coverage().with_lowerings(lowerings())
    if wants_report(arguments):
        write_report(arguments, surveyed(graph, coverage, words))
    if not arguments.coverage:
        return DONE
    write_text(arguments.output, coverage.json() if arguments.json else coverage_text(coverage))
    return DONE if coverage.goes_through else WRONG_INPUT


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError, and then writes nothing."""
    paths, rest = split_load_flags(PROG, argv)
    with loaded_files(paths):
        if is_sub_command(rest):
            return run_sub_command(rest)
        return translate(parse_arguments(rest), argv)


def translate(arguments: Namespace, words: Sequence[str]) -> int:
    """Read a graph and write it as flags say; raises GaweeError and OSError."""
    source = Source.read(arguments.input)
    if arguments.coverage or wants_report(arguments):
        graph = open_graph(source, read_options(arguments), arguments.source)
        return survey(arguments, graph, words)
    weights = weights_path(arguments)
    if weights is not None and not weights.exists():
        raise GaweeError(f"cannot read weights: there is no '{weights}'")
    # An archive has names, not paths: nothing of the graph's own files can be checked.
    folder = weights if weights is not None and weights.is_dir() else None
    options = read_options(arguments, folder, other_weights=weights is not None)
    graph = open_graph(source, options, arguments.source)
    TARGETS[arguments.target](Job(graph, arguments, weights))
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-translate; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
