"""Shapes, and the order of elements."""

from math import prod

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.arrangement import TileOp
from gawee_dialect.dialect.graph.normalization import GroupNormOp
from gawee_dialect.dialect.graph.shape import CatOp, IdentityOp, ReshapeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.ops.normalization import of_groups
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.axes import completed, permuted, stacked
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import (
    Ints,
    KnownInts,
    KnownIntsOrNone,
    Tensors,
)


@register_op("OptionalHasElement")
def optional_has_element(emit: Emitter, input: SSAValue | None = None) -> SSAValue:
    """Whether there is a tensor, which is known when the graph is read"""
    return emit.number(input is not None, i1)


@register_op("Identity", "OptionalGetElement")
def identity(emit: Emitter, input: SSAValue) -> SSAValue:
    """The tensor itself"""
    return emit(IdentityOp(input))


@register_op("Reshape")
def reshape(emit: Emitter, data: SSAValue, shape: KnownInts, allowzero: int = 0) -> SSAValue:
    """Another shape; 0 keeps a size, -1 is what is left"""
    old = tensor_shape(data)
    if not allowzero and any(size == 0 and i >= len(old) for i, size in enumerate(shape)):
        raise Refusal(f"expected shape to keep one of {len(old)} sizes, got {list(shape)}")
    sizes = [old[i] if size == 0 and not allowzero else size for i, size in enumerate(shape)]
    sizes = completed(sizes, prod(old))
    whole = of_groups(emit, data.owner, sizes) if isinstance(data.owner, GroupNormOp) else None
    return emit.reshape(data, sizes) if whole is None else whole


@register_op("Flatten")
def flatten(emit: Emitter, input: SSAValue, axis: int = 1) -> SSAValue:
    """A matrix: the axes before one, and those from it on"""
    shape = tensor_shape(input)
    split = axis + len(shape) if axis < 0 else axis
    if not 0 <= split <= len(shape):
        raise Refusal(f"expected axis from {-len(shape)} to {len(shape)}, got {axis}")
    return emit.reshape(input, (prod(shape[:split]), prod(shape[split:])))


@register_op("Squeeze")
def squeeze(emit: Emitter, data: SSAValue, axes: KnownIntsOrNone = None) -> SSAValue:
    """Without axes of size 1"""
    shape = tensor_shape(data)
    ones = [i for i, size in enumerate(shape) if size == 1]
    gone = ones if axes is None else [axis_of(data, axis) for axis in axes]
    if any(shape[axis] != 1 for axis in gone):
        raise Refusal(f"expected axes of size 1, got {list(gone)} of {list(shape)}")
    return emit.reshape(data, [size for i, size in enumerate(shape) if i not in gone])


@register_op("Unsqueeze")
def unsqueeze(emit: Emitter, data: SSAValue, axes: KnownInts) -> SSAValue:
    """With axes of size 1 put in"""
    rank = len(tensor_shape(data)) + len(axes)
    if len({axis % rank for axis in axes}) != len(axes) or not all(
        -rank <= axis < rank for axis in axes
    ):
        raise Refusal(f"expected axes that differ, from {-rank} to {rank - 1}, got {list(axes)}")
    new = {axis % rank for axis in axes}
    sizes = iter(tensor_shape(data))
    return emit.reshape(data, [1 if axis in new else next(sizes) for axis in range(rank)])


@register_op("Transpose")
def transpose(emit: Emitter, data: SSAValue, perm: Ints | None = None) -> SSAValue:
    """Axes in another order, reversed by default"""
    axes = list(range(len(tensor_shape(data))))
    order = axes[::-1] if perm is None else list(perm)
    if sorted(order) != axes:
        raise Refusal(f"expected perm to order {len(axes)} axes, got {order}")
    return permuted(emit, data, order)


@register_op("Concat")
def concat(emit: Emitter, inputs: Tensors, axis: int = 1) -> SSAValue:
    """Tensors one after the other along an axis"""
    at = axis_of(inputs[0], axis)
    rows = [each for each in (_without_axis(value, at) for value in inputs) if each is not None]
    if 1 < len(rows) == len(inputs):
        return stacked(emit, rows, at)
    return emit(CatOp(inputs, dim=at))


def _without_axis(value: SSAValue, axis: int) -> SSAValue | None:
    """Return what a tensor is with an axis of size 1 put in; None where it is nothing such."""
    view, shape = value.owner, tensor_shape(value)
    if not isinstance(view, ReshapeOp) or shape[axis] != 1:
        return None
    fits = tensor_shape(view.input) == (*shape[:axis], *shape[axis + 1 :])
    return view.input if fits else None


@register_op("Expand")
def expand(emit: Emitter, input: SSAValue, shape: KnownInts) -> SSAValue:
    """Repeated to a shape, by NumPy's rule in both directions"""
    sizes = list(tensor_shape(input))
    wanted = list(shape)
    rank = max(len(sizes), len(wanted))
    sizes = [1] * (rank - len(sizes)) + sizes
    wanted = [1] * (rank - len(wanted)) + wanted
    whole = [w if s == 1 else s for s, w in zip(sizes, wanted, strict=True)]
    return emit.broadcast(input, whole)


@register_op("Tile")
def tile(emit: Emitter, input: SSAValue, repeats: KnownInts) -> SSAValue:
    """Repeated along each axis"""
    return emit(TileOp(input, repeats=list(repeats)))


@register_op("DepthToSpace")
def depth_to_space(emit: Emitter, input: SSAValue, blocksize: int, mode: str = "DCR") -> SSAValue:
    """Channels as blocks of pixels"""
    n, c, h, w = _image(input)
    b = blocksize
    if c % (b * b):
        raise Refusal(f"expected channels ({c}) to be a multiple of blocksize squared ({b * b})")
    if mode == "DCR":
        parts, order = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        parts, order = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    moved = permuted(emit, emit.reshape(input, parts), order)
    return emit.reshape(moved, (n, c // (b * b), h * b, w * b))


@register_op("SpaceToDepth")
def space_to_depth(emit: Emitter, input: SSAValue, blocksize: int) -> SSAValue:
    """Blocks of pixels as channels"""
    n, c, h, w = _image(input)
    b = blocksize
    parts = emit.reshape(input, (n, c, h // b, b, w // b, b))
    moved = permuted(emit, parts, (0, 3, 5, 1, 2, 4))
    return emit.reshape(moved, (n, c * b * b, h // b, w // b))


def _image(input: SSAValue) -> tuple[int, int, int, int]:
    shape = tensor_shape(input)
    if len(shape) != 4:
        raise Refusal(f"expected input of rank 4, got {len(shape)}")
    return shape[0], shape[1], shape[2], shape[3]
