"""UWEF files: what they give, bit for bit, what they refuse and where, what writing them takes."""

import json
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_st

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.parameters import MemoryStore, open_archive
from gawee_dialect.parameters.archives import write_parameters
from gawee_dialect.parameters.store import ParameterProblem
from gawee_dialect.parameters.uwef import MAX_STRUCTURE, NodeWeights, Slice, write_uwef

pytest.importorskip("orjson")

META = {
    "architecture": "toy",
    "format_version": "1.0",
    "source_framework": "numpy",
    "created_at": "2025-10-21T14:30:00",
}


def tensor(shape: list[int], data: list[float], dtype: str = "float32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data": data}


def node(op_type: str = "Linear", **tensors: object) -> dict[str, object]:
    return {"op_type": op_type, "has_weight": bool(tensors), "tensors": tensors}


def document(nodes: Mapping[str, object]) -> dict[str, object]:
    return {"meta": META, "node_weights": nodes}


def saved(folder: Path, content: object, *, indent: int | None = None) -> Path:
    path = folder / "w.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=indent))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_every_kind_of_tensor_is_read(tmp_path: Path, indent: int | None) -> None:
    nodes = {
        "0": node("Conv_3x3", weight=tensor([2, 1, 1, 1], [0.1, -0.2]), bias=tensor([2], [1, 2])),
        "1": node(
            "BatchNorm",
            **{
                key: tensor([2], [1e-45, -3.4028234663852886e38])
                for key in ("weight", "bias", "running_mean", "running_var")
            },
        ),
        "2": node("ReLU"),
        "3": node("Linear", weight=tensor([1, 3], [0.1, 65504, -6e-8], "float16")),
        "4": node("Scale", weight=tensor([], [7]), bias=tensor([0, 5], [])),
    }

    store = open_archive(saved(tmp_path, document(nodes), indent=indent))

    assert sorted(store) == sorted(
        [f"0.{key}" for key in ("weight", "bias")]
        + [f"1.{key}" for key in ("weight", "bias", "running_mean", "running_var")]
        + ["3.weight", "4.weight", "4.bias"]
    )
    assert store["0.weight"].tolist() == np.array([[[[0.1]]], [[[-0.2]]]], np.float32).tolist()
    assert store["1.bias"].tolist() == np.array([1e-45, -3.4028235e38], np.float32).tolist()
    assert store["3.weight"].tolist() == [np.array([0.1, 65504, -6e-8]).astype("f2").tolist()]
    assert store["4.weight"].shape == ()
    assert store["4.weight"] == 7
    assert store["4.bias"].shape == (0, 5)
    assert store.describe("0.weight").shape == (2, 1, 1, 1)


@given(
    numpy_st.arrays(
        st.sampled_from([np.float32, np.float16]),
        numpy_st.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5),
        elements={"allow_nan": False, "allow_infinity": False},
    )
)
def test_what_is_written_is_read_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray
) -> None:
    path = tmp_path_factory.mktemp("uwef") / "w.json"

    write_uwef(path, [NodeWeights("n", "Scale", {"weight": Slice("n")})], MemoryStore({"n": array}))

    read = open_archive(path)["n.weight"]
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    assert read.tobytes() == array.tobytes()


def test_numbers_may_be_split_anywhere_between_pieces(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal(300_000).astype(np.float32)
    path = tmp_path / "w.json"
    write_parameters(path, MemoryStore({"a.weight": values}))

    np.testing.assert_array_equal(open_archive(path)["a.weight"], values)


def test_packed_projections_become_a_node_each(tmp_path: Path) -> None:
    weight = np.arange(24, dtype=np.float32).reshape(6, 4)
    bias = np.arange(6, dtype=np.float32)
    path = tmp_path / "w.json"

    write_parameters(path, MemoryStore({"attn.in_proj_weight": weight, "attn.in_proj_bias": bias}))

    store = open_archive(path)
    for part, letter in enumerate("qkv"):
        rows = slice(2 * part, 2 * part + 2)
        assert store[f"attn.{letter}_proj.weight"].tolist() == weight[rows].tolist()
        assert store[f"attn.{letter}_proj.bias"].tolist() == bias[rows].tolist()


def test_shared_parameters_are_written_for_each_node(tmp_path: Path) -> None:
    store = MemoryStore({"head": np.ones((2, 3), np.float32)})
    path = tmp_path / "w.json"
    nodes = [NodeWeights(str(i), "Linear", {"weight": Slice("head")}) for i in range(2)]

    write_uwef(path, [*nodes, NodeWeights("2", "ReLU", {})], store)

    entries = json.loads(path.read_text())["node_weights"]
    assert entries["0"] == entries["1"]
    assert entries["2"] == {"op_type": "ReLU", "has_weight": False, "tensors": {}}
    read = open_archive(path)
    # Writes to one of them do not change the other.
    assert not np.shares_memory(read["0.weight"], read["1.weight"])
    assert read["1.weight"].tolist() == [[1, 1, 1], [1, 1, 1]]


def test_reading_takes_the_arrays_and_little_more(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    values = np.random.default_rng(0).standard_normal((2000, 1000)).astype(np.float32)
    write_parameters(path, MemoryStore({"a.weight": values}))

    tracemalloc.start()
    store = open_archive(path)
    array = store["a.weight"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 2 * array.nbytes


Change = Callable[[dict[str, Any]], object]


def changed(**changes: object) -> Change:
    def change(nodes: dict[str, Any]) -> None:
        nodes["0"].update(changes)

    return change


def weight(**changes: object) -> Change:
    def change(nodes: dict[str, Any]) -> None:
        nodes["0"]["tensors"]["weight"].update(changes)

    return change


def without(*path: str) -> Change:
    def change(nodes: dict[str, Any]) -> None:
        where = nodes["0"]
        for key in path[:-1]:
            where = where[key]
        del where[path[-1]]

    return change


REFUSED = [
    (without("op_type"), "expected 'op_type' to be text, got none"),
    (without("has_weight"), "expected 'has_weight' to be true or false, got none"),
    (without("tensors"), "expected 'tensors' to be an object, got none"),
    (without("tensors", "weight"), "expected node '0' to have tensor 'weight', got none"),
    (changed(has_weight=False), "expected node '0' without weight to have no tensors, got some"),
    (changed(op_type="Conv_3x3"), "node '0': expected weight of 'Conv_3x3' of rank 4, got 2"),
    (weight(shape=[6]), "node '0': expected weight of 'Linear' of rank 2, got 1"),
    (changed(op_type="BatchNorm"), "node '0': expected weight of 'BatchNorm' of rank 1, got 2"),
    (
        changed(op_type="LayerNorm", tensors={"weight": tensor([2], [1, 2])}),
        "node '0': expected 'LayerNorm' to have tensor 'bias', got none",
    ),
    (
        changed(op_type="BatchNorm", tensors={"bias": tensor([2], [1, 2])}),
        "expected node '0' to have tensor 'weight', got none",
    ),
    (
        changed(
            op_type="LayerNorm",
            tensors={k: tensor([n], [1] * n) for k, n in (("weight", 2), ("bias", 3))},
        ),
        "node '0': expected bias of 2 numbers, as many as its weight, got (3,)",
    ),
    (
        changed(tensors={"weight": tensor([1, 1], [1]), "wieght": tensor([1, 1], [1])}),
        "node '0': unknown tensor 'wieght'",
    ),
    (
        weight(dtype="float64"),
        "tensor '0.weight': expected dtype float32 or float16, got 'float64'",
    ),
    (weight(shape=[-2, 3]), "tensor '0.weight': expected a shape of sizes from 0 on, got [-2, 3]"),
    (weight(shape=[1.5, 4]), "expected a shape of sizes from 0 on"),
    (weight(data=[1, 2, 3]), "tensor '0.weight': expected 6 numbers, got 3"),
    (weight(data="abc"), "tensor '0.weight': expected data to be a list, got 'abc'"),
    (weight(data=[[1, 2, 3], [4, 5, 6]]), "expected data to be a flat list of finite numbers"),
    (weight(data=[1, 2, 3, 4, 5, "6"]), "expected data to be a flat list of finite numbers"),
    (weight(data=[1, 2, 3, 4, 5, None]), "got 'null' in it"),
    (weight(data=[1, 2, 3, 4, 5, True]), "got 'true' in it"),
    (weight(data=[1, 2, 3, 4, float("nan"), 6]), "got 'NaN' in it"),
    (weight(data=[1, 2, 3, 4, 5, float("inf")]), "got 'Infinity' in it"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, change: Change, message: str) -> None:
    nodes = {"0": node(weight=tensor([2, 3], [1, 2, 3, 4, 5, 6]))}
    change(nodes)

    with pytest.raises(GaweeError) as caught:
        open_archive(saved(tmp_path, document(nodes), indent=1))

    assert message in str(caught.value)
    assert f"{tmp_path}/w.json:" in str(caught.value)


def test_places_are_those_of_the_file(tmp_path: Path) -> None:
    text = (
        '{"meta": ' + json.dumps(META) + ', "node_weights": {\n'
        '  "a": {"op_type": "é", "has_weight": true, "tensors": {"weight":\n'
        '    {"dtype": "float32", "shape": [3], "data": [1,\n 2,\n 3]}, "bias": 5}},\n'
        '  "b": {"op_type": 3, "has_weight": false, "tensors": {}}}}'
    )

    with pytest.raises(GaweeError) as caught:
        open_archive(saved(tmp_path, text))

    name = tmp_path / "w.json"
    column = text.splitlines()[1].rindex('{"weight') + 1
    assert f"{name}:2:{column}: error: expected 'bias' to be an object, got 5" in str(caught.value)
    assert f"{name}:6:8: error: expected 'op_type' to be text, got 3" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("[1]", "as UWEF: expected an object with node_weights"),
        ("{", "cannot read JSON: "),
        ('{"node_weights": {}}', "expected 'meta' to be an object, got none"),
        (json.dumps({"meta": META}), "expected 'node_weights' to be an object, got none"),
        (
            json.dumps({"meta": {**META, "format_version": "2.0"}, "node_weights": {}}),
            "unsupported format version '2.0'; supported: 1.0",
        ),
        ('{"a": {"data": [1, 2', "cannot read JSON: expected ']' behind data, got the end"),
        ('{"a": 1, "a": 2}', "expected keys to differ, got 'a' twice"),
        ('{"a": "' + "\\x" * 10, "cannot read JSON: "),
    ],
)
def test_files_that_are_none_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GaweeError, match=message.replace("(", r"\(")):
        open_archive(saved(tmp_path, text))


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_bytes(b'{"\xff": 1}')

    with pytest.raises(GaweeError, match="its text is not UTF-8"):
        open_archive(tmp_path / "w.json")


def test_devices_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "w.json").symlink_to("/dev/zero")

    with pytest.raises(GaweeError, match="to be a regular file"):
        open_archive(tmp_path / "w.json")


def test_structure_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(GaweeError, match="bytes beside its data"):
        open_archive(saved(tmp_path, '{"a": "' + "x" * MAX_STRUCTURE + '"}'))


@pytest.mark.parametrize(
    ("data", "dtype", "message"),
    [
        ("1-2", "float32", "cannot read its data"),
        ("01", "float32", "cannot read its data"),
        ("1e39", "float32", "expected numbers that float32 holds, got a larger one at 0"),
        ("65520", "float16", "expected numbers that float16 holds, got a larger one at 0"),
    ],
)
def test_numbers_that_are_none_are_refused_when_read(
    tmp_path: Path, data: str, dtype: str, message: str
) -> None:
    content = json.dumps(document({"0": node("Scale", weight=tensor([1], [0.5], dtype))}))

    store = open_archive(saved(tmp_path, content.replace("0.5", data)))

    with pytest.raises(ParameterProblem, match=message):
        store["0.weight"]


@pytest.mark.parametrize("data", ["1,,2", ",1,2", "1,2,", "1, ,2"])
def test_commas_need_numbers_between(tmp_path: Path, data: str) -> None:
    content = json.dumps(document({"0": node("Scale", weight=tensor([3], [1.5]))}))

    store = open_archive(saved(tmp_path, content.replace("1.5", data)))

    with pytest.raises(ParameterProblem, match="cannot read its data"):
        store["0.weight"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a.weight": np.ones(3)}, "expected dtype float32 or float16, got float64"),
        ({"weight": np.ones(3, np.float32)}, "expected a name NODE.KEY"),
        ({"a.bias": np.ones(3, np.float32)}, "expected node 'a' to have tensor 'weight', got none"),
        ({"a.weight": np.array([np.nan], np.float32)}, "expected finite numbers, got others"),
        ({"a.in_proj_weight": np.ones((7, 2), np.float32)}, "expected rows in 3 equal parts"),
        (
            {"a.weight": np.ones((2, 3), np.float32), "a.running_mean": np.ones(2, np.float32)},
            "cannot write node 'a' as UWEF: expected weight of 'BatchNorm' of rank 1, got 2",
        ),
    ],
)
def test_what_the_format_cannot_hold_is_not_written(
    tmp_path: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    path = tmp_path / "w.json"
    path.write_text("before")

    with pytest.raises(GaweeError, match=message):
        write_parameters(path, MemoryStore(arrays))

    assert [file.name for file in tmp_path.iterdir()] == ["w.json"]
    assert path.read_text() == "before"


def test_counts_of_batches_have_no_place(tmp_path: Path) -> None:
    ones = np.ones(2, np.float32)
    arrays = {f"bn.{key}": ones for key in ("weight", "bias", "running_mean", "running_var")}

    write_parameters(
        tmp_path / "w.json", MemoryStore({**arrays, "bn.num_batches_tracked": np.array(3)})
    )

    assert sorted(open_archive(tmp_path / "w.json")) == sorted(arrays)


def test_without_orjson_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = document({"0": node("Scale", weight=tensor([1], [1]))})
    store = open_archive(saved(tmp_path, content))
    monkeypatch.setitem(sys.modules, "orjson", None)

    with pytest.raises(GaweeError, match="cannot read or write UWEF without orjson") as caught:
        store["0.weight"]

    assert "hint: pip install 'gawee-dialect[uwef]'" in str(caught.value)
