"""PyTorch's type promotion: the element type in which an op on mixed operands computes.

Tensors with axes decide; a tensor of rank 0 counts only where its kind (bool, integer, float) is
higher than theirs, a Python number only where its kind is higher than that of all tensors.
"""

from collections.abc import Sequence
from enum import IntEnum

from xdsl.dialects.builtin import f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.comparison import CompareOp, WhereOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape, ui8, ui16
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Number, Operand

WIDENING: Sequence[Attribute] = (i1, ui8, i8, i16, i32, i64, f16, f32, f64)
"""Element types in the order in which they take one another in; ui8 and i8 make i16."""


class NumberKind(IntEnum):
    """What promotion compares first."""

    NONE = 0
    BOOL = 1
    INTEGER = 2
    FLOAT = 3


def kind_of(element: Attribute) -> NumberKind:
    """Return the kind of an element type."""
    if is_float(element):
        return NumberKind.FLOAT
    return NumberKind.BOOL if element == i1 else NumberKind.INTEGER


def number_element(value: Number) -> Attribute:
    """Return the element type that a Python number has on its own."""
    if isinstance(value, bool):
        return i1
    return i64 if isinstance(value, int) else f32


def wider(lhs: Attribute, rhs: Attribute) -> Attribute:
    """Return the element type that holds both; raises Refusal where PyTorch promotes to none."""
    if lhs == rhs:
        return lhs
    if {lhs, rhs} == {i8, ui8}:
        return i16
    if ui16 in (lhs, rhs):
        raise Refusal("unsupported promotion of uint16; supported: uint16 with uint16")
    return max(lhs, rhs, key=WIDENING.index)


def _joined(elements: Sequence[Attribute]) -> Attribute | None:
    result: Attribute | None = None
    for element in elements:
        result = element if result is None else wider(result, element)
    return result


def common_element(*operands: Operand) -> Attribute:
    """Return the element type that operands promote to."""
    tensors = [each for each in operands if isinstance(each, SSAValue)]
    groups = (
        [element_type(each) for each in tensors if tensor_shape(each)],
        [element_type(each) for each in tensors if not tensor_shape(each)],
        [number_element(each) for each in operands if not isinstance(each, SSAValue)],
    )
    result: Attribute | None = None
    for group in groups:
        joined = _joined(group)
        if joined is not None and (result is None or kind_of(joined) > kind_of(result)):
            result = joined
    assert result is not None, "an op has operands"
    return result


def as_element(emit: Emitter, operand: Operand, element: Attribute) -> SSAValue:
    """Return an operand as a tensor of an element type."""
    if isinstance(operand, SSAValue):
        return emit.cast(operand, element)
    return emit.number(operand, element)


def promoted(emit: Emitter, lhs: Operand, rhs: Operand) -> tuple[SSAValue, SSAValue]:
    """Return two operands as tensors of the element type that they promote to."""
    element = common_element(lhs, rhs)
    return as_element(emit, lhs, element), as_element(emit, rhs, element)


def all_promoted(emit: Emitter, operands: Sequence[Operand]) -> list[SSAValue]:
    """Return operands as tensors of the element type that they promote to."""
    element = common_element(*operands)
    return [as_element(emit, each, element) for each in operands]


def promoted_to_float(emit: Emitter, lhs: Operand, rhs: Operand) -> tuple[SSAValue, SSAValue]:
    """Return two operands as tensors of one float type: float32 where none of them is a float."""
    element = float_element(common_element(lhs, rhs))
    return as_element(emit, lhs, element), as_element(emit, rhs, element)


def float_element(element: Attribute) -> Attribute:
    """Return the element type of a function of floats; that of integers is float32."""
    return element if is_float(element) else f32


def to_float(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a tensor of floats; integers become float32."""
    return emit.cast(value, float_element(element_type(value)))


def to_bool(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return whether each element is not zero."""
    return emit.cast(value, i1)


def summed(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a tensor in the element type of its sum: integers and booleans become int64."""
    return value if is_float(element_type(value)) else emit.cast(value, i64)


# Comparisons and choices, with PyTorch's promotion of mixed element types.


def compared(emit: Emitter, lhs: Operand, rhs: Operand, predicate: str) -> SSAValue:
    """Return whether each pair of elements compares as the predicate says."""
    return emit(CompareOp(*promoted(emit, lhs, rhs), predicate=predicate))


def where(emit: Emitter, condition: SSAValue, self: Operand, other: Operand) -> SSAValue:
    """Choose by a condition."""
    return emit(WhereOp(to_bool(emit, condition), *promoted(emit, self, other)))
