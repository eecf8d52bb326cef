"""Operators without a meaning in gawee ops, but with C: calls of a function of the module's."""

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from gawee_dialect.dialect.native_code import C_SOURCE
from gawee_dialect.locations import hand_on_location
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.emit.c_instance import instance_of


def has_native_run(op: DescribedOp) -> bool:
    """Whether an operator's description says in C what it computes."""
    run = op.description().operator.run
    return run is not None and bool(run.text.strip()) and bool(op.results)


def native_call(op: DescribedOp) -> CallOp:
    """Return the call of an op's C function, which the module declares from now on."""
    instance = instance_of(op)
    inputs = [operand.type for operand in op.operands]
    outputs = [result.type for result in op.results]
    module = _module_of(op)
    if SymbolTable.lookup_symbol(module, instance.symbol) is None:
        declaration = FuncOp.external(instance.symbol, inputs, outputs)
        declaration.sym_visibility = StringAttr("private")
        declaration.attributes[C_SOURCE] = StringAttr(instance.source)
        hand_on_location(op, declaration)
        module.body.block.add_op(declaration)
    return CallOp(instance.symbol, op.operands, outputs)


def _module_of(op: Operation) -> ModuleOp:
    found: Operation | None = op
    while found is not None and not isinstance(found, ModuleOp):
        found = found.parent_op()
    assert found is not None  # the pass is given a module
    return found
