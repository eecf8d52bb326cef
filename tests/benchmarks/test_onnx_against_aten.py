"""What is compared of two ways into the compiler: the kernels, not how they came about."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from benchmarks import onnx_against_aten_page
from benchmarks.onnx_against_aten import difference, kernels
from benchmarks.onnx_against_aten_page import Comparison, keep, page, read_results, write_page
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.model import Model


def linear(body: str) -> Model:
    """Return a network of a product with a weight and a bias."""
    return Model(
        module_of_text(f"""
          func.func @main(%x: tensor<2x5x3xf32> {{gawee.input = "x"}},
              %w: tensor<7x3xf32> {{gawee.parameter = "w"}},
              %b: tensor<7xf32> {{gawee.parameter = "b"}})
              -> (tensor<2x5x7xf32> {{gawee.output = "z"}}) {{
            {body}
            func.return %z : tensor<2x5x7xf32>
          }}"""),
        {},
    )


LAYER = """%z = gawee.matmul %x, %w bias %b
  : (tensor<2x5x3xf32>, tensor<7x3xf32>, tensor<7xf32>) -> tensor<2x5x7xf32>"""

ACTIVE = """%p = gawee.matmul %x, %w : (tensor<2x5x3xf32>, tensor<7x3xf32>) -> tensor<2x5x7xf32>
  %z = gawee.relu %p : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>"""


def test_networks_that_become_the_same_kernels_do_not_differ() -> None:
    assert difference(kernels(linear(LAYER)), kernels(linear(LAYER))) == []


FLAT = """%r = gawee.reshape %x shape [10, 3] : (tensor<2x5x3xf32>) -> tensor<10x3xf32>
  %q = gawee.matmul %r, %w bias %b
    : (tensor<10x3xf32>, tensor<7x3xf32>, tensor<7xf32>) -> tensor<10x7xf32>
  %z = gawee.reshape %q shape [2, 5, 7] : (tensor<10x7xf32>) -> tensor<2x5x7xf32>"""


def test_the_axes_that_rows_have_do_not_count() -> None:
    assert difference(kernels(linear(LAYER)), kernels(linear(FLAT))) == []


def test_what_one_way_computes_alone_is_listed_with_its_count() -> None:
    lines = difference(kernels(linear(LAYER)), kernels(linear(ACTIVE)))

    assert any(line.startswith("  aten   1 matmul (") and "addf" in line for line in lines)
    assert any(line.startswith("  onnx   1 ") and "maximumf" in line for line in lines)
    assert not any(line.startswith("  aten") and "maximumf" in line for line in lines)


def test_the_page_counts_what_differs_and_says_why(monkeypatch) -> None:
    monkeypatch.setattr(onnx_against_aten_page, "CAUSES", {"second": "a scale"})
    results = [
        Comparison("first", "timm", 5, 5, 5),
        Comparison("second", "timm", 5, 7, 4),
        Comparison("third", "timm", failure="no export"),
    ]

    text = page(results)

    assert "1 of 2 networks" in text
    assert "| first | 5 | 5 |  |  |" in text
    assert "| second | 5 | 7 | 3 | a scale |" in text
    assert "| third | no export |" in text


def test_the_latest_result_of_a_network_counts(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(onnx_against_aten_page, "RESULTS", tmp_path / "new" / "results.jsonl")
    last = Comparison("net", "timm", 3, 3, 3)

    assert read_results() == {}
    keep(Comparison("net", "timm", 3, 4, 2))
    keep(last)

    assert read_results() == {"net": last}


def test_results_of_a_part_leave_the_page_as_it_is(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(onnx_against_aten_page, "RESULTS", tmp_path / "results.jsonl")
    monkeypatch.setattr(onnx_against_aten_page, "PAGE", tmp_path / "page.md")
    keep(Comparison("first", "timm", 5, 5, 5))

    write_page(["first", "second"])

    assert not (tmp_path / "page.md").exists()
    assert capsys.readouterr().err == "page.md is left as it is: no result of second\n"
    write_page(["first"])
    assert "1 of 1 networks" in (tmp_path / "page.md").read_text()
