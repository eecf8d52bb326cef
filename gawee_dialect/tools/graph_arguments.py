"""The arguments of several tools that say which graph is read, and what it is run on."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from gawee_dialect.analysis.open_sizes import size_name
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.open_size import SizeName
from gawee_dialect.flag_values import not_negative
from gawee_dialect.frontends.formats import FRONTENDS
from gawee_dialect.frontends.graph import ReadOptions
from gawee_dialect.tools.command_line import CommandParser


def add_translated_file(parser: CommandParser) -> None:
    """Let the command line say where text goes, and which format the input has."""
    add_shapes(parser)
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="output file (default: stdout)"
    )
    add_format(parser)


def add_format(parser: CommandParser) -> None:
    """Let the command line say which format the input has."""
    parser.add_argument(
        "--from",
        dest="source",
        default="auto",
        choices=("auto", *FRONTENDS),
        help="format of the input (default: auto, by its content)",
    )


def add_insert(parser: CommandParser) -> None:
    """Let the command line put passes into the pipeline."""
    parser.add_argument(
        "--insert",
        action="append",
        default=[],
        metavar="PLACE:PASSES",
        help="put passes into the pipeline beside one of its own: "
        "'after=fold-conv-add:my-pass{x=1}', or 'before=canonicalize#2:a,b' for the second of that "
        "name; repeatable",
    )


def add_shapes(parser: CommandParser) -> None:
    """Let the command line say sizes that the graph leaves open."""
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=SIZES",
        help="sizes that the graph leaves open: of an input (x=1,3,224,224), or of all that have "
        "one name (batch=4); may be repeated",
    )
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        metavar="NAME=LOW:HIGH",
        help="which values a size may have that has a name and stays open (length=1:512, or "
        "length=8:512:8 for multiples of 8); may be repeated",
    )
    parser.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="NAME=NUMBERS",
        help="elements of an input that says a shape, axes or a count (sr=16000, axes=0,1), which "
        "is then a constant; may be repeated",
    )


def read_options(
    arguments: Namespace, folder: Path | None = None, *, other_weights: bool = False
) -> ReadOptions:
    """Return what the command line says of a graph; raises GaweeError."""
    values = read_values(arguments.value)
    shapes, ranges = read_shapes(arguments.shape), read_ranges(arguments.range)
    return ReadOptions(folder, shapes, ranges, values, other_weights)


def read_ranges(given: Sequence[str]) -> dict[str, SizeName]:
    """Return names with the values that they may have; raises GaweeError."""
    ranges: dict[str, SizeName] = {}
    for text in given:
        name, _, numbers = text.rpartition("=")
        bounds = numbers.split(":")
        if not name or len(bounds) not in (2, 3) or not all(map(is_size, bounds)):
            raise GaweeError(f"expected --range NAME=LOW:HIGH such as length=1:512, got '{text}'")
        ranges[name] = size_name(name, *map(int, bounds))
    return ranges


def read_values(given: Sequence[str]) -> dict[str, list[float] | float]:
    """Return the numbers by name; raises GaweeError for what is no NAME=NUMBERS."""
    values: dict[str, list[float] | float] = {}
    for text in given:
        name, _, numbers = text.rpartition("=")
        try:
            found = [
                float(number) if _is_real(number) else int(number) for number in numbers.split(",")
            ]
        except ValueError:
            found = []
        if not name or not found:
            raise GaweeError(f"expected --value NAME=NUMBERS such as axes=0,1, got '{text}'")
        values[name] = found if "," in numbers else found[0]
    return values


def _is_real(number: str) -> bool:
    return any(sign in number for sign in ".eEnN")


MAX_DIGITS = 18
"""Of a size: more need not fit into 64 bits."""


def is_size(text: str) -> bool:
    """Whether a word of a command line is a size."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def read_shapes(given: Sequence[str]) -> dict[str, Sequence[int]]:
    """Return the sizes by name; raises GaweeError for what is no NAME=SIZES."""
    shapes: dict[str, Sequence[int]] = {}
    for text in given:
        name, _, sizes = text.rpartition("=")
        if not name or not all(map(is_size, sizes.split(","))):
            raise GaweeError(f"expected --shape NAME=SIZES such as x=1,3,224,224, got '{text}'")
        shapes[name] = [int(size) for size in sizes.split(",")]
    return shapes


def add_graph(parser: CommandParser) -> None:
    """Let the command line name a graph that is run, and its weights."""
    add_shapes(parser)
    add_format(parser)
    add = parser.add_argument
    add("graph", help="graph in any format, or MLIR; - for standard input")
    add(
        "--weights",
        metavar="PATH",
        help="folder of raw files, .npz, .safetensors or .pt, or 'random' "
        "(default: beside the graph)",
    )


def add_inputs(parser: CommandParser) -> None:
    """Let the command line say what a graph is run on."""
    add = parser.add_argument
    add(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]SOURCE",
        help=".npy file, picture, or 'random' (default: random); may be repeated",
    )
    add("--inputs", metavar="NPZ", help="several inputs in one .npz file, by name")
    add("--seed", type=not_negative, default=0, help="of random inputs and weights (default: 0)")
