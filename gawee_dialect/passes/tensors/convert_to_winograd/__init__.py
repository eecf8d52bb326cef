"""Compute 3x3 convolutions by Winograd's algorithm, where that is faster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    f64,
    i16,
    i32,
)
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.kernel_kind import zero_pad_of
from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp, copy_kernel, insert_copy
from gawee_dialect.dialect.kernels.packed_products import insert_word
from gawee_dialect.dialect.kernels.structured_kernel import element_of, shape_of
from gawee_dialect.dialect.kernels.winograd import (
    KERNEL,
    PAIRS,
    TRANSFORMS,
    Matrix,
    Winograd,
    WinogradOp,
)
from gawee_dialect.dialect.types import AnyTensor, dtype_name
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
from gawee_dialect.passes.tensors.form_kernels.drafts import (
    Output,
    Read,
    kernel,
    reads_of,
    region,
    spliced,
)
from gawee_dialect.target.description import X86_64, Processor

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
    transforms, element = TRANSFORMS[plan.tile], element_of(weights)
    points, of_integers = transforms.points, convolution.of_integers
    whole = transforms.whole if of_integers else transforms
    matrix = _constant(builder, whole.weight, i32 if of_integers else f64)
    a, b, f, c, i, j = (AffineExpr.dimension(dim) for dim in range(6))
    place = (f // panel, a * points + b) if plan.by_channel else (a * points + b, f // panel)
    products = KernelOp(
        [ordered, matrix, matrix],
        TensorType(element, plan.weights_shape(features, channels)),
        bounds=(points, points, features, channels, KERNEL, KERNEL),
        reductions=2,
        maps=[
            AffineMap(6, 0, (f // panel, c, i, j, f % panel)),
            AffineMap(6, 0, (a, i)),
            AffineMap(6, 0, (b, j)),
            AffineMap(6, 0, (*place, c, f % panel)),
        ],
        initial=IntegerAttr(0, i32) if of_integers else FloatAttr(0.0, f64),
        accumulate=_accumulate_integers() if of_integers else _accumulate(),
        finish=_sum_alone() if of_integers else _round(),
    )
    found = insert_copy(builder, products)
    return _in_words(builder, found) if of_integers else found


def _in_words(builder: Builder, weights: SSAValue) -> SSAValue:
    """Insert what puts the weights of two input channels each in a word."""
    *outer, channels, panel = shape_of(weights)
    shape, rank = (*outer, channels // PAIRS.value, panel), len(outer) + 2
    reads: list[Read] = []
    for part in range(PAIRS.value):
        at: list[AffineExpr] = [AffineExpr.dimension(dim) for dim in range(rank)]
        at[-2] = at[-2] * PAIRS.value + part
        reads.append((weights, AffineMap(rank, 0, tuple(at))))
    output = Output(TensorType(i32, shape), AffineMap.identity(rank))
    finish = region(reads, None, lambda inner, given: insert_word(inner, PAIRS, given))
    return insert_copy(builder, kernel(reads, output, bounds=shape, finish=finish))


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


def _constant(builder: Builder, matrix: Matrix, element: IntegerType | Float64Type) -> SSAValue:
    numbers = np.array([[float(value) for value in row] for row in matrix])
    type = TensorType(element, numbers.shape)
    op = arith.ConstantOp(dense_of(numbers.astype(dtype_name(element)), type))
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


def _accumulate_integers() -> Region:
    """sum + w * g[a, i] * g[b, j]"""
    block = Block(arg_types=[i32] * 4)
    weight, row, column, total = block.args
    insert = Builder(InsertPoint.at_end(block)).insert
    factor = insert(arith.MuliOp(row, column)).result
    product = insert(arith.MuliOp(weight, factor)).result
    insert(YieldOp(insert(arith.AddiOp(total, product)).result))
    return Region(block)


def _sum_alone() -> Region:
    block = Block(arg_types=[i32] * 4)
    Builder(InsertPoint.at_end(block)).insert(YieldOp(block.args[-1]))
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
        if isinstance(found, str):
            return found
        if found.convolution.of_integers and not multiplies_pairs(self.processor):
            return "expected a processor whose best products of integers are those of pairs"
        return None

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
        cover = _narrowed if found.convolution.of_integers else _covered
        input = cover(builder, found.source, found.convolution, algorithm.tile)
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


def multiplies_pairs(processor: Processor) -> bool:
    """Whether a processor multiplies pairs of 16 bits, and no four bytes at once."""
    return processor.triple == X86_64 and not processor.byte_products


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


def _covered_shape(convolution: Convolution, tile: int) -> Sequence[int]:
    reach = KERNEL - 1
    return (
        convolution.images,
        convolution.channels,
        -(-convolution.rows // tile) * tile + reach,
        -(-convolution.columns // tile) * tile + reach,
    )


def _narrowed(builder: Builder, value: SSAValue, convolution: Convolution, tile: int) -> SSAValue:
    """Return the padded input as i16, with more zeros behind it."""
    maker = value.owner
    assert isinstance(maker, KernelOp)
    reads = reads_of(maker)

    def write(inner: Builder, arguments: Sequence[SSAValue]) -> SSAValue:
        whole = spliced(inner, maker.finish.block, arguments)
        return inner.insert(arith.TruncIOp(whole, i16)).result

    output = Output(TensorType(i16, _covered_shape(convolution, tile)), maker.maps[-1])
    made = kernel(reads, output, bounds=maker.sizes, finish=region(reads, None, write))
    found = insert_copy(builder, made)
    found.name_hint = value.name_hint
    return found


def _covered(builder: Builder, value: SSAValue, convolution: Convolution, tile: int) -> SSAValue:
    """Return the padded input with more zeros behind it, so that whole tiles can be read."""
    shape = _covered_shape(convolution, tile)
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

    Integers of 8 bits, where a processor multiplies pairs of 16 bits but no four bytes, take tiles
    of m = 2 and (2 G) g (2 G)^T: all is whole, and four times each sum is divided by four at the
    end. So nothing is rounded. That is where i16 holds what is transformed, and i32 the sums.

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
