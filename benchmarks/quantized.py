"""Networks in int8: one file in ONNX's QDQ form for all engines, by ONNX Runtime's quantiser.

`resnet18:u8` is a network whose activations are unsigned, `resnet18:s8` one whose are signed;
weights are signed, with a scale for each filter. `product1024:u8` multiplies matrices of integers.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.models import draw

Array = NDArray[np.generic]

SIZE = 1024
SAMPLES = 8
FIRST_SEED = 100
"""Of the inputs by which ranges of activations are found; the one that is measured has another."""


class Samples:
    """Seeded inputs of a network, as a quantiser reads them."""

    def __init__(self, name: str, argument: str) -> None:
        seeds = range(FIRST_SEED, FIRST_SEED + SAMPLES)
        self._feeds: Iterator[dict[str, Array]] = (
            {argument: draw(name, seed).numpy()} for seed in seeds
        )

    def get_next(self) -> dict[str, Array] | None:
        """Return the next input by its name, None behind the last."""
        return next(self._feeds, None)


def quantize(name: str, source: Path, result: Path) -> None:
    """Write the int8 form of a network's ONNX file."""
    import onnx
    import onnxruntime.quantization as quantization

    network, _, kind = name.partition(":")
    types = {"u8": quantization.QuantType.QUInt8, "s8": quantization.QuantType.QInt8}
    argument = onnx.load(source, load_external_data=False).graph.input[0].name
    logging.disable(logging.WARNING)  # that a file was not prepared: the exporter folded it
    quantization.quantize_static(
        str(source),
        str(result),
        cast(quantization.CalibrationDataReader, Samples(network, argument)),
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=True,
        activation_type=types[kind],
        weight_type=quantization.QuantType.QInt8,
    )
    logging.disable(logging.NOTSET)


def write_product(name: str, folder: Path) -> None:
    """Write a product of all integers of 8 bits: its file, an input, and the exact sums."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    dtype = np.dtype(np.uint8 if name.endswith("u8") else np.int8)
    ends = np.iinfo(dtype)
    x = random.integers(ends.min, ends.max, (SIZE, SIZE), dtype, endpoint=True)
    w = random.integers(-128, 127, (SIZE, SIZE), np.int8, endpoint=True)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(dtype), x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT32, x.shape)],
        [numpy_helper.from_array(w, "w")],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), folder / "model.onnx")
    np.save(folder / "x.npy", x)
    # Sums of 1024 products are whole numbers below 2^53.
    np.save(folder / "y.npy", (x.astype(np.float64) @ w.astype(np.float64)).astype(np.int32))
    (folder / "flops.txt").write_text(str(2 * SIZE**3))
