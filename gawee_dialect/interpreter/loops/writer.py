"""The text of a loop nest under construction: scopes, names, ranges of integers, buffers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, prod
from typing import Literal, ParamSpec, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from gawee_dialect.diagnostics import Diagnostic, first_line
from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import Array, ShapedType, attribute_value
from gawee_dialect.interpreter.functions import RunError

P = ParamSpec("P")
T = TypeVar("T")

Range = tuple[int, int] | None
"""The least and the greatest value that an integer takes; None where nothing is known."""

MOST = 1 << 30
"""What sizes, and indices from outside of a nest, are below: products of two fit in 64 bits.

A nest does not take others.
"""


class NotCompilable(Exception):
    """A nest has an op or a type that the writer does not handle; it is interpreted op by op."""


@dataclass(frozen=True)
class Name:
    """A Python expression of a value, and how many blocks deep it is defined."""

    text: str
    depth: int
    range: Range = None

    @property
    def constant(self) -> int | None:
        """The only integer that it can be; None where there may be others."""
        return self.range[0] if self.range is not None and self.range[0] == self.range[1] else None


@dataclass(frozen=True)
class Buffer:
    """A memref or tensor: a flat memory view, its first element's offset, strides in elements."""

    view: str
    offset: tuple[tuple[str, int], ...]
    """Terms of the offset: expressions, and the depth that each is defined at."""
    shape: tuple[Name, ...]
    strides: tuple[Name, ...]

    @property
    def open(self) -> Sequence[Name]:
        """Sizes and strides that are no constants, in order."""
        return [each for each in (*self.shape, *self.strides) if each.constant is None]


@dataclass
class Scope:
    """The lines of one block, and the partial sums that are computed in it."""

    lines: list[str] = field(default_factory=list[str])
    sums: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])


def strided(type: Attribute) -> tuple[Sequence[int | None], Sequence[int | None]]:
    """Return the shape and strides of a memref type, or of a tensor type, which is row-major.

    None is a size or stride that is open. Raises NotCompilable for memory of no rank, or that has
    no strides.
    """
    if not isa(type, ShapedType):
        raise NotCompilable(f"'{type}'")
    dense = MemRefType(type.get_element_type(), type.get_shape())
    strides = (type if isa(type, MemRefType[Attribute]) else dense).get_strides()
    if strides is None:
        raise NotCompilable(f"'{type}'")
    return [None if size == DYNAMIC_INDEX else size for size in type.get_shape()], strides


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


def number(value: int) -> Name:
    """Return an integer's literal as a name."""
    return Name(literal(value), 0, (value, value))


def constant_name(op: arith.ConstantOp) -> Name:
    """Return a constant's literal as its name; raises NotCompilable for one that is an array."""
    if isa(op.result.type, ShapedType):
        raise NotCompilable(f"'{op.value}'")
    value = attribute_value(op.value, op.result.type).item()
    return number(value) if type(value) is int else Name(literal(value), 0)


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
            bounds = (1 - MOST, MOST - 1) if isinstance(value.type, IndexType) else None
            self.names[value] = Name(self.fresh("v"), 0, bounds)
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
            sizes = _names(f"{view}n", shape, (0, MOST - 1))
            self.buffers[value] = Buffer(view, (), sizes, _names(f"{view}s", strides, None))
        return self.buffers[value]

    def is_captured(self, buffer: Buffer) -> bool:
        """Whether a buffer is a view of what is from outside of the nest."""
        return buffer.view in self._views

    def mark_stored(self, buffer: Buffer) -> None:
        """Note that the nest writes to what a buffer is a view of."""
        if buffer.view in self._views:
            self.stored.add(self._views[buffer.view])

    def parameter_names(self) -> list[str]:
        """Return the names of the captured values, in order; open sizes and strides follow each."""
        names: list[str] = []
        for value in self.captured:
            if value in self.buffers:
                buffer = self.buffers[value]
                names += [buffer.view, *(each.text for each in buffer.open)]
            else:
                names.append(self.names[value].text)
        return names

    def position(self, buffer: Buffer, indices: Sequence[Name]) -> str:
        """Return the expression of an element's place in the flat view."""
        terms = [
            self.term(index, stride) for index, stride in zip(indices, buffer.strides, strict=True)
        ]
        return self.sum([*buffer.offset, *terms])

    def term(self, index: Name, stride: Name) -> tuple[str, int]:
        """Return an index times a stride, and the depth it is known at."""
        first, second = index.constant, stride.constant
        if 0 in (first, second):
            return "0", 0
        if first is not None and second is not None:
            return literal(first * second), 0
        if second == 1:
            return index.text, index.depth
        if first == 1:
            return stride.text, stride.depth
        return f"{index.text}*{stride.text}", max(index.depth, stride.depth)

    def product(self, factors: Sequence[Name]) -> Name:
        """Compute a product of sizes and strides where the text is at."""
        known = prod(each.constant for each in factors if each.constant is not None)
        rest = [each for each in factors if each.constant is None]
        if known == 0 or not rest:
            return number(known)
        if known == 1 and len(rest) == 1:
            return rest[0]
        name = self.fresh()
        self.line(f"{name} = {'*'.join([literal(known), *(each.text for each in rest)])}")
        return Name(name, self.depth)

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


def _names(prefix: str, values: Sequence[int | None], bounds: Range) -> tuple[Name, ...]:
    return tuple(
        Name(f"{prefix}{axis}", 0, bounds) if value is None else number(value)
        for axis, value in enumerate(values)
    )


def located(op: Operation, function: Callable[P, T]) -> Callable[P, T]:
    """Make a function that fails as an op that is interpreted alone does: at its place."""

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RunError:
            raise
        except InterpretationError as error:
            raise RunError(Diagnostic.at(op, f"cannot run: {first_line(error)}")) from error

    return call


# Memory as the text has it: flat views.

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
    # By class: loops that are interpreted op by op ask for every number.
    element: Attribute = getattr(type, "element_type")
    if element.__class__ is not VectorType:
        return ()
    assert isa(element, VectorType[Attribute])
    return element.get_shape()


def is_taken(array: Array, type: Attribute) -> bool:
    """Whether a nest takes a value of a type: an array that lies as its type says, no large index.

    Open sizes may be any, and open strides that do not go backwards. A tensor may lie anywhere.
    """
    if not isa(type, ShapedType):
        return not isinstance(type, IndexType) or abs(int(array)) < MOST
    shape, strides = strided(type)
    lanes = element_lanes(type)
    if len(array.shape) != len(shape) + len(lanes) or array.shape[len(shape) :] != lanes:
        return False
    sizes = zip(shape, array.shape, strict=False)
    if not all(actual < MOST if size is None else actual == size for size, actual in sizes):
        return False
    step = array.dtype.itemsize * prod(lanes)
    return not isa(type, MemRefType[Attribute]) or all(
        size == 1 or _is_stride(actual, step, stride)
        for size, actual, stride in zip(array.shape, array.strides, strides, strict=False)
    )


def _is_stride(actual: int, step: int, stride: int | None) -> bool:
    return actual >= 0 and (actual % step == 0 if stride is None else actual == stride * step)


def open_numbers(array: Array, type: Attribute) -> list[int]:
    """Return the sizes and strides of an array that its type leaves open, in order."""
    shape, strides = strided(type)
    step = array.dtype.itemsize * prod(element_lanes(type))
    sizes = [actual for size, actual in zip(shape, array.shape, strict=False) if size is None]
    steps = zip(strides, array.strides, strict=False)
    return sizes + [actual // step for stride, actual in steps if stride is None]
