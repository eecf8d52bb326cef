"""What ops of a graph compute that do not say it in an equation, and what runs those that do.

Transposed convolution is a scatter of products: an equation for each element would be longer.
"""

import ast
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect import GAWEE
from gawee_dialect.dialect.arrays import elements, in_loop_order, matrix_product
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvTransposeOp
from gawee_dialect.dialect.graph.order import SortOp, TopKOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp, keeps_elements
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.graph.window import padding_pairs, window_extent
from gawee_dialect.interpreter.arrays import Array, accumulator, attribute_value, rounded
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.scalars import OtherFloats, floats_of


def conv_transpose(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilations: Sequence[int],
    groups: int,
    floats: OtherFloats,
) -> Array:
    """Convolve transposed (n, g*c, spatial...) with (g*c, f, kernel...) to (n, g*f, out...).

    Each kernel element is a matrix product of its weights (f, c) and the input (c, positions),
    added to the positions of the result that it reaches; `floats` make that.
    """
    wide_input, wide_weight = accumulator(input), accumulator(weight)
    batch, channels, *spatial = input.shape
    filters, kernel = weight.shape[1], weight.shape[2:]
    columns = wide_input.reshape(batch, groups, channels // groups, prod(spatial))
    by_group = wide_weight.reshape(groups, channels // groups, filters, *kernel)
    along = zip(spatial, kernel, strides, dilations, output_padding, strict=True)
    full = [
        (size - 1) * stride + window_extent(window, dilation) + extra
        for size, window, stride, dilation, extra in along
    ]
    canvas = floats.filled((batch, groups * filters, *full), 0, wide_input.dtype)
    for offsets in product(*map(range, kernel)):
        made = matrix_product(by_group[(..., *offsets)].transpose(0, 2, 1), columns)
        reached = (
            slice(offset * dilation, offset * dilation + (size - 1) * stride + 1, stride)
            for offset, dilation, size, stride in zip(
                offsets, dilations, spatial, strides, strict=True
            )
        )
        target = canvas[(slice(None), slice(None), *reached)]
        np.add(target, made.reshape(target.shape), out=target)
    kept = (
        slice(before, size - after)
        for size, (before, after) in zip(full, padding_pairs(padding), strict=True)
    )
    result = canvas[(slice(None), slice(None), *kept)]
    if bias is not None:
        result = np.add(result, accumulator(bias).reshape(-1, *(1 for _ in result.shape[2:])))
    return rounded(in_loop_order(result), input.dtype)


@register_impls
class ConvTransposeFunctions(OpFunctions):
    """What `gawee.conv_transpose` computes."""

    @impl(ConvTransposeOp)
    def conv_transpose(
        self, interpreter: Interpreter, op: ConvTransposeOp, args: PythonValues
    ) -> PythonValues:
        result = conv_transpose(
            *args,
            strides=op.strides.get_values(),
            padding=op.padding.get_values(),
            output_padding=op.output_padding.get_values(),
            dilations=op.dilations.get_values(),
            groups=op.groups.value.data,
            floats=floats_of(interpreter),
        )
        return (result,)


CUBIC = -0.75
"""The a of cubic convolution: the slope of its weights at a distance of one."""

Tap = tuple[NDArray[np.int64], Array]
"""For every output position, an input position and the weight of its element."""


def counted(count: int) -> Array:
    """Return the output positions along an axis, in double precision."""
    return np.arange(count, dtype=np.float64)


def interpolate(
    input: Array,
    *,
    size: Sequence[int],
    mode: str = "nearest",
    align_corners: bool = False,
    scales: Sequence[float] | None = None,
    float_positions: bool = False,
    outputs: Callable[[int], Array],
) -> Array:
    """Resample the spatial axes of (n, c, spatial...) to `size`, one axis after the other.

    Neighbours are weighted in the arithmetic of what `outputs` counts the output positions in.
    """
    result = accumulator(input)
    for axis, count in enumerate(size, 2):
        length = input.shape[axis]
        scale = None if scales is None else scales[axis - 2]
        if mode in InterpolateOp.CHOOSING:
            offset = 0.5 if mode == "nearest_exact" else 0.0
            choose = float_nearest_positions if float_positions else nearest_positions
            result = result.take(choose(length, count, scale, offset), axis)
        elif not keeps_elements(length, count, scale):
            positions = real_positions(outputs(count), length, scale, align_corners)
            neighbours = cubic_taps if mode == "bicubic" else linear_taps
            result = blended(result, neighbours(positions, length), axis)
    return rounded(result, input.dtype)


def nearest_positions(
    size: int, count: int, scale: float | None, offset: float
) -> NDArray[np.int64]:
    """Return floor((d + offset) * in / out), or floor((d + offset) / scale), of each output d.

    Without a scale the quotient is exact, of integers; a scale divides in double precision.
    """
    outputs = np.arange(count, dtype=np.int64)
    if scale is None:
        return (2 * outputs + int(2 * offset)) * size // (2 * count)
    return np.minimum(np.floor((outputs + offset) / scale).astype(np.int64), size - 1)


def float_nearest_positions(
    size: int, count: int, scale: float | None, offset: float
) -> NDArray[np.int64]:
    """Return floor((d + offset) * r) of each output d, with r and the product rounded to f32."""
    ratio = np.float32(size) / np.float32(count) if scale is None else np.float32(1 / scale)
    outputs = np.arange(count, dtype=np.float32) + np.float32(offset)
    return np.minimum(np.floor(outputs * ratio).astype(np.int64), size - 1)


def real_positions(outputs: Array, size: int, scale: float | None, align_corners: bool) -> Array:
    """Return the input position that each output stands for."""
    count = outputs.shape[0]
    if align_corners:
        return np.multiply(outputs, (size - 1) / (count - 1)) if count > 1 else outputs
    ratio = size / count if scale is None else 1 / scale
    return np.subtract(np.multiply(np.add(outputs, 0.5), ratio), 0.5)


def linear_taps(positions: Array, size: int) -> list[Tap]:
    """Return each position's two neighbours, weighted by distance; the ends are repeated."""
    inside = np.clip(positions, 0, size - 1)
    before = np.floor(inside).astype(np.int64)
    weight = np.subtract(inside, before)
    return [(before, np.subtract(1, weight)), (np.minimum(before + 1, size - 1), weight)]


def cubic_taps(positions: Array, size: int) -> list[Tap]:
    """Return each position's four neighbours, weighted by cubic convolution; ends are repeated."""
    before = np.floor(positions).astype(np.int64)
    return [
        (
            np.clip(before + step, 0, size - 1),
            cubic_weight(np.abs(np.subtract(positions, before + step))),
        )
        for step in (-1, 0, 1, 2)
    ]


def cubic_weight(distance: Array) -> Array:
    """Return the weight of cubic convolution at distances from 0 to 2."""
    near = _polynomial(distance, (CUBIC + 2, -(CUBIC + 3), 0, 1))
    far = _polynomial(distance, (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC))
    return np.where(np.less_equal(distance, 1), near, far)


def _polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    """Compute a polynomial by Horner's rule, the coefficient of the highest power first."""
    first, *others = coefficients
    result = np.multiply(x, first)
    for each in others[:-1]:
        result = np.multiply(np.add(result, each), x)
    return np.add(result, others[-1])


def blended(input: Array, taps: Sequence[Tap], axis: int) -> Array:
    """Add up weighted elements along an axis."""
    shape = [1] * input.ndim
    shape[axis] = -1
    parts = (
        np.multiply(input.take(positions, axis), weights.astype(input.dtype).reshape(shape))
        for positions, weights in taps
    )
    return reduce(np.add, parts)


@register_impls
class ResizeFunctions(OpFunctions):
    """What the ops of `dialect/graph/resize.py` compute."""

    @impl(InterpolateOp)
    def interpolate(
        self, interpreter: Interpreter, op: InterpolateOp, args: PythonValues
    ) -> PythonValues:
        result = interpolate(
            args[0],
            size=op.size.get_values(),
            mode=op.mode.data,
            align_corners=op.align_corners is not None,
            scales=None if op.scales is None else op.scales.get_values(),
            float_positions=op.float_positions is not None,
            outputs=lambda count: floats_of(interpreter).taken_up(counted(count)),
        )
        return (result,)


# Sampling at given positions.


def grid_sample(
    input: Array, grid: Array, *, mode: str, padding_mode: str, align_corners: bool
) -> Array:
    """Sample (n, c, h, w) at the (x, y) positions of (n, out h, out w, 2)."""
    wide = accumulator(input)
    height, width = input.shape[2:]
    border = padding_mode == "border"
    floats = np.float64 if wide.dtype == np.float64 else np.float32
    columns = positions(grid[..., 0].astype(floats), width, align_corners, border)
    rows = positions(grid[..., 1].astype(floats), height, align_corners, border)
    if mode == "nearest":
        return rounded(elements_at(wide, np.rint(rows), np.rint(columns)), input.dtype)
    result = np.zeros((*input.shape[:2], *grid.shape[1:3]), wide.dtype)
    upper, left = np.floor(rows), np.floor(columns)
    for down, right in product((0, 1), (0, 1)):
        row, column = upper + down, left + right
        weight = (1 - np.abs(rows - row)) * (1 - np.abs(columns - column))
        result += elements_at(wide, row, column) * weight[:, np.newaxis]
    return rounded(result, input.dtype)


def positions(
    coordinates: NDArray[np.floating], size: int, align_corners: bool, border: bool
) -> NDArray[np.floating]:
    """Turn coordinates from -1 to 1 into positions along an axis, one step outside at the most."""
    shifted = coordinates + 1.0
    if align_corners:
        real = shifted * ((size - 1) / 2)
    else:
        real = shifted * (size / 2) - 0.5
    low, high = (0, size - 1) if border else (-1, size)
    return np.fmin(np.fmax(real, low), high)


def elements_at(input: Array, rows: NDArray[np.floating], columns: NDArray[np.floating]) -> Array:
    """Take the elements of (n, c, h, w) at rows and columns (n, out h, out w); zero outside."""
    height, width = input.shape[2:]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    row = np.clip(rows, 0, height - 1).astype(np.int64)
    column = np.clip(columns, 0, width - 1).astype(np.int64)
    image = np.arange(input.shape[0], dtype=np.int64).reshape(-1, 1, 1)
    taken = input.transpose(0, 2, 3, 1)[image, row, column]
    return np.where(inside[..., np.newaxis], taken, input.dtype.type(0)).transpose(0, 3, 1, 2)


@register_impls
class GridSampleFunctions(OpFunctions):
    """What the ops of `dialect/graph/resize.py` compute."""

    @impl(GridSampleOp)
    def grid_sample(
        self, interpreter: Interpreter, op: GridSampleOp, args: PythonValues
    ) -> PythonValues:
        result = grid_sample(
            *args,
            mode=op.mode.data,
            padding_mode=op.padding_mode.data,
            align_corners=op.align_corners is not None,
        )
        return (result,)


@register_impls
class ConstantFunctions(OpFunctions):
    """What the op of `dialect/graph/constant.py` computes."""

    @impl(ConstantOp)
    def constant(
        self, interpreter: Interpreter, op: ConstantOp, args: PythonValues
    ) -> PythonValues:
        value = attribute_value(op.value, op.result.type)
        return (floats_of(interpreter).taken_up(value),)


# Elements in order: what the ops of `dialect/graph/order.py` compute.


def order(input: Array, axis: int, descending: bool) -> NDArray[np.int64]:
    """Return the indices along an axis in the order of their elements: stable, NaN greatest."""
    if not descending:
        return np.argsort(input, axis=axis, kind="stable")
    # NumPy only ascends: the reversed order of the reversed axis keeps equal elements in place.
    ascending: NDArray[np.int64] = np.argsort(np.flip(input, axis), axis=axis, kind="stable")
    return input.shape[axis] - 1 - np.flip(ascending, axis)


@register_impls
class OrderFunctions(OpFunctions):
    """What the ops of `dialect/graph/order.py` compute."""

    @impl(SortOp)
    def sort(self, interpreter: Interpreter, op: SortOp, args: PythonValues) -> PythonValues:
        axis = op.ordered_axis()
        indices = order(args[0], axis, bool(op.descending.value.data))
        return np.take_along_axis(args[0], indices, axis), indices

    @impl(TopKOp)
    def top_k(self, interpreter: Interpreter, op: TopKOp, args: PythonValues) -> PythonValues:
        axis = op.ordered_axis()
        ordered = order(args[0], axis, bool(op.largest.value.data))
        indices = ordered.take(np.arange(op.k.value.data), axis)
        return np.take_along_axis(args[0], indices, axis), indices


# Steps one after the other: what the op of `dialect/graph/scan.py` computes.


@register_impls
class ScanFunctions(OpFunctions):
    """What the op of `dialect/graph/scan.py` computes."""

    @impl(ScanOp)
    def scan(self, interpreter: Interpreter, op: ScanOp, args: PythonValues) -> PythonValues:
        count = len(op.initial)
        state, sequences = args[:count], args[count:]
        made: dict[int, PythonValues] = {}
        for position in op.order:
            now = [each[position, ...] for each in sequences]
            results = interpreter.run_ssacfg_region(op.body, (*state, *now), "scan")
            state, made[position] = results[:count], results[count:]
        stacked: list[Array] = [
            np.concatenate([made[position][index][np.newaxis] for position in range(op.num_steps)])
            for index in range(len(op.results) - count)
        ]
        return (*state, *stacked)


# What a tracer leaves behind: attributes of tensors, and items of those.


def getattr_of(input: Array, attribute: str) -> tuple[int, ...] | int | str:
    """Return what PyTorch calls `shape`, `ndim` or `dtype` of a tensor.

    Raises InterpretationError for any other attribute.
    """
    match attribute:
        case "shape":
            return input.shape
        case "ndim":
            return input.ndim
        case "dtype":
            return input.dtype.name
        case _:
            raise InterpretationError(
                f"unsupported attribute '{attribute}'; supported: shape, ndim, dtype"
            )


def parse_index(text: str) -> int | slice:
    """Read an index as Python prints it: `2`, `-1`, `slice(2, None, None)`.

    Raises InterpretationError for anything else.
    """
    try:
        expression = ast.parse(text.strip(), mode="eval").body
        if isinstance(expression, ast.Call) and ast.unparse(expression.func) == "slice":
            return slice(*(ast.literal_eval(argument) for argument in expression.args))
        index = ast.literal_eval(expression)
    except (SyntaxError, ValueError, TypeError) as error:
        raise InterpretationError(f"expected an integer or a slice, got '{text}'") from error
    if not isinstance(index, int):
        raise InterpretationError(f"expected an integer or a slice, got '{text}'")
    return index


@register_impls
class PythonValueFunctions(OpFunctions):
    """What the ops of `dialect/graph/python_value.py` compute."""

    @impl(GetAttrOp)
    def getattr(self, interpreter: Interpreter, op: GetAttrOp, args: PythonValues) -> PythonValues:
        return (getattr_of(args[0], op.attribute.data),)

    @impl(GetItemOp)
    def getitem(self, interpreter: Interpreter, op: GetItemOp, args: PythonValues) -> PythonValues:
        index = parse_index(op.index.data)
        try:
            return (args[0][index],)
        except (IndexError, TypeError) as error:
            raise InterpretationError(f"cannot take item {index} of {args[0]}") from error


def _run(
    functions: OpFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    if isinstance(op, EquationOp):
        return tuple(map(elements, op.evaluate_all(args, floats_of(interpreter).functions)))
    assert isinstance(op, EvaluatedOp)
    try:
        return (elements(op.evaluate(*args)),)
    except IndexError as error:
        raise InterpretationError(str(error)) from error


@lru_cache(maxsize=256)
def evaluated_functions(kinds: frozenset[type[Operation]]) -> type[OpFunctions]:
    """Make the implementations of every op among some classes that says what it means."""
    meant = (kind for kind in kinds if issubclass(kind, EquationOp | EvaluatedOp))
    members = {f"run_{number}": impl(kind)(_run) for number, kind in enumerate(meant)}
    return register_impls(type("EvaluatedFunctions", (OpFunctions,), members))


OURS = frozenset(GAWEE.operations)

EvaluatedFunctions = evaluated_functions(OURS)
