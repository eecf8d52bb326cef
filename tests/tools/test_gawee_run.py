"""gawee-run as a user runs it: inputs, outputs, comparison, profile, export and exit codes.

Tolerance: the digits network's scores were computed by PyTorch in float32; sums of a few hundred
products in another order differ by some 1e-6 of the scores' range of 30.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from gawee_dialect.tools.gawee_run import main
from tests.archives import savez
from tests.closeness import Tolerances

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
GRAPH = str(DIGITS / "graph.json")
TOLERANCE = Tolerances(rtol=0, atol=1e-4)


@pytest.fixture(scope="module")
def held_back() -> dict[str, np.ndarray]:
    with np.load(DIGITS / "digits_test.npz") as archive:
        return {name: archive[name] for name in archive.files}


@pytest.mark.parametrize("level", ["gawee", "linalg", "loops", "llvm"])
def test_every_level_gives_the_scores_of_pytorch(
    level: str, held_back: dict[str, np.ndarray], tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", held_back["images"][:1])

    code = main(
        [
            GRAPH,
            "--level",
            level,
            "--input",
            f"x={tmp_path / 'x.npy'}",
            "--output",
            str(tmp_path / "out.npz"),
        ]
    )

    assert code == 0
    with np.load(tmp_path / "out.npz") as out:
        assert out.files == ["fc"]
        np.testing.assert_allclose(out["fc"], held_back["scores"][:1], **TOLERANCE)


def test_inputs_of_an_archive_are_taken_by_name(
    held_back: dict[str, np.ndarray], tmp_path: Path
) -> None:
    np.savez(tmp_path / "in.npz", x=held_back["images"][3:4])

    code = main([GRAPH, "--inputs", str(tmp_path / "in.npz"), "--output", str(tmp_path / "o.npz")])

    assert code == 0
    with np.load(tmp_path / "o.npz") as out:
        np.testing.assert_allclose(out["fc"], held_back["scores"][3:4], **TOLERANCE)


def test_a_damaged_picture_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "digit.png"
    image.new("L", (7, 5)).save(path)
    data = bytearray(path.read_bytes())
    data[11] = 5  # bytes of its first chunk
    path.write_bytes(data)

    assert main([GRAPH, "--input", str(path)]) == 1
    assert "digit.png': Truncated IHDR chunk" in capsys.readouterr().err


def test_picture_is_resized_and_scaled(held_back: dict[str, np.ndarray], tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = (held_back["images"][5, 0] * 255).round().astype(np.uint8)
    image.fromarray(pixels).save(tmp_path / "digit.png")

    code = main(
        [GRAPH, "--input", str(tmp_path / "digit.png"), "--output", str(tmp_path / "o.npz")]
    )

    assert code == 0
    with np.load(tmp_path / "o.npz") as out:
        # 1/16 steps of grey became 1/255 steps: the scores move by a few per cent of their range.
        assert out["fc"].argmax() == held_back["labels"][5]
        np.testing.assert_allclose(out["fc"], held_back["scores"][5:6], rtol=0, atol=0.5)


def test_random_input_depends_on_the_seed_alone(tmp_path: Path) -> None:
    outputs = []
    for index, seed in enumerate(("3", "3", "4")):
        path = tmp_path / f"{index}.npz"
        assert main([GRAPH, "--level", "gawee", "--seed", seed, "--output", str(path)]) == 0
        with np.load(path) as archive:
            outputs.append(archive["fc"])

    assert np.array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0], outputs[2])


def test_compared_levels_that_agree_are_a_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GRAPH, "--level", "llvm", "--compare", "gawee"]) == 0
    assert "close" in capsys.readouterr().out


def test_difference_beyond_the_tolerance_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GRAPH, "--level", "llvm", "--compare", "gawee", "--tolerance", "1e-12"]) == 1
    assert "DIFFERS" in capsys.readouterr().out


@pytest.mark.parametrize("level", ["gawee", "llvm"])
def test_profile_names_the_nodes_of_the_graph(
    level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.json"

    assert main([GRAPH, "--level", level, "--profile", "--json", str(report)]) == 0

    nodes = {each["node"]: each["seconds"] for each in json.loads(report.read_text())["profile"]}
    assert {"conv1", "conv2", "conv3", "fc"} <= set(nodes)
    assert all(seconds >= 0 for seconds in nodes.values())
    assert "conv2" in capsys.readouterr().out


def test_cost_is_printed_with_its_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([GRAPH, "--level", "gawee", "--cost"]) == 0

    out = capsys.readouterr().out
    assert "13 nodes" in out
    assert "conv, matmul, + - * /" in out


def test_export_writes_library_header_manifest_and_weights(tmp_path: Path) -> None:
    assert main([GRAPH, "--emit", "shared", "--emit", "ll", "--emit-dir", str(tmp_path)]) == 0

    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"digits.so", "digits.h", "digits.json", "digits.weights.bin", "digits.ll"}


def test_weights_from_an_archive_replace_the_folder(
    held_back: dict[str, np.ndarray], tmp_path: Path
) -> None:
    import gawee_dialect

    bound = gawee_dialect.load(GRAPH).bound
    savez(tmp_path / "w.npz", **{**bound, "fc.bias": np.add(bound["fc.bias"], 1)})
    np.save(tmp_path / "x.npy", held_back["images"][:1])

    code = main(
        [
            GRAPH,
            "--weights",
            str(tmp_path / "w.npz"),
            "--input",
            str(tmp_path / "x.npy"),
            "--output",
            str(tmp_path / "o.npz"),
        ]
    )

    assert code == 0
    with np.load(tmp_path / "o.npz") as out:
        np.testing.assert_allclose(out["fc"], held_back["scores"][:1] + 1, **TOLERANCE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "y=random"], "error: unknown input 'y'\nhint: inputs of the graph: x"),
        (["--input", "x=cat.txt"], "error: unsupported input 'cat.txt' for 'x'; supported: random"),
        (["--input", "x=none.npy"], "error: cannot open 'none.npy': No such file"),
        (["--levle", "gawee"], "error: unknown argument '--levle'\nhint: did you mean '--level'?"),
        (["--weights", "none.npz"], "error: cannot read weights: there is no 'none.npz'"),
    ],
)
def test_mistake_is_one_line_and_exit_code_1(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([GRAPH, *arguments]) == 1

    captured = capsys.readouterr()
    assert captured.err.startswith(message)
    assert "Traceback" not in captured.err


def test_wrong_shape_names_the_input(
    held_back: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", held_back["images"][:2])

    assert main([GRAPH, "--input", str(tmp_path / "x.npy")]) == 1
    assert "expected input 'x' of shape 1x1x8x8, got 2x1x8x8" in capsys.readouterr().err


def test_wrong_dtype_names_the_input(
    held_back: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", held_back["images"][:1].astype(np.complex64))

    assert main([GRAPH, "--input", str(tmp_path / "x.npy")]) == 1
    assert "expected input 'x' of dtype float32, got complex64" in capsys.readouterr().err


TWO_INPUTS = """
func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %c = gawee.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %c : tensor<2xf32>
}
"""


def test_source_without_a_name_needs_a_single_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "add.mlir").write_text(TWO_INPUTS)

    assert main([str(tmp_path / "add.mlir"), "--input", "random"]) == 1
    assert "expected --input name=source where there are 2 inputs" in capsys.readouterr().err


def test_picture_without_pillow_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)

    assert main([GRAPH, "--input", "digit.png"]) == 1
    assert (
        "error: cannot read 'digit.png': pictures need Pillow\n"
        "hint: pip install 'gawee-dialect[image]'" in capsys.readouterr().err
    )


def test_mean_and_std_shift_and_scale_a_picture(
    held_back: dict[str, np.ndarray], tmp_path: Path
) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = (held_back["images"][5, 0] * 255).round().astype(np.uint8)
    image.fromarray(pixels).save(tmp_path / "digit.png")
    np.save(tmp_path / "x.npy", ((pixels / 255 - 0.25) / 2)[None, None].astype(np.float32))
    outputs = []
    for arguments in (["digit.png", "--mean", "0.25", "--std", "2"], ["x.npy"]):
        source, *flags = arguments
        out = tmp_path / f"{source}.npz"
        code = main([GRAPH, "--input", str(tmp_path / source), *flags, "--output", str(out)])
        assert code == 0
        with np.load(out) as archive:
            outputs.append(archive["fc"])

    # The same float64 arithmetic on the same pixels, rounded to float32 once.
    np.testing.assert_array_equal(outputs[0], outputs[1])


def test_a_pipe_that_takes_the_outputs_keeps_being_one(tmp_path: Path) -> None:
    pipe = tmp_path / "out.npz"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    assert main([GRAPH, "--level", "gawee", "--output", str(pipe)]) == 0

    assert os.read(reader, 2) == b"PK"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("target", ["nowhere/out.npz", "."])
def test_where_outputs_cannot_be_written_no_temporary_name_is_shown(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / target

    assert main([GRAPH, "--level", "gawee", "--output", str(path)]) == 1

    assert f"error: cannot write '{path}': " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
