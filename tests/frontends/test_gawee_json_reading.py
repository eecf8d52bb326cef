"""What graphs may look like: every variation of the format comes out as the op it means."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.dialect.entry import entry_arguments, find_function, output_names
from gawee_dialect.frontends.gawee_json import parse_gawee_json
from gawee_dialect.locations import node_name, place
from tests.frontends.graphs import (
    conv,
    data,
    graph,
    node,
    one_node,
    op_text,
    parse,
    value,
    write_data,
)


def arguments(module: ModuleOp) -> list[tuple[str, str, str | None]]:
    function = find_function(module)
    assert function is not None
    return [(str(each.kind), each.name, each.path) for each in entry_arguments(function)]


def op_names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk() if op.name.startswith("gawee.")]


def test_bookkeeping_and_the_inner_op_type_are_ignored():
    plain = conv((2, 4, 9, 7), (2, 6, 7, 6))
    noted = conv(
        (2, 4, 9, 7),
        (2, 6, 7, 6),
        op="call_module",
        target="n",
        op_type="Relu",
        mod="Conv2d(4, 6, kernel_size=(3, 2))",
    )

    assert str(parse(noted)) == str(parse(plain))


def test_a_missing_bias_stays_missing():
    module = parse(conv((2, 4, 9, 7), (2, 6, 7, 6)))

    assert "bias" not in op_text(module, "gawee.conv")
    assert arguments(module) == [("input", "x", None), ("parameter", "n.weight", "weights/w.bin")]


def test_null_attributes_are_absent():
    module = parse(conv((2, 4, 9, 7), (2, 6, 7, 6), bias=None, padding_mode=None))

    assert str(module) == str(parse(conv((2, 4, 9, 7), (2, 6, 7, 6))))


@pytest.mark.parametrize("dtype", ["float32", "torch.float32"])
def test_both_spellings_of_a_dtype_are_read(dtype: str):
    module = parse(one_node("Relu", (2, 3), (2, 3), dtype))

    assert "tensor<2x3xf32>" in op_text(module, "gawee.relu")


@pytest.mark.parametrize(
    ("dtype", "element"),
    [("float16", "f16"), ("float64", "f64"), ("int64", "i64"), ("int32", "i32"), ("int8", "i8")],
)
def test_other_dtypes_are_read(dtype: str, element: str):
    module = parse(one_node("Relu", (2, 3), (2, 3), f"torch.{dtype}"))

    assert f"tensor<2x3x{element}>" in op_text(module, "gawee.relu")


def test_one_integer_means_the_same_as_two():
    one = one_node(
        "MaxPool", (2, 3, 9, 8), (2, 3, 5, 4), kernel_size=3, stride=2, padding=1, dilation=1
    )
    two = one_node(
        "MaxPool",
        (2, 3, 9, 8),
        (2, 3, 5, 4),
        kernel_size=[3, 3],
        stride=[2, 2],
        padding=[1, 1],
        dilation=[1, 1],
        ceil_mode=False,
    )

    assert str(parse(one)) == str(parse(two))


def test_a_pooling_stride_defaults_to_the_kernel():
    module = parse(one_node("AvgPool", (2, 3, 9, 8), (2, 3, 3, 4), kernel_size=[3, 2]))

    assert "strides [3, 2]" in op_text(module, "gawee.avg_pool")
    assert "count_include_pad true" in op_text(module, "gawee.avg_pool")


def test_same_padding_has_its_smaller_half_first():
    # Kernel 3x2 dilated by 2, 3: extents 5 and 4, so 4 and 3 in all.
    module = parse(conv((2, 4, 9, 7), (2, 6, 9, 7), padding="same", dilation=[2, 3]))

    assert "padding [2, 1, 2, 2]" in op_text(module, "gawee.conv")


def test_valid_padding_is_none():
    module = parse(conv((2, 4, 9, 7), (2, 6, 7, 6), padding="valid"))

    assert "padding [0, 0, 0, 0]" in op_text(module, "gawee.conv")


def test_groups_and_redundant_sizes_are_read():
    module = parse(
        conv(
            (2, 8, 9, 7),
            (2, 6, 5, 6),
            groups=2,
            stride=[2, 1],
            padding=[1, 0],
            in_channels=8,
            out_channels=6,
            kernel_size=[3, 2],
        )
    )

    assert "groups 2" in op_text(module, "gawee.conv")
    assert "strides [2, 1] padding [1, 0, 1, 0]" in op_text(module, "gawee.conv")


@pytest.mark.parametrize(
    ("output_size", "shape"),
    [(3, (3, 3)), ([3, 2], (3, 2)), ([None, 2], (7, 2)), ([None, None], (7, 5))],
)
def test_adaptive_pooling_keeps_axes_that_are_null(output_size: object, shape: tuple[int, int]):
    module = parse(one_node("AdAvgPool", (2, 4, 7, 5), (2, 4, *shape), output_size=output_size))

    assert f"output_size [{shape[0]}, {shape[1]}]" in op_text(module, "gawee.ad_avg_pool")


def test_flatten_starts_at_axis_1_where_nothing_is_said():
    module = parse(one_node("flatten", (2, 3, 5, 7), (2, 105)))

    assert "start_dim 1 end_dim -1" in op_text(module, "gawee.flatten")


@pytest.mark.parametrize("key", ["dim", "axis"])
def test_cat_takes_dim_or_axis(key: str):
    values = [value("x", (2, 3)), value("y", (2, 5)), value("z", (2, 8))]
    module = parse(graph([node("cat", ["x", "y"], "z", name=None, **{key: 1})], values, ["x", "y"]))

    assert "dim 1" in op_text(module, "gawee.cat")


def test_dropout_is_an_identity():
    module = parse(one_node("Identity", (2, 3), (2, 3), p=0.5, inplace=False))

    assert op_names(module) == ["gawee.identity"]


def batch_norm_weights(*keys: str) -> dict[str, object]:
    return {key: data((3,), f"weights/{key}.bin") for key in keys}


def test_batch_norm_without_affine_has_statistics_alone():
    weights = batch_norm_weights("running_mean", "running_var")
    attrs = {"affine": False, "eps": 0.25, "momentum": 0.1, **weights}
    module = parse(one_node("BatchNormalization", (2, 3, 5), (2, 3, 5), **attrs))

    assert [name for _, name, _ in arguments(module)] == ["x", "n.running_mean", "n.running_var"]
    assert "eps 2.500000e-01" in op_text(module, "gawee.batch_norm")


def test_the_count_of_batches_is_ignored():
    weights = batch_norm_weights("running_mean", "running_var", "weight", "bias")
    counted = {**weights, "num_batches_tracked": data((), "weights/count.bin", "int64")}
    with_count = parse(one_node("BatchNormalization", (2, 3, 5), (2, 3, 5), **counted))

    assert "count" not in str(with_count)


def test_a_shared_module_has_one_argument_and_two_values():
    weight = data((3, 3), "weights/w.bin")
    nodes = [
        node("MatMul", ["x"], "y", name="shared", weight=weight),
        node("MatMul", ["y"], "z", name="shared", weight=weight),
    ]
    module = parse(graph(nodes, [value(name, (2, 3)) for name in "xyz"]))

    assert op_names(module) == ["gawee.matmul", "gawee.matmul"]
    assert arguments(module)[1:] == [("parameter", "shared.weight", "weights/w.bin")]


def test_two_weights_of_one_name_get_names_of_their_own():
    nodes = [
        node("MatMul", ["x"], "y", name="twin", weight=data((3, 3), "weights/a.bin")),
        node("MatMul", ["y"], "z", name="twin", weight=data((3, 3), "weights/b.bin")),
    ]
    module = parse(graph(nodes, [value(name, (2, 3)) for name in "xyz"]))

    assert [name for _, name, _ in arguments(module)] == ["x", "twin.weight", "twin.weight_2"]


def test_a_dead_value_may_have_a_null_shape_or_no_entry():
    nodes = [node("Relu", ["x"], "dead"), node("Relu", ["x"], "lost"), node("Relu", ["x"], "y")]
    values = [value("x", (2, 3)), value("dead", None), value("y", (2, 3))]

    assert len(op_names(parse(graph(nodes, values)))) == 3


def test_a_small_constant_is_written_in_the_ir(tmp_path: Path):
    write_data(tmp_path, "constants/c.bin", np.array([1.5, -2, 0], np.float32))
    constant = value("c", (3,), "float32") | {"path": "constants/c.bin"}
    nodes = [node("Add", ["x", "c"], "y")]
    module = parse(
        graph(nodes, [value("x", (2, 3)), constant, value("y", (2, 3))]), folder=tmp_path
    )

    assert "dense<[1.500000e+00, -2.000000e+00, 0.000000e+00]>" in op_text(module, "gawee.constant")


def large_constant() -> dict[str, object]:
    constant = value("c", (4097,), "float32") | {"path": "constants/c.bin"}
    values = [value("x", (2, 4097)), constant, value("y", (2, 4097))]
    return graph([node("Add", ["x", "c"], "y")], values)


def test_a_large_constant_is_an_argument(tmp_path: Path):
    write_data(tmp_path, "constants/c.bin", np.zeros(4097, np.float32))
    module = parse(large_constant(), folder=tmp_path)

    assert arguments(module)[1] == ("constant", "c", "constants/c.bin")


def test_without_a_folder_every_constant_is_an_argument():
    constant = value("c", (3,), "float32") | {"path": "constants/c.bin"}
    nodes = [node("Add", ["x", "c"], "y")]
    module = parse(graph(nodes, [value("x", (2, 3)), constant, value("y", (2, 3))]))

    assert arguments(module)[1] == ("constant", "c", "constants/c.bin")


def upsampling(**attrs: Any) -> dict[str, object]:
    sizes = [value(name, (), "int64") | {"path": f"constants/{name}.bin"} for name in "hw"]
    values = [value("x", (2, 4, 3, 5)), *sizes, value("y", (2, 4, 6, 11))]
    return graph([node("interpolate", ["x", "h", "w"], "y", mode="nearest", **attrs)], values)


def test_the_size_of_an_upsampling_comes_from_constants(tmp_path: Path):
    write_data(tmp_path, "constants/h.bin", np.array(6, np.int64))
    write_data(tmp_path, "constants/w.bin", np.array(11, np.int64))
    module = parse(upsampling(), folder=tmp_path)

    assert "size_from %h, %w size [6, 11]" in op_text(module, "gawee.interpolate")


def test_the_size_of_an_upsampling_comes_from_the_declared_shape():
    module = parse(upsampling())

    assert "size_from %h, %w size [6, 11]" in op_text(module, "gawee.interpolate")


def test_a_scale_factor_gives_size_and_scales():
    attrs = {"scale_factor": [2.0, 1.5], "mode": "bilinear", "align_corners": False}
    module = parse(one_node("interpolate", (2, 4, 3, 5), (2, 4, 6, 7), **attrs))

    text = op_text(module, "gawee.interpolate")
    assert 'size [6, 7] mode "bilinear" scales [2.000000e+00, 1.500000e+00]' in text


def test_a_recomputed_scale_factor_gives_the_size_alone():
    attrs = {"scale_factor": 1.5, "recompute_scale_factor": True}
    module = parse(one_node("interpolate", (2, 4, 3, 5), (2, 4, 4, 7), **attrs))

    assert "scales" not in op_text(module, "gawee.interpolate")


def test_python_leftovers_are_ops_of_their_own():
    nodes = [
        node("getattr", ["x"], "s", name="<built-in function getattr>"),
        node("getitem", ["s"], "hw", index="slice(2, None, None)"),
        node("getitem", ["hw"], "h", item=0),
        node("getitem", ["hw"], "w"),
        node("interpolate", ["x", "h", "w"], "y"),
    ]
    python = [value(name, None) for name in ("s", "hw", "h", "w")]
    module = parse(graph(nodes, [value("x", (2, 4, 3, 5)), *python, value("y", (2, 4, 6, 10))]))

    text = str(module)
    assert op_names(module)[:2] == ["gawee.getattr", "gawee.getitem"]
    assert 'gawee.getattr %x "shape"' in text
    assert 'gawee.getitem %hw "0"' in text
    assert 'gawee.getitem %hw "?"' in text
    assert "size [6, 10]" in text


def test_ops_carry_the_place_and_the_name_of_their_node():
    text = json.dumps(one_node("Relu", (2, 3), (2, 3)), indent=1)
    module = parse_gawee_json(text, name="dir/g.json", folder=None)
    (relu,) = [op for op in module.walk() if op.name == "gawee.relu"]

    line = text[: text.index('"op_type"')].count("\n")  # the line of the brace before
    assert place(relu.location) == f"dir/g.json:{line}:3"
    assert node_name(relu.location) == "n"


def test_outputs_are_named_and_may_be_inputs():
    wide = graph([node("Relu", ["x"], "a.b")], [value("x", (2, 3)), value("a.b", (2, 3))])
    wide["outputs"] = ["a.b", "x"]
    function = find_function(parse(wide))

    assert function is not None
    assert output_names(function) == ["a.b", "x"]
    assert entry_arguments(function)[0].name == "x"


def test_nodes_that_share_a_name_and_calls_of_functions_have_names_of_their_own() -> None:
    value = {"shape": [1, 4], "dtype": "torch.float32"}
    calls = [
        ("Relu", "stem.relu"),
        ("Relu", "layer1.0.relu"),
        ("Add", "<built-in function add>"),
        ("Relu", "layer1.0.relu"),
        ("Add", "<built-in function add>"),
        ("flatten", "<built-in method flatten of type object at 0x7f>"),
        ("Relu", "layer1_relu"),
        ("Relu", "layer1.0.relu_1"),
        ("Relu", "layer1.0.relu"),
    ]
    nodes = [
        {
            "op_type": op,
            "name": name,
            "inputs": [f"v{at}"] * (2 if op == "Add" else 1),
            "outputs": [f"v{at + 1}"],
            "attrs": {"start_dim": 1, "end_dim": -1} if op == "flatten" else {},
        }
        for at, (op, name) in enumerate(calls)
    ]
    graph = {
        "inputs": ["v0"],
        "outputs": [f"v{len(calls)}"],
        "values": {f"v{at}": {"id": f"v{at}", **value} for at in range(len(calls) + 1)},
        "nodes": nodes,
    }

    module = parse_gawee_json(json.dumps(graph), name="g.json", folder=None)

    names = [node_name(op.location) for op in module.walk() if op.name.startswith("gawee.")]
    assert names == [
        "stem.relu",
        "layer1.0.relu",
        "layer1.0.add",
        "layer1.0.relu_2",
        "add",
        "flatten",
        "layer1_relu",
        "layer1.0.relu_1",
        "layer1.0.relu_3",
    ]
