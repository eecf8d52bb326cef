"""Write named ops of linalg out as `linalg.generic`."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp as XdslGenericOp
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.passes.numerics import EXACT, Numerics
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass
from gawee_dialect.upstream.linalg import BroadcastOp, GenericOp
from gawee_dialect.upstream.linalg.named_op import element_shape


class GeneralizeNamedOp(Pattern):
    """linalg.matmul, linalg.reduce, ... -> linalg.generic with the same maps, loops and body"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LinalgStructuredOperation, rewriter: PatternRewriter) -> None:
        if isinstance(op, XdslGenericOp):
            self.missed(op, "expected an op with a name of its own")
            return
        generic = GenericOp(
            op.inputs,
            op.outputs,
            op.body.clone(),
            op.get_indexing_maps(),
            op.get_iterator_types(),
            op.res.types,
        )
        rewriter.replace(op, generic)


class GeneralizeBroadcast(Pattern):
    """linalg.broadcast -> linalg.generic that reads without the added dimensions"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: PatternRewriter) -> None:
        added = op.dimensions.get_values()
        rank = len(added) + len(element_shape(op.input))
        kept = tuple(AffineDimExpr(dim) for dim in range(rank) if dim not in added)
        maps = AffineMap(rank, 0, kept), AffineMap.identity(rank)
        generic = GenericOp(
            (op.input,),
            (op.init,),
            op.hidden_region.clone(),
            ArrayAttr(AffineMapAttr(map) for map in maps),
            ArrayAttr([IteratorTypeAttr.parallel()] * rank),
            op.result.types,
        )
        rewriter.replace(op, generic)


@dataclass(frozen=True)
class LinalgGeneralizeNamedOps(RewritePass):
    """Write named ops of linalg out as `linalg.generic`.

    rewrite:
        linalg.matmul ins(%a, %b) outs(%c)
        ->
        linalg.generic {indexing_maps = [(m, n, k) -> (m, k), ...]} ins(%a, %b) outs(%c) {
          arith.mulf; arith.addf; linalg.yield
        }
    """

    name = "linalg-generalize-named-ops"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    patterns = (GeneralizeNamedOp, GeneralizeBroadcast)
    removes = (BroadcastOp,)
    revisits: ClassVar[bool] = False
