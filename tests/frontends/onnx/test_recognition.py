"""Nodes that the dialect has an op for become that op; ONNX's reference evaluator is the judge."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.model import Model, load

onnx = pytest.importorskip("onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((2, 5, 7), np.float32)
ROWS = RANDOM.standard_normal((5, 7), np.float32)
ONE_AXIS = RANDOM.standard_normal((7,), np.float32)


def read(folder: Path, node, constants: dict[str, np.ndarray], outputs: Sequence[str]) -> Model:
    """Read the model of one node, and hold what it computes to what ONNX says."""
    from onnx.reference import ReferenceEvaluator

    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, X.shape)],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    onnx.save(made, folder / "net.onnx")
    network = load(folder / "net.onnx")
    expected = ReferenceEvaluator(made).run(None, {"x": X})
    for wanted, got in zip(expected, network.run({"x": X}).values(), strict=True):
        assert got.shape == wanted.shape
        # Means of at most 35 elements in another order: a few roundings of float32.
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    return network


def ops(network: Model) -> list[str]:
    return [op.name.removeprefix("gawee.") for op in network.function.body.block.ops][:-1]


@pytest.mark.parametrize(("axis", "scale"), [(-1, ONE_AXIS), (1, ROWS)])
@pytest.mark.parametrize("bias", [False, True])
def test_a_layer_normalization_is_one_op(tmp_path, axis: int, scale, bias: bool) -> None:
    constants = {"s": scale} | ({"b": scale * 2} if bias else {})
    node = helper.make_node("LayerNormalization", ["x", *constants], ["y"], axis=axis, epsilon=1e-3)

    assert ops(read(tmp_path, node, constants, ["y"])) == ["layer_norm"]


def test_a_layer_normalization_whose_mean_is_read_is_computed_in_parts(tmp_path) -> None:
    outputs = ["y", "mean", "inverse"]
    node = helper.make_node("LayerNormalization", ["x", "s"], outputs)

    assert "layer_norm" not in ops(read(tmp_path, node, {"s": ONE_AXIS}, outputs))


def test_a_layer_normalization_whose_scale_is_repeated_is_computed_in_parts(tmp_path) -> None:
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y"], axis=1)

    assert "layer_norm" not in ops(read(tmp_path, node, {"s": ONE_AXIS}, ["y"]))


@pytest.mark.parametrize(("axis", "scale"), [(-1, ONE_AXIS), (1, ROWS)])
def test_a_root_mean_square_normalization_is_one_op(tmp_path, axis: int, scale) -> None:
    node = helper.make_node("RMSNormalization", ["x", "s"], ["y"], axis=axis, epsilon=1e-3)

    assert ops(read(tmp_path, node, {"s": scale}, ["y"])) == ["rms_norm"]


@pytest.mark.parametrize(("alpha", "one"), [(1 / 6, True), (0.2, False)])
def test_the_hard_sigmoid_of_mobile_networks_is_one_op(tmp_path, alpha: float, one: bool) -> None:
    node = helper.make_node("HardSigmoid", ["x"], ["y"], alpha=alpha)

    assert (ops(read(tmp_path, node, {}, ["y"])) == ["hard_sigmoid"]) == one


@pytest.mark.parametrize(
    ("places", "made"),
    [
        (np.int64(2), ["slice", "reshape"]),
        (np.int64(-1), ["slice", "reshape"]),
        (np.array([3]), ["slice"]),
        (np.array([1, 2, 3]), ["slice"]),
        (np.array([-3, -2]), ["slice"]),
        (np.arange(5), []),
        (np.array([-1, 0]), None),
        (np.array([2, 1]), None),
        (np.array([[1, 2]]), None),
    ],
)
def test_known_positions_in_a_row_are_a_slice(tmp_path, places, made: list[str] | None) -> None:
    node = helper.make_node("Gather", ["x", "at"], ["y"], axis=1)

    found = ops(read(tmp_path, node, {"at": np.asarray(places, np.int64)}, ["y"]))

    found = [name for name in found if name != "constant"]
    assert found == made if made is not None else "gather" in found


@pytest.mark.parametrize(("exponent", "products"), [(2, 1), (3, 2), (4, None)])
def test_squares_and_cubes_are_products(tmp_path, exponent: int, products: int | None) -> None:
    node = helper.make_node("Pow", ["x", "n"], ["y"])

    found = ops(read(tmp_path, node, {"n": np.asarray(exponent, np.float32)}, ["y"]))

    assert found.count("mul") == (products or 0)
    assert ("pow" in found) == (products is None)


IMAGE = RANDOM.standard_normal((2, 3, 4, 5), np.float32)


def resized(folder: Path, sizes: Sequence[int], options: Mapping[str, object]) -> list[str]:
    """Read a Resize of an image, hold it to ONNX Runtime; return its ops."""
    onnxruntime = pytest.importorskip("onnxruntime")
    node = helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **options)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, IMAGE.shape)],
        [helper.make_tensor_value_info("y", 1, sizes)],
        [numpy_helper.from_array(np.array(sizes, np.int64), "sizes")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    onnx.save(made, folder / "net.onnx")
    network = load(folder / "net.onnx")
    (expected,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": IMAGE})
    (got,) = network.run({"x": IMAGE}).values()
    # Blends of at most 16 elements whose weights are rounded to float32.
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    return [name for name in ops(network) if name != "constant"]


FLOOR = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


@pytest.mark.parametrize(
    ("sizes", "options", "one"),
    [
        ((2, 3, 8, 15), FLOOR, True),
        ((2, 3, 7, 11), FLOOR, True),
        ((2, 3, 8, 15), {"mode": "nearest"}, True),
        ((2, 3, 8, 10), {**FLOOR, "nearest_mode": "ceil"}, False),
        ((2, 6, 8, 15), FLOOR, False),
        ((2, 3, 8, 10), {"mode": "linear"}, True),
        ((2, 3, 3, 9), {"mode": "linear"}, True),
        ((2, 3, 2, 10), {"mode": "linear", "antialias": 1}, False),
        (
            (2, 3, 8, 10),
            {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
            True,
        ),
        ((2, 3, 8, 10), {"mode": "cubic"}, True),
        ((2, 3, 8, 10), {"mode": "cubic", "cubic_coeff_a": -0.5}, False),
    ],
)
def test_an_image_is_resized_by_one_op(tmp_path, sizes, options, one: bool) -> None:
    found = resized(tmp_path, sizes, options)

    assert found == ["interpolate"] if one else "interpolate" not in found


@pytest.mark.parametrize(
    ("groups", "last", "one"),
    [(2, [3, 4, 5, 7], True), (4, [3, 4, 5, 7], True), (2, [3, 4, 35], False)],
)
def test_an_instance_norm_of_groups_is_a_group_norm(tmp_path, groups, last, one: bool) -> None:
    """As torch.onnx.export writes it; ONNX's reference evaluator is the judge."""
    from onnx.reference import ReferenceEvaluator

    x = RANDOM.standard_normal((3, 4, 5, 7), np.float32)
    constants = {
        "split": np.array([3, groups, -1], np.int64),
        "s": RANDOM.standard_normal(groups).astype(np.float32),
        "b": RANDOM.standard_normal(groups).astype(np.float32),
        "last": np.array(last, np.int64),
    }
    nodes = [
        helper.make_node("Reshape", ["x", "split"], ["v"]),
        helper.make_node("InstanceNormalization", ["v", "s", "b"], ["n"], epsilon=1e-3),
        helper.make_node("Reshape", ["n", "last"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, x.shape)],
        [helper.make_tensor_value_info("y", 1, last)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    onnx.save(made, tmp_path / "net.onnx")
    network = load(tmp_path / "net.onnx")
    (expected,) = ReferenceEvaluator(made).run(None, {"x": x})

    (got,) = network.run({"x": x}).values()

    # Means of at most 70 elements in another order: a few roundings of float32.
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    norms = [op for op in network.function.body.block.ops if op.name == "gawee.group_norm"]
    (norm,) = (op for op in norms if list(op.result.uses))
    assert (norm.input.type.get_shape() == x.shape) == one
