"""gawee: every tool under one name, `gawee opt` for gawee-opt; what is installed; completion."""

import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.tools.command_line import DONE, CommandParser, run_tool

PROG = "gawee"

TOOLS: Mapping[str, str] = {
    "opt": "run passes on MLIR",
    "translate": "translate graphs to MLIR, from and to other formats",
    "run": "run a network at any level; time, compare and export it",
    "quantize": "make layers integers of 8 bits, and say what that costs",
    "tune": "search for fast schedules by measuring them",
    "reduce": "make a failing module small",
    "check": "name the pass that is wrong in another tool's pipeline, as mlir-opt's",
    "fuzz": "compare all levels on random graphs",
    "experiment": "measure what passes gain, as a study",
    "lsp": "serve editors: errors, hover, completion and more for MLIR text",
}
"""Each is a program of its own too, `gawee-NAME`."""

COMMANDS: Mapping[str, str] = {
    "doctor": "show versions, extras, the cache and the processor, for a bug report",
    "kernels": "compile the kernels of networks before they are needed, for images of systems",
    "server": "start a process from which tools start at once",
    "completion": "print what completes command lines in bash, zsh or fish",
}


def argument_parser() -> CommandParser:
    """Describe the commands."""
    rows = "\n".join(f"  {name:<12}{text}" for name, text in (*TOOLS.items(), *COMMANDS.items()))
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
        epilog=f"commands, each of which has a --help:\n{rows}\n\n"
        "exit code: 0 done; 1 the input or the command line is wrong; 2 a bug in gawee",
    )
    parser.add_argument("command", choices=(*TOOLS, *COMMANDS), help="what to do")
    parser.add_argument("--version", action="store_true", help="show versions")
    return parser


def tool_main(name: str) -> Callable[[Sequence[str]], int]:
    """Return the main function of a tool."""
    return import_module(f"gawee_dialect.tools.gawee_{name}").main


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError."""
    if not argv or argv[0] in ("-h", "--help"):
        argument_parser().print_help()
        return DONE
    name, *rest = argv
    if name == "--version":
        from gawee_dialect.tools.doctor import version_text

        print(version_text(PROG))
    elif name == "doctor":
        from gawee_dialect.tools.doctor import run_doctor

        return run_doctor(rest)
    elif name == "kernels":
        from gawee_dialect.tools.build_kernels import run_kernels

        return run_kernels(rest)
    elif name == "server":
        from gawee_dialect.tools.server.command import run_server

        return run_server(rest)
    elif name == "completion":
        from gawee_dialect.tools.completion import run_completion

        return run_completion(rest)
    else:
        known = (*TOOLS, *COMMANDS)
        hint = did_you_mean(name, known, f"commands: {', '.join(known)}")
        raise GaweeError(Diagnostic(f"unknown command '{name}'", hint=hint))
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee; return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in TOOLS:
        return tool_main(words[0])(words[1:])
    return run_tool(PROG, words, run)


if __name__ == "__main__":
    sys.exit(main())
