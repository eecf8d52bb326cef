"""Complex tensors as real ones: a last axis of 2 has the real and the imaginary part."""

from collections.abc import Callable, Sequence
from math import prod, sqrt

import numpy as np
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.arithmetic import CosOp, ExpOp, SinOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import atan2
from gawee_dialect.frontends.npu_ir.aten.contraction import matmul as real_matmul
from gawee_dialect.frontends.npu_ir.aten.registry import (
    base_name,
    bind_arguments,
    canonical_name,
    find_mapping,
)
from gawee_dialect.frontends.npu_ir.aten.shape import joint_shape
from gawee_dialect.frontends.npu_ir.ir import OpNode
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part
from gawee_dialect.frontends.op_mapping.fourier import transformed
from gawee_dialect.frontends.op_mapping.registry import (
    Function,
    Number,
    Operand,
    OpMapping,
    Refusal,
    Registry,
    Result,
)

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
        *("contiguous", "where", "copy", "unfold", "detach", "lift_fresh_copy"),
    )
)
"""Ops that do to the real and to the imaginary part what they do to a real tensor."""


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


PARTS = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the parts of complex numbers."""

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
        return mapping.function(emit, **bind_arguments(mapping, beside, node.attrs))
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
    made = mapping.function(emit, **bind_arguments(mapping, parts, {**node.attrs, **named}))
    results = [made] if isinstance(made, SSAValue) else made or []
    return [each for each in results if each is not None]


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
    parts = [part_of(emit, value, index) for index in (0, 1)]
    real, imaginary = (emit(MulOp(each, each)) for each in parts)
    return emit(AddOp(real, imaginary))


@register_complex_op("aten.abs")
def absolute(emit: Emitter, self: SSAValue) -> SSAValue:
    """The root of a^2 + b^2"""
    return emit(SqrtOp(square(emit, self)))


@register_complex_op("aten.angle")
def angle(emit: Emitter, self: SSAValue) -> SSAValue:
    """The angle between a number and the real axis"""
    return atan2(emit, part_of(emit, self, 1), part_of(emit, self, 0))


@register_complex_op("aten.mm", "aten.bmm", "aten.matmul")
def matmul(emit: Emitter, self: SSAValue, other: SSAValue) -> SSAValue:
    """The product of matrices, by four products of their parts"""
    lhs, rhs = both(emit, self, other)
    a, b, c, d = (part_of(emit, each, index) for each in (lhs, rhs) for index in (0, 1))

    def product(left: SSAValue, right: SSAValue) -> SSAValue:
        return real_matmul(emit, left, right)

    real = emit(SubOp(product(a, c), product(b, d)))
    return paired(emit, real, emit(AddOp(product(a, d), product(b, c))))


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
    a, b = (part_of(emit, self, index) for index in (0, 1))
    length = emit(ExpOp(a))
    return paired(emit, emit(MulOp(length, emit(CosOp(b)))), emit(MulOp(length, emit(SinOp(b)))))


@register_complex_op("aten.reciprocal")
def reciprocal(emit: Emitter, self: SSAValue) -> SSAValue:
    """The conjugate over the square"""
    size = emit.reshape(square(emit, self), (*tensor_shape(self)[:-1], 1))
    return emit(DivOp(conj(emit, self), size))


@register_complex_op("aten._to_copy")
def to_copy(emit: Emitter, self: SSAValue, dtype: str | None = None) -> SSAValue:
    """In another type: a real number has no imaginary part, one that becomes real loses it"""
    if dtype is not None and dtype.removeprefix("torch.") not in PARTS:
        raise Refusal("unsupported on complex numbers", hint="x.real is the real part")
    return as_complex(emit, self, self)


@register_complex_op("aten.full", "aten.zeros")
def full(
    emit: Emitter, size: Sequence[int], fill_value: Number = 0, dtype: str | None = None
) -> SSAValue:
    """One real number everywhere"""
    element = f64 if dtype == "torch.complex128" else f32
    return emit.broadcast(emit.array(np.array([fill_value, 0]), element), (*size, 2))


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
