"""Nodes that the dialect has an op for become that op; ONNX's reference evaluator is the judge."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.graph.normalization import GroupNormOp
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.model import Model, load
from tests.closeness import assert_allclose
from tests.passes.modules import op_names, transform

onnx = pytest.importorskip("onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((2, 5, 7), np.float32)
ROWS = RANDOM.standard_normal((5, 7), np.float32)
ONE_AXIS = RANDOM.standard_normal((7,), np.float32)


def read(folder: Path, node, constants: dict[str, np.ndarray], outputs: Sequence[str]) -> Model:
    """Read the model of a node, or of some, and hold what it computes to what ONNX says."""
    from onnx.reference import ReferenceEvaluator

    graph = helper.make_graph(
        node if isinstance(node, list) else [node],
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
        assert got.shape == np.shape(wanted)
        # Means of at most 35 elements in another order: a few roundings of float32.
        assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
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
        (np.array([-1, 0]), ["slice", "slice", "cat"]),
        (np.array([2, 3, 4, 0, 1]), ["slice", "slice", "cat"]),
        (np.array([4, 2, 0]), ["gather"]),
        (np.array([[1, 2]]), ["slice", "reshape"]),
        (np.array([[0, 2], [1, 3]]), ["gather"]),
    ],
)
def test_known_positions_in_a_row_or_two_are_slices(tmp_path, places, made: list[str]) -> None:
    node = helper.make_node("Gather", ["x", "at"], ["y"], axis=1)
    network = read(tmp_path, node, {"at": np.asarray(places, np.int64)}, ["y"])

    found = op_names(transform(network.module, "canonicalize"))

    assert [name for name in found if name != "constant"] == made


@pytest.mark.parametrize(
    ("op_type", "options", "at", "made"),
    [
        ("Gather", {"axis": 1}, [[-1, 0], [3, -5]], "gather"),
        ("GatherElements", {"axis": 1}, [[[-1] * 7, [2] * 7]] * 2, "gather_elements"),
        ("GatherND", {}, [[-1, 0], [1, -5], [-2, -2]], "gather_nd"),
        ("ScatterElements", {"axis": 1}, [[[-1] * 7, [2] * 7]] * 2, "scatter_elements"),
        ("ScatterND", {}, [[-1, 0], [1, -5]], "scatter_nd"),
    ],
)
def test_positions_that_count_from_the_end_need_no_op(tmp_path, op_type, options, at, made) -> None:
    from onnx.reference import ReferenceEvaluator

    places = np.array(at, np.int64)
    updates = {"ScatterElements": places.shape, "ScatterND": (2, 7)}.get(op_type)
    given = {"x": X, "at": places}
    if updates is not None:
        given["u"] = RANDOM.standard_normal(updates).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node(op_type, list(given), ["y"], **options)],
        "g",
        [
            helper.make_tensor_value_info(name, 7 if name == "at" else 1, array.shape)
            for name, array in given.items()
        ],
        [helper.make_tensor_value_info("y", 1, None)],
    )
    made_model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.save(made_model, tmp_path / "net.onnx")
    network = load(tmp_path / "net.onnx")
    (expected,) = ReferenceEvaluator(made_model).run(None, given)

    for level in ("gawee", "loops"):
        (got,) = network.run(given, level=level).values()
        np.testing.assert_array_equal(got, expected)
    assert ops(network) == [made]


def test_numbers_of_one_element_are_constants(tmp_path) -> None:
    """Exporters write numbers so; weights that are given in their place make them parameters."""
    scale = np.array([2.5], np.float32)
    network = read(tmp_path, helper.make_node("Mul", ["x", "s"], ["y"]), {"s": scale}, ["y"])

    other = load(tmp_path / "net.onnx", {"s": scale * 2})

    assert ops(network) == ["constant", "mul"]
    assert not network.bound
    (got,) = other.run({"x": X}).values()
    np.testing.assert_array_equal(got, X * scale * 2)


def test_a_mask_that_hides_nothing_is_not_added(tmp_path) -> None:
    mask = np.zeros((2, 1, 7), np.float32)
    network = read(tmp_path, helper.make_node("Add", ["x", "m"], ["y"]), {"m": mask}, ["y"])

    assert op_names(transform(network.module, "canonicalize")) == []
    assert list(load(tmp_path / "net.onnx", {"m": mask + 1}).bound) == ["m"]


@pytest.mark.parametrize(
    ("axis", "made"),
    [(0, ["cat", "reshape"]), (1, ["cat", "reshape"]), (3, ["reshape", "reshape", "cat"])],
)
def test_a_stack_is_put_together_along_the_axis_that_is_there(tmp_path, axis, made) -> None:
    from onnx.reference import ReferenceEvaluator

    nodes = [
        helper.make_node("Unsqueeze", ["x", "axis"], ["a"]),
        helper.make_node("Unsqueeze", ["r", "axis"], ["b"]),
        helper.make_node("Concat", ["a", "b"], ["y"], axis=axis),
    ]
    shape = [*X.shape[:axis], 2, *X.shape[axis:]]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, 1, X.shape) for name in ("x", "r")],
        [helper.make_tensor_value_info("y", 1, shape)],
        [numpy_helper.from_array(np.array([axis], np.int64), "axis")],
    )
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.save(whole, tmp_path / "net.onnx")
    network = load(tmp_path / "net.onnx")
    given = {"x": X, "r": X[::-1].copy()}

    (got,) = network.run(given).values()

    (expected,) = ReferenceEvaluator(whole).run(None, given)
    np.testing.assert_array_equal(got, expected)
    assert ops(network) == made


def test_tensors_of_other_sizes_are_no_stack(tmp_path) -> None:
    nodes = [
        helper.make_node("Unsqueeze", ["x", "axis"], ["a"]),
        helper.make_node("Unsqueeze", ["r", "axis"], ["b"]),
        helper.make_node("Unsqueeze", ["s", "axis"], ["c"]),
        helper.make_node("Concat", ["a", "b", "c"], ["y"], axis=0),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(name, 1, [size])
            for name, size in (("x", 2), ("r", 1), ("s", 3))
        ],
        [helper.make_tensor_value_info("y", 1, [3, 2])],
        [numpy_helper.from_array(np.array([0], np.int64), "axis")],
    )
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.save(whole, tmp_path / "net.onnx")

    text = r"'Concat' node expected input #1 \(1x1\) to match input #0 \(1x2\) off axis 0"
    with pytest.raises(GaweeError, match=text):
        load(tmp_path / "net.onnx")


@pytest.mark.parametrize(("exponent", "products"), [(2, 1), (3, 2), (4, None)])
def test_squares_and_cubes_are_products(tmp_path, exponent: int, products: int | None) -> None:
    node = helper.make_node("Pow", ["x", "n"], ["y"])

    for number in (exponent, [exponent]):
        found = ops(read(tmp_path, node, {"n": np.asarray(number, np.float32)}, ["y"]))
        assert found.count("mul") == (products or 0)
        assert ("pow" in found) == (products is None)


def test_a_reciprocal_of_a_root_is_one_op(tmp_path) -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("Sqrt", ["e"], ["r"]),
        helper.make_node("Reciprocal", ["r"], ["y"]),
    ]

    assert ops(read(tmp_path, nodes, {}, ["y"])) == ["exp", "rsqrt"]


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
    assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
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
    assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    norms = [op for op in network.function.body.block.ops if isinstance(op, GroupNormOp)]
    (norm,) = (op for op in norms if list(op.result.uses))
    assert (tensor_type(norm.input).get_shape() == x.shape) == one
