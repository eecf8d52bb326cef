"""Reductions whose order is free, so that every lane of a vector can take a part of one."""

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Operation

from gawee_dialect.dialect.kernel import KernelOp, Number
from gawee_dialect.hints import isa

KINDS: Mapping[type[Operation], CombiningKindFlag] = {
    arith.AddfOp: CombiningKindFlag.ADD,
    arith.AddiOp: CombiningKindFlag.ADD,
    arith.MulfOp: CombiningKindFlag.MUL,
    arith.MuliOp: CombiningKindFlag.MUL,
    arith.MaximumfOp: CombiningKindFlag.MAXIMUMF,
    arith.MinimumfOp: CombiningKindFlag.MINIMUMF,
    arith.MaxSIOp: CombiningKindFlag.MAXSI,
    arith.MinSIOp: CombiningKindFlag.MINSI,
}
NEUTRAL: Mapping[CombiningKindFlag, int] = {CombiningKindFlag.ADD: 0, CombiningKindFlag.MUL: 1}


def combiner_kind(op: KernelOp) -> CombiningKindFlag | None:
    """Return how a kernel combines its accumulator with values that do not depend on it.

    None where `accumulate` does anything else with the accumulator.
    """
    if not op.accumulate.blocks:
        return None
    accumulator = op.accumulate.block.args[-1]
    combine = op.yielded(op.accumulate).owner
    if not isinstance(combine, Operation) or accumulator not in combine.operands:
        return None
    return KINDS.get(type(combine)) if accumulator.has_one_use() else None


def neutral(op: KernelOp) -> Number | None:
    """Return what leaves every value as it is; None where starting again is harmless.

    The greatest of values does not change where the initial value is taken twice.
    """
    kind, initial = combiner_kind(op), op.initial
    if kind is None or kind not in NEUTRAL or initial is None:
        return None
    if isinstance(initial, FloatAttr):
        type = initial.get_type()
        assert isinstance(type, AnyFloat)
        return FloatAttr(NEUTRAL[kind], type)
    assert isa(initial, IntegerAttr)
    return IntegerAttr(NEUTRAL[kind], initial.type)
