"""Which scalars and tensors are one number, known when compiling."""

from xdsl.dialects import arith, linalg
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    UnrealizedConversionCastOp,
)
from xdsl.ir import SSAValue

from gawee_dialect.dialect.kernels.kernel import KernelOp, Number
from gawee_dialect.dialect.kernels.structured_kernel import element_of
from gawee_dialect.hints import isa


def constant_of(value: SSAValue) -> Number | None:
    """Return the number that a scalar is; None where it is computed."""
    op = value.owner
    if isinstance(op, UnrealizedConversionCastOp) and isa(value.type, IntegerType):
        number = constant_of(op.inputs[0])
        if isinstance(number, IntegerAttr):  # arith has no constants of unsigned types
            return IntegerAttr(number.value.data % (1 << value.type.width.data), value.type)
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, FloatAttr | IntegerAttr):
        return None
    return op.value


def number_everywhere(value: SSAValue) -> Number | None:
    """Return the number that every element of a tensor is; None where they differ."""
    op = value.owner
    if isinstance(op, linalg.ops.FillOp):
        same = op.inputs[0].type == element_of(value)  # else it is cast
        return constant_of(op.inputs[0]) if same else None
    if isinstance(op, KernelOp):
        filled = not op.inputs and op.initial is None and op.covers_output()
        return constant_of(op.yielded(op.finish)) if filled else None
    if not isinstance(op, arith.ConstantOp) or not isa(op.value, DenseIntOrFPElementsAttr):
        return None
    # Not every element: a constant may be large.
    stored, size = op.value.data.data, op.value.get_element_type().compile_time_size
    same = len(stored) > 0 and stored == stored[:size] * (len(stored) // size)
    return next(iter(op.value.iter_attrs())) if same else None
