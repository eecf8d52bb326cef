"""Visit positions in one dimension where short rows leave rests of register tiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from gawee_dialect.analysis.kernel_kind import multiplied_inputs
from gawee_dialect.analysis.tile_product import is_of_tiles
from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.graph.scan import kernel_blocks
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.tensors.assign_schedules import accesses_of
from gawee_dialect.passes.tensors.assign_schedules.cost_model import kernel_cycles
from gawee_dialect.passes.tensors.assign_schedules.kernel_accesses import KernelAccesses
from gawee_dialect.passes.tensors.assign_schedules.tiles import best_tile
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis
from gawee_dialect.target.description import Processor
from gawee_dialect.target.machine import TargetPass

LONGEST = 16
"""Columns of a row up to which its rest counts: 28 columns are 4 tiles of 6 rows and one of 4."""
GAIN = 1.015
"""What the model has to gain, since where a position is has to be computed by divisions.

Zen 5, AVX2 code: rows of 14, for which it gains 2.5 %, are 2 % faster; AVX-512 code, rows of 7 for
which it gains 1 %: 2 % faster in ResNet-50, 3 % slower in MobileNetV2.
"""


@dataclass(frozen=True)
class JoinPositions(TargetPass):
    """Visit positions in one dimension where short rows leave rests of register tiles.

    A row of 7 columns is a tile of 5 and one of 2 with 16 registers, the latter of which waits for
    its accumulators; 49 positions are 8 tiles of 6 and one of a single position. Products with
    weights along no position are changed, where a model of the register tiles gains 1.5 %.

    rewrite:
        gawee.kernel parallel [1, 64, 7, 7] reduce [512] ins(%x, %w)
          maps [(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 8, d2, d3, d4 mod 8), ...]
        ->
        gawee.kernel parallel [1, 64, 49] reduce [512] ins(%x, %w)
          maps [(d0, d1, d2, d3) -> (d0, d3 floordiv 8, d2 floordiv 7, d2 mod 7, d3 mod 8), ...]
    """

    name = "join-positions"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        processor, analysis = self.processor, ParameterAnalysis()
        gains: dict[object, bool] = {}
        joined = 0
        for function in op.ops:
            if not isinstance(function, FuncOp) or not function.body.blocks:
                continue
            for kernel in [each for block in kernel_blocks(function) for each in block.ops]:
                if not isinstance(kernel, KernelOp) or (row := _row_of(kernel)) is None:
                    continue
                if is_of_tiles(kernel, processor):
                    continue  # a tile goes on with the next row
                accesses = accesses_of(kernel, analysis)
                key = kernel.bounds, kernel.indexing_maps, row, accesses.runs_once
                if key not in gains:
                    gains[key] = _gains(accesses, row, processor)
                if gains[key]:
                    new = _joined(kernel, row, kernel.inputs)
                    hand_on_location(kernel, new)
                    Rewriter.replace_op(kernel, new)
                    joined += 1
        report_statistic(self, "kernels whose positions are joined", joined)


def _row_of(op: KernelOp) -> int | None:
    """Return the dimension of rows whose columns, the next one, are few; None where there is none.

    Weights depend on neither of both, and vectors are along another dimension.
    """
    pair = multiplied_inputs(op)
    if pair is None or op.schedule is not None or op.result is None or is_open(op.sizes):
        return None
    for row in range(op.num_parallel - 1):
        both = {row, row + 1}
        lanes = used_dims(AffineMap(len(op.sizes), 0, op.maps[-1].results[-1:]))
        if not 1 < op.sizes[row + 1] <= LONGEST or op.sizes[row] == 1 or not lanes or lanes & both:
            continue
        dims = [used_dims(op.maps[index]) for index in pair]
        if any(both <= each and not lanes & each for each in dims) and any(
            not both & each for each in dims
        ):
            return row
    return None


def _gains(kernel: KernelAccesses, row: int, processor: Processor) -> bool:
    if kernel.runs_once:
        return False
    op = kernel.op
    # Of no operand, so that nothing else sees that it was made.
    types: list[Attribute] = [value.type for value in op.inputs]
    new = KernelAccesses.of(
        _joined(op, row, Block(arg_types=types).args),
        [operand.is_parameter for operand in kernel.inputs],
    )
    before, after = (
        kernel_cycles(each, best_tile(each, processor), processor) for each in (kernel, new)
    )
    return after * GAIN < before


def _joined(op: KernelOp, row: int, inputs: Sequence[SSAValue]) -> KernelOp:
    """Return a kernel with one dimension for rows and columns, on inputs of the same types."""
    columns, rank = op.sizes[row + 1], len(op.sizes)
    position = AffineDimExpr(row)
    dims: list[AffineExpr] = [AffineDimExpr(dim - (dim > row)) for dim in range(rank)]
    dims[row], dims[row + 1] = position // columns, position % columns
    maps = [map.replace_dims_and_symbols(dims, [], rank - 1, 0) for map in op.maps]
    target = op.target.type
    assert isa(target, TensorType[Attribute])
    new = op.with_operands(inputs, target, maps=maps)
    sizes = [*op.sizes[:row], op.sizes[row] * columns, *op.sizes[row + 2 :]]
    new.bounds = DenseArrayBase.from_list(i64, sizes)
    return new
