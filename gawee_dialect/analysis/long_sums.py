"""In which type a sum is taken: the one place that decides, for every level.

A sum of n numbers of one sign that is taken one after the other is off by up to n roundings, since
what is added is small beside what is there. So long sums of f32 have their total in f64: plain
loops and the interpreter add each term to it, kernels the sums of blocks.
"""

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, bf16, f16, f32, f64
from xdsl.ir import Attribute, Operation

from gawee_dialect.dialect.types import LONG_SUM

TERMS_IN_BLOCK = 16
"""How many terms an accumulator of a kernel takes before it is added to the total.

As many as in a pairwise sum. It hides behind the loads: such a sum reads more than it computes.
"""

PRODUCTS_IN_BLOCK = 64
"""The same for products of two operands, whose tiles have many accumulators.

Long products take 5 to 9 % longer so, and no less than 4 % with blocks of 512.
"""


def total_type(
    combiner: Operation | None, accumulator: Attribute | None, terms: int
) -> AnyFloat | None:
    """Return a wider type than its accumulator's that a reduction needs a total in.

    f32 for sums of f16 and bf16, f64 for long ones of f32; None for all other reductions.
    """
    if not isinstance(combiner, arith.AddfOp):
        return None
    if accumulator in (f16, bf16) and terms > 1:
        return f32
    return f64 if accumulator == f32 and terms > LONG_SUM else None
