"""The sub-commands of gawee-translate: `info`, `visualize`, `weights`, `opdesc` and `torch`.

gawee-translate info FILE         how many nodes, weights, parameters, and which ops
gawee-translate visualize FILE    the graph as Mermaid text, or as a picture
gawee-translate weights IN OUT    weights in another format
gawee-translate opdesc FILE       operator descriptions as definition code
gawee-translate torch MODULE:FACTORY   a PyTorch model as NPU_IR
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.inspection.drawing import draw
from gawee_dialect.inspection.graph_view import GraphView
from gawee_dialect.inspection.render import PICTURES, render
from gawee_dialect.inspection.summary import summary_json, summary_text
from gawee_dialect.inspection.text_forms import dot_text, mermaid_pie, mermaid_text
from gawee_dialect.source import Source
from gawee_dialect.tools.command_line import DONE, CommandParser, write_text
from gawee_dialect.tools.convert_weights import convert_weights, weights_parser
from gawee_dialect.tools.emit_operators import emit_operators, opdesc_parser
from gawee_dialect.tools.extract_torch import extract_torch, torch_parser
from gawee_dialect.tools.graph_arguments import add_translated_file, is_size, read_options
from gawee_dialect.tools.plugin_file import LOAD_HELP

MAX_NODES = 30
"""How many nodes `visualize` shows by default."""


def _parser(name: str, description: str) -> CommandParser:
    parser = CommandParser(
        prog=f"gawee-translate {name}", description=description, allow_abbrev=False
    )
    add = parser.add_argument
    add("input", help="graph in any format, - for standard input")
    add_translated_file(parser)
    add("--load", metavar="FILE", help=LOAD_HELP)
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def info_parser() -> CommandParser:
    """Describe the command line of `gawee-translate info`."""
    parser = _parser("info", "Print the figures of a graph: nodes, weights, parameters, ops.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def visualize_parser() -> CommandParser:
    """Describe the command line of `gawee-translate visualize`."""
    parser = _parser(
        "visualize",
        "Draw a graph as Mermaid text. With -o FILE.svg or FILE.png a renderer that is installed "
        "draws it: mmdc, or dot; -o FILE.dot writes Graphviz's language.",
    )
    add = parser.add_argument
    add(
        "--max-nodes",
        type=_count,
        default=MAX_NODES,
        metavar="N",
        help=f"draw the first N nodes (default: {MAX_NODES}), and one box for all others",
    )
    add("--no-weights", action="store_true", help="draw no weights")
    add("--pie", action="store_true", help="draw how often each op occurs instead of the graph")
    return parser


def _count(text: str) -> int:
    if not is_size(text):
        raise GaweeError(f"expected --max-nodes of at least 0, got '{text}'")
    return int(text)


def view_file(arguments: Namespace) -> GraphView:
    """Read a graph for inspection; raises GaweeError and OSError."""
    source = Source.read(arguments.input)
    return open_graph(source, read_options(arguments), arguments.source).view()


def _info(arguments: Namespace) -> int:
    view = view_file(arguments)
    text = summary_json(view) if arguments.json else summary_text(view)
    write_text(arguments.output, text)
    return DONE


def _visualize(arguments: Namespace) -> int:
    path = Path(arguments.output)
    suffix = "" if arguments.output == "-" else path.suffix.lower()
    supported = (".mmd", *PICTURES) if arguments.pie else (".mmd", ".dot", *PICTURES)
    if suffix not in ("", *supported):
        raise GaweeError(
            Diagnostic(f"unsupported output '{path}'; supported: {', '.join(supported)}")
        )
    view = view_file(arguments)
    drawing = draw(view, arguments.max_nodes, weights=not arguments.no_weights)
    mermaid = mermaid_pie(view) if arguments.pie else mermaid_text(drawing)
    dot = None if arguments.pie else dot_text(drawing)
    if suffix in PICTURES:
        render(path, mermaid, dot)
    else:
        write_text(arguments.output, dot if dot is not None and suffix == ".dot" else mermaid)
    return DONE


SUB_COMMANDS: dict[str, tuple[Callable[[], CommandParser], Callable[[Namespace], int]]] = {
    "info": (info_parser, _info),
    "visualize": (visualize_parser, _visualize),
    "weights": (weights_parser, convert_weights),
    "opdesc": (opdesc_parser, emit_operators),
    "torch": (torch_parser, extract_torch),
}


def is_sub_command(argv: Sequence[str]) -> bool:
    """Whether a command line is one of these; a file of that name alone is a graph to translate."""
    return bool(argv) and argv[0] in SUB_COMMANDS and (len(argv) > 1 or not Path(argv[0]).exists())


def run_sub_command(argv: Sequence[str]) -> int:
    """Do what the command line says; raises GaweeError and OSError."""
    make_parser, run = SUB_COMMANDS[argv[0]]
    return run(make_parser().parse_all(argv[1:]))
