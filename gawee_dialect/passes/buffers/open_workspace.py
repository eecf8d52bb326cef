"""A workspace of open size: the arithmetic of offsets, and the function that says how large."""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NoReturn

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_bounds import mixed
from gawee_dialect.analysis.open_sizes import open_names_of
from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    workspace_size_name,
)
from gawee_dialect.dialect.open_size import SizeName
from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location
from gawee_dialect.upstream.arith import index_constant

ALIGNMENT = 64
"""Bytes; a cache line, and the widest vector."""

MOST = 1024
"""What the greatest value of a name is taken for, at most, where buffers are compared."""

EVALUATED: Mapping[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivSIOp: lambda a, b: a // b,
    arith.DivUIOp: lambda a, b: a // b,
}
"""What sizes are computed by."""


class Sizing:
    """The sizes of a function's buffers: the greatest ones, and where they are computed."""

    def __init__(self, function: FuncOp) -> None:
        self._function = function
        self._block = function.body.block
        arguments = zip(entry_arguments(function), function.args, strict=True)
        self._names: dict[SSAValue, EntryArgument] = {
            value: each for each, value in arguments if each.kind is ArgumentKind.SIZE
        }
        ranges = {each.name: each for each in open_names_of(function)}
        self._most = {value: _most(ranges[each.name]) for value, each in self._names.items()}

    def most_bytes(self, alloc: memref.AllocOp) -> int:
        """Return the bytes of a buffer at the greatest values of names: a workspace is kept for
        the largest call."""
        shape = _shape(alloc)
        sizes = [each if isinstance(each, int) else self._value(each) for each in shape]
        return prod(sizes) * _element_bytes(alloc)

    def _value(self, value: SSAValue) -> int:
        if value not in self._most:
            op = value.owner
            if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
                self._most[value] = op.value.value.data
            elif isinstance(op, tuple(EVALUATED)):
                lhs, rhs = map(self._value, op.operands)
                self._most[value] = EVALUATED[type(op)](lhs, rhs)
            else:
                self._refuse(value)
        return self._most[value]

    def _refuse(self, value: SSAValue) -> NoReturn:
        where = value.owner if isinstance(value.owner, Operation) else self._function
        text = "expected the size of a buffer to be computed of named sizes alone"
        raise GaweeError(Diagnostic.at(where, text))

    def offsets(self, slots: Sequence[Sequence[memref.AllocOp]], start: int) -> list[SSAValue]:
        """Compute where places in the workspace begin, one behind the other, at the beginning.

        Makes the function that returns where the last one ends, too. A place is as large as the
        largest of the buffers that share it.
        """
        beginning = Block()
        new: dict[SSAValue, SSAValue] = {}
        offsets = self._offsets(Builder(InsertPoint.at_end(beginning)), slots, start, new)
        first = self._block.first_op
        assert first is not None
        for op in list(beginning.ops):
            hand_on_location(self._function, op)
            op.detach()
            self._block.insert_op_before(op, first)
        self._add_function(slots, start)
        return offsets[:-1]

    def _add_function(self, slots: Sequence[Sequence[memref.AllocOp]], start: int) -> None:
        body = Block(arg_types=[IndexType()] * len(self._names))
        new: dict[SSAValue, SSAValue] = dict(zip(self._names, body.args, strict=True))
        for old, value in new.items():
            value.name_hint = old.name_hint
        end = self._offsets(Builder(InsertPoint.at_end(body)), slots, start, new)[-1]
        body.add_op(ReturnOp(end))
        made = FuncOp(
            workspace_size_name(self._function.sym_name.data),
            ([IndexType()] * len(self._names), [IndexType()]),
            Region(body),
            arg_attrs=ArrayAttr(each.attributes() for each in self._names.values()),
        )
        made.location = self._function.location
        module = self._function.parent
        assert module is not None
        module.insert_op_after(made, self._function)

    def _offsets(
        self,
        builder: Builder,
        slots: Sequence[Sequence[memref.AllocOp]],
        start: int,
        new: dict[SSAValue, SSAValue],
    ) -> list[SSAValue]:
        """Compute where each place begins, and where the last one ends."""
        offset: SSAValue = builder.insert(index_constant(start)).result
        offsets: list[SSAValue] = [offset]
        for slot in slots:
            different = {(_element_bytes(each), *_shape(each)): each for each in slot}
            largest, *others = (self._bytes(builder, each, new) for each in different.values())
            for other in others:
                largest = builder.insert(arith.MaxUIOp(largest, other)).result
            offset = builder.insert(arith.AddiOp(offset, _aligned(builder, largest))).result
            offsets.append(offset)
        return offsets

    def _bytes(
        self, builder: Builder, alloc: memref.AllocOp, new: dict[SSAValue, SSAValue]
    ) -> SSAValue:
        shape = _shape(alloc)
        known = prod(each for each in shape if isinstance(each, int)) * _element_bytes(alloc)
        total: SSAValue = builder.insert(index_constant(known)).result
        for size in shape:
            if isinstance(size, SSAValue):
                factor = self._copied(builder, size, new)
                total = builder.insert(arith.MuliOp(total, factor)).result
        return total

    def _copied(self, builder: Builder, value: SSAValue, new: dict[SSAValue, SSAValue]) -> SSAValue:
        """Return a size where all is computed of the function's arguments."""
        if value in new or value in self._names:
            return new.get(value, value)
        op = value.owner
        assert isinstance(op, Operation)  # `most_bytes` looked at it
        for operand in op.operands:
            self._copied(builder, operand, new)
        new[value] = builder.insert(op.clone(new)).results[0]
        return new[value]


def _most(name: SizeName) -> int:
    return max(name.low, min(name.last, MOST))


def _shape(alloc: memref.AllocOp) -> Sequence[SSAValue | int]:
    type = alloc.memref.type
    assert isa(type, MemRefType[Attribute])
    return mixed(type.get_shape(), alloc.dynamic_sizes)


def _element_bytes(alloc: memref.AllocOp) -> int:
    type = alloc.memref.type
    assert isa(type, MemRefType[Attribute])
    return element_bytes(type.element_type)


def _aligned(builder: Builder, bytes: SSAValue) -> SSAValue:
    more, line = (builder.insert(index_constant(n)).result for n in (ALIGNMENT - 1, ALIGNMENT))
    total = builder.insert(arith.AddiOp(bytes, more)).result
    lines = builder.insert(arith.DivUIOp(total, line)).result
    return builder.insert(arith.MuliOp(lines, line)).result
