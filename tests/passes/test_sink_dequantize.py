"""Quantized graphs of ONNX, computed on integers; NumPy in 64 bits and ONNX Runtime are judges."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.analysis.kernel_kind import bytes_of_words
from gawee_dialect.dialect.graph.arithmetic import RoundOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp, MatMulOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.types import element_type, is_byte, is_float
from gawee_dialect.model import load
from gawee_dialect.target.machine import find_processor
from tests.closeness import assert_allclose
from tests.instruments.prove.proving import prove, unproved
from tests.passes.modules import transform

pytest.importorskip("onnx")
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.generic]

DTYPES = ("uint8", "int8")
on_bytes = pytest.mark.parametrize("dtype", DTYPES)


class Graph:
    """A graph from `x` to `y` in the making, of random parameters."""

    def __init__(self, x: tuple[int, ...], dtype: str) -> None:
        self.random = np.random.default_rng(5)
        self.dtype = dtype
        self.nodes: list[onnx.NodeProto] = []
        self.parameters: dict[str, Array] = {}
        self.x = self.random.normal(0, 1, x).astype(np.float32)

    def node(self, kind: str, result: str, *inputs: str, **attributes: int | Sequence[int]) -> str:
        node = helper.make_node(kind, inputs, [result])
        node.attribute.extend(helper.make_attribute(key, each) for key, each in attributes.items())
        self.nodes.append(node)
        return result

    def parameter(self, name: str, array: Array) -> str:
        self.parameters[name] = array
        return name

    def activation(self, name: str, scale: float) -> str:
        """Quantize a value and dequantize it."""
        low = np.iinfo(self.dtype).min
        points = [
            self.parameter(f"{name}_scale", np.array(scale, np.float32)),
            self.parameter(f"{name}_zero", np.array(low + 120, self.dtype)),
        ]
        integers = self.node("QuantizeLinear", f"{name}_q", name, *points)
        return self.node("DequantizeLinear", f"{name}_d", integers, *points)

    def weight(self, name: str, shape: tuple[int, ...], axis: int, dtype: str = "int8") -> str:
        """Return a dequantized weight of all numbers of a type, of a scale for each index of an axis."""
        ends = np.iinfo(dtype)
        numbers = self.random.integers(ends.min, ends.max, shape, endpoint=True).astype(dtype)
        scales = self.random.uniform(1e-3, 2e-3, shape[axis]).astype(np.float32)
        names = self.parameter(name, numbers), self.parameter(f"{name}_scale", scales)
        return self.node("DequantizeLinear", f"{name}_d", *names, axis=axis)

    def save(self, folder: Path) -> str:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.x.shape)
        y = helper.make_empty_tensor_value_info("y")
        held = [numpy_helper.from_array(each, name) for name, each in self.parameters.items()]
        graph = helper.make_graph(self.nodes, "quantized", [x], [y], held)
        opset = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), folder / "net.onnx")
        return str(folder / "net.onnx")

    def run(self, folder: Path, level: str = "llvm") -> Array:
        (result,) = load(self.save(folder)).run(self.x, level).values()
        return result

    def unoptimised(self, folder: Path) -> Array:
        """What ONNX Runtime makes of it op by op, in f32."""
        runtime = pytest.importorskip("onnxruntime")
        options = runtime.SessionOptions()
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = runtime.InferenceSession(self.save(folder), options)
        return session.run(None, {"x": self.x})[0]


def products_in_float(path: str) -> int:
    """How many convolutions and products of a file are of floats behind the pass."""
    module = transform(load(path).module, "lower-quant-ops,canonicalize,sink-dequantize")
    products = (op for op in module.walk() if isinstance(op, ConvOp | MatMulOp | BatchMatMulOp))
    return sum(is_float(element_type(op.result)) for op in products)


def assert_same_but_at_ties(got: Array, wanted: Array, scale: float) -> None:
    """Whether quantized numbers are equal but for few that are one step apart.

    f32 sums differ by some 1e-5 of a step: less than one number of a thousand is that near to the
    middle of two integers, where scales have no common divisor.
    """
    steps = np.abs(np.rint((got.astype(np.float64) - wanted.astype(np.float64)) / scale))
    assert steps.max() <= 1
    assert np.count_nonzero(steps) <= got.size / 1000


@on_bytes
@pytest.mark.parametrize("level", ["linalg", "llvm"])
@pytest.mark.parametrize(("groups", "stride"), [(1, 1), (2, 2)])
def test_the_sum_of_a_convolution_is_exact(
    tmp_path: Path, dtype: str, level: str, groups: int, stride: int
) -> None:
    graph = convolution(dtype, 8, groups, stride)

    got = graph.run(tmp_path, level)

    assert products_in_float(graph.save(tmp_path)) == 0
    assert_sums_are_exact(graph, got, groups, stride)


@on_bytes
@pytest.mark.parametrize("stride", [1, 2])
def test_the_sum_of_each_channel_is_exact(tmp_path: Path, dtype: str, stride: int) -> None:
    if not find_processor("host").byte_products:
        pytest.skip("computed in f32 by processors that don't multiply four bytes at once")
    graph = convolution(dtype, 12, 12, stride)

    assert_sums_are_exact(graph, graph.run(tmp_path), 12, stride)


def convolution(dtype: str, filters: int, groups: int, stride: int) -> Graph:
    graph = Graph((2, 12, 9, 7), dtype)
    weight = graph.weight("w", (filters, 12 // groups, 3, 3), 0)
    moves = {"strides": [stride] * 2, "pads": [1, 0, 2, 1], "group": groups}
    graph.node("Conv", "y", graph.activation("x", 0.02), weight, **moves)
    return graph


def assert_sums_are_exact(graph: Graph, got: Array, groups: int, stride: int) -> None:
    zero = graph.parameters["x_zero"].astype(np.float64)
    ends = np.iinfo(graph.dtype)
    steps = np.rint(graph.x / np.float32(0.02)) + zero
    integers = np.pad(np.clip(steps, ends.min, ends.max) - zero, ((0, 0), (0, 0), (1, 2), (0, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(integers, (3, 3), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride].reshape(
        2, groups, 12 // groups, *got.shape[2:], 3, 3
    )
    filters = graph.parameters["w"].astype(np.float64).reshape(groups, -1, 12 // groups, 3, 3)
    sums = np.einsum("ngchwij,gfcij->ngfhw", windows, filters).reshape(got.shape)
    scales = np.float64(np.float32(0.02)) * graph.parameters["w_scale"].astype(np.float64)
    # Two products are rounded, by 2^-24 each; the sum is not, which is below 2^24.
    assert_allclose(got, sums * scales[:, None, None], rtol=2**-22)


@on_bytes
def test_layers_stay_on_integers(tmp_path: Path, dtype: str) -> None:
    """Convolutions with biases, clips between, a residual, a pool and a linear layer behind."""
    graph = Graph((1, 8, 14, 14), dtype)
    x = graph.activation("x", 0.0213)
    for name, before, clip in (("c1", x, "Relu"), ("c2", "c1_relu_d", "Clip")):
        bias = graph.parameter(f"{name}_bias", graph.random.normal(0, 1, 16).astype(np.float32))
        channels = 8 if before is x else 16
        weight = graph.weight(f"{name}_w", (16, channels, 3, 3), 0)
        graph.node("Conv", name, before, weight, bias, pads=[1] * 4)
        bounds = [
            graph.parameter("low", np.array(0, np.float32)),
            graph.parameter("high", np.array(3, np.float32)),
        ]
        graph.node(clip, f"{name}_relu", name, *(bounds if clip == "Clip" else []))
        graph.activation(f"{name}_relu", 0.0297)
    graph.node("Add", "sum", "c1_relu_d", "c2_relu_d")
    pooled = graph.node(
        "MaxPool", "pool", graph.activation("sum", 0.0523), kernel_shape=[2, 2], strides=[2, 2]
    )
    means = graph.node("GlobalAveragePool", "mean", graph.activation(pooled, 0.0523))
    flat = graph.node("Flatten", "flat", graph.activation(means, 0.0171))
    graph.node("Gemm", "fc", flat, graph.weight("fc_w", (10, 16), 0), transB=1)
    graph.node("Identity", "y", graph.activation("fc", 0.00931))

    assert_same_but_at_ties(graph.run(tmp_path), graph.unoptimised(tmp_path), 0.00931)
    assert products_in_float(graph.save(tmp_path)) == 0


def concatenated(dtype: str, scales: Sequence[float]) -> Graph:
    """Two branches, one of which is pooled, quantized by the first scales, and their join."""
    graph = Graph((1, 8, 9, 7), dtype)
    x = graph.activation("x", 0.0213)
    weight = graph.weight("w1", (16, 8, 3, 3), 0)
    graph.node("Conv", "c1", x, weight, pads=[1] * 4)
    pooled = {"kernel_shape": [3, 3], "pads": [1] * 4}
    graph.node("AveragePool", "pool", x, count_include_pad=0, **pooled)
    parts = [graph.activation(name, by) for name, by in zip(("c1", "pool"), scales, strict=False)]
    graph.node("Concat", "join", *parts, axis=1)
    joined = graph.activation("join", scales[2])
    graph.node("Conv", "c2", joined, graph.weight("w2", (8, 24, 1, 1), 0))
    graph.node("Identity", "y", graph.activation("c2", 0.0119))
    return graph


@on_bytes
@pytest.mark.parametrize("scales", [(0.0311, 0.0311, 0.0311), (0.0311, 0.0207, 0.0311)])
def test_what_is_concatenated_is_bytes(tmp_path: Path, dtype: str, scales: Sequence[float]) -> None:
    graph = concatenated(dtype, scales)

    assert_same_but_at_ties(graph.run(tmp_path), graph.unoptimised(tmp_path), 0.0119)
    module = transform(load(graph.save(tmp_path)).module, "gawee-optimize")
    joined = [op for op in module.walk() if isinstance(op, CatOp)]
    assert [is_byte(element_type(op.result)) for op in joined] == [True]
    rounds = sum(isinstance(op, RoundOp) for op in module.walk())
    others = sum(scale != scales[2] for scale in scales[:2])
    # Of the input, both branches and the result; and of what has another scale than the join.
    assert rounds == 4 + others


@on_bytes
@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("GlobalAveragePool", {}),
        ("AveragePool", {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}),
        ("ReduceMean", {"axes": [1, 3], "keepdims": 0}),
    ],
)
def test_the_sum_of_a_mean_is_exact(
    tmp_path: Path, dtype: str, kind: str, attributes: dict[str, int | Sequence[int]]
) -> None:
    graph = Graph((2, 12, 9, 7), dtype)
    graph.node(kind, "y", graph.activation("x", 0.02), **attributes)
    zero = graph.parameters["x_zero"].astype(np.float64)
    ends = np.iinfo(graph.dtype)
    steps = np.rint(graph.x / np.float32(0.02)) + zero
    integers = np.clip(steps, ends.min, ends.max) - zero
    if kind == "GlobalAveragePool":
        means = integers.mean((2, 3), keepdims=True)
    elif kind == "ReduceMean":
        means = integers.mean((1, 3))
    else:
        pads = (0, 0), (0, 0), (1, 1), (0, 1)
        counted = [np.pad(each, pads) for each in (integers, np.ones_like(integers))]
        windows = [
            np.lib.stride_tricks.sliding_window_view(each, (3, 2), axis=(2, 3))[:, :, ::2].sum(
                (-2, -1)
            )
            for each in counted
        ]
        means = windows[0] / windows[1]

    got = graph.run(tmp_path)

    # The quotient and the product are rounded, by 2^-24 each; the sum is not.
    assert_allclose(got, means * np.float64(np.float32(0.02)), rtol=2**-22)


@on_bytes
def test_products_of_activations_and_of_weights(tmp_path: Path, dtype: str) -> None:
    graph = Graph((2, 24, 16), dtype)
    x = graph.activation("x", 0.0213)
    weighted = graph.node("MatMul", "weighted", x, graph.weight("w", (16, 40), 1))
    turned = graph.node("Transpose", "turned", weighted, perm=[0, 2, 1])
    graph.node("MatMul", "product", graph.activation(turned, 0.0111), x)
    graph.node("Identity", "y", graph.activation("product", 0.0371))

    assert_same_but_at_ties(graph.run(tmp_path), graph.unoptimised(tmp_path), 0.0371)
    assert products_in_float(graph.save(tmp_path)) == 0


@on_bytes
@pytest.mark.parametrize(("target", "between"), [("znver5", "ui8"), ("znver3", "f32")])
def test_a_depthwise_convolution_reads_bytes_where_they_are_multiplied_by_fours(
    tmp_path: Path, dtype: str, target: str, between: str
) -> None:
    """Elsewhere it reads floats that the layer before it wrote."""
    graph = Graph((1, 8, 9, 7), dtype)
    weight = graph.weight("w1", (16, 8, 1, 1), 0)
    graph.node("Conv", "c1", graph.activation("x", 0.0213), weight)
    weight = graph.weight("w2", (16, 1, 3, 3), 0)
    graph.node("Conv", "c2", graph.activation("c1", 0.0311), weight, group=16, pads=[1] * 4)
    weight = graph.weight("w3", (8, 16, 1, 1), 0)
    graph.node("Conv", "c3", graph.activation("c2", 0.0071), weight)
    graph.node("Identity", "y", graph.activation("c3", 0.0119))

    assert_same_but_at_ties(graph.run(tmp_path), graph.unoptimised(tmp_path), 0.0119)
    module = transform(load(graph.save(tmp_path)).module, f"gawee-to-kernels{{target={target}}}")
    made = [op for op in module.walk() if isinstance(op, KernelOp) and op.initial is not None]
    kinds = [str(element_type(op.target)) for op in made if len(op.sizes) > 5]
    assert kinds[:2] == [between, "ui8"]


def test_words_are_the_bytes_that_a_layer_wrote(tmp_path: Path) -> None:
    """A convolution of 1x1 reads what another one wrote four at a time, and nothing moves."""
    graph = Graph((1, 16, 6, 5), "uint8")
    weight = graph.weight("w1", (32, 16, 1, 1), 0)
    graph.node("Conv", "c1", graph.activation("x", 0.02), weight)
    weight = graph.weight("w2", (16, 32, 1, 1), 0)
    graph.node("Conv", "c2", graph.activation("c1", 0.0311), weight)
    graph.node("Identity", "y", graph.activation("c2", 0.0297))
    module = load(graph.save(tmp_path)).module

    kernels = "gawee-to-kernels{target=znver5 num-threads=1},bufferize"
    before, after = (transform(module, f"{kernels}{end}") for end in ("", ",coalesce-copies"))

    assert _words(before) - _words(after) == 1
    proof = prove(
        module, f"{kernels},coalesce-copies,outline-kernels,plan-memory,lower-kernels-to-loops"
    )
    assert not unproved(proof)
    assert_same_but_at_ties(graph.run(tmp_path), graph.unoptimised(tmp_path), 0.0297)


def _words(module: ModuleOp) -> int:
    kernels = (op for op in module.walk() if isinstance(op, KernelOp))
    return sum(bytes_of_words(op) is not None for op in kernels)
