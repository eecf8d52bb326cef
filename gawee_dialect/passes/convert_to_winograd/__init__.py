"""Compute 3x3 convolutions by Winograd's algorithm, where that is faster."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from gawee_dialect.analysis.padding import zero_pad_of
from gawee_dialect.dialect.algorithm import Algorithm
from gawee_dialect.dialect.copy_kernel import copy_kernel, insert_copy
from gawee_dialect.dialect.kernel import KernelOp
from gawee_dialect.dialect.structured_kernel import shape_of
from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.dialect.winograd import KERNEL, Winograd, WinogradOp
from gawee_dialect.hints import isa
from gawee_dialect.passes.convert_to_algorithm import ConvertKernel, ConvertToAlgorithm, Plan
from gawee_dialect.passes.convert_to_winograd.choose import Convolution, choose, plans, problem
from gawee_dialect.passes.convert_to_winograd.match import Match, match, without_filter
from gawee_dialect.passes.convert_to_winograd.weights import transformed
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics


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
