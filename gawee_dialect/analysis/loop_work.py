"""The work of loop nests over buffers and tensors: every op inside counts as often as it runs."""

from collections import Counter
from dataclasses import dataclass, field

from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.analysis.work import Work, bits_of, size_of
from gawee_dialect.dialect.scalar_flops import scalar_flops
from gawee_dialect.dialect.types import element_bytes


def trip_count(loop: scf.ForOp) -> int | None:
    """Return how often a loop with constant bounds runs, None where they are not constant."""
    bounds = [constant_index(value) for value in (loop.lb, loop.ub, loop.step)]
    low, high, step = bounds
    if low is None or high is None or step is None or step < 1:
        return None
    return max(0, -(-(high - low) // step))


@dataclass
class Accesses:
    """How often elements of each buffer are loaded and stored, and the arithmetic between.

    Versions of a tensor that loops carry are buffers as well: an insertion stores one element.
    """

    flops: int = 0
    loads: Counter[SSAValue] = field(default_factory=Counter[SSAValue])
    stores: Counter[SSAValue] = field(default_factory=Counter[SSAValue])

    def visit(self, op: Operation, times: int) -> bool:
        """Count an op that runs so many times; returns whether that can be told."""
        match op:
            case scf.ForOp():
                trips = trip_count(op)
                return trips is not None and self.visit_block(op.body.block, times * trips)
            case memref.LoadOp():
                self.loads[op.memref] += times
            case memref.StoreOp():
                self.stores[op.memref] += times
            case tensor.ExtractOp():
                self.loads[op.tensor] += times
            case tensor.InsertOp():
                self.stores[op.dest] += times
            case _ if op.regions:
                return False
            case _:
                self.flops += times * scalar_flops(op)
        return True

    def visit_block(self, block: Block, times: int) -> bool:
        """Count the ops of a block; returns whether all can be told."""
        return all([self.visit(op, times) for op in block.ops])

    def work(self) -> Work:
        """Return the traffic: no buffer moves more than whole, however often it is loaded."""
        read = {value: _moved(value, times) for value, times in self.loads.items()}
        written = {value: _moved(value, times) for value, times in self.stores.items()}
        touched = {
            value: max(read.get(value, 0), written.get(value, 0)) for value in read | written
        }
        return Work(
            self.flops,
            sum(read.values()),
            sum(written.values()),
            sum(touched.values()),
            bits_of(written),
        )


def _moved(value: SSAValue, times: int) -> int:
    assert isa(value.type, MemRefType[Attribute] | TensorType[Attribute])
    return min(size_of(value), times * element_bytes(value.type.element_type))


def loop_work(op: Operation) -> Work | None:
    """Return the work of a loop nest, or of a load or store by itself.

    None where a bound is not constant, or where the nest holds a region of another kind.
    """
    accesses = Accesses()
    return accesses.work() if accesses.visit(op, 1) else None
