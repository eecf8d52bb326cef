"""Graphs written from a module: what is read again is the same, and bad input leaves nothing."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from examples.unet.write_graph import write_unet
from gawee_dialect.analysis.signature import Entry
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.gawee_json import (
    export_graph,
    module_to_gawee_json,
    parse_gawee_json,
)
from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.parameters import open_parameters
from gawee_dialect.universe import make_context
from tests.effort import examples
from tests.frontends.graphs import data, graph, node, parse, value, write_data


def read(path: Path) -> ModuleOp:
    return parse_gawee_json(path.read_text(), name=path.name, folder=path.parent)


def rewrite(module: ModuleOp, source: Path, target: Path) -> ModuleOp:
    """Write a module with its data into a folder and read it again."""
    weights = Entry.of(module).weights
    return read(module_to_gawee_json(module, open_parameters(source, weights), target))


def mlir(text: str) -> ModuleOp:
    return parse_mlir(make_context(), text, "in.mlir")


def test_a_whole_network_comes_back_as_it_was(tmp_path: Path):
    path = write_unet(tmp_path / "in", size=64, width=8)
    module = read(path)

    again = rewrite(module, path.parent, tmp_path / "out")

    assert str(again) == str(module)
    weights = sorted((tmp_path / "out/weights").iterdir())
    assert len(weights) == 47 + 46 * 4 + 1
    for file in weights:
        assert file.read_bytes() == (tmp_path / "in/weights" / file.name).read_bytes()


SIZES = st.integers(1, 3)


@st.composite
def random_graphs(draw: st.DrawFn) -> dict[str, object]:
    """Draw a graph of a few nodes that keep the shape or are a convolution, pooling or resize."""
    shape = (draw(SIZES), draw(SIZES), draw(st.integers(4, 9)), draw(st.integers(4, 9)))
    values, nodes, names = [value("x", shape)], [], ["x"]
    for index in range(draw(st.integers(1, 6))):
        name, like = f"v{index}", draw(st.sampled_from(names))
        op_type = draw(st.sampled_from(["Relu", "Add", "Mul", "Conv", "MaxPool", "interpolate"]))
        inputs, attrs = [like], {}
        if op_type in ("Add", "Mul"):
            inputs.append(draw(st.sampled_from(names)))
        elif op_type == "Conv":
            kernel = [draw(SIZES), draw(SIZES)]
            path = f"weights/{draw(st.sampled_from('ab'))}_{kernel[0]}_{kernel[1]}.bin"
            weight = data((shape[1], shape[1], *kernel), path)
            attrs = {"weight": weight, "padding": "same", "dilation": [draw(SIZES), 1]}
        elif op_type == "MaxPool":
            attrs = {"kernel_size": 3, "stride": 1, "padding": [1, 1]}
        elif op_type == "interpolate":
            attrs = {
                "size": list(shape[2:]),
                "mode": draw(st.sampled_from(["nearest", "bilinear"])),
            }
        module = draw(st.sampled_from(["a", "b.c", "d-e/f"]))  # names of modules may repeat
        nodes.append(node(op_type, inputs, name, name=module, **attrs))
        values.append(value(name, shape))
        names.append(name)
    return graph(nodes, values)


@given(random_graphs())
@examples(60)
def test_random_graphs_come_back_as_they_were(graph: dict[str, object]):
    module = parse(graph)

    again = parse_gawee_json(export_graph(module).text, name="again", folder=None)

    assert str(again) == str(module)
    assert export_graph(again).text == export_graph(module).text


def test_weights_of_several_modules_of_one_name_keep_their_names():
    def conv(output: str, name: str, path: str) -> dict[str, object]:
        weight = data((3, 3, 1, 1), f"weights/{path}.bin")
        return node("Conv", ["x"], output, name=name, weight=weight)

    nodes = [conv("u", "a", "first"), node("Relu", ["u"], "v", name="a"), conv("y", "a", "second")]
    module = parse(graph(nodes, [value(name, (2, 3, 5, 4)) for name in "xuvy"]))

    written = export_graph(module).text

    assert [each["name"] for each in json.loads(written)["nodes"]] == ["a", "a_1", "a"]
    assert str(parse_gawee_json(written, name="again", folder=None)) == str(module)


def test_constants_are_written_and_read_again(tmp_path: Path):
    write_data(tmp_path, "constants/c.bin", np.array([1.5, -2, np.inf], np.float32))
    constant = value("c", (3,), "float32") | {"path": "constants/c.bin"}
    nodes = [node("Add", ["x", "c"], "y")]
    module = parse(graph(nodes, [value("x", (2, 3)), constant, value("y", (2, 3))]), tmp_path)

    again = rewrite(module, tmp_path, tmp_path / "out")

    assert str(again) == str(module)
    written = np.fromfile(tmp_path / "out/constants/c.bin", np.float32)
    assert written.tolist() == [1.5, -2, np.inf]


def test_an_output_with_a_name_of_its_own_is_an_identity():
    module = mlir("""
        func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {gawee.output = "y"}) {
          func.return %x : tensor<2x3xf32>
        }
    """)

    (written,) = json.loads(export_graph(module).text)["nodes"]

    assert (written["op_type"], written["inputs"], written["outputs"]) == ("Identity", ["x"], ["y"])


def test_a_parameter_that_is_an_operand_is_a_constant():
    module = mlir("""
        func.func @main(%x: tensor<2x3xf32>, %w: tensor<3xf32> {gawee.parameter = "w"})
            -> tensor<2x3xf32> {
          %y = gawee.add %x, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
          func.return %y : tensor<2x3xf32>
        }
    """)

    written = export_graph(module)

    assert json.loads(written.text)["values"]["w"] == {
        "id": "w",
        "shape": [3],
        "dtype": "float32",
        "path": "constants/w.bin",
    }
    assert written.files == {"constants/w.bin": "w"}


UNSAYABLE = """
func.func @main(%x: tensor<2x4x9x7xf32>, %w: tensor<4x4x3x3xf32> {gawee.parameter = "w"})
    -> tensor<2x4x8x6xf32> {
  %a = gawee.sqrt %x : (tensor<2x4x9x7xf32>) -> tensor<2x4x9x7xf32>
  %b = gawee.div %x, %x : (tensor<2x4x9x7xf32>, tensor<2x4x9x7xf32>) -> tensor<2x4x9x7xf32>
  %v = gawee.relu %w : (tensor<4x4x3x3xf32>) -> tensor<4x4x3x3xf32>
  %c = gawee.conv %x, %v strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x4x9x7xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x9x7xf32>
  %d = gawee.max_pool %c kernel [2, 2] strides [1, 1] padding [1, 1, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x4x9x7xf32>) -> tensor<2x4x9x7xf32>
  %e = gawee.max_pool %d kernel [2, 2] strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x4x9x7xf32>) -> tensor<2x4x8x6xf32>
  func.return %e : tensor<2x4x8x6xf32>
}
"""


def test_all_ops_that_json_cannot_say_are_in_one_report():
    with pytest.raises(GaweeError) as raised:
        export_graph(mlir(UNSAYABLE))

    messages = [str(problem) for problem in raised.value.diagnostics]
    assert len(messages) == 4
    assert messages[0].startswith("in.mlir:4:3: error: 'gawee.sqrt' op cannot be written as JSON")
    assert "'gawee.div' op cannot be written as JSON; supported: 'gawee.conv'" in messages[1]
    assert "because its weight is a result of 'gawee.relu', not a parameter" in messages[2]
    assert "because padding [1, 1, 0, 0] is not symmetric" in messages[3]


def test_scales_that_give_another_size_cannot_be_said():
    module = mlir("""
        func.func @main(%x: tensor<1x2x3x5xf32>) -> tensor<1x2x7x10xf32> {
          %y = gawee.interpolate %x size [7, 10] mode "nearest" scales [2.0, 2.0] : (tensor<1x2x3x5xf32>) -> tensor<1x2x7x10xf32>
          func.return %y : tensor<1x2x7x10xf32>
        }
    """)

    with pytest.raises(GaweeError, match=r"because scales \[2.0, 2.0\] give size \[6, 10\]"):
        export_graph(module)


def test_prepared_values_cannot_be_said():
    module = mlir("""
        func.func @main(%x: tensor<2xf32>, %p: tensor<2xf32> {gawee.prepared = "0"})
            -> tensor<2xf32> {
          %y = gawee.add %x, %p : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          func.return %y : tensor<2xf32>
        }
    """)

    with pytest.raises(GaweeError, match="because it takes prepared values"):
        export_graph(module)


def test_nothing_is_written_where_an_array_is_missing(tmp_path: Path):
    module = parse(
        graph(
            [node("MatMul", ["x"], "y", name="n", weight=data((5, 3), "w.bin"))],
            [value("x", (2, 3)), value("y", (2, 5))],
        )
    )

    with pytest.raises(GaweeError, match=r"expected weights to have parameter 'n\.weight'"):
        module_to_gawee_json(module, {}, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_a_failure_while_writing_leaves_the_folder_as_it_was(tmp_path: Path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "graph.json").write_text("old")
    (folder / "weights").symlink_to(tmp_path, target_is_directory=True)
    module = parse(
        graph(
            [node("MatMul", ["x"], "y", name="n", weight=data((5, 3), "weights/w.bin"))],
            [value("x", (2, 3)), value("y", (2, 5))],
        )
    )

    with pytest.raises(GaweeError, match=r"expected path 'weights/w\.bin' to stay inside"):
        module_to_gawee_json(module, {"n.weight": np.zeros((5, 3), np.float32)}, folder)

    assert (folder / "graph.json").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["graph.json", "weights"]
    assert not (tmp_path / "w.bin").exists()


def test_two_outputs_of_one_name_are_refused(tmp_path: Path):
    module = mlir(
        """
        func.func @main(%x: tensor<2xf32>)
            -> (tensor<2xf32> {gawee.output = "y"}, tensor<2xf32> {gawee.output = "y"}) {
          %a = gawee.relu %x : (tensor<2xf32>) -> tensor<2xf32>
          %b = gawee.sqrt %x : (tensor<2xf32>) -> tensor<2xf32>
          func.return %a, %b : tensor<2xf32>, tensor<2xf32>
        }
        """
    )

    with pytest.raises(GaweeError, match="expected names to differ, got 'y' twice"):
        module_to_gawee_json(module, {}, tmp_path / "out")
