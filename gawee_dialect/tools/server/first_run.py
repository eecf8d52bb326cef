"""Runs tools where it is imported, so that those which are forked share what a first run makes.

Plugins are found, formats of ops are read, passes are imported, and LLVM is set up.
"""

import tempfile
from pathlib import Path

from gawee_dialect.backend.jit import initialize
from gawee_dialect.tools import gawee_opt

GRAPH = """
func.func @main(
    %x: tensor<1x2x5x4xf32> {gawee.input = "x"}, %w: tensor<3x2x3x2xf32>, %v: tensor<3xf32>)
    -> (tensor<1x3x3x3xf32> {gawee.output = "y"}) {
  %c = gawee.conv %x, %w strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1
    : (tensor<1x2x5x4xf32>, tensor<3x2x3x2xf32>) -> tensor<1x3x3x3xf32>
  %b = gawee.batch_norm %c mean %v variance %v eps 1.000000e-05 : tensor<1x3x3x3xf32>, tensor<3xf32>
  %y = gawee.relu %b : (tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  return %y : tensor<1x3x3x3xf32>
}
"""

initialize()
with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
    file.write(GRAPH)
    file.flush()
    for flag in ("--canonicalize", "--gawee-to-llvm"):
        gawee_opt.run([str(Path(file.name)), flag, "--output=/dev/null"])
