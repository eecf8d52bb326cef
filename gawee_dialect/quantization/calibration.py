"""Calibration: data by run, and the ranges that tensors have on them, as an observer sees them."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation, SSAValue

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.parameters.given_inputs import Inputs, WantedInput, fitted, given_arrays
from gawee_dialect.parameters.store import Array
from gawee_dialect.python_numbers import is_array

Observer: TypeAlias = Literal["minmax", "percentile", "mse"]
OBSERVERS: Sequence[str] = get_args(Observer)

BINS = 2048
PERCENTILE = 99.99
"""Of the numbers of a tensor that are inside of the range of the observer `percentile`."""
SMALLEST, CANDIDATES = 0.3, 141
"""The smallest part of the whole range that `mse` looks at, and how many."""

Range: TypeAlias = tuple[float, float]


def sample_inputs(
    wanted: Sequence[WantedInput], data: Inputs, origin: str = ""
) -> list[dict[str, Array]]:
    """Return the inputs of each run: samples are along the first axis of each array of data.

    `origin` says in messages where they are from. Raises GaweeError for data that is missing, of
    another shape or kind, or not finite.
    """
    given = given_arrays(wanted, data)
    names = [each.name for each in wanted]
    hint = f"inputs of the graph: {', '.join(names)}"
    for name in given:
        if name not in names:
            raise GaweeError(Diagnostic(f"unknown input '{name}'{origin}", hint=hint))
    runs: list[dict[str, Array]] = []
    for each in wanted:
        array = given.get(each.name)
        if not is_array(array):
            got = "none" if array is None else type(array).__name__
            message = f"expected data of input '{each.name}', got {got}{origin}"
            raise GaweeError(Diagnostic(message, hint=hint))
        parts = _parts(each, array, origin)
        runs = runs or [{} for _ in parts]
        if len(parts) != len(runs):
            message = f"expected as many samples of input '{each.name}' as of '{names[0]}'"
            raise GaweeError(f"{message}, got {len(parts)} and {len(runs)}{origin}")
        for run, part in zip(runs, parts, strict=True):
            run[each.name] = part
    return runs


def _parts(wanted: WantedInput, array: Array, origin: str) -> Sequence[Array]:
    """Return what each run takes of an array."""
    what, shape = f"data of input '{wanted.name}'", wanted.shape
    batch = shape[0] if shape else 1
    if array.ndim != max(len(shape), 1) or array.shape[1:] != shape[1:] or not len(array):
        tail = "".join(f"x{size}" for size in shape[1:])
        got = shape_text(array.shape) or "a number"
        raise GaweeError(f"expected {what} of shape N{tail}, got {got}{origin}")
    if len(array) % batch:
        raise GaweeError(
            f"expected {what} to have a multiple of {batch} samples, got {len(array)}{origin}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        at = np.argwhere(~np.isfinite(array))[0]
        place = ", ".join(str(index) for index in at)
        raise GaweeError(
            f"expected finite numbers in {what}, got {array[tuple(at)]} at [{place}]{origin}"
        )
    parts = array.reshape(-1, *shape)
    return [fitted(what, part, shape, wanted.dtype, origin) for part in parts]


class Watch(Interpreter.Listener):
    """Shows tensors that ops make, by value, while a graph runs."""

    def __init__(self, wanted: Container[SSAValue], see: Callable[[SSAValue, Array], None]) -> None:
        self._wanted, self._see = wanted, see

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        for value, array in zip(op.results, results, strict=True):
            if value in self._wanted and is_array(array):
                self._see(value, array)


@dataclass
class Histogram:
    """The range of all numbers that were seen, and how many of them are in each of its parts."""

    low: float = 0.0
    high: float = 0.0
    """Zero is always inside: padding has to be exact."""
    counts: NDArray[np.int64] | None = None

    def widen(self, array: Array) -> None:
        """Take numbers into the range."""
        self.low, self.high = min(self.low, float(array.min())), max(self.high, float(array.max()))

    def count(self, array: Array) -> None:
        """Count numbers, when the range is known."""
        found, _ = np.histogram(array, BINS, (self.low, self.high))
        self.counts = found if self.counts is None else self.counts + found

    def observed(self, observer: Observer) -> Range:
        """Return the range that an observer takes for the numbers."""
        if observer == "minmax" or self.counts is None or self.low == self.high:
            return self.low, self.high
        if observer == "percentile":
            return self._percentile(self.counts)
        return min(self._candidates(), key=lambda ends: self._squared_error(*ends))

    def _percentile(self, counts: NDArray[np.int64]) -> Range:
        below = np.cumsum(counts) / counts.sum()
        tail = (1 - PERCENTILE / 100) / 2
        edges = np.linspace(self.low, self.high, BINS + 1)
        first, last = np.searchsorted(below, [tail, 1 - tail])
        return min(float(edges[first]), 0.0), max(float(edges[last + 1]), 0.0)

    def _candidates(self) -> Iterator[Range]:
        for part in np.linspace(1.0, SMALLEST, CANDIDATES):
            yield self.low * float(part), self.high * float(part)

    def _squared_error(self, low: float, high: float) -> float:
        edges = np.linspace(self.low, self.high, BINS + 1)
        middles = (edges[1:] + edges[:-1]) / 2
        scale = (high - low) / 255
        whole = np.round(middles / scale)
        nearest = np.clip(whole, round(low / scale), round(low / scale) + 255) * scale
        assert self.counts is not None
        return float(self.counts @ (middles - nearest) ** 2)


def observe(
    run: Callable[[Mapping[str, Array], Interpreter.Listener], None],
    samples: Sequence[Mapping[str, Array]],
    inputs: Mapping[str, SSAValue],
    wanted: Container[SSAValue],
    observer: Observer,
) -> Mapping[SSAValue, Range]:
    """Return the range of each wanted tensor; `run` runs the graph on a sample.

    The observers but `minmax` see the data twice: for the range, then for what is where in it.
    Raises GaweeError for numbers that are not finite.
    """
    found: dict[SSAValue, Histogram] = {}

    def see(take: Callable[[Histogram, Array], None]) -> None:
        def one(value: SSAValue, array: Array) -> None:
            if not np.isfinite(array).all():
                name = value.name_hint or "a tensor"
                raise GaweeError(f"expected finite numbers in '%{name}' on the data, got others")
            take(found.setdefault(value, Histogram()), array)

        watch = Watch(wanted, one)
        for sample in samples:
            for name, value in inputs.items():
                if value in wanted:
                    one(value, sample[name])
            run(sample, watch)

    see(Histogram.widen)
    if observer != "minmax":
        see(Histogram.count)
    return {value: each.observed(observer) for value, each in found.items()}
