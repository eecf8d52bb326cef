"""Passes named on a command line, in any of the three spellings, in the order given.

--canonicalize --lower-to-linalg         one flag a pass, --pass=option=value with options
-p 'canonicalize,lower-to-linalg'        xDSL's pipeline
--pass-pipeline='builtin.module(...)'    MLIR's pipeline
"""

from argparse import Namespace
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from gawee_dialect.passes.insertion import Insertion
    from gawee_dialect.passes.pass_manager import PassTable
    from gawee_dialect.tools.command_line import CommandParser

PIPELINE_FLAGS = ("-p", "--passes", "--pass-pipeline")


def split_pass_flags(
    argv: Sequence[str], pass_names: Container[str]
) -> tuple[list[str], list[str]]:
    """Split a command line into what argparse is for, and pipeline specs in order.

    Done before argparse sees the line: a flag with an optional value would swallow the file name.
    Raises GaweeError where a flag that takes a pipeline is the last word.
    """
    rest: list[str] = []
    specs: list[str] = []
    arguments = iter(argv)
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        if flag in PIPELINE_FLAGS:
            specs.append(value if equals else _next_after(flag, arguments))
        elif argument.startswith("-p"):  # -pcanonicalize, as argparse reads short flags
            specs.append(argument[2:])
        elif flag.startswith("--") and flag[2:] in pass_names:
            options = value.removeprefix("{").removesuffix("}")
            specs.append(f"{flag[2:]}{{{options}}}" if options else flag[2:])
        else:
            rest.append(argument)
    return rest, specs


def _next_after(flag: str, arguments: Iterator[str]) -> str:
    pipeline = next(arguments, None)
    if pipeline is None:
        raise GaweeError(f"expected a pipeline after {flag}, got nothing")
    return pipeline


def parse_with_passes(
    parser: "CommandParser", argv: Sequence[str], table: "PassTable"
) -> "tuple[Namespace, list[ModulePass], list[Insertion]]":
    """Read a command line on which passes are named; returns those, and what `--insert` inserts.

    Raises GaweeError, with the nearest flag, for an unknown one.
    """
    # Completion splits command lines too, and makes no passes.
    from gawee_dialect.passes.insertion import parse_insertion
    from gawee_dialect.passes.pass_manager import parse_passes

    rest, specs = split_pass_flags(argv, table)
    arguments, unknown = parser.parse_known_args(rest)
    if unknown:
        flag = unknown[0].partition("=")[0]
        flags = [*parser.flags(), *(f"--{name}" for name in table)]
        hint = did_you_mean(flag, flags, f"{parser.prog} --help lists the flags")
        raise GaweeError(Diagnostic(f"unknown flag or pass '{flag}'", hint=hint))
    passes = [made for spec in specs for made in parse_passes(spec, table)]
    return arguments, passes, [parse_insertion(text, table) for text in arguments.insert]
