"""Memory in loop nests: flat views, offsets, and checks of indices that are not provable."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.interpreter.arrays import Array, dtype_of, fresh_array, is_half, shaped_type
from gawee_dialect.interpreter.functions import RunError
from gawee_dialect.interpreter.loop_views import check_box
from gawee_dialect.interpreter.loops.writer import (
    Buffer,
    Name,
    NotCompilable,
    Writer,
    element_lanes,
    flat_vectors,
    flat_view,
    located,
    number,
    strided,
)
from gawee_dialect.upstream.tensor import kept_axes


def out_of_bounds(
    op: Operation, axis: int, ahead: int = 0, memory: str = ""
) -> Callable[[int, int], NoReturn]:
    """Make what a failed check calls with an index and the size; it reaches so far ahead."""

    def fail(index: int, size: int) -> NoReturn:
        wrong = index if not 0 <= index < size else index + ahead
        message = f"index {wrong} is out of bounds for dimension {axis} of size {size}{memory}"
        raise RunError(Diagnostic.at(op, f"cannot run: {message}"))

    return fail


def check_index(
    writer: Writer,
    op: Operation,
    axis: int,
    index: Name,
    size: Name,
    reached: int = 1,
    memory: str = "",
) -> None:
    """Write a check that an index is from 0 to size - 1, unless its range proves it.

    `reached` elements are accessed from there on; all must be in the same bounds.
    """
    ahead = reached - 1
    if _is_inside(index, ahead, size):
        return
    fail = writer.bind(out_of_bounds(op, axis, ahead, memory))
    bound = f"{size.text} - {ahead}" if ahead else size.text
    writer.line(f"if not 0 <= {index.text} < {bound}: {fail}({index.text}, {size.text})")


def _is_inside(index: Name, ahead: int, size: Name) -> bool:
    """Whether ranges prove that an index, and what is so far ahead of it, are inside of a size."""
    if index.range is None or size.range is None:
        return False
    return index.range[0] >= 0 and index.range[1] + ahead < size.range[0]


def element(
    writer: Writer, op: Operation, memory: SSAValue, names: Sequence[Name]
) -> tuple[Buffer, str]:
    """Write the checks of an access; returns the buffer and the text of the element."""
    buffer = writer.buffer(memory)
    for axis, (name, size) in enumerate(zip(names, buffer.shape, strict=True)):
        check_index(writer, op, axis, name, size, memory=f" ('{memory.type}')")
    return buffer, f"{buffer.view}[{writer.position(buffer, names)}]"


def write_load(writer: Writer, op: Operation, memory: SSAValue, names: Sequence[Name]) -> None:
    """t = m[position]"""
    result = op.results[0]
    _, place = element(writer, op, memory, names)
    if element_lanes(memory.type):
        writer.define(result, f"{place}.copy()")
        return
    half = is_half(dtype_of(memory.type))
    writer.define(result, f"float({place})" if half else place)


def write_store(writer: Writer, op: Operation, names: Sequence[Name]) -> None:
    """m[position] = value"""
    value, memory = op.operands[:2]
    buffer, place = element(writer, op, memory, names)
    if isinstance(op, tensor.InsertOp) and writer.is_captured(buffer):
        raise NotCompilable("a tensor of the outside that stays as it is")
    writer.mark_stored(buffer)
    writer.line(f"{place} = {writer.name(value).text}")
    if isinstance(op, tensor.InsertOp):
        writer.buffers[op.result] = buffer


def write_own(writer: Writer, init: SSAValue) -> Buffer:
    """m = copy(init): memory for the versions of a tensor that a loop carries."""
    source = writer.buffer(init)

    def copy(view: memoryview, count: int) -> object:
        return flat_view(np.array(np.asarray(view)[:count]))

    count = writer.product(source.shape)
    name = writer.fresh("m")
    writer.line(f"{name} = {writer.bind(copy)}({source.view}, {count.text})")
    return Buffer(name, (), source.shape, source.strides)


def write_alloca(writer: Writer, op: memref.AllocaOp | memref.AllocOp) -> None:
    """m = fresh(sizes): new memory every time the op is reached, row-major whatever its type."""
    type = shaped_type(op.memref)
    given = iter(op.dynamic_sizes)
    shape = [
        writer.name(next(given)) if size == DYNAMIC_INDEX else number(size)
        for size in type.get_shape()
    ]
    flat = flat_vectors if element_lanes(type) else flat_view

    def fresh(*sizes: int) -> object:
        return flat(fresh_array(type, [np.asarray(size) for size in sizes]))

    make = writer.bind(located(op, fresh))
    name = writer.fresh("m")
    sizes = ", ".join(size.text for size in shape if size.constant is None)
    writer.line(f"{name} = {make}({sizes})")
    writer.note_made(name)
    strides = tuple(writer.product(shape[axis + 1 :]) for axis in range(len(shape)))
    writer.buffers[op.memref] = Buffer(name, (), tuple(shape), strides)


def write_reshape(writer: Writer, op: memref.CollapseShapeOp | memref.ExpandShapeOp) -> None:
    """The same memory under the strides of the result's type."""
    source, result = writer.buffer(op.operands[0]), op.results[0]
    if (source.shape, source.strides) != _numbers(op.operands[0].type):
        raise NotCompilable(f"'{op.name}' of memory that lies otherwise than its type says")
    writer.buffers[result] = Buffer(source.view, source.offset, *_numbers(result.type))


def _numbers(type: Attribute) -> tuple[tuple[Name, ...], tuple[Name, ...]]:
    """Return the shape and strides of a type; raises NotCompilable where one is open."""
    shape, strides = strided(type)
    if None in (*shape, *strides):
        raise NotCompilable(f"'{type}'")
    sizes, steps = ([number(n) for n in each if n is not None] for each in (shape, strides))
    return tuple(sizes), tuple(steps)


def write_subview(writer: Writer, op: memref.SubviewOp) -> None:
    """The same memory from another offset on, under strides that are as many times as long."""
    source = writer.buffer(op.source)
    offsets = _mixed(writer, op.static_offsets, op.offsets)
    sizes = _mixed(writer, op.static_sizes, op.sizes)
    steps = _mixed(writer, op.static_strides, op.strides)
    terms = list(source.offset)
    for axis, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
        _check_part(writer, op, axis, (offset, size, step, source.shape[axis]))
        terms.append(writer.term(offset, source.strides[axis]))
    kept = kept_axes(op.static_sizes.get_values(), shaped_type(op.result).get_shape())
    strides = tuple(writer.product((source.strides[axis], steps[axis])) for axis in kept)
    shape = tuple(sizes[axis] for axis in kept)
    writer.buffers[op.result] = Buffer(source.view, tuple(terms), shape, strides)


def _check_part(
    writer: Writer, op: memref.SubviewOp, axis: int, part: tuple[Name, Name, Name, Name]
) -> None:
    """Write a check of an offset, a size and a stride against a bound, unless ranges prove it."""
    offset, size, step, bound = part
    check = writer.bind(located(op, partial(check_box, axis)))
    call = f"{check}({', '.join(each.text for each in part)})"
    if size.constant is None or step.constant is None or size.constant < 1 or step.constant < 0:
        writer.line(call)
        return
    reach = (size.constant - 1) * step.constant
    if not _is_inside(offset, reach, bound):
        writer.line(f"if not 0 <= {offset.text} < {bound.text} - {reach}: {call}")


def _mixed(
    writer: Writer, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]
) -> list[Name]:
    values = iter(dynamic)
    return [
        writer.name(next(values)) if value == DYNAMIC_INDEX else number(value)
        for value in static.get_values()
    ]


def write_size(writer: Writer, op: memref.DimOp | tensor.DimOp) -> None:
    """The name of a size; raises NotCompilable for an axis that is not known."""
    axis, shape = writer.name(op.index).constant, writer.buffer(op.source).shape
    if axis is None or not 0 <= axis < len(shape):
        raise NotCompilable(f"'{op.name}' of an axis that is not known")
    writer.names[op.result] = shape[axis]


def write_copy(writer: Writer, op: memref.CopyOp) -> None:
    """Copy one box of memory to another, at once."""
    source, target = writer.buffer(op.source), writer.buffer(op.destination)
    writer.mark_stored(target)
    writer.line(f"{writer.bind(_copy)}({_box(writer, target)}, {_box(writer, source)})")


_Box = tuple[memoryview, int, Sequence[int], Sequence[int]]
"""A flat view, the offset of the first element, shape and strides."""


def _box(writer: Writer, buffer: Buffer) -> str:
    shape, strides = (
        f"({''.join(f'{each.text}, ' for each in numbers)})"
        for numbers in (buffer.shape, buffer.strides)
    )
    return f"({buffer.view}, {writer.sum(buffer.offset)}, {shape}, {strides})"


def _copy(target: _Box, source: _Box) -> None:
    _array(*target)[...] = _array(*source)


def _array(view: memoryview, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Array:
    flat = np.asarray(view)
    steps = [stride * flat.strides[0] for stride in strides]
    return as_strided(flat[offset:], (*shape, *flat.shape[1:]), (*steps, *flat.strides[1:]))
