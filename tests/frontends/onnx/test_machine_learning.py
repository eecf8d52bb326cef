"""Ops of ai.onnx.ml, compared with ONNX Runtime."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gawee_dialect import onnx_backend
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import load
from gawee_dialect.onnx_backend.values import as_array
from tests.closeness import assert_allclose

pytestmark = pytest.mark.usefixtures("unoptimized")

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(3)
X = RNG.standard_normal((5, 3)).astype(np.float32)
VECTORS = RNG.standard_normal((4, 3))
COEFFICIENTS = [round(float(n), 3) for n in RNG.standard_normal(9)]


def model_of(op: str, inputs: Sequence[np.ndarray], attributes: Mapping[str, object], count: int):
    helper = onnx.helper
    names, made = [f"i{at}" for at in range(len(inputs))], [f"o{at}" for at in range(count)]
    node = helper.make_node(op, names, made, domain="ai.onnx.ml", **attributes)
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in zip(names, inputs, strict=True)
    ]
    results = [onnx.ValueInfoProto(name=name) for name in made]
    graph = helper.make_graph([node], "one", values, results)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def compare(op: str, inputs: Sequence[np.ndarray], count: int = 1, **attributes: object) -> None:
    model = model_of(op, inputs, attributes, count)
    session = runtime.InferenceSession(model.SerializeToString())
    given = {f"i{at}": each for at, each in enumerate(inputs)}
    prepared = onnx_backend.prepare(model, level="gawee")

    for made, wanted in zip(prepared.run(given), session.run(None, given), strict=True):
        got = as_array(made)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)  # sums of a few f32
    assert not prepared.session.host


LINEAR = {
    "regressor": ("LinearRegressor", 1, {"targets": 3, "intercepts": [0.1, 0.2, 0.3]}),
    "classes": ("LinearClassifier", 2, {"classlabels_ints": [7, 8, 9], "intercepts": [0.5, 0, 0]}),
    "softmax": (
        "LinearClassifier",
        2,
        {"classlabels_ints": [7, 8, 9], "post_transform": "SOFTMAX", "intercepts": [0.1, 0, 0]},
    ),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models(name: str) -> None:
    op, count, attributes = LINEAR[name]

    compare(op, [X], count, coefficients=COEFFICIENTS, **attributes)


KERNELS = [
    ("LINEAR", [0.0, 0.0, 0.0]),
    ("POLY", [0.5, 0.2, 3.0]),
    ("RBF", [0.4, 0.0, 0.0]),
    ("SIGMOID", [0.3, 0.1, 0.0]),
]


@pytest.mark.parametrize(("kind", "params"), KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_support_vectors(kind: str, params: list[float], one_class: int) -> None:
    compare(
        "SVMRegressor",
        [X],
        coefficients=COEFFICIENTS[:4],
        kernel_params=params,
        kernel_type=kind,
        n_supports=4,
        one_class=one_class,
        rho=[0.1],
        support_vectors=VECTORS.ravel().tolist(),
    )


def classifier(classes: int, kind: str, params: list[float], *, shares: bool) -> dict[str, Any]:
    """Return attributes of support vectors that part some classes."""
    vectors, pairs = [3, 2, 4][:classes], classes * (classes - 1) // 2
    attributes: dict[str, Any] = {
        "classlabels_ints": [7, 3, 9][:classes],
        "coefficients": RNG.standard_normal((classes - 1) * sum(vectors)).round(3).tolist(),
        "kernel_params": params,
        "kernel_type": kind,
        "rho": (RNG.standard_normal(pairs) / 4).round(3).tolist(),
        "support_vectors": RNG.standard_normal(3 * sum(vectors)).round(3).tolist(),
        "vectors_per_class": vectors,
    }
    if shares:
        attributes["prob_a"] = (-RNG.random(pairs) - 0.1).round(3).tolist()
        attributes["prob_b"] = RNG.random(pairs).round(3).tolist()
    return attributes


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("how", ["NONE", "LOGISTIC"])
def test_support_vectors_that_part_classes(classes: int, shares: bool, how: str) -> None:
    for kind, params in KERNELS[2:3] if shares else KERNELS:
        attributes = classifier(classes, kind, params, shares=shares)
        compare("SVMClassifier", [X], 2, post_transform=how, **attributes)


def test_classes_without_support_vectors_are_linear() -> None:
    labels = {"classlabels_ints": [7, 3, 9], "rho": [0.25], "kernel_params": [0.0] * 3}

    compare("SVMClassifier", [X], 2, coefficients=COEFFICIENTS, **labels)


def test_shares_of_classes_as_compiled_code() -> None:
    attributes = classifier(3, "RBF", [0.4, 0.0, 0.0], shares=True)
    model = model_of("SVMClassifier", [X], attributes, 2)

    for got, wanted in zip(
        onnx_backend.run_model(model, [X]),
        onnx_backend.run_model(model, [X], level="gawee"),
        strict=True,
    ):
        assert_allclose(as_array(got), as_array(wanted), rtol=1e-5, atol=1e-6)  # sums of a few f32


def test_maps_are_made_and_read_on_the_host() -> None:
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    cases: Sequence[tuple[str, Any, Any, dict[str, Any]]] = [
        ("ZipMap", None, X, {"classlabels_int64s": [3, 8, 5]}),
        ("ZipMap", None, X, {"classlabels_strings": ["a", "b", "c"]}),
        ("DictVectorizer", onnx.TensorProto.STRING, {"b": 1.5, "a": 2.5}, {"string_vocabulary": ["a", "c", "b"]}),
        ("DictVectorizer", onnx.TensorProto.INT64, {5: 1.5, 7: 2.5}, {"int64_vocabulary": [7, 1, 5]}),
        ("CastMap", onnx.TensorProto.INT64, {3: 1.5, 1: 2.5}, {}),
        ("CastMap", onnx.TensorProto.INT64, {3: 1.5, 1: 2.5}, {"cast_to": "TO_STRING"}),
        (
            "CastMap",
            onnx.TensorProto.INT64,
            {3: 1.5, 1: 2.5},
            {"map_form": "SPARSE", "max_map": 5, "cast_to": "TO_INT64"},
        ),
    ]  # fmt: skip
    for op, key, given, attributes in cases:
        value = helper.make_tensor_type_proto(float32, list(X.shape) if key is None else [])
        type = value if key is None else helper.make_map_type_proto(key, value)
        node = helper.make_node(op, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
        graph = helper.make_graph(
            [node], "g", [helper.make_value_info("x", type)], [onnx.ValueInfoProto(name="y")]
        )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        (wanted,) = runtime.InferenceSession(model.SerializeToString()).run(None, {"x": given})

        (got,) = onnx_backend.run_model(model, {"x": given}, level="gawee")

        if op == "ZipMap":
            assert got == wanted
        else:
            text = as_array(got)
            assert (text.dtype, text.tolist()) == (wanted.dtype, wanted.tolist())


def test_categories_are_numbers_or_text() -> None:
    text = np.array([["a", "z"], ["b", "a"]], object)
    for given in (text, np.array([4, 9, 5])):
        attributes = {"cats_int64s": [4, 5], "cats_strings": ["a", "b"]}
        model = model_of("CategoryMapper", [given], attributes, 1)
        model.opset_import[1].version = 1
        (wanted,) = runtime.InferenceSession(model.SerializeToString()).run(None, {"i0": given})

        (made,) = onnx_backend.run_model(model, {"i0": given}, level="gawee")

        got = as_array(made)
        assert (got.dtype, got.tolist()) == (wanted.dtype, wanted.tolist())


def test_features() -> None:
    compare("Scaler", [X], offset=[0.1, 0.2, 0.3], scale=[2.0, 3.0, 4.0])
    compare("Scaler", [X], offset=[0.1], scale=[2.0])
    for norm in ("MAX", "L1", "L2"):
        compare("Normalizer", [np.abs(X)], norm=norm)
    missing = X.copy()
    missing[1, 2] = np.nan
    compare("Imputer", [missing], imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=np.nan)
    numbers = np.array([[1, -1, 3]])
    compare("Imputer", [numbers], imputed_value_int64s=[5], replaced_value_int64=-1)
    compare("Binarizer", [X], threshold=0.25)
    compare("ArrayFeatureExtractor", [X, np.array([[2, 0]])])
    compare("FeatureVectorizer", [X, X[:, :2]], inputdimensions=[3, 2])
    compare("OneHotEncoder", [np.array([2, 5, 3])], cats_int64s=[5, 2, 9])


def trees(depth: int, count: int, modes: Sequence[str]) -> tuple[dict[str, list], list, list]:
    """Return the nodes of full trees, and the trees and the nodes of their leaves."""
    nodes: dict[str, list] = {
        name: []
        for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                     "falsenodeids", "missing_value_tracks_true")
    }  # fmt: skip
    of_leaves: list[tuple[int, int]] = []
    for tree in range(count):
        for node in range(2 ** (depth + 1) - 1):
            leaf = node >= 2**depth - 1
            if leaf:
                of_leaves.append((tree, node))
            row = (
                *(tree, node, int(RNG.integers(3)), round(float(RNG.standard_normal()), 2)),
                "LEAF" if leaf else modes[int(RNG.integers(len(modes)))],
                *((0, 0) if leaf else (2 * node + 1, 2 * node + 2)),
                int(RNG.integers(2)),
            )
            for column, value in zip(nodes.values(), row, strict=True):
                column.append(value)
    named = {f"nodes_{name}": column for name, column in nodes.items()}
    return named, [tree for tree, _ in of_leaves], [node for _, node in of_leaves]


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_trees_that_vote_for_targets(aggregate: str) -> None:
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ", "BRANCH_NEQ"]
    nodes, of_trees, leaves = trees(3, 4, modes)
    missing = X.copy()
    missing[2, 1] = np.nan
    weights = RNG.standard_normal(len(leaves)).round(3).tolist()

    compare(
        "TreeEnsembleRegressor",
        [missing],
        1,
        aggregate_function=aggregate,
        base_values=[0.25],
        n_targets=1,
        target_treeids=of_trees,
        target_nodeids=leaves,
        target_ids=[0] * len(leaves),
        target_weights=weights,
        **nodes,
    )


@pytest.mark.parametrize(
    ("classes", "labels", "how"),
    [
        ([0, 1, 2], [5, 6, 7], "NONE"),
        ([0, 1, 2], [5, 6, 7], "SOFTMAX"),
        ([1], [0, 1], "LOGISTIC"),
        ([0], [0, 1], "LOGISTIC"),
        ([0], [0, 1], "NONE"),
        ([1], [0, 1], "NONE"),
    ],
)
def test_trees_that_vote_for_classes(classes: list[int], labels: list[int], how: str) -> None:
    nodes, of_trees, leaves = trees(2, 3, ["BRANCH_LEQ"])
    weights = RNG.random(len(leaves)).round(3).tolist()
    if how == "LOGISTIC":
        weights = [number - 0.5 for number in weights]

    compare(
        "TreeEnsembleClassifier",
        [X],
        2,
        class_treeids=of_trees,
        class_nodeids=leaves,
        class_ids=[classes[at % len(classes)] for at in range(len(leaves))],
        class_weights=weights,
        classlabels_int64s=labels,
        post_transform=how,
        **nodes,
    )


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT"])
@pytest.mark.parametrize(
    ("depth", "targets", "count"), [(2, 1, 6), (4, 2, 6), (5, 3, 6), (6, 1, 6), (2, 1, 131)]
)
def test_trees_that_ask_alike_are_masks_of_leaves(
    mode: str, depth: int, targets: int, count: int
) -> None:
    """Of 4 and 16 leaves in 32 bits, of 32 in 64, of 64 that are too many, and of several steps."""
    nodes, of_trees, leaves = trees(depth, count, [mode])
    given = X.copy()
    given[2, 1], given[3, 0], given[4, 2] = np.nan, np.inf, -np.inf
    nodes["nodes_values"][1] = np.inf
    weights = RNG.standard_normal(len(leaves)).round(3).tolist()

    compare(
        "TreeEnsembleRegressor",
        [given],
        1,
        n_targets=targets,
        target_treeids=of_trees,
        target_nodeids=leaves,
        target_ids=[tree % targets for tree in of_trees],
        target_weights=weights,
        **nodes,
    )


def test_labels_that_are_text_are_made_on_the_host_and_refused_without_one(tmp_path: Path) -> None:
    attributes = {"coefficients": COEFFICIENTS, "classlabels_strings": ["a", "b", "c"]}
    attributes["intercepts"] = [0.5, 0.0, 0.0]
    model = model_of("LinearClassifier", [X], attributes, 2)
    prepared = onnx_backend.prepare(model, level="gawee")

    labels, scores = map(as_array, prepared.run([X]))

    wanted = runtime.InferenceSession(model.SerializeToString()).run(None, {"i0": X})
    assert labels.tolist() == wanted[0].tolist()
    assert_allclose(scores, wanted[1], rtol=1e-5, atol=1e-6)  # sums of three f32
    assert prepared.session.host == {"ai.onnx.ml.LabelEncoder"}
    onnx.save(model, tmp_path / "text.onnx")
    with pytest.raises(GaweeError, match="unsupported labels that are text"):
        load(tmp_path / "text.onnx")


def test_trees_in_a_circle_are_refused() -> None:
    nodes, of_trees, leaves = trees(1, 1, ["BRANCH_LEQ"])
    nodes["nodes_truenodeids"][0] = 0
    attributes = {"target_treeids": of_trees, "target_nodeids": leaves, "target_ids": [0] * 2}
    model = model_of(
        "TreeEnsembleRegressor", [X], {**attributes, "target_weights": [1.0, 2.0], **nodes}, 1
    )

    with pytest.raises(GaweeError, match="expected trees of at most 256 levels"):
        onnx_backend.prepare(model, level="gawee").run([X])
