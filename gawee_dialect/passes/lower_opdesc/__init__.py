"""lower-opdesc: described ops become gawee ops, where the core set has their meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.diagnostics import verify_module
from gawee_dialect.opdesc.described_op import OpaqueOp
from gawee_dialect.opdesc.lightnet import is_shipped
from gawee_dialect.passes.lower_opdesc.arrangement import ARRANGEMENT
from gawee_dialect.passes.lower_opdesc.creation import CREATION
from gawee_dialect.passes.lower_opdesc.detection import DETECTION
from gawee_dialect.passes.lower_opdesc.mlir_body import inlined_body
from gawee_dialect.passes.lower_opdesc.native import has_native_run, native_call
from gawee_dialect.passes.lower_opdesc.pointwise import POINTWISE
from gawee_dialect.passes.lower_opdesc.site import NoMeaning, Site
from gawee_dialect.passes.lower_opdesc.windows import WINDOWS
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

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
