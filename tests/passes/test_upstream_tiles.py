"""Tiles against upstream: its bufferization and lowering run the same text, and its tiling makes it.

Tolerance: sums of up to 45 products of float32 in another order differ by about 1e-6 of their size;
those of float16 are taken in float16 by upstream.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from gawee_dialect.frontends.mlir_text import parse_mlir
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.universe import make_context
from tests.closeness import assert_allclose
from tests.passes import test_calls, test_dynamic_tiles, test_forall, test_structured_loops
from tests.upstream_mlir import requires_upstream, run_mlir_opt, run_upstream

# Row sums, carried along tiles of the columns; two values are carried.
REDUCTION = """
func.func @main(%a: tensor<5x13xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c13 = arith.constant 13 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %r, %s = scf.for %i = %c0 to %c13 step %c4 iter_args(%t = %init, %u = %init) -> (tensor<5xf32>, tensor<5xf32>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 13, 4)>(%i)
    %x = tensor.extract_slice %a[0, %i] [5, %n] [1, 1] : tensor<5x13xf32> to tensor<5x?xf32>
    %p = linalg.reduce ins(%x : tensor<5x?xf32>) outs(%t : tensor<5xf32>) dimensions = [1]
      (%in: f32, %sum: f32) {
        %0 = arith.addf %in, %sum : f32
        linalg.yield %0 : f32
      }
    %q = linalg.reduce ins(%x : tensor<5x?xf32>) outs(%u : tensor<5xf32>) dimensions = [1]
      (%in: f32, %most: f32) {
        %0 = arith.maximumf %in, %most : f32
        linalg.yield %0 : f32
      }
    scf.yield %p, %q : tensor<5xf32>, tensor<5xf32>
  }
  return %r, %s : tensor<5xf32>, tensor<5xf32>
}"""


def _texts() -> dict[str, str]:
    dynamic = {
        name: text.replace("CONSTANTS", test_dynamic_tiles.CONSTANTS)
        for name, (text, _) in test_dynamic_tiles.CASES.items()
    }
    static = {
        f"static: {name}": text.format(constants=test_structured_loops.CONSTANTS)
        for name, (text, _) in test_structured_loops.CASES.items()
    }
    parallel = {f"forall: {name}": text for name, (text, _) in test_forall.CASES.items()}
    return {**dynamic, **static, **parallel, "sums": REDUCTION, "calls": test_calls.CALLS}


REFUSED = ("static: tensors that change places", "static: tensors that are kept")
"""Upstream's bufferization wants a loop to yield what it made of the tensor in that place."""

RACES = ("forall: rows that are rotated",)
"""An iteration that reads what another one writes: upstream reads it before or after that."""

TEXTS = {name: text for name, text in _texts().items() if name not in (*REFUSED, *RACES)}


def inputs_of(model: Model) -> dict[str, NDArray[np.floating]]:
    return test_dynamic_tiles.random_inputs(model)


@requires_upstream
@pytest.mark.parametrize("name", TEXTS)
def test_tiles_compute_what_upstream_computes(name: str) -> None:
    model = Model(parse_mlir(make_context(), TEXTS[name], "tiles.mlir"))
    inputs = inputs_of(model)

    outputs = list(model.run(inputs, Level.LLVM).values())

    # affine.for carries tensors only before upstream's bufferization.
    expected = run_upstream(run_mlir_opt(TEXTS[name], "--lower-affine"), list(inputs.values()))
    tolerance = 1e-2 if outputs[0].dtype == np.float16 else 1e-5
    assert len(outputs) == len(expected)
    for output, reference in zip(outputs, expected, strict=True):
        assert_allclose(output, reference, rtol=tolerance, atol=tolerance)


UNTILED = """
func.func @main(%a: tensor<11x13xf32>, %b: tensor<13x7xf32>) -> tensor<11x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<11x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<11x7xf32>) -> tensor<11x7xf32>
  %r = linalg.matmul ins(%a, %b : tensor<11x13xf32>, tensor<13x7xf32>) outs(%init : tensor<11x7xf32>) -> tensor<11x7xf32>
  return %r : tensor<11x7xf32>
}
"""

SCRIPT = """
module attributes {transform.with_named_sequence} {
  FUNCTION
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    TILING
    transform.yield
  }
}
"""

TILINGS = {
    "scf.for": "%t, %l:3 = transform.structured.tile_using_for %op tile_sizes [4, 3, 5] : "
    "(!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)",
    "scf.forall": "%t, %l = transform.structured.tile_using_forall %op tile_sizes [4, 3] : "
    "(!transform.any_op) -> (!transform.any_op, !transform.any_op)",
    "two levels": "%t, %l = transform.structured.tile_using_forall %op num_threads [2, 2] : "
    "(!transform.any_op) -> (!transform.any_op, !transform.any_op)\n"
    "%u, %k:2 = transform.structured.tile_using_for %t tile_sizes [2, 3] : "
    "(!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)",
}


@requires_upstream
@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("tiling", TILINGS)
def test_what_upstream_tiles_runs(tiling: str, level: Level) -> None:
    script = SCRIPT.replace("FUNCTION", UNTILED).replace("TILING", TILINGS[tiling])
    passes = "builtin.module(transform-interpreter,canonicalize,cse)"
    tiled = run_mlir_opt(script, f"--pass-pipeline={passes}")
    model = Model(parse_mlir(make_context(), only_function(tiled), "tiled.mlir"))
    assert any(op.name in ("scf.for", "scf.forall") for op in model.module.walk())
    inputs = inputs_of(model)

    (output,) = model.run(inputs, level).values()

    a, b = (array.astype(np.float64) for array in inputs.values())
    assert_allclose(output, a @ b, rtol=1e-5, atol=1e-5)


def only_function(text: str) -> str:
    """Return a module's text without its transform script."""
    before, _, after = text.partition("module attributes {transform.with_named_sequence} {")
    return before + after.partition("transform.named_sequence")[0]
