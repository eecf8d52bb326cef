"""A matrix product that takes a weight for its transpose."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass

from gawee_dialect.upstream.linalg import MatmulOp


@dataclass(frozen=True)
class WrongMatmulMap(ModulePass):
    """Read B as (k, n) where it is stored as (n, k); square weights hide it from the verifier."""

    name = "wrong-matmul-map"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plain = AffineMapAttr(AffineMap.from_callable(lambda m, n, k: (k, n)))
        for matmul in op.walk():
            if isinstance(matmul, MatmulOp):
                lhs, _, out = (map.data for map in matmul.get_indexing_maps())
                maps = [AffineMapAttr(lhs), plain, AffineMapAttr(out)]
                matmul.properties["indexing_maps"] = ArrayAttr(maps)
