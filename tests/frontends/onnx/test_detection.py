"""Non-maximum suppression against ONNX Runtime: what it selects, and then rows of -1."""

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.model import load

pytestmark = pytest.mark.usefixtures("unoptimized")

onnx = pytest.importorskip("onnx")
helper, FLOAT, INT64 = onnx.helper, 1, 7

BATCH, CLASSES, BOXES = 2, 3, 17


def model(limits, rows=None, boxes=(BATCH, BOXES, 4), **attributes):
    """Return a model of one node; its limits are most boxes, then the two thresholds."""
    names = ["most", "overlap", "score"][: len(limits)]
    node = helper.make_node(
        "NonMaxSuppression", ["b", "s", *names], ["y"], name="nms", **attributes
    )
    inputs = [
        helper.make_tensor_value_info("b", FLOAT, boxes),
        helper.make_tensor_value_info("s", FLOAT, (BATCH, CLASSES, BOXES)),
    ]
    shape = [rows if rows is not None else "selected", 3]
    output = helper.make_tensor_value_info("y", INT64, shape)
    arrays = [
        np.array(each, np.int64 if index == 0 else np.float32) for index, each in enumerate(limits)
    ]
    initializers = [onnx.numpy_helper.from_array(*each) for each in zip(arrays, names, strict=True)]
    graph = helper.make_graph([node], "g", inputs, [output], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)


def boxes_and_scores(seed, centers=False):
    """Random boxes that overlap in part; scores are all different, so that their order is known."""
    random = np.random.default_rng(seed)
    ends = random.uniform(0, 4, (2, BATCH, BOXES, 2))
    if centers:
        ends[1] = random.uniform(0.2, 3, (BATCH, BOXES, 2))
    boxes = np.concatenate(list(ends), axis=2).astype(np.float32)
    scores = random.permutation(BATCH * CLASSES * BOXES).reshape(BATCH, CLASSES, BOXES)
    return {"b": boxes, "s": (scores / scores.size).astype(np.float32)}


@pytest.mark.parametrize("level", ["gawee", "llvm"])
@pytest.mark.parametrize("centers", [0, 1])
@pytest.mark.parametrize("limits", [([4],), ([40], [0.3]), ([5], [0.1], [0.35])])
def test_boxes_are_selected_as_by_onnx_runtime(tmp_path, limits, centers, level) -> None:
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "net.onnx"
    onnx.save(model(limits, center_point_box=centers), path)
    inputs = boxes_and_scores(seed=len(limits), centers=bool(centers))

    (expected,) = runtime.InferenceSession(str(path)).run(None, inputs)
    (got,) = load(path).runner(level)(inputs).values()

    most = min(limits[0][0], BOXES)
    assert got.shape == (BATCH * CLASSES * most, 3)
    assert 0 < len(expected) < BATCH * CLASSES * BOXES  # some are left out
    np.testing.assert_array_equal(got[: len(expected)], expected)
    assert (got[len(expected) :] == -1).all()


def test_the_graph_may_say_how_many_rows_there_are(tmp_path) -> None:
    path = tmp_path / "net.onnx"
    inputs = boxes_and_scores(seed=5)
    onnx.save(model(([4], [0.5])), path)
    (every,) = load(path).run(inputs).values()
    onnx.save(model(([4], [0.5]), rows=7), path)

    (got,) = load(path).run(inputs).values()

    np.testing.assert_array_equal(got, every[:7])


@pytest.mark.parametrize(
    ("limits", "boxes", "message"),
    [
        (([0],), (BATCH, BOXES, 4), "expected max_output_boxes_per_class of at least 1, got 0"),
        ((), (BATCH, BOXES, 4), "expected max_output_boxes_per_class of at least 1, got 0"),
        (([2],), (BATCH, 3, 4), "expected boxes of shape 2x17x4, got 2x3x4"),
    ],
)
def test_what_selects_nothing_or_does_not_fit_is_refused(tmp_path, limits, boxes, message) -> None:
    onnx.save(model(limits, boxes=boxes), tmp_path / "net.onnx")

    with pytest.raises(GaweeError, match=message):
        load(tmp_path / "net.onnx")
