"""Compute 3x3 convolutions by Winograd's algorithm, where that is faster."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gawee_dialect.analysis.padding import zero_pad_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.copy_kernel import copy_kernel, insert_copy
from gawee_dialect.dialect.kernel import KernelOp, shape_of
from gawee_dialect.dialect.types import AnyTensor
from gawee_dialect.dialect.winograd import KERNEL, WinogradOp
from gawee_dialect.hints import isa
from gawee_dialect.passes.convert_to_winograd.choose import Convolution, Plan, choose, problem
from gawee_dialect.passes.convert_to_winograd.match import Match, match, over_output
from gawee_dialect.passes.convert_to_winograd.weights import transformed
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.schedules.database import NO_CHOICES, Database, Direct, Winograd
from gawee_dialect.schedules.keys import algorithm_key
from gawee_dialect.schedules.pass_option import ScheduledPass
from gawee_dialect.target.description import HOST, Processor, find_processor


@dataclass(eq=False)
class ConvertConvolution(Pattern):
    """gawee.kernel (3x3, stride 1) -> gawee.winograd on a wider padding and transformed weights"""

    processor: Processor
    database: Database = NO_CHOICES

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        found = match(op)
        if isinstance(found, str):
            self.missed(op, found)
            return
        chosen = self._chosen(found)
        if isinstance(chosen, Direct):
            self.missed(op, "expected a choice of Winograd's algorithm, got the direct one")
            return
        plan = chosen or choose(found.convolution, self.processor)
        if plan is None:
            self.missed(op, "expected fewer cycles than the direct convolution, got more")
            return
        new = _winograd(rewriter, found, plan)
        new.target.name_hint = op.target.name_hint
        new.attributes.update(op.attributes)
        rewriter.replace(op, new)

    def _chosen(self, found: Match) -> Plan | Direct | None:
        """Return what the database has for a convolution; raises GaweeError."""
        if not self.database:
            return None
        entry = self.database.find(algorithm_key(found.op), self.processor.cpu)
        if entry is None or not isinstance(entry.choice, Winograd):
            return entry.choice if entry is not None and isinstance(entry.choice, Direct) else None
        plan = Plan(**asdict(entry.choice), cycles=0.0)
        misfit = problem(found.convolution, plan)
        if misfit is not None:
            hint = f"the choice is that of {entry.place}"
            message = f"cannot be computed by Winograd's algorithm as chosen: {misfit}"
            raise GaweeError(Diagnostic.at(found.op, message, hint))
        return plan


def _winograd(builder: Builder, found: Match, plan: Plan) -> WinogradOp:
    op, convolution = found.op, found.convolution
    others = [i for i in range(len(op.inputs)) if i not in (found.input, found.weights)]
    type = op.target.type
    assert isa(type, AnyTensor)
    return WinogradOp(
        _covered(builder, found.source, convolution, plan.tile),
        transformed(builder, op.inputs[found.weights], convolution, plan),
        [op.inputs[index] for index in others],
        type,
        tile=plan.tile,
        bounds=op.sizes[:5],
        maps=[
            AffineMap.identity(4),
            *(over_output(op.maps[index]) for index in others),
            over_output(op.maps[-1]),
        ],
        finish=_finish(op, others),
        by_channel=plan.by_channel,
        block=plan.block,
        rows=plan.rows,
        lanes=plan.lanes,
    )


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
class ConvertToWinograd(ScheduledPass, RewritePass):
    """Compute 3x3 convolutions of stride 1 by Winograd's algorithm, where that is faster.

    A tile of m x m outputs takes (m + 2)^2 multiplications in the place of 9 m^2: 2.25 times fewer
    for m = 2, 4 times fewer for m = 4. An explicit model (`choose.py`) weighs them against the
    transforms and the larger weights, and picks the tile, the order and the register tile.

    Weights are transformed in f64 and rounded once; `hoist-parameter-computation` moves that into
    `@prepare`. In f32 the largest error of one convolution is some 5e-6 of the largest output for
    m = 4, ten times that of the direct one; through a whole network errors average out.

    rewrite:
        gawee.kernel parallel [1, 64, 56, 56] reduce [64, 3, 3] ins(%x, %w)
        ->
        %u = gawee.kernel ins(%w, %g, %g)
        gawee.winograd(%x, %u) {tile = 4}
    """

    name = "convert-to-winograd"
    numerics: ClassVar[Numerics] = REASSOCIATES
    patterns = (ConvertConvolution,)

    target: str = HOST
    """The processor to choose for: `host`, or `skylake-avx512`, `haswell` and the like."""

    num_threads: int = 0
    """How many threads run the kernels; 0 for one a core."""

    def make_patterns(self) -> Sequence[RewritePattern]:
        processor = find_processor(self.target, self.num_threads)
        return [ConvertConvolution(processor, self.schedules)]
