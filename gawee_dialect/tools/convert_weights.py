"""`gawee-translate weights IN OUT`: weights from one format to another."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.model import load
from gawee_dialect.parameters import open_archive
from gawee_dialect.parameters.binding import open_parameters
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    ParameterProblem,
    ParameterStore,
)
from gawee_dialect.parameters.write_archive import write_parameters
from gawee_dialect.tools.command_line import DONE, CommandParser

FORMATS = ".npz, .safetensors, .pt, UWEF's .json, or a folder of raw files"


class _WatchedStore(ParameterStore):
    """A store that tells how many bytes were read of it."""

    def __init__(self, store: ParameterStore, tell: Callable[[int], None]) -> None:
        self._store = store
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

    def __iter__(self) -> Iterator[str]:
        return iter(self._store)

    def __len__(self) -> int:
        return len(self._store)


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
