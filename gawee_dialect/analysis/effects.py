"""What an op reads and writes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects import affine, memref, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel
from gawee_dialect.upstream.amx import TileStoreOp
from gawee_dialect.upstream.walk import inner_ops

# What an op reads: its operands, and the values from around it that its regions use.


def captured_values(op: Operation) -> list[SSAValue]:
    """Return the values from around an op that its regions use, as often as they do."""
    found: list[SSAValue] = []
    for region in op.regions:
        for inner in inner_ops(region):
            block = inner.parent
            for operand in inner.operands:
                # Most are made in the block that they are used in.
                owner = operand.owner
                if owner is block or owner.parent is block:
                    continue
                if not is_inside(operand, op):
                    found.append(operand)
    return found


def values_read(op: Operation) -> list[SSAValue]:
    """Return the operands of an op, and the values its regions capture."""
    return [*op.operands, *captured_values(op)]


def is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether a value is made inside of an op."""
    owner = value.owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    return parent is not None and op.is_ancestor(parent)


# Which buffers an op writes.


VIEWS = (
    memref.SubviewOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.CastOp,
    memref.ReinterpretCastOp,
)
"""Ops whose result is a part or another shape of the buffer that is their first operand."""


def buffer_of(value: SSAValue) -> SSAValue:
    """Return the whole buffer that a memref is a view of."""
    while isinstance(value.owner, VIEWS):
        value = value.owner.operands[0]
    return value


def memory_of(value: SSAValue) -> SSAValue:
    """Return the memory that a memref lies in: the bytes of which its whole buffer is a view."""
    while isinstance((buffer := buffer_of(value)).owner, memref.ViewOp):
        value = buffer.owner.source
    return buffer


STORES = (
    *(memref.CopyOp, memref.StoreOp, memref.AtomicRMWOp, BroadcastOp),
    *(affine.StoreOp, affine.VectorStoreOp),
    *(vector.StoreOp, vector.MaskedStoreOp, vector.TransferWriteOp, TileStoreOp),
)
"""Ops that write one operand, a buffer or the tensor that becomes one."""


def stored_to(op: Operation) -> SSAValue:
    """Return the operand that one of `STORES` writes."""
    match op:
        case memref.CopyOp():
            return op.destination
        case memref.StoreOp() | memref.AtomicRMWOp() | affine.StoreOp() | affine.VectorStoreOp():
            return op.memref
        case vector.StoreOp() | vector.MaskedStoreOp() | TileStoreOp():
            return op.base
        case vector.TransferWriteOp():
            return op.source
        case BroadcastOp():
            return op.init
        case _:
            raise AssertionError(f"no store: '{op.name}'")


@cache
def _may_write(kind: type[Operation]) -> bool:
    """Whether an op without regions is of a class that writes buffers."""
    return issubclass(kind, (LinalgStructuredOperation, StructuredKernel, CallOp, *STORES))


@dataclass
class WrittenBuffers:
    """Says which buffers an op writes, by what it is and by what its callee does."""

    module: ModuleOp
    _callees: dict[FuncOp, frozenset[int]] = field(default_factory=dict[FuncOp, frozenset[int]])

    def of(self, op: Operation) -> Iterable[SSAValue]:
        """Return the buffers that an op and the ops in it write, each once, in order."""
        return dict.fromkeys(buffer_of(value) for value in self._written(op))

    def _written(self, op: Operation) -> Iterable[SSAValue]:
        match op:
            case LinalgStructuredOperation():
                yield from (out for out in op.outputs if isinstance(out.type, MemRefType))
            case StructuredKernel():
                read = {*op.inputs, *op.packed}
                buffers = (value for value in op.operands if isinstance(value.type, MemRefType))
                yield from (value for value in buffers if value not in read)
            case CallOp():
                written = self._by_callee(op)
                yield from (arg for index, arg in enumerate(op.arguments) if index in written)
            case _ if isinstance(op, STORES):
                target = stored_to(op)
                if isinstance(target.type, MemRefType):
                    yield target
            case _:
                blocks = (block for region in op.regions for block in region.blocks)
                for inner in (inner for block in blocks for inner in block.ops):
                    if inner.regions or _may_write(type(inner)):
                        yield from self._written(inner)

    def callee(self, call: CallOp) -> FuncOp | None:
        """Return the function that is called; None of one without a body."""
        found = SymbolTable.lookup_symbol(self.module, call.callee)
        return found if isinstance(found, FuncOp) and found.body.blocks else None

    def _by_callee(self, call: CallOp) -> frozenset[int]:
        callee = self.callee(call)
        if callee is None:
            return frozenset(range(len(call.arguments)))  # nothing says which
        if callee not in self._callees:
            # One that calls itself may write all: that is the answer meanwhile.
            self._callees[callee] = frozenset(range(len(call.arguments)))
            written = set(self.of(callee))
            arguments = enumerate(callee.body.blocks[0].args)
            self._callees[callee] = frozenset(i for i, arg in arguments if arg in written)
        return self._callees[callee]
