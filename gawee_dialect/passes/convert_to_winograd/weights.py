"""Weights in the domain of Winograd's algorithm: G g G^T, in f64 and rounded once."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, TensorType, f32, f64
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.copy_kernel import copy_kernel, insert_copy
from gawee_dialect.dialect.kernel import KernelOp, YieldOp
from gawee_dialect.dialect.winograd import KERNEL, TRANSFORMS, Matrix, Winograd
from gawee_dialect.passes.convert_to_winograd.choose import Convolution


def transformed(
    builder: Builder, weights: SSAValue, convolution: Convolution, plan: Winograd
) -> SSAValue:
    """Insert G g G^T of every filter g, or g, stored as `gawee.winograd` reads it.

    The weights are copied first, so that what follows reads and writes whole vectors.
    """
    features, channels, panel = convolution.features, convolution.channels, plan.panel
    ordered = _in_panels(builder, weights, convolution, panel)
    if plan.filters:
        return ordered
    points = TRANSFORMS[plan.tile].points
    matrix = _constant(builder, TRANSFORMS[plan.tile].weight)
    a, b, f, c, i, j = (AffineExpr.dimension(dim) for dim in range(6))
    place = (f // panel, a * points + b) if plan.by_channel else (a * points + b, f // panel)
    kernel = KernelOp(
        [ordered, matrix, matrix],
        TensorType(f32, plan.weights_shape(features, channels)),
        bounds=(points, points, features, channels, KERNEL, KERNEL),
        reductions=2,
        maps=[
            AffineMap(6, 0, (f // panel, c, i, j, f % panel)),
            AffineMap(6, 0, (a, i)),
            AffineMap(6, 0, (b, j)),
            AffineMap(6, 0, (*place, c, f % panel)),
        ],
        initial=FloatAttr(0.0, f64),
        accumulate=_accumulate(),
        finish=_round(),
    )
    return insert_copy(builder, kernel)


def _in_panels(
    builder: Builder, weights: SSAValue, convolution: Convolution, panel: int
) -> SSAValue:
    features, channels = convolution.features, convolution.channels
    f, c, i, j = (AffineExpr.dimension(dim) for dim in range(4))
    copy = copy_kernel(
        weights,
        (-(-features // panel), channels, KERNEL, KERNEL, panel),
        bounds=(features, channels, KERNEL, KERNEL),
        reads=AffineMap.identity(4),
        writes=AffineMap(4, 0, (f // panel, c, i, j, f % panel)),
    )
    return insert_copy(builder, copy)


def _constant(builder: Builder, matrix: Matrix) -> SSAValue:
    type = TensorType(f64, (len(matrix), len(matrix[0])))
    values: Sequence[float] = [float(value) for row in matrix for value in row]
    return builder.insert(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, values))).result


def _accumulate() -> Region:
    """sum + w * g[a, i] * g[b, j]"""
    block = Block(arg_types=[f32, f64, f64, f64])
    weight, row, column, total = block.args
    insert = Builder(InsertPoint.at_end(block)).insert
    wide = insert(arith.ExtFOp(weight, f64)).result
    factor = insert(arith.MulfOp(row, column)).result
    product = insert(arith.MulfOp(wide, factor)).result
    insert(YieldOp(insert(arith.AddfOp(total, product)).result))
    return Region(block)


def _round() -> Region:
    block = Block(arg_types=[f32, f64, f64, f64])
    insert = Builder(InsertPoint.at_end(block)).insert
    insert(YieldOp(insert(arith.TruncFOp(block.args[-1], f32)).result))
    return Region(block)
