"""Ops of com.microsoft, compared with ONNX Runtime."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from gawee_dialect import onnx_backend
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.onnx_backend.values import as_array
from tests.closeness import assert_allclose
from tests.saturation import exact_onnx_runtime

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

Inputs = Sequence[np.ndarray | None]

CASES: dict[str, tuple[str, Inputs, Mapping[str, object], int]] = {}
"""By name: an op, its inputs, its attributes, and how many outputs are asked for."""


def case(name: str, op: str, outputs: int = 1, **attributes: object):
    def register(make: Callable[[np.random.Generator], Inputs]) -> None:
        CASES[name] = op, make(np.random.default_rng(7)), attributes, outputs

    return register


def real(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def byte(rng: np.random.Generator, *shape: int, dtype: str = "uint8") -> np.ndarray:
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def one(number: float, dtype: str = "float32") -> np.ndarray:
    return np.array(number, dtype)


case("skip_layer_normalization", "SkipLayerNormalization", 4, epsilon=1e-5)(
    lambda r: [real(r, 2, 3, 5), real(r, 2, 3, 5), real(r, 5), real(r, 5), real(r, 5)]
)
case("skip_of_one_batch", "SkipLayerNormalization", epsilon=1e-5)(
    lambda r: [real(r, 2, 3, 5), real(r, 3, 5), real(r, 5), real(r, 5)]
)
case("skip_rms", "SkipSimplifiedLayerNormalization", epsilon=1e-5)(
    lambda r: [real(r, 2, 3, 5), real(r, 2, 3, 5), real(r, 5), real(r, 5)]
)
case("embed", "EmbedLayerNormalization", 3, epsilon=1e-5)(
    lambda r: [
        *(r.integers(0, 7, (2, 3)).astype("int32"), r.integers(0, 2, (2, 3)).astype("int32")),
        *(real(r, 7, 4), real(r, 6, 4), real(r, 2, 4), real(r, 4), real(r, 4)),
        np.array([[1, 1, 0], [1, 1, 1]], "int32"),
    ]
)
case("embed_without_segments", "EmbedLayerNormalization", 2)(
    lambda r: [
        *(r.integers(0, 7, (2, 3)).astype("int32"), None, real(r, 7, 4), real(r, 6, 4), None),
        *(real(r, 4), real(r, 4)),
    ]
)
case("bias_gelu", "BiasGelu")(lambda r: [real(r, 2, 3, 5), real(r, 5)])
case("fast_gelu", "FastGelu")(lambda r: [real(r, 2, 3, 5), real(r, 5)])
case("gelu", "Gelu")(lambda r: [real(r, 2, 3)])
case("quick_gelu", "QuickGelu", alpha=1.5)(lambda r: [real(r, 2, 3)])
case("fused_matmul", "FusedMatMul", alpha=0.5, transA=1, transB=1)(
    lambda r: [real(r, 2, 4, 3), real(r, 2, 5, 4)]
)
case("fused_conv", "FusedConv", activation="LeakyRelu", activation_params=[0.2], pads=[1] * 4)(
    lambda r: [real(r, 2, 3, 5, 4), real(r, 4, 3, 3, 3), real(r, 4), real(r, 2, 4, 5, 4)]
)
case("fused_gemm", "FusedGemm", activation="Relu", transB=1, beta=0.5)(
    lambda r: [real(r, 2, 3), real(r, 4, 3), real(r, 4)]
)
for bits in (4, 8):
    case(f"matmul_{bits}_bits", "MatMulNBits", K=40, N=6, bits=bits, block_size=16)(
        lambda r, b=bits: [real(r, 2, 3, 40), byte(r, 6, 3, 2 * b), real(r, 18)]
    )
    case(f"matmul_{bits}_bits_zero_points", "MatMulNBits", K=40, N=6, bits=bits, block_size=16)(
        lambda r, b=bits: [
            *(real(r, 2, 40), byte(r, 6, 3, 2 * b), real(r, 18)),
            byte(r, 6 * (2 if b == 4 else 3)),
        ]
    )

for name, mask in {
    "no_mask": None,
    "lengths": np.array([2, 3], "int32"),
    "columns": np.array([[1, 1, 0], [0, 1, 1]], "int32"),
    "rows": np.array([np.tri(3), np.ones((3, 3))], "int32"),
}.items():
    case(f"attention_{name}", "Attention", num_heads=2)(
        lambda r, m=mask: [real(r, 2, 3, 5), real(r, 5, 24), real(r, 24), m]
    )
case("attention_ends_and_starts", "Attention", num_heads=2)(
    lambda r: [
        *(real(r, 2, 3, 5), real(r, 5, 24), real(r, 24)),
        np.array([3, 3, 1, 0], "int32"),
    ]
)
case("attention_past", "Attention", 2, num_heads=2, unidirectional=1)(
    lambda r: [real(r, 2, 3, 5), real(r, 5, 24), real(r, 24), None, real(r, 2, 2, 2, 4, 4)]
)
case("attention_sizes", "Attention", num_heads=2, qkv_hidden_sizes=[8, 8, 12])(
    lambda r: [real(r, 2, 3, 5), real(r, 5, 28), real(r, 28)]
)
case("heads", "MultiHeadAttention", num_heads=2)(
    lambda r: [real(r, 2, 3, 8), real(r, 2, 5, 8), real(r, 2, 5, 12), real(r, 28)]
)
case("heads_masked", "MultiHeadAttention", num_heads=2, scale=0.3)(
    lambda r: [
        *(real(r, 2, 3, 8), real(r, 2, 5, 8), real(r, 2, 5, 8), None),
        *(np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], "int32"), real(r, 1, 2, 3, 5)),
    ]
)
case("heads_past", "MultiHeadAttention", 3, num_heads=2)(
    lambda r: [
        *(real(r, 2, 3, 8), real(r, 2, 3, 8), real(r, 2, 3, 8), None, None, None),
        *(real(r, 2, 2, 4, 4), real(r, 2, 2, 4, 4)),
    ]
)
case("rotary", "RotaryEmbedding")(
    lambda r: [
        *(real(r, 2, 3, 8), np.array([[0, 1, 2], [4, 5, 6]]), real(r, 9, 2), real(r, 9, 2)),
    ]
)
case("rotary_from", "RotaryEmbedding", interleaved=1)(
    lambda r: [real(r, 2, 2, 3, 4), np.array([3]), real(r, 9, 2), real(r, 9, 2)]
)
case("grouped", "GroupQueryAttention", 3, num_heads=4, kv_num_heads=2)(
    lambda r: [
        *(real(r, 1, 5, 64), real(r, 1, 5, 32), real(r, 1, 5, 32), None, None),
        *(np.array([4], "int32"), one(5, "int32")),
    ]
)
case("grouped_rotary_past", "GroupQueryAttention", 3, num_heads=4, kv_num_heads=2, do_rotary=1)(
    lambda r: [
        *(real(r, 2, 1, 64), real(r, 2, 1, 32), real(r, 2, 1, 32)),
        *(real(r, 2, 2, 6, 16), real(r, 2, 2, 6, 16), np.array([6, 6], "int32"), one(7, "int32")),
        *(real(r, 10, 8), real(r, 10, 8)),
    ]
)
case("grouped_packed_window", "GroupQueryAttention", num_heads=4, kv_num_heads=2, softcap=3.0,
     local_window_size=2)(
    lambda r: [
        *(real(r, 1, 5, 128), None, None, None, None),
        *(np.array([4], "int32"), one(5, "int32")),
    ]
)  # fmt: skip


def quantized(rng: np.random.Generator, *shape: int) -> list[np.ndarray]:
    return [byte(rng, *shape), one(0.05), one(120, "uint8")]


RESULT = [one(0.07), one(100, "uint8")]
case("qlinear_add", "QLinearAdd")(lambda r: [*quantized(r, 2, 3), *quantized(r, 1, 3), *RESULT])
case("qlinear_mul", "QLinearMul")(lambda r: [*quantized(r, 2, 3), *quantized(r, 2, 3), *RESULT])
case("qlinear_sigmoid", "QLinearSigmoid")(
    lambda r: [*quantized(r, 2, 9), one(1 / 256), one(0, "uint8")]
)
case("qlinear_leaky_relu", "QLinearLeakyRelu", alpha=0.2)(lambda r: [*quantized(r, 2, 9), *RESULT])
case("qlinear_softmax", "QLinearSoftmax", opset=13)(
    lambda r: [*quantized(r, 2, 9), one(1 / 256), one(0, "uint8")]
)
case("qlinear_concat", "QLinearConcat", axis=1)(
    lambda r: [*RESULT, *quantized(r, 2, 3), byte(r, 2, 2), one(0.02), one(7, "uint8")]
)
case("qlinear_where", "QLinearWhere")(
    lambda r: [r.random((2, 3)) > 0.5, *quantized(r, 2, 3), *quantized(r, 1, 3), *RESULT]
)
case("qlinear_global_average_pool", "QLinearGlobalAveragePool", channels_last=0)(
    lambda r: [*quantized(r, 2, 3, 5, 4), *RESULT]
)
case("qlinear_average_pool", "QLinearAveragePool", kernel_shape=[2, 3], pads=[0, 1, 0, 1])(
    lambda r: [*quantized(r, 2, 3, 5, 4), *RESULT]
)
case("qgemm", "QGemm", transB=1)(
    lambda r: [
        *(*quantized(r, 2, 5), *quantized(r, 4, 5)),
        *(r.integers(-50, 50, 4).astype("int32"), *RESULT),
    ]
)
case("qgemm_to_float", "QGemm", alpha=0.5)(lambda r: [*quantized(r, 2, 5), *quantized(r, 5, 4)])
case("matmul_integer_to_float", "MatMulIntegerToFloat")(
    lambda r: [
        *(byte(r, 2, 5), byte(r, 5, 4, dtype="int8"), one(0.05), real(r, 4)),
        *(one(120, "uint8"), np.zeros(4, "int8"), real(r, 4)),
    ]
)
case("dynamic_quantize_matmul", "DynamicQuantizeMatMul")(
    lambda r: [real(r, 2, 5), byte(r, 5, 4, dtype="int8"), one(0.05), one(3, "int8"), real(r, 4)]
)
case("qattention", "QAttention", num_heads=2)(
    lambda r: [
        *(byte(r, 2, 3, 5), byte(r, 5, 24, dtype="int8"), real(r, 24), one(0.02), one(0.01)),
        *(np.array([2, 3], "int32"), one(120, "uint8"), one(0, "int8")),
    ]
)
case("quantize", "QuantizeLinear", axis=1)(
    lambda r: [real(r, 2, 3), np.abs(real(r, 3)) + 0.01, byte(r, 3)]
)
case("dequantize", "DequantizeLinear", axis=1)(lambda r: [byte(r, 2, 3), real(r, 3), byte(r, 3)])
for direction, count in {"forward": 1, "bidirectional": 2}.items():
    case(f"dynamic_quantize_lstm_{direction}", "DynamicQuantizeLSTM", 3, direction=direction,
         hidden_size=4)(
        lambda r, d=count: [
            *(real(r, 6, 2, 5), byte(r, d, 5, 16, dtype="int8"), byte(r, d, 4, 16, dtype="int8")),
            *(real(r, d, 32), None, real(r, d, 2, 4), real(r, d, 2, 4), None),
            *(np.full(d, 0.004, "float32"), np.zeros(d, "int8")),
            *(np.full(d, 0.005, "float32"), np.zeros(d, "int8")),
        ]
    )  # fmt: skip

NEAR = {"QLinearSigmoid": 1, "QLinearSoftmax": 1, "QAttention": 0, "QLinearAveragePool": 1}
"""How far apart bytes may be: ONNX Runtime rounds tables and sums in between for some."""


ATOL = {"DynamicQuantizeLSTM": 2e-3}
"""Of products of a few dozen f32 2e-5; here a state's bytes may be rounded the other way."""


def model_of(op: str, inputs: Inputs, attributes: Mapping[str, object], outputs: int):
    """Return a model of one node, and its inputs by name."""
    names = ["" if each is None else f"i{at}" for at, each in enumerate(inputs)]
    given = {name: each for name, each in zip(names, inputs, strict=True) if each is not None}
    helper = onnx.helper
    made = [f"o{at}" for at in range(outputs)]
    node = helper.make_node(op, names, made, domain="com.microsoft", **attributes)
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in given.items()
    ]
    results = [onnx.ValueInfoProto(name=name) for name in made]
    graph = helper.make_graph([node], "one", values, results)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), given


def of_runtime(model, given: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(given))


OF_BYTES = (
    *("matmul_integer_to_float", "qattention"),
    *("dynamic_quantize_lstm_forward", "dynamic_quantize_lstm_bidirectional"),
)
"""Products of which pairs are beyond 16 bits."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=exact_onnx_runtime) if each in OF_BYTES else each for each in CASES],
)
def test_op_as_onnx_runtime(name: str) -> None:
    op, inputs, attributes, outputs = CASES[name]
    model, given = model_of(op, inputs, attributes, outputs)

    wanted = of_runtime(model, given)
    prepared = onnx_backend.prepare(model, level="gawee")
    made = prepared.run(given)

    assert not prepared.session.host
    for got, expected in zip(map(as_array, made), wanted, strict=True):
        if expected is None or not expected.size:
            continue
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        if expected.dtype.kind in "iu":
            apart = np.abs(got.astype(int) - expected.astype(int)).max()
            assert apart <= NEAR.get(op, 0)
        else:
            assert_allclose(got, expected, rtol=2e-4, atol=ATOL.get(op, 2e-5))


def test_what_is_not_supported_is_told() -> None:
    rng = np.random.default_rng(1)
    inputs = [real(rng, 2, 40), byte(rng, 6, 3, 8), real(rng, 18), None, np.zeros(40, "int32")]
    model, given = model_of("MatMulNBits", inputs, {"K": 40, "N": 6, "block_size": 16}, 1)

    with pytest.raises(GaweeError, match="unsupported g_idx and weight_prepacked"):
        onnx_backend.prepare(model, level="gawee").run(given)


def test_packed_queries_are_as_separate_ones() -> None:
    rng = np.random.default_rng(5)
    packed = real(rng, 2, 3, 2, 3, 4)
    apart = [np.ascontiguousarray(packed[:, :, :, at]).reshape(2, 3, 8) for at in range(3)]
    model, given = model_of("MultiHeadAttention", apart, {"num_heads": 2}, 1)
    (wanted,) = of_runtime(model, given)  # which has packed ones on other processors only

    model, given = model_of("MultiHeadAttention", [packed], {"num_heads": 2}, 1)
    (made,) = onnx_backend.prepare(model, level="gawee").run(given)

    assert_allclose(as_array(made), wanted, rtol=2e-4, atol=2e-5)
