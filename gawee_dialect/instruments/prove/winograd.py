"""Winograd's convolution on exact numbers, by the fractions of its matrices."""

from fractions import Fraction

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.dialect.kernel import element_of, shape_of
from gawee_dialect.dialect.winograd import Matrix, WinogradOp
from gawee_dialect.instruments.prove.arithmetic import matmul
from gawee_dialect.instruments.prove.numbers import Numbers, as_array, filled, numbers
from gawee_dialect.instruments.prove.residues import of_fraction
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.gawee.kernel import finish, stored, write
from gawee_dialect.interpreter.loop_views import operand_view


def _exact(matrix: Matrix) -> Numbers:
    rows = [[_parts(value) for value in row] for row in matrix]
    return Numbers(np.moveaxis(np.array(rows, np.float64), -1, 0), np.dtype(np.float32))


def _parts(number: Fraction) -> tuple[float, ...]:
    return (float(number), *of_fraction(number))


def input_tiles(op: WinogradOp, input: Array) -> Numbers:
    """Return the inputs of every tile: n, c, tile row, tile column, row, column."""
    size, points = op.tile.value.data, op.transforms.points
    down, across = op.tiles
    images, _, _, _, channels = op.sizes
    n, c, y, x, i, j = (AffineExpr.dimension(dim) for dim in range(6))
    nowhere = AffineExpr.constant(0)  # no output channel is read
    places: list[AffineExpr] = [n, nowhere, y * size + i, x * size + j, c]
    reads = (expr.replace_dims_and_symbols(places, []) for expr in op.maps[0].results)
    ranges = (images, channels, down, across, points, points)
    return numbers(operand_view(input, AffineMap(6, 0, tuple(reads)), ranges))


def _both_sides(matrix: Numbers, tiles: Numbers) -> Numbers:
    """Return M T M^T of the tiles in the last two axes."""
    return matmul(matmul(matrix, tiles), matrix.T)


def _by_feature(op: WinogradOp, weights: Numbers) -> Numbers:
    """Return the transformed weights: points, f, c."""
    points, channels = op.transforms.points, op.sizes[4]
    if op.filters is not None:
        filters = weights.transpose(0, 4, 1, 2, 3)
        transformed = _both_sides(_exact(op.transforms.weight), filters)
        return transformed.transpose(3, 4, 0, 1, 2).reshape(points**2, -1, channels)
    panels = weights.transpose(1, 0, 2, 3) if op.split_by_channel else weights
    # points, panel, c, within the panel -> points, f, c
    return panels.swapaxes(2, 3).reshape(points**2, -1, channels)


def sums(op: WinogradOp, input: Array, weights: Numbers) -> Numbers:
    """Return the convolution: n, f, h, w."""
    transforms, (images, features, rows, columns, channels) = op.transforms, op.sizes
    points, size, (down, across) = transforms.points, op.tile.value.data, op.tiles
    by_feature = _by_feature(op, weights)[:, :features]
    transformed = _both_sides(_exact(transforms.input), input_tiles(op, input))
    flat = transformed.transpose(4, 5, 1, 0, 2, 3).reshape(points**2, channels, -1)
    products = matmul(by_feature, flat).reshape(points, points, features, images, down, across)
    outputs = _both_sides(_exact(transforms.output), products.transpose(3, 2, 4, 5, 0, 1))
    whole = outputs.transpose(0, 1, 2, 4, 3, 5).reshape(
        images, features, down * size, across * size
    )
    return whole[:, :, :rows, :columns]


@register_impls
class ExactWinograd(OpFunctions):
    """What `gawee.winograd` computes."""

    @impl(WinogradOp)
    def winograd(
        self, interpreter: Interpreter, op: WinogradOp, args: PythonValues
    ) -> PythonValues:
        count = len(op.inputs)
        images, features, rows, columns, _ = op.sizes
        ranges = (images, features, rows, columns, 1)  # channels are summed
        views = [
            operand_view(array, affine_map, ranges)
            for array, affine_map in zip(args[1:count], op.maps[1:], strict=False)
        ]
        total = sums(op, args[0], numbers(args[count]))
        block = op.finish.block
        assert block.last_op is not None
        values = (*views, as_array(total.reshape(*total.shape, 1)))
        element = finish(interpreter, block, block.last_op.operands[0], values)
        result = filled(shape_of(op.target), 0, dtype_of(element_of(op.target)))
        write(element, op.maps[-1], ranges, result)
        return stored(result, () if op.output is None else args[-1:])
