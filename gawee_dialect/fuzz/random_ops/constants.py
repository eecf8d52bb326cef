"""Random constants, and the leftovers of Python that graphs of a tracer have."""

from collections.abc import Mapping
from math import prod

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation

from gawee_dialect.dialect.constant import ConstantOp
from gawee_dialect.dialect.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import ELEMENTS, value
from gawee_dialect.hints import isa

LIMITS: Mapping[Attribute, tuple[int, int]] = {
    i64: (-(2**63), 2**63 - 1),
    i32: (-(2**31), 2**31 - 1),
    i16: (-(2**15), 2**15 - 1),
    i8: (-128, 127),
    i1: (0, 1),
}
UNSIGNED = (0, 255)


def constant(draw: Draw) -> Operation:
    """Draw a constant of a few numbers."""
    element, dims = draw.one_of(ELEMENTS), draw.shape()
    few = [_number(draw, element) for _ in range(draw.integer(1, 7))]
    if not any(few):
        few = few[:1]  # the generic form, which is xDSL's, prints zeros of both signs as one
    data = [few[index % len(few)] for index in range(prod(dims))]
    if isinstance(element, AnyFloat):
        floats = DenseIntOrFPElementsAttr.from_list(TensorType(element, dims), data)
        return ConstantOp(floats)
    assert isa(element, IntegerType)
    type = TensorType(element, dims)
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [int(each) for each in data]))


def _number(draw: Draw, element: Attribute) -> float | int:
    if isinstance(element, AnyFloat):
        return draw.number(element.size * 8)
    low, high = LIMITS.get(element, UNSIGNED)
    return draw.one_of((low, high, draw.integer(max(low, -9), min(high, 9))))


def get_attribute(draw: Draw) -> Operation:
    """Draw what Python reads of a tensor."""
    return GetAttrOp(value(f32, draw.shape()), draw.one_of(("shape", "dtype", 'a "b"\n')))


def get_item(draw: Draw) -> Operation:
    """Draw what Python takes out of a value."""
    source = TestOp(result_types=[PythonValueType()]).results[0]
    return GetItemOp(source, draw.one_of(("2", "-1", "slice(2, None, None)", "?")))
