"""Elements that bodies of structured ops take of whole tensors: `tensor.extract` as it was read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith, linalg, tensor
from xdsl.dialects.builtin import AffineMapAttr, IndexType, TensorType, i64
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.index_check import LEAST, IndexCheck
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.form_kernels.from_linalg import trip_counts
from gawee_dialect.passes.located_builder import located_builder
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars
from gawee_dialect.passes.lower_to_linalg.tensors import constant, filled


@dataclass(frozen=True)
class Extract:
    """One index of a `tensor.extract` in a body, that may be out of range."""

    op: tensor.ExtractOp
    axis: int
    size: int

    @property
    def index(self) -> SSAValue:
        """The position along the axis."""
        return self.op.indices[self.axis]

    def clamp(self) -> None:
        """Keep the index inside the tensor."""
        scalars = Scalars(located_builder(self.op))
        above = scalars.maximum(self.index, scalars.index(0))
        inside = scalars.minimum(above, scalars.index(self.size - 1))
        self.op.operands[1 + self.axis] = inside


def unchecked(op: LinalgStructuredOperation) -> Iterator[Extract]:
    """Yield the indices in a body that are neither constants nor counters that stay inside."""
    for inner in op.body.block.ops:
        if not isinstance(inner, tensor.ExtractOp):
            continue
        for axis, (index, size) in enumerate(
            zip(inner.indices, tensor_shape(inner.tensor), strict=True)
        ):
            if not _stays_inside(op, index, size):
                yield Extract(inner, axis, size)


def _stays_inside(op: LinalgStructuredOperation, index: SSAValue, size: int) -> bool:
    owner = index.owner
    if isinstance(owner, linalg.ops.IndexOp):
        count = trip_counts(op)[owner.dim.value.data]
        return count is not None and count <= size
    return isinstance(owner, arith.ConstantOp)  # the reader of text has looked at these


def worst_of(op: LinalgStructuredOperation, extract: Extract) -> tuple[IndexCheck, SSAValue] | None:
    """Insert before an op another that finds the worst of an index at all points of its loops.

    None where the index depends on what the op has accumulated.
    """
    needed = _needed(op.body.block, extract.index)
    outputs = op.body.block.args[len(op.inputs) :]
    if any(value in outputs for inner in needed for value in inner.operands):
        return None
    operands, maps = op.operands, [each.data for each in op.get_indexing_maps()]
    builder = located_builder(op)
    init = filled(builder, constant(builder, LEAST, i64), TensorType(i64, ()))
    block = Block(arg_types=[*(argument.type for argument in op.body.block.args), i64])
    scalars = Scalars(Builder(InsertPoint.at_end(block)))
    values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, block.args, strict=False))
    for inner in needed:
        scalars.builder.insert(inner.clone(values))
    index = values.get(extract.index, extract.index)
    if isinstance(index.type, IndexType):
        index = scalars.emit(arith.IndexCastOp(index, i64))
    shifted = scalars.add(index, scalars.constant(LEAST, i64))
    worst = scalars.maximum(block.args[-1], shifted)
    scalars.builder.insert(linalg.ops.YieldOp(worst))
    loops = len(op.get_iterator_types())
    new = linalg.ops.GenericOp(
        operands,
        [init],
        Region(block),
        [AffineMapAttr(each) for each in (*maps, AffineMap(loops, 0, ()))],
        [IteratorTypeAttr.reduction()] * loops,
        [TensorType(i64, ())],
    )
    builder.insert(new)
    check = IndexCheck.at(extract.op, [extract.axis], [extract.size], from_end=False)
    return check, new.res[0]


def _needed(block: Block, value: SSAValue) -> Sequence[Operation]:
    """Return the ops of a body that a value is computed by, in order."""
    found, waiting = set[Operation](), [value]
    while waiting:
        owner = waiting.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in found:
            found.add(owner)
            waiting.extend(owner.operands)
    return [op for op in block.ops if op in found]
