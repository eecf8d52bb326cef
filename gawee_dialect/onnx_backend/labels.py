"""Classifiers whose labels are text: they run with numbers, which the host turns into text."""

from collections.abc import Iterator
from dataclasses import replace

from gawee_dialect.frontends.onnx.model import OnnxGraph, OnnxNode
from gawee_dialect.hints import isa

CLASSIFIERS = {
    "ai.onnx.ml.LinearClassifier": "classlabels_ints",
    "ai.onnx.ml.SVMClassifier": "classlabels_ints",
    "ai.onnx.ml.TreeEnsembleClassifier": "classlabels_int64s",
}
"""Ops whose first output is a label, and the attribute that has labels that are numbers."""


def with_numbered_labels(graph: OnnxGraph) -> OnnxGraph:
    """Return a graph whose classifiers make numbers, each with a LabelEncoder behind it."""
    return replace(graph, nodes=[made for node in graph.nodes for made in _numbered(node)])


def _numbered(node: OnnxNode) -> Iterator[OnnxNode]:
    texts = node.attributes.get("classlabels_strings")
    if node.full_type not in CLASSIFIERS or not texts or not isa(texts, list[str]):
        yield node
        return
    label, *others = node.outputs
    if not label:
        yield node
        return
    numbers, number = list(range(len(texts))), f"{label}/number"
    attributes = {k: v for k, v in node.attributes.items() if k != "classlabels_strings"}
    attributes[CLASSIFIERS[node.full_type]] = numbers
    yield replace(node, outputs=[number, *others], attributes=attributes)
    yield OnnxNode(
        f"{node.name}/labels",
        "LabelEncoder",
        [number],
        [label],
        {"keys_int64s": numbers, "values_strings": texts},
        node.domain,
    )
