"""The registry of ATen ops on complex numbers, and the ops that do the same to both parts.

    @register_complex_op("aten.abs")
    def absolute(emit: Emitter, self: SSAValue) -> SSAValue: ...

A complex tensor has a last axis of 2, a real one beside it a last axis of 1.
"""

from collections.abc import Callable

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.shape import CatOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import base_name, canonical_name
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.registry import Function, OpMapping, Registry

COMPLEX = Registry("gawee_dialect.frontends.npu_ir.complex_numbers", ("arithmetic",))

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
