"""The networks of a study, made ready: from files, or by functions."""

import runpy
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import EntryArgument
from gawee_dialect.dialect.types import dtype_name, is_shaped
from gawee_dialect.experiments.study import Cell
from gawee_dialect.hints import isa
from gawee_dialect.model import Model, load
from gawee_dialect.parameters.random_arrays import random_parameters

# Python objects by name, `module:name` or `file.py:name`: factories of networks, evaluators.


def named_object(text: str, folder: Path) -> object:
    """Return what a name stands for; files are looked for in a folder. Raises GaweeError."""
    where, colon, name = text.rpartition(":")
    if not colon or not where or not name:
        message = f"expected module:name or file.py:name, got '{text}'"
        raise GaweeError(message)
    with _importable(folder):
        members = _members(text, where, folder)
    if name not in members:
        hint = f"it has: {', '.join(each for each in members if not each.startswith('_'))}"
        raise GaweeError(Diagnostic(f"expected '{name}' in '{where}', got none", hint=hint[:200]))
    return members[name]


def _members(text: str, where: str, folder: Path) -> dict[str, object]:
    try:
        if where.endswith(".py"):
            return dict(runpy.run_path(str(folder / where)))
        return dict(vars(import_module(where)))
    except GaweeError:
        raise
    except Exception as error:  # whatever the user's code raises
        raise GaweeError(f"cannot import '{text}': {type(error).__name__}: {error}") from error


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    added = [str(folder), str(Path.cwd())]
    sys.path[:0] = added
    try:
        yield
    finally:
        for each in added:
            sys.path.remove(each)


RANDOM = "random"


@dataclass(frozen=True)
class Weight:
    """What an array of weights is to be like."""

    name: str
    shape: Sequence[int]
    dtype: np.dtype[np.generic]

    @staticmethod
    def of(argument: EntryArgument) -> "Weight":
        """Describe an argument of the entry function."""
        type = argument.type
        element, shape = (type.element_type, type.get_shape()) if is_shaped(type) else (type, ())
        return Weight(argument.name, shape, np.dtype(dtype_name(element)))


def network_of(cell: Cell) -> Model:
    """Return the network of a cell with its weights; raises GaweeError and OSError."""
    network = cell.network
    if network.factory is not None:
        made = named_object(network.factory, cell.path("."))
        if not callable(made):
            raise GaweeError(f"expected a function '{network.factory}', got another object")
        model = _model(network.factory, made(*network.arguments), network.name)
    else:
        path = cell.path(network.file or "")
        given = None if network.weights in (None, RANDOM) else cell.path(str(network.weights))
        model = load(
            path,
            {} if network.weights == RANDOM else given,
            shapes=network.shape,
            format=network.source,
        )
    if network.weights == RANDOM:
        weights = map(Weight.of, model.entry.weights)
        model.parameters = random_parameters(weights, cell.measuring.seed)
    return model


def _model(factory: str, made: object, name: str) -> Model:
    """Take what a factory returned: a Model, or a module of PyTorch with its example inputs."""
    if isinstance(made, Model):
        return made
    if isa(made, tuple[object, ...]) and len(made) == 2:
        module, inputs = made
        from_torch: Callable[..., Model] = Model.from_torch
        several = isa(inputs, tuple[object, ...]) or isa(inputs, list[object])
        return from_torch(_evaluated(module), inputs if several else (inputs,), name=name)
    raise GaweeError(
        f"expected '{factory}' to return a Model, or a module and its inputs, "
        f"got {type(made).__name__}"
    )


def _evaluated(module: object) -> object:
    evaluate = getattr(module, "eval", None)
    return evaluate() if callable(evaluate) else module
