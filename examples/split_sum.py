"""A second algorithm in one file, for `--load`: long sums of products in parts, side by side.

A product with few outputs and a long sum keeps one core busy and the others idle. Here every part
of the sum is a kernel's point of its own, so that threads share them; a second, small kernel adds
the parts and does what follows the sum.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    TensorType,
    f32,
    i64,
)
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_operand_def,
    prop_def,
    region_def,
    var_operand_def,
)
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.kernel_kind import multiplied_inputs
from gawee_dialect.dialect.affine_range import composed
from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.kernels.kernel import KernelOp, YieldOp
from gawee_dialect.dialect.kernels.schedule import Loop, Schedule
from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.passes.numerics import REASSOCIATES
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.convert_to_algorithm import (
    ConvertKernel,
    ConvertToAlgorithm,
    Plan,
)

FEW_OUTPUTS, LONG_SUM = 12, 16_384
"""Where the model takes this algorithm by itself: all outputs fit the registers."""
LANES = 8


@dataclass(frozen=True)
class SplitSum(Algorithm):
    """Take a sum in so many parts."""

    name = "split-sum"

    parts: int

    def __str__(self) -> str:
        return f"split-sum in {self.parts} parts"


@irdl_op_definition
class SplitSumOp(StructuredKernel):
    """Compute what a `gawee.kernel` does, the first reduction in `parts` of one length."""

    name = "gawee.split_sum"

    inputs = var_operand_def(TensorType | MemRefType)
    scratch = opt_operand_def(MemRefType)

    reductions = prop_def(IntegerAttr)
    parts = prop_def(IntegerAttr)
    accumulate = region_def("single_block")
    finish = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        *,
        bounds: Sequence[int],
        reductions: int,
        maps: Sequence[AffineMap],
        accumulate: Region,
        finish: Region,
        parts: int,
        scratch: Sequence[SSAValue] = (),
    ):
        on_buffers = isinstance(output, SSAValue)
        super().__init__(
            operands=[inputs, scratch, [output] if on_buffers else []],
            result_types=[[] if on_buffers else [output]],
            properties={
                "bounds": DenseArrayBase.from_list(i64, bounds),
                "reductions": IntegerAttr(reductions, i64),
                "indexing_maps": ArrayAttr([AffineMapAttr(map) for map in maps]),
                "parts": IntegerAttr(parts, i64),
            },
            regions=[accumulate, finish],
        )

    @property
    def num_parallel(self) -> int:
        return len(self.bounds) - self.reductions.value.data

    @property
    def scratch_types(self) -> Sequence[MemRefType[Attribute]]:
        shape = (self.parts.value.data, *self.sizes[: self.num_parallel])
        return (MemRefType(element_of(self.target), shape),)

    @property
    def flops(self) -> int:
        sums = prod(self.sizes[: self.num_parallel]) * self.parts.value.data
        return 2 * prod(self.sizes) + sums

    @property
    def algorithm(self) -> SplitSum:
        return SplitSum(self.parts.value.data)

    def with_operands(
        self,
        inputs: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        *,
        maps: Sequence[AffineMap] | None = None,
        packed: Sequence[SSAValue] | None = None,
        scratch: Sequence[SSAValue] = (),
        values: Mapping[SSAValue, SSAValue] | None = None,
        algorithm: Algorithm | None = None,
    ) -> "SplitSumOp":
        algorithm = algorithm or self.algorithm
        assert isinstance(algorithm, SplitSum)
        new = SplitSumOp(
            inputs,
            output,
            bounds=self.sizes,
            reductions=self.reductions.value.data,
            maps=self.maps if maps is None else maps,
            accumulate=self.accumulate.clone(),
            finish=self.finish.clone(),
            parts=algorithm.parts,
            scratch=scratch,
        )
        new.attributes.update(self.attributes)
        return new

    def whole(self) -> KernelOp:
        """Return the kernel that computes the same in one go."""
        return KernelOp(
            self.inputs,
            TensorType(element_of(self.target), self.target.type.get_shape()),
            bounds=self.sizes,
            reductions=self.reductions.value.data,
            maps=self.maps,
            initial=FloatAttr(0.0, f32),
            accumulate=self.accumulate.clone(),
            finish=self.finish.clone(),
        )


@register_impls
class SplitSumFunctions(OpFunctions):
    """What `gawee.split_sum` means: the whole sum."""

    @impl(SplitSumOp)
    def split_sum(
        self, interpreter: Interpreter, op: SplitSumOp, args: PythonValues
    ) -> PythonValues:
        (result,) = interpreter.run_op(op.whole(), args[: len(op.inputs)])
        if op.output is None:
            return (result,)
        args[-1][...] = result
        return ()


class SplitKernel(ConvertKernel):
    """gawee.kernel (a sum of products) -> gawee.split_sum"""

    algorithm = SplitSum

    def mismatch(self, op: KernelOp) -> str | None:
        starts_at_zero = op.initial is not None and op.initial.value.data == 0
        sums = multiplied_inputs(op) is not None and op.accumulator_type == f32 and starts_at_zero
        if not sums or not op.has_zeros_outside or op.schedule is not None:
            return "expected a sum of products of f32 from zero, without a schedule"
        return None

    def problem(self, op: KernelOp, algorithm: Algorithm) -> str | None:
        assert isinstance(algorithm, SplitSum)
        length = op.sizes[op.num_parallel]
        fits = length % algorithm.parts == 0
        return None if fits else f"expected 'parts' to divide {length}, got {algorithm.parts}"

    def plans(self, op: KernelOp) -> Iterable[Plan]:
        processor = self.processor_of(op)
        cores, lanes = processor.cores, processor.lanes
        work = prod(op.sizes) / (lanes * processor.multiply_adds)
        for parts in (2, 4, 8):
            if self.problem(op, SplitSum(parts)) is None:
                yield Plan(SplitSum(parts), work * cores / min(parts, cores))

    def choose(self, op: KernelOp) -> Algorithm | None:
        outputs, length = prod(op.sizes[: op.num_parallel]), op.sizes[op.num_parallel]
        if outputs > FEW_OUTPUTS or length < LONG_SUM or self.processor_of(op).cores < 2:
            return None
        best = min(self.plans(op), key=lambda plan: plan.cycles, default=None)
        return None if best is None else best.algorithm

    def convert(self, builder: Builder, op: KernelOp, algorithm: Algorithm) -> SplitSumOp:
        assert isinstance(algorithm, SplitSum)
        return SplitSumOp(
            op.inputs,
            op.target.type,
            bounds=op.sizes,
            reductions=op.reductions.value.data,
            maps=op.maps,
            accumulate=op.accumulate.clone(),
            finish=op.finish.clone(),
            parts=algorithm.parts,
        )


@dataclass(frozen=True)
class ConvertToSplitSum(ConvertToAlgorithm):
    """Take long sums of products with few outputs in parts, side by side."""

    name = "convert-to-split-sum"
    numerics = REASSOCIATES
    conversion = SplitKernel


class LowerSplitSum(Pattern):
    """gawee.split_sum outs(%y) -> a gawee.kernel of the parts, and one that adds them"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SplitSumOp, rewriter: PatternRewriter) -> None:
        assert op.scratch is not None
        rewriter.insert(part_sums(op, op.scratch))
        rewriter.insert(total(op, op.scratch))
        rewriter.erase(op)


def part_sums(op: SplitSumOp, scratch: SSAValue) -> KernelOp:
    """Sum each part: one more parallel dimension outside, a shorter reduction."""
    parts, first = op.parts.value.data, op.num_parallel
    length = op.sizes[first] // parts
    bounds = (parts, *op.sizes[:first], length, *op.sizes[first + 1 :])
    dims: list[AffineExpr] = [AffineExpr.dimension(dim + 1) for dim in range(len(op.sizes))]
    to_scratch = AffineMap(len(bounds), 0, (AffineExpr.dimension(0), *dims[:first]))
    dims[first] = AffineExpr.dimension(0) * length + dims[first]
    return KernelOp(
        op.inputs,
        scratch,
        bounds=bounds,
        reductions=op.reductions.value.data,
        maps=[*(composed(map, dims, bounds) for map in op.maps[:-1]), to_scratch],
        initial=FloatAttr(0.0, f32),
        accumulate=op.accumulate.clone(),
        finish=yields_last([argument.type for argument in op.accumulate.block.args]),
        schedule=schedule_of_parts(bounds, op.reductions.value.data),
    )


def schedule_of_parts(bounds: Sequence[int], reductions: int) -> Schedule:
    """Share parts among threads; keep few outputs in registers, and sum along vectors."""
    first = len(bounds) - reductions
    in_registers = prod(bounds[1:first]) <= FEW_OUTPUTS
    outer = [Loop(0), *(() if in_registers else (Loop(dim) for dim in range(1, first)))]
    if reductions > 1 or bounds[-1] < LANES:
        return Schedule((*outer, *(Loop(dim) for dim in range(first, len(bounds)))), None, 1)
    along = Loop(first, LANES)
    return Schedule((*outer, along), along, 1)


def total(op: SplitSumOp, scratch: SSAValue) -> KernelOp:
    """Add the parts, and do with the sum what the kernel did."""
    parts, first = op.parts.value.data, op.num_parallel
    bounds = (*op.sizes[:first], parts)
    own = [AffineExpr.dimension(dim) for dim in range(first)]
    dims = [*own, *(AffineExpr.constant(0) for _ in op.sizes[first:])]
    finish = op.finish.clone()
    finish.block.insert_arg(f32, 0)
    return KernelOp(
        [scratch, *op.inputs],
        op.target,
        bounds=bounds,
        reductions=1,
        maps=[
            AffineMap(first + 1, 0, (AffineExpr.dimension(first), *own)),
            *(composed(map, dims, bounds) for map in op.maps),
        ],
        initial=FloatAttr(0.0, f32),
        accumulate=adds_first([argument.type for argument in finish.block.args]),
        finish=finish,
    )


def yields_last(types: Sequence[Attribute]) -> Region:
    block = Block(arg_types=types)
    Builder(InsertPoint.at_end(block)).insert(YieldOp(block.args[-1]))
    return Region(block)


def adds_first(types: Sequence[Attribute]) -> Region:
    block = Block(arg_types=types)
    insert = Builder(InsertPoint.at_end(block)).insert
    insert(YieldOp(insert(arith.AddfOp(block.args[-1], block.args[0])).result))
    return Region(block)


@dataclass(frozen=True)
class LowerSplitSumToLoops(RewritePass):
    """Lower `gawee.split_sum` on buffers to two kernels, which `lower-kernels-to-loops` lowers."""

    name = "lower-split-sum-to-loops"
    numerics = REASSOCIATES
    patterns = (LowerSplitSum,)
    removes = (SplitSumOp,)
    revisits = False
