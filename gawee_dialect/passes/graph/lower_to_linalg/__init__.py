"""Lower the gawee dialect to linalg on tensors: one file an op family, as in `dialect/`."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect import GRAPH_LEVEL
from gawee_dialect.dialect.equation import EquationOp
from gawee_dialect.dialect.evaluated import NamedMeaningOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp
from gawee_dialect.passes.graph.lower_to_linalg.attention import LowerAttention
from gawee_dialect.passes.graph.lower_to_linalg.conv import LowerConv, LowerConvTranspose
from gawee_dialect.passes.graph.lower_to_linalg.elementwise import LowerElementwise
from gawee_dialect.passes.graph.lower_to_linalg.equations import LowerEquations
from gawee_dialect.passes.graph.lower_to_linalg.gather import (
    LowerGather,
    LowerGatherElements,
    LowerGatherNd,
)
from gawee_dialect.passes.graph.lower_to_linalg.grid_sample import LowerGridSample
from gawee_dialect.passes.graph.lower_to_linalg.matmul import LowerBatchMatMul, LowerMatMul
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import named_values
from gawee_dialect.passes.graph.lower_to_linalg.order import LowerOrder
from gawee_dialect.passes.graph.lower_to_linalg.pool import (
    LowerAdAvgPool,
    LowerAdMaxPool,
    LowerAvgPool,
    LowerMaxPool,
)
from gawee_dialect.passes.graph.lower_to_linalg.reduction import LowerArg, LowerCumSum
from gawee_dialect.passes.graph.lower_to_linalg.resize import LowerInterpolate
from gawee_dialect.passes.graph.lower_to_linalg.scan import LowerScan
from gawee_dialect.passes.graph.lower_to_linalg.scatter import (
    LowerNonMaxSuppression,
    LowerScatterElements,
    LowerScatterNd,
)
from gawee_dialect.passes.graph.lower_to_linalg.shape import (
    LowerCat,
    LowerConstant,
    LowerIdentity,
    LowerInsertSlice,
    LowerPad,
    LowerReshape,
    LowerSlice,
    LowerTile,
    LowerTranspose,
)
from gawee_dialect.passes.numerics import REASSOCIATES, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass

# What can't be lowered: described ops whose meaning is a Python function, or none.


class RejectNamedMeaning(Pattern):
    """an op with a Python function for a meaning -> declined: nothing compiles Python"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NamedMeaningOp, rewriter: PatternRewriter) -> None:
        if op.has_function():
            reason = "its meaning is a Python function, which runs in the interpreter alone"
            self.missed(op, f"{reason}; a 'body', 'mlir' or 'run' in its description is compiled")
        else:
            self.missed(op, "expected ops of the core set, which lower-opdesc makes")


# What can't be lowered: Python values that a tracer left behind.


class RejectPythonValue(Pattern):
    """gawee.getattr, gawee.getitem -> declined: a Python value has no tensor meaning"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GetAttrOp | GetItemOp, rewriter: PatternRewriter) -> None:
        self.missed(op, "leftover Python value; canonicalize folds those that are known")


@dataclass(frozen=True)
class LowerToLinalg(RewritePass):
    """Lower every gawee op to linalg, tensor, arith and math ops on tensors.

    Scatters become `scf.for` loops, for no structured op writes at computed positions, and so do
    non-maximum suppression, running sums, sorting of long rows and scans, whose steps read what
    those before them wrote. The loop of a scan is marked `gawee.scan`: its body is a step, of ops
    on whole tensors.

    What comes out is accepted by upstream's `mlir-opt` as it is. Every linalg op writes into the
    tensor of its `outs`; functions and the marks on their arguments stay.

    Requires: no Python values are left (`canonicalize` folds those that a tracer leaves behind).

    rewrite:
        %y = gawee.matmul %x, %w bias %b
        ->  %e = tensor.empty()
            %init = linalg.broadcast ins(%b) outs(%e) dimensions = [0]
            %y = linalg.matmul indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (n, k),
                                                (m, n, k) -> (m, n)] ins(%x, %w) outs(%init)
    """

    name = "lower-to-linalg"
    numerics: ClassVar[Numerics] = REASSOCIATES
    takes_open_sizes: ClassVar[bool] = True
    patterns = (
        LowerConv,
        LowerConvTranspose,
        LowerMatMul,
        LowerBatchMatMul,
        LowerAttention,
        LowerElementwise,
        LowerArg,
        LowerCumSum,
        LowerMaxPool,
        LowerAvgPool,
        LowerAdAvgPool,
        LowerAdMaxPool,
        LowerInterpolate,
        LowerGridSample,
        LowerReshape,
        LowerCat,
        LowerTranspose,
        LowerTile,
        LowerSlice,
        LowerInsertSlice,
        LowerPad,
        LowerGather,
        LowerGatherElements,
        LowerGatherNd,
        LowerScatterElements,
        LowerScatterNd,
        LowerOrder,
        LowerNonMaxSuppression,
        LowerScan,
        LowerIdentity,
        LowerConstant,
        LowerEquations,
        RejectPythonValue,
        RejectNamedMeaning,
    )
    removes = (*GRAPH_LEVEL, EquationOp, NamedMeaningOp)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with named_values(op):
            super().apply(ctx, op)
