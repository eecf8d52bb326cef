"""Arithmetic on elements."""

from collections.abc import Callable
from functools import reduce

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.arithmetic import (
    AbsOp,
    Atan2Op,
    CeilOp,
    FloorOp,
    FmodOp,
    MaximumOp,
    MinimumOp,
    NegOp,
    ReciprocalOp,
    RemainderOp,
    RoundOp,
    SignOp,
)
from gawee_dialect.dialect.bitwise import BitwiseAndOp, BitwiseNotOp, BitwiseOrOp, BitwiseXorOp
from gawee_dialect.dialect.elementary import CosOp, ErfOp, ExpOp, Log1pOp, LogOp, SinOp
from gawee_dialect.dialect.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, div, div_mode, mul, pow_tensors, sub
from gawee_dialect.frontends.npu_ir.aten.pointwise import expm1
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.schema import (
    Tensors,
)

UNARY: dict[str, Callable[[SSAValue], Operation]] = {
    "Abs": AbsOp,
    "Neg": NegOp,
    "Floor": FloorOp,
    "Ceil": CeilOp,
    "Round": RoundOp,
    "Sign": SignOp,
    "Reciprocal": ReciprocalOp,
    "Sqrt": SqrtOp,
    "Exp": ExpOp,
    "Log": LogOp,
    "Erf": ErfOp,
    "Sin": SinOp,
    "Cos": CosOp,
    "BitwiseNot": BitwiseNotOp,
}
BINARY: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "Add": AddOp,
    "Sub": SubOp,
    "Mul": MulOp,
    "BitwiseAnd": BitwiseAndOp,
    "BitwiseOr": BitwiseOrOp,
    "BitwiseXor": BitwiseXorOp,
}


def unary(op: Callable[[SSAValue], Operation]) -> Callable[..., SSAValue]:
    """Return the mapping of an op on each element."""

    def mapping(emit: Emitter, x: SSAValue) -> SSAValue:
        return emit(op(x))

    return mapping


def binary(op: Callable[[SSAValue, SSAValue], Operation]) -> Callable[..., SSAValue]:
    """Return the mapping of an op on pairs of elements."""

    def mapping(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
        return emit(op(a, b))

    return mapping


for _name, _unary in UNARY.items():
    register_op(_name)(unary(_unary))
for _name, _binary in BINARY.items():
    register_op(_name)(binary(_binary))


@register_op("Div")
def divide(emit: Emitter, a: SSAValue, b: SSAValue) -> SSAValue:
    """The quotient; that of integers is cut towards zero"""
    if is_float(element_type(a)):
        return emit(DivOp(a, b))
    return div_mode(emit, a, b, "trunc")


@register_op("Mod")
def modulo(emit: Emitter, a: SSAValue, b: SSAValue, fmod: int = 0) -> SSAValue:
    """The remainder, with the sign of the divisor, or with fmod that of the dividend"""
    return emit(FmodOp(a, b) if fmod else RemainderOp(a, b))


@register_op("Pow")
def power(emit: Emitter, x: SSAValue, y: SSAValue) -> SSAValue:
    """x to the power of y, in the element type of x"""
    element = element_type(x)
    return emit.cast(pow_tensors(emit, x, y), element)


def joined(op: Callable[[SSAValue, SSAValue], Operation]) -> Callable[..., SSAValue]:
    """Return the mapping of an op that takes any number of tensors together."""

    def mapping(emit: Emitter, inputs: Tensors) -> SSAValue:
        return reduce(lambda a, b: emit(op(a, b)), inputs)

    return mapping


register_op("Sum")(joined(AddOp))
register_op("Max")(joined(MaximumOp))
register_op("Min")(joined(MinimumOp))


@register_op("Mean")
def mean(emit: Emitter, inputs: Tensors) -> SSAValue:
    """The mean of tensors, element by element"""
    return div(emit, reduce(lambda a, b: emit(AddOp(a, b)), inputs), float(len(inputs)))


@register_op("Tan")
def tan(emit: Emitter, x: SSAValue) -> SSAValue:
    """sin(x) / cos(x)"""
    return emit(DivOp(emit(SinOp(x)), emit(CosOp(x))))


@register_op("Sinh")
def sinh(emit: Emitter, x: SSAValue) -> SSAValue:
    """(exp(x) - exp(-x)) / 2"""
    return mul(emit, sub(emit, expm1(emit, x), expm1(emit, emit(NegOp(x)))), 0.5)


@register_op("Cosh")
def cosh(emit: Emitter, x: SSAValue) -> SSAValue:
    """(exp(x) + exp(-x)) / 2"""
    return mul(emit, emit(AddOp(emit(ExpOp(x)), emit(ExpOp(emit(NegOp(x)))))), 0.5)


@register_op("Asinh")
def asinh(emit: Emitter, x: SSAValue) -> SSAValue:
    """sign(x) log(|x| + sqrt(x^2 + 1)), written so that small x keep their digits"""
    size = emit(AbsOp(x))
    square = emit(MulOp(x, x))
    root = add(emit, emit(SqrtOp(add(emit, square, 1))), 1)
    inner = emit(AddOp(size, emit(DivOp(square, root))))
    return emit(MulOp(emit(SignOp(x)), emit(Log1pOp(inner))))


@register_op("Acosh")
def acosh(emit: Emitter, x: SSAValue) -> SSAValue:
    """log(x + sqrt(x^2 - 1))"""
    root = emit(SqrtOp(sub(emit, emit(MulOp(x, x)), 1)))
    return emit(LogOp(emit(AddOp(x, root))))


@register_op("Atanh")
def atanh(emit: Emitter, x: SSAValue) -> SSAValue:
    """(log(1 + x) - log(1 - x)) / 2"""
    parts = emit(Log1pOp(x)), emit(Log1pOp(emit(NegOp(x))))
    return mul(emit, emit(SubOp(*parts)), 0.5)


def _one_minus_square_root(emit: Emitter, x: SSAValue) -> SSAValue:
    one = emit.number(1, element_type(x))
    return emit(SqrtOp(emit(MulOp(emit(SubOp(one, x)), emit(AddOp(one, x))))))


@register_op("Asin")
def asin(emit: Emitter, x: SSAValue) -> SSAValue:
    """The angle of a sine"""
    return emit(Atan2Op(x, _one_minus_square_root(emit, x)))


@register_op("Acos")
def acos(emit: Emitter, x: SSAValue) -> SSAValue:
    """The angle of a cosine"""
    return emit(Atan2Op(_one_minus_square_root(emit, x), x))


@register_op("Atan")
def atan(emit: Emitter, x: SSAValue) -> SSAValue:
    """The angle of a tangent"""
    return emit(Atan2Op(x, emit.full(tensor_shape(x), 1, element_type(x))))
