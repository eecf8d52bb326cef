"""gawee as an engine: from a PyTorch network to a callable on one array."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

import gawee_dialect
from benchmarks.models import ResNet
from examples.resnet18.write_graph import write_resnet18
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import Model

Array = NDArray[np.generic]


def graph_of(model: nn.Module, x: Tensor) -> Model:
    """Return the graph of a network with its weights bound; raises GaweeError where it cannot."""
    if not isinstance(model, ResNet) or model.fc.in_features != 512 or x.shape[-1] != 224:
        raise GaweeError(f"unsupported network '{type(model).__name__}'; supported: ResNet-18")
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    with tempfile.TemporaryDirectory() as folder:
        graph = write_resnet18(Path(folder), with_weights=False)
        return gawee_dialect.load(graph, weights)


def compile(
    model: nn.Module, inputs: tuple[Tensor, ...], *, num_threads: int, cache: bool = False
) -> Callable[[Array], Array]:
    """Compile a network for its inputs' shapes; returns a callable on one array.

    Raises GaweeError for a network that cannot be read.
    """
    (x,) = inputs
    compiled = graph_of(model, x).compile(
        fast_math="contract", num_threads=num_threads, cache=cache
    )

    def run(array: Array) -> Array:
        result = compiled(array)
        assert isinstance(result, np.ndarray)
        return result

    return run
