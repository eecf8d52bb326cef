"""Nodes that do not fit ONNX's schema: each is refused with what was expected, and is no crash."""

from collections.abc import Mapping

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.formats import open_graph
from gawee_dialect.frontends.onnx.registry import ONNX, RULES, rules_of
from gawee_dialect.source import Source

Shapes = tuple[tuple[int, ...], ...]


def test_rules_are_of_arguments_that_there_are() -> None:
    arguments: dict[str, set[str]] = {}
    for mapping in ONNX:
        names = arguments.setdefault(mapping.name.partition("-")[0], set())
        names |= {each.name for one in mapping.parameters for each in one.group or (one,)}

    for op_type in RULES:
        assert {rule.name for rule in rules_of(op_type)} <= arguments[op_type], op_type


def message_of(
    op_type: str,
    shapes: Shapes,
    attributes: Mapping[str, object],
    known: Mapping[int, object] | None = None,
    outputs: int = 1,
) -> str:
    """Return why a node is refused whose inputs have these shapes, some of them known."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    known = known or {}
    names = [f"x{number}" for number in range(len(shapes) + len(known))]
    rest = iter(shapes)
    inputs, arrays = [], []
    for number, name in enumerate(names):
        if number in known:
            array = np.asarray(known[number])
            arrays.append(onnx.numpy_helper.from_array(array, name))
        else:
            inputs.append(helper.make_tensor_value_info(name, 1, next(rest)))
    made = [f"y{number}" for number in range(outputs)]
    node = helper.make_node(op_type, names, made, "n", **attributes)
    results = [helper.make_tensor_value_info(name, 1, None) for name in made]
    graph = helper.make_graph([node], "g", inputs, results, arrays)
    opset = 8 if op_type == "Upsample" else 23
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    with pytest.raises(GaweeError) as raised:
        open_graph(Source("m.onnx", model.SerializeToString()), name="onnx").module()
    return str(raised.value)


@pytest.mark.parametrize(
    ("op_type", "shapes", "attributes", "message"),
    [
        ("Conv", ((1, 3), (4, 3, 1)), {}, "argument 'w' of shape [M, _, *=0], got 4x3x1"),
        (
            "BatchNormalization",
            ((2, 3, 5), (3,), (3,), (4,), (3,)),
            {},
            "argument 'input_mean' of shape [C=3], got 4",
        ),
        ("Det", ((2, 3, 4),), {}, "argument 'x' of shape [..., M=3, M=3], got 2x3x4"),
        ("Det", ((2,),), {}, "argument 'x' of shape [..., M, M], got 2"),
        (
            "RoiAlign",
            ((1, 3, 5, 7), (2, 3), (2,)),
            {},
            "argument 'rois' of shape [R=2, 4], got 2x3",
        ),
        (
            "MaxPool",
            ((1, 3, 7),),
            {"kernel_shape": [2, 2]},
            "'kernel_shape' to have 1 numbers, got 2",
        ),
        (
            "MaxPool",
            ((1, 3, 7),),
            {"kernel_shape": [2], "strides": [0]},
            "argument 'strides' to have numbers of at least 1, got [0]",
        ),
        (
            "AveragePool",
            ((1, 3, 7),),
            {"kernel_shape": [(1 << 31) - 1], "dilations": [2]},
            "window extent (4294967293) to fit the padded input (7)",
        ),
        (
            "MaxPool",
            ((1, 3, 7),),
            {"kernel_shape": [2], "pads": [1]},
            "argument 'pads' to have 2 numbers, got 1",
        ),
        (
            "RoiAlign",
            ((1, 3, 5, 7), (2, 4), (2,)),
            {"output_width": 1 << 31},
            "'output_width' to have numbers of at least 1 and at most 4096, got [2147483648]",
        ),
        ("Attention", ((2, 3), (2, 3), (2, 3)), {}, "inputs of rank 3 or 4, got 2x3"),
        (
            "Attention",
            ((2, 0, 3), (2, 1, 3), (2, 1, 3)),
            {"q_num_heads": 1, "kv_num_heads": 1},
            "argument 'q' to have sizes of at least 1, got [2, 0, 3]",
        ),
        (
            "Attention",
            ((2, 1, 3), (2, 1, 3), (2, 1, 3)),
            {"q_num_heads": 2, "kv_num_heads": 1},
            "expected 3 columns to be a multiple of 2 heads",
        ),
        ("RotaryEmbedding", ((2, 3), (9, 1), (9, 1)), {}, "an input of rank 3 or 4, got 2x3"),
        (
            "RotaryEmbedding",
            ((2, 3, 5), (9, 1), (9, 1)),
            {"num_heads": 2},
            "expected 5 columns to be a multiple of 2 heads",
        ),
        (
            "LinearAttention",
            ((1, 2, 5), (1, 2, 5), (1, 2, 5)),
            {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"},
            "expected 5 columns to be a multiple of 2 query heads, and those of 2 heads",
        ),
        (
            "TfIdfVectorizer",
            ((2, 3, 4),),
            {"ngram_indexes": [0]},
            "expected rows of words, got 2x3x4",
        ),
        (
            "TfIdfVectorizer",
            ((3,),),
            {"ngram_counts": [0, 3]},
            "expected ngram_counts to cut 2 words, got [0, 3]",
        ),
        ("TfIdfVectorizer", ((3,),), {}, "expected an index of each of 1 n-grams, got 2"),
        (
            "EyeLike",
            ((1 << 20, 1 << 20),),
            {},
            "a table of at most 16777216 elements, got 1099511627776",
        ),
        (
            "Transpose",
            ((2, 3, 4),),
            {"perm": [0, 1]},
            "expected perm to order 3 axes, got [0, 1]",
        ),
        (
            "Einsum",
            ((2, 3), (3, 4)),
            {"equation": "i1,1j->ij"},
            "expected letters and one '...' in 'i1' of 'i1,1j->ij'",
        ),
        (
            "Einsum",
            ((2, 3), (3, 4)),
            {"equation": "ik,kj->ix"},
            "expected labels of the operands, each once, in 'ix'",
        ),
        ("Sum", (), {}, "expected at least one tensor of argument 'inputs', got none"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    op_type: str, shapes: Shapes, attributes: dict[str, object], message: str
) -> None:
    if op_type == "TfIdfVectorizer":
        pool = {"ngram_counts": [0, 0], "ngram_indexes": [0, 1], "pool_int64s": [2, 3]}
        sizes = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "mode": "TF"}
        attributes = {**pool, **sizes, **attributes}

    assert message in message_of(op_type, shapes, attributes)


@pytest.mark.parametrize(
    ("op_type", "shapes", "known", "message"),
    [
        ("Slice", ((3, 5),), {1: [0], 2: [1, 2]}, "argument 'ends' to have 1 numbers, got 2"),
        ("Resize", ((3, 5),), {1: [0.5], 2: [2.0]}, "2 positive scales or sizes, got [2.0]"),
        ("Resize", ((3, 0),), {1: [0.5], 2: [2.0, 1.0]}, "axes that have elements, got [3, 0]"),
        ("Range", (), {0: 0, 1: 3, 2: 0}, "bounds and a delta other than 0, got 0"),
        ("Range", (), {0: 0, 1: 1 << 40, 2: 1}, "a table of at most 16777216 elements"),
        (
            "ReverseSequence",
            ((3, 5),),
            {1: [1, 2]},
            "a length of each sequence, got 2 lengths of 3x5",
        ),
        ("CenterCropPad", ((3, 5),), {1: [2]}, "expected a size of each of 2 axes, got [2]"),
        (
            "STFT",
            ((2, 5),),
            {1: 3, 2: np.ones(7, np.float32)},
            "within the signal's 5 elements, got 7",
        ),
        ("AffineGrid", ((2, 2, 3),), {1: [2, 3, 1 << 20, 1 << 20]}, "a table of at most 16777216"),
        ("Squeeze", ((),), {1: [0]}, "expected axes of size 1, got [0] of []"),
    ],
)
def test_known_inputs_that_do_not_fit_are_refused(
    op_type: str, shapes: Shapes, known: dict[int, object], message: str
) -> None:
    assert message in message_of(op_type, shapes, {}, known)


def test_a_region_to_crop_has_two_ends_of_each_axis() -> None:
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    known = {1: np.ones(2, np.float32), 2: np.ones(2, np.float32)}

    assert "expected roi of 4 numbers, got 2" in message_of("Resize", ((3, 5),), attributes, known)


def test_boxes_are_selected_into_rows() -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    node = helper.make_node("NonMaxSuppression", ["b", "s", "k"], ["y"], "n")
    shapes = {"b": [1, 6, 4], "s": [1, 2, 6]}
    inputs = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    most = onnx.numpy_helper.from_array(np.array([3]), "k")
    output = helper.make_tensor_value_info("y", 7, [])
    graph = helper.make_graph([node], "g", inputs, [output], [most])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])

    with pytest.raises(GaweeError, match="expected an output of rows, got scalar"):
        open_graph(Source("m.onnx", model.SerializeToString()), name="onnx").module()
