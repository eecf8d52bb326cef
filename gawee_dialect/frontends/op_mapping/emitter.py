"""What mapping functions make ops with."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import LocationAttr, TensorType, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue

from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.graph.arrangement import BroadcastToOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.shape import ReshapeOp
from gawee_dialect.dialect.open_size import least
from gawee_dialect.dialect.types import (
    ELEMENT_TYPES,
    AnyTensor,
    is_tensor,
    shape_text,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Number

MAX_OPS = 1 << 16
"""Of a graph: more, as loops that are written out may make, would take minutes to read."""


MAX_ELEMENTS = 1 << 48
"""Of a tensor: no memory has room for more, and products of sizes stay within 64 bits."""


def check_elements(type: Attribute) -> None:
    """Raise Refusal for a tensor of more elements than any memory has room for."""
    if is_tensor(type) and least(prod(type.get_shape())) > MAX_ELEMENTS:
        got = shape_text(type.get_shape())
        raise Refusal(f"expected a tensor of at most {MAX_ELEMENTS} elements, got {got}")


def _always(_output: int) -> bool:
    return True


class Emitter:
    """Appends ops to a block; `emit(AddOp(x, y))` returns the sum.

    `output_types` are what the node declares that it makes; `is_used` says which of its outputs
    anything reads, so that what only training needs is not computed; `outputs` is how many it has.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.location: LocationAttr = UnknownLoc()
        self.output_types: Sequence[AnyTensor] = ()
        self.is_used: Callable[[int], bool] = _always
        self.outputs = 1
        self.held: dict[SSAValue, str] = {}
        """Tensors that stand for elements of a dtype that the dialect has no element type of."""
        self.count = 0
        """Of ops that were appended."""

    def __call__(self, op: Operation) -> SSAValue:
        """Append an op; return its first result."""
        return self.all(op)[0]

    def all(self, op: Operation) -> Sequence[SSAValue]:
        """Append an op; return all its results.

        Raises Refusal for more than `MAX_OPS`, and for a tensor of more than `MAX_ELEMENTS`.
        """
        for result in op.results:
            check_elements(result.type)
        self.count += 1
        if self.count > MAX_OPS:
            raise Refusal(f"expected a graph of at most {MAX_OPS} ops, got more")
        op.location = self.location
        self.block.add_op(op)
        return op.results

    def array(self, values: NDArray[np.generic], element: Attribute) -> SSAValue:
        """Return a constant with the values of an array, in an element type."""
        return self(ConstantOp(dense_of(values, TensorType(element, values.shape))))

    def number(self, value: Number, element: Attribute) -> SSAValue:
        """Return a constant of rank 0."""
        return self.array(np.asarray(value), element)

    def full(self, shape: Sequence[int], value: Number, element: Attribute) -> SSAValue:
        """Return a tensor with one value everywhere."""
        return self.broadcast(self.number(value, element), shape)

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Return a tensor in another element type; itself where it has that type."""
        same = tensor_type(value).element_type == element
        return value if same else self(CastOp(value, element))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tensor under another shape; itself where it has that shape."""
        same = tensor_shape(value) == tuple(shape)
        return value if same else self(ReshapeOp(value, shape=shape))

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a tensor repeated to a shape, by NumPy's rule; itself where it has that shape."""
        same = tensor_shape(value) == tuple(shape)
        return value if same else self(BroadcastToOp(value, shape=shape))


def dtype_element(dtype: str) -> Attribute:
    """Return the element type of a dtype, spelled as PyTorch does or without `torch.`.

    Raises Refusal for a dtype that this dialect has no element type of.
    """
    element = ELEMENT_TYPES.get(dtype.removeprefix("torch."))
    if element is None:
        raise Refusal(f"unsupported dtype '{dtype}'; supported: {', '.join(ELEMENT_TYPES)}")
    return element


def axis_of(value: SSAValue, dim: int, *, new: bool = False) -> int:
    """Return an axis counted from the start; raises Refusal where the tensor has none such.

    A scalar counts as having one axis, as in PyTorch. With `new` the axis is one to be made.
    """
    rank = len(tensor_shape(value)) + 1 if new else max(len(tensor_shape(value)), 1)
    if not -rank <= dim < rank:
        raise Refusal(f"expected dim from {-rank} to {rank - 1}, got {dim}")
    return dim % rank


def axes_of(value: SSAValue, dims: Sequence[int] | None) -> list[int]:
    """Return axes counted from the start, sorted; all of them for None and for no dims."""
    if not tensor_shape(value):
        return []
    if not dims:
        return list(range(len(tensor_shape(value))))
    return sorted({axis_of(value, dim) for dim in dims})
