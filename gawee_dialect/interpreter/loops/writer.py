"""The text of a loop nest under construction: scopes, names, ranges of integers, buffers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.hints import isa
from gawee_dialect.interpreter.arrays import ShapedType, attribute_value

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
