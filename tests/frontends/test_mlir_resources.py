"""Resources and names of locations in MLIR text: kept, read by upstream, run as parameters."""

import time
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import parse_mlir, print_mlir
from gawee_dialect.model import load
from gawee_dialect.tools import gawee_run
from gawee_dialect.universe import make_context
from gawee_dialect.upstream.printing import split_resources
from tests.upstream_mlir import requires_upstream, run_mlir_opt

WEIGHTS = np.array([[1, -2, 3], [0.5, 4, -1]], np.float32)
BLOB = "0x04000000" + WEIGHTS.tobytes().hex().upper()

TEXT = f"""\
module {{
  func.func @main(%x: tensor<3xf32>) -> tensor<2xf32> {{
    %w = arith.constant dense_resource<layer.weight> : tensor<2x3xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %y = linalg.matvec ins(%w, %x : tensor<2x3xf32>, tensor<3xf32>) outs(%z : tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }}
}}

{{-#
  dialect_resources: {{
    builtin: {{
      layer.weight: "{BLOB}"
    }}
  }}
#-}}
"""


def read(text: str) -> ModuleOp:
    return parse_mlir(make_context(), text, "in.mlir")


def test_resources_are_printed_again() -> None:
    printed = print_mlir(read(TEXT))

    assert "arith.constant dense_resource<layer.weight> : tensor<2x3xf32>" in printed
    assert WEIGHTS.tobytes().hex().upper() in printed
    assert print_mlir(read(printed)) == printed


def test_half_a_byte_is_refused() -> None:
    message = "in.mlir:3:.*expected pairs of digits in resource 'layer.weight', got an odd number"
    with pytest.raises(GaweeError, match=message):
        read(TEXT.replace(BLOB, BLOB[:-1]))


def test_a_long_name_is_no_hang() -> None:
    section = "{-#\n  dialect_resources: { builtin: { " + "a" * 200_000 + " } }\n#-}"
    start = time.monotonic()

    assert split_resources(section) == ("\n\n", {})
    assert time.monotonic() - start < 2


def test_two_texts_have_resources_of_their_own() -> None:
    other = TEXT.replace(BLOB, BLOB[:-8] + "0000803F")

    first, second = read(TEXT), read(other)

    assert WEIGHTS.tobytes().hex().upper() in print_mlir(first)
    assert "layer.weight" in print_mlir(second)
    assert WEIGHTS.tobytes().hex().upper() not in print_mlir(second)


@requires_upstream
def test_upstream_reads_the_resources_that_are_printed() -> None:
    text = run_mlir_opt(print_mlir(read(TEXT)))

    assert WEIGHTS.tobytes().hex().upper() in text


def test_resources_are_parameters_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(TEXT)
    model = load(path)
    x = np.array([1, 2, 3], np.float32)

    (argument,) = [each for each in model.arguments if each.kind == "parameter"]
    (output,) = model.compile().run({"x": x}).values()

    assert argument.name == "layer.weight"
    np.testing.assert_array_equal(output, WEIGHTS @ x)


def test_given_weights_go_before_those_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(TEXT)
    x = np.array([1, 2, 3], np.float32)

    (output,) = load(path, {"layer.weight": 2 * WEIGHTS}).run({"x": x}).values()

    np.testing.assert_array_equal(output, 2 * WEIGHTS @ x)


def test_gawee_run_runs_a_text_with_its_resources(tmp_path: Path) -> None:
    path, out = tmp_path / "net.mlir", tmp_path / "out.npz"
    path.write_text(TEXT)
    np.savez(tmp_path / "in.npz", x=np.array([1, 2, 3], np.float32))

    arguments = [str(path), "--inputs", str(tmp_path / "in.npz"), "--output", str(out)]
    assert gawee_run.main(arguments) == 0

    np.testing.assert_array_equal(
        np.load(out)["output0"], WEIGHTS @ np.array([1, 2, 3], np.float32)
    )


def test_a_blob_has_the_size_of_its_type() -> None:
    with pytest.raises(GaweeError, match=r"expected 24 bytes in resource 'layer\.weight', got 20"):
        read(TEXT.replace(BLOB, BLOB[:-8]))


def test_a_resource_has_a_shaped_type() -> None:
    text = TEXT.replace("dense_resource<layer.weight> : tensor<2x3xf32>", "dense_resource<w> : f32")
    with pytest.raises(GaweeError, match="expected a shaped type of resource 'w', got 'f32'"):
        read(text)


LOCATED = """\
#loc1 = loc("net.py":3:1)
module {
  func.func @main(%x: tensor<3xf32> loc("net.py":3:1)) -> tensor<3xf32> {
    %y = linalg.exp ins(%x : tensor<3xf32>) outs(%x : tensor<3xf32>) -> tensor<3xf32> loc(#loc3)
    return %y : tensor<3xf32> loc(#loc2)
  } loc(#loc1)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("net.py":7:5)
#loc3 = loc("layer"(#loc2))
"""


def test_names_of_locations_may_come_at_the_end() -> None:
    printed = print_mlir(read(LOCATED), locations=True)

    assert "linalg.exp ins(%x : tensor<3xf32>)" in printed
    assert 'loc("layer"("net.py":7:5))' in printed


@requires_upstream
def test_what_upstream_prints_with_locations_is_read() -> None:
    text = run_mlir_opt(TEXT, "--mlir-print-debuginfo")

    assert "#loc" in text
    assert WEIGHTS.tobytes().hex().upper() in print_mlir(read(text), locations=True)
