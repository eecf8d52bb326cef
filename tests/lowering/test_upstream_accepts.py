"""What we print is upstream's language: mlir-opt verifies it, and reads the same meaning."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.transforms.linalg_generalize_named_ops import LinalgGeneralizeNamedOpsPass

from gawee_dialect.frontends.mlir_text import print_mlir
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg
from gawee_dialect.universe import make_context
from tests.lowering.native import numbers
from tests.upstream_mlir import requires_upstream, run_mlir_opt, run_upstream

pytestmark = requires_upstream
FILECHECK = Path(__file__).parents[1] / "filecheck"
LOWERED = sorted((FILECHECK / "passes/graph/lower_to_linalg").glob("*.mlir"))


def chunks(file):
    return file.read_text().split("// -----")


def cases(files):
    return [
        pytest.param(chunk, id=f"{file.stem}-{index}")
        for file in files
        if "invalid" not in file.stem
        for index, chunk in enumerate(chunks(file))
    ]


@pytest.mark.parametrize("generic", [False, True], ids=["pretty", "generic"])
@pytest.mark.parametrize("chunk", cases(LOWERED))
def test_mlir_opt_accepts_what_every_lit_test_lowers_to(chunk, generic):
    module = Parser(make_context(), chunk).parse_module()

    LowerToLinalg().apply(Context(), module)

    run_mlir_opt(print_mlir(module, generic=generic))


@pytest.mark.parametrize("generic", [False, True], ids=["pretty", "generic"])
@pytest.mark.parametrize("chunk", cases([FILECHECK / "dialect/linalg.mlir"]))
def test_mlir_opt_accepts_our_linalg_ops(chunk, generic):
    module = Parser(make_context(), chunk).parse_module()

    run_mlir_opt(print_mlir(module, generic=generic))


def one_op(op, attributes, lhs, rhs, result):
    """Make a function of one named op, on f32 tensors of the given shapes."""
    lhs, rhs, result = (f"tensor<{shape}xf32>" for shape in (lhs, rhs, result))
    return f"""
    func.func @main(%x: {lhs}, %y: {rhs}, %z: {result}) -> {result} {{
      %r = linalg.{op} {attributes} ins(%x, %y : {lhs}, {rhs}) outs(%z : {result}) -> {result}
      return %r : {result}
    }}"""


def maps(*accesses):
    return f"indexing_maps = [{', '.join(f'affine_map<(m, n, k) -> {to}>' for to in accesses)}]"


WINDOW = "{dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>}"
POOLED = ("2x4x9x8", "3x2", "2x4x4x6")


@pytest.mark.parametrize(
    ("op", "attributes", "shapes"),
    [
        ("matmul", "", ("5x8", "8x7", "5x7")),
        ("matmul", maps("(m, k)", "(n, k)", "(m, n)"), ("5x8", "7x8", "5x7")),
        ("matmul", maps("(k, m)", "(k, n)", "(m, n)"), ("8x5", "8x7", "5x7")),
        ("matmul", maps("(k)", "(n, k)", "(m, n)"), ("8", "7x8", "5x7")),
        ("pooling_nchw_sum", WINDOW, POOLED),
        ("pooling_nchw_max", WINDOW, POOLED),
        ("depthwise_conv_2d_nchw_chw", WINDOW, ("2x4x9x8", "4x3x2", "2x4x4x6")),
    ],
)
def test_our_maps_and_regions_mean_what_upstream_means(op, attributes, shapes):
    text = one_op(op, attributes, *shapes)
    arrays = [numbers(seed, *map(int, shape.split("x"))) for seed, shape in enumerate(shapes)]
    module = Parser(make_context(), text).parse_module()
    LinalgGeneralizeNamedOpsPass().apply(Context(), module)
    generalized = print_mlir(module)
    assert "linalg.generic" in generalized

    (ours,), (theirs,) = run_upstream(generalized, arrays), run_upstream(text, arrays)

    # The order of sums may differ.
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
