"""Copies of what a kernel computes: the kernel writes where the copy did."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_maps import composed, solve
from gawee_dialect.analysis.kernel_kind import copied_input
from gawee_dialect.dialect.affine_range import is_linear
from gawee_dialect.dialect.keep import KEPT, is_kept
from gawee_dialect.dialect.kernel import KernelOp
from gawee_dialect.dialect.types import tensor_shape, tensor_type
from gawee_dialect.passes.form_kernels.drafts import Output, Read, reads_of, rewired
from gawee_dialect.passes.rewrite_pass import Pattern


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
        new.location = producer.location
        rewriter.insert(new, InsertPoint.before(producer))
        for reader in readers:
            moved = rewired(reader, move.reads(reader, new.target))
            moved.location = reader.location
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
        """Who else reads what is copied."""
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
