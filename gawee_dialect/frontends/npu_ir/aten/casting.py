"""Ops that change the element type or nothing at all, and those that only assert.

Quantized numbers are rounded to those that a quantized tensor can hold.
"""

from collections.abc import Sequence
from math import inf
from typing import TypeGuard

import numpy as np
from xdsl.dialects.builtin import IntegerType, bf16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.arithmetic import AbsOp, FloorDivOp, ReciprocalOp, RoundOp
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, broadcast_shape
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, BitwiseOrOp, IsNanOp, WhereOp
from gawee_dialect.dialect.graph.quantization import DequantizeOp, QuantizeOp, axis_map
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.types import (
    element_bytes,
    element_type,
    integer_range,
    is_byte,
    is_float,
    tensor_shape,
)
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, mul, sub
from gawee_dialect.frontends.npu_ir.aten.comparison import clamp, compared
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import (
    Emitter,
    as_element,
    axis_of,
    dtype_element,
    promoted,
    stacked,
    to_bool,
)
from gawee_dialect.frontends.op_mapping.registry import Operand, Refusal
from gawee_dialect.hints import isa


@register_op("aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten._to_copy")
def to(emit: Emitter, self: SSAValue, dtype: str | None = None) -> SSAValue:
    """Cast; where and how the tensor is stored does not count."""
    return self if dtype is None else emit.cast(self, dtype_element(dtype))


@register_op("prims.convert_element_type")
def convert_element_type(emit: Emitter, a: SSAValue, dtype: str) -> SSAValue:
    """Cast."""
    return emit.cast(a, dtype_element(dtype))


@register_op("aten.to.other", "aten.type_as")
def type_as(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """Cast to the element type of another tensor."""
    return emit.cast(self, element_type(other))


@register_op("aten.alias", "aten.detach", "aten.lift", "aten.lift_fresh", "aten.lift_fresh_copy")
@register_op("aten.lift_fresh_copy", "aten.resolve_conj", "aten.resolve_neg", "aten.alias_copy")
@register_op("aten.detach_copy", "aten.positive", "aten.clone", "aten.contiguous")
def alias(emit: Emitter, self: SSAValue) -> SSAValue:
    """The tensor itself"""
    return self


# Bits as elements of another type: integers of as many bits, put together or taken apart.


def _bits(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return the bits of elements as signless integers of as many."""
    element = element_type(value)
    if element == i1:
        return emit.cast(value, i8)
    whole = IntegerType(8 * element_bytes(element))
    if element == bf16:  # the upper half of a float32
        wide = emit(BitcastOp(emit.cast(value, f32), i32))
        return emit.cast(emit(FloorDivOp(wide, emit.number(1 << 16, i32))), whole)
    return emit(BitcastOp(value, whole)) if is_float(element) else emit.cast(value, whole)


def _from_bits(emit: Emitter, bits: SSAValue, element: Attribute) -> SSAValue:
    if element == bf16:
        upper = emit(MulOp(emit.cast(bits, i32), emit.number(1 << 16, i32)))
        return emit.cast(emit(BitcastOp(upper, f32)), bf16)
    return emit(BitcastOp(bits, element)) if is_float(element) else emit.cast(bits, element)


def _taken_apart(emit: Emitter, bits: SSAValue, width: int) -> SSAValue:
    """Return integers of fewer bits, the lowest first, along a last axis that is longer."""
    element = element_type(bits)
    count = 8 * element_bytes(element) // width
    powers = (emit.number(1 << (width * place), element) for place in range(count))
    parts = [emit.cast(emit(FloorDivOp(bits, each)), IntegerType(width)) for each in powers]
    *lead, size = tensor_shape(bits)
    return emit.reshape(stacked(emit, parts, len(lead) + 1), (*lead, size * count))


def _put_together(emit: Emitter, bits: SSAValue, width: int) -> SSAValue:
    """Return integers of more bits from the elements along a shorter last axis."""
    narrow, element = 8 * element_bytes(element_type(bits)), IntegerType(width)
    count = width // narrow
    *lead, size = tensor_shape(bits)
    if size % count:
        raise Refusal(f"expected a last axis of a multiple of {count} elements, got {size}")
    shape = (*lead, size // count)
    wide = emit(BitwiseAndOp(emit.cast(bits, element), emit.number((1 << narrow) - 1, element)))
    rows = emit.reshape(wide, (*shape, count))
    powers = np.array([1 << (narrow * place) for place in range(count)], np.int64)
    placed = emit(MulOp(rows, emit.array(powers, element)))
    return emit(ReduceSumOp(placed, axes=[len(shape)], keep_dims=False))


@register_op("aten.view.dtype")
def view_dtype(emit: Emitter, self: SSAValue, dtype: str) -> SSAValue:
    """The bits of the elements as elements of another type; the last axis has more or fewer"""
    element = bf16 if dtype.endswith("bfloat16") else dtype_element(dtype)
    if element_type(self) == element:
        return self
    width, given = (8 * element_bytes(each) for each in (element, element_type(self)))
    bits = _bits(emit, self)
    if width < given:
        bits = _taken_apart(emit, bits, width)
    elif width > given:
        bits = _put_together(emit, bits, width)
    return _from_bits(emit, bits, element)


@register_op("aten.nextafter")
def nextafter(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The number beside an element, on the way to another"""
    lhs, rhs = promoted(emit, self, other)
    element = element_type(lhs)
    shape = broadcast_shape(tensor_shape(lhs), tensor_shape(rhs))
    bits = _bits(emit, emit.broadcast(lhs, shape))
    if element == bf16:  # nothing is computed in it
        lhs, rhs = emit.cast(lhs, f32), emit.cast(rhs, f32)
    # From zero away the bits of a number, without its sign, count up.
    outward = compared(emit, compared(emit, lhs, rhs, "lt"), compared(emit, lhs, 0.0, "gt"), "eq")
    beside = emit(WhereOp(outward, add(emit, bits, 1), sub(emit, bits, 1)))
    zero, up = compared(emit, lhs, 0.0, "eq"), compared(emit, rhs, 0.0, "gt")
    whole = element_type(bits)
    least = (emit.number(each, whole) for each in (1, 1 - (1 << (8 * element_bytes(element) - 1))))
    beside = emit(WhereOp(zero, emit(WhereOp(up, *least)), beside))
    found = emit.cast(_from_bits(emit, beside, element), element_type(lhs))
    found = emit(WhereOp(compared(emit, lhs, rhs, "eq"), rhs, found))
    # A sum with what is no number is none.
    none = emit(BitwiseOrOp(emit(IsNanOp(lhs)), emit(IsNanOp(rhs))))
    return emit.cast(emit(WhereOp(none, emit(AddOp(lhs, rhs)), found)), element)


@register_op("aten.frexp.Tensor")
def frexp(emit: Emitter, self: SSAValue) -> Sequence[SSAValue]:
    """A number from 1/2 to 1, and the power of 2 that makes the element of it"""
    element = element_type(self)
    wide = element if element == f64 else f32
    value = emit.cast(self, wide)
    fraction, bias, whole = (52, 1022, i64) if wide == f64 else (23, 126, i32)
    size = emit(AbsOp(value))
    small = compared(emit, size, 2.0 ** (1 - bias), "lt")
    normal = emit(WhereOp(small, mul(emit, value, 2.0**fraction), value))
    bits = _bits(emit, normal)
    exponents = ((1 << (8 * element_bytes(wide) - 1 - fraction)) - 1) << fraction
    field = emit(BitwiseAndOp(bits, emit.number(exponents, whole)))
    power = sub(emit, emit(FloorDivOp(field, emit.number(1 << fraction, whole))), bias)
    power = emit(WhereOp(small, sub(emit, power, fraction), power))
    rest = emit(BitwiseAndOp(bits, emit.number(~exponents, whole)))
    part = _from_bits(emit, emit(BitwiseOrOp(rest, emit.number(bias << fraction, whole))), wide)
    plain = emit(BitwiseAndOp(compared(emit, size, 0.0, "gt"), compared(emit, size, inf, "lt")))
    part = emit(WhereOp(plain, part, value))
    power = emit(WhereOp(plain, power, emit.number(0, whole)))
    return emit.cast(part, element), emit.cast(power, i32)


@register_op("aten.dropout", "aten.feature_dropout", "aten.alpha_dropout")
@register_op("aten.feature_alpha_dropout")
def dropout(emit: Emitter, input: SSAValue, p: float, train: bool) -> SSAValue:
    """The tensor itself: nothing is dropped at inference"""
    if train and p > 0:
        raise Refusal(
            "unsupported dropout with train=True; supported: train=False",
            hint="model.eval() before the model is extracted",
        )
    return input


@register_op("aten.native_dropout")
def native_dropout(
    emit: Emitter, input: SSAValue, p: float, train: bool | None
) -> tuple[SSAValue, None]:
    """The tensor itself; the mask of what is dropped is not made"""
    return dropout(emit, input, p, bool(train)), None


@register_op("aten._assert_tensor_metadata")
def assert_tensor_metadata(
    emit: Emitter, a: SSAValue, size: object = None, stride: object = None, dtype: object = None
) -> None:
    """Nothing: shapes and dtypes are checked when the graph is read."""


@register_op("aten._assert_async", "aten._functional_assert_async", "aten._assert_scalar")
@register_op("aten._functional_assert_scalar")
def assert_value(emit: Emitter, self: object = None, assert_msg: object = None) -> None:
    """Nothing: a value that is wrong is not noticed."""


def _along(emit: Emitter, value: SSAValue, self: SSAValue, axis: int) -> SSAValue:
    """Return a value of each position of an axis in a shape that broadcasts with `self`."""
    shape = [1] * len(tensor_shape(self))
    shape[axis_of(self, axis)] = tensor_shape(value)[0]
    return emit.reshape(value, shape)


def fake_quantized(
    emit: Emitter,
    value: SSAValue,
    scale: Operand,
    zero_point: Operand,
    quant_min: int,
    quant_max: int,
) -> tuple[SSAValue, SSAValue]:
    """Return the nearest number of a quantized tensor, and whether that is within its range."""
    element = element_type(value)
    step, zero = as_element(emit, scale, element), as_element(emit, zero_point, element)
    steps = emit(RoundOp(emit(MulOp(value, emit(ReciprocalOp(step))))))
    number = add(emit, steps, zero)
    above = compared(emit, number, quant_min, "ge")
    inside = emit(BitwiseAndOp(above, compared(emit, number, quant_max, "le")))
    limited = clamp(emit, number, quant_min, quant_max)
    return emit(MulOp(sub(emit, limited, zero), step)), inside


@register_op("aten.fake_quantize_per_tensor_affine.default")
@register_op("aten.fake_quantize_per_tensor_affine.tensor_qparams")
def fake_quantize_per_tensor(
    emit: Emitter,
    self: SSAValue,
    scale: Operand,
    zero_point: Operand,
    quant_min: int,
    quant_max: int,
) -> SSAValue:
    """The nearest number that a quantized tensor can hold"""
    return fake_quantized(emit, self, scale, zero_point, quant_min, quant_max)[0]


@register_op("aten.fake_quantize_per_tensor_affine_cachemask")
def fake_quantize_per_tensor_mask(
    emit: Emitter,
    self: SSAValue,
    scale: Operand,
    zero_point: Operand,
    quant_min: int,
    quant_max: int,
) -> Sequence[SSAValue]:
    """The nearest number that a quantized tensor can hold, and whether it is in range"""
    return fake_quantized(emit, self, scale, zero_point, quant_min, quant_max)


@register_op("aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams")
def fake_quantize_if_enabled(
    emit: Emitter,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue,
    fake_quant_enabled: SSAValue,
    quant_min: int,
    quant_max: int,
) -> Sequence[SSAValue]:
    """The nearest number that a quantized tensor can hold, or the number itself"""
    number, inside = fake_quantized(emit, self, scale, zero_point, quant_min, quant_max)
    enabled = emit.reshape(to_bool(emit, fake_quant_enabled), ())
    always = emit.full(tensor_shape(self), 1, element_type(inside))
    return emit(WhereOp(enabled, number, self)), emit(WhereOp(enabled, inside, always))


@register_op("aten.fake_quantize_per_channel_affine_cachemask")
def fake_quantize_per_channel_mask(
    emit: Emitter,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> Sequence[SSAValue]:
    """The nearest number by the scale of each position of an axis, and whether it is in range"""
    scales, zeros = _along(emit, scale, self, axis), _along(emit, zero_point, self, axis)
    return fake_quantized(emit, self, scales, zeros, quant_min, quant_max)


@register_op("aten.fake_quantize_per_channel_affine")
def fake_quantize_per_channel(
    emit: Emitter,
    self: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> SSAValue:
    """The nearest number that a tensor quantized along an axis can hold"""
    mask = fake_quantize_per_channel_mask
    return mask(emit, self, scale, zero_point, axis, quant_min, quant_max)[0]


def _inverse(emit: Emitter, scale: Operand) -> Operand:
    """Return 1 / scale, of one scale, as PyTorch rounds it: in float64, then to float32."""
    if not isinstance(scale, SSAValue):
        return 1.0 / scale
    return emit.cast(emit(ReciprocalOp(emit.cast(emit.reshape(scale, ()), f64))), f32)


def _quantized(
    emit: Emitter,
    input: SSAValue,
    inverse: Operand,
    zero_point: Operand,
    quant_min: int,
    quant_max: int,
    dtype: str,
) -> SSAValue:
    """Return the nearest integers of input * inverse, halves to even, plus the zero point."""
    steps = emit(RoundOp(mul(emit, emit.cast(input, f32), inverse)))
    return to(emit, clamp(emit, add(emit, steps, zero_point), quant_min, quant_max), dtype)


def _ends(element: IntegerType, low: int, high: int) -> tuple[int | None, int | None]:
    """Return the ends of a range as `gawee.quantize` has them: none where they are the type's."""
    least, most = integer_range(element)
    return (None if low <= least else low), (None if high >= most else high)


def _is_short(element: Attribute, zero_point: Operand) -> TypeGuard[IntegerType]:
    """Whether elements are integers of 8 or 16 bits, of which a zero point is one."""
    if not isa(element, IntegerType) or element.width.data not in (8, 16):
        return False
    low, high = integer_range(element)
    return isinstance(zero_point, SSAValue) or low <= zero_point <= high


def _point(emit: Emitter, zero_point: Operand, element: Attribute) -> SSAValue | None:
    """Return a zero point in the element type of what it is of, None for zero."""
    return None if zero_point == 0 else emit.reshape(as_element(emit, zero_point, element), ())


@register_op("quantized_decomposed.quantize_per_tensor")
def quantize_per_tensor(
    emit: Emitter,
    input: SSAValue,
    scale: Operand,
    zero_point: Operand,
    quant_min: int,
    quant_max: int,
    dtype: str,
) -> SSAValue:
    """The nearest integers of a quantized tensor, halves to even, of one scale"""
    element = dtype_element(dtype)
    if _is_short(element, zero_point):
        real, map = emit.cast(input, f32), axis_map(len(tensor_shape(input)))
        step = emit.reshape(as_element(emit, scale, f64), ())
        points = step, _point(emit, zero_point, element)
        low, high = _ends(element, quant_min, quant_max)
        return emit(QuantizeOp(real, *points, element, map, min=low, max=high, reciprocal=True))
    if isinstance(zero_point, SSAValue):
        zero_point = emit.reshape(zero_point, ())
    inverse = _inverse(emit, scale)
    return _quantized(emit, input, inverse, zero_point, quant_min, quant_max, dtype)


@register_op("quantized_decomposed.dequantize_per_tensor")
def dequantize_per_tensor(
    emit: Emitter,
    input: SSAValue,
    scale: Operand,
    zero_point: Operand,
    quant_min: int,
    quant_max: int,
    dtype: str,
    *,
    out_dtype: str | None = None,
) -> SSAValue:
    """(input - zero point) * scale, of one scale"""
    element = element_type(input)
    if _is_short(element, zero_point) and out_dtype in (None, "float32", "torch.float32"):
        step = as_element(emit, scale, f32)
        points = emit.reshape(step, ()), _point(emit, zero_point, element)
        return emit(DequantizeOp(input, *points, axis_map(len(tensor_shape(input)))))
    if isinstance(zero_point, int) and is_byte(element):
        # Differences of bytes are whole numbers that all floats hold.
        difference = sub(emit, to(emit, input, "int32"), zero_point)
        return mul(emit, to(emit, difference, out_dtype or "float32"), scale)
    whole = to(emit, input, out_dtype or "float32")
    element = element_type(whole)
    step, zero = as_element(emit, scale, element), as_element(emit, zero_point, element)
    return emit(MulOp(sub(emit, whole, emit.reshape(zero, ())), emit.reshape(step, ())))


@register_op("quantized_decomposed.quantize_per_channel")
def quantize_per_channel(
    emit: Emitter,
    input: SSAValue,
    scales: SSAValue,
    zero_points: SSAValue,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: str,
) -> SSAValue:
    """The nearest integers, halves to even, by the scale of each position of an axis"""
    element = dtype_element(dtype)
    if _is_short(element, zero_points) and element_type(scales) == f32:
        real, zero = emit.cast(input, f32), emit.cast(zero_points, element)
        map = axis_map(len(tensor_shape(input)), axis_of(input, axis))
        low, high = _ends(element, quant_min, quant_max)
        op = QuantizeOp(real, scales, zero, element, map, min=low, max=high, reciprocal=True)
        return emit(op)
    inverse = emit(ReciprocalOp(_along(emit, scales, input, axis)))
    zero = _along(emit, zero_points, input, axis)
    return _quantized(emit, input, inverse, zero, quant_min, quant_max, dtype)


@register_op("quantized_decomposed.dequantize_per_channel")
def dequantize_per_channel(
    emit: Emitter,
    input: SSAValue,
    scales: SSAValue,
    zero_points: SSAValue | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: str,
    *,
    out_dtype: str | None = None,
) -> SSAValue:
    """(input - zero point) * scale, by the scale of each position of an axis

    A zero point of bytes is a byte of their type.
    """
    element, is_f32 = element_type(input), element_type(scales) == f32
    if is_byte(element) and is_f32 and out_dtype in (None, "float32", "torch.float32"):
        map = axis_map(len(tensor_shape(input)), axis_of(input, axis))
        zero = None if zero_points is None else emit.cast(zero_points, element)
        return emit(DequantizeOp(input, scales, zero, map))
    if zero_points is not None and is_byte(element_type(input)):
        zero = emit.cast(emit.cast(zero_points, element_type(input)), i32)
        input = sub(emit, emit.cast(input, i32), _along(emit, zero, input, axis))
    elif zero_points is not None:
        input = sub(emit, input, _along(emit, zero_points, input, axis))
    return to(emit, mul(emit, input, _along(emit, scales, input, axis)), out_dtype or "float32")
