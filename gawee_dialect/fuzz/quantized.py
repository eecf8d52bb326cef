"""Random graphs of quantized layers, whose every level is the same to the bit.

Scales are powers of two and biases whole numbers of their steps, so that f32 holds every sum and
every product: what is computed on integers rounds as what is computed as it is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from gawee_dialect.dialect.graph.movement import CatOp, ReshapeOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.quantization import DequantizeOp, QuantizeOp, axis_map
from gawee_dialect.dialect.types import element_type, integer_range, tensor_shape, ui8
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
from gawee_dialect.hints import isa

BYTES: Sequence[IntegerType] = (i8, ui8)
PRODUCTS = 56
"""Of a sum, at most: each is below 2^17.2, scales of filters are up to twice as large as others,
and f32 holds whole numbers up to 2^24."""
LAYERS = 3
"""From an input to an output, at most."""
GRAPHS = 96
"""Of a module: what a compilation costs beside its kernels, each pays a share of."""


class _Choices:
    """The numbers and sizes that the layers of a module have: few, so that kernels are the same."""

    def __init__(self, draw: Draw) -> None:
        self.steps = [2.0 ** draw.integer(-9, -5) for _ in range(2)]
        self.coarse_steps = [self.steps[0], 2.0 ** draw.integer(-12, -2)]
        self.zeros = [draw.integer(-128, 127), draw.integer(0, 127)]
        self.channels = [draw.one_of((draw.integer(1, 9), 16)) for _ in range(2)]
        self.filters = [draw.one_of((1, 3, 4, 8, 16)) for _ in range(2)]
        self.spatial = [draw.integers(draw.integer(1, 2), 3, 5) for _ in range(2)]
        self.windows = [draw.one_of((1, 3, 3, 5)) for _ in range(2)]
        self.strides = [1, draw.one_of((1, 2))]


@dataclass(frozen=True)
class _Value:
    """Bytes, and behind how many layers they are."""

    bytes: SSAValue
    depth: int


class _Layers:
    """A function of quantized layers that grows."""

    def __init__(self, draw: Draw, most_elements: int) -> None:
        self._draw, self._most = draw, most_elements
        self._few = _Choices(draw)
        self._values: list[_Value] = []
        self.block = Block()

    def _add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def _argument(self, shape: Sequence[int]) -> SSAValue:
        type = TensorType(self._draw.one_of(BYTES), shape)
        return self.block.insert_arg(type, len(self.block.args))

    def _constant(self, numbers: Sequence[float] | float, element: Attribute = f32) -> SSAValue:
        array = np.asarray(numbers, np.float32 if element == f32 else np.int32)
        return self._add(ConstantOp(dense_of(array, TensorType(element, array.shape))))

    def _dequantized(self, value: SSAValue, scale: SSAValue) -> SSAValue:
        """Add (value - zero point) * scale, as one op or as arithmetic."""
        zero = self._draw.one_of(self._few.zeros) if self._draw.chance() else None
        element, shape = element_type(value), tensor_shape(value)
        assert isa(element, IntegerType)
        low, high = integer_range(element)
        if self._draw.chance() and low <= (zero or 0) <= high:
            scales = prod(tensor_shape(scale))
            map = axis_map(len(shape)) if scales == 1 else axis_map(len(shape), 0)
            own = [] if scales == 1 else [scales]
            scale = scale if tensor_shape(scale) == tuple(own) else self._flat(scale, own)
            point = None if zero is None else self._constant(np.full(own, zero).tolist(), element)
            return self._add(DequantizeOp(value, scale, point, map))
        whole = self._add(CastOp(value, i32))
        if zero is not None:
            whole = self._add(SubOp(whole, self._constant(zero, i32)))
        return self._add(MulOp(self._add(CastOp(whole, f32)), scale))

    def _flat(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        return self._add(ReshapeOp(value, shape=shape))

    def _quantized(self, value: SSAValue) -> SSAValue:
        byte = self._draw.one_of(BYTES)
        low, high = integer_range(byte)
        zero = self._draw.one_of(self._few.zeros) if self._draw.chance() else None
        zero = None if zero is None else min(max(zero, low), high)
        step = self._constant(self._draw.one_of(self._few.coarse_steps))
        if self._draw.chance():
            point = None if zero is None else self._constant(zero, byte)
            rank = len(tensor_shape(value))
            reciprocal = self._draw.chance(0.3)
            op = QuantizeOp(value, step, point, byte, axis_map(rank), reciprocal=reciprocal)
            return self._add(op)
        whole = self._add(RoundOp(self._add(DivOp(value, step))))
        if zero is not None:
            whole = self._add(AddOp(whole, self._constant(float(zero))))
        return self._add(CastOp(self._add(ClipOp(whole, min=low, max=high)), byte))

    def grow(self) -> SSAValue:
        """Add a layer, of bytes that another one made or of an input, and return its bytes."""
        known = [each for each in self._values if each.depth < LAYERS]
        source = self._draw.one_of(known) if known and self._draw.chance(0.7) else self._input()
        value = source.bytes
        of_images = (
            *(self._convolution, self._convolution, self._depthwise),
            *(self._maximum, self._average, self._sum, self._join),
        )
        of_matrices = self._product, self._product, self._sum, self._join
        is_image = self._is_image(value)
        result = self._draw.one_of(of_images if is_image else of_matrices)(value)
        if self._draw.chance():
            result = self._add(ReluOp(result))
        made = self._quantized(result)
        if prod(tensor_shape(made)) <= self._most:
            self._values.append(_Value(made, source.depth + 1))
        return made

    def _is_image(self, value: SSAValue) -> bool:
        shape = tensor_shape(value)
        return len(shape) > 2 and shape[0] == 1

    def _input(self) -> _Value:
        rest = self._draw.one_of(self._few.spatial)
        channels = self._draw.one_of(self._few.channels)
        shape = [1, channels, *rest] if self._draw.chance() else [*rest, channels]
        return _Value(self._argument(shape), 0)

    def _dequantized_input(self, value: SSAValue) -> tuple[SSAValue, float]:
        step = self._draw.one_of(self._few.steps)
        return self._dequantized(value, self._constant(step)), step

    def _product(self, value: SSAValue) -> SSAValue:
        x, step = self._dequantized_input(value)
        filters = self._draw.one_of(self._few.filters)
        w, bias = self._filters([filters, tensor_shape(value)[-1]], step)
        return self._add(MatMulOp(x, w, bias))

    def _convolution(self, value: SSAValue) -> SSAValue:
        filters = self._draw.one_of(self._few.filters)
        return self._conv(value, [filters, tensor_shape(value)[1]], groups=1)

    def _depthwise(self, value: SSAValue) -> SSAValue:
        channels = tensor_shape(value)[1]
        return self._conv(value, [channels, 1], groups=channels)

    def _conv(self, value: SSAValue, channels: Sequence[int], *, groups: int) -> SSAValue:
        """Add a convolution with filters of some numbers of channels, those it makes first."""
        x, step = self._dequantized_input(value)
        window = [self._draw.one_of(self._few.windows) for _ in tensor_shape(value)[2:]]
        while channels[1] * prod(window) > PRODUCTS:
            window[window.index(max(window))] = 1
        w, bias = self._filters([*channels, *window], step)
        pads = [size // 2 for size in window]
        strides, ones = [self._draw.one_of(self._few.strides) for _ in window], [1] * len(window)
        op = ConvOp(x, w, bias, strides=strides, padding=pads * 2, dilations=ones, groups=groups)
        return self._add(op)

    def _filters(self, shape: Sequence[int], step: float) -> tuple[SSAValue, SSAValue | None]:
        """Add weights of a scale for each of the first axis, and a bias or none."""
        scales = [2.0 ** self._draw.integer(-9, -8) for _ in range(shape[0])]
        each = np.reshape(scales, (shape[0], *[1] * (len(shape) - 1))).tolist()
        w = self._dequantized(self._argument(shape), self._constant(each))
        if self._draw.chance():
            return w, None
        whole = self._add(CastOp(self._argument(shape[:1]), f32))
        return w, self._add(MulOp(whole, self._constant(min(scales) * step)))

    def _windows(self, value: SSAValue) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Draw windows of a pooling: sizes, strides, and what is padded on each side."""
        sizes = tensor_shape(value)[2:]
        window = [self._draw.integer(1, min(3, size)) for size in sizes]
        strides = [self._draw.one_of(self._few.strides) for _ in window]
        return window, strides, [size // 2 for size in window]

    def _maximum(self, value: SSAValue) -> SSAValue:
        """Add a pooling."""
        x, _ = self._dequantized_input(value)
        window, strides, pads = self._windows(value)
        return self._add(MaxPoolOp(x, kernel=window, strides=strides, padding=[*pads, *pads]))

    def _average(self, value: SSAValue) -> SSAValue:
        """Add means of windows, or of all of each channel."""
        x, _ = self._dequantized_input(value)
        if self._draw.chance(0.3):
            return self._add(AdAvgPoolOp(x, output_size=[1] * len(tensor_shape(x)[2:])))
        window, strides, pads = self._windows(value)
        op = AvgPoolOp(
            x,
            kernel=window,
            strides=strides,
            padding=[*pads, *pads],
            count_include_pad=self._draw.chance(),
        )
        return self._add(op)

    def _join(self, value: SSAValue) -> SSAValue:
        """Add a concatenation with something else of the same shape."""
        shape, axis = tensor_shape(value), 1 if self._is_image(value) else -1
        if 2 * shape[axis] > PRODUCTS:
            return self._sum(value)
        same = [each.bytes for each in self._values if tensor_shape(each.bytes) == shape]
        other = self._draw.one_of(same) if same else self._argument(shape)
        parts = [self._dequantized_input(each)[0] for each in (value, other)]
        return self._add(CatOp(parts, dim=axis))

    def _sum(self, value: SSAValue) -> SSAValue:
        """Add a sum with something else of the same shape."""
        x, _ = self._dequantized_input(value)
        y, _ = self._dequantized_input(self._argument(tensor_shape(value)))
        return self._add(AddOp(x, y))


def quantized_graphs(draw: Draw, count: int, most_elements: int = MOST_ELEMENTS) -> ModuleOp:
    """Draw a module of quantized layers, each of which makes an output of a graph of its own.

    Graphs have layers in common, and so values that several layers read.
    """
    layers = _Layers(draw, most_elements)
    outputs = [layers.grow() for _ in range(count)]
    return marked_module(draw, layers.block, outputs)


class QuantizedGraphs(TrialGenerator):
    """Graphs of quantized convolutions, products, poolings, sums and joins, many to a module."""

    name = "quantized"
    what = "quantized graphs"

    def trial(self, draw: Draw, settings: Settings) -> Trial:
        depth = depth_of(draw, settings)
        trial = trial_of(draw, settings, ModuleOp([]), stages_of(draw, settings, depth))
        is_small = depth is Depth.LOOPS
        count = 1 if is_small or trial.proved or trial.checked else GRAPHS
        if depth is Depth.NATIVE:  # what differs at the end is looked for pass by pass
            last = len(trial.stages) - 1
            stages = [replace(each, is_run=at == last) for at, each in enumerate(trial.stages)]
            trial = replace(trial, stages=stages, verified=draw.chance(0.2))
        module = quantized_graphs(draw, count, FEW_ELEMENTS if is_small else MOST_ELEMENTS)
        return replace(trial, module=module, graphs=count)
