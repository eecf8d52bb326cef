"""What the ops of the vector dialect do: a vector is an array of its lanes.

Lanes that a load or store reaches must be in one row of the memref; of a masked access, those that
the mask has set.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects import ub, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType, VectorType
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.dialect.arrays import OtherNumbers
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arith import signed, unsigned
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.math import fma, maximum, minimum
from gawee_dialect.interpreter.scalars import Evaluate, floats_of, plain, scalar_functions
from gawee_dialect.upstream.vector import MaskOp, MultiReductionOp, YieldOp

Kind = vector.CombiningKindFlag


def vector_shape(type: Attribute) -> tuple[int, ...]:
    """Return the shape of a vector type, () for any other type."""
    return type.get_shape() if isa(type, VectorType[Attribute]) else ()


def _broadcast(op: Operation, operands: Sequence[Array]) -> Array:
    (value,), shape = operands, vector_shape(op.results[0].type)
    if isinstance(value, OtherNumbers):
        return np.broadcast_to(value, shape).copy()
    return np.full(shape, value)


def _create_mask(op: Operation, operands: Sequence[Array]) -> Array:
    shape = vector_shape(op.results[0].type)
    result = np.ones(shape, np.bool_)
    for places, count in zip(np.indices(shape, sparse=True), operands, strict=True):
        result &= np.less(places, count)
    return result


def _positions(static: Sequence[int], dynamic: Sequence[Array], source: Array) -> tuple[int, ...]:
    values = iter(dynamic)
    positions = tuple(int(next(values)) if each == DYNAMIC_INDEX else each for each in static)
    for axis, position in enumerate(positions):
        if not 0 <= position < source.shape[axis]:
            raise InterpretationError(
                f"lane {position} is out of bounds for a vector of {source.shape[axis]} lanes"
            )
    return positions


def _extract(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, vector.ExtractOp)
    source, *dynamic = operands
    return source[_positions(op.static_position.get_values(), dynamic, source)].copy()


def _insert(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, vector.InsertOp)
    value, target, *dynamic = operands
    result = target.copy()
    result[_positions(op.static_position.get_values(), dynamic, target)] = value
    return result


def _shuffle(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, vector.ShuffleOp)
    return np.concatenate(operands)[np.array(op.mask.get_values())]


def _bitcast(op: Operation, operands: Sequence[Array]) -> Array:
    return operands[0].view(dtype_of(op.results[0].type))


REDUCTIONS: Mapping[Kind, Callable[[Array, Array], Array]] = {
    Kind.ADD: np.add,
    Kind.MUL: np.multiply,
    Kind.AND: np.bitwise_and,
    Kind.OR: np.bitwise_or,
    Kind.XOR: np.bitwise_xor,
    Kind.MAXIMUMF: maximum,
    Kind.MINIMUMF: minimum,
    Kind.MAXNUMF: np.fmax,
    Kind.MINNUMF: np.fmin,
    Kind.MAXSI: lambda lhs, rhs: np.maximum(signed(lhs), signed(rhs)),
    Kind.MINSI: lambda lhs, rhs: np.minimum(signed(lhs), signed(rhs)),
    Kind.MAXUI: lambda lhs, rhs: np.maximum(unsigned(lhs), unsigned(rhs)),
    Kind.MINUI: lambda lhs, rhs: np.minimum(unsigned(lhs), unsigned(rhs)),
}
"""What combines two lanes of a reduction."""


def _reduce(op: Operation, operands: Sequence[Array]) -> Array:
    assert isinstance(op, vector.ReductionOp)
    combine = REDUCTIONS[op.kind.data]
    dtype = operands[0].dtype
    lanes = [*operands[1:], *operands[0]]
    total = lanes[0]
    for lane in lanes[1:]:  # in order, as native code without `reassoc`
        total = combine(total, lane).astype(dtype)
    return total


VECTOR: dict[type[Operation], Evaluate] = {
    vector.BroadcastOp: _broadcast,
    vector.FMAOp: plain(fma),
    vector.CreateMaskOp: _create_mask,
    vector.ExtractOp: _extract,
    vector.InsertOp: _insert,
    vector.ShuffleOp: _shuffle,
    vector.BitcastOp: _bitcast,
    vector.ReductionOp: _reduce,
}
"""What every op that touches no memory computes."""

VectorFunctions = scalar_functions("VectorFunctions", VECTOR)


def row_from(array: Array, indices: Sequence[Array], reached: int) -> Array:
    """Return the rest of a row of an array, from an index on.

    Raises InterpretationError where the `reached` elements from there are not all in the row.
    """
    places = [int(index) for index in indices]
    for axis, (place, size) in enumerate(zip(places, array.shape, strict=True)):
        last = place + reached - 1 if axis == len(places) - 1 else place
        if reached and not 0 <= place <= last < size:
            raise InterpretationError(
                f"index {place if place < 0 or place >= size else last} is out of bounds "
                f"for dimension {axis} of size {size}"
            )
    return array[(*places[:-1], slice(max(places[-1], 0), None))]


def lanes_reached(mask: Array) -> int:
    """Return how many elements a masked access reaches: up to the last lane that is set."""
    return int(np.max(np.nonzero(mask)[0], initial=-1)) + 1


def load_masked(row: Array, mask: Array, others: Array) -> Array:
    """Return the elements of a row that a mask has set, and the others of a vector."""
    result = others.copy()
    np.copyto(result[: row.size], row[: mask.size], where=mask[: row.size].astype(np.bool_))
    return result


def store_masked(row: Array, mask: Array, value: Array) -> None:
    """Overwrite the elements of a row that a mask has set."""
    where = mask[: row.size].astype(np.bool_)
    np.copyto(row[: mask.size], value[: row.size], where=where)


@register_impls
class VectorMemoryFunctions(OpFunctions):
    """Implementations of vector ops that read or write a memref."""

    @impl(vector.LoadOp)
    def load(self, interpreter: Interpreter, op: vector.LoadOp, args: PythonValues) -> PythonValues:
        (lanes,) = vector_shape(op.result.type)
        return (row_from(args[0], args[1:], lanes)[:lanes].copy(),)

    @impl(vector.StoreOp)
    def store(
        self, interpreter: Interpreter, op: vector.StoreOp, args: PythonValues
    ) -> PythonValues:
        value, array, *indices = args
        row_from(array, indices, value.size)[: value.size] = value
        return ()

    @impl(vector.MaskedLoadOp)
    def masked_load(
        self, interpreter: Interpreter, op: vector.MaskedLoadOp, args: PythonValues
    ) -> PythonValues:
        array, *indices, mask, others = args
        return (load_masked(row_from(array, indices, lanes_reached(mask)), mask, others),)

    @impl(vector.MaskedStoreOp)
    def masked_store(
        self, interpreter: Interpreter, op: vector.MaskedStoreOp, args: PythonValues
    ) -> PythonValues:
        array, *indices, mask, value = args
        store_masked(row_from(array, indices, lanes_reached(mask)), mask, value)
        return ()


# What the ops of the vector dialect do that upstream's vectorization makes, of several dimensions.
#
# A transfer is about a box of a tensor or memref: so many elements along each axis that the map
# names, one along the others. What is not in bounds, or not set in the mask, is the padding of a
# read, and is not written.


Transfer = vector.TransferReadOp | vector.TransferWriteOp


def _axes(map: AffineMap) -> list[int | None]:
    """Return the axis of the memory that each axis of the vector goes along; None for none."""
    return [e.position if isinstance(e, AffineDimExpr) else None for e in map.results]


def _in_bounds(
    op: Transfer, array: Array, indices: Sequence[Array], box: Sequence[int], mask: Array | None
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the part of an array that a box from indices on has, and the part of the box.

    Raises InterpretationError where an axis leaves the array that is said not to, or that is no
    axis of the vector.
    """
    axes = _axes(op.permutation_map.data)
    certain = {axis for axis, each in zip(axes, op.in_bounds, strict=True) if bool(each)}
    parts: list[slice] = []
    within: list[slice] = []
    for axis, (index, size, count) in enumerate(zip(indices, array.shape, box, strict=True)):
        begin, reached = int(index), count
        if mask is not None and axis in axes:
            others = tuple(each for each in range(mask.ndim) if each != _mask_axis(axes, axis))
            reached = int(np.max(np.nonzero(mask.any(axis=others))[0], initial=-1)) + 1
        is_certain = axis in certain or axis not in axes
        last = begin + reached - 1
        if reached and is_certain and not 0 <= begin <= last < size:
            wrong = begin if not 0 <= begin < size else last
            raise InterpretationError(
                f"index {wrong} is out of bounds for dimension {axis} of size {size}"
            )
        first = min(max(begin, 0), size)
        end = max(first, min(begin + count, size))
        parts.append(slice(first, end))
        within.append(slice(first - begin, end - begin))
    return tuple(parts), tuple(within)


def _mask_axis(axes: Sequence[int | None], axis: int) -> int:
    """Return which axis of a mask an axis of the memory is: it has those that are named."""
    return sorted(each for each in axes if each is not None).index(axis)


def _boxed_mask(axes: Sequence[int | None], mask: Array, box: Sequence[int]) -> Array:
    return mask.reshape([n if axis in axes else 1 for axis, n in enumerate(box)])


def _box(axes: Sequence[int | None], rank: int, shape: Sequence[int]) -> list[int]:
    sizes = dict(zip(axes, shape, strict=True))
    return [sizes.get(axis, 1) for axis in range(rank)]


def read_box(
    interpreter: Interpreter,
    op: vector.TransferReadOp,
    args: PythonValues,
    mask: Array | None,
) -> Array:
    """Return the vector that a transfer reads; raises InterpretationError out of bounds."""
    array, *indices, padding = args
    axes, shape = _axes(op.permutation_map.data), vector_shape(op.result.type)
    box = _box(axes, array.ndim, shape)
    part, within = _in_bounds(op, array, indices, box, mask)
    result = floats_of(interpreter).filled(box, 0, array.dtype)
    result[...] = padding
    result[within] = array[part]
    if mask is not None:
        result = _merged(_boxed_mask(axes, mask, box), result, padding)
    used = [axis for axis in axes if axis is not None]
    rest = [axis for axis in range(array.ndim) if axis not in used]
    moved = result.transpose([*used, *rest])
    moved = moved.reshape([1 if axis is None else box[axis] for axis in axes])
    return np.broadcast_to(moved, shape)


def write_box(op: vector.TransferWriteOp, args: PythonValues, mask: Array | None) -> PythonValues:
    """Write a vector; return the tensor where it is one. Raises InterpretationError."""
    value, array, *indices = args
    axes = [axis for axis in _axes(op.permutation_map.data) if axis is not None]  # all of them
    box = _box(axes, array.ndim, value.shape)
    part, within = _in_bounds(op, array, indices, box, mask)
    order = sorted(range(len(axes)), key=lambda axis: axes[axis])
    lanes = value.transpose(order).reshape(box)[within]
    is_memory = isinstance(op.source.type, MemRefType)
    result = array if is_memory else np.copy(array)
    if mask is not None:
        lanes = _merged(_boxed_mask(axes, mask, box)[within], lanes, result[part])
    result[part] = lanes
    return () if is_memory else (result,)


def reduce_axes(op: MultiReductionOp, args: PythonValues, mask: Array | None) -> Array:
    """Combine a vector along axes, in order, with what there was; lanes masked off are left out."""
    source, start = args
    combine, dims = REDUCTIONS[op.kind.data], op.reduction_dims.get_values()
    kept = [axis for axis in range(source.ndim) if axis not in dims]
    lanes = source.transpose([*dims, *kept])
    set_lanes = None if mask is None else mask.transpose([*dims, *kept])
    total = start
    for place in np.ndindex(*lanes.shape[: len(dims)]):
        combined = combine(total, lanes[place]).astype(source.dtype)
        total = combined if set_lanes is None else np.where(set_lanes[place], combined, total)
    return total


def _mask(interpreter: Interpreter, op: Operation, own: SSAValue | None = None) -> Array | None:
    """Return the mask of an op: its own, or that of the `vector.mask` which it is in."""
    parent = op.parent_op()
    given = parent.mask if isinstance(parent, MaskOp) else own
    return None if given is None else interpreter.get_values((given,))[0]


def _merged(mask: Array, lanes: Array, others: Array) -> Array:
    return np.where(mask, lanes, others)


@register_impls
class VectorTransferFunctions(OpFunctions):
    """Implementations of transfers, reductions along axes, and of what is masked."""

    @impl(ub.PoisonOp)
    def poison(self, interpreter: Interpreter, op: ub.PoisonOp, args: PythonValues) -> PythonValues:
        type = op.result.type
        memory = TensorType(getattr(type, "element_type", type), vector_shape(type))
        return (floats_of(interpreter).fresh(memory),)

    @impl(vector.TransferReadOp)
    def transfer_read(
        self, interpreter: Interpreter, op: vector.TransferReadOp, args: PythonValues
    ) -> PythonValues:
        mask = _mask(interpreter, op, op.mask)
        return (read_box(interpreter, op, args[: len(op.indices) + 2], mask),)

    @impl(vector.TransferWriteOp)
    def transfer_write(
        self, interpreter: Interpreter, op: vector.TransferWriteOp, args: PythonValues
    ) -> PythonValues:
        return write_box(op, args[: len(op.indices) + 2], _mask(interpreter, op, op.mask))

    @impl(MultiReductionOp)
    def multi_reduction(
        self, interpreter: Interpreter, op: MultiReductionOp, args: PythonValues
    ) -> PythonValues:
        return (reduce_axes(op, args, _mask(interpreter, op)),)

    @impl(MaskOp)
    def mask(self, interpreter: Interpreter, op: MaskOp, args: PythonValues) -> PythonValues:
        results = interpreter.run_ssacfg_region(op.body, ())
        if op.otherwise is None:
            return results
        mask, otherwise = args
        return (_merged(mask, results[0], otherwise),)

    @impl_terminator(YieldOp)
    def yield_(
        self, interpreter: Interpreter, op: YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()
