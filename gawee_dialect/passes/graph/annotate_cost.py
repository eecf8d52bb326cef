"""Write on every op what it costs, and the least time that it can take on a processor."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, IntegerAttr, ModuleOp, f64, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from gawee_dialect.analysis.op_cost import limit_of, op_work
from gawee_dialect.analysis.work import Work
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.target.description import Limit, Processor
from gawee_dialect.target.machine import TargetPass

COST = "gawee.cost"
"""The attribute; it is discardable, so that other tools carry or drop it."""


def _rounded(value: float) -> FloatAttr:
    return FloatAttr(float(f"{value:.4g}"), f64)  # digits beyond are noise that diffs would show


def cost_attribute(work: Work, limit: Limit) -> DictionaryAttr:
    """Return what an op is annotated with."""
    return DictionaryAttr(
        {
            "flops": IntegerAttr(work.flops, i64),
            "bytes": IntegerAttr(work.bytes, i64),
            "intensity": _rounded(work.intensity),
            "predicted_us": _rounded(limit.seconds * 1e6),
        }
    )


@dataclass(frozen=True)
class AnnotateCost(TargetPass):
    """Write on every op what it costs, and the least time that it can take on a processor.

    1. `flops` are the arithmetic on elements, two for a multiply-add; `bytes` what the op reads
       and writes, weights included; `intensity` their quotient.
    2. `predicted_us` is the greater of two limits: FLOPs at the processor's rate of multiply-adds,
       and bytes at the rate of the nearest memory that holds all of them. One core does the work.
    3. Ops of the graph, structured ops and copies on tensors or buffers, calls of kernels (the sum
       of what they call) and loop nests are annotated; views and constants cost nothing.

    The bytes differ from those of `--cost`, which leaves weights out.

    Requires: no op of the llvm dialect, where loops have lost their bounds.

    rewrite:
        %y = gawee.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
        ->
        %y = gawee.relu %x {gawee.cost = {flops = 6 : i64, bytes = 48 : i64, ...}} : ...
    """

    name = "annotate-cost"
    numerics: ClassVar[Numerics] = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        processor = self.processor
        lowered = next((inner for inner in op.ops if inner.dialect_name() == "llvm"), None)
        if lowered is not None:
            hint = f"{self.name} comes before convert-to-llvm"
            raise GaweeError(Diagnostic.at(lowered, "has no cost: its loops have no bounds", hint))
        works = [
            _annotate(inner, processor)
            for function in op.ops
            if isinstance(function, FuncOp)
            for block in function.body.blocks
            for inner in block.ops
        ]
        report_statistic(self, "ops annotated", sum(work is not None for work in works))


def _annotate(op: Operation, processor: Processor) -> Work | None:
    work = op_work(op)
    if work is None:
        op.attributes.pop(COST, None)  # what another pass left no longer holds
    else:
        op.attributes[COST] = cost_attribute(work, limit_of(work, processor))
    return work
