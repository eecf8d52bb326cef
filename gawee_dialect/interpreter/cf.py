"""What ops of the cf dialect do: assertions, and branches to other blocks."""

import numpy as np
from xdsl.dialects import cf
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    Successor,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Block
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.interpreter.arrays import Array
from gawee_dialect.interpreter.functions import OpFunctions


def require(condition: Array | bool, message: str) -> None:
    """Raise InterpretationError unless a condition holds everywhere."""
    if not np.all(condition):
        raise InterpretationError(f"assertion failed: {message}")


def assertions(block: Block) -> list[cf.AssertOp]:
    """Return the assertions of a block."""
    return [op for op in block.ops if isinstance(op, cf.AssertOp)]


@register_impls
class CfFunctions(OpFunctions):
    """Implementations of the cf dialect."""

    @impl(cf.AssertOp)
    def assert_(
        self, interpreter: Interpreter, op: cf.AssertOp, args: PythonValues
    ) -> PythonValues:
        require(args[0], op.msg.data)
        return ()

    @impl_terminator(cf.BranchOp)
    def branch(
        self, interpreter: Interpreter, op: cf.BranchOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return Successor(op.successor, args), ()

    @impl_terminator(cf.ConditionalBranchOp)
    def conditional_branch(
        self, interpreter: Interpreter, op: cf.ConditionalBranchOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        if np.all(args[0]):
            return Successor(op.then_block, interpreter.get_values(op.then_arguments)), ()
        return Successor(op.else_block, interpreter.get_values(op.else_arguments)), ()
