"""gawee-quantize: make a network's layers integers of 8 bits, and say what that costs.

Ranges of activations are found on data; the result is an ONNX file in QDQ form.
"""

import sys
from argparse import Namespace
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from xdsl.ir import Operation

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.flag_values import not_negative, positive, positive_number
from gawee_dialect.parameters.archives import read_npz
from gawee_dialect.tools.command_line import (
    DONE,
    CommandParser,
    run_tool,
)
from gawee_dialect.tools.graph_arguments import add_graph
from gawee_dialect.tools.run_session import read_model
from gawee_dialect.whole_file import check_writable, write_file

if TYPE_CHECKING:
    from rich.table import Table

    from gawee_dialect.quantization.sensitivity import Choice, Sensitivity

PROG = "gawee-quantize"
OBSERVER_HELP = (
    "range of an activation: all of what it was (minmax), 99.99 %% of it (percentile), or what "
    "makes the least squared error (mse); default: minmax"
)


def argument_parser() -> CommandParser:
    """Describe the command line."""
    parser = CommandParser(
        prog=PROG,
        description=__doc__,
        allow_abbrev=False,
        epilog="Errors are largest differences to the output in f32, as parts of its range, on the "
        "data. exit code: 0 done; 1 the input is wrong, or no choice reaches the error; 2 a bug in "
        "gawee-quantize",
    )
    add = parser.add_argument
    add_graph(parser)
    add("--data", metavar="NPZ", required=True, help="inputs by name, samples along the first axis")
    add("-o", "--output", metavar="FILE", help="the .onnx file to write")
    add("--observer", choices=("minmax", "percentile", "mse"), default="minmax", help=OBSERVER_HELP)
    add(
        "--activations",
        choices=("unsigned", "signed"),
        default="unsigned",
        help="integers of activations (default: unsigned); those of weights are signed",
    )
    add("--exclude", default="", metavar="NODE,...", help="nodes that stay in float")
    add(
        "--sensitivity",
        action="store_true",
        help="print a table of the layers: the error of the output if a layer alone is quantized, "
        "and that of what it makes if all are that are chosen",
    )
    add(
        "--keep-in-float",
        type=positive,
        metavar="N",
        help="leave the N layers in float that alone cost most",
    )
    add(
        "--at-most",
        type=positive_number,
        metavar="ERROR",
        help="leave as few layers in float as this error of the output allows",
    )
    add("--seed", type=not_negative, default=0, help="of random weights (default: 0)")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def check_options(arguments: Namespace) -> None:
    """Raise GaweeError for options that do not go together, and a file that cannot be written."""
    if arguments.keep_in_float is not None and arguments.at_most is not None:
        raise GaweeError("expected --keep-in-float or --at-most, got both")
    if arguments.output is None and not arguments.sensitivity:
        hint = "-o writes the network, --sensitivity prints what it costs"
        raise GaweeError(Diagnostic("expected -o or --sensitivity, got neither", hint=hint))
    if arguments.output is not None:
        if Path(arguments.output).suffix != ".onnx":
            raise GaweeError(f"expected -o to name an .onnx file, got '{arguments.output}'")
        check_writable(Path(arguments.output))


def run(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    arguments = argument_parser().parse_all(argv)
    check_options(arguments)
    # Imported here: --help needs none of it.
    from gawee_dialect.quantization.quantizer import Quantizer
    from gawee_dialect.quantization.sensitivity import Sensitivity

    excluded = [name for name in arguments.exclude.split(",") if name]
    with Console(stderr=True).status("reading the graph") as status:
        model = read_model(arguments)
        status.update("running the network on the data")
        quantizer = Quantizer(
            model,
            read_npz(arguments.data),
            observer=arguments.observer,
            activations=arguments.activations,
            origin=f" from '{arguments.data}'",
        )
        quantizer.all_but(excluded)  # before what takes long
        sensitivity = Sensitivity(
            quantizer, excluded, lambda text: status.update(f"measuring {text}")
        )
        if arguments.at_most is not None:
            choice = sensitivity.at_most(arguments.at_most)
        else:
            choice = sensitivity.keeping(arguments.keep_in_float or 0)
        table = sensitivity_table(sensitivity, choice) if arguments.sensitivity else None
    report(sensitivity, choice, table)
    if arguments.output is not None:
        write_onnx(sensitivity, choice.chosen, arguments.output)
    return DONE


def report(sensitivity: "Sensitivity", choice: "Choice", table: "Table | None") -> None:
    """Print what the chosen layers cost."""
    console = Console()
    if table is not None:
        (console if console.is_terminal else Console(width=200)).print(table)
    quantizer = sensitivity.quantizer
    count = sum(each.op in choice.chosen for each in quantizer.layers)
    whole = 100 * quantizer.integer_part(choice.chosen)
    text = (
        f"{count} of {len(quantizer.layers)} layers on integers, {whole:.1f} % of all products; "
        f"error of the output: {choice.error:.2g}"
    )
    console.print(text, highlight=False, soft_wrap=True)


def sensitivity_table(sensitivity: "Sensitivity", choice: "Choice") -> "Table":
    """Return a table of the layers, those first that alone cost most."""
    from rich.table import Table

    from gawee_dialect.quantization.quantizer import products

    so_far = sensitivity.so_far(choice.chosen)
    every = sum(products(each.op) for each in sensitivity.quantizer.layers)
    table = Table(title="error as a part of the range, by layer")
    table.add_column("layer", overflow="fold")
    table.add_column("op")
    for title in ("% of products", "of the output, if alone", "of its own, in all"):
        table.add_column(title, justify="right")
    table.add_column("as")
    for each in sensitivity.by_layer:
        table.add_row(
            each.name,
            each.op.name.removeprefix("gawee."),
            f"{100 * each.products / every:.1f}",
            f"{each.error:.2g}",
            f"{so_far[each.name]:.2g}",
            "int8" if each.op in choice.chosen else "float",
        )
    return table


def write_onnx(sensitivity: "Sensitivity", chosen: Collection[Operation], path: str) -> None:
    """Write the network as an ONNX file; raises GaweeError for what that cannot say."""
    from gawee_dialect.frontends.onnx.export.model_file import export_onnx

    model = sensitivity.quantizer.quantized(chosen)
    write_file(Path(path), export_onnx(model.module, model.bound, model.name))
    Console().print(f"wrote {path}", highlight=False, soft_wrap=True, markup=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Run gawee-quantize; return the exit code."""
    return run_tool(PROG, sys.argv[1:] if argv is None else argv, run)


if __name__ == "__main__":
    sys.exit(main())
