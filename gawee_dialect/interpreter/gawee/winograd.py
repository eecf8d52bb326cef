"""Winograd's convolution on whole arrays, by the three matrices of its definition."""

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.dialect.arrays import in_loop_order
from gawee_dialect.dialect.kernels.kernel import element_of, shape_of
from gawee_dialect.dialect.kernels.winograd import PAIRS, WinogradOp
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.kernel import finish, stored, write
from gawee_dialect.interpreter.loop_views import operand_view
from gawee_dialect.interpreter.scalars import OtherFloats, floats_of


def input_tiles(op: WinogradOp, input: Array) -> Array:
    """Return the inputs of every tile: n, c, tile row, tile column, row, column."""
    size, points = op.tile.value.data, op.transforms.points
    down, across = op.tiles
    images, _, _, _, channels = op.sizes
    n, c, y, x, i, j = (AffineExpr.dimension(dim) for dim in range(6))
    nowhere = AffineExpr.constant(0)  # no output channel is read
    places: list[AffineExpr] = [n, nowhere, y * size + i, x * size + j, c]
    reads = (expr.replace_dims_and_symbols(places, []) for expr in op.maps[0].results)
    ranges = (images, channels, down, across, points, points)
    return in_loop_order(operand_view(input, AffineMap(6, 0, tuple(reads)), ranges))


def _both_sides(matrix: Array, tiles: Array) -> Array:
    """Return M T M^T of the tiles in the last two axes."""
    return np.matmul(np.matmul(matrix, tiles), matrix.T)


def _by_feature(op: WinogradOp, weights: Array, floats: OtherFloats) -> Array:
    """Return the transformed weights: points, f, c."""
    points, channels = op.transforms.points, op.sizes[4]
    if op.filters is not None:
        matrix = floats.fractions(op.transforms.weight, weights.dtype)
        transformed = _both_sides(matrix, weights.transpose(0, 4, 1, 2, 3))
        return transformed.transpose(3, 4, 0, 1, 2).reshape(points**2, -1, channels)
    panels = weights.transpose(1, 0, 2, 3) if op.split_by_channel else weights
    # points, panel, c, within the panel -> points, f, c
    return panels.swapaxes(2, 3).reshape(points**2, -1, channels)


def sums(op: WinogradOp, input: Array, weights: Array, floats: OtherFloats) -> Array:
    """Return the convolution: n, f, h, w."""
    transforms, (images, features, rows, columns, channels) = op.transforms, op.sizes
    points, size, (down, across) = transforms.points, op.tile.value.data, op.tiles
    by_feature = _by_feature(op, weights, floats)[:, :features]
    matrix = floats.fractions(transforms.input, input.dtype)
    transformed = _both_sides(matrix, input_tiles(op, input))
    flat = transformed.transpose(4, 5, 1, 0, 2, 3).reshape(points**2, channels, -1)
    products = np.matmul(by_feature, flat)
    tiles = products.reshape(points, points, features, images, down, across)
    matrix = floats.fractions(transforms.output, input.dtype)
    outputs = _both_sides(matrix, tiles.transpose(3, 2, 4, 5, 0, 1)).transpose(0, 1, 2, 4, 3, 5)
    whole = outputs.reshape(images, features, down * size, across * size)
    if transforms.scale > 1:
        whole = np.floor_divide(whole, transforms.scale, dtype=whole.dtype)
    return whole[:, :, :rows, :columns]


def _numbers(op: WinogradOp, input: Array, weights: Array) -> tuple[Array, Array]:
    """Return input and weights in the type in which sums are computed; those of words apart."""
    if not op.of_integers:
        wide = np.dtype(np.float64 if input.dtype == np.float64 else np.float32)
        return input.astype(wide, copy=False), weights.astype(wide, copy=False)
    pairs = np.ascontiguousarray(weights).view(np.int16).reshape(*weights.shape, PAIRS.value)
    ordered = np.moveaxis(pairs, -1, -2)  # points, panel, word, which of two, within the panel
    *outer, words, panel = weights.shape
    apart = ordered.reshape(*outer, PAIRS.value * words, panel)
    return input.astype(np.int32), apart.astype(np.int32)


@register_impls
class WinogradFunctions(OpFunctions):
    """What `gawee.winograd` computes."""

    @impl(WinogradOp)
    def winograd(
        self, interpreter: Interpreter, op: WinogradOp, args: PythonValues
    ) -> PythonValues:
        floats, count = floats_of(interpreter), len(op.inputs)
        input, weights = _numbers(op, args[0], args[count])
        images, features, rows, columns, _ = op.sizes
        ranges = (images, features, rows, columns, 1)  # channels are summed
        views = [
            operand_view(array, affine_map, ranges)
            for array, affine_map in zip(args[1:count], op.maps[1:], strict=False)
        ]
        inner = OtherFloats() if op.of_integers else floats  # integers are NumPy's in any case
        values = (*views, sums(op, input, weights, inner)[..., np.newaxis])
        block = op.finish.block
        assert block.last_op is not None
        total = finish(interpreter, block, block.last_op.operands[0], values)
        result = floats.filled(shape_of(op.target), 0, dtype_of(element_of(op.target)))
        write(total, op.maps[-1], ranges, result)
        return stored(result, () if op.output is None else args[-1:])
