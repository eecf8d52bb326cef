"""A memory plan that takes every buffer for dead."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class AliasingBuffers(ModulePass):
    """Put all buffers at the start of the workspace."""

    name = "aliasing-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for view in list(op.walk()):
            if isinstance(view, memref.ViewOp):
                zero = ConstantOp.from_int_and_width(0, IndexType())
                block = view.parent
                assert block is not None
                block.insert_op_before(zero, view)
                view.operands[1] = zero.result
