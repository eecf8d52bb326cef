"""Sizes that are open, on buffers: arguments of type index, and views that say how large they are.

A buffer of open sizes is used through what says them in its operands: an allocation, or a view. So
each argument with such sizes is viewed once, where the function begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    IndexType,
    MemRefType,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.analysis.index_bounds import Index
from gawee_dialect.analysis.open_sizes import (
    argument_shapes,
    open_names_of,
    result_shapes,
    shapes_of_branches,
)
from gawee_dialect.dialect.entry import SIZE, ArgumentKind, EntryArgument
from gawee_dialect.dialect.open_size import OpenSize, SizeName, is_open
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import form_value
from gawee_dialect.upstream.arith import index_constant

if TYPE_CHECKING:
    from gawee_dialect.passes.tensors.bufferize.function import FunctionBufferizer


class SizeValues:
    """The named sizes of a function that is bufferized, as arguments of it."""

    def __init__(self, to: FunctionBufferizer) -> None:
        self._to = to
        self.names: Sequence[SizeName] = ()
        self.values: Mapping[str, SSAValue] = {}
        self.marks: Sequence[DictionaryAttr] = ()
        """What marks the arguments."""

    def take(self) -> None:
        """Add an argument for each name, and view the arguments that have open sizes."""
        to, function = self._to, self._to.function
        self.names = open_names_of(function) if function.arg_attrs is not None else ()
        if not self.names:
            return
        first, values = len(to.block.args), dict[str, SSAValue]()
        for each in self.names:
            values[each.name] = to.block.insert_arg(IndexType(), len(to.block.args))
            values[each.name].name_hint = each.name
        described = [
            EntryArgument(first + place, ArgumentKind.SIZE, each.name, IndexType())
            for place, each in enumerate(self.names)
        ]
        self.marks = [each.attributes() for each in described]
        self.values = values
        for old, shape in zip(function.args, argument_shapes(function), strict=True):
            if is_open(shape):
                to.new[old] = self._viewed(to.new[old], shape)
        outputs = zip(function.function_type.outputs, result_shapes(function), strict=True)
        shapes = [shape for type, shape in outputs if to.is_written(type)]
        to.outputs = [
            self._viewed(output, shape) if is_open(shape) else output
            for output, shape in zip(to.outputs, shapes, strict=True)
        ]

    def stands_for(self, op: Operation) -> bool:
        """Whether an op reads a name, which an argument is now."""
        name = op.attributes.get(SIZE)
        if not isinstance(name, StringAttr) or name.data not in self.values:
            return False
        self._to.new[op.results[0]] = self.values[name.data]
        return True

    def of_results(self, op: Operation) -> Sequence[Sequence[Index]]:
        """Return the sizes of what an scf.if or an scf.while makes, as its attribute says them."""
        return [*map(self._indices, shapes_of_branches(self._to.function, op))]

    def _indices(self, shape: Sequence[int]) -> list[Index]:
        return [
            form_value(self._to.builder, size, lambda name: self.values[name.name])
            if isinstance(size, OpenSize)
            else size
            for size in shape
        ]

    def _viewed(self, buffer: SSAValue, shape: Sequence[int]) -> SSAValue:
        view = sized_view(self._to.builder, buffer, self._indices(shape))
        view.name_hint = buffer.name_hint
        return view


def product(builder: Builder, lhs: Index, rhs: Index) -> Index:
    """Return the product of two indices, without an op where that is known."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs * rhs
    if 1 in (lhs, rhs):
        return rhs if lhs == 1 else lhs
    return _computed(builder, arith.MuliOp, lhs, rhs)


def total(builder: Builder, lhs: Index, rhs: Index) -> Index:
    """Return the sum of two indices, without an op where that is known."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs + rhs
    if 0 in (lhs, rhs):
        return rhs if lhs == 0 else lhs
    return _computed(builder, arith.AddiOp, lhs, rhs)


def _computed(
    builder: Builder, op: type[arith.MuliOp | arith.AddiOp], lhs: Index, rhs: Index
) -> SSAValue:
    return builder.insert(op(index_value(builder, lhs), index_value(builder, rhs))).result


def index_value(builder: Builder, index: Index) -> SSAValue:
    """Return an index as a value."""
    if isinstance(index, SSAValue):
        return index
    return builder.insert(index_constant(index)).result


def sized_view(builder: Builder, buffer: SSAValue, sizes: Sequence[Index]) -> SSAValue:
    """View a dense buffer as one of some sizes, without gaps: memref.reinterpret_cast."""
    assert isa(buffer.type, MemRefType[Attribute])
    strides: list[Index] = []
    stride: Index = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        if len(strides) < len(sizes):
            stride = product(builder, stride, size)
    shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    type = MemRefType(buffer.type.element_type, shape)
    op = memref.ReinterpretCastOp.from_dynamic(buffer, [0], sizes, strides, type)
    return builder.insert(op).result
