"""Padding."""

from xdsl.ir import SSAValue

from gawee_dialect.dialect.slicing import PadOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Ints, Number

MODES = ("constant", "reflect", "replicate", "circular")


def padded(emit: Emitter, value: SSAValue, pad: Ints, mode: str, fill: Number) -> SSAValue:
    """Pad; `pad` has (before, after) of the last axis first, then of the one before it."""
    rank = len(tensor_shape(value))
    if len(pad) % 2 != 0 or len(pad) > 2 * rank:
        raise Refusal(f"expected an even number of pads up to {2 * rank}, got {list(pad)}")
    if not any(pad):
        return value
    low, high = [0] * rank, [0] * rank
    for index in range(len(pad) // 2):
        low[rank - 1 - index], high[rank - 1 - index] = pad[2 * index], pad[2 * index + 1]
    return emit(PadOp(value, low=low, high=high, mode=mode, value=fill))


@register_op("aten.pad")
def pad(
    emit: Emitter,
    self: SSAValue,
    pad: Ints,
    mode: str = "constant",
    value: float | None = None,
) -> SSAValue:
    """Pad by a mode."""
    if mode not in MODES:
        raise Refusal(f"unsupported mode '{mode}'; supported: {', '.join(MODES)}")
    return padded(emit, self, pad, mode, 0.0 if value is None else value)


@register_op("aten.constant_pad_nd")
def constant_pad(emit: Emitter, self: SSAValue, pad: Ints, value: Number = 0) -> SSAValue:
    """Pad with one value; negative numbers cut off."""
    return padded(emit, self, pad, "constant", value)


@register_op("aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d")
def reflection_pad(emit: Emitter, self: SSAValue, padding: Ints) -> SSAValue:
    """Pad with the mirror image, without the border itself."""
    return padded(emit, self, padding, "reflect", 0)


@register_op("aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d")
def replication_pad(emit: Emitter, self: SSAValue, padding: Ints) -> SSAValue:
    """Pad with the border."""
    return padded(emit, self, padding, "replicate", 0)


@register_op("aten._pad_circular")
def circular_pad(emit: Emitter, self: SSAValue, pad: Ints) -> SSAValue:
    """Pad with the other end."""
    return padded(emit, self, pad, "circular", 0)
