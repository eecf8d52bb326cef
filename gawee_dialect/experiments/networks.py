"""The networks of a study, made ready: from files, or by functions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.entry import EntryArgument
from gawee_dialect.dialect.types import dtype_name, is_shaped
from gawee_dialect.experiments.python_names import named_object
from gawee_dialect.experiments.study import Cell
from gawee_dialect.hints import isa
from gawee_dialect.model import Model, load
from gawee_dialect.parameters.random_arrays import random_parameters

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
