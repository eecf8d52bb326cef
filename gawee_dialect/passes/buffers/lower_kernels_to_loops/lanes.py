"""A scalar body run on vectors: what is equal in every lane stays scalar."""

from collections.abc import Mapping, Sequence
from math import isnan

from xdsl.builder import Builder
from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, FloatAttr, VectorType, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue

from gawee_dialect.analysis.kernel_kind import KINDS, combiner_of, neutral
from gawee_dialect.dialect.kernels.kernel import KernelOp, Number, YieldOp
from gawee_dialect.dialect.types import vector_of
from gawee_dialect.hints import isa
from gawee_dialect.upstream import arith as vector_arith
from gawee_dialect.upstream.arith import ON_VECTORS, arithmetic, number_constant


def broadcast(builder: Builder, value: SSAValue, lanes: int) -> SSAValue:
    """Return a value in every lane; vectors, and all values where there is one lane, stay."""
    if lanes == 1 or isinstance(value.type, VectorType):
        return value
    made = vector.BroadcastOp.create(
        operands=(value,), result_types=(vector_of(value.type, lanes),)
    )
    return builder.insert(made).vector


def run_region(
    builder: Builder, region: Region, arguments: Mapping[SSAValue, SSAValue], lanes: int
) -> SSAValue:
    """Insert a region's ops on scalars or vectors and return what it yields.

    arith.addf %sum, (arith.mulf %a, %b) -> math.fma %a, %b, %sum, which is rounded once.
    """
    values = dict(arguments)
    for op in region.block.ops:
        if isinstance(op, YieldOp):
            return values.get(op.values[0], op.values[0])
        if _is_fused(op):
            continue
        factors = _fused_product(op)
        bound = _constant_bound(op)
        if bound is not None:
            value, limit = (values.get(each, each) for each in bound)
            values[op.results[0]] = _bounded(builder, op, value, limit, lanes)
        elif factors is not None:
            lhs, rhs, addend = (values.get(value, value) for value in factors)
            values[op.results[0]] = _fma(builder, lhs, rhs, addend, lanes)
        else:
            values[op.results[0]] = _apply(builder, op, values, lanes)
    raise AssertionError("a region of a kernel ends in gawee.yield")


def _apply(
    builder: Builder, op: Operation, values: Mapping[SSAValue, SSAValue], lanes: int
) -> SSAValue:
    operands = [values.get(value, value) for value in op.operands]
    types: list[Attribute] = [result.type for result in op.results]
    if any(isinstance(value.type, VectorType) for value in operands):
        operands = [broadcast(builder, value, lanes) for value in operands]
        types = [vector_of(type, lanes) for type in types]
    op_type: type[Operation] = type(op)
    if any(isinstance(type, VectorType) for type in types):
        op_type = ON_VECTORS.get(op_type, op_type)
    new = op_type.create(
        operands=operands,
        result_types=types,
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    return builder.insert(new).results[0]


def _constant_bound(op: Operation) -> tuple[SSAValue, SSAValue] | None:
    """Return the value and the constant, no NaN, that an op takes the maximum or minimum of."""
    if not isinstance(op, arith.MaximumfOp | arith.MinimumfOp):
        return None
    for value, bound in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        owner = bound.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, FloatAttr):
            return None if isnan(owner.value.value.data) else (value, bound)
    return None


def _bounded(
    builder: Builder, op: Operation, value: SSAValue, bound: SSAValue, lanes: int
) -> SSAValue:
    """Insert bound > x ? bound : x, one instruction on x86, which leaves a NaN where it is."""
    predicate = "ogt" if isinstance(op, arith.MaximumfOp) else "olt"
    if isinstance(value.type, VectorType):
        bound = broadcast(builder, bound, lanes)
        compared = builder.insert(vector_arith.CmpfOp(bound, value, predicate)).results[0]
        return builder.insert(vector_arith.SelectOp(compared, bound, value)).result
    compared = builder.insert(arith.CmpfOp(bound, value, predicate)).result
    return builder.insert(arith.SelectOp(compared, bound, value)).result


def _fma(builder: Builder, lhs: SSAValue, rhs: SSAValue, addend: SSAValue, lanes: int) -> SSAValue:
    operands = (lhs, rhs, addend)
    if any(isinstance(value.type, VectorType) for value in operands):
        lhs, rhs, addend = (broadcast(builder, value, lanes) for value in operands)
    return arithmetic(builder, math.FmaOp, lhs, rhs, addend)


def _fused_product(op: Operation) -> tuple[SSAValue, SSAValue, SSAValue] | None:
    """Return the factors and the addend of a sum that is added to a product of its own."""
    if not isinstance(op, arith.AddfOp):
        return None
    for product, addend in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if isinstance(product.owner, arith.MulfOp) and product.owner.parent is op.parent:
            if product.has_one_use() and isinstance(product.type, AnyFloat):
                return product.owner.lhs, product.owner.rhs, addend
    return None


def _is_fused(op: Operation) -> bool:
    """Whether a product is part of a sum."""
    if not isinstance(op, arith.MulfOp) or not op.result.has_one_use():
        return False
    (use,) = op.result.uses
    factors = _fused_product(use.operation)
    return factors is not None and factors[:2] == (op.lhs, op.rhs)


# What the lanes of a reduction have accumulated, combined to one number.

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
    return _combine(builder, op, builder.insert(number_constant(initial)).result, reduced)


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
