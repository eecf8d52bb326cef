"""Training (ai.onnx.preview.training): derivatives of tensors, and steps that make new parameters.

A Gradient is ops like those that computed a tensor: from it back to what it is differentiated by,
each op adds to the derivatives of its operands.
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.dialect.graph.activation import SigmoidOp
from gawee_dialect.dialect.graph.arithmetic import CosOp, ExpOp, LogOp, NegOp, SinOp, TanhOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.logic import WhereOp
from gawee_dialect.dialect.graph.movement import IdentityOp, ReshapeOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add, mul, pow_tensors, sub
from gawee_dialect.frontends.onnx.control_flow import Importer, Values
from gawee_dialect.frontends.onnx.model import OnnxNode, Scope, Value
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, compared
from gawee_dialect.frontends.op_mapping.registry import Refusal, Tensors

Part = Callable[[Emitter, Operation, SSAValue], Sequence[SSAValue]]
"""What an op adds to the derivatives of its operands, from that of its result."""


def _product(emit: Emitter, op: Operation, by: SSAValue) -> Sequence[SSAValue]:
    lhs, rhs = op.operands
    return emit(MulOp(by, rhs)), emit(MulOp(by, lhs))


def _quotient(emit: Emitter, op: Operation, by: SSAValue) -> Sequence[SSAValue]:
    divided = emit(DivOp(by, op.operands[1]))
    return divided, emit(NegOp(emit(MulOp(divided, op.results[0]))))


def _one_less_square(emit: Emitter, op: Operation, by: SSAValue) -> Sequence[SSAValue]:
    square = emit(MulOp(op.results[0], op.results[0]))
    return [emit(SubOp(by, emit(MulOp(by, square))))]


def _sigmoid(emit: Emitter, op: Operation, by: SSAValue) -> Sequence[SSAValue]:
    half = emit(MulOp(by, op.results[0]))
    return [emit(SubOp(half, emit(MulOp(half, op.results[0]))))]


def _root(emit: Emitter, op: Operation, by: SSAValue) -> Sequence[SSAValue]:
    root = op.results[0]
    return [emit(DivOp(by, emit(AddOp(root, root))))]


def _sum(emit: Emitter, op: Operation, by: SSAValue) -> Sequence[SSAValue]:
    assert isinstance(op, ReduceSumOp)
    shape = tensor_shape(op.operands[0])
    axes = {axis % len(shape) for axis in op.axes.iter_values()}
    kept = [1 if at in axes else size for at, size in enumerate(shape)]
    return [emit.broadcast(emit.reshape(by, kept), shape)]


PARTS: Mapping[type[Operation], Part] = {
    AddOp: lambda emit, op, by: (by, by),
    SubOp: lambda emit, op, by: (by, emit(NegOp(by))),
    MulOp: _product,
    DivOp: _quotient,
    NegOp: lambda emit, op, by: [emit(NegOp(by))],
    IdentityOp: lambda emit, op, by: [by],
    CastOp: lambda emit, op, by: [emit.cast(by, element_type(op.operands[0]))],
    ReshapeOp: lambda emit, op, by: [emit.reshape(by, tensor_shape(op.operands[0]))],
    ReduceSumOp: _sum,
    ExpOp: lambda emit, op, by: [emit(MulOp(by, op.results[0]))],
    LogOp: lambda emit, op, by: [emit(DivOp(by, op.operands[0]))],
    SqrtOp: _root,
    SinOp: lambda emit, op, by: [emit(MulOp(by, emit(CosOp(op.operands[0]))))],
    CosOp: lambda emit, op, by: [emit(NegOp(emit(MulOp(by, emit(SinOp(op.operands[0]))))))],
    TanhOp: _one_less_square,
    SigmoidOp: _sigmoid,
}
"""By op."""


def gradient(
    importer: Importer, node: OnnxNode, inputs: Values, scope: Scope, opsets: Mapping[str, int]
) -> Values:
    """Gradient: the derivatives of a tensor by others, of its sum where it has several elements"""
    names, result = node.attributes.get("xs"), node.attributes.get("y")
    if not isa(names, list[str]) or not isinstance(result, str) or result not in scope:
        raise Refusal("expected attributes 'xs' and 'y' to name tensors of the graph")
    others = node.attributes.get("zs", [])
    if list(node.inputs) != [*names, *(others if isa(others, list[str]) else [])]:
        raise Refusal("expected inputs to be the tensors that 'xs' and 'zs' name")
    sources = [importer.tensor(scope[name]) for name in names]
    found = _derivatives(importer.emit, importer.tensor(scope[result]), sources)
    return [Value(node.name, each) for each in found]


def _derivatives(emit: Emitter, result: SSAValue, sources: Sequence[SSAValue]) -> list[SSAValue]:
    depending = set(sources)
    ops: list[Operation] = []
    for op in emit.block.ops:
        if depending.intersection(op.operands) and op.results[0] not in sources:
            depending.update(op.results)
            ops.append(op)
    so_far = {result: emit.full(tensor_shape(result), 1, element_type(result))}
    for op in reversed(ops):
        by = so_far.get(op.results[0])
        if by is None:
            continue
        if type(op) not in PARTS:
            known = ", ".join(each.name for each in PARTS)
            raise Refusal(f"unsupported derivative of '{op.name}'; supported: {known}")
        for operand, more in zip(op.operands, PARTS[type(op)](emit, op, by), strict=True):
            if operand in depending:
                more = _summed_to(emit, more, tensor_shape(operand))
                before = so_far.get(operand)
                so_far[operand] = more if before is None else emit(AddOp(before, more))
    zeros = (emit.full(tensor_shape(each), 0, element_type(each)) for each in sources)
    return [so_far.get(each, zero) for each, zero in zip(sources, zeros, strict=True)]


def _summed_to(emit: Emitter, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """Return a sum over the axes along which an operand was repeated."""
    own = tensor_shape(value)
    padded = [1] * (len(own) - len(shape)) + list(shape)
    axes = [at for at, (size, kept) in enumerate(zip(own, padded, strict=True)) if size != kept]
    summed = emit(ReduceSumOp(value, axes=axes)) if axes else value
    return emit.reshape(summed, shape)


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
