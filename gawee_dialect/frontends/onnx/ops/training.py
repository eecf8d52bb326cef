"""Steps of training (ai.onnx.preview.training): new parameters of gradients."""

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.comparison import WhereOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.types import element_type
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, mul, pow_tensors, sub
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, compared
from gawee_dialect.frontends.op_mapping.registry import Refusal, Tensors

TRAINING = "ai.onnx.preview.training"


def _groups(inputs: Tensors, count: int) -> list[Sequence[SSAValue]]:
    """Return, for each parameter, what belongs to it: the inputs are `count` lists of one length.

    Raises Refusal where they are not.
    """
    if len(inputs) % count:
        raise Refusal(f"expected {count} lists of tensors of one length, got {len(inputs)} tensors")
    size = len(inputs) // count
    return [inputs[index::size] for index in range(size)]


def _by_output(found: Sequence[Sequence[SSAValue]]) -> list[SSAValue]:
    return [value for each in zip(*found, strict=True) for value in each]


def _regularized(emit: Emitter, x: SSAValue, gradient: SSAValue, norm: float) -> SSAValue:
    return emit(AddOp(mul(emit, x, norm), gradient)) if norm else gradient


@register_op(f"{TRAINING}.Adagrad")
def adagrad(
    emit: Emitter,
    r: SSAValue,
    t: SSAValue,
    inputs: Tensors,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> list[SSAValue]:
    """Steps divided by the root of all squares so far"""
    count = emit.cast(t, element_type(r))
    rate = emit(DivOp(r, add(emit, mul(emit, count, decay_factor), 1.0)))
    found: list[Sequence[SSAValue]] = []
    for x, given, squares in _groups(inputs, 3):
        gradient = _regularized(emit, x, given, norm_coefficient)
        total = emit(AddOp(squares, emit(MulOp(gradient, gradient))))
        root = add(emit, emit(SqrtOp(total)), epsilon)
        step = emit(DivOp(emit(MulOp(rate, gradient)), root))
        found.append([emit(SubOp(x, step)), total])
    return _by_output(found)


def _one_less_power(emit: Emitter, number: float, exponent: SSAValue) -> SSAValue:
    return sub(emit, 1.0, pow_tensors(emit, emit.number(number, f32), exponent))


@register_op(f"{TRAINING}.Adam")
def adam(
    emit: Emitter,
    r: SSAValue,
    t: SSAValue,
    inputs: Tensors,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> list[SSAValue]:
    """Steps by running means of gradients and of their squares"""
    count = emit.cast(t, f32)
    root = emit(SqrtOp(_one_less_power(emit, beta, count)))
    corrected = emit(DivOp(root, _one_less_power(emit, alpha, count)))
    later = compared(emit, t, 0, "gt")
    factor = emit(WhereOp(later, corrected, emit.number(1, f32)))
    rate = emit(MulOp(r, emit.cast(factor, element_type(r))))
    found: list[Sequence[SSAValue]] = []
    for x, given, mean, square in _groups(inputs, 4):
        gradient = _regularized(emit, x, given, norm_coefficient)
        new_mean = emit(AddOp(mul(emit, mean, alpha), mul(emit, gradient, 1 - alpha)))
        squared = emit(MulOp(gradient, gradient))
        new_square = emit(AddOp(mul(emit, square, beta), mul(emit, squared, 1 - beta)))
        divisor = add(emit, emit(SqrtOp(new_square)), epsilon)
        new = emit(SubOp(x, emit(DivOp(emit(MulOp(rate, new_mean)), divisor))))
        if norm_coefficient_post:
            new = mul(emit, new, 1 - norm_coefficient_post)
        found.append([new, new_mean, new_square])
    return _by_output(found)


@register_op(f"{TRAINING}.Momentum")
def momentum(
    emit: Emitter,
    r: SSAValue,
    t: SSAValue,
    inputs: Tensors,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> list[SSAValue]:
    """Steps by a running sum of gradients, or that of Nesterov"""
    if mode not in ("standard", "nesterov"):
        raise Refusal(f"unsupported mode '{mode}'; supported: standard, nesterov")
    one, factor = (emit.number(number, element_type(r)) for number in (1, beta))
    kept = emit(WhereOp(compared(emit, t, 0, "gt"), factor, one))
    found: list[Sequence[SSAValue]] = []
    for x, given, before in _groups(inputs, 3):
        gradient = _regularized(emit, x, given, norm_coefficient)
        speed = emit(AddOp(mul(emit, before, alpha), emit(MulOp(kept, gradient))))
        ahead = add(emit, gradient, mul(emit, speed, alpha)) if mode == "nesterov" else speed
        found.append([emit(SubOp(x, emit(MulOp(r, ahead)))), speed])
    return _by_output(found)
