"""Wrong passes on kernels, on tensors."""

from collections.abc import Mapping

from xdsl.dialects import arith

from tests.instruments.prove.networks import MOBILE, RESIDUAL, TRANSFORMER
from tests.instruments.wrong import changes
from tests.instruments.wrong.wrong_pass import Wrong, WrongPass

KERNELS = "gawee-to-kernels"

PARTS = "tile-batch{images=2 threads=2},gawee-to-kernels"

BATCH = """
func.func @main(%x: tensor<6x3x5x7xf32> {gawee.input = "x"}, %v: tensor<8x3x3x3xf32> {gawee.parameter = "v"})
    -> (tensor<6x8x5x7xf32> {gawee.output = "y"}) {
  %n = gawee.neg %x : (tensor<6x3x5x7xf32>) -> tensor<6x3x5x7xf32> loc("turned"("net.json":10:5))
  %c = gawee.conv %n, %v strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x3x5x7xf32>, tensor<8x3x3x3xf32>) -> tensor<6x8x5x7xf32> loc("conv"("net.json":20:5))
  %s = gawee.softmax %c axis 1 : (tensor<6x8x5x7xf32>) -> tensor<6x8x5x7xf32> loc("classes"("net.json":30:5))
  return %s : tensor<6x8x5x7xf32> loc("output"("net.json":40:5))
}
"""

CASES: Mapping[str, WrongPass] = {
    "a constant of a kernel, one unit in the last place": WrongPass(
        MOBILE, Wrong(changes.nudge_float(-1)), proof="'gawee.kernel'", before=KERNELS
    ),
    "a sum that starts at a billionth": WrongPass(
        MOBILE, Wrong(changes.start_above_zero), proof="'gawee.kernel'", before=KERNELS
    ),
    "the first image for all": WrongPass(
        MOBILE,
        Wrong(changes.first_row_of_input),
        "'gawee.kernel'",
        "'gawee.kernel'",
        KERNELS,
    ),
    "a minimum in the place of a maximum": WrongPass(
        RESIDUAL,
        Wrong(changes.replace_first(arith.MaximumfOp, arith.MinimumfOp)),
        "'gawee.",
        "'gawee.",
        KERNELS,
    ),
    "a sum in the place of a difference": WrongPass(
        TRANSFORMER,
        Wrong(changes.replace_first(arith.SubfOp, arith.AddfOp)),
        "'gawee.kernel'",
        "'gawee.kernel'",
        KERNELS,
    ),
    "a product in the place of a quotient": WrongPass(
        TRANSFORMER,
        Wrong(changes.replace_first(arith.DivfOp, arith.MulfOp)),
        "'gawee.kernel'",
        "'gawee.kernel'",
        KERNELS,
    ),
    "a quotient turned round": WrongPass(
        TRANSFORMER,
        Wrong(changes.exchange_operands(arith.DivfOp)),
        "'gawee.kernel'",
        "'gawee.kernel'",
        KERNELS,
    ),
    "a square in the place of a product": WrongPass(
        MOBILE,
        Wrong(changes.same_operands(arith.MulfOp)),
        "'gawee.kernel'",
        "'gawee.kernel'",
        KERNELS,
    ),
    "maxima that begin at 0": WrongPass(
        RESIDUAL,
        Wrong(changes.pooled_from_zero),
        "'gawee.kernel'",
        "'gawee.kernel'",
        KERNELS,
    ),
    "a sum in the place of a product, in the parts of a batch": WrongPass(
        BATCH,
        Wrong(changes.replace_first(arith.MulfOp, arith.AddfOp)),
        "net.json:20:5: error: pass 'wrong' moved output 'y'",
        "net.json:20:5: error: pass 'wrong' moved output 'y'",
        PARTS,
    ),
}
