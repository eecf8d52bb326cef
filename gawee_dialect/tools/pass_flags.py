"""Passes named on a command line, in any of the three spellings, in the order given.

--canonicalize --lower-to-linalg         one flag a pass, --pass=option=value with options
-p 'canonicalize,lower-to-linalg'        xDSL's pipeline
--pass-pipeline='builtin.module(...)'    MLIR's pipeline
"""

from collections.abc import Container, Iterator, Sequence

from gawee_dialect.diagnostics import GaweeError

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
