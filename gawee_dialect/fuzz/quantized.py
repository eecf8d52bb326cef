"""Random graphs of quantized layers, whose every level is the same to the bit.

Scales are powers of two and biases whole numbers of their steps, so that f32 holds every sum and
every product: what is computed on integers rounds as what is computed as it is written.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType, f32, i8, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import RoundOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.types import integer_range, tensor_shape, ui8
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_graph import (
    FEW_ELEMENTS,
    MOST_ELEMENTS,
    Settings,
    TrialGenerator,
    depth_of,
    marked_module,
    stages_of,
    trial_of,
)
from gawee_dialect.fuzz.random_pipeline import Depth
from gawee_dialect.fuzz.trial import Trial

BYTES: Sequence[IntegerType] = (i8, ui8)
LAYERS = 3


class _Layers:
    """A function of quantized layers that grows."""

    def __init__(self, draw: Draw, most_elements: int) -> None:
        self._draw, self._most = draw, most_elements
        self.block = Block()

    def _add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def _argument(self, shape: Sequence[int]) -> SSAValue:
        type = TensorType(self._draw.one_of(BYTES), shape)
        return self.block.insert_arg(type, len(self.block.args))

    def _constant(self, numbers: Sequence[float] | float, element: Attribute = f32) -> SSAValue:
        array = np.asarray(numbers, np.int32 if element == i32 else np.float32)
        return self._add(ConstantOp(dense_of(array, TensorType(element, array.shape))))

    def _power(self, low: int = -9, high: int = -5) -> float:
        return 2.0 ** self._draw.integer(low, high)

    def _dequantized(self, value: SSAValue, scale: SSAValue) -> SSAValue:
        """Add (value - zero point) * scale."""
        whole = self._add(CastOp(value, i32))
        if self._draw.chance():
            zero = self._constant(self._draw.integer(-128, 127), i32)
            whole = self._add(SubOp(whole, zero))
        return self._add(MulOp(self._add(CastOp(whole, f32)), scale))

    def _quantized(self, value: SSAValue) -> SSAValue:
        byte = self._draw.one_of(BYTES)
        low, high = integer_range(byte)
        whole = self._add(RoundOp(self._add(DivOp(value, self._constant(self._power(-12, -2))))))
        if self._draw.chance():
            whole = self._add(AddOp(whole, self._constant(float(self._draw.integer(low, high)))))
        return self._add(CastOp(self._add(ClipOp(whole, min=low, max=high)), byte))

    def grow(self) -> SSAValue:
        """Add some layers, each of the one before it, and return what they compute."""
        is_conv, axes = self._draw.chance(), self._draw.integer(1, 2)
        channels, rest = self._draw.integer(1, 9), self._draw.integers(axes, 3, 5)
        shape = [1, channels, *rest] if is_conv else [*rest, channels]
        value = self._argument(shape)
        for _ in range(self._draw.integer(1, LAYERS)):
            if prod(tensor_shape(value)) > self._most:
                break
            value = self._layer(value, is_conv=is_conv)
        return value

    def _layer(self, value: SSAValue, *, is_conv: bool) -> SSAValue:
        shape, filters = tensor_shape(value), self._draw.one_of((1, 3, 4, 8, 16))
        channels, step, rank = shape[1 if is_conv else -1], self._power(), len(shape)
        scales = [self._power() for _ in range(filters)]
        least = min(scales) * step
        x = self._dequantized(value, self._constant(step))
        window = [self._draw.one_of((1, 3)) for _ in shape[2:]] if is_conv else []
        spread = [1] * (rank - 1 if is_conv else 1)
        each = np.reshape(scales, (filters, *spread)).tolist()
        weight = self._argument([filters, channels, *window])
        w = self._dequantized(weight, self._constant(each))
        bias = None
        if self._draw.chance():
            whole = self._add(CastOp(self._argument([filters]), f32))
            bias = self._add(MulOp(whole, self._constant(least)))
        if is_conv:
            pads = [size // 2 for size in window]
            strides = [self._draw.one_of((1, 1, 2)) for _ in window]
            ones = [1] * len(window)
            conv = ConvOp(x, w, bias, strides=strides, padding=pads * 2, dilations=ones, groups=1)
            result = self._add(conv)
        else:
            result = self._add(MatMulOp(x, w, bias))
        if self._draw.chance():
            result = self._add(ReluOp(result))
        return self._quantized(result)


def quantized_graph(draw: Draw, most_elements: int = MOST_ELEMENTS) -> ModuleOp:
    """Draw a module of quantized convolutions or products, each of the one before it."""
    layers = _Layers(draw, most_elements)
    return marked_module(draw, layers.block, [layers.grow()])


class QuantizedGraphs(TrialGenerator):
    """Graphs of quantized convolutions and products."""

    name = "quantized"
    what = "quantized graphs"

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        depth = depth_of(draw, settings)
        module = quantized_graph(draw, FEW_ELEMENTS if depth is Depth.LOOPS else MOST_ELEMENTS)
        return trial_of(draw, settings, module, stages_of(draw, settings, depth))
