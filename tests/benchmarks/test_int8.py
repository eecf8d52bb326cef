"""Networks in int8 for all engines: their files, and the tables of what was measured."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks import int8_page
from benchmarks.int8_page import (
    ACTIVATIONS,
    NETWORKS,
    PEERS,
    PRODUCT,
    main,
    networks,
    products,
    signed,
)
from benchmarks.results_table import Row
from tests.saturation import exact_onnx_runtime

pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from benchmarks import compare  # noqa: E402  needs PyTorch
from benchmarks.engines import Task, start_engine  # noqa: E402
from benchmarks.prepare import prepare  # noqa: E402


def row(model: str, engine: str, ms: float, **more: object) -> Row:
    fixed = {"threads": 1, "target": "cpu", "products_a_multiply_add": 4, "difference": 0.01}
    return {"model": model, "engine": engine, "median_ms": ms, **fixed, **more}


def test_the_table_says_which_networks_are_as_far_ahead_as_they_should_be() -> None:
    rows = [
        row("resnet18:u8", "gawee", 2.0, ratio_to_best_peer=1.12),
        row("resnet18:u8", "openvino", 2.24),
        row("bert-small:u8", "gawee", 2.0, ratio_to_best_peer=1.12, products_a_multiply_add=2),
        row("bert-small:s8", "gawee", 2.0, ratio_to_best_peer=0.5),
    ]

    lines = list(networks(rows))

    assert lines[2:] == [
        "| resnet18:u8 | 1 | 2.00 | - | 2.24 | 1.12 | 1.10 | yes | 0.010 | - | 0.010 |",
        "| bert-small:u8 | 1 | 2.00 | - | - | 1.12 | 1.15 | no | 0.010 | - | - |",
        "| bert-small:s8 | 1 | 2.00 | - | - | 0.50 |  |  | 0.010 | - | - |",
    ]


def test_signed_activations_are_compared_with_unsigned_ones() -> None:
    rows = [
        row(f"net:{kind}", engine, ms)
        for kind, engine, ms in (
            ("u8", "gawee", 2.0),
            ("s8", "gawee", 2.1),
            ("u8", "openvino", 3.0),
        )
    ]

    assert list(signed(rows))[2:] == ["| net | 1 | 1.05 | - | - | 1.02 | no |"]


def test_a_product_is_told_as_a_part_of_what_its_instruction_can_do(tmp_path: Path) -> None:
    rows = [row("product1024:s8", "gawee", 2.0, percent_of_limit=344.0)]

    assert list(products(rows))[2:] == ["| product1024:s8 | 1 | 2.00 | - | - | 86 | 85 | yes |"]
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    results.write_text(
        '{"model": "product1024:s8", "threads": 1, "target": "cpu"}\n'.replace(
            '"threads"', '"engine": "gawee", "products_a_multiply_add": 4, "threads"'
        )
    )
    main([str(results), "--page", str(page)])
    assert "| product1024:s8 | 1 | - | - | - | - | 85 | - |" in page.read_text()


def everything() -> list[Row]:
    """Rows of all that the page of docs/ tells of."""
    names = [f"{name}:{kind}" for name in (*NETWORKS, PRODUCT) for kind in ACTIVATIONS.values()]
    return [
        row(name, engine, 2.0, threads=threads)
        for name, threads, engine in product(names, (1, 2), ("gawee", *PEERS))
    ]


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of docs/ with a section that is written by hand."""
    page = tmp_path / "int8.md"
    page.write_text(f"# Old\n\n{int8_page.END}\n\n## By hand\n")
    monkeypatch.setattr(int8_page, "PAGE", page)
    return page


def write(folder: Path, rows: list[Row]) -> str:
    """Write rows as the comparison does."""
    path = folder / "results.json"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return str(path)


def test_the_page_of_all_results_keeps_what_is_written_by_hand(
    tmp_path: Path, published: Path
) -> None:
    main([write(tmp_path, everything())])

    text = published.read_text()
    assert "# Old" not in text
    assert "| bert-small:s8 | 2 | 2.00 | 2.00 | 2.00 |" in text
    assert text.endswith(f"|\n\n{int8_page.END}\n\n## By hand\n")


def test_results_of_a_part_are_printed_and_leave_the_page_as_it_is(
    tmp_path: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = published.read_text()

    main([write(tmp_path, everything()[:-1])])

    assert published.read_text() == before
    out, err = capsys.readouterr()
    assert "| bert-small:s8 | 2 | 2.00 | 2.00 | 2.00 |" in out
    assert "int8.md is left as it is: no result of openvino on product1024:s8, threads: 2" in err


def test_names_say_precision_and_activations() -> None:
    arguments = compare.parser().parse_args(
        ["--precision", "int8", "--model", "resnet18", "--batch", "1,8", "--activations", "signed"]
    )

    assert compare.versions(arguments) == ["resnet18:s8", "resnet18@8:s8"]
    assert compare.versions(compare.parser().parse_args([])) == ["resnet18"]
    assert compare.versions(compare.parser().parse_args(["--precision", "int8"]))[-2:] == [
        "product1024:u8",
        "product1024:s8",
    ]


@pytest.mark.parametrize("kind", ["u8", "s8"])
@pytest.mark.parametrize("engine", ["gawee", pytest.param("onnxruntime", marks=exact_onnx_runtime)])
def test_engines_run_the_same_file_in_int8(tmp_path: Path, engine: str, kind: str) -> None:
    name = f"conv1x1s2-64-128-56:{kind}"
    prepare(name, tmp_path)

    ops = [node.op_type for node in onnx.load(tmp_path / "model.onnx").graph.node]
    assert ops.count("QuantizeLinear") == 2
    task, wanted = Task(name, 1, tmp_path), np.load(tmp_path / "y.npy")
    got = np.asarray(start_engine(engine, task)())
    # Input, weights and output are rounded to 256 steps of their ranges each.
    assert np.abs(got - wanted).max() < 0.05 * np.ptp(wanted)
    assert not np.array_equal(got, wanted)
    with pytest.raises(Exception, match="runs no ONNX files"):
        start_engine("torch", task)


@pytest.mark.parametrize("kind", ["u8", "s8"])
def test_the_product_of_integers_is_exact(tmp_path: Path, kind: str) -> None:
    prepare(f"product1024:{kind}", tmp_path)

    got = np.asarray(start_engine("gawee", Task(f"product1024:{kind}", 1, tmp_path))())

    assert np.array_equal(got, np.load(tmp_path / "y.npy"))
