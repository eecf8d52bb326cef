"""Ops of ai.onnx.ml, compared with ONNX Runtime."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from gawee_dialect import onnx_backend
from gawee_dialect.diagnostics import GaweeError

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

    for got, wanted in zip(prepared.run(given), session.run(None, given), strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)  # sums of a few f32
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


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("LINEAR", [0.0, 0.0, 0.0]),
        ("POLY", [0.5, 0.2, 3.0]),
        ("RBF", [0.4, 0.0, 0.0]),
        ("SIGMOID", [0.3, 0.1, 0.0]),
    ],
)
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


def test_labels_that_are_text_are_refused() -> None:
    attributes = {"coefficients": COEFFICIENTS, "classlabels_strings": ["a", "b", "c"]}
    model = model_of("LinearClassifier", [X], attributes, 2)

    with pytest.raises(GaweeError, match="unsupported labels that are text"):
        onnx_backend.prepare(model, level="gawee").run([X])


def test_trees_in_a_circle_are_refused() -> None:
    nodes, of_trees, leaves = trees(1, 1, ["BRANCH_LEQ"])
    nodes["nodes_truenodeids"][0] = 0
    attributes = {"target_treeids": of_trees, "target_nodeids": leaves, "target_ids": [0] * 2}
    model = model_of(
        "TreeEnsembleRegressor", [X], {**attributes, "target_weights": [1.0, 2.0], **nodes}, 1
    )

    with pytest.raises(GaweeError, match="expected trees of at most 256 levels"):
        onnx_backend.prepare(model, level="gawee").run([X])
