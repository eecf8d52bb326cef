"""`cse` makes what xDSL's pass of that name makes, of every module in the tests."""

from pathlib import Path

import pytest
from xdsl.transforms.common_subexpression_elimination import cse

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.frontends.mlir_text import SPLIT_MARKER, parse_mlir, print_mlir
from gawee_dialect.model import Model
from gawee_dialect.passes.graph.cse import CommonSubexpressionElimination
from gawee_dialect.universe import make_context
from tests.effort import part_of

FILES = sorted((Path(__file__).parent.parent / "filecheck" / "passes").rglob("*.mlir"))

READS = """
func.func @f(%m: memref<5xf32>, %i: index, %c: i1) -> (f32, f32, f32, f32) {
  %a = memref.load %m[%i] : memref<5xf32>
  %b = memref.load %m[%i] : memref<5xf32>
  memref.store %a, %m[%i] : memref<5xf32>
  %d = memref.load %m[%i] : memref<5xf32>
  %inner = scf.if %c -> (f32) {
    %e = memref.load %m[%i] : memref<5xf32>
    %g = memref.load %m[%i] : memref<5xf32>
    %s = arith.addf %e, %g : f32
    scf.yield %s : f32
  } else {
    scf.yield %a : f32
  }
  %h = memref.load %m[%i] : memref<5xf32>
  return %b, %d, %inner, %h : f32, f32, f32, f32
}
"""

NETWORK = """
func.func @main(%x: tensor<2x3x9x7xf32> {gawee.input = "x"},
                %w: tensor<5x3x3x3xf32> {gawee.parameter = "w"}) -> tensor<2x5x7x5xf32> {
  %y = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<2x3x9x7xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x7x5xf32>
  %r = gawee.softmax %y axis 1 : (tensor<2x5x7x5xf32>) -> tensor<2x5x7x5xf32>
  return %r : tensor<2x5x7x5xf32>
}
"""


def compare(text: str, name: str) -> bool:
    """Compare what both make of a text; return whether it can be read."""
    try:
        module = parse_mlir(make_context(), text, name)
    except GaweeError:
        return False
    ours, theirs = module.clone(), module.clone()
    CommonSubexpressionElimination().apply(make_context(), ours)
    cse(theirs)
    assert print_mlir(ours) == print_mlir(theirs)
    return True


def test_reads_are_shared_until_memory_may_change() -> None:
    assert compare(READS, "reads.mlir")


def test_all_modules_in_the_tests_are_as_xdsl_makes_them() -> None:
    texts = [(path, path.read_text().split(SPLIT_MARKER)) for path in part_of(FILES)]
    read = [compare(part, f"{path}#{at}") for path, parts in texts for at, part in enumerate(parts)]
    assert sum(read) > 100


@pytest.mark.parametrize("level", ["linalg", "kernels", "buffers", "loops", "llvm"])
def test_lowered_networks_are_as_xdsl_makes_them(level: str) -> None:
    module = Model(parse_mlir(make_context(), NETWORK, "net.mlir")).lowered(level)
    assert compare(print_mlir(module), f"{level}.mlir")
