"""Types of elements, and operands that are not made yet."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.types import ui8, ui16
from gawee_dialect.fuzz.draw import Draw

FLOATS: tuple[AnyFloat, ...] = (f32, f16, f64)
NUMBERS: tuple[Attribute, ...] = (*FLOATS, i64, i32, i16, i8)
ALL_NUMBERS: tuple[Attribute, ...] = (*NUMBERS, ui16, ui8)
INTEGERS: tuple[Attribute, ...] = (i64, i32, i16, i8, ui16, ui8, i1)
ELEMENTS: tuple[Attribute, ...] = (*NUMBERS, ui8, i1)

Maker: TypeAlias = Callable[[Draw], Operation]
"""Draws an op, whose operands are values without an owner yet."""


def value(element: Attribute, shape: Sequence[int]) -> SSAValue:
    """Return a value of a tensor type; what takes the op puts another in its place."""
    return TestOp(result_types=[TensorType(element, shape)]).results[0]
