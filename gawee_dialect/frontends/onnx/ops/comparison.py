"""Comparisons and logic."""

from collections.abc import Callable
from math import inf

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.bitwise import BitwiseAndOp, BitwiseOrOp, BitwiseXorOp
from gawee_dialect.dialect.comparison import CompareOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.comparison import compared
from gawee_dialect.frontends.op_mapping.emitter import Emitter

PREDICATES = {
    "Equal": "eq",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "Less": "lt",
    "LessOrEqual": "le",
}
LOGIC: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "And": BitwiseAndOp,
    "Or": BitwiseOrOp,
    "Xor": BitwiseXorOp,
}


def comparison(predicate: str) -> Callable[..., SSAValue]:
    """Return the mapping of a comparison of pairs of elements."""

    def mapping(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
        return emit(CompareOp(a, b, predicate=predicate))

    return mapping


def logic(op: Callable[[SSAValue, SSAValue], Operation]) -> Callable[..., SSAValue]:
    """Return the mapping of an op on pairs of booleans."""

    def mapping(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
        return emit(op(a, b))

    return mapping


for _name, _predicate in PREDICATES.items():
    register_op(_name)(comparison(_predicate))
for _name, _op in LOGIC.items():
    register_op(_name)(logic(_op))


@register_op("IsInf")
def is_inf(
    emit: Emitter, x: SSAValue, detect_negative: int = 1, detect_positive: int = 1
) -> SSAValue:
    """Whether it is infinite, of either sign or of one"""
    found = [
        compared(emit, x, bound, "eq")
        for wanted, bound in ((detect_positive, inf), (detect_negative, -inf))
        if wanted
    ]
    if not found:
        return emit.full(tensor_shape(x), False, i1)
    return found[0] if len(found) == 1 else emit(BitwiseOrOp(found[0], found[1]))
