"""Functions that a module declares and brings as C: `attributes {gawee.c_source = "..."}`."""

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

C_SOURCE = "gawee.c_source"
"""The attribute of a declaration: a C file that defines the function, taking pointers to data."""

COMPUTED_ONCE = "gawee.computed_once"
"""The attribute of a declaration whose function is called once, before the first run."""


def is_computed_once(op: Operation) -> bool:
    """Whether an op calls a function that computes the same in every run, and so is called once."""
    if not isinstance(op, CallOp):
        return False
    callee = SymbolTable.lookup_symbol(op, op.callee)
    return callee is not None and COMPUTED_ONCE in callee.attributes


def sources_of(module: ModuleOp) -> dict[str, str]:
    """Return the C that a module brings, by the name of the function that each file defines."""
    found: dict[str, str] = {}
    for op in module.ops:
        # By their names: code from the cache is ready before the llvm dialect is imported.
        source, name = op.attributes.get(C_SOURCE), op.properties.get("sym_name")
        is_function = op.name in ("func.func", "llvm.func")
        if is_function and isinstance(source, StringAttr) and isinstance(name, StringAttr):
            found[name.data] = source.data
    return found
