"""The sub-commands of gawee-translate: `info`, `visualize`, `weights`, `opdesc` and `torch`.

gawee-translate info FILE         how many nodes, weights, parameters, and which ops
gawee-translate visualize FILE    the graph as Mermaid text, or as a picture
gawee-translate weights IN OUT    weights in another format
gawee-translate opdesc FILE       operator descriptions as definition code
gawee-translate torch MODULE:FACTORY   a PyTorch model as NPU_IR
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Protocol, TypeGuard

from rich.console import Console
from rich.progress import Progress

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.npu_ir.pytorch import Module
from gawee_dialect.inspection.drawing import (
    PICTURES,
    dot_text,
    draw,
    mermaid_pie,
    mermaid_text,
    render,
    summary_json,
    summary_text,
)
from gawee_dialect.inspection.graph_view import GraphView
from gawee_dialect.model import load
from gawee_dialect.parameters import open_archive
from gawee_dialect.parameters.archives import import_torch, write_parameters
from gawee_dialect.parameters.binding import open_parameters
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    MemoryStore,
    ParameterProblem,
    ParameterStore,
)
from gawee_dialect.source import Source
from gawee_dialect.tools.command_line import DONE, CommandParser, write_text
from gawee_dialect.tools.graph_arguments import add_translated_file, is_size, read_options
from gawee_dialect.tools.plugin_file import LOAD_HELP

# `gawee-translate torch MODULE:FACTORY`: a model of PyTorch from the Python code that makes it.


def torch_parser() -> CommandParser:
    """Describe the command line of `gawee-translate torch`."""
    parser = CommandParser(
        prog="gawee-translate torch",
        description="Write the graph of a PyTorch model as NPU_IR, its weights beside it.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("factory", metavar="MODULE:FACTORY", help="what makes the model, called without arguments")
    add(
        "--shape",
        action="append",
        default=[],
        metavar="SIZES[:DTYPE]",
        help="of each input in turn, such as 1,3,224,224 or 1,77:int64 (default: float32)",
    )
    add("-o", "--output", required=True, metavar="FILE.json", help="FILE.npz gets the weights")
    add("--no-weights", action="store_true", help="write the graph alone")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def _factory(text: str) -> Callable[[], object]:
    """Find what makes the model, in the current folder too; raises GaweeError."""
    module_name, _, name = text.partition(":")
    if not module_name or not name:
        raise GaweeError(
            f"expected MODULE:FACTORY such as torchvision.models:resnet18, got {text!r}"
        )
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise GaweeError(f"cannot import '{module_name}': {error}") from error
    factory: object = getattr(module, name, None)
    if not callable(factory):
        raise GaweeError(f"expected '{module_name}' to have a function '{name}', got none")
    return factory


def _example(text: str) -> object:
    """Make zeros of sizes and a dtype; raises GaweeError."""
    torch = import_torch("cannot make an input")
    sizes, _, name = text.partition(":")
    dtype: object = getattr(torch, name or "float32", None)
    known = all(map(is_size, sizes.split(",")))
    if not known or not isinstance(dtype, torch.dtype):
        raise GaweeError(f"expected --shape SIZES[:DTYPE] such as 1,77:int64, got '{text}'")
    return torch.zeros([int(size) for size in sizes.split(",")], dtype=dtype)


class _Net(Module, Protocol):
    def eval(self) -> object: ...

    def state_dict(self) -> Mapping[str, object]: ...


def _is_net(value: object) -> TypeGuard[_Net]:
    return isinstance(value, import_torch("cannot read a model").nn.Module)


def extract_torch(arguments: Namespace) -> int:
    """Make, trace and write a model; raises GaweeError and OSError, and then writes nothing."""
    import_torch("cannot read a model of PyTorch")
    from gawee_dialect.frontends.npu_ir.extract import extract_ir
    from gawee_dialect.pytorch.tensors import tensors_as_arrays

    model = _factory(arguments.factory)()
    if not _is_net(model):
        raise GaweeError(
            Diagnostic(
                f"expected '{arguments.factory}' to return a torch.nn.Module, "
                f"got {type(model).__name__}",
                hint="a function without arguments that makes the model will do",
            )
        )
    model.eval()
    examples = [_example(text) for text in arguments.shape]
    ir = extract_ir(model, examples, strict=False)
    path = Path(arguments.output)
    if not arguments.no_weights:
        arrays = tensors_as_arrays(model.state_dict())
        write_parameters(path.with_suffix(".npz"), MemoryStore(arrays), None)
    ir.save(path)
    return DONE


# The sub-command `gawee-translate opdesc`: descriptions of operators as definition code.

EMITTED = ("python", "irdl", "c", "header", "docs", "onnx")
"""What `--emit` may name."""


def _emitted(kind: str, path: str) -> str:
    """Return the descriptions of a file as code of a kind; each pays for its own imports."""
    if kind == "header":
        from gawee_dialect.opdesc.emit.c_file import header_text

        return header_text()
    from gawee_dialect.opdesc.read import read_descriptions

    described = read_descriptions(path)
    dialect, operators = described.dialect, described.operators
    match kind:
        case "python":
            from gawee_dialect.opdesc.emit.python_file import python_file

            return python_file(dialect, operators, described.text, path)
        case "irdl":
            from gawee_dialect.opdesc.emit.irdl import irdl_file

            return irdl_file(dialect, operators)
        case "c":
            from gawee_dialect.opdesc.emit.c_file import c_file

            return c_file(operators, path)
        case "docs":
            from gawee_dialect.opdesc.emit.markdown_page import page

            return page(dialect, operators)
        case _:
            from gawee_dialect.opdesc.emit.onnx_file import onnx_file

            return onnx_file(dialect, operators)


def opdesc_parser() -> CommandParser:
    """Describe the command line of `gawee-translate opdesc`."""
    parser = CommandParser(
        prog="gawee-translate opdesc",
        description="Write descriptions of operators as definition code: op classes in Python, "
        "IRDL for mlir-opt, C functions and their header gawee_op.h, a page in Markdown, or "
        "functions of ONNX.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", help="file of operator descriptions (.json, .op)")
    add("--emit", required=True, choices=EMITTED, help="what to write")
    add("-o", "--output", default="-", metavar="FILE", help="default: standard output")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def emit_operators(arguments: Namespace) -> int:
    """Do what the command line says; raises GaweeError and OSError, and then writes nothing."""
    if arguments.input == "-":
        raise GaweeError("expected a file of operator descriptions, got standard input")
    write_text(arguments.output, _emitted(arguments.emit, arguments.input))
    return DONE


# `gawee-translate weights IN OUT`: weights from one format to another.

FORMATS = ".npz, .safetensors, .pt, UWEF's .json, or a folder of raw files"


class _WatchedStore(ParameterStore):
    """A store that reports how many bytes were read of it."""

    def __init__(self, store: ParameterStore, tell: Callable[[int], None]) -> None:
        self._store, self.names = store, store
        self._tell = tell

    def describe(self, name: str) -> ArrayDescription:
        return self._store.describe(name)

    def __getitem__(self, name: str) -> Array:
        try:
            array = self._store[name]
        except ParameterProblem as problem:
            message = f"cannot read weights: {problem}"
            raise GaweeError(Diagnostic(message, problem.place)) from problem
        self._tell(array.nbytes)
        return array


def weights_parser() -> CommandParser:
    """Describe the command line of `gawee-translate weights`."""
    parser = CommandParser(
        prog="gawee-translate weights",
        description="Write weights in another format, which the suffix of OUT names.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("input", metavar="IN", help=FORMATS)
    add("output", metavar="OUT", help=FORMATS)
    add("--graph", help="graph that says what the raw files of a folder are")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def convert_weights(arguments: Namespace) -> int:
    """Read and write; raises GaweeError and OSError, and then writes nothing."""
    source, target = Path(arguments.input), Path(arguments.output)
    model = load(arguments.graph, {}) if arguments.graph is not None else None
    if source.is_dir() and model is None:
        raise GaweeError(
            Diagnostic(
                f"cannot read folder '{source}': raw files say neither name nor shape",
                hint="--graph GRAPH says which file holds which parameter",
            )
        )
    wanted = None if model is None else model.entry.weights
    store = open_archive(source) if wanted is None else open_parameters(source, wanted)
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(target.name, total=_bytes(store))
        watched = _WatchedStore(store, lambda size: progress.advance(task, size))
        write_parameters(target, watched, None if model is None else model.function)
    print(f"wrote {target}")
    return DONE


def _bytes(store: ParameterStore) -> int:
    """Return about how many bytes all arrays take, without reading any."""
    sizes = {"float64": 8, "int64": 8, "float16": 2, "bfloat16": 2, "bool": 1, "int8": 1}
    described = [store.describe(name) for name in store]
    return sum(prod(each.shape) * sizes.get(each.dtype, 4) for each in described)


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
