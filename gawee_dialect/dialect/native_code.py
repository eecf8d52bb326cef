"""Functions that a module declares and brings as C: `attributes {gawee.c_source = "..."}`."""

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.llvm import FuncOp as LLVMFuncOp

C_SOURCE = "gawee.c_source"
"""The attribute of a declaration: a C file that defines the function, taking pointers to data."""


def sources_of(module: ModuleOp) -> dict[str, str]:
    """Return the C that a module brings, by the name of the function that each file defines."""
    found: dict[str, str] = {}
    for op in module.ops:
        source = op.attributes.get(C_SOURCE)
        if isinstance(op, FuncOp | LLVMFuncOp) and isinstance(source, StringAttr):
            found[op.sym_name.data] = source.data
    return found
