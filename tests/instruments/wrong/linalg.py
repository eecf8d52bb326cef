"""Wrong passes on linalg, on tensors."""

from collections.abc import Mapping

from xdsl.dialects import arith

from tests.instruments.edited import Edited
from tests.instruments.prove.networks import MOBILE, RESIDUAL, TRANSFORMER
from tests.instruments.wrong import changes
from tests.instruments.wrong.wrong_pass import Wrong, WrongPass

LINALG = "gawee-to-linalg"

SUM = """
func.func @main(%x: tensor<3x700xf32> {gawee.input = "x"}) -> (tensor<3xf32> {gawee.output = "y"}) {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x700xf32>) outs(%f : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %a : f32
    %d = arith.addf %m, %b : f32
    linalg.yield %d : f32
  } -> tensor<3xf32> loc("sum"("net.json":10:5))
  return %y : tensor<3xf32>
}
"""

# A sum of f32 that is rounded to 8 bits after each term; what it starts from is exact.
NARROW = Edited(
    (
        "linalg.yield %d : f32",
        "%n = arith.truncf %d : f32 to bf16\n      %w = arith.extf %n : bf16 to f32\n      linalg.yield %w : f32",
    )
)

CASES: Mapping[str, WrongPass] = {
    "a constant in a body, one unit in the last place": WrongPass(
        RESIDUAL, Wrong(changes.nudge_float(0)), proof="'linalg.", before=LINALG
    ),
    "a difference in the place of a sum": WrongPass(
        MOBILE,
        Wrong(changes.replace_first(arith.AddfOp, arith.SubfOp)),
        "'linalg.",
        "'linalg.",
        LINALG,
    ),
    "a minimum in the place of a maximum": WrongPass(
        RESIDUAL,
        Wrong(changes.replace_first(arith.MaximumfOp, arith.MinimumfOp)),
        "'linalg.",
        "'linalg.",
        LINALG,
    ),
    "a square in the place of a product": WrongPass(
        MOBILE, Wrong(changes.same_operands(arith.MulfOp)), "'linalg.", "'linalg.", LINALG
    ),
    "a window that begins one earlier": WrongPass(
        MOBILE,
        Wrong(changes.shift_pad),
        "'tensor.pad'",
        "'tensor.pad'",
        LINALG,
    ),
    "the first of a batch for all": WrongPass(
        TRANSFORMER,
        Wrong(changes.broadcast_other_axis),
        "'linalg.generic'",
        "'linalg.generic'",
        LINALG,
    ),
    "maxima that begin at 0": WrongPass(
        RESIDUAL,
        Wrong(changes.maxima_from_zero),
        "'linalg.fill'",
        "'arith.constant'",
        LINALG,
    ),
    "a sum that begins as what lies in memory": WrongPass(
        TRANSFORMER, Wrong(changes.forget_fill), "'linalg.", "'linalg.", LINALG
    ),
    "a weight read as its transpose": WrongPass(
        TRANSFORMER,
        Wrong(changes.transpose_weight),
        "'linalg.matmul'",
        "'linalg.matmul'",
        "lower-to-linalg",
    ),
    "a sum rounded to 8 bits after each term": WrongPass(SUM, NARROW, "'linalg.generic'"),
    "a quotient turned round": WrongPass(
        TRANSFORMER, Wrong(changes.exchange_operands(arith.DivfOp)), "'linalg.", "'linalg.", LINALG
    ),
}
