"""Move stack buffers out of loops."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.upstream.walk import all_ops


@dataclass(frozen=True)
class HoistAllocas(ModulePass):
    """Move stack buffers out of sequential loops, to the iteration or function they belong to.

    What is in a buffer is not defined where its iteration begins, so that one buffer does for all
    of them. Upstream's lowering of a loop would let the stack grow with every iteration.

    rewrite:
        scf.for %i { %acc = memref.alloca() : memref<4xvector<8xf32>>; ... }
        ->
        %acc = memref.alloca() : memref<4xvector<8xf32>>
        scf.for %i { ... }
    """

    name = "hoist-allocas"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for alloca in [inner for inner in all_ops(op) if type(inner) is memref.AllocaOp]:
            loop = outermost_loop(alloca)
            if loop is not None and not alloca.operands:
                block = loop.parent
                assert isinstance(block, Block)
                alloca.detach()
                block.insert_op_before(alloca, loop)


def outermost_loop(op: Operation) -> Operation | None:
    """Return the outermost sequential loop around an op, none that is parallel between them."""
    return next(reversed([*_loops(op)]), None)


def _loops(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while isinstance(parent, scf.ForOp | scf.IfOp):
        yield parent
        parent = parent.parent_op()
