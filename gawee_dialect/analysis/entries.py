"""The functions of a module that own buffers: those that a caller outside of it runs."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from gawee_dialect.dialect.entry import is_public
from gawee_dialect.upstream.walk import all_ops


def entries(module: ModuleOp) -> list[FuncOp]:
    """Return the functions that only a caller outside of the module runs: they own buffers."""
    calls = (op for op in all_ops(module) if isinstance(op, CallOp))
    called = {call.callee.string_value() for call in calls}
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    return [each for each in functions if is_public(each) and each.sym_name.data not in called]
