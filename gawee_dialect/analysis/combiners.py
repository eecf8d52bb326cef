"""Ops that combine an accumulator with a value, and what they leave as it is."""

from collections.abc import Callable, Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation, Region

from gawee_dialect.dialect.kernels.kernel import KernelOp, Number
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


KINDS: Mapping[type[Operation], CombiningKindFlag] = {
    arith.AddfOp: CombiningKindFlag.ADD,
    arith.AddiOp: CombiningKindFlag.ADD,
    arith.MulfOp: CombiningKindFlag.MUL,
    arith.MuliOp: CombiningKindFlag.MUL,
    arith.MaximumfOp: CombiningKindFlag.MAXIMUMF,
    arith.MinimumfOp: CombiningKindFlag.MINIMUMF,
    arith.MaxSIOp: CombiningKindFlag.MAXSI,
    arith.MinSIOp: CombiningKindFlag.MINSI,
    arith.AndIOp: CombiningKindFlag.AND,
    arith.OrIOp: CombiningKindFlag.OR,
    arith.XOrIOp: CombiningKindFlag.XOR,
}
"""How lanes are combined that an op has accumulated."""


DIVISIONS = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, arith.FloorDivSIOp)


def divides_integers(region: Region) -> bool:
    """Whether a region traps where a number is zero."""
    return any(isinstance(op, DIVISIONS) for op in region.walk())


def combiner_of(kernel: KernelOp) -> Operation | None:
    """Return the op that combines a kernel's accumulator with what does not depend on it.

    None where `accumulate` does anything else, or not in any order: then lanes cannot share it.
    Nor can they a division of integers, since lanes without a point would divide by zero.
    """
    if not kernel.accumulate.blocks or divides_integers(kernel.accumulate):
        return None
    accumulator = kernel.accumulate.block.args[-1]
    combine = kernel.yielded(kernel.accumulate).owner
    if not isinstance(combine, Operation) or accumulator not in combine.operands:
        return None
    return combine if type(combine) in KINDS and accumulator.has_one_use() else None
