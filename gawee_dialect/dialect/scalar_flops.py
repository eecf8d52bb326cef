"""How much arithmetic the scalar ops in the bodies of kernels are."""

from functools import cache

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation

# What is of other dialects is imported where it is asked for: most modules that are read have no
# kernels, and no ops of them.


@cache
def _no_arithmetic() -> tuple[type[Operation], ...]:
    """Return the scalar ops that count nothing: they choose, convert or compare."""
    from xdsl.dialects import arith

    from gawee_dialect.dialect.arith import ON_VECTORS

    others = (op for pair in ON_VECTORS.items() for op in pair)
    return (arith.ConstantOp, arith.BitcastOp, arith.ExtFOp, arith.TruncFOp, *others)


def scalar_flops(op: Operation) -> int:
    """Return the FLOPs of a scalar op: one for each arithmetic op on elements.

    A fused multiply-add is two, and an elementary function one. Arithmetic on indices computes
    where, not what: it counts nothing.
    """
    if op.dialect_name() not in ("arith", "math") or isinstance(op, _no_arithmetic()):
        return 0
    if isinstance(op.results[0].type, IndexType):
        return 0
    return 2 if op.name == "math.fma" else 1
