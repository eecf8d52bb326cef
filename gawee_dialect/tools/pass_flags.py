"""Passes named on a command line, in any of the three spellings, in the order given.

--canonicalize --lower-to-linalg         one flag a pass, --pass=option=value with options
-p 'canonicalize,lower-to-linalg'        xDSL's pipeline
--pass-pipeline='builtin.module(...)'    MLIR's pipeline
"""

from collections.abc import Container, Sequence

PIPELINE_FLAGS = ("-p", "--passes", "--pass-pipeline")


def split_pass_flags(
    argv: Sequence[str], pass_names: Container[str]
) -> tuple[list[str], list[str]]:
    """Split a command line into what argparse is for, and pipeline specs in order.

    Done before argparse sees the line: a flag with an optional value would swallow the file name.
    """
    rest: list[str] = []
    specs: list[str] = []
    arguments = iter(argv)
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        if flag in PIPELINE_FLAGS:
            specs.append(value if equals else next(arguments, ""))
        elif flag.startswith("--") and flag[2:] in pass_names:
            options = value.strip("{}")
            specs.append(f"{flag[2:]}{{{options}}}" if options else flag[2:])
        else:
            rest.append(argument)
    return rest, specs
