"""Compute 3x3 convolutions by Winograd's algorithm, where that is faster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, TensorType, f32, f64
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.kernel_kind import zero_pad_of
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp, copy_kernel, insert_copy
from gawee_dialect.dialect.kernels.structured_kernel import shape_of
from gawee_dialect.dialect.kernels.winograd import KERNEL, TRANSFORMS, Matrix, Winograd, WinogradOp
from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.hints import isa
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.tensors.convert_to_algorithm import (
    ConvertKernel,
    ConvertToAlgorithm,
    Plan,
)
from gawee_dialect.passes.tensors.convert_to_winograd.choose import (
    Convolution,
    choose,
    plans,
    problem,
)
from gawee_dialect.passes.tensors.convert_to_winograd.match import Match, match, without_filter

# Weights in the domain of Winograd's algorithm: G g G^T, in f64 and rounded once.


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
    op = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, values))
    op.result.name_hint = "weight_transform"
    return builder.insert(op).result


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


class ConvertConvolution(ConvertKernel):
    """gawee.kernel (3x3, stride 1) -> gawee.winograd on a wider padding and transformed weights"""

    algorithm = Winograd

    def mismatch(self, op: KernelOp) -> str | None:
        found = match(op)
        return found if isinstance(found, str) else None

    def plans(self, op: KernelOp) -> Iterable[Plan]:
        return plans(_matched(op).convolution, self.processor_of(op))

    def choose(self, op: KernelOp) -> Algorithm | None:
        convolution, processor = _matched(op).convolution, self.processor_of(op)
        asked = convolution, processor.cores
        if asked not in self._chosen:
            self._chosen[asked] = choose(convolution, processor)
        return self._chosen[asked]

    @cached_property
    def _chosen(self) -> dict[tuple[Convolution, int], Algorithm | None]:
        # Layers of one shape are many, and there are hundreds of plans to compare for each.
        return {}

    def problem(self, op: KernelOp, algorithm: Algorithm) -> str | None:
        assert isinstance(algorithm, Winograd)
        return problem(_matched(op).convolution, algorithm)

    def convert(self, builder: Builder, op: KernelOp, algorithm: Algorithm) -> WinogradOp:
        assert isinstance(algorithm, Winograd)
        found = _matched(op)
        others = [i for i in range(len(op.inputs)) if i not in (found.input, found.weights)]
        type = op.target.type
        assert isa(type, AnyTensor)
        n, h, w, c = (AffineExpr.dimension(dim) for dim in (0, 2, 3, 4))
        input = _covered(builder, found.source, found.convolution, algorithm.tile)
        weights = op.inputs[found.weights]
        return WinogradOp(
            [input, *(op.inputs[index] for index in others)],
            transformed(builder, weights, found.convolution, algorithm),
            type,
            algorithm=algorithm,
            bounds=op.sizes[:5],
            maps=[
                AffineMap(5, 0, (n, c, h, w)),
                *(without_filter(op.maps[index]) for index in others),
                without_filter(op.maps[-1]),
            ],
            finish=_finish(op, others),
        )


def _matched(op: KernelOp) -> Match:
    found = match(op)
    assert isinstance(found, Match)
    return found


def _finish(op: KernelOp, others: list[int]) -> Region:
    """Return the kernel's `finish` without arguments for input and weights."""
    region = op.finish.clone()
    block = region.block
    for index in reversed(range(len(op.inputs))):
        if index not in others:
            block.erase_arg(block.args[index])
    return region


def _covered(builder: Builder, value: SSAValue, convolution: Convolution, tile: int) -> SSAValue:
    """Return the padded input with more zeros behind it, so that whole tiles can be read."""
    reach = KERNEL - 1
    shape = (
        convolution.images,
        convolution.channels,
        -(-convolution.rows // tile) * tile + reach,
        -(-convolution.columns // tile) * tile + reach,
    )
    if shape == shape_of(value):
        return value
    pad = zero_pad_of(value)
    source, low = (value, (0, 0, 0, 0)) if pad is None else (pad.source, pad.low)
    dims = [AffineExpr.dimension(dim) for dim in range(4)]
    writes = tuple(dim + offset if offset else dim for dim, offset in zip(dims, low, strict=True))
    wider = copy_kernel(
        source,
        shape,
        bounds=shape_of(source),
        reads=AffineMap.identity(4),
        writes=AffineMap(4, 0, writes),
    )
    return insert_copy(builder, wider)


@dataclass(frozen=True)
class ConvertToWinograd(ConvertToAlgorithm):
    """Compute 3x3 convolutions of stride 1 by Winograd's algorithm, where that is faster.

    A tile of m x m outputs takes (m + 2)^2 multiplications in the place of 9 m^2: 2.25 times fewer
    for m = 2, 4 times fewer for m = 4. An explicit model (`choose.py`) weighs them against the
    transforms and the larger weights, and picks the tile, the order and the register tile.

    Weights are transformed in f64 and rounded once; `hoist-parameter-computation` moves that into
    `@prepare`. Where tiles are so few that weights are waited for, the filters themselves are kept,
    a quarter as large, and transformed in registers, in f32.

    In f32 the largest error of one convolution is some 5e-6 of the largest output for m = 4, ten
    times that of the direct one; through a whole network errors average out.

    rewrite:
        gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %w)
        ->
        %u = gawee.kernel ins(%w, %g, %g)
        gawee.winograd(%x, %u) {tile = 4}
    """

    name = "convert-to-winograd"
    numerics: ClassVar[Numerics] = REASSOCIATES
    conversion = ConvertConvolution
