"""Scalar bodies of comparisons, choices, bits and conversions."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import SSAValue

from gawee_dialect.dialect.bitwise import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    LogicalNotOp,
)
from gawee_dialect.dialect.cast import BitcastOp, CastOp
from gawee_dialect.dialect.comparison import CompareOp, IsNanOp, WhereOp
from gawee_dialect.dialect.elementwise import ElementwiseOp
from gawee_dialect.dialect.types import element_type
from gawee_dialect.hints import isa
from gawee_dialect.passes.lower_to_linalg.bodies import ScalarBody, binary, body_of, unary
from gawee_dialect.passes.lower_to_linalg.conversions import bits_as, converted
from gawee_dialect.passes.lower_to_linalg.scalars import Scalars


def _compare(scalars: Scalars, args: Sequence[SSAValue], op: CompareOp) -> SSAValue:
    return scalars.compare(op.predicate.data, args[0], args[1])


def _where(scalars: Scalars, args: Sequence[SSAValue], op: WhereOp) -> SSAValue:
    return scalars.select(*args)


def _cast(scalars: Scalars, args: Sequence[SSAValue], op: CastOp) -> SSAValue:
    return converted(scalars, args[0], element_type(op.result))


def _bitcast(scalars: Scalars, args: Sequence[SSAValue], op: BitcastOp) -> SSAValue:
    return bits_as(scalars, args[0], element_type(op.result))


def _not(scalars: Scalars, value: SSAValue) -> SSAValue:
    assert isa(value.type, IntegerType)
    every_bit = 1 if value.type == i1 else -1
    return scalars.different(value, scalars.constant(every_bit, value.type))


CHOICES: Mapping[type[ElementwiseOp], ScalarBody] = {
    CompareOp: body_of(CompareOp, _compare),
    IsNanOp: unary(Scalars.is_nan),
    WhereOp: body_of(WhereOp, _where),
    CastOp: body_of(CastOp, _cast),
    BitcastOp: body_of(BitcastOp, _bitcast),
    LogicalNotOp: unary(_not),
    BitwiseNotOp: unary(_not),
    BitwiseAndOp: binary(Scalars.both),
    BitwiseOrOp: binary(Scalars.either),
    BitwiseXorOp: binary(Scalars.different),
}
"""What ops on truth values, bits and types do to elements."""
