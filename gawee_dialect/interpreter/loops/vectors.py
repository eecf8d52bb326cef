"""Vectors in loop nests: arrays of their lanes, never changed in place; slices of buffers."""

from collections.abc import Callable

import numpy as np
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import Array, dtype_of
from gawee_dialect.interpreter.loops.memory import check_index, out_of_bounds
from gawee_dialect.interpreter.loops.writer import Buffer, Name, NotCompilable, Writer, located
from gawee_dialect.interpreter.scalars import evaluate_to
from gawee_dialect.interpreter.structured import SCALARS
from gawee_dialect.interpreter.vector import (
    VECTOR,
    lanes_reached,
    load_masked,
    store_masked,
    vector_shape,
)

ON_ARRAYS: dict[type[Operation], str] = {
    arith.AddfOp: "{0} + {1}",
    arith.SubfOp: "{0} - {1}",
    arith.MulfOp: "{0} * {1}",
    arith.NegfOp: "-{0}",
}
"""Ops that NumPy's operators compute on arrays of lanes."""


def is_vector(value: SSAValue) -> bool:
    """Whether a value is a vector."""
    return isa(value.type, VectorType[Attribute])


def on_vectors(op: Operation) -> bool:
    """Whether an op takes or makes a vector, memory aside."""
    return any(map(is_vector, (*op.operands, *op.results)))


def write_vector_op(writer: Writer, op: Operation) -> None:
    """Write an op that takes or makes a vector; raises NotCompilable where it has no definition."""
    if isinstance(op, arith.ConstantOp):
        return  # its array stands where it is used
    names = [writer.name(operand).text for operand in op.operands]
    evaluate = SCALARS.get(type(op)) or VECTOR.get(type(op))
    if evaluate is None:
        raise NotCompilable(f"'{op.name}'")
    if type(op) in ON_ARRAYS:
        writer.define(op.results[0], ON_ARRAYS[type(op)].format(*names))
        return
    dtypes = [dtype_of(operand.type) for operand in op.operands]
    scalar = not is_vector(op.results[0])
    dtype = dtype_of(op.results[0].type)

    def call(*operands: Array) -> object:
        typed = [
            np.asarray(value).astype(each, copy=False)[()]
            for each, value in zip(dtypes, operands, strict=True)
        ]
        result = evaluate_to(dtype, evaluate, op, typed)
        return result.item() if scalar else result

    writer.define(op.results[0], f"{writer.bind(located(op, call))}({', '.join(names)})")


def _place(
    writer: Writer,
    op: vector.LoadOp | vector.StoreOp | vector.MaskedLoadOp | vector.MaskedStoreOp,
    lanes: int,
) -> tuple[Buffer, str, Name, Name]:
    """Write the checks of an access.

    Returns the buffer, the text of the first element's place, the last index and its bound.
    """
    buffer = writer.buffer(op.base)
    names = [writer.name(index) for index in op.indices]
    masked = isinstance(op, vector.MaskedLoadOp | vector.MaskedStoreOp)
    last = len(names) - 1
    for axis, (name, size) in enumerate(zip(names, buffer.shape, strict=True)):
        if axis < last or not masked:
            check_index(writer, op, axis, name, size, lanes if axis == last else 1)
    return buffer, writer.position(buffer, names), names[last], buffer.shape[last]


def write_vector_load(writer: Writer, op: vector.LoadOp) -> None:
    """v = a[position : position + lanes].copy()"""
    (lanes,) = vector_shape(op.result.type)
    buffer, place, _, _ = _place(writer, op, lanes)
    array = writer.array(buffer)
    writer.define(op.result, f"{array}[{place} : {place} + {lanes}].copy()")


def write_vector_store(writer: Writer, op: vector.StoreOp) -> None:
    """a[position : position + lanes] = v"""
    (lanes,) = vector_shape(op.vector.type)
    buffer, place, _, _ = _place(writer, op, lanes)
    writer.mark_stored(buffer)
    array = writer.array(buffer)
    writer.line(f"{array}[{place} : {place} + {lanes}] = {writer.name(op.vector).text}")


def _row(
    op: vector.MaskedLoadOp | vector.MaskedStoreOp,
) -> Callable[[Array, int, int, int, Array], Array]:
    """Make what checks a masked access and returns the rest of its row."""
    axis = len(op.indices) - 1

    def row(array: Array, place: int, index: int, size: int, mask: Array) -> Array:
        reached = lanes_reached(mask)
        if reached == 0:
            return array[:0]
        if not 0 <= index <= size - reached:
            out_of_bounds(op, axis, reached - 1)(index, size)
        return array[place : place + size - index]

    return row


def write_masked_load(writer: Writer, op: vector.MaskedLoadOp) -> None:
    """v = load_masked(the rest of the row, mask, others)"""
    (lanes,) = vector_shape(op.result.type)
    buffer, place, index, size = _place(writer, op, lanes)
    mask, others = writer.name(op.mask).text, writer.name(op.pass_thru).text
    row, load = writer.bind(_row(op)), writer.bind(load_masked)
    array = writer.array(buffer)
    rest = f"{row}({array}, {place}, {index.text}, {size.text}, {mask})"
    writer.define(op.result, f"{load}({rest}, {mask}, {others})")


def write_masked_store(writer: Writer, op: vector.MaskedStoreOp) -> None:
    """store_masked(the rest of the row, mask, v)"""
    (lanes,) = vector_shape(op.value_to_store.type)
    buffer, place, index, size = _place(writer, op, lanes)
    writer.mark_stored(buffer)
    mask, value = writer.name(op.mask).text, writer.name(op.value_to_store).text
    row, store = writer.bind(_row(op)), writer.bind(store_masked)
    array = writer.array(buffer)
    rest = f"{row}({array}, {place}, {index.text}, {size.text}, {mask})"
    writer.line(f"{store}({rest}, {mask}, {value})")
