"""Weights of a graph: every file format, names as they come, all that does not fit at once."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from gawee_dialect.frontends.npu_ir import NPU_IR, WeightLoadError, bind_weights, load_weights
from gawee_dialect.frontends.npu_ir.json_text import parse_ir
from gawee_dialect.frontends.npu_ir.weights import check_weights
from tests.frontends.npu_ir.files import documentation_layout, tiny

WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4)
BIAS = np.array([3, 1, 2], np.float32)
ARRAYS = {"fc.weight": WEIGHT, "fc.bias": BIAS}


def graph() -> NPU_IR:
    return parse_ir(json.dumps(tiny()), "g.json")


def write(path: Path) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **ARRAYS)
    elif path.suffix == ".safetensors":
        save_file(ARRAYS, path)
    else:
        torch = pytest.importorskip("torch")
        torch.save({name: torch.from_numpy(each) for name, each in ARRAYS.items()}, path)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".pt", ".pth", ".bin"])
def test_every_file_format_is_bound(suffix: str, tmp_path: Path):
    bound = bind_weights(graph(), load_weights(write(tmp_path / f"w{suffix}")))

    assert list(bound) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(bound[name], array)
        assert bound[name].dtype == array.dtype


def test_names_of_placeholders_are_names_too():
    bound = bind_weights(graph(), {"p_fc_weight": WEIGHT, "p_fc_bias": BIAS})
    assert list(bound) == ["fc.weight", "fc.bias"]

    listed = parse_ir(json.dumps(documentation_layout()))
    assert list(bind_weights(listed, ARRAYS)) == ["p_fc_weight", "p_fc_bias"]


def test_all_that_does_not_fit_is_said_at_once():
    with pytest.raises(WeightLoadError) as raised:
        bind_weights(graph(), {"fc.weight": WEIGHT.T.astype(np.float64), "fc.bais": BIAS})

    assert [(each.message, each.hint) for each in raised.value.diagnostics] == [
        ("expected weight 'fc.weight' of shape 3x4, got 4x3", None),
        ("expected weight 'fc.weight' of dtype float32, got float64", None),
        (
            "expected weights to have 'fc.bias' ('p_fc_bias' in the graph), got none",
            "did you mean 'fc.bais'?",
        ),
        ("unknown weight 'fc.bais' for 'Tiny'", None),
    ]


def test_what_a_graph_does_not_use_is_an_error_only_where_asked_for():
    arrays = {**ARRAYS, "head.weight": WEIGHT}

    assert check_weights(graph(), arrays).extra == ["head.weight"]
    assert list(bind_weights(graph(), arrays)) == list(ARRAYS)
    with pytest.raises(WeightLoadError, match=r"unknown weight 'head\.weight' for 'Tiny'"):
        bind_weights(graph(), arrays, strict=True)


def test_what_no_node_reads_may_be_missing():
    text = tiny()
    text["weights"].append({"name": "bn.num_batches_tracked", "shape": [], "dtype": "int64"})

    assert list(bind_weights(parse_ir(json.dumps(text)), ARRAYS)) == list(ARRAYS)


def test_a_file_that_is_none_is_refused(tmp_path: Path):
    with pytest.raises(WeightLoadError, match=r"cannot read weights: there is no '.*none\.pt'"):
        load_weights(tmp_path / "none.pt")
    (tmp_path / "w.h5").touch()
    with pytest.raises(
        WeightLoadError,
        match=r"unsupported weights '.*w\.h5'; supported: a folder of raw files, \.npz",
    ):
        load_weights(tmp_path / "w.h5")


def test_data_that_numpy_has_no_array_of_is_refused(tmp_path: Path):
    torch = pytest.importorskip("torch")
    text = json.loads(json.dumps(tiny()).replace("float32", "float8_e5m2"))
    torch.save(
        {name: torch.from_numpy(each).to(torch.float8_e5m2) for name, each in ARRAYS.items()},
        tmp_path / "w.pt",
    )

    with pytest.raises(
        WeightLoadError, match=r"cannot read weights: 'fc\.\w+': NumPy has no float8_e5m2"
    ):
        bind_weights(parse_ir(json.dumps(text)), load_weights(tmp_path / "w.pt"))
