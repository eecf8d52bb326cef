"""Branches between blocks, and assertions."""

from xdsl.dialects import cf, llvm
from xdsl.ir import Block

from gawee_dialect.passes.loops.convert_to_llvm.conversion import FunctionConversion, rule

ABORT = "abort"
"""The function of C that ends the process."""


def convert_branch(op: cf.BranchOp, to: FunctionConversion) -> None:
    """cf.br  ->  llvm.br"""
    to.append(llvm.BrOp(to.blocks[op.successor], *to.all_values(op.arguments)))


def convert_cond_branch(op: cf.ConditionalBranchOp, to: FunctionConversion) -> None:
    """cf.cond_br  ->  llvm.cond_br"""
    to.append(
        llvm.CondBrOp(
            to.value(op.cond),
            to.blocks[op.then_block],
            to.all_values(op.then_arguments),
            to.blocks[op.else_block],
            to.all_values(op.else_arguments),
        )
    )


def convert_assert(op: cf.AssertOp, to: FunctionConversion) -> None:
    """cf.assert  ->  a branch to a block that calls abort, as C's assert does"""
    failed, holds = Block(), Block()
    to.append(llvm.CondBrOp(to.value(op.arg), holds, [], failed, []))
    to.start(failed)
    to.runtime[ABORT] = llvm.LLVMFunctionType(())
    to.append(llvm.CallOp(ABORT))
    to.append(llvm.UnreachableOp())
    to.start(holds)


RULES = (
    rule(cf.BranchOp, convert_branch),
    rule(cf.ConditionalBranchOp, convert_cond_branch),
    rule(cf.AssertOp, convert_assert),
)
