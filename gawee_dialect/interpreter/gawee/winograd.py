"""Winograd's convolution on whole arrays, by the three matrices of its definition."""

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.dialect.kernel import element_of, shape_of
from gawee_dialect.dialect.winograd import Matrix, WinogradOp
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.body import evaluate_values
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.kernel import stored, write
from gawee_dialect.interpreter.loop_views import in_loop_order, operand_view

Floats = NDArray[np.float32 | np.float64]


def _array(matrix: Matrix, like: Floats) -> Floats:
    return np.array([[float(value) for value in row] for row in matrix], like.dtype)


def _computed_in(array: Array) -> np.dtype[np.float32 | np.float64]:
    return np.dtype(np.float64 if array.dtype == np.float64 else np.float32)


def input_tiles(op: WinogradOp, input: Floats) -> Floats:
    """Return the inputs of every tile: n, c, tile row, tile column, row, column."""
    size, points = op.tile.value.data, op.transforms.points
    down, across = op.tiles
    images, _, _, _, channels = op.sizes
    n, c, y, x, i, j = (AffineExpr.dimension(dim) for dim in range(6))
    nowhere = AffineExpr.constant(0)  # no output channel is read
    places: list[AffineExpr] = [n, nowhere, y * size + i, x * size + j, c]
    reads = (expr.replace_dims_and_symbols(places, []) for expr in op.maps[0].results)
    ranges = (images, channels, down, across, points, points)
    tiles = operand_view(input, AffineMap(6, 0, tuple(reads)), ranges)
    return np.asarray(in_loop_order(tiles), _computed_in(input))


def _by_feature(op: WinogradOp, weights: Floats) -> Floats:
    """Return the transformed weights: points, f, c."""
    points, channels = op.transforms.points, op.sizes[4]
    if op.filters is not None:
        matrix = _array(op.transforms.weight, weights)
        transformed = np.einsum("ai,pcijl,bj->abplc", matrix, weights, matrix, optimize=True)
        return transformed.reshape(points**2, -1, channels)
    panels = np.moveaxis(weights, 1, 0) if op.split_by_channel else weights
    # points, panel, c, within the panel -> points, f, c
    return np.moveaxis(panels, 3, 2).reshape(points**2, -1, channels)


def sums(op: WinogradOp, input: Floats, weights: Floats) -> Array:
    """Return the convolution: n, f, h, w."""
    transforms, (images, features, rows, columns, channels) = op.transforms, op.sizes
    points = transforms.points
    by_feature = _by_feature(op, weights)[:, :features]
    tiles = input_tiles(op, input)
    matrix = _array(transforms.input, input)
    transformed = np.einsum("ai,ncyxij,bj->abcnyx", matrix, tiles, matrix, optimize=True)
    flat = transformed.reshape(points**2, channels, -1)
    products = np.matmul(by_feature, flat).reshape(points, points, features, images, *op.tiles)
    matrix = _array(transforms.output, input)
    outputs = np.einsum("ai,ijfnyx,bj->nfyaxb", matrix, products, matrix, optimize=True)
    size, (down, across) = op.tile.value.data, op.tiles
    whole = outputs.reshape(images, features, down * size, across * size)
    return whole[:, :, :rows, :columns]


@register_impls
class WinogradFunctions(OpFunctions):
    """What `gawee.winograd` computes."""

    @impl(WinogradOp)
    def winograd(
        self, interpreter: Interpreter, op: WinogradOp, args: PythonValues
    ) -> PythonValues:
        arrays, count = [np.asarray(array) for array in args], len(op.inputs)
        floats = _computed_in(arrays[0])
        input, weights = (arrays[index].astype(floats, copy=False) for index in (0, count))
        images, features, rows, columns, _ = op.sizes
        ranges = (images, features, rows, columns, 1)  # channels are summed
        views = [
            operand_view(array, map, ranges)
            for array, map in zip(arrays[1:count], op.maps[1:], strict=False)
        ]
        block = op.finish.block
        values = (*views, sums(op, input, weights)[..., np.newaxis])
        arguments: dict[SSAValue, Array] = dict(zip(block.args, values, strict=True))
        assert block.last_op is not None
        (total,) = evaluate_values(
            interpreter, block, arguments, lambda dim: np.zeros(()), block.last_op.operands
        )
        result = np.zeros(shape_of(op.target), dtype_of(element_of(op.target)))
        write(total, op.maps[-1], ranges, result)
        return stored(result, () if op.output is None else args[-1:])
