"""What the ops of the vector dialect do: a vector is an array of its lanes.

Lanes that a load or store reaches must be in one row of the memref; of a masked access, those that
the mask has set.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, VectorType
from xdsl.interpreter import Interpreter, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arith import signed, unsigned
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.extremes import maximum, minimum
from gawee_dialect.interpreter.functions import OpFunctions
from gawee_dialect.interpreter.math import fma
from gawee_dialect.interpreter.scalars import Evaluate, plain, scalar_functions

Kind = vector.CombiningKindFlag


def vector_shape(type: Attribute) -> tuple[int, ...]:
    """Return the shape of a vector type, () for any other type."""
    return type.get_shape() if isa(type, VectorType[Attribute]) else ()


def _broadcast(op: Operation, operands: Sequence[Array]) -> Array:
    return np.broadcast_to(operands[0], vector_shape(op.results[0].type)).copy()


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
