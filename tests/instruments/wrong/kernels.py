"""Wrong passes on kernels, on tensors."""

from collections.abc import Mapping

from xdsl.dialects import arith

from tests.instruments.prove.networks import MOBILE, RESIDUAL, TRANSFORMER
from tests.instruments.wrong import changes
from tests.instruments.wrong.wrong_pass import Wrong, WrongPass

KERNELS = "gawee-to-kernels"

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
}
