"""Data files of a graph: where they may be, how long they are, and that nothing else is read."""

import os
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.diagnostics import GaweeError
from tests.frontends.graphs import Json, data, graph, node, one_node, parse, value, write_data


def linear(path: str, dtype: str = "float32") -> Json:
    return one_node("MatMul", (2, 3), (2, 5), weight=data((5, 3), path, dtype))


def refusal(graph: Json, folder: Path | None) -> str:
    with pytest.raises(GaweeError) as raised:
        parse(graph, folder)
    return str(raised.value)


def test_a_file_of_the_right_size_is_accepted(tmp_path: Path):
    write_data(tmp_path, "weights/w.bin", np.zeros((5, 3), np.float32))

    assert "weights/w.bin" in str(parse(linear("weights/./w.bin"), tmp_path))


def test_a_missing_file_is_refused_at_the_weight_object(tmp_path: Path):
    message = refusal(linear("weights/w.bin"), tmp_path)

    assert "cannot read file 'weights/w.bin': no such file or directory" in message
    assert message.startswith("g.json:")
    assert 'node "n"' in message


@pytest.mark.parametrize("elements", [14, 16])
def test_a_file_of_another_size_is_refused(tmp_path: Path, elements: int):
    write_data(tmp_path, "w.bin", np.zeros(elements, np.float32))

    message = refusal(linear("w.bin"), tmp_path)

    assert f"expected file 'w.bin' of 60 bytes, got {4 * elements}" in message
    assert "(of weight 'weight', 'tensor<5x3xf32>')" in message


@pytest.mark.parametrize(
    "path", ["../w.bin", "/etc/hostname", "a/../../w.bin", "C:/w.bin", "a\\w.bin", "a\0b"]
)
@pytest.mark.parametrize("with_folder", [True, False])
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, path: str, with_folder: bool):
    folder = tmp_path / "graph"
    folder.mkdir()
    write_data(tmp_path, "w.bin", np.zeros((5, 3), np.float32))

    message = refusal(linear(path), folder if with_folder else None)

    assert "to stay inside the folder of the graph" in message


def test_a_symbolic_link_out_of_the_folder_is_refused(tmp_path: Path):
    folder = tmp_path / "graph"
    folder.mkdir()
    write_data(tmp_path, "w.bin", np.zeros((5, 3), np.float32))
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    (folder / "weights").symlink_to(tmp_path, target_is_directory=True)

    for path in ("link.bin", "weights/w.bin"):
        assert "to stay inside the folder of the graph" in refusal(linear(path), folder)


def test_a_symbolic_link_in_a_circle_is_refused(tmp_path: Path):
    (tmp_path / "link.bin").symlink_to(tmp_path / "link.bin")

    assert "cannot read file 'link.bin': too many levels" in refusal(linear("link.bin"), tmp_path)


def test_a_symbolic_link_inside_the_folder_is_followed(tmp_path: Path):
    write_data(tmp_path, "weights/w.bin", np.zeros((5, 3), np.float32))
    (tmp_path / "link.bin").symlink_to(tmp_path / "weights/w.bin")

    assert "link.bin" in str(parse(linear("link.bin"), tmp_path))


def test_a_file_that_is_not_regular_is_refused_and_not_opened(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.bin")
    (tmp_path / "folder.bin").mkdir()

    for path in ("pipe.bin", "folder.bin"):
        assert f"expected '{path}' to be a regular file" in refusal(linear(path), tmp_path)


def test_an_absurd_weight_is_refused_before_anything_is_allocated():
    huge = one_node("MatMul", (2, 3), (2, 5), weight=data((2**50, 2**50), "w.bin"))

    assert "expected weight 'weight' of at most 1099511627776 bytes" in refusal(huge, None)


def test_an_unknown_dtype_of_a_weight_is_refused():
    message = refusal(linear("w.bin", "complex64"), None)

    assert "unsupported dtype 'complex64' of weight 'weight'; supported: float32" in message


def test_a_weight_without_a_path_is_refused():
    weight = {"shape": [5, 3], "dtype": "float32"}

    message = refusal(one_node("MatMul", (2, 3), (2, 5), weight=weight), None)

    assert "expected 'weight' of 'MatMul' node to have key 'path'" in message


def test_one_path_has_one_type():
    nodes = [
        node("MatMul", ["x"], "y", weight=data((3, 3), "w.bin")),
        node("MatMul", ["y"], "z", weight=data((9, 1), "w.bin")),
    ]
    message = refusal(graph(nodes, [value(name, (2, 3)) for name in "xyz"]), None)

    assert "expected 'tensor<9x1xf32>' of 'w.bin' to match 'tensor<3x3xf32>'" in message


def test_a_wrong_constant_file_is_refused_once(tmp_path: Path):
    write_data(tmp_path, "c.bin", np.zeros(2, np.float32))
    values = [value(name, (2, 3)) for name in "xyz"]
    constant = value("c", (3,), "float32") | {"path": "c.bin"}
    nodes = [node("Add", ["x", "c"], "y"), node("Add", ["x", "c"], "z")]

    message = refusal(graph(nodes, [*values, constant]), tmp_path)

    assert "expected file 'c.bin' of 12 bytes, got 8 (of constant 'c', 'tensor<3xf32>')" in message
    assert message.count("error:") == 1


def test_a_constant_needs_shape_and_dtype():
    constant = value("c", None) | {"path": "c.bin"}
    nodes = [node("Add", ["x", "c"], "y")]

    message = refusal(graph(nodes, [value("x", (2,)), value("y", (2,)), constant]), None)

    assert "expected constant 'c' to have a shape and a dtype" in message
