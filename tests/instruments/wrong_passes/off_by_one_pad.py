"""Padding with one row too few before the tensor, and one too many behind it."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class OffByOnePad(ModulePass):
    """Shift every padded tensor by one along its third axis."""

    name = "off-by-one-pad"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for pad in op.walk():
            if isinstance(pad, tensor.PadOp):
                low, high = list(pad.static_low.get_values()), list(pad.static_high.get_values())
                low[2], high[2] = low[2] - 1, high[2] + 1
                pad.static_low = DenseArrayBase.from_list(i64, low)
                pad.static_high = DenseArrayBase.from_list(i64, high)
