"""gawee-run compare: described operators against functions of a Python file, on random inputs."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.flag_values import not_negative, not_negative_number, positive
from gawee_dialect.tools.command_line import DONE, WRONG_INPUT, CommandParser

NAME = "compare"


def compare_parser() -> CommandParser:
    """Describe the command line."""
    from gawee_dialect.opdesc.oracle import TOLERANCE

    parser = CommandParser(
        prog=f"gawee-run {NAME}",
        description="Compare what bodies in index notation say with what functions of a Python "
        "file compute, which bear the names of the operators. Inputs are made from the bodies. "
        "Prints the smallest use on which there is a difference.",
        allow_abbrev=False,
        epilog="exit code: 0 all operators are the same; 1 one differs, or the input is wrong; "
        "2 a bug in gawee-run",
    )
    add = parser.add_argument
    add("descriptions", help="a file of operator descriptions (.op or .json)")
    add(
        "--with",
        dest="oracle",
        required=True,
        metavar="FILE",
        help="Python file of functions, which take arrays and parameters by their names",
    )
    add(
        "--operator",
        action="append",
        default=[],
        metavar="NAME",
        help="compare this one; may be repeated (default: all that the Python file has)",
    )
    add(
        "--uses", type=positive, default=20, metavar="N", help="uses of each operator (default: 20)"
    )
    add("--seed", type=not_negative, default=0, help="of the random uses (default: 0)")
    add(
        "--tolerance",
        type=not_negative_number,
        default=TOLERANCE,
        help=f"largest difference, as a part of the output's range (default: {TOLERANCE:g})",
    )
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def is_compare(argv: Sequence[str]) -> bool:
    """Whether a command line compares; a file of that name alone is a graph to run."""
    return argv[:1] == [NAME] and (len(argv) > 1 or not Path(NAME).exists())


def run_compare(arguments: Namespace) -> int:
    """Compare, print a line for each operator, and return the exit code."""
    from gawee_dialect.opdesc.oracle import compare_with_oracle, oracle_of
    from gawee_dialect.opdesc.read import read_descriptions
    from gawee_dialect.tools.plugin_file import run_file

    described = read_descriptions(arguments.descriptions).operators
    bodies = {each.operator.optype: each for each in described if each.body is not None}
    module = run_file(arguments.oracle)
    for name in arguments.operator:
        if name not in bodies:
            hint = did_you_mean(name, bodies, f"with a body: {', '.join(bodies) or 'none'}")
            message = f"unknown operator '{name}' in '{arguments.descriptions}'"
            raise GaweeError(Diagnostic(message, hint=hint))
    compared = differing = 0
    for name, compiled in bodies.items():
        oracle = oracle_of(module, compiled)
        if oracle is None or (arguments.operator and name not in arguments.operator):
            continue
        found = compare_with_oracle(
            compiled,
            oracle,
            uses=arguments.uses,
            seed=arguments.seed,
            tolerance=arguments.tolerance,
        )
        compared += 1
        if found.difference is None:
            print(f"{name}: same on {found.uses} uses")
        else:
            differing += 1
            print(f"{compiled.operator.place}: {found.difference}")
    if compared == 0:
        message = f"expected a function in '{arguments.oracle}' that is called as an operator"
        hint = f"operators with a body: {', '.join(bodies) or 'none'}"
        raise GaweeError(Diagnostic(message, hint=hint))
    return WRONG_INPUT if differing else DONE
