"""lower-opdesc: described ops become gawee ops, where the core set has their meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.traits import SymbolTable

from gawee_dialect.diagnostics import verify_module
from gawee_dialect.dialect.native_code import C_SOURCE, COMPUTED_ONCE
from gawee_dialect.located_json import Code
from gawee_dialect.locations import hand_on_location
from gawee_dialect.opdesc.described_op import DescribedOp, OpaqueOp
from gawee_dialect.opdesc.emit.c_file import instance_of
from gawee_dialect.opdesc.load import is_shipped
from gawee_dialect.opdesc.mlir_body import mlir_function
from gawee_dialect.passes.graph.inline import cloned_body
from gawee_dialect.passes.graph.lower_opdesc.meanings import (
    ARRANGEMENT,
    CREATION,
    DETECTION,
    POINTWISE,
    WINDOWS,
    NoMeaning,
    Site,
)
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis

# Operators without a meaning in gawee ops, but with C: calls of a function of the module's.


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


# Operators that say in MLIR what they compute: their function's body in the place of the op.


def inlined_body(op: DescribedOp) -> tuple[Sequence[Operation], Sequence[SSAValue]]:
    """Return the ops that an op is, and its results; raises GaweeError where they do not fit.

    They are where the op is, in the graph and not in the description; results keep their names.
    """
    ops, results = cloned_body(mlir_function(op), op.operands)
    for old, new in zip(op.results, results, strict=True):
        if new.owner in ops:
            new.name_hint = old.name_hint
    for inner in (each for made in ops for each in made.walk()):
        inner.location = op.location
    return ops, results


MEANINGS = {**POINTWISE, **WINDOWS, **ARRANGEMENT, **CREATION, **DETECTION}
"""What each shipped operator is in gawee ops, by its type."""


class LowerDescribed(Pattern):
    """lightnet.relu -> gawee.relu, and so on for every op of the tables

    Ops with a body stay: `lower-to-linalg` lowers them by it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: OpaqueOp, rewriter: PatternRewriter) -> None:
        lowered = _lowered(op)
        if isinstance(lowered, NoMeaning):
            self.missed(op, str(lowered))
            return
        rewriter.replace(op, *lowered)


def _lowered(op: OpaqueOp) -> tuple[Sequence[Operation], Sequence[SSAValue]] | NoMeaning:
    """Return the ops that an op is, and its results, or why there are none: MLIR goes before C."""
    optype = op.description().operator.optype
    if optype in MEANINGS and is_shipped(op):
        site = Site(op)
        results = _meaning(optype, site)
        return results if isinstance(results, NoMeaning) else (site.made, results)
    if op.description().operator.mlir is not None:
        return inlined_body(op)
    if has_native_run(op):
        call = native_call(op)
        return call if isinstance(call, NoMeaning) else ([call], call.results)
    return NoMeaning("expected an operator with a meaning in gawee ops")


def _meaning(optype: str, site: Site) -> Sequence[SSAValue] | NoMeaning:
    """Make the gawee ops of an operator; returns their results, or why there are none."""
    try:
        return MEANINGS[optype](site)
    except NoMeaning as reason:
        return reason


def lower_described_ops(module: ModuleOp) -> ModuleOp:
    """Return a module without described ops: a copy where there are any.

    Raises GaweeError that lists every described op that is no gawee op.
    """
    if not any(isinstance(op, OpaqueOp) for op in module.walk()):
        return module
    lowered = module.clone()
    LowerOpdesc().apply(Context(), lowered)
    verify_module(lowered)
    return lowered


@dataclass(frozen=True)
class LowerOpdesc(RewritePass):
    """Rewrite ops of operator descriptions as gawee ops.

    Requires that the module verifies: what a description computes of its parameters, such as
    automatic padding, is computed again here. An operator that is described in C becomes a call of
    a function that the module declares and brings the C of; nothing is compiled or run here. One
    that is described in MLIR becomes the ops of that, and one that a Python function is registered
    for stays.

    rewrite:
        %y = lightnet.elew %a, %b elew_op "TL_MUL"   ->   %y = gawee.mul %a, %b
        %y = mine.twist %x by 2                      ->   %y = func.call @gawee_native_twist_0(%x)
    """

    name = "lower-opdesc"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    patterns = (LowerDescribed,)
    removes = (OpaqueOp,)

    def is_removed(self, op: Operation) -> bool:
        return isinstance(op, OpaqueOp) and not op.has_function()
