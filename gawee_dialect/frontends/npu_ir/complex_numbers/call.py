"""Nodes that read or make complex tensors, as ops on real ones."""

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.shape import CatOp
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.registry import base_name, canonical_name, find_mapping
from gawee_dialect.frontends.npu_ir.ir import OpNode
from gawee_dialect.frontends.npu_ir.node_arguments import bind_arguments
from gawee_dialect.frontends.op_mapping.axes import part
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.registry import Function, OpMapping, Registry, Result

# The registry of ATen ops on complex numbers, and the ops that do the same to both parts.
#
#     @register_complex_op("aten.abs")
#     def absolute(emit: Emitter, self: SSAValue) -> SSAValue: ...
#
# A complex tensor has a last axis of 2, a real one beside it a last axis of 1.


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


PARTS = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the parts of complex numbers."""


def has_complex(node: OpNode) -> bool:
    """Whether a node reads or makes a complex tensor."""
    return any(each.dtype in PARTS for each in (*node.inputs, *node.outputs))


def call_on_complex(emit: Emitter, node: OpNode, inputs: Sequence[SSAValue]) -> Result:
    """Make what a node computes; raises Refusal for an op that nothing is registered for."""
    dtypes = [each.dtype for each in node.inputs]
    given = list(zip(inputs, dtypes, strict=True))
    mapping = find_complex_mapping(node.op_type)
    if mapping is not None:
        beside = [_beside_complex(emit, value, dtype) for value, dtype in given]
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


def _beside_complex(emit: Emitter, value: SSAValue, dtype: str) -> SSAValue:
    if dtype in PARTS or not is_float(element_type(value)):
        return value
    return emit.reshape(value, (*tensor_shape(value), 1))


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
