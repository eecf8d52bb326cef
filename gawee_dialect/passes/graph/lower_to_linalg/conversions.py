"""Conversion of scalars between element types, and the types that bodies compute in."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    IntegerType,
    UnrealizedConversionCastOp,
    i1,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.types import computed_type, is_unsigned
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.scalars import Scalars


def converted(scalars: Scalars, value: SSAValue, type: Attribute) -> SSAValue:
    """Convert a scalar between two element types, as `gawee.cast` says."""
    if value.type == type:
        return value
    if is_unsigned(value.type):
        value = _without_sign(scalars, value)
        return converted(scalars, scalars.emit(arith.ExtUIOp(value, i32)), type)
    if is_unsigned(type):
        assert isa(type, IntegerType)
        signless = IntegerType(type.width.data)
        narrow = converted(scalars, value, signless)
        return scalars.emit(UnrealizedConversionCastOp.get([narrow], [type]))
    if type == i1:
        return scalars.compare("ne", value, scalars.constant(0, value.type))
    if isinstance(value.type, AnyFloat):
        return _from_float(scalars, value, type)
    assert isa(value.type, IntegerType)
    return _from_integer(scalars, value, value.type, type)


def bits_as(scalars: Scalars, value: SSAValue, type: Attribute) -> SSAValue:
    """Take the bits of a scalar as those of another type of as many, as `gawee.bitcast` says."""
    if is_unsigned(value.type):
        value = _without_sign(scalars, value)
    signless = type
    if is_unsigned(type):
        assert isa(type, IntegerType)
        signless = IntegerType(type.width.data)
    if value.type != signless:
        value = scalars.emit(arith.BitcastOp(value, signless))
    if signless != type:
        value = scalars.emit(UnrealizedConversionCastOp.get([value], [type]))
    return value


def _without_sign(scalars: Scalars, value: SSAValue) -> SSAValue:
    assert isa(value.type, IntegerType)
    signless = IntegerType(value.type.width.data)
    return scalars.emit(UnrealizedConversionCastOp.get([value], [signless]))


def _from_float(scalars: Scalars, value: SSAValue, type: Attribute) -> SSAValue:
    assert isinstance(value.type, AnyFloat)
    if isinstance(type, AnyFloat):
        widens = type.bitwidth > value.type.bitwidth
        return scalars.emit((arith.ExtFOp if widens else arith.TruncFOp)(value, type))
    assert isa(type, IntegerType)
    if type.width.data >= 32:
        return scalars.emit(arith.FPToSIOp(value, type))
    return scalars.emit(arith.TruncIOp(scalars.emit(arith.FPToSIOp(value, i32)), type))


def _from_integer(
    scalars: Scalars, value: SSAValue, source: IntegerType, type: Attribute
) -> SSAValue:
    if isinstance(type, AnyFloat):
        to_float = arith.UIToFPOp if source == i1 else arith.SIToFPOp
        return scalars.emit(to_float(value, type))
    assert isa(type, IntegerType)
    if type.width.data < source.width.data:
        return scalars.emit(arith.TruncIOp(value, type))
    return scalars.emit((arith.ExtUIOp if source == i1 else arith.ExtSIOp)(value, type))


def opened(scalars: Scalars, value: SSAValue) -> SSAValue:
    """Convert an element to the type that it is computed in."""
    return converted(scalars, value, computed_type(value.type))
