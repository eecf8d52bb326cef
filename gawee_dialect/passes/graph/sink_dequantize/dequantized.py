"""Tensors of floats that are integers times a scale: where they are, and in which bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, prod

from xdsl.dialects.builtin import IntegerType, f32, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from gawee_dialect.dialect.dense import array_of, is_splat
from gawee_dialect.dialect.evaluated import constant_of
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.elementwise import MulOp, SubOp
from gawee_dialect.dialect.graph.movement import ReshapeOp, TransposeOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import element_type, integer_range, is_byte, tensor_shape
from gawee_dialect.hints import isa
from gawee_dialect.passes.tensors.parameter_analysis import describe


@dataclass(frozen=True)
class Dequantized:
    """A tensor of f32 that is integers times a scale."""

    integers: SSAValue
    scale: SSAValue
    largest: int
    """The greatest magnitude that the integers may have."""

    @staticmethod
    def of(value: SSAValue) -> "Dequantized | str":
        """Return what a tensor is dequantized from; why it is not, where it is not."""
        product = value.owner
        if isinstance(product, MulOp) and element_type(value) == f32:
            for whole, scale in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
                if not isinstance(whole.owner, CastOp) or whole.type != value.type:
                    continue
                bounds = _bounds(whole.owner.input)
                if bounds is not None:
                    return Dequantized(whole.owner.input, scale, max(map(abs, bounds)))
        return f"expected integers of 8 bits times a scale, got {describe(value)}"

    def varies_only_along(self, axis: int) -> bool:
        """Whether the scale is one number, or one for each index of an axis."""
        own, rank = tensor_shape(self.scale), len(tensor_shape(self.integers))
        sizes = (*[1] * (rank - len(own)), *own)
        return all(size == 1 for at, size in enumerate(sizes) if at != axis % rank)


def _bounds(value: SSAValue) -> tuple[int, int] | None:
    """Return between which numbers integers of 8 bits lie, or differences of such in i32."""
    while isinstance(value.owner, ReshapeOp | TransposeOp):
        value = value.owner.input
    element, owner, numbers = element_type(value), value.owner, constant_of(value)
    if not isa(element, IntegerType):
        return None
    if numbers is not None and prod(tensor_shape(value)):
        array = array_of(numbers)
        return int(array.min()), int(array.max())
    if element.width.data == 8:
        return integer_range(element)
    if element == i32 and isinstance(owner, CastOp):
        return _bounds(owner.input)
    if element == i32 and isinstance(owner, SubOp):
        left, right = _bounds(owner.lhs), _bounds(owner.rhs)
        if left is not None and right is not None:
            return left[0] - right[1], left[1] - right[0]
    return None


@dataclass(frozen=True)
class Bytes:
    """Integers that are bytes less a number: (value - zero), in i32 where there is a zero."""

    value: SSAValue
    zero: SSAValue | None

    @staticmethod
    def of(integers: SSAValue) -> "Bytes | None":
        """Return which bytes integers are, and by what they are less than those."""
        value, zero = integers, None
        if isinstance(value.owner, SubOp):
            value, zero = value.owner.operands
        if isinstance(value.owner, CastOp):
            value = value.owner.input
        is_number = zero is None or (constant_of(zero) is not None and not tensor_shape(zero))
        return Bytes(value, zero) if is_byte(element_type(value)) and is_number else None

    @property
    def zero_point(self) -> int:
        """The number that integers are less than the bytes by."""
        zero = None if self.zero is None else constant_of(self.zero)
        return 0 if zero is None else int(array_of(zero).flat[0])

    def dequantized(self, bytes: SSAValue, scale: SSAValue, rewriter: PatternRewriter) -> MulOp:
        """Return other bytes as floats, with this zero point; the product is not inserted."""
        whole = bytes
        if self.zero is not None:
            wide = rewriter.insert(CastOp(bytes, i32)).result
            whole = rewriter.insert(SubOp(wide, self.zero)).result
        return MulOp(rewriter.insert(CastOp(whole, f32)).result, scale)


def positive_number(value: SSAValue) -> float | None:
    """Return the positive, finite number that all of a constant is."""
    constant = constant_of(value)
    if constant is None or not is_splat(constant):
        return None
    number = float(array_of(constant).flat[0])
    return number if 0 < number < inf else None


def along(op: GaweeOp, value: SSAValue, axis: int, rewriter: PatternRewriter) -> SSAValue:
    """Return a number, or one for each index of an axis of a result, so that it broadcasts."""
    size, rank = prod(tensor_shape(value)), len(tensor_shape(op.output))
    shape: Sequence[int] = () if size == 1 else (size, *[1] * (rank - 1 - axis % rank))
    if tensor_shape(value) == tuple(shape):
        return value
    return rewriter.insert(ReshapeOp(value, shape=shape)).result
