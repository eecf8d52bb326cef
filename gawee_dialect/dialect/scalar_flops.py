"""How much arithmetic the scalar ops in the bodies of kernels are."""

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation

from gawee_dialect.dialect.arith import ON_VECTORS

NO_ARITHMETIC = (
    *(arith.ConstantOp, arith.BitcastOp, arith.ExtFOp, arith.TruncFOp),
    *(op for pair in ON_VECTORS.items() for op in pair),
)
"""Scalar ops that count nothing: they choose, convert or compare."""


def scalar_flops(op: Operation) -> int:
    """Return the FLOPs of a scalar op: one for each arithmetic op on elements.

    A fused multiply-add is two, and an elementary function one. Arithmetic on indices computes
    where, not what: it counts nothing.
    """
    if op.dialect_name() not in ("arith", "math") or isinstance(op, NO_ARITHMETIC):
        return 0
    if isinstance(op.results[0].type, IndexType):
        return 0
    return 2 if isinstance(op, math.FmaOp) else 1
