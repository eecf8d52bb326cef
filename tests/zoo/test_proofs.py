"""Networks of the zoo are proved at reduced sizes: what these are, and the table of proofs."""

import json
from math import prod

from benchmarks.zoo.proof_table import table
from benchmarks.zoo.reduced import halved, least_alike, numbers_of, reduced
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.types import tensor_shape
from tests.instruments.checking import parse
from tests.instruments.prove.proving import prove, unproved

WIDE = """
func.func @main(%x: tensor<1x3x32x24xf32> {gawee.input = "x"},
                %w: tensor<64x3x3x3xf32> {gawee.parameter = "conv1.weight"},
                %v: tensor<96x64x3x3xf32> {gawee.parameter = "conv2.weight"},
                %u: tensor<100x96xf32> {gawee.parameter = "classes.weight"})
    -> (tensor<1x100xf32> {gawee.output = "y"}) {
  %a = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x3x32x24xf32>, tensor<64x3x3x3xf32>) -> tensor<1x64x32x24xf32>
  %b = gawee.conv %a, %v strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x64x32x24xf32>, tensor<96x64x3x3xf32>) -> tensor<1x96x32x24xf32>
  %m = gawee.reduce_mean %b axes [2, 3] : (tensor<1x96x32x24xf32>) -> tensor<1x96xf32>
  %y = gawee.matmul %m, %u : (tensor<1x96xf32>, tensor<100x96xf32>) -> tensor<1x100xf32>
  return %y : tensor<1x100xf32>
}
"""


def test_widths_fill_a_vector_and_leave_what_they_left() -> None:
    assert [least_alike(size) for size in (3, 16, 64, 72, 100, 1000)] == [3, 16, 16, 24, 20, 24]
    assert [halved(size) for size in (3, 49, 64, 72, 768)] == [3, 49, 16, 18, 24]


def test_reduced_graphs_have_the_same_ops_on_fewer_channels() -> None:
    whole = parse(WIDE)
    small = reduced(whole)

    assert [op.name for op in small.walk()] == [op.name for op in whole.walk()]
    assert [tensor_shape(op.weight) for op in small.walk() if isinstance(op, ConvOp)] == [
        (16, 3, 3, 3),
        (16, 16, 3, 3),
    ]
    assert [tensor_shape(op.weight) for op in small.walk() if isinstance(op, MatMulOp)] == [
        (20, 16)
    ]


def test_images_keep_their_sizes() -> None:
    small = reduced(parse(WIDE))

    shapes = [tensor_shape(op.input) for op in small.walk() if isinstance(op, ConvOp)]
    assert shapes == [(1, 3, 32, 24), (1, 16, 32, 24)]
    assert numbers_of(small) == prod(shapes[0]) + 16 * 27 + 16 * 144 + 20 * 16


def test_reduced_graphs_are_proved() -> None:
    assert unproved(prove(reduced(parse(WIDE)), "gawee-to-kernels")) == {}


HEADS = """
func.func @main(%x: tensor<5x48xf32> {gawee.input = "x"}) -> (tensor<5x3x16xf32> {gawee.output = "y"}) {
  %r = gawee.relu %x : (tensor<5x48xf32>) -> tensor<5x48xf32>
  %y = gawee.reshape %r shape [5, 3, 16] : (tensor<5x48xf32>) -> tensor<5x3x16xf32>
  return %y : tensor<5x3x16xf32>
}
"""


def test_what_does_not_fit_keeps_its_size() -> None:
    small = reduced(parse(HEADS))

    small.verify()
    assert [op.name for op in small.walk()] == [op.name for op in parse(HEADS).walk()]


def test_the_table_has_a_row_a_network_and_one_a_reason() -> None:
    record: dict[str, object] = {
        "name": "bert",
        "ops": 165,
        "numbers": 22466,
        "seconds": 8.4,
        "verdicts": {"run": 1, "proved": 17, "assumed": 1},
        "unproved": {"fuse-attention": "declared: folds constants"},
        "reached": ["tiles", "vectors"],
        "failure": "",
    }

    again = {**record, "unproved": {}, "verdicts": {"run": 1, "proved": 18}}
    unread = {**record, "name": "esm", "ops": 0, "verdicts": {}, "failure": "ExportError: no"}
    albert = {**record, "name": "albert"}

    lines = [*table([json.dumps(each) for each in (record, albert, unread)])]

    assert lines[0].startswith("2 networks, 0 alarms. Of 0 every pass that changes something")
    assert lines[4].startswith("| albert | 165 | 22466 |  |  | x | x |  | 17 | 1 | 0 | 8 |")
    assert lines[-3] == "| fuse-attention | declared: folds constants | 2: albert, bert |"
    assert lines[-1] == "Tried, and not built by a library or read by a frontend: esm."

    lines = [*table([json.dumps(each) for each in (record, albert, again)])]

    assert lines[0].startswith("2 networks, 0 alarms. Of 1 every pass that changes something")
    assert lines[-1] == "| fuse-attention | declared: folds constants | 1: albert |"
