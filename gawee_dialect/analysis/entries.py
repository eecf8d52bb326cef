"""The functions of a module that own buffers: those that a caller outside of it runs."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from gawee_dialect.dialect.entry import is_public, workspace_size_name
from gawee_dialect.upstream.walk import all_ops


def entries(module: ModuleOp) -> list[FuncOp]:
    """Return the functions that only a caller outside of the module runs: they own buffers.

    What says how large the workspace of another one is has none.
    """
    calls = (op for op in all_ops(module) if isinstance(op, CallOp))
    others = {call.callee.string_value() for call in calls}
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    others |= {workspace_size_name(each.sym_name.data) for each in functions}
    return [each for each in functions if is_public(each) and each.sym_name.data not in others]
