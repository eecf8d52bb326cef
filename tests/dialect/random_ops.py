"""Random valid ops of the dialect, each in a module of its own: one strategy per op class."""

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_graph import OPS as MAKERS
from gawee_dialect.fuzz.random_ops import Maker


def module_of(op: Operation) -> ModuleOp:
    """A function that takes the op's operands and returns its result."""
    operands = list(dict.fromkeys(op.operands))
    block = Block(arg_types=[operand.type for operand in operands])
    for operand, argument in zip(operands, block.args, strict=True):
        operand.replace_all_uses_with(argument)
    block.add_ops([op, ReturnOp(*op.results)])
    types = [operand.type for operand in operands], [result.type for result in op.results]
    return ModuleOp([FuncOp("main", types, Region(block))])


def drawn_by(make: Maker) -> Callable[[Random], Operation]:
    return lambda random: make(Draw(random))


OPS: dict[type[Operation], st.SearchStrategy[Operation]] = {
    kind: st.builds(drawn_by(make), st.randoms(use_true_random=False))
    for kind, make in MAKERS.items()
}
"""A strategy for every op class of the dialect."""
