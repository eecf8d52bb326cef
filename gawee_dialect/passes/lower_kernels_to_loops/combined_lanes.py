"""What the lanes of a reduction have accumulated, combined to one number."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, FloatAttr, VectorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.analysis.combiners import KINDS, combiner_of, neutral
from gawee_dialect.dialect.kernel import KernelOp, Number
from gawee_dialect.hints import isa

PAIR = 2
"""Lanes that are combined in one step."""


def _combiner(op: KernelOp) -> Operation:
    combiner = combiner_of(op)
    assert combiner is not None, "checked before the nest is built"
    return combiner


def neutral_number(op: KernelOp) -> Number:
    """Return what leaves every number of the accumulator's type as it is."""
    assert op.initial is not None
    found = neutral(_combiner(op), op.initial.get_type())
    assert found is not None
    return found


def across_lanes(builder: Builder, op: KernelOp, totals: Sequence[SSAValue]) -> SSAValue:
    """Combine vectors by pairs, their lanes, and the initial value where that is not neutral."""
    initial = op.initial
    assert initial is not None
    while len(totals) > 1:
        pairs = zip(totals[::2], totals[1::2], strict=False)
        left = totals[len(totals) // 2 * 2 :]
        totals = [*(_combine(builder, op, *pair) for pair in pairs), *left]
    total = _folded(builder, op, totals[0])
    assert isa(total.type, VectorType[Attribute])
    element = total.type.element_type
    kind = vector.CombiningKindAttr(KINDS[type(_combiner(op))])
    reduced = builder.insert(
        vector.ReductionOp.create(
            operands=[total], result_types=[element], properties={"kind": kind}
        )
    ).results[0]
    if neutral_number(op) == initial:
        return reduced
    if isinstance(initial, FloatAttr) and isinstance(element, AnyFloat):
        initial = FloatAttr(initial.value.data, element)
    return _combine(builder, op, builder.insert(arith.ConstantOp(initial)).result, reduced)


def _folded(builder: Builder, op: KernelOp, total: SSAValue) -> SSAValue:
    """Combine the halves of a vector of floats until two lanes are left.

    A reduction of floats takes one lane after the other, each when the one before is done.
    """
    while isinstance(_combiner(op), arith.AddfOp | arith.MulfOp):
        assert isa(total.type, VectorType[Attribute])
        (lanes,) = total.type.get_shape()
        if lanes <= PAIR or lanes % 2:
            break
        half = VectorType(total.type.element_type, [lanes // 2])
        parts = [
            builder.insert(
                vector.ShuffleOp(
                    total,
                    total,
                    DenseArrayBase.from_list(i64, range(first, first + lanes // 2)),
                    result_type=half,
                )
            ).result
            for first in (0, lanes // 2)
        ]
        total = _combine(builder, op, *parts)
    return total


def _combine(builder: Builder, op: KernelOp, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    combiner = _combiner(op)
    made = type(combiner).create(
        operands=[lhs, rhs], result_types=[lhs.type], properties=dict(combiner.properties)
    )
    return builder.insert(made).results[0]
