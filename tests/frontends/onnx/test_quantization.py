"""Quantized ops: the integers that ONNX Runtime computes, at every level, to the last bit."""

import numpy as np
import pytest

from gawee_dialect.code_options import PLAIN, CodeOptions
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import load
from gawee_dialect.onnx_backend import run_node
from gawee_dialect.onnx_backend.values import as_array
from tests.saturation import exact_onnx_runtime

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
helper = onnx.helper

LEVELS = {"gawee": None, "llvm": None, "plain": CodeOptions(algorithms=PLAIN)}


def random(dtype, *shape, seed=0):
    limits = np.iinfo(dtype)
    draw = np.random.default_rng(seed).integers
    return draw(limits.min, limits.max, shape, dtype, endpoint=True)


def model(op, inputs, outputs, attributes):
    named = {
        f"i{index}": np.asarray(array) for index, array in enumerate(inputs) if array is not None
    }
    node = helper.make_node(
        op,
        [f"i{index}" if array is not None else "" for index, array in enumerate(inputs)],
        [f"o{index}" for index in range(outputs)],
        **attributes,
    )
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in named.items()
        ],
        [helper.make_empty_tensor_value_info(f"o{index}") for index in range(outputs)],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return made, named


def check(tmp_path, op, inputs, outputs=1, **attributes):
    made, named = model(op, inputs, outputs, attributes)
    expected = runtime.InferenceSession(made.SerializeToString()).run(None, named)
    path = tmp_path / "net.onnx"
    onnx.save(made, path)
    network = load(path)
    for level, options in LEVELS.items():
        name = "llvm" if level == "plain" else level
        got = network.runner(name, options=options, cache=False)(named)
        for one, wanted in zip(got.values(), expected, strict=True):
            np.testing.assert_array_equal(one, wanted, f"{op} at {level}", strict=True)


def scales(count, seed=1):
    return np.random.default_rng(seed).uniform(0.01, 0.1, count).astype(np.float32)


REAL = np.concatenate(
    [
        np.random.default_rng(0).normal(0, 4, 1000),
        np.arange(-20, 20) * 0.0625,  # halves of the scale
        [0.0, -0.0, 1e30, -1e30, 1e9, -1e9, 1e-30],
    ]
).astype(np.float32)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_floats_become_the_nearest_integers_and_stay_in_range(tmp_path, dtype):
    zero_point = np.asarray(np.iinfo(dtype).max // 3, dtype)

    check(tmp_path, "QuantizeLinear", [REAL, np.float32(0.125), zero_point])
    check(tmp_path, "QuantizeLinear", [REAL, scales(1)])


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_axes_have_scales_and_zero_points_of_their_own(tmp_path, dtype):
    x = np.random.default_rng(0).normal(0, 4, (2, 3, 5, 7)).astype(np.float32)
    q = random(dtype, 2, 3, 5, 7)

    for axis in (1, 2, -1):
        count = x.shape[axis]
        points = random(dtype, count, seed=2)
        check(tmp_path, "QuantizeLinear", [x, scales(count), points], axis=axis)
        check(tmp_path, "DequantizeLinear", [q, scales(count), points], axis=axis)


def test_blocks_have_scales_of_their_own(tmp_path):
    q, blocks = random("int8", 3, 12, 5), np.random.default_rng(1).uniform(0.01, 1, (3, 4, 5))
    points = random("int8", 3, 4, 5, seed=2)

    check(
        tmp_path,
        "DequantizeLinear",
        [q, blocks.astype(np.float32), points],
        axis=1,
        block_size=3,
    )


def test_biases_of_int32_are_dequantized(tmp_path):
    q = np.array([0, 1, -1, 2**24 + 1, 2**31 - 1, -(2**31)], np.int32)

    check(tmp_path, "DequantizeLinear", [q, scales(1)[0]])


@pytest.mark.parametrize("shift", [0, 5, -5])
def test_dynamic_scales_span_all_numbers_and_zero(tmp_path, shift):
    x = np.random.default_rng(0).normal(shift, 1, (3, 17)).astype(np.float32)

    check(tmp_path, "DynamicQuantizeLinear", [x], outputs=3)
    check(tmp_path, "DynamicQuantizeLinear", [x * 0], outputs=3)


@exact_onnx_runtime
@pytest.mark.parametrize("shapes", [((5, 7), (7, 3)), ((2, 5, 7), (7, 3)), ((2, 5, 7), (2, 7, 3))])
def test_products_of_matrices(tmp_path, shapes):
    a, b = random("uint8", *shapes[0]), random("int8", *shapes[1], seed=1)
    points = np.uint8(130), np.int8(-7)
    a_scale, b_scale, y_scale = (scales(1, seed)[0] for seed in (1, 2, 3))

    check(tmp_path, "MatMulInteger", [a, b])
    check(tmp_path, "MatMulInteger", [a, b, *points])
    check(
        tmp_path,
        "QLinearMatMul",
        [a, a_scale, points[0], b, b_scale, points[1], y_scale * 900, np.uint8(99)],
    )


CONVS = [
    ({}, 1),
    ({"pads": [1, 2, 0, 1], "strides": [2, 1]}, 1),
    ({"strides": [1, 2], "auto_pad": "SAME_UPPER"}, 3),
    ({"dilations": [2, 1]}, 2),
    ({"pads": [1, 1, 1, 1]}, 6),
]


@exact_onnx_runtime
@pytest.mark.parametrize(("attributes", "groups"), CONVS)
def test_convolutions(tmp_path, attributes, groups):
    x, w = random("uint8", 2, 6, 9, 8), random("int8", 12, 6 // groups, 3, 2, seed=1)
    x_point, w_point = np.uint8(140), np.zeros(12, np.int8)
    bias = random("int16", 12, seed=4).astype(np.int32)
    one = scales(1)[0]
    given = {**attributes, "group": groups}

    check(tmp_path, "ConvInteger", [x, w.view(np.uint8), x_point, np.uint8(3)], **given)
    check(
        tmp_path,
        "QLinearConv",
        [x, one, x_point, w, scales(12), w_point, one * 70, np.uint8(99), bias],
        **given,
    )


def refused(tmp_path, match, op, inputs, **attributes):
    made, _ = model(op, inputs, 1, attributes)
    onnx.save(made, tmp_path / "net.onnx")
    with pytest.raises(GaweeError, match=match):
        load(tmp_path / "net.onnx")


def test_what_cannot_be_quantized_is_refused(tmp_path):
    x, one = np.ones((2, 6), np.float32), np.ones((), np.float32)
    image, filters, point = random("uint8", 1, 2, 4, 4), random("uint8", 3, 2, 2, 2), np.uint8(1)

    refused(
        tmp_path, "unsupported dtype 'ONNX type 99'", "QuantizeLinear", [x, one], output_dtype=99
    )
    refused(
        tmp_path, "unsupported quantization to 'i32'", "QuantizeLinear", [x, one], output_dtype=6
    )
    text = "expected y_scale to be one number, 6 of them, or one a block"
    refused(tmp_path, text, "QuantizeLinear", [x, scales(4)])
    text = "expected one scale and zero point, or one a filter \\(3\\), got 2"
    refused(tmp_path, text, "ConvInteger", [image, filters, point, random("uint8", 2)])
    refused(tmp_path, "unsupported scale of 'int32'", "DequantizeLinear", [filters, np.int32(2)])


@pytest.mark.parametrize("level", ["gawee", "llvm"])
@pytest.mark.parametrize("columns", [1, 37])
def test_sums_of_products_of_extremes_do_not_saturate(level: str, columns: int) -> None:
    """Pairs of them do not fit 16 bits, in which some processors add them."""
    from onnx.reference import ReferenceEvaluator

    node = onnx.helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    a, b = np.full((3, 64), 255, np.uint8), np.full((64, columns), 127, np.int8)
    b[:, 1:] = -128

    (made,) = run_node(node, [a, b], level=level)

    got = as_array(made)
    assert got[0, 0] == 64 * 255 * 127
    (expected,) = ReferenceEvaluator(node).run(None, {"a": a, "b": b})
    np.testing.assert_array_equal(got, expected)
