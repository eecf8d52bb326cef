"""`gawee-translate torch MODULE:FACTORY`: a model of PyTorch from the Python code that makes it."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Protocol, TypeGuard

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.frontends.npu_ir.pytorch import Module
from gawee_dialect.parameters.store import MemoryStore
from gawee_dialect.parameters.torch_file import import_torch
from gawee_dialect.parameters.write_archive import write_parameters
from gawee_dialect.tools.command_line import DONE, CommandParser
from gawee_dialect.tools.graph_arguments import is_size


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
