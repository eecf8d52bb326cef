"""Ops that combine an accumulator with a value, and what they leave as it is."""

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from gawee_dialect.dialect.kernel import Number
from gawee_dialect.hints import isa

INFINITY = float("inf")

FLOATS: dict[type[Operation], float] = {
    arith.AddfOp: 0,
    arith.MulfOp: 1,
    arith.MaximumfOp: -INFINITY,
    arith.MinimumfOp: INFINITY,
    arith.MaxnumfOp: -INFINITY,
    arith.MinnumfOp: INFINITY,
}

INTEGERS: dict[type[Operation], Callable[[int], int]] = {
    # From the number of bits.
    arith.AddiOp: lambda bits: 0,
    arith.MuliOp: lambda bits: 1,
    arith.MaxSIOp: lambda bits: -(1 << (bits - 1)),
    arith.MinSIOp: lambda bits: (1 << (bits - 1)) - 1,
    arith.AndIOp: lambda bits: -1,
    arith.OrIOp: lambda bits: 0,
    arith.XOrIOp: lambda bits: 0,
}


def neutral(op: Operation, type: Attribute) -> Number | None:
    """Return the number that an op leaves every other number of a type as it is with.

    None where the op does not combine numbers in any order to the same result.
    """
    if isinstance(type, AnyFloat) and op.__class__ in FLOATS:
        return FloatAttr(FLOATS[op.__class__], type)
    if isa(type, IntegerType) and op.__class__ in INTEGERS:
        return IntegerAttr(INTEGERS[op.__class__](type.width.data), type)
    return None
