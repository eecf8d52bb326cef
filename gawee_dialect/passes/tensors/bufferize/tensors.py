"""Rules of the tensor dialect: elements, slices, padding and other shapes."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from xdsl.dialects import memref, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from gawee_dialect.analysis.index_bounds import Index, constant_index
from gawee_dialect.dialect.graph.scan import is_batch_loop
from gawee_dialect.dialect.kernels.kernel import KernelOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.tensors.bufferize.function import (
    AnyMemRef,
    FunctionBufferizer,
    Rules,
    is_empty,
    memref_type,
)
from gawee_dialect.passes.tensors.bufferize.globals import buffer_type
from gawee_dialect.passes.tensors.bufferize.in_place import Root, Slice
from gawee_dialect.passes.tensors.bufferize.open_sizes import (
    index_value,
    product,
    sized_view,
    total,
)
from gawee_dialect.upstream import linalg
from gawee_dialect.upstream.scf import ForallOp
from gawee_dialect.upstream.tensor import (
    PadOp,
    ParallelInsertSliceOp,
    is_padding_computed,
    kept_axes,
)

# Kernels whose results are put into one tensor, each with gaps in it: each writes there at once.
#
# Parts without gaps are those of coalesce-copies, which knows what is alive at the same time.
# Such parts share no element, and the whole has no reader before the last of them is in it. So a
# part may be there before the op that inserts it.


def insertion_of(kernel: KernelOp) -> tensor.InsertSliceOp | None:
    """Return the op that puts a kernel's result between others; None where there is none."""
    result = kernel.result
    user = None if result is None else only_user(result)
    if not isinstance(user, tensor.InsertSliceOp) or user.dest is result:
        return None
    return user if _has_gaps(user) else None


def _has_gaps(op: tensor.InsertSliceOp) -> bool:
    """Whether a part is more than one run of memory: elements of others lie between its own."""
    sizes, strides = op.static_sizes.get_values(), op.static_strides.get_values()
    inner = next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes)) + 1
    return max(strides, default=1) > 1 or sizes[inner:] != tensor_shape(op.dest)[inner:]


def only_user(value: SSAValue) -> object:
    """Return the only op that uses a value, and uses it once; None where there are others."""
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def interleaved(op: tensor.InsertSliceOp) -> Sequence[tensor.InsertSliceOp]:
    """Return the ops that fill one tensor, of which `op` is one: from an empty one on, in order.

    None at all where others use what was filled in between, or where parts overlap.
    """
    chain = [*reversed(list(_before(op))), op, *_behind(op)]
    starts_empty = isinstance(chain[0].dest.owner, tensor.EmptyOp)
    static = all(not (each.offsets or each.sizes or each.strides) for each in chain)
    together = len({each.parent for each in chain}) == 1
    apart = static and all(_are_apart(lhs, rhs) for lhs, rhs in combinations(chain, 2))
    return chain if starts_empty and together and apart else ()


def _before(op: tensor.InsertSliceOp) -> Iterator[tensor.InsertSliceOp]:
    earlier = op.dest.owner
    while isinstance(earlier, tensor.InsertSliceOp) and only_user(earlier.result) is not None:
        yield earlier
        earlier = earlier.dest.owner


def _behind(op: tensor.InsertSliceOp) -> Iterator[tensor.InsertSliceOp]:
    later = only_user(op.result)
    while isinstance(later, tensor.InsertSliceOp) and later.dest is op.result:
        yield later
        op, later = later, only_user(later.result)


def _are_apart(lhs: tensor.InsertSliceOp, rhs: tensor.InsertSliceOp) -> bool:
    """Whether two parts share no element, since they share no place along some axis."""
    same_rank = len(tensor_shape(lhs.source)) == len(tensor_shape(lhs.dest))
    return same_rank and any(map(_share_none, _places(lhs), _places(rhs)))


def _places(op: tensor.InsertSliceOp) -> Iterator[range]:
    """Yield where a part is along each axis."""
    sizes, strides = op.static_sizes.get_values(), op.static_strides.get_values()
    for offset, size, stride in zip(op.static_offsets.get_values(), sizes, strides, strict=True):
        yield range(offset, offset + size * stride, stride)


def _share_none(one: range, other: range) -> bool:
    """Whether one ends before the other begins, or both go by one stride from different places."""
    if not one or not other or one[-1] < other[0] or other[-1] < one[0]:
        return True
    return one.step == other.step and (one.start - other.start) % one.step != 0


TAKE_VIEWS = (
    LinalgStructuredOperation,
    KernelOp,
    tensor.ExtractSliceOp,
    tensor.InsertSliceOp,
    tensor.ExtractOp,
    tensor.InsertOp,
    tensor.DimOp,
    tensor.PadOp,
    ParallelInsertSliceOp,
    ForallOp,
    scf.ForOp,
    scf.YieldOp,
)
"""What becomes ops that take buffers of any layout."""


def empty(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.empty -> nothing: the op that writes it allocates"""


def extract(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.extract %t[%i] -> memref.load %m[%i]"""
    assert isinstance(op, tensor.ExtractOp)
    indices = [to.value(index) for index in op.indices]
    to.new[op.result] = to.builder.insert(memref.LoadOp.get(to.source(op.tensor), indices)).res


def insert(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.insert %v into %t[%i] -> memref.store %v, %m[%i]"""
    assert isinstance(op, tensor.InsertOp)
    buffer, root = to.destination(op, op.dest, reads=True)
    indices = [to.value(index) for index in op.indices]
    to.builder.insert(memref.StoreOp.get(to.value(op.scalar), buffer, indices))
    to.assign(op.result, buffer, root)


def splat(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.splat %v -> linalg.fill %v into a fresh buffer"""
    assert isinstance(op, tensor.SplatOp)
    sizes = to.indices(tensor_shape(op.result), op.dynamicSizes)
    fresh = to.allocate(op.result.type, sizes)
    to.builder.insert(linalg.FillOp((to.value(op.input),), (fresh,), ()))
    to.assign(op.result, fresh, Root(writable=True))


def from_elements(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.from_elements %a, %b -> memref.store of each into a fresh buffer"""
    assert isinstance(op, tensor.FromElementsOp)
    fresh, shape = to.allocate(op.result.type), tensor_shape(op.result)
    indices = [index_value(to.builder, index) for index in range(max(shape, default=0))]
    for at, element in enumerate(op.elements):
        position = [indices[index] for index in np.unravel_index(at, shape)]
        to.builder.insert(memref.StoreOp.get(to.value(element), fresh, position))
    to.assign(op.result, fresh, Root(writable=True))


def dim(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.dim -> the number or the value that the axis is as large as"""
    assert isinstance(op, tensor.DimOp)
    axis = constant_index(op.index)
    if axis is None:
        to.reject("expected a constant axis")
    sizes = to.sizes(op.source)
    if not 0 <= axis < len(sizes):
        to.reject(f"expected one of {len(sizes)} dimensions, got {axis}")
    to.new[op.result] = index_value(to.builder, sizes[axis])


def cast(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.cast -> the same buffer, by memref.cast where its type says less than the cast's"""
    assert isinstance(op, tensor.CastOp)
    source = to.source(op.source)
    type = memref_type(source)
    pairs = zip(type.get_shape(), tensor_shape(op.dest), strict=True)
    shape = [new if old == DYNAMIC_INDEX else old for old, new in pairs]
    if list(type.get_shape()) != shape:
        wanted = MemRefType(type.element_type, shape, type.layout)
        source = to.builder.insert(memref.CastOp.get(source, wanted)).results[0]
    root = Root(writable=True) if is_empty(op.source) else to.roots[op.source]
    to.assign(op.dest, source, root)


def reshape(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.collapse_shape / expand_shape %t -> the memref op: a view of the same buffer

    Of a copy where the buffer has gaps.
    """
    assert isinstance(op, tensor.CollapseShapeOp | tensor.ExpandShapeOp)
    source, type = to.dense(op.src), buffer_type(op.result.type)
    own = not is_empty(op.src) and source is to.new[op.src]
    root = to.roots[op.src] if own else Root(writable=True)
    if DYNAMIC_INDEX in tensor_shape(op.result):
        to.assign(op.result, sized_view(to.builder, source, reshaped_sizes(to, op)), root)
        return
    properties: dict[str, Attribute] = {"reassociation": op.reassociation}
    if isinstance(op, tensor.CollapseShapeOp):
        view = memref.CollapseShapeOp.create(
            operands=[source], result_types=[type], properties=properties
        )
    else:
        properties["static_output_shape"] = op.static_output_shape
        view = memref.ExpandShapeOp.create(
            operands=[source], result_types=[type], properties=properties
        )
    to.builder.insert(view)
    to.assign(op.result, view.results[0], root)


def reshaped_sizes(
    to: FunctionBufferizer, op: tensor.CollapseShapeOp | tensor.ExpandShapeOp
) -> Sequence[Index]:
    """Return the sizes of what a reshape makes: said by its operands, or products."""
    if isinstance(op, tensor.ExpandShapeOp):
        return to.indices(op.static_output_shape.get_values(), op.dynamic_output_shape)
    sizes, found = to.sizes(op.src), list[Index]()
    for group in op.reassociation:
        size: Index = 1
        for axis in group:
            size = product(to.builder, size, sizes[axis.value.data])
        found.append(size)
    return found


def without_axes(type: AnyMemRef, shape: tuple[int, ...]) -> AnyMemRef:
    """Return the type of a subview without the axes of one element that a slice leaves out."""
    kept = kept_axes(type.get_shape(), shape)
    if len(kept) == type.get_num_dims():
        return type
    strides = type.get_strides()
    assert strides is not None
    layout = StridedLayoutAttr([strides[axis] for axis in kept], type.get_offset())
    return MemRefType(type.element_type, [type.get_shape()[axis] for axis in kept], layout)


def view_of(to: FunctionBufferizer, source: SSAValue, op: Slice, part: SSAValue) -> SSAValue:
    """View the box that an op on slices names, in the shape of the slice."""
    offsets = to.indices(op.static_offsets.get_values(), op.offsets)
    sizes = to.indices(op.static_sizes.get_values(), op.sizes)
    strides = to.indices(op.static_strides.get_values(), op.strides)
    whole = memref.SubviewOp.infer_result_type(memref_type(source), offsets, sizes, strides)
    type = without_axes(whole, tensor_shape(part))
    return to.builder.insert(memref.SubviewOp.get(source, offsets, sizes, strides, type)).result


def takes_views(op: Operation) -> bool:
    """Whether an op, or what reads its result, takes buffers of any layout."""
    if isinstance(op, tensor.CastOp):
        return all(takes_views(use.operation) for use in op.dest.uses)
    return isinstance(op, TAKE_VIEWS)


def extract_slice(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.extract_slice %t -> memref.subview in loops, where its readers take any layout

    Else a dense copy of that, which any reshape can take.
    """
    assert isinstance(op, tensor.ExtractSliceOp)
    source = to.source(op.source)
    view = view_of(to, source, op, op.result)
    if to.in_loop and all(takes_views(use.operation) for use in op.result.uses):
        root = Root(writable=True) if is_empty(op.source) else to.roots[op.source]
        to.assign(op.result, view, root)
        return
    to.new[op.result] = view
    to.assign(op.result, to.copy_of(op.result), Root(writable=True))


def insert_slice(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.insert_slice %s into %t -> memref.copy %s to a subview of %t's buffer

    Nothing where %s is in that subview already.
    """
    assert isinstance(op, tensor.InsertSliceOp)
    if op in to.interleaved:
        buffer, root = to.interleaved[op]
        if to.roots.get(op.source) is not root:
            to.builder.insert(
                memref.CopyOp(to.source(op.source), view_of(to, buffer, op, op.source))
            )
        to.assign(op.result, buffer, root)
        return
    buffer, root = to.destination(op, op.dest, reads=True)
    in_place = buffer is to.new.get(op.dest) and to.in_place.is_own_slice(op, op.source)
    if not in_place:
        source = to.source(op.source)
        to.builder.insert(memref.CopyOp(source, view_of(to, buffer, op, op.source)))
    to.assign(op.result, buffer, root)


def place_in_batch(to: FunctionBufferizer, result: SSAValue) -> tuple[SSAValue, Root] | None:
    """Return the place of a part in its batch where that is all that becomes of an op's result, or
    that of the result of `scf.if` where a branch ends with it.

    None where others read the result, or what the other parts made, and where the part goes into
    a tensor from outside of the loop, which all parts start from.
    """
    end, owner = only_user(result), result.owner
    if isinstance(owner, Block) or not isinstance(end, Operation) or owner.parent is not end.parent:
        return None
    around = end.parent_op()
    if isinstance(end, scf.YieldOp) and isinstance(around, scf.IfOp):
        choice = around.results[list(end.operands).index(result)]
        return to.new[choice], to.roots[choice]
    if not isinstance(end, tensor.InsertSliceOp) or not is_batch_loop(around):
        return None
    whole = end.dest
    if not isinstance(whole, BlockArgument) or whole.owner is not owner.parent:
        return None
    if only_user(whole) is not end:
        return None
    return view_of(to, to.new[whole], end, end.source), to.roots[whole]


def place_between(to: FunctionBufferizer, op: KernelOp) -> tuple[SSAValue, Root] | None:
    """Return where a kernel can write since its result is put there; None where it cannot."""
    insertion = insertion_of(op)
    if insertion is None:
        return None
    if insertion not in to.interleaved:
        chain = interleaved(insertion)
        is_late = any(each.result in to.new for each in chain)
        if not chain or is_late or op.parent is not insertion.parent:
            return None
        whole = to.allocate(insertion.result.type), Root(writable=True)
        to.interleaved.update((each, whole) for each in chain)
    buffer, root = to.interleaved[insertion]
    return view_of(to, buffer, insertion, insertion.source), root


def pad(to: FunctionBufferizer, op: Operation) -> None:
    """tensor.pad %t -> fill a fresh buffer, copy %t into its middle"""
    assert isinstance(op, tensor.PadOp)
    low, high = op.static_low.get_values(), op.static_high.get_values()
    if any(size < 0 and size != DYNAMIC_INDEX for size in (*low, *high)):
        to.reject(f"expected padding of at least 0, got {list(low)} and {list(high)}")
    value = op.region.block.last_op
    assert isinstance(value, tensor.YieldOp)
    padding = value.operands[0]
    if is_padding_computed(op):
        to.reject("expected padding that is one value, got what its body computes")
    if isinstance(padding.owner, Operation) and padding.owner.parent is op.region.block:
        to.new[padding] = to.builder.insert(padding.owner.clone(to.new)).results[0]
    if any(size < 0 for size in tensor_shape(op.result)) and not to.size_values.names:
        to.reject(f"expected a static shape, got '{op.result.type}'")
    source, sizes = to.source(op.source), to.sizes(op.source)
    low, high = to.indices(low, op.low), to.indices(high, op.high)
    padded = [
        total(to.builder, total(to.builder, before, size), after)
        for before, size, after in zip(low, sizes, high, strict=True)
    ]
    fresh = to.allocate(op.result.type, padded)
    to.builder.insert(linalg.FillOp((to.value(padding),), (fresh,), ()))
    ones = [1] * len(low)
    type = memref.SubviewOp.infer_result_type(memref_type(fresh), low, sizes, ones)
    middle = to.builder.insert(memref.SubviewOp.get(fresh, low, sizes, ones, type))
    to.builder.insert(memref.CopyOp(source, middle.result))
    to.assign(op.result, fresh, Root(writable=True))


RULES: Rules = {
    tensor.EmptyOp: empty,
    tensor.ExtractOp: extract,
    tensor.InsertOp: insert,
    tensor.SplatOp: splat,
    tensor.FromElementsOp: from_elements,
    tensor.DimOp: dim,
    tensor.CastOp: cast,
    tensor.CollapseShapeOp: reshape,
    tensor.ExpandShapeOp: reshape,
    tensor.ExtractSliceOp: extract_slice,
    tensor.InsertSliceOp: insert_slice,
    tensor.PadOp: pad,
    PadOp: pad,
}
