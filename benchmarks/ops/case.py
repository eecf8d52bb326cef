"""One op at three sizes: what it is here, what it is in PyTorch, and how long both take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from benchmarks.zoo.check import relative_difference, tensors
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.dialect.types import ELEMENT_TYPES, shape_text
from gawee_dialect.evaluation.turns import least_seconds
from gawee_dialect.frontends.op_mapping.emitter import EntryFunction
from gawee_dialect.model import Model

Array: TypeAlias = NDArray[np.generic]
Operand: TypeAlias = Callable[[np.random.Generator], Array]

SIZES = ("small", "medium", "large")

TOLERANCE = 1e-3
"""Of the range of PyTorch's result: what computes something else is not measured."""

MOST_ROUNDS = 400


@dataclass(frozen=True)
class Case:
    """An op of the dialect, the function of PyTorch that computes the same, and operands."""

    name: str
    op: Callable[..., Operation]
    eager: Callable[..., object]
    sizes: Sequence[Sequence[Operand]]
    """The operands at each size."""

    weights: int = 0
    """How many of the operands, the last ones, are known before calls."""

    def arrays(self, size: int) -> list[Array]:
        """Make the operands of a size; always the same."""
        random = np.random.default_rng(0)
        return [operand(random) for operand in self.sizes[size]]

    def model(self, arrays: Sequence[Array]) -> Model:
        """Return a graph of the op alone, for operands like some, with those that are weights."""
        entry, inputs = EntryFunction(), len(arrays) - self.weights
        values = [
            entry.add_argument(
                ArgumentKind.INPUT if index < inputs else ArgumentKind.PARAMETER,
                f"v{index}",
                TensorType(ELEMENT_TYPES[array.dtype.name], array.shape),
            )
            for index, array in enumerate(arrays)
        ]
        results = entry.emit.all(self.op(*values))
        module = entry.module(results, [f"y{index}" for index in range(len(results))])
        module.verify()
        return Model(module, {f"v{index}": arrays[index] for index in range(inputs, len(arrays))})


@dataclass(frozen=True)
class Times:
    """The least seconds of a call at one size."""

    case: str
    size: str
    shapes: str
    ours: float
    eager: float

    @property
    def ratio(self) -> float:
        """PyTorch's time over ours: above 1 where ours is faster."""
        return self.eager / self.ours


def measure(case: Case, size: int, seconds: float) -> Times:
    """Measure both in turns for some seconds, on one thread.

    Raises ValueError where the results differ.
    """
    torch.set_num_threads(1)
    arrays = case.arrays(size)
    compiled = case.model(arrays).compile(CodeOptions(num_threads=1))
    inputs = {f"v{index}": each for index, each in enumerate(arrays[: len(compiled.inputs)])}
    operands = [torch.from_numpy(each) for each in arrays]
    with torch.inference_mode():
        pairs = zip(tensors(case.eager(*operands)), compiled.run(inputs).values(), strict=True)
        # PyTorch's order of equal elements is its own, so that indices may differ.
        apart = max(relative_difference(expected, got) for expected, got in list(pairs)[:1])
        if not apart <= TOLERANCE:
            raise ValueError(f"results are {apart:.1e} of their range apart")
        calls = (lambda: compiled.run(inputs), lambda: case.eager(*operands))
        ours, eager = least_seconds(calls, MOST_ROUNDS, most_seconds=seconds)
    shapes = ", ".join(shape_text(each.shape) for each in arrays)
    return Times(case.name, SIZES[size], shapes, ours, eager)
