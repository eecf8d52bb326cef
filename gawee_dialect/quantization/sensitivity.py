"""What quantization costs: the error of the output by layer, and which layers to leave in float."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from xdsl.ir import Operation

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.model import Model
from gawee_dialect.parameters.store import Array
from gawee_dialect.quantization.quantizer import Quantizer, products


@dataclass(frozen=True)
class LayerError:
    """A layer, and the error of the output where it alone is quantized."""

    name: str
    op: Operation
    products: int
    error: float


@dataclass
class Choice:
    """Which layers are left in float, and what the error of the output is for it."""

    in_float: Sequence[str]
    chosen: set[Operation]
    error: float


@dataclass
class Sensitivity:
    """The errors of a network on its data: largest differences, as parts of an output's range.

    Networks run in the interpreter, whose integers are those of machine code; `progress` is told
    which layer is measured.
    """

    quantizer: Quantizer
    excluded: Sequence[str] = ()
    progress: Callable[[str], None] = field(default=lambda _: None)

    def error(self, chosen: Collection[Operation]) -> float:
        """Return the error of the output where some ops are quantized."""
        return self._difference(self._outputs(self.quantizer.quantized(chosen)))

    @cached_property
    def by_layer(self) -> Sequence[LayerError]:
        """The layers that may be quantized, those first that alone cost most."""
        found: list[LayerError] = []
        for layer in self.quantizer.layers:
            if layer.name not in self.excluded:
                self.progress(layer.name)
                error = self.error({layer.op})
                found.append(LayerError(layer.name, layer.op, products(layer.op), error))
        return sorted(found, key=lambda each: -each.error)

    def keeping(self, count: int) -> Choice:
        """Leave so many layers in float, those that alone cost most."""
        names = [each.name for each in self.by_layer[:count]]
        chosen = self.quantizer.all_but([*self.excluded, *names])
        return Choice(names, chosen, self.error(chosen))

    def at_most(self, error: float) -> Choice:
        """Leave as few layers in float as the error allows, those first that alone cost most.

        Raises GaweeError for an error that no number of them reaches.
        """
        for choice in self._choices():
            self.progress(f"{len(choice.in_float)} layers in float")
            if choice.error <= error:
                return choice
        raise GaweeError(
            Diagnostic(
                f"expected an error of at most {error:g}, got {self.keeping(0).error:.3g} and more",
                hint="--sensitivity shows what each layer costs",
            )
        )

    def _choices(self) -> Iterator[Choice]:
        return (self.keeping(count) for count in range(len(self.by_layer)))

    def _outputs(self, model: Model) -> Mapping[str, Array]:
        runs = list(map(model.runner("gawee"), self.quantizer.samples))
        return {name: np.stack([run[name] for run in runs]) for name in runs[0]}

    @cached_property
    def _expected(self) -> Mapping[str, Array]:
        return self._outputs(self.quantizer.model)

    def _difference(self, outputs: Mapping[str, Array]) -> float:
        return max(
            relative_error(outputs[name], expected) for name, expected in self._expected.items()
        )


def relative_error(array: Array, expected: Array) -> float:
    """Return the largest difference as a part of the range of what is expected."""
    spread = float(expected.max()) - float(expected.min())
    largest = float(np.abs(np.subtract(array, expected, dtype=np.float64)).max())
    return largest / spread if spread else float(largest > 0)
