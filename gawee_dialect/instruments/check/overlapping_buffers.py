"""Ops that write bytes which they still have to read, at the level of buffers.

An interpreter reads all that an op needs before it writes; loops do not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.analysis.written_buffers import WrittenBuffers, buffer_of
from gawee_dialect.dialect.structured_kernel import StructuredKernel
from gawee_dialect.hints import isa
from gawee_dialect.instruments.check.violation import Violation
from gawee_dialect.interpreter.arrays import array_shape, dtype_of
from gawee_dialect.walk import all_ops


@dataclass(frozen=True)
class _Bytes:
    """The bytes of a whole buffer: whose they are, where they begin and end."""

    root: SSAValue
    start: int
    end: int

    def overlaps(self, other: "_Bytes") -> bool:
        return self.root is other.root and self.start < other.end and other.start < self.end


def overlapping_buffers(module: ModuleOp) -> Iterator[Violation]:
    """Yield ops that write what they read as well, but element by element in one place."""
    buffers = WrittenBuffers(module)
    for op in all_ops(module):
        if isinstance(op, LinalgStructuredOperation | StructuredKernel | CallOp):
            yield from _of_op(buffers, op)


def _of_op(buffers: WrittenBuffers, op: Operation) -> Iterator[Violation]:
    written = set(buffers.of(op))
    places = {
        index: bytes
        for index, value in enumerate(op.operands)
        if (bytes := _bytes_of(value)) is not None
    }
    outputs = [each for each in places if buffer_of(op.operands[each]) in written]
    outputs = _own_outputs(op, outputs)
    for output, other in product(outputs, places):
        if output == other or not places[output].overlaps(places[other]):
            continue
        if places[output] == places[other] and _in_place(op, output, other):
            continue
        what = "writes" if other in outputs else "reads"
        message = f"operand {output} is written over operand {other}, which it {what} as well"
        yield Violation(op, message)
        return


def _own_outputs(op: Operation, outputs: Sequence[int]) -> Sequence[int]:
    """Return what an op itself says that it writes, where operands are one buffer."""
    if isinstance(op, LinalgStructuredOperation):
        return range(len(op.inputs), len(op.operands))
    if isinstance(op, StructuredKernel):
        return [each for each in outputs if op.operands[each] is op.output] or outputs
    return outputs


def _in_place(op: Operation, output: int, other: int) -> bool:
    """Whether each element is read where it is written, at the same time."""
    if not isinstance(op, LinalgStructuredOperation):
        return False
    maps = [each.data for each in op.get_indexing_maps()]
    same_type = op.operands[output].type == op.operands[other].type
    return same_type and maps[output] == maps[other]


def _bytes_of(value: SSAValue) -> _Bytes | None:
    buffer = buffer_of(value)
    type = buffer.type
    if not isa(type, MemRefType[Attribute]) or -1 in type.get_shape():
        return None
    try:
        size = prod(array_shape(type)) * dtype_of(type).itemsize
    except InterpretationError:
        return None
    if not isinstance(buffer.owner, memref.ViewOp):
        return _Bytes(buffer, 0, size)
    start = constant_index(buffer.owner.byte_shift)
    return None if start is None else _Bytes(buffer.owner.source, start, start + size)
