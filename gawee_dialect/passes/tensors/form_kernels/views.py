"""Reads and writes through views: reshapes and slices become part of maps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_maps import composed, solve
from gawee_dialect.analysis.kernel_kind import copied_input
from gawee_dialect.dialect.affine_range import is_linear
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.operation import KEPT, is_kept
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.hints import isa
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.form_kernels.drafts import Output, Read, reads_of, rewired

Reshape: TypeAlias = tensor.CollapseShapeOp | tensor.ExpandShapeOp
View: TypeAlias = Reshape | tensor.ExtractSliceOp


def is_static(op: View) -> bool:
    """Whether a view is always the same part of its source."""
    numbers: tuple[int, ...] = (*tensor_shape(op.operands[0]), *tensor_shape(op.result))
    if isinstance(op, tensor.ExtractSliceOp):
        numbers += (*op.static_offsets.get_values(), *op.static_strides.get_values())
    return DYNAMIC_INDEX not in numbers


def source_map(op: View) -> AffineMap:
    """Return which element of its source each element of a view is."""
    shape = tensor_shape(op.result)
    if isinstance(op, tensor.ExtractSliceOp):
        moved = AffineMap(len(shape), 0, tuple(_slice_places(op, shape)))
        return composed(moved, AffineMap.identity(len(shape)).results, shape)
    larger = tensor_shape(op.src if isinstance(op, tensor.CollapseShapeOp) else op.result)
    if isinstance(op, tensor.CollapseShapeOp):
        return split_axes(groups_of(op), larger)
    return joined_axes(groups_of(op), larger)


def _slice_places(op: tensor.ExtractSliceOp, shape: Sequence[int]) -> Iterator[AffineExpr]:
    """Yield where along each axis of its source a slice is, which may leave out axes of one."""
    axis = 0
    for offset, stride, size in zip(
        op.static_offsets.get_values(),
        op.static_strides.get_values(),
        op.static_sizes.get_values(),
        strict=True,
    ):
        if axis < len(shape) and size == shape[axis]:
            yield AffineDimExpr(axis) * stride + offset
            axis += 1
        else:
            yield AffineExpr.constant(offset)


def joined_axes(groups: Sequence[Sequence[int]], larger: Sequence[int]) -> AffineMap:
    """Return the map from the axes of the larger shape to those of the smaller: `i * 5 + j`."""
    results: list[AffineExpr] = []
    for group in groups:
        parts = [
            AffineDimExpr(axis) * prod(larger[later] for later in group if later > axis)
            for axis in group
        ]
        results.append(sum(parts, AffineExpr.constant(0)))
    map = AffineMap(len(larger), 0, tuple(results))
    return composed(map, AffineMap.identity(len(larger)).results, larger)


def split_axes(groups: Sequence[Sequence[int]], larger: Sequence[int]) -> AffineMap:
    """Return the map from the smaller shape to the larger: `i floordiv 5`, `i mod 5`.

    A scalar has no groups: it is at the start of every axis.
    """
    if not groups:
        return AffineMap(0, 0, tuple(AffineExpr.constant(0) for _ in larger))
    smaller = [prod(larger[axis] for axis in group) for group in groups]
    results: list[AffineExpr] = []
    for number, group in enumerate(groups):
        for axis in group:
            later = prod(larger[other] for other in group if other > axis)
            results.append(AffineDimExpr(number) // later % larger[axis])
    map = AffineMap(len(groups), 0, tuple(results))
    return composed(map, AffineMap.identity(len(groups)).results, smaller)


def groups_of(op: Reshape) -> list[list[int]]:
    """Return the axes of the larger shape that each axis of the smaller one stands for."""
    return [
        [axis.value.data for axis in group if isa(axis, IntegerAttr)] for group in op.reassociation
    ]


class ReadThroughView(Pattern):
    """gawee.kernel ins(reshape or slice of %x) -> gawee.kernel ins(%x), read by another map

    Declines where that takes quotients: a reshape of a buffer costs nothing.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        reads = reads_of(op)
        reason = "expected an input that is a reshape or a slice"
        for index, (value, map) in enumerate(reads):
            view = value.owner
            if not isinstance(view, View):
                continue
            if is_kept(op, view):
                reason = KEPT
                continue
            source = view.operands[0]
            if not is_static(view):
                reason = f"expected a view at a known place, got '{view.name}'"
                continue
            through = source_map(view)
            if through.num_dims != len(map.results) or len(tensor_shape(source)) == 0:
                reason = f"expected a view of as many axes, got '{view.name}'"
                continue
            new_map = composed(through, map.results, op.sizes)
            if not is_linear(new_map):
                reason = f"expected a sum of multiples of dimensions, got '{new_map}'"
                continue
            self.fused(view, op)
            reads[index] = source, new_map
            rewriter.replace(op, rewired(op, reads))
            return
        self.missed(op, reason)


class WriteThroughReshape(Pattern):
    """reshape of what gawee.kernel computes -> gawee.kernel that writes by another map"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Reshape, rewriter: PatternRewriter) -> None:
        producer = op.src.owner
        if not isinstance(producer, KernelOp) or producer.parent is not op.parent:
            self.missed(op, "expected a reshape of what a kernel computes")
            return
        if is_kept(op, producer):
            self.missed(op, KEPT)
            return
        larger = tensor_shape(op.src if isinstance(op, tensor.CollapseShapeOp) else op.result)
        collapses = isinstance(op, tensor.CollapseShapeOp)
        moves = (joined_axes if collapses else split_axes)(groups_of(op), larger)
        new_map = composed(moves, producer.maps[-1].results, producer.sizes)
        users = {use.operation for use in op.src.uses}
        if users != {op} or not is_linear(new_map):
            self.missed(op, f"expected one use and a sum of dimensions, got '{new_map}'")
            return
        self.fused(op, producer)
        output = Output(tensor_type(op.result), new_map, producer.outside)
        new = rewired(producer, reads_of(producer), output)
        rewriter.replace(op, new)
        rewriter.erase(producer)


# Copies of what a kernel computes: the kernel writes where the copy did.


class WriteThroughCopy(Pattern):
    """A kernel, and a copy of all of its result -> a kernel that writes where the copy did

    Padding, for one. Other kernels that read the result find it inside of the copy.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        move = Move.of(op)
        if move is None:
            self.missed(op, "expected a copy of all that a kernel computes, each to one place")
            return
        if is_kept(op, move.producer, *move.readers):
            self.missed(op, KEPT)
            return
        readers = [reader for reader in move.readers if isinstance(reader, KernelOp)]
        if len(readers) < len(move.readers) or any(reader.schedule for reader in readers):
            self.missed(op, "expected all readers of what is copied to be kernels without schedule")
            return
        moved_reads = [read for reader in readers for read in move.reads(reader, op.target)]
        output = move.output()
        if not all(is_linear(map) for map in (output.map, *(map for _, map in moved_reads))):
            self.missed(op, "expected sums of multiples of dimensions")
            return
        producer = move.producer
        self.fused(op, producer)
        new = rewired(producer, reads_of(producer), output)
        rewriter.insert(new, InsertPoint.before(producer))
        for reader in readers:
            moved = rewired(reader, move.reads(reader, new.target))
            rewriter.replace(reader, moved)
        rewriter.replace(op, (), [new.target])
        rewriter.erase(producer)


@dataclass(frozen=True)
class Move:
    """A kernel that copies, as a map from what it reads to what it writes."""

    op: KernelOp
    producer: KernelOp
    map: AffineMap

    @staticmethod
    def of(op: KernelOp) -> "Move | None":
        """Return the move that a kernel is of all that another computes; None where it is none."""
        index = copied_input(op)
        producer = op.inputs[index].owner if index is not None else None
        if index is None or not isinstance(producer, KernelOp) or op.result is None:
            return None
        if producer.parent is not op.parent:  # a step's copy is made at each step
            return None
        shape = tensor_shape(op.inputs[index])
        dims = solve(op.maps[index], op.sizes, AffineMap.identity(len(shape)), shape)
        if dims is None or not (producer.covers_output() or op.covers_output()):
            return None
        if op.schedule is not None or producer.schedule is not None:
            return None
        return Move(op, producer, composed(op.maps[-1], dims, shape))

    @property
    def readers(self) -> Sequence[Operation]:
        """The other readers of what is copied."""
        users = (use.operation for use in self.producer.target.uses)
        return list(dict.fromkeys(user for user in users if user is not self.op))

    def output(self) -> Output:
        """Return what the producer writes instead."""
        map = composed(self.map, self.producer.maps[-1].results, self.producer.sizes)
        # One of the two covers all that it writes.
        outside = self.op.outside if self.producer.covers_output() else self.producer.outside
        return Output(tensor_type(self.op.target), map, outside)

    def reads(self, reader: KernelOp, value: SSAValue) -> list[Read]:
        """Return what a reader reads where `value` takes the place of what was copied."""
        source = self.producer.target
        return [
            (value, composed(self.map, map.results, reader.sizes))
            if read is source
            else (read, map)
            for read, map in reads_of(reader)
        ]
