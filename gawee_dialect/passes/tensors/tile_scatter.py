"""Scatter in parts one after the other, whose rows stay in the cache."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from gawee_dialect.analysis.open_sizes import has_open_sizes
from gawee_dialect.dialect.graph.indexing import ScatterElementsOp
from gawee_dialect.dialect.graph.movement import ReshapeOp
from gawee_dialect.dialect.graph.scan import BATCH_MARK, ScanOp, element_of_sequence
from gawee_dialect.dialect.kernels.kernel import YieldOp
from gawee_dialect.dialect.types import shaped_bytes, tensor_shape, tensor_type
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import located_builder
from gawee_dialect.target.machine import TargetPass

HELD_PART = 0.5
"""What a part may take of a core's second cache."""
LEAST = 1 << 14
"""Bytes of a part for which a step of the loop is worth its calls, some 50 ns."""


@dataclass(frozen=True)
class TileScatter(TargetPass):
    """Scatter in parts one after the other, whose rows stay in the cache.

    Indices are checked, made positions and used, and what is scattered into is copied, before all
    that is written over. So a scatter of elements that exceeds a core's second cache, along another
    axis than the first, becomes a `gawee.scan` over its rows, marked `gawee.batch`: as many rows at
    a time as divide their number and take half of that cache. What is computed before the scatter
    and dies there stays as it is: it is written in place.

    rewrite:
        %y = gawee.scatter_elements %x, %i, %u axis 1 : (tensor<2048x1024xf32>, ...)
        ->
        %all = gawee.scan steps 128 over(%xs, %is, %us) {
        ^bb0(%x: tensor<16x1024xf32>, %i: tensor<16x1024xi64>, %u: tensor<16x1024xf32>):
          %made = gawee.scatter_elements %x, %i, %u axis 1
          gawee.yield %made
        } -> tensor<128x16x1024xf32> {gawee.batch}
        %y = gawee.reshape %all shape [2048, 1024]
    """

    name = "tile-scatter"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True

    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cache, tiled = self.processor.second_cache, 0
        for inner in list(op.walk()):
            if isinstance(inner, ScatterElementsOp) and not has_open_sizes(inner):
                rows = rows_of_part(inner, cache)
                if rows is not None:
                    _put_in_scan(inner, rows)
                    tiled += 1
        report_statistic(self, "scatters in parts", tiled)


def rows_of_part(op: ScatterElementsOp, cache: int) -> int | None:
    """Return how many rows to scatter at a time; None where all at once is as good."""
    if op.named_axes == (0,) or not _is_input(op.input):
        return None
    rows = tensor_shape(op.input)[0]
    if tensor_shape(op.indices)[0] != rows:
        return None
    size = sum(shaped_bytes(tensor_type(each)) for each in (*op.operands, op.result))
    if size <= cache:
        return None
    row = size // rows
    fitting = range(int(HELD_PART * cache) // row, max(1, LEAST // row) - 1, -1)
    return next((each for each in fitting if rows % each == 0), None)


def _is_input(value: SSAValue) -> bool:
    """Whether a value is a function's argument, which is copied anyway before it is written."""
    return isinstance(value, BlockArgument) and isinstance(value.owner.parent_op(), FuncOp)


def _put_in_scan(op: ScatterElementsOp, rows: int) -> None:
    """Replace a scatter by a scan over parts of so many rows."""
    steps = tensor_shape(op.input)[0] // rows
    builder = located_builder(op)
    parts: list[SSAValue] = []
    for value in op.operands:
        shape = (steps, rows, *tensor_shape(value)[1:])
        parts.append(builder.insert(ReshapeOp(value, shape=shape)).output)
    block = Block(arg_types=[element_of_sequence(tensor_type(value)) for value in parts])
    for value, argument in zip(op.operands, block.args, strict=True):
        argument.name_hint = value.name_hint
    made = ScatterElementsOp(*block.args, axis=op.axis.value.data, reduction=op.reduction.data)
    end = YieldOp(made.result)
    block.add_ops((made, end))
    for new in (made, end):
        hand_on_location(op, new)
    scan = ScanOp([], parts, Region(block), steps=steps)
    scan.attributes[BATCH_MARK] = UnitAttr()
    builder.insert(scan)
    whole = builder.insert(ReshapeOp(scan.results[0], shape=tensor_shape(op.result)))
    whole.output.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(whole.output)
    op.detach()
    op.erase()
