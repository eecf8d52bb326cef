"""Memory ops in loop nests: flat views, offsets, and checks of indices that are not provable."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Literal, NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import Array, ShapedType, dtype_of, fresh_array, is_half
from gawee_dialect.interpreter.functions import RunError
from gawee_dialect.interpreter.loops.writer import (
    Buffer,
    Name,
    NotCompilable,
    Writer,
    literal,
    strided,
)

FORMATS: dict[str, Literal["f", "d", "q", "i", "h", "H", "b", "B", "?"]] = {
    "float32": "f",
    "float64": "d",
    "int64": "q",
    "int32": "i",
    "int16": "h",
    "uint16": "H",
    "int8": "b",
    "uint8": "B",
    "bool": "?",
}
"""What memory views call the dtypes that they can read, by NumPy's name."""


def flat_view(array: Array) -> "memoryview[float] | memoryview[int] | memoryview[bool] | Array":
    """View an array's memory in one dimension, from its first element to its last.

    float16 and bfloat16 stay arrays: Python's memory views cannot read them.
    """
    if array.size == 0:
        array = np.empty(1, array.dtype)
    item = array.dtype.itemsize
    span = _span(array.shape, array.strides, item)
    flat = as_strided(array, (span,), (item,))
    if array.dtype.name not in FORMATS:
        return flat
    # By way of bytes: NumPy describes elements that are not aligned in a way that Python's memory
    # views cannot read.
    return flat.view(np.uint8).data.cast(FORMATS[array.dtype.name])


def _span(shape: Sequence[int], strides: Sequence[int], step: int) -> int:
    """Return the steps from the first element to behind the last."""
    distances = zip(shape, strides, strict=True)
    return 1 + sum((size - 1) * stride // step for size, stride in distances)


def flat_vectors(array: Array) -> Array:
    """View an array of vectors, the last axis being their lanes, with one axis before that."""
    if array.size == 0:
        array = np.empty((1, *array.shape[-1:]), array.dtype)
    lanes, item = array.shape[-1], array.dtype.itemsize
    span = _span(array.shape[:-1], array.strides[:-1], lanes * item)
    return as_strided(array, (span, lanes), (lanes * item, item))


def element_lanes(type: Attribute) -> tuple[int, ...]:
    """Return the shape of the elements of a memref or tensor: () for scalars, (lanes,) for vectors.

    The second are in memrefs only.
    """
    assert isa(type, ShapedType)
    element = type.get_element_type()
    return element.get_shape() if isa(element, VectorType[Attribute]) else ()


def has_strides(array: Array, type: Attribute) -> bool:
    """Whether an array lies in memory as a memref type says."""
    shape, strides = strided(type)
    lanes = element_lanes(type)
    step = array.dtype.itemsize * prod(lanes)
    return array.shape == (*shape, *lanes) and all(
        size == 1 or actual == stride * step
        for size, actual, stride in zip(shape, array.strides, strides, strict=False)
    )


def out_of_bounds(op: Operation, axis: int, size: int) -> Callable[[int], NoReturn]:
    """Make what a failed check of an index calls."""

    def fail(index: int) -> NoReturn:
        raise RunError(
            Diagnostic.at(
                op,
                f"cannot run: index {index} is out of bounds for dimension {axis} of size {size}",
            )
        )

    return fail


def check_index(
    writer: Writer, op: Operation, axis: int, index: Name, size: int, reached: int = 1
) -> None:
    """Write a check that an index is from 0 to size - 1, unless its range proves it.

    `reached` elements are accessed from there on; all must be in the same bounds.
    """
    ahead = reached - 1
    if index.range is not None and index.range[0] >= 0 and index.range[1] + ahead < size:
        return
    fail = writer.bind(out_of_bounds(op, axis, size))
    last = f"{index.text} + {ahead}" if ahead else index.text
    writer.line(f"if not 0 <= {index.text} < {size - ahead}: {fail}({last})")


def element(
    writer: Writer, op: Operation, memory: SSAValue, indices: Sequence[SSAValue]
) -> tuple[Buffer, str]:
    """Write the checks of an access; returns the buffer and the text of the element."""
    buffer = writer.buffer(memory)
    names = [writer.name(index) for index in indices]
    for axis, (name, size) in enumerate(zip(names, buffer.shape, strict=True)):
        check_index(writer, op, axis, name, size)
    return buffer, f"{buffer.view}[{writer.position(buffer, names)}]"


def write_load(writer: Writer, op: memref.LoadOp | tensor.ExtractOp) -> None:
    """t = m[position]"""
    memory, result = op.operands[0], op.results[0]
    _, place = element(writer, op, memory, op.indices)
    if element_lanes(memory.type):
        writer.define(result, f"{place}.copy()")
        return
    half = is_half(dtype_of(memory.type))
    writer.define(result, f"float({place})" if half else place)


def write_store(writer: Writer, op: memref.StoreOp | tensor.InsertOp) -> None:
    """m[position] = value"""
    value, memory = op.operands[:2]
    buffer, place = element(writer, op, memory, op.indices)
    writer.mark_stored(buffer)
    writer.line(f"{place} = {writer.name(value).text}")
    if isinstance(op, tensor.InsertOp):
        writer.buffers[op.result] = buffer


def write_own(writer: Writer, init: SSAValue) -> Buffer:
    """m = copy(init): memory for the versions of a tensor that a loop carries."""
    source = writer.buffer(init)
    count = prod(source.shape)

    def copy(view: memoryview) -> object:
        return flat_view(np.array(np.asarray(view)[:count]))

    name = writer.fresh("m")
    writer.line(f"{name} = {writer.bind(copy)}({source.view})")
    return Buffer(name, (), source.shape, source.strides)


def write_alloca(writer: Writer, op: memref.AllocaOp | memref.AllocOp) -> None:
    """m = fresh(): new memory every time the op is reached."""
    type = op.memref.type
    shape, strides = strided(type)
    flat = flat_vectors if element_lanes(type) else flat_view
    fresh = writer.bind(lambda: flat(fresh_array(type)))
    name = writer.fresh("m")
    writer.line(f"{name} = {fresh}()")
    writer.note_made(name)
    writer.buffers[op.memref] = Buffer(name, (), shape, strides)


def write_reshape(
    writer: Writer, op: memref.CollapseShapeOp | memref.ExpandShapeOp | memref.CastOp
) -> None:
    """The same memory under the strides of the result's type."""
    source, result = writer.buffer(op.operands[0]), op.results[0]
    shape, strides = strided(result.type)
    writer.buffers[result] = Buffer(source.view, source.offset, shape, strides)


def write_subview(writer: Writer, op: memref.SubviewOp) -> None:
    """The same memory from another offset on, under the strides of the result's type."""
    source = writer.buffer(op.source)
    _, strides = strided(op.result.type)
    offsets = _mixed(writer, op.static_offsets, op.offsets)
    sizes = op.static_sizes.get_values()
    steps = op.static_strides.get_values()
    if DYNAMIC_INDEX in (*sizes, *steps):
        raise NotCompilable("dynamic sizes or strides")
    terms = list(source.offset)
    for axis, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
        check_index(writer, op, axis, offset, source.shape[axis] - (size - 1) * step)
        terms.append(writer.term(offset, source.strides[axis]))
    shape, _ = strided(op.result.type)
    writer.buffers[op.result] = Buffer(source.view, tuple(terms), shape, strides)


def _mixed(
    writer: Writer, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]
) -> list[Name]:
    values = iter(dynamic)
    return [
        writer.name(next(values))
        if value == DYNAMIC_INDEX
        else Name(literal(value), 0, (value, value))
        for value in static.get_values()
    ]


def write_copy(writer: Writer, op: memref.CopyOp) -> None:
    """Copy one box of memory to another, at once."""
    source, target = writer.buffer(op.source), writer.buffer(op.destination)
    writer.mark_stored(target)

    def copy(from_view: memoryview, from_: int, to_view: memoryview, to: int) -> None:
        box(to_view, to, target)[...] = box(from_view, from_, source)

    def box(view: memoryview, offset: int, buffer: Buffer) -> Array:
        flat = np.asarray(view)
        strides = [stride * flat.strides[0] for stride in buffer.strides]
        shape = (*buffer.shape, *flat.shape[1:])
        return as_strided(flat[offset:], shape, (*strides, *flat.strides[1:]))

    function = writer.bind(copy)
    writer.line(
        f"{function}({source.view}, {writer.sum(source.offset)}, "
        f"{target.view}, {writer.sum(target.offset)})"
    )
