"""Random graphs of quantized layers, whose every level is the same to the bit.

Scales are powers of two and biases whole numbers of their steps, so that f32 holds every sum and
every product: what is computed on integers rounds as what is computed as it is written.
"""

from collections.abc import Sequence
from dataclasses import replace
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
from gawee_dialect.dialect.graph.pool import MaxPoolOp
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
PRODUCTS = 56
"""Of a sum, at most: each is below 2^17.2, scales of filters are up to twice as large as others,
and f32 holds whole numbers up to 2^24."""
LAYERS = 3
GRAPHS = 16
"""Of a module: what a compilation costs beside its kernels, each pays a share of."""


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
        channels = self._draw.one_of((self._draw.integer(1, 9), 16))
        rest = self._draw.integers(axes, 3, 5)
        value = self._argument([1, channels, *rest] if is_conv else [*rest, channels])
        of_images = self._convolution, self._convolution, self._depthwise, self._maximum, self._sum
        kinds = of_images if is_conv else (self._product, self._product, self._sum)
        for _ in range(self._draw.integer(1, LAYERS)):
            if prod(tensor_shape(value)) > self._most:
                break
            result = self._draw.one_of(kinds)(value)
            if self._draw.chance():
                result = self._add(ReluOp(result))
            value = self._quantized(result)
        return value

    def _dequantized_input(self, value: SSAValue) -> tuple[SSAValue, float]:
        step = self._power()
        return self._dequantized(value, self._constant(step)), step

    def _product(self, value: SSAValue) -> SSAValue:
        x, step = self._dequantized_input(value)
        filters = self._draw.one_of((1, 3, 4, 8, 16))
        w, bias = self._filters([filters, tensor_shape(value)[-1]], step)
        return self._add(MatMulOp(x, w, bias))

    def _convolution(self, value: SSAValue) -> SSAValue:
        filters = self._draw.one_of((1, 3, 4, 8, 16))
        return self._conv(value, [filters, tensor_shape(value)[1]], groups=1)

    def _depthwise(self, value: SSAValue) -> SSAValue:
        channels = tensor_shape(value)[1]
        return self._conv(value, [channels, 1], groups=channels)

    def _conv(self, value: SSAValue, channels: Sequence[int], *, groups: int) -> SSAValue:
        """Add a convolution with filters of some numbers of channels, those it makes first."""
        x, step = self._dequantized_input(value)
        window = [self._draw.one_of((1, 3, 3, 5)) for _ in tensor_shape(value)[2:]]
        while channels[1] * prod(window) > PRODUCTS:
            window[window.index(max(window))] = 1
        w, bias = self._filters([*channels, *window], step)
        pads = [size // 2 for size in window]
        strides, ones = [self._draw.one_of((1, 1, 2)) for _ in window], [1] * len(window)
        op = ConvOp(x, w, bias, strides=strides, padding=pads * 2, dilations=ones, groups=groups)
        return self._add(op)

    def _filters(self, shape: Sequence[int], step: float) -> tuple[SSAValue, SSAValue | None]:
        """Add weights of a scale for each of the first axis, and a bias or none."""
        scales = [self._power(-9, -8) for _ in range(shape[0])]
        each = np.reshape(scales, (shape[0], *[1] * (len(shape) - 1))).tolist()
        w = self._dequantized(self._argument(shape), self._constant(each))
        if self._draw.chance():
            return w, None
        whole = self._add(CastOp(self._argument(shape[:1]), f32))
        return w, self._add(MulOp(whole, self._constant(min(scales) * step)))

    def _maximum(self, value: SSAValue) -> SSAValue:
        """Add a pooling."""
        x, _ = self._dequantized_input(value)
        window = [self._draw.integer(1, 3) for _ in tensor_shape(value)[2:]]
        pads, strides = [size // 2 for size in window], [self._draw.integer(1, 2) for _ in window]
        return self._add(MaxPoolOp(x, kernel=window, strides=strides, padding=pads * 2))

    def _sum(self, value: SSAValue) -> SSAValue:
        """Add a sum with something else of the same shape."""
        x, _ = self._dequantized_input(value)
        y, _ = self._dequantized_input(self._argument(tensor_shape(value)))
        return self._add(AddOp(x, y))


def quantized_graphs(draw: Draw, count: int, most_elements: int = MOST_ELEMENTS) -> ModuleOp:
    """Draw a module of graphs of quantized layers, which have nothing in common."""
    layers = _Layers(draw, most_elements)
    outputs = [layers.grow() for _ in range(count)]
    return marked_module(draw, layers.block, outputs)


class QuantizedGraphs(TrialGenerator):
    """Graphs of quantized convolutions, products, sums and maxima, many to a module."""

    name = "quantized"
    what = "quantized graphs"

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        depth = depth_of(draw, settings)
        trial = trial_of(draw, settings, ModuleOp([]), stages_of(draw, settings, depth))
        is_small = depth is Depth.LOOPS
        count = 1 if is_small or trial.proved or trial.checked else GRAPHS
        module = quantized_graphs(draw, count, FEW_ELEMENTS if is_small else MOST_ELEMENTS)
        return replace(trial, module=module, graphs=count)
