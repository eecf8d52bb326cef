"""The text of a loop nest under construction: scopes, names, ranges of integers, buffers.

Memory ops have flat views, offsets, and checks of indices that are not provable.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, prod
from typing import Literal, NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import (
    Array,
    ShapedType,
    attribute_value,
    dtype_of,
    fresh_array,
    is_half,
)
from gawee_dialect.interpreter.functions import RunError

Range = tuple[int, int] | None
"""The least and the greatest value that an integer takes; None where nothing is known."""


class NotCompilable(Exception):
    """A nest has an op or a type that the writer does not handle; it is interpreted op by op."""


@dataclass(frozen=True)
class Name:
    """A Python expression of a value, and how many blocks deep it is defined."""

    text: str
    depth: int
    range: Range = None


@dataclass(frozen=True)
class Buffer:
    """A memref or tensor: a flat memory view, its first element's offset, strides in elements."""

    view: str
    offset: tuple[tuple[str, int], ...]
    """Terms of the offset: expressions, and the depth that each is defined at."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass
class Scope:
    """The lines of one block, and the partial sums that are computed in it."""

    lines: list[str] = field(default_factory=list[str])
    sums: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])


def strided(type: Attribute) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape and strides of a memref type, or of a tensor type, which is row-major.

    Raises NotCompilable if they are dynamic.
    """
    assert isa(type, ShapedType)
    dense = MemRefType(type.get_element_type(), type.get_shape())
    strides = (type if isa(type, MemRefType[Attribute]) else dense).get_strides()
    if strides is None or None in strides or min(type.get_shape(), default=0) < 0:
        raise NotCompilable(f"'{type}'")
    return type.get_shape(), tuple(stride for stride in strides if stride is not None)


def integer_width(type: Attribute) -> int | None:
    """Return the bits of an integer type, 64 for index, None for any other."""
    if isa(type, IntegerType):
        return type.width.data
    return 64 if isinstance(type, IndexType) else None


def fits(bounds: Range, width: int) -> bool:
    """Whether all values of a range are signed integers of a width."""
    return bounds is not None and -(1 << width - 1) <= bounds[0] and bounds[1] < 1 << width - 1


def literal(number: float | bool) -> str:
    """Return Python's text of a number, in parentheses where it is negative."""
    if isinstance(number, float) and not isfinite(number):
        return "nan" if isnan(number) else ("inf" if number > 0 else "(-inf)")
    return f"({number!r})" if number < 0 else repr(number)


def constant_name(op: arith.ConstantOp) -> Name:
    """Return a constant's literal as its name; raises NotCompilable for one that is an array."""
    if isa(op.result.type, ShapedType):
        raise NotCompilable(f"'{op.value}'")
    number = attribute_value(op.value, op.result.type).item()
    return Name(literal(number), 0, (number, number) if type(number) is int else None)


class Writer:
    """Collects the text of a function; values get names as they are defined or captured."""

    def __init__(self) -> None:
        self.scopes = [Scope()]
        self.names: dict[SSAValue, Name] = {}
        self.buffers: dict[SSAValue, Buffer] = {}
        self.captured: list[SSAValue] = []
        self.stored: set[SSAValue] = set()
        self.objects: dict[str, object] = {}
        self._views: dict[str, SSAValue] = {}
        self._arrays: dict[str, str] = {}
        self._made: dict[str, tuple[list[str], str]] = {}
        self._count = 0

    @property
    def depth(self) -> int:
        """How many blocks deep the text is at."""
        return len(self.scopes) - 1

    def fresh(self, prefix: str = "t") -> str:
        """Make a name that nothing else has."""
        self._count += 1
        return f"{prefix}{self._count}"

    def line(self, text: str) -> None:
        """Add a line to the block that is being written."""
        self.scopes[-1].lines.append("    " * (self.depth + 1) + text)

    def bind(self, object: object) -> str:
        """Make a Python object known to the text; returns its name."""
        name = self.fresh("g")
        self.objects[name] = object
        return name

    def define(self, value: SSAValue, expression: str, bounds: Range = None) -> None:
        """Compute a value where the text is at."""
        name = self.fresh()
        self.line(f"{name} = {expression}")
        self.names[value] = Name(name, self.depth, bounds)

    def name(self, value: SSAValue) -> Name:
        """Return the name of a scalar: a constant's literal, a parameter if it is from outside."""
        if isinstance(value.owner, arith.ConstantOp):
            if isa(value.type, VectorType[Attribute]):
                return self._constant_vector(value.owner)
            return constant_name(value.owner)
        if value not in self.names:
            if isa(value.type, ShapedType):
                raise NotCompilable(f"'{value.type}'")
            self.captured.append(value)
            self.names[value] = Name(self.fresh("v"), 0)
        return self.names[value]

    def _constant_vector(self, op: arith.ConstantOp) -> Name:
        if op.result not in self.names:
            array = self.bind(attribute_value(op.value, op.result.type))
            self.names[op.result] = Name(array, 0)
        return self.names[op.result]

    def array(self, buffer: Buffer) -> str:
        """Return the name of a buffer's flat view as an array, which can be sliced."""
        if buffer.view not in self._arrays:
            name = self._arrays[buffer.view] = self.fresh("a")
            lines, first = self._made.get(buffer.view, (self.scopes[0].lines, ""))
            indent = first[: len(first) - len(first.lstrip())] or "    "
            position = lines.index(first) + 1 if first else 0
            lines.insert(position, f"{indent}{name} = asarray({buffer.view})")
        return self._arrays[buffer.view]

    def note_made(self, view: str) -> None:
        """Note that the last line makes the memory of a view."""
        lines = self.scopes[-1].lines
        self._made[view] = (lines, lines[-1])

    def buffer(self, value: SSAValue) -> Buffer:
        """Return the buffer of a memref or tensor; from outside of the nest, it is a parameter."""
        if value not in self.buffers:
            shape, strides = strided(value.type)
            self.captured.append(value)
            view = self.fresh("m")
            self._views[view] = value
            self.buffers[value] = Buffer(view, (), shape, strides)
        return self.buffers[value]

    def mark_stored(self, buffer: Buffer) -> None:
        """Note that the nest writes to what a buffer is a view of."""
        if buffer.view in self._views:
            self.stored.add(self._views[buffer.view])

    def parameter_names(self) -> list[str]:
        """Return the names of the captured values, in order."""
        return [
            self.buffers[value].view if value in self.buffers else self.names[value].text
            for value in self.captured
        ]

    def position(self, buffer: Buffer, indices: Sequence[Name]) -> str:
        """Return the expression of an element's place in the flat view."""
        terms = [
            self.term(index, stride) for index, stride in zip(indices, buffer.strides, strict=True)
        ]
        return self.sum([*buffer.offset, *terms])

    def term(self, index: Name, stride: int) -> tuple[str, int]:
        """Return an index times a stride, and the depth it is known at."""
        if index.range is not None and index.range[0] == index.range[1]:
            return str(index.range[0] * stride), 0
        return (index.text if stride == 1 else f"{index.text}*{stride}"), index.depth

    def sum(self, terms: Iterable[tuple[str, int]]) -> str:
        """Return the sum of terms, with the part of outer blocks computed there."""
        ordered = sorted((term for term in terms if term[0] != "0"), key=lambda term: term[1])
        known = [term for term in ordered if term[1] < self.depth]
        here = [text for text, depth in ordered if depth == self.depth]
        total = ""
        done: tuple[str, ...] = ()
        for position, (text, depth) in enumerate(known):
            done = (*done, text)
            last = position + 1 == len(known) or known[position + 1][1] > depth
            total = f"{total} + {text}" if total else text
            if last and (len(done) > 1 or "*" in text):
                total = self._hoisted(done, total, depth)
        return " + ".join([*([total] if total else []), *here]) or "0"

    def _hoisted(self, key: tuple[str, ...], expression: str, depth: int) -> str:
        scope = self.scopes[depth]
        if key not in scope.sums:
            name = self.fresh("p")
            scope.lines.append("    " * (depth + 1) + f"{name} = {expression}")
            scope.sums[key] = name
        return scope.sums[key]


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
