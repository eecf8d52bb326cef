"""gawee as an engine: from a PyTorch network, or a file, to a callable on one array."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from gawee_dialect.code_options import CodeOptions
from gawee_dialect.model import load
from gawee_dialect.pytorch.compiled import compile_torch

Array = NDArray[np.generic]


def compile(
    model: nn.Module, inputs: tuple[Tensor, ...], *, num_threads: int, cache: bool = False
) -> Callable[[Array], Array]:
    """Compile a network for its inputs' shapes; returns a callable on one array.

    Raises GaweeError for a network that cannot be read.
    """
    options = CodeOptions(num_threads=num_threads)
    return _single(compile_torch(model, inputs, options, cache=cache).native)


def compile_file(path: str, *, num_threads: int) -> Callable[[Array], Array]:
    """Compile a network of a file, without the cache; returns a callable on one array.

    Raises GaweeError for a file that cannot be read.
    """
    return _single(load(path).compile(CodeOptions(num_threads=num_threads), cache=False))


def _single(native: Callable[..., Array | tuple[Array, ...]]) -> Callable[[Array], Array]:
    def run(array: Array) -> Array:
        result = native(array)
        return result if isinstance(result, np.ndarray) else result[0]

    return run
