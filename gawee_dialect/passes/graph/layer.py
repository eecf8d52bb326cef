"""The layers that parameters can be folded into, and how to change their parameters."""

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    TensorType,
)
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import element_type, float_attribute
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.tensors.parameter_analysis import describe
from gawee_dialect.upstream.arith import name_of_number

Layer: TypeAlias = ConvOp | MatMulOp

Before = TypeVar("Before", bound=Operation)
Change = TypeVar("Change", bound="Binary")


class Binary(Protocol):
    """A sum or a product."""

    @property
    def lhs(self) -> SSAValue: ...

    @property
    def rhs(self) -> SSAValue: ...


def folded_operand(
    op: Change,
    kinds: tuple[type[Before], ...],
    reason_against: Callable[[Change, Before, SSAValue], str | None],
    what: str,
) -> tuple[Before, SSAValue] | str:
    """Return the op before a sum or a product that takes it in, and the other operand.

    Where neither operand comes from such an op, or there are reasons against each that does,
    returns why.
    """
    reasons: list[str] = []
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        before = value.owner
        if not isinstance(before, kinds):
            continue
        reason = reason_against(op, before, other)
        if reason is None:
            return before, other
        reasons.append(reason)
    operands = f"{describe(op.lhs)} and {describe(op.rhs)}"
    return "; ".join(reasons) or f"expected an operand from {what}, got {operands}"


def scalar_like(value: SSAValue, number: float) -> ConstantOp:
    """Make a constant scalar in the element type of a float tensor."""
    element = element_type(value)
    assert isinstance(element, AnyFloat)
    rounded = float_attribute(number, element)
    type = TensorType(element, [])
    op = ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [rounded.value.data]))
    op.result.name_hint = name_of_number(rounded)
    return op


def with_parameters(layer: Layer, weight: SSAValue, bias: SSAValue | None) -> Layer:
    """Make a layer like the given one, from the same place, with another weight and bias."""
    if isinstance(layer, MatMulOp):
        changed = MatMulOp(layer.input, weight, bias)
    else:
        changed = ConvOp(
            layer.input,
            weight,
            bias,
            strides=layer.strides.get_values(),
            padding=layer.padding.get_values(),
            dilations=layer.dilations.get_values(),
            groups=layer.groups.value.data,
        )
    hand_on_identity(layer, changed)
    return changed


def hand_on_identity(source: GaweeOp, op: GaweeOp) -> None:
    """Give an op the location and the name of the one whose work it does."""
    hand_on_location(source, op)
    op.output.name_hint = source.output.name_hint
