"""Complex tensors as real ones: a last axis of 2 has the real and the imaginary part."""

from collections.abc import Callable, Sequence
from math import prod, sqrt

import numpy as np
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.graph.arithmetic import AbsOp, CosOp, ExpOp, LogOp, NegOp, SinOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.logic import WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import ReduceAllOp, ReduceAnyOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import add as real_add
from gawee_dialect.frontends.npu_ir.aten.arithmetic import (
    atan2,
    copysign,
    cosh,
    hypot,
    isfinite,
    isinf,
    isnan,
    sinh,
)
from gawee_dialect.frontends.npu_ir.aten.comparison import clamp, compared
from gawee_dialect.frontends.npu_ir.aten.contraction import matmul as real_matmul
from gawee_dialect.frontends.npu_ir.aten.linear_systems import inverse as real_inverse
from gawee_dialect.frontends.npu_ir.aten.linear_systems import solve as real_solve
from gawee_dialect.frontends.npu_ir.aten.reduction import vector_norm as real_norm
from gawee_dialect.frontends.npu_ir.aten.registry import (
    base_name,
    bind_arguments,
    canonical_name,
    find_mapping,
)
from gawee_dialect.frontends.npu_ir.aten.shape import joint_shape
from gawee_dialect.frontends.npu_ir.ir import AttributeValue, OpNode
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part
from gawee_dialect.frontends.op_mapping.fourier import transformed
from gawee_dialect.frontends.op_mapping.registry import (
    Function,
    Kind,
    Number,
    Operand,
    OpMapping,
    Refusal,
    Registry,
    Result,
)
from gawee_dialect.python_numbers import PARTS

# Nodes that read or make complex tensors, as ops on real ones.


# The registry of ATen ops on complex numbers, and the ops that do the same to both parts.
#
#     @register_complex_op("aten.abs")
#     def absolute(emit: Emitter, self: SSAValue) -> SSAValue: ...
#
# A complex tensor has a last axis of 2, a real one beside it a last axis of 1.


COMPLEX = Registry("gawee_dialect.frontends.npu_ir", ("complex_numbers",))

PARTWISE = frozenset(
    f"aten.{name}"
    for name in (
        *("alias", "cat", "clone", "constant_pad_nd", "expand", "flip", "gather", "index"),
        *("index_select", "mean", "neg", "permute", "repeat", "roll", "select", "select_scatter"),
        *("slice", "slice_scatter", "split", "split_with_sizes", "squeeze", "stack", "sum", "t"),
        *("transpose", "unbind", "unsqueeze", "view", "_unsafe_view", "reshape", "as_strided"),
        *("contiguous", "where", "copy", "unfold", "detach", "lift_fresh_copy", "masked_fill"),
        *("full_like", "new_full", "zeros_like", "new_zeros", "empty_like", "scalar_tensor"),
        *("fill", "index_put", "index_add", "index_copy", "scatter", "scatter_add", "cumsum"),
        *("diagonal", "tril", "triu", "resolve_conj", "resolve_neg", "alias_copy"),
    )
)
"""Ops that do to the real and to the imaginary part what they do to a real tensor."""


LITERALS = frozenset({"self", "other", "value", "fill_value", "s"})
"""Arguments that are one number for all elements: a real one has no imaginary part."""


def register_complex_op(*names: str) -> Callable[[Function], Function]:
    """Register a function for ops by name, with any overload."""
    return COMPLEX.register(*names)


def find_complex_mapping(op_type: str) -> OpMapping | None:
    """Return what is registered for an op on complex numbers."""
    return COMPLEX.find(base_name(canonical_name(op_type)))


def part_of(emit: Emitter, value: SSAValue, index: int) -> SSAValue:
    """Return the real (0) or the imaginary (1) part, without the last axis."""
    shape = tensor_shape(value)
    return emit.reshape(part(emit, value, len(shape) - 1, index, 1), shape[:-1])


def paired(emit: Emitter, real: SSAValue, imaginary: SSAValue) -> SSAValue:
    """Return the complex tensor of two parts."""
    parts = [emit.reshape(each, (*tensor_shape(each), 1)) for each in (real, imaginary)]
    return emit(CatOp(parts, dim=len(tensor_shape(real))))


ELEMENTS = {"float32": f32, "float64": f64}
"""The element type of parts."""


def has_complex(node: OpNode) -> bool:
    """Whether a node reads or makes a complex tensor."""
    return any(each.dtype in PARTS for each in (*node.inputs, *node.outputs))


def call_on_complex(emit: Emitter, node: OpNode, inputs: Sequence[SSAValue]) -> Result:
    """Make what a node computes; raises Refusal for an op that nothing is registered for."""
    dtypes = [each.dtype for each in node.inputs]
    given = list(zip(inputs, dtypes, strict=True))
    mapping = find_complex_mapping(node.op_type)
    if mapping is not None:
        made = [PARTS[each.dtype] for each in node.outputs if each.dtype in PARTS]
        element = ELEMENTS[made[0]] if made else None
        beside = [_beside_complex(emit, value, dtype, element) for value, dtype in given]
        attributes = dict(node.attrs)
        place = 0
        for parameter in mapping.parameters:
            if parameter.kind in (Kind.TENSOR, Kind.OPERAND):
                number = attributes.get(parameter.name)
                if isinstance(number, dict):
                    assert element is not None
                    del attributes[parameter.name]
                    beside.insert(place, emit.array(np.array(_numbers(number)), element))
                place += parameter.name not in attributes
        return mapping.function(emit, **bind_arguments(mapping, beside, attributes))
    mapping = find_mapping(node.op_type)
    if mapping is None or base_name(canonical_name(node.op_type)) not in PARTWISE:
        raise Refusal(
            "unsupported on complex numbers",
            hint="torch.view_as_real has the parts, which real ops compute with",
        )
    made = [_call_on_part(emit, node, mapping, given, index) for index in (0, 1)]
    joined = [paired(emit, *parts) for parts in zip(*made, strict=True)]
    return joined[0] if len(joined) == 1 else joined


def _beside_complex(
    emit: Emitter, value: SSAValue, dtype: str, element: Attribute | None
) -> SSAValue:
    """Return an operand with a last axis, in the element type of what an op makes."""
    value = value if element is None else emit.cast(value, element)
    return value if dtype in PARTS else emit.reshape(value, (*tensor_shape(value), 1))


def _call_on_part(
    emit: Emitter,
    node: OpNode,
    mapping: OpMapping,
    given: Sequence[tuple[SSAValue, str]],
    index: int,
) -> Sequence[SSAValue]:
    parts = [_part(emit, value, dtype, index) for value, dtype in given]
    named = {
        key: f"torch.{PARTS[value.removeprefix('torch.')]}"
        for key, value in node.attrs.items()
        if isinstance(value, str) and value.removeprefix("torch.") in PARTS
    }
    numbers = {
        key: _numbers(value)[index]
        for key, value in node.attrs.items()
        if key in LITERALS and isinstance(value, bool | int | float | dict)
    }
    attributes = {**node.attrs, **named, **numbers}
    made = mapping.function(emit, **bind_arguments(mapping, parts, attributes))
    results = [made] if isinstance(made, SSAValue) else made or []
    return [each for each in results if each is not None]


def _numbers(value: AttributeValue) -> tuple[float, float]:
    """Return the parts of a number that an argument is."""
    parts = (value["real"], value["imag"]) if isinstance(value, dict) else (value, 0)
    real, imaginary = parts
    assert isinstance(real, bool | int | float)
    assert isinstance(imaginary, bool | int | float)
    return real, imaginary


def _part(emit: Emitter, value: SSAValue, dtype: str, index: int) -> SSAValue:
    if dtype in PARTS:
        return part_of(emit, value, index)
    if index == 0 or not is_float(element_type(value)):
        return value
    return emit.full(tensor_shape(value), 0, element_type(value))


# Arithmetic on complex numbers.


def is_complex(value: SSAValue) -> bool:
    """Whether an operand has two parts."""
    return tensor_shape(value)[-1] == 2


def as_complex(emit: Emitter, operand: Operand, like: SSAValue) -> SSAValue:
    """Return an operand with two parts, in the element type of another one."""
    if not isinstance(operand, SSAValue):
        return emit.array(np.array([operand, 0]), element_type(like))
    if is_complex(operand):
        return operand
    real = emit.reshape(operand, tensor_shape(operand)[:-1])
    none = emit.full(tensor_shape(real), 0, element_type(real))
    return paired(emit, real, none)


def scaled(emit: Emitter, operand: SSAValue, factor: Operand) -> SSAValue:
    """Return a tensor times a real tensor with a last axis of 1, or times a number."""
    if not isinstance(factor, SSAValue):
        factor = emit.number(factor, element_type(operand))
    return emit(MulOp(operand, factor))


def both(emit: Emitter, self: Operand, other: Operand) -> tuple[SSAValue, SSAValue]:
    """Return two operands with two parts each."""
    like = self if isinstance(self, SSAValue) else other
    assert isinstance(like, SSAValue)
    return as_complex(emit, self, like), as_complex(emit, other, like)


def parts(emit: Emitter, value: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the real and the imaginary part."""
    return part_of(emit, value, 0), part_of(emit, value, 1)


@register_complex_op("aten.add")
def add(emit: Emitter, self: Operand, other: Operand, alpha: Number = 1) -> SSAValue:
    """The sum of both parts"""
    lhs, rhs = both(emit, self, other)
    return emit(AddOp(lhs, rhs if alpha == 1 else scaled(emit, rhs, alpha)))


@register_complex_op("aten.sub")
def sub(emit: Emitter, self: Operand, other: Operand, alpha: Number = 1) -> SSAValue:
    """The difference of both parts"""
    lhs, rhs = both(emit, self, other)
    return emit(SubOp(lhs, rhs if alpha == 1 else scaled(emit, rhs, alpha)))


@register_complex_op("aten.mul")
def mul(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """(a + bi)(c + di) = ac - bd + (ad + bc)i"""
    for one, factor in ((self, other), (other, self)):
        if isinstance(one, SSAValue) and not (isinstance(factor, SSAValue) and is_complex(factor)):
            return scaled(emit, one, factor)
    assert isinstance(self, SSAValue)
    assert isinstance(other, SSAValue)
    a, b, c, d = (part_of(emit, each, index) for each in (self, other) for index in (0, 1))
    real = emit(SubOp(emit(MulOp(a, c)), emit(MulOp(b, d))))
    return paired(emit, real, emit(AddOp(emit(MulOp(a, d)), emit(MulOp(b, c)))))


@register_complex_op("aten.div")
def div(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
    """By a real number of both parts; by a complex one times its conjugate over its square"""
    if not isinstance(other, SSAValue):
        return scaled(emit, both(emit, self, other)[0], 1 / other)
    if not is_complex(other):
        return emit(DivOp(both(emit, self, other)[0], other))
    product = mul(emit, self, conj(emit, other))
    return emit(DivOp(product, emit.reshape(square(emit, other), (*tensor_shape(other)[:-1], 1))))


@register_complex_op("aten._conj", "aten.conj", "aten._conj_physical", "aten.conj_physical")
def conj(emit: Emitter, self: SSAValue) -> SSAValue:
    """a - bi"""
    return emit(MulOp(self, emit.array(np.array([1, -1]), element_type(self))))


def square(emit: Emitter, value: SSAValue) -> SSAValue:
    """Return a^2 + b^2."""
    real, imaginary = (emit(MulOp(each, each)) for each in parts(emit, value))
    return emit(AddOp(real, imaginary))


@register_complex_op("aten.abs")
def absolute(emit: Emitter, self: SSAValue) -> SSAValue:
    """The root of a^2 + b^2"""
    return emit(SqrtOp(square(emit, self)))


@register_complex_op("aten.angle")
def angle(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle between a number and the real axis"""
    return atan2(emit, part_of(emit, self, 1), part_of(emit, self, 0))


@register_complex_op("aten.mm", "aten.bmm", "aten.matmul", "aten.mv", "aten.dot")
def matmul(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The product of matrices, by four products of their parts"""
    lhs, rhs = both(emit, self, other)
    a, b, c, d = (part_of(emit, each, index) for each in (lhs, rhs) for index in (0, 1))

    def product(left: SSAValue, right: SSAValue) -> SSAValue:
        return real_matmul(emit, left, right)

    real = emit(SubOp(product(a, c), product(b, d)))
    return paired(emit, real, emit(AddOp(product(a, d), product(b, c))))


@register_complex_op("aten.addmm", "aten.baddbmm")
def added_matmul(
    emit: Emitter,
    self: SSAValue,
    mat1: SSAValue,
    mat2: SSAValue,
    beta: Number = 1,
    alpha: Number = 1,
) -> SSAValue:
    """The product of matrices and another one, each times a number"""
    product = matmul(emit, mat1, mat2)
    product = product if alpha == 1 else scaled(emit, product, alpha)
    return add(emit, product, self, beta)


@register_complex_op("aten.vdot")
def vdot(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The product of a conjugate and a vector"""
    return matmul(emit, conj(emit, self), other)


@register_complex_op("aten.view_as_real", "aten.view_as_real_copy")
def view_as_real(emit: Emitter, self: SSAValue) -> SSAValue:
    """The tensor itself, as it is held"""
    return self


@register_complex_op("aten.view_as_complex", "aten.view_as_complex_copy")
def view_as_complex(emit: Emitter, self: SSAValue) -> SSAValue:
    """The tensor itself, as it is held"""
    return emit.reshape(self, tensor_shape(self)[:-1])


@register_complex_op("aten.complex")
def complex_of(emit: Emitter, real: SSAValue, imag: SSAValue) -> SSAValue:
    """The complex tensor of two parts"""
    return paired(emit, *(emit.reshape(each, tensor_shape(each)[:-1]) for each in (real, imag)))


@register_complex_op("aten.polar")
def polar(emit: Emitter, abs: SSAValue, angle: SSAValue) -> SSAValue:
    """The complex tensor of lengths and angles"""
    shape = joint_shape([abs, angle])[:-1]
    waves = [emit.reshape(emit(op(angle)), tensor_shape(angle)[:-1]) for op in (CosOp, SinOp)]
    length = emit.reshape(abs, tensor_shape(abs)[:-1])
    return paired(emit, *(emit.broadcast(emit(MulOp(length, each)), shape) for each in waves))


@register_complex_op("aten.exp")
def exp(emit: Emitter, self: SSAValue) -> SSAValue:
    """e^a (cos b + i sin b)"""
    a, b = parts(emit, self)
    length = emit(ExpOp(a))
    return paired(emit, emit(MulOp(length, emit(CosOp(b)))), emit(MulOp(length, emit(SinOp(b)))))


@register_complex_op("aten.reciprocal")
def reciprocal(emit: Emitter, self: SSAValue) -> SSAValue:
    """The conjugate over the square"""
    size = emit.reshape(square(emit, self), (*tensor_shape(self)[:-1], 1))
    return emit(DivOp(conj(emit, self), size))


@register_complex_op("aten.log")
def log(emit: Emitter, self: SSAValue) -> SSAValue:
    """The logarithm of the length, and the angle"""
    return paired(emit, emit(LogOp(hypot(emit, *parts(emit, self)))), angle(emit, self))


@register_complex_op("aten.sqrt")
def sqrt_of(emit: Emitter, self: SSAValue) -> SSAValue:
    """The root whose real part is not negative: the greater part first, the other from it"""
    a, b = parts(emit, self)
    size = emit(AbsOp(a))
    half = emit(MulOp(real_add(emit, hypot(emit, a, b), size), emit.number(0.5, element_type(a))))
    greater = emit(SqrtOp(half))
    safe = emit(
        WhereOp(compared(emit, greater, 0.0, "eq"), emit.number(1, element_type(a)), greater)
    )
    less = emit(MulOp(emit(DivOp(b, safe)), emit.number(0.5, element_type(a))))
    left = compared(emit, a, 0.0, "lt")
    real = emit(WhereOp(left, emit(AbsOp(less)), greater))
    return paired(emit, real, emit(WhereOp(left, copysign(emit, greater, b), less)))


@register_complex_op("aten.pow")
def power(emit: Emitter, self: Operand, exponent: Operand) -> SSAValue:
    """exp(exponent * log(self)); squares and cubes are products"""
    if not isinstance(exponent, SSAValue) and exponent in (1, 2, 3):
        base = made = both(emit, self, self)[0]
        for _ in range(int(exponent) - 1):
            made = mul(emit, made, base)
        return made
    base, wanted = both(emit, self, exponent)
    found = exp(emit, mul(emit, log(emit, base), wanted))
    shape = (*tensor_shape(found)[:-1], 1)
    zero = [compared(emit, square(emit, each), 0.0, "eq") for each in (base, wanted)]
    of_zero, to_zero = (emit.reshape(each, (*tensor_shape(each), 1)) for each in zero)
    element = element_type(found)
    nothing, one = (emit.array(np.array([each, 0]), element) for each in (0, 1))
    found = emit(WhereOp(emit.broadcast(of_zero, shape), nothing, found))
    return emit(WhereOp(emit.broadcast(to_zero, shape), one, found))


def _waves(emit: Emitter, value: SSAValue) -> Sequence[SSAValue]:
    """Return the hyperbolic and the other cosine and sine of a real tensor."""
    return [cosh(emit, value), sinh(emit, value), emit(CosOp(value)), emit(SinOp(value))]


@register_complex_op("aten.sin")
def sine(emit: Emitter, self: SSAValue) -> SSAValue:
    """sin a cosh b + i cos a sinh b"""
    (_, _, cos, sin), (high, low, _, _) = (_waves(emit, each) for each in parts(emit, self))
    return paired(emit, emit(MulOp(sin, high)), emit(MulOp(cos, low)))


@register_complex_op("aten.cos")
def cosine(emit: Emitter, self: SSAValue) -> SSAValue:
    """cos a cosh b - i sin a sinh b"""
    (_, _, cos, sin), (high, low, _, _) = (_waves(emit, each) for each in parts(emit, self))
    return paired(emit, emit(MulOp(cos, high)), emit(NegOp(emit(MulOp(sin, low)))))


@register_complex_op("aten.sinh")
def hyperbolic_sine(emit: Emitter, self: SSAValue) -> SSAValue:
    """sinh a cos b + i cosh a sin b"""
    (high, low, _, _), (_, _, cos, sin) = (_waves(emit, each) for each in parts(emit, self))
    return paired(emit, emit(MulOp(low, cos)), emit(MulOp(high, sin)))


@register_complex_op("aten.cosh")
def hyperbolic_cosine(emit: Emitter, self: SSAValue) -> SSAValue:
    """cosh a cos b + i sinh a sin b"""
    (high, low, _, _), (_, _, cos, sin) = (_waves(emit, each) for each in parts(emit, self))
    return paired(emit, emit(MulOp(high, cos)), emit(MulOp(low, sin)))


@register_complex_op("aten.tanh")
def hyperbolic_tangent(emit: Emitter, self: SSAValue) -> SSAValue:
    """(sinh 2a + i sin 2b) / (cosh 2a + cos 2b), of an a beyond which it is 1"""
    a, b = (emit(AddOp(each, each)) for each in parts(emit, self))
    (high, low, _, _), (_, _, cos, sin) = _waves(emit, clamp(emit, a, -40, 40)), _waves(emit, b)
    below = emit(AddOp(high, cos))
    return paired(emit, emit(DivOp(low, below)), emit(DivOp(sin, below)))


@register_complex_op("aten.sigmoid")
def sigmoid(emit: Emitter, self: SSAValue) -> SSAValue:
    """1 / (1 + exp(-z)), by the tangent of its half"""
    half = scaled(emit, self, 0.5)
    return add(emit, scaled(emit, hyperbolic_tangent(emit, half), 0.5), 0.5)


@register_complex_op("aten.sgn")
def direction(emit: Emitter, self: SSAValue) -> SSAValue:
    """A number over its length; zero of zero"""
    length = emit.reshape(absolute(emit, self), (*tensor_shape(self)[:-1], 1))
    one = emit.number(1, element_type(self))
    return emit(DivOp(self, emit(WhereOp(compared(emit, length, 0.0, "eq"), one, length))))


@register_complex_op("aten.linalg_vector_norm")
def vector_norm(
    emit: Emitter,
    self: SSAValue,
    ord: Number = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> SSAValue:
    """The norm of the lengths"""
    return real_norm(emit, absolute(emit, self), ord, dim, keepdim)


def _register_equality(name: str, predicate: str, op: Callable[..., Operation]) -> None:
    """Register the mapping of whether both parts are the same, or one of them is not."""

    def mapping(emit: Emitter, self: Operand, other: Operand) -> SSAValue:
        same = compared(emit, *both(emit, self, other), predicate)
        return emit(op(same, axes=[len(tensor_shape(same)) - 1], keep_dims=False))

    register_complex_op(name)(mapping)


_register_equality("aten.eq", "eq", ReduceAllOp)
_register_equality("aten.ne", "ne", ReduceAnyOp)


def _register_kind(
    name: str, of_part: Callable[[Emitter, SSAValue], SSAValue], op: Callable[..., Operation]
) -> None:
    """Register the mapping of what is asked of both parts."""

    def mapping(emit: Emitter, self: SSAValue) -> SSAValue:
        found = of_part(emit, self)
        return emit(op(found, axes=[len(tensor_shape(self)) - 1], keep_dims=False))

    register_complex_op(name)(mapping)


_register_kind("aten.isnan", isnan, ReduceAnyOp)
_register_kind("aten.isinf", isinf, ReduceAnyOp)
_register_kind("aten.isfinite", isfinite, ReduceAllOp)


# Linear systems of complex numbers, as real ones of twice the size: rows of both parts.


def _both_parts(emit: Emitter, matrix: SSAValue) -> SSAValue:
    """Return the real matrix that computes with parts what a complex one does."""
    a, b = parts(emit, matrix)
    rank = len(tensor_shape(a))
    above = emit(CatOp([a, emit(NegOp(b))], dim=rank - 1))
    return emit(CatOp([above, emit(CatOp([b, a], dim=rank - 1))], dim=rank - 2))


def _from_both_parts(emit: Emitter, value: SSAValue, axis: int) -> SSAValue:
    """Return the complex tensor of which one axis has the real parts, and then the others."""
    half = tensor_shape(value)[axis] // 2
    return paired(emit, *(part(emit, value, axis, start, half) for start in (0, half)))


@register_complex_op("aten.linalg_inv_ex")
def inverse(emit: Emitter, A: SSAValue, check_errors: object = False) -> Sequence[SSAValue]:
    """The inverses of matrices, and for each the first pivot that is zero, counted from 1, or 0"""
    size, rank = tensor_shape(A)[-2], len(tensor_shape(A)) - 1
    found, info = real_inverse(emit, _both_parts(emit, A))
    return _from_both_parts(emit, part(emit, found, rank - 1, 0, size), rank - 2), info


@register_complex_op("aten._linalg_solve_ex")
def solve(
    emit: Emitter, A: SSAValue, B: SSAValue, left: bool = True, check_errors: object = False
) -> Sequence[SSAValue | None]:
    """The solutions X of A X = B, and what `inverse` says of each matrix"""
    if not left:
        raise Refusal("unsupported X A = B of complex numbers; supported: A X = B")
    lhs, rhs = both(emit, A, B)
    vectors = tensor_shape(rhs) in (tensor_shape(lhs)[-2:], tensor_shape(lhs)[:-1])
    real, imaginary = parts(emit, rhs)
    axis = len(tensor_shape(real)) - (1 if vectors else 2)
    sides = emit(CatOp([real, imaginary], dim=axis))
    found, *others = real_solve(emit, _both_parts(emit, lhs), sides)
    assert found is not None
    return _from_both_parts(emit, found, axis), *others


@register_complex_op("aten._to_copy")
def to_copy(emit: Emitter, self: SSAValue, dtype: str | None = None) -> SSAValue:
    """In another type: a real number has no imaginary part, one that becomes real loses it"""
    if dtype is not None and dtype.removeprefix("torch.") not in PARTS:
        raise Refusal("unsupported on complex numbers", hint="x.real is the real part")
    return as_complex(emit, self, self)


@register_complex_op("aten.full", "aten.zeros")
def full(
    emit: Emitter, size: Sequence[int], fill_value: Operand = 0, dtype: str | None = None
) -> SSAValue:
    """One number everywhere"""
    like = emit.number(0, f64 if dtype == "torch.complex128" else f32)
    return emit.broadcast(as_complex(emit, fill_value, like), (*size, 2))


# Fourier transforms.


def normalized(
    emit: Emitter, value: SSAValue, count: int, normalization: int, *, inverse: bool
) -> SSAValue:
    """Return a transform divided by what the mode says: by 1, the root of `count`, or `count`."""
    wanted = (1.0, 1 / sqrt(count), 1 / count)[normalization]
    factor = wanted * count if inverse else wanted
    return value if factor == 1 else scaled(emit, value, factor)


def axes_from_start(value: SSAValue, dim: Sequence[int]) -> list[int]:
    """Return axes counted from the start, the last axis of parts left out."""
    rank = len(tensor_shape(value)) - 1
    return [axis % rank for axis in dim]


def all_transformed(
    emit: Emitter, value: SSAValue, axes: Sequence[int], *, inverse: bool
) -> SSAValue:
    """Return the complex transform of some axes, one after the other."""
    for axis in axes:
        length = tensor_shape(value)[axis]
        value = transformed(emit, value, axis, length, inverse=inverse, onesided=False)
    return value


@register_complex_op("aten._fft_r2c")
def real_to_complex(
    emit: Emitter, self: SSAValue, dim: Sequence[int], normalization: int, onesided: bool
) -> SSAValue:
    """The transform of a real tensor, the last of its axes first"""
    *others, last = axes_from_start(self, dim)
    sizes = tensor_shape(self)
    made = transformed(emit, self, last, sizes[last], inverse=False, onesided=onesided)
    made = all_transformed(emit, made, others, inverse=False)
    count = prod(sizes[axis] for axis in (*others, last))
    return normalized(emit, made, count, normalization, inverse=False)


@register_complex_op("aten._fft_c2c")
def complex_to_complex(
    emit: Emitter, self: SSAValue, dim: Sequence[int], normalization: int, forward: bool
) -> SSAValue:
    """The transform of a complex tensor, or its inverse"""
    axes = axes_from_start(self, dim)
    made = all_transformed(emit, self, axes, inverse=not forward)
    count = prod(tensor_shape(self)[axis] for axis in axes)
    return normalized(emit, made, count, normalization, inverse=not forward)


@register_complex_op("aten._fft_c2r")
def complex_to_real(
    emit: Emitter, self: SSAValue, dim: Sequence[int], normalization: int, last_dim_size: int
) -> SSAValue:
    """The inverse transform that is real, the last of its axes last"""
    *others, last = axes_from_start(self, dim)
    made = all_transformed(emit, self, others, inverse=True)
    made = transformed(emit, made, last, last_dim_size, inverse=True, onesided=True)
    real = emit.reshape(made, tensor_shape(made)[:-1])
    count = prod(tensor_shape(self)[axis] for axis in others) * last_dim_size
    return normalized(emit, real, count, normalization, inverse=True)
