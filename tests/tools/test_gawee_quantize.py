"""gawee-quantize: files that run elsewhere, the table of layers, and what users do wrong."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.model import load
from gawee_dialect.tools import gawee_quantize
from tests.archives import savez
from tests.saturation import exact_onnx_runtime

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
IMAGES: NDArray[np.float32] = np.load(DIGITS / "digits_test.npz")["images"][:24]
GRAPH = str(DIGITS / "graph.json")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    savez("x.npz", x=IMAGES)


def quantize(*arguments: str) -> int:
    return gawee_quantize.main([GRAPH, "--data", "x.npz", *arguments])


@exact_onnx_runtime
def test_the_file_has_the_error_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")

    assert quantize("-o", "int8.onnx", "--observer", "percentile", "--activations", "signed") == 0

    out = capsys.readouterr().out
    found = re.fullmatch(
        r"4 of 4 layers on integers, 100\.0 % of all products; error of the output: (\S+)\n"
        r"wrote int8\.onnx\n",
        out,
    )
    assert found is not None, out
    session = runtime.InferenceSession("int8.onnx")
    network = load(GRAPH)
    got = np.concatenate([session.run(None, {"x": each})[0] for each in IMAGES[:, None]])
    exact = np.concatenate([network.run(each)["fc"] for each in IMAGES[:, None]])
    error = np.abs(np.subtract(got, exact, dtype=np.float64)).max() / np.ptp(exact)
    assert error == pytest.approx(float(found[1]), abs=1 / 255)


def test_layers_are_listed_by_what_they_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert quantize("--sensitivity", "--keep-in-float", "1", "--exclude", "conv2") == 0

    out = capsys.readouterr().out
    rows = [re.findall(r"[\w.]+", line) for line in out.splitlines() if line.startswith("│")]
    assert {row[0] for row in rows} == {"conv1", "conv3", "fc"}
    assert [row[5] for row in rows] == ["float", "int8", "int8"]
    errors = [float(row[3]) for row in rows]
    assert errors == sorted(errors, reverse=True)
    assert "2 of 4 layers on integers" in out
    assert not Path("int8.onnx").exists()


def test_as_few_layers_stay_in_float_as_an_error_allows(capsys: pytest.CaptureFixture[str]) -> None:
    assert quantize("--sensitivity", "--at-most", "0.5") == 0
    assert "4 of 4 layers" in capsys.readouterr().out

    assert quantize("--sensitivity", "--at-most", "1e-7") == 1
    message = capsys.readouterr().err
    assert re.search(r"error: expected an error of at most 1e-07, got 0\.\d+ or more\n", message)


def with_image(value: float) -> NDArray[np.float32]:
    images = IMAGES.copy()
    images[3, 0, 2, 1] = value
    return images


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"y": IMAGES},
            "unknown input 'y' from 'd.npz'\nhint: inputs of the graph: x\n",
        ),
        (
            {},
            "expected data of input 'x', got none from 'd.npz'\nhint: inputs of the graph: x\n",
        ),
        (
            {"x": IMAGES[:, :, :7]},
            "expected data of input 'x' of shape Nx1x8x8, got 24x1x7x8 from 'd.npz'\n",
        ),
        (
            {"x": IMAGES[:0]},
            "expected data of input 'x' of shape Nx1x8x8, got 0x1x8x8 from 'd.npz'\n",
        ),
        (
            {"x": with_image(np.nan)},
            "expected finite numbers in data of input 'x', got nan at [3, 0, 2, 1] from 'd.npz'\n",
        ),
        (
            {"x": with_image(-np.inf)},
            "expected finite numbers in data of input 'x', got -inf at [3, 0, 2, 1] from 'd.npz'\n",
        ),
        (
            {"x": (IMAGES * 255).astype(np.uint8)},
            "expected data of input 'x' of dtype float32, got uint8 from 'd.npz'\n"
            "hint: array.astype('float32') makes it one\n",
        ),
        (
            {"x": with_image(3e38)},
            "expected finite numbers in '%conv1' on the data, got others\n",
        ),
    ],
    ids=["name", "none", "shape", "empty", "nan", "infinite", "dtype", "overflow"],
)
def test_data_that_does_not_fit_is_named(
    data: dict[str, NDArray[np.generic]], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    savez("d.npz", **data)

    assert gawee_quantize.main([GRAPH, "--data", "d.npz", "-o", "int8.onnx"]) == 1
    assert capsys.readouterr().err == f"error: {message}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "expected -o or --sensitivity, got neither\nhint: -o writes the network, "),
        ("-o int8.json", "expected -o to name an .onnx file, got 'int8.json'\n"),
        (
            "--sensitivity --at-most 0.1 --keep-in-float 1",
            "expected --keep-in-float or --at-most, got both\n",
        ),
        ("--sensitivity --exclude conv9", "unknown node 'conv9' to exclude\nhint: did you mean "),
        ("--sensitivity --observer minmaxx", "argument --observer: invalid choice: 'minmaxx'"),
    ],
)
def test_a_wrong_command_line_is_answered(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quantize(*arguments.split()) == 1
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_a_graph_that_has_nothing_to_quantize_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("relu.mlir").write_text(OPEN.replace("?", "1").replace(', gawee.sizes = ["n", "-"]', ""))
    savez("o.npz", x=np.ones((4, 3), np.float32))

    assert gawee_quantize.main(["relu.mlir", "--data", "o.npz", "--sensitivity"]) == 1
    assert capsys.readouterr().err == (
        "error: expected a layer with weights of float32 to quantize, got none\n"
    )


def test_a_graph_of_open_sizes_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("open.mlir").write_text(OPEN)
    savez("o.npz", x=np.ones((4, 3), np.float32))

    assert gawee_quantize.main(["open.mlir", "--data", "o.npz", "--sensitivity"]) == 1
    message = capsys.readouterr().err
    assert message.startswith("error: expected sizes that are numbers to quantize\nhint: ")


OPEN = """func.func @main(%x: tensor<?x3xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]})
    -> (tensor<?x3xf32> {gawee.output = "y", gawee.sizes = ["n", "-"]}) {
  %y = gawee.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}
"""
