"""Branches between blocks."""

from xdsl.dialects import cf, llvm

from gawee_dialect.passes.convert_to_llvm.conversion import FunctionConversion, rule


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


RULES = (
    rule(cf.BranchOp, convert_branch),
    rule(cf.ConditionalBranchOp, convert_cond_branch),
)
