"""One .onnx file of the zoo, read, compiled, run, and compared with ONNX Runtime."""

import math
import re
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from benchmarks.onnx_zoo.models import OnnxNetwork
from benchmarks.onnx_zoo.packages import PackagedFile
from benchmarks.timing import processor_seconds
from benchmarks.zoo.check import (
    LEAST_RESPONSE,
    THREADS,
    TOLERANCE,
    Result,
    best_ms,
    relative_difference,
)
from benchmarks.zoo.peers import Runtime
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.model import load

HALF_TOLERANCE = 4 * float(np.finfo(np.float16).eps)
"""Likewise of outputs in half precision, whose networks round to it in other places."""

MOST_SPREADS = 2
"""Outputs may be as far from ONNX Runtime's as these are from themselves, times so much."""

ROUNDINGS = 10
"""How often ONNX Runtime's own outputs are computed again, with other last bits."""

Array = NDArray[np.generic]
Inputs = Mapping[str, Array]


def other_inputs(inputs: Inputs) -> Inputs:
    """Return inputs with their numbers in another order, as far as any numbers will do."""
    random = np.random.default_rng(7)
    return {
        name: random.permutation(array.ravel()).reshape(array.shape)
        if array.dtype.kind == "f"
        else array
        if not array.ndim
        else np.roll(array, 1, -1)
        for name, array in inputs.items()
    }


def spread(path: Path, inputs: Inputs, expected: Sequence[Array]) -> float:
    """Return how far ONNX Runtime's outputs move where floats are rounded otherwise.

    All inputs and weights in float32 are moved by their last bit, or are not, at random. Where
    values are rounded to 8 bits inside, or parted by a threshold, that may show a lot.
    """
    model = onnx.load(path)
    random = np.random.default_rng(0)

    def moved(array: Array) -> Array:
        if array.dtype != np.float32 or (array == np.rint(array)).all():  # whole ones say sizes
            return array
        way = random.choice(np.array([-np.inf, np.inf, np.nan], np.float32), array.shape)
        return np.where(np.isnan(way), array, np.nextafter(array, way))

    def differences() -> Iterator[float]:
        for weight in model.graph.initializer:
            array = onnx.numpy_helper.to_array(weight)
            weight.CopyFrom(onnx.numpy_helper.from_array(moved(array), weight.name))
        onnx.save(model, other, save_as_external_data=False)
        given = {name: moved(array) for name, array in inputs.items()}
        yield from map(relative_difference, expected, Runtime(other, THREADS).run(given))

    other = path.with_name("moved.onnx")
    return max(each for _ in range(ROUNDINGS) for each in differences())


def check(
    network: OnnxNetwork | PackagedFile, *, measure: bool = False, verbose: bool = False
) -> Result:
    """Take a network all the way; never raises for what the compiler does not do."""
    warnings.simplefilter("ignore")
    result = Result(network.name, network.library)
    with tempfile.TemporaryDirectory() as folder:
        try:
            _check(network, Path(folder) / "model.onnx", result, measure)
        except Exception as error:
            text = str(error).strip().splitlines() or [type(error).__name__]
            reason = re.sub(r"\S+/(?=model\.onnx)", "", text[0])  # the folder is a temporary one
            reason = re.sub(r"\x1b\[[0-9;]*m", "", reason)  # the exporter's colours
            result.reason = f"{type(error).__name__}: {reason}"[:300]
            if verbose:
                traceback.print_exc()
    return result


def _check(network: OnnxNetwork | PackagedFile, path: Path, result: Result, measure: bool) -> None:
    inputs = network.write(path)
    nodes = onnx.load(path, load_external_data=False).graph.node
    result.nodes, result.ops = len(nodes), len({node.op_type for node in nodes})
    runtime = Runtime(path, THREADS)
    expected, other = runtime.run(inputs), runtime.run(other_inputs(inputs))
    response = max(map(relative_difference, expected, other))
    if not response > LEAST_RESPONSE or not all(np.isfinite(each).all() for each in expected):
        raise ValueError(f"outputs show nothing: they move by {response:.1g} of their range")

    result.stage = "import"
    given = (network.shapes, network.values) if isinstance(network, PackagedFile) else ({}, {})
    model = load(path, shapes=given[0], values=given[1])
    read = {name: array for name, array in inputs.items() if name not in given[1]}
    result.stage = "compile"
    start = processor_seconds()
    compiled = model.compile(CodeOptions(num_threads=THREADS), cache=False)
    result.compile_seconds = processor_seconds() - start
    result.stage = "run"
    got = list(compiled.run(read).values())
    result.stage = "compare"
    if len(got) != len(expected):
        raise ValueError(f"expected {len(expected)} outputs, got {len(got)}")
    result.difference = max(map(relative_difference, expected, got))
    is_half = any(each.dtype == np.float16 for each in expected)
    tolerance = HALF_TOLERANCE if is_half else TOLERANCE
    if not result.difference <= tolerance:
        result.spread = spread(path, inputs, expected)
    if not result.difference <= max(tolerance, MOST_SPREADS * np.nan_to_num(result.spread)):
        raise ValueError(f"outputs are {result.difference:.1e} of their range apart")
    if measure:
        result.stage = "time"
        runs = (lambda: compiled.run(read), lambda: runtime.run(inputs))
        result.ms, result.eager_ms = best_ms(runs)


def is_measured(result: Result) -> bool:
    """Whether a result has times."""
    return math.isfinite(result.ms)
