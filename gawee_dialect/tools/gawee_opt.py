"""gawee-opt: read MLIR, run passes, write MLIR; mlir-opt for the gawee dialect."""

import shlex
import sys
from argparse import (
    SUPPRESS,
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass, get_pass_option_infos

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.frontends.formats import FRONTENDS
from gawee_dialect.frontends.mlir_text import SPLIT_MARKER, parse_mlir, split_chunks
from gawee_dialect.instruments import (
    bisect,
    check_each,
    debug_counter,
    explain_missed,
    print_ir,
    prove_each,
    reproducer,
    rewrite_limit,
    timing,
    trace_patterns,
)
from gawee_dialect.instruments.print_ir import text_options
from gawee_dialect.instruments.report import print_table
from gawee_dialect.instruments.reproducer import Reproducer
from gawee_dialect.instruments.timing import Timing
from gawee_dialect.passes.insertion import parse_insertion, with_insertions
from gawee_dialect.passes.instrument import Instrument, instrumented
from gawee_dialect.passes.pass_manager import PassTable, parse_passes, run_pipeline
from gawee_dialect.source import Source
from gawee_dialect.tools.command_line import (
    DONE,
    CommandParser,
    run_tool,
    write_text,
)
from gawee_dialect.tools.expected_errors import compare_errors, expected_errors
from gawee_dialect.tools.graph_arguments import add_insert
from gawee_dialect.tools.pass_flags import split_pass_flags
from gawee_dialect.tools.plugin_file import (
    LOAD_HELP,
    LOAD_OPS_HELP,
    NATIVE_CODE_HELP,
    Loaded,
    loaded_files,
    modules_of,
    split_load_flags,
)
from gawee_dialect.tools.report_flags import (
    add_report_flags,
    new_report,
    refuse_report,
    wants_report,
    write_report,
)
from gawee_dialect.tools.watch import Hits, Watch
from gawee_dialect.universe import OVERRIDES, PASSES, PIPELINES, all_passes, make_context
from gawee_dialect.upstream.equivalence import are_equivalent
from gawee_dialect.upstream.printing import TextOptions, module_text

if TYPE_CHECKING:
    from rich.table import Table

    from gawee_dialect.instruments.check.failure import CheckStep
    from gawee_dialect.instruments.prove.each import ProofStep
    from gawee_dialect.report.document import Report

# The instruments that flags of gawee-opt install.
#
# A family is a module with two functions, `add_flags(parser)` and `from_flags(arguments, name)`,
# the second of which returns the instruments that the flags ask for. A new family is one entry
# here.


class InstrumentFamily(Protocol):
    """What a module of instruments offers the command line."""

    def add_flags(self, parser: ArgumentParser) -> None:
        """Add the family's flags."""
        ...

    def from_flags(self, arguments: Namespace, name: str) -> Sequence[Instrument]:
        """Make the instruments that are asked for; `name` is the input's, for messages."""
        ...


FAMILIES: tuple[InstrumentFamily, ...] = (
    timing,
    print_ir,
    trace_patterns,
    explain_missed,
    rewrite_limit,  # before the check, which runs what it stopped at
    debug_counter,
    bisect,
    check_each,
    prove_each,
    reproducer,
)


def make_instruments(arguments: Namespace, name: str) -> list[Instrument]:
    """Return the instruments that a command line asks for, in the order of FAMILIES."""
    return [made for family in FAMILIES for made in family.from_flags(arguments, name)]


# gawee-opt --verify-roundtrip: printed and read again, a module is the same.

FORMS = {"pretty": TextOptions(), "generic": TextOptions(generic=True)}


def verify_roundtrip(module: ModuleOp, parse: Callable[[str, str], ModuleOp]) -> None:
    """Check both forms of a module's text; `parse` takes a text and a name for it.

    Raises GaweeError where the text of a form is not read, or is read as another module.
    """
    for form, options in FORMS.items():
        again = parse(module_text(module, options), f"<{form} form>")
        if not are_equivalent(module, again, {}):
            raise GaweeError(_difference(form, module, again))


def _difference(form: str, module: ModuleOp, again: ModuleOp) -> Diagnostic:
    """Name the first op that became another; the module, where their uses alone differ."""
    pairs = zip(module.walk(), again.walk(), strict=False)
    was, became = next(
        ((a, b) for a, b in pairs if a is not module and _facts(a) != _facts(b)), (module, again)
    )
    message = f"expected to be the same after it was printed in the {form} form and read"
    return Diagnostic.at(was, message, hint=_change(was, became))


def _facts(op: Operation) -> dict[str, object]:
    return {
        "the op": op.name,
        **{f"'{name}'": str(value) for name, value in (op.properties | op.attributes).items()},
        "the operands": [str(operand.type) for operand in op.operands],
        "the results": [str(result.type) for result in op.results],
        "the regions": [len(region.blocks) for region in op.regions],
    }


def _change(was: Operation, became: Operation) -> str | None:
    before, after = _facts(was), _facts(became)
    changed = next((k for k in before | after if before.get(k) != after.get(k)), None)
    if changed is None:
        return None
    return f"{changed} was {before.get(changed, 'absent')}, became {after.get(changed, 'absent')}"


# What --list-passes prints: every pass with its summary and options, ours first.


def pass_list(table: PassTable) -> str:
    """Return the listing of every pass in the table."""
    ours = [name for name in (*PASSES, *PIPELINES, *OVERRIDES) if name in table]
    others = sorted(name for name in table if name not in ours)
    sections = (("passes of gawee", ours), ("passes of xDSL and of other plugins", others))
    lines = [
        line
        for title, names in sections
        for line in (f"{title}:", *(text for name in names for text in _entry(name, table)), "")
    ]
    return "\n".join(lines)


def _entry(name: str, table: PassTable) -> Iterator[str]:
    try:
        pass_type = table[name]()
    except ImportError as error:  # a plugin that needs what is not installed
        yield f"  {name:<32} (cannot be loaded: {error})"
        return
    yield f"  {name:<32} {summary(pass_type)}".rstrip()
    for option, kind, default in options(pass_type):
        yield f"      {option}: {kind}" + ("" if default is None else f" = {default}")


def summary(pass_type: type[ModulePass]) -> str:
    """Return the first line of a pass's docstring, empty where there is none."""
    text = (pass_type.__doc__ or "").strip()
    # A dataclass without a docstring gets its signature as one.
    return "" if text.startswith(f"{pass_type.__name__}(") else text.partition("\n")[0]


def options(pass_type: type[ModulePass]) -> list[tuple[str, str, str | None]]:
    """Return a pass's options as the command line spells them: name, type, default if any."""
    if not is_dataclass(pass_type) or not fields(pass_type):
        return []
    return [
        (info.name.replace("_", "-"), info.expected_type, info.default_value)
        for info in get_pass_option_infos(pass_type)
    ]


# The page in the folder of a reproducer: what every pass did until one failed.


def failure_page(
    prog: str, words: Sequence[str], source: str
) -> Callable[[Context, ModuleOp, Sequence[ModulePass]], str]:
    """Return what makes the page of a failure, while its exception is handled.

    `words` are the command line and `source` the input of the run that failed.
    """

    def page(ctx: Context, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        # Imported here: only a failure needs it.
        from gawee_dialect.report.document import Report

        report, copy = Report(prog, words, source), module.clone()
        report.recording.start(copy)
        try:
            with instrumented(report.recording):
                run_pipeline(ctx, copy, passes)
        except Exception:
            return report.html()  # of this failure, which is the same as that of the run
        return report.html()

    return page


PROG = "gawee-opt"


def argument_parser() -> CommandParser:
    """Describe the command line, apart from pass flags (see pass_flags.py)."""
    names = "\n".join(f"  --{name}" for name in (*PASSES, *PIPELINES, *OVERRIDES))
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
        epilog="Every pass is a flag, and passes run in the order given:\n"
        "  gawee-opt --canonicalize --lower-to-linalg in.mlir\n"
        "  gawee-opt in.mlir --some-pass='option=1 other=2'\n\n"
        f"passes of gawee:\n{names}\n"
        "--list-passes describes them, and those of xDSL and of other plugins.\n\n"
        "exit code: 0 done; 1 the input or the command line is wrong; 2 a bug in gawee-opt; "
        "3 done, but a pass that was to be checked or proved could not be checked",
    )
    add = parser.add_argument
    add("input", nargs="?", default="-", help="MLIR file, - for standard input (the default)")
    add("-o", "--output", default="-", metavar="FILE", help="output file (default: stdout)")
    add("-p", "--passes", metavar="PIPELINE", help="run passes: 'a,b{option=1}'")
    add("--pass-pipeline", metavar="PIPELINE", help="run passes: 'builtin.module(a,b)'")
    add_insert(parser)
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--load-ops", metavar="FILE", help=LOAD_OPS_HELP)
    add("--allow-native-code", action="store_true", help=f"for checks: {NATIVE_CODE_HELP}")
    add(
        "--watch",
        action="store_true",
        help="run again whenever the input or a loaded file is saved, and print what became "
        "different in the output, and how often each pattern fired; Ctrl-C ends it",
    )
    add("--watch-runs", type=int, metavar="N", help=SUPPRESS)  # for tests: end after N runs
    add("--list-passes", action="store_true", help="describe every pass and its options")
    add(
        "--emit-irdl",
        action="store_true",
        help="print the gawee dialect as IRDL: what stock mlir-opt --irdl-file reads graphs by",
    )
    add("--split-input-file", action="store_true", help=f"split at lines '{SPLIT_MARKER}'")
    add(
        "--verify-diagnostics",
        action="store_true",
        help="for tests of messages: compare errors with '// expected-error {{text}}' "
        "annotations; where there are none, print them to stdout and go on",
    )
    add(
        "--verify-roundtrip",
        action="store_true",
        help="check that what was read is the same after it was printed, in the pretty and in the "
        "generic form, and read again",
    )
    add(
        "--verify-each",
        nargs="?",
        type=_boolean,
        const=True,
        default=True,
        metavar="BOOL",
        help="verify the module after each pass (default: true)",
    )
    add("--mlir-print-op-generic", action="store_true", help="print the generic form")
    add("--mlir-print-debuginfo", action="store_true", help="print locations")
    add(
        "--cost",
        action="store_true",
        help="print FLOPs and bytes of each node to stderr, as the graph is after the passes",
    )
    add("--allow-unregistered-dialect", action="store_true", help="parse unknown ops")
    add("--debug", action="store_true", help="show the traceback of an error")
    add("--version", action="store_true", help="show versions")
    add_report_flags(parser)
    for family in FAMILIES:
        family.add_flags(parser)
    return parser


def _boolean(text: str) -> bool:
    if text not in ("true", "1", "false", "0"):
        raise ArgumentTypeError(f"expected true or false, got '{text}'")
    return text in ("true", "1")


def parse_arguments(argv: Sequence[str], table: PassTable) -> tuple[Namespace, list[ModulePass]]:
    """Read the command line; raises GaweeError, with the nearest flag, for an unknown one."""
    rest, specs = split_pass_flags(argv, table)
    parser = argument_parser()
    arguments, unknown = parser.parse_known_args(parser.with_values_attached(rest))
    if unknown:
        flags = [*parser.flags(), *(f"--{name}" for name in table)]
        raise GaweeError(_unknown_argument(unknown[0], flags))
    if arguments.split_input_file:
        refuse_report(arguments, "--split-input-file")
    passes = [made for spec in specs for made in parse_passes(spec, table)]
    insertions = [parse_insertion(text, table) for text in arguments.insert]
    return arguments, [*with_insertions(passes, insertions)]


def _unknown_argument(word: str, flags: Sequence[str]) -> Diagnostic:
    if not word.startswith("-"):
        return Diagnostic(f"expected one input file, got another: '{word}'")
    flag = word.partition("=")[0]
    hint = did_you_mean(flag, flags, f"{PROG} --help lists the flags, --list-passes the passes")
    return Diagnostic(f"unknown flag or pass '{flag}'", hint=hint)


def phase(timing: Timing | None, name: str) -> AbstractContextManager[None]:
    """Return what times a phase of the tool, where times are asked for."""
    return nullcontext() if timing is None else timing.phase(name)


def cost_report(module: ModuleOp) -> "Table":
    """Return what the entry function costs; raises GaweeError where it is not at gawee level."""
    # Imported here: only this flag needs it.
    from gawee_dialect.analysis.cost import analyze_module_cost, cost_table

    return cost_table(analyze_module_cost(module))


class Chunks:
    """Takes the chunks of one input through the passes, one after another."""

    def __init__(
        self,
        arguments: Namespace,
        passes: Sequence[ModulePass],
        name: str,
        instruments: Sequence[Instrument] = (),
        report: "Report | None" = None,
    ):
        self.arguments = arguments
        self.passes = passes
        self.name = name
        # A check that fails ends what those after it hear.
        first = () if report is None else (report.recording,)
        self.instruments = [*first, *make_instruments(arguments, name), *instruments]
        for each in self.instruments:
            if isinstance(each, Reproducer):
                each.page = failure_page(PROG, getattr(arguments, "command_line", ()), name)
        timers = (each for each in self.instruments if isinstance(each, Timing))
        self.timing = next(timers, None)
        self.complaints: list[Diagnostic] = []

    def checks(self) -> "Sequence[CheckStep] | None":
        """Return what `--check-each` found; None where it did not run."""
        if not self.arguments.check_each:
            return None
        from gawee_dialect.instruments.check.each import CheckEach

        return next((each.steps for each in self.instruments if isinstance(each, CheckEach)), None)

    def proofs(self) -> "Sequence[ProofStep] | None":
        """Return what `--prove-each` found; None where it did not run."""
        if not self.arguments.prove_each:
            return None
        from gawee_dialect.instruments.prove.each import ProveEach

        return next((each.steps for each in self.instruments if isinstance(each, ProveEach)), None)

    def process(self, ctx: Context, chunk: str, line_offset: int) -> str:
        """Return the output for one chunk.

        Raises GaweeError, unless errors are part of the output or annotated in the chunk.
        """
        if not self.arguments.verify_diagnostics:
            return self._transform(ctx, chunk, line_offset)
        expected = expected_errors(chunk, line_offset)
        try:
            output, got = self._transform(ctx, chunk, line_offset), ()
        except GaweeError as error:
            output, got = f"{error}\n", error.diagnostics
        if not expected:
            return output
        self.complaints += compare_errors(expected, got, self.name)
        return ""

    def _transform(self, ctx: Context, chunk: str, line_offset: int) -> str:
        with phase(self.timing, "parse"):
            module = parse_mlir(ctx, chunk, self.name, line_offset)
        if self.arguments.verify_roundtrip:
            verify_roundtrip(module, self._parse_again)
        with instrumented(*self.instruments):
            run_pipeline(ctx, module, self.passes, verify_each=self.arguments.verify_each)
        if self.arguments.cost:
            print_table(cost_report(module))
        with phase(self.timing, "print"):
            return self._print(module)

    def _parse_again(self, text: str, name: str) -> ModuleOp:
        allow_unregistered = self.arguments.allow_unregistered_dialect
        return parse_mlir(make_context(allow_unregistered=allow_unregistered), text, name)

    def _print(self, module: ModuleOp) -> str:
        return module_text(module, text_options(self.arguments, dump=False))


def check_is_mlir(source: Source) -> None:
    """Raise GaweeError, with the command that works, for a graph in another format."""
    others = (each for name, each in FRONTENDS.items() if name != "mlir" and each.accepts(source))
    other = next(others, None)
    if other is None or FRONTENDS["mlir"].accepts(source):
        return
    hint = f"gawee-translate {shlex.quote(source.name)} | {PROG} reads it"
    if source.path is None:
        hint = f"gawee-translate turns it into MLIR, which {PROG} reads"
    message = f"expected MLIR, got a graph in the format '{other.name}'"
    raise GaweeError(Diagnostic(message, f"{source.name}:1:1", hint=hint))


def native_code(arguments: Namespace) -> AbstractContextManager[None]:
    """Allow C that modules bring to run, where the command line says so."""
    if not arguments.allow_native_code:
        return nullcontext()
    from gawee_dialect.backend.native_code import native_code_allowed

    return native_code_allowed()


def transformed(
    arguments: Namespace, passes: Sequence[ModulePass], instruments: Sequence[Instrument] = ()
) -> str:
    """Read, take through the passes, and return the output; raises GaweeError."""
    wanted = wants_report(arguments)
    source = Source.read(arguments.input)
    check_is_mlir(source)
    words: Sequence[str] = getattr(arguments, "command_line", ())  # none while it watches
    report = new_report(PROG, words, source.name) if wanted else None
    chunks = Chunks(arguments, passes, source.name, instruments, report)
    parts = split_chunks(source.text) if arguments.split_input_file else [(source.text, 0)]
    # A context of its own for each chunk: passes load dialects, and chunks must not depend on it.
    try:
        with native_code(arguments):
            outputs = [
                chunks.process(
                    make_context(allow_unregistered=arguments.allow_unregistered_dialect), *part
                )
                for part in parts
            ]
    finally:
        for instrument in chunks.instruments:
            instrument.report()
        if report is not None:
            report.checks, report.proofs = chunks.checks(), chunks.proofs()
            write_report(arguments, report)
    if chunks.complaints:
        raise GaweeError(chunks.complaints)
    printed = (output for output in outputs if output)
    return f"{SPLIT_MARKER}\n".join(printed)


def irdl_of_dialect() -> str:
    """Return the gawee dialect as IRDL."""
    from gawee_dialect.dialect import GAWEE
    from gawee_dialect.dialect.irdl_text import irdl_text

    return irdl_text(GAWEE)


def run_once(argv: Sequence[str], loaded: Loaded, words: Sequence[str]) -> int:
    """Do what a command line without `--load` says; raises GaweeError and OSError.

    `words` is the whole line, for reproducers.
    """
    table = all_passes()
    arguments, passes = parse_arguments(argv, table)
    arguments.command_line = tuple(words)
    arguments.loaded_files = tuple(modules_of(loaded.paths).values())
    if arguments.version:
        from gawee_dialect.tools.doctor import version_text

        print(version_text(PROG))
    elif arguments.emit_irdl:
        write_text(arguments.output, irdl_of_dialect())
    elif arguments.list_passes:
        write_text(arguments.output, pass_list(table))
    else:
        write_text(arguments.output, transformed(arguments, passes, loaded.instruments))
    return DONE


def watch(argv: Sequence[str], paths: Sequence[str]) -> int:
    """Run whenever the input or a loaded file is saved; raises GaweeError for standard input."""
    parser = argument_parser()
    words, _ = split_pass_flags(argv, all_passes())
    # Passes of loaded files are unknown as yet, and a later save may add one.
    watched, _ = parser.parse_known_args(parser.with_values_attached(words))
    if watched.input == "-":
        raise GaweeError("expected a file to watch, got standard input")
    files = {Path(path) for path in (watched.input, *paths)}

    def run(hits: Hits) -> str:
        with loaded_files(paths, flags=parser.flags()) as loaded:
            files.update(modules_of(paths).values())
            arguments, passes = parse_arguments(argv, all_passes())
            if arguments.reproducer_dir is None:
                arguments.reproducer_dir = ""  # with --watch the failure is being worked on already
            output = transformed(arguments, passes, [*loaded.instruments, hits])
            if arguments.output != "-":
                write_text(arguments.output, output)
            return output

    return Watch(PROG, run, files, print_first=watched.output == "-").loop(watched.watch_runs)


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    paths, rest = split_load_flags(PROG, argv)
    if "--watch" in rest:
        return watch(rest, paths)
    with loaded_files(paths, flags=argument_parser().flags()) as loaded:
        return run_once(rest, loaded, argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-opt; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
