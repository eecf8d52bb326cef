"""Networks of open sizes as .onnx: names, forms and ranges are kept, and ONNX Runtime agrees."""

import json
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import module_of_text
from gawee_dialect.frontends.onnx.export.model_file import export_onnx
from gawee_dialect.model import load
from gawee_dialect.tools import gawee_translate

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

Floats: TypeAlias = "NDArray[np.float32]"

FORMS = """
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length + 1", "-"]},
                %p: tensor<?x6xf32> {gawee.input = "p", gawee.sizes = ["2 * half", "-"]})
    -> (tensor<?x6xf32> {gawee.output = "rows"}, tensor<?x?x2x3xf32> {gawee.output = "parts"},
        tensor<?x12xf32> {gawee.output = "pairs"}, tensor<?x6xi32> {gawee.output = "places"})
    attributes {gawee.ranges = {batch = "1 to 32", length = "8 to 512 step 8"}} {
  %0 = gawee.reshape %x shape ["batch * length + batch", 6] : (tensor<?x?x6xf32>) -> tensor<?x6xf32>
  %1 = gawee.reshape %x shape ["batch", "length + 1", 2, 3] : (tensor<?x?x6xf32>) -> tensor<?x?x2x3xf32>
  %2 = gawee.reshape %p shape ["half", 12] : (tensor<?x6xf32>) -> tensor<?x12xf32>
  %3 = gawee.iota axis 0 {shape = #gawee.sizes<["half + 3", 6]>} : tensor<?x6xi32>
  func.return %0, %1, %2, %3 : tensor<?x6xf32>, tensor<?x?x2x3xf32>, tensor<?x12xf32>, tensor<?x6xi32>
}
"""

RANGES = {"batch": "1 to 32", "half": "1 or more", "length": "8 to 512 step 8"}


def random(*shape: int) -> Floats:
    return np.random.default_rng(shape).standard_normal(shape, np.float32)


def test_forms_are_computed_of_the_shapes_of_inputs() -> None:
    data = export_onnx(module_of_text(FORMS), None)

    onnx.checker.check_model(onnx.ModelProto.FromString(data), full_check=True)
    session = runtime.InferenceSession(data)
    for batch, length, half in ((1, 8, 1), (3, 16, 5), (2, 24, 2)):
        x, p = random(batch, length + 1, 6), random(2 * half, 6)
        rows, parts, pairs, places = session.run(None, {"x": x, "p": p})
        # Nothing is computed: every element is one of the inputs.
        np.testing.assert_array_equal(rows, x.reshape(-1, 6))
        np.testing.assert_array_equal(parts, x.reshape(batch, length + 1, 2, 3))
        np.testing.assert_array_equal(pairs, p.reshape(half, 12))
        np.testing.assert_array_equal(places, np.mgrid[: half + 3, :6][0])


def test_a_round_trip_keeps_names_forms_and_ranges(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(export_onnx(module_of_text(FORMS), None))

    model = load(path)

    assert model.sizes == RANGES
    text = str(model.module)
    assert 'gawee.sizes = ["batch", "length + 1", "-"]' in text
    assert 'gawee.sizes = ["2 * half", "-"]' in text
    assert 'shape ["batch * length + batch", 6]' in text
    again = tmp_path / "again.onnx"
    again.write_bytes(export_onnx(model.module, None))
    assert load(again).sizes == RANGES


def test_a_range_that_is_given_comes_before_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(export_onnx(module_of_text(FORMS), None))

    assert load(path, ranges={"batch": (1, 4)}).sizes == {**RANGES, "batch": "1 to 4"}


@pytest.mark.parametrize("said", ["[1", '{"batch": 3}', '{"batch": "9 to 1"}'])
def test_ranges_that_are_none_are_left_out(tmp_path: Path, said: str) -> None:
    made = onnx.ModelProto.FromString(export_onnx(module_of_text(FORMS), None))
    (entry,) = [each for each in made.graph.metadata_props if each.key == "gawee.ranges"]
    assert json.loads(entry.value) == {"batch": "1 to 32", "length": "8 to 512 step 8"}
    entry.value = said
    path = tmp_path / "net.onnx"
    path.write_bytes(made.SerializeToString())

    assert load(path).sizes == dict.fromkeys(("batch", "half", "length"), "1 or more")


def test_a_size_that_no_input_has_is_refused() -> None:
    text = FORMS.replace('"2 * half", "-"', '"half * half", "-"').replace(
        '["half", 12]', '["half", "6 * half"]'
    )
    text = text.replace("tensor<?x12xf32>", "tensor<?x?xf32>")

    with pytest.raises(GaweeError, match="because no input has size 'half'"):
        export_onnx(module_of_text(text), None)


@pytest.mark.parametrize(("format", "named"), [("xoc", "XOC"), ("gawee-json", "Gawee JSON")])
def test_formats_without_names_of_sizes_refuse_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: str, named: str
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(FORMS)

    assert gawee_translate.main([str(path), "--to", format, "--no-weights"]) == 1

    problem = f"cannot be written as {named} with open sizes: batch, half, length"
    assert problem in capsys.readouterr().err
