"""`gawee-translate weights`: every format to every other one, the same arrays."""

import json
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.model import load
from gawee_dialect.parameters import open_archive
from gawee_dialect.tools.gawee_translate import main

pytest.importorskip("orjson")

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
GRAPH = str(DIGITS / "graph.json")


def digits() -> dict[str, np.ndarray]:
    return {
        name: array
        for name, array in load(GRAPH).bound.items()
        if not name.endswith("num_batches_tracked")
    }


@pytest.mark.parametrize("suffix", [".json", ".npz", ".safetensors", ".pt"])
def test_weights_go_to_a_format_and_back(tmp_path: Path, suffix: str) -> None:
    if suffix == ".pt":
        pytest.importorskip("torch")
    there, back = tmp_path / f"w{suffix}", tmp_path / "back"

    assert main(["weights", str(DIGITS), str(there), "--graph", GRAPH]) == 0
    assert main(["weights", str(there), str(tmp_path / "w2.npz")]) == 0
    found = open_archive(tmp_path / "w2.npz")
    for name, array in digits().items():
        assert found[name].tobytes() == array.tobytes(), name
    if suffix != ".json":  # which has no place for counts of batches
        assert main(["weights", str(there), str(back), "--graph", GRAPH]) == 0
        again = load(GRAPH, back).bound
        assert all(np.array_equal(again[name], array) for name, array in digits().items())


def test_a_network_runs_with_uwef_weights(tmp_path: Path) -> None:
    main(["weights", str(DIGITS), str(tmp_path / "w.json"), "--graph", GRAPH])
    images = {"x": np.load(DIGITS / "digits_test.npz")["images"][:1]}

    ours = load(GRAPH, tmp_path / "w.json").run(images)

    np.testing.assert_array_equal(ours["fc"], load(GRAPH).run(images)["fc"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{digits}", "{tmp}/w.npz"], "cannot read folder '{digits}': raw files say neither name"),
        (["{tmp}/none.npz", "{tmp}/w.npz"], "there is no '{tmp}/none.npz'"),
        (["{tmp}/a.npz", "{tmp}/w.xyz"], "unsupported weights '{tmp}/w.xyz'; supported: a folder"),
        (["{tmp}/a.npz", "{tmp}/w"], "cannot write folder '{tmp}/w': raw files say neither name"),
        (["{digits}", "{tmp}", "--graph", GRAPH], "cannot write folder '{tmp}': it exists"),
    ],
)
def test_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones(2))
    places = {"digits": str(DIGITS), "tmp": str(tmp_path)}

    code = main(["weights", *(word.format(**places) for word in arguments)])

    assert code == 1
    assert message.format(**places) in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["a.npz"]


def test_uwef_of_digits_names_its_operations(tmp_path: Path) -> None:
    main(["weights", str(DIGITS), str(tmp_path / "w.json"), "--graph", GRAPH])

    nodes = json.loads((tmp_path / "w.json").read_text())["node_weights"]

    assert {name: entry["op_type"] for name, entry in nodes.items()} == {
        **{name: "Conv_3x3" for name in nodes if name.startswith("conv")},
        **{name: "BatchNorm" for name in nodes if name.startswith("bn")},
        "fc": "Linear",
    }


def test_a_number_that_its_dtype_does_not_hold_is_refused_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = {"dtype": "float16", "shape": [1, 1], "data": [70000.0]}
    node = {"op_type": "Linear", "has_weight": True, "tensors": {"weight": large}}
    meta = dict.fromkeys(("architecture", "source_framework", "created_at"), "x")
    document = {"meta": {**meta, "format_version": "1.0"}, "node_weights": {"fc": node}}
    path = tmp_path / "w.json"
    path.write_text(json.dumps(document))

    assert main(["weights", str(path), str(tmp_path / "w.npz")]) == 1

    assert capsys.readouterr().err == (
        f"{path}:1:189: error: cannot read weights: 'fc.weight': cannot read its data: expected "
        "numbers that float16 holds, got a larger one at 0\n"
    )
    assert not (tmp_path / "w.npz").exists()
