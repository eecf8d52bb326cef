"""What quantization costs: the error of the output by layer, and which layers to leave in float."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np
from xdsl.ir import Operation, SSAValue

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.interpreter import run_module
from gawee_dialect.model import Model
from gawee_dialect.parameters.store import Array
from gawee_dialect.quantization.calibration import Watch
from gawee_dialect.quantization.quantizer import Quantizer, Rewriter, behind, products


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
        least = inf
        for count in range(len(self.by_layer)):
            self.progress(f"{count} layers in float")
            choice = self.keeping(count)
            if choice.error <= error:
                return choice
            least = min(least, choice.error)
        raise GaweeError(
            Diagnostic(
                f"expected an error of at most {error:g}, got {least:.2g} or more",
                hint="--sensitivity shows what each layer costs",
            )
        )

    def so_far(self, chosen: Collection[Operation]) -> Mapping[str, float]:
        """Return the error of what each layer makes where some ops are quantized, by layer."""
        rewriter = Rewriter(self.quantizer, chosen)
        model = rewriter.model()
        results = {each.name: behind(each.op) for each in self.quantizer.layers}
        names = {value: name for name, value in results.items()}
        quantized = {rewriter.values[value]: name for name, value in results.items()}
        found = {name: _Difference() for name in results}
        for sample in self.quantizer.samples:
            exact = self._made(self.quantizer.model, names, sample)
            for name, array in self._made(model, quantized, sample).items():
                found[name].add(array, exact[name])
        return {name: each.relative for name, each in found.items()}

    def _made(
        self, model: Model, names: Mapping[SSAValue, str], sample: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """Return some tensors of a run by name."""
        arrays: dict[str, Array] = {}
        watch = Watch(names, lambda value, array: arrays.update({names[value]: array}))
        run_module(model.module, {**model.bound, **sample}, listeners=[watch])
        return arrays

    def _outputs(self, model: Model) -> Mapping[str, Array]:
        runs = list(map(model.runner("gawee"), self.quantizer.samples))
        return {name: np.stack([run[name] for run in runs]) for name in runs[0]}

    @cached_property
    def _expected(self) -> Mapping[str, Array]:
        return self._outputs(self.quantizer.model)

    def _difference(self, outputs: Mapping[str, Array]) -> float:
        found = {name: _Difference() for name in outputs}
        for name, expected in self._expected.items():
            found[name].add(outputs[name], expected)
        return max(each.relative for each in found.values())


@dataclass
class _Difference:
    """The largest difference of arrays to what is expected, and the range of that."""

    largest: float = 0.0
    low: float = inf
    high: float = -inf

    def add(self, array: Array, expected: Array) -> None:
        difference = np.subtract(array, expected, dtype=np.float64)
        self.largest = max(self.largest, float(np.abs(difference).max()))
        self.low, self.high = (
            min(self.low, float(expected.min())),
            max(self.high, float(expected.max())),
        )

    @property
    def relative(self) -> float:
        """The difference as a part of the range."""
        return self.largest / (self.high - self.low) if self.high > self.low else self.largest
