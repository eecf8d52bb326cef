"""Operators without a meaning in gawee ops, but with C: calls of a function of the module's."""

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from gawee_dialect.dialect.native_code import C_SOURCE, COMPUTED_ONCE
from gawee_dialect.easy_json import Code
from gawee_dialect.locations import hand_on_location
from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.emit.c_instance import instance_of
from gawee_dialect.passes.lower_opdesc.site import NoMeaning
from gawee_dialect.passes.parameter_analysis import ParameterAnalysis


def has_native_run(op: DescribedOp) -> bool:
    """Whether an operator's description says in C what it computes."""
    operator = op.description().operator
    return bool(op.results) and (_says(operator.run) or _says(operator.static_run))


def _says(code: Code | None) -> bool:
    return code is not None and bool(code.text.strip())


def native_call(op: DescribedOp) -> CallOp | NoMeaning:
    """Return the call of an op's C function, which the module declares from now on.

    Without a `run` it is `static_run` that computes, once; so what it reads must be known then.
    """
    operator = op.description().operator
    once = not _says(operator.run)
    analysis = ParameterAnalysis()
    for tensor, operand in zip(operator.tensors_in, op.operands, strict=True):
        if once and not analysis.is_known_early(operand):
            message = f"expected input '{tensor.arg_name}' to be static: 'static_run' reads it once"
            return NoMeaning(f"{message}, before the first run")
    instance = instance_of(op)
    inputs = [operand.type for operand in op.operands]
    outputs = [result.type for result in op.results]
    module = _module_of(op)
    if SymbolTable.lookup_symbol(module, instance.symbol) is None:
        declaration = FuncOp.external(instance.symbol, inputs, outputs)
        declaration.sym_visibility = StringAttr("private")
        declaration.attributes[C_SOURCE] = StringAttr(instance.source)
        if once:
            declaration.attributes[COMPUTED_ONCE] = UnitAttr()
        hand_on_location(op, declaration)
        module.body.block.add_op(declaration)
    return CallOp(instance.symbol, op.operands, outputs)


def _module_of(op: Operation) -> ModuleOp:
    found: Operation | None = op
    while found is not None and not isinstance(found, ModuleOp):
        found = found.parent_op()
    assert found is not None  # the pass is given a module
    return found
