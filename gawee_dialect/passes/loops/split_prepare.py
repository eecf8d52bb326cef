"""Cut the function that prepares weights into parts, each of which reads its own parameters."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from gawee_dialect.analysis.effects import values_read
from gawee_dialect.dialect.entry import (
    PREPARE,
    WEIGHTS,
    EntryArgument,
    entry_arguments,
    find_function,
    name_of_part,
)
from gawee_dialect.dialect.types import is_shaped, shaped_bytes
from gawee_dialect.locations import hand_on_location
from gawee_dialect.passes.instrument import report_statistic
from gawee_dialect.passes.numerics import EXACT, Numerics

MOST = 16 << 20
"""Bytes of parameters of a part, by default: those of small networks are one."""


@dataclass(frozen=True)
class SplitPrepare(ModulePass):
    """Cut `@prepare` into functions that are called one after the other, by its parameters.

    Each parameter is read by one part only. So the parameters of one part are in memory at a time
    where these are called one by one. `@prepare` itself calls all of them.

    1. Ops that have effects keep their order. Views and constants belong to no part: each part
       has copies of those that it reads.
    2. `@prepare` is cut wherever no parameter, and no other value, is read on both sides.
    3. Neighbours are one part again as long as their parameters have at most `most` bytes.

    What a part leaves in the workspace, or in an output, a later one may read: all have the same.
    A function of one part, or of several blocks, stays as it is; so does one that was cut before.

    rewrite:
        @prepare(%v, %w, %p, %q) { call @pack(%v, %p); call @pack(%w, %q) }
        ->
        @prepare.0(%v, %p) { call @pack(%v, %p) }
        @prepare.1(%w, %q) { call @pack(%w, %q) }
        @prepare(%v, %w, %p, %q) { call @prepare.0(%v, %p); call @prepare.1(%w, %q) }
    """

    name = "split-prepare"
    numerics: ClassVar[Numerics] = EXACT
    special_values: ClassVar[bool] = True
    takes_open_sizes: ClassVar[bool] = True

    most: int = MOST
    """Bytes of parameters of a part; what one op reads stays together, whatever that is."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        prepare = find_function(op, PREPARE)
        is_split = find_function(op, name_of_part(0)) is not None
        if prepare is None or is_split or len(prepare.body.blocks) != 1:
            return
        parts = _joined(_smallest_parts(prepare), self.most)
        if len(parts) < 2:
            return
        report_statistic(self, f"parts of @{PREPARE}", len(parts))
        calls = [_outlined(prepare, number, part.ops) for number, part in enumerate(parts)]
        block = prepare.body.block
        old = [each for each in block.ops if not isinstance(each, ReturnOp)]
        for each in reversed(old):
            each.detach()
            each.erase()
        end = block.last_op
        assert end is not None
        block.insert_ops_before(calls, end)


@dataclass(frozen=True)
class _Part:
    """Ops that have effects, in order, and the bytes of the parameters that they read."""

    ops: Sequence[Operation]
    bytes: int


def _smallest_parts(prepare: FuncOp) -> Sequence[_Part]:
    """Cut a function wherever no value is read on both sides."""
    weights: dict[SSAValue, EntryArgument] = {
        prepare.body.block.args[each.index]: each
        for each in entry_arguments(prepare)
        if each.kind in WEIGHTS
    }
    ops = [each for each in prepare.body.block.ops if not _is_copied(each)]
    ops = [each for each in ops if not isinstance(each, ReturnOp)]
    read = {op: [*_sources(op)] for op in ops}
    last = {value: op for op in ops for value in read[op]}
    parts: list[_Part] = []
    own: list[Operation] = []
    open_until: set[SSAValue] = set()
    seen: set[SSAValue] = set()
    for op in ops:
        own.append(op)
        found = {each for each in read[op] if each in weights or isinstance(each, OpResult)}
        seen |= found
        open_until |= {*found, *op.results}
        open_until -= {value for value in open_until if last.get(value, op) is op}
        if not open_until:
            parts.append(_Part(own, sum(_bytes(weights[each]) for each in seen & weights.keys())))
            own, seen = [], set()
    return parts


def _bytes(argument: EntryArgument) -> int:
    return shaped_bytes(argument.type) if is_shaped(argument.type) else 0


def _is_copied(op: Operation) -> bool:
    """Whether an op computes the same wherever it is: it renames memory, or is a constant."""
    return not op.regions and bool(op.results) and is_side_effect_free(op)


def _sources(op: Operation) -> Iterable[SSAValue]:
    """Yield what an op reads, directly or by ops that are copied."""
    for value in values_read(op):
        if isinstance(value, OpResult) and _is_copied(value.op):
            yield from _sources(value.op)
        else:
            yield value


def _joined(parts: Sequence[_Part], most: int) -> Sequence[_Part]:
    joined: list[_Part] = []
    for part in parts:
        if joined and joined[-1].bytes + part.bytes <= most:
            before = joined.pop()
            part = _Part([*before.ops, *part.ops], before.bytes + part.bytes)
        joined.append(part)
    return joined


def _outlined(prepare: FuncOp, number: int, ops: Sequence[Operation]) -> CallOp:
    """Put copies of ops into a function in front of `@prepare`; returns a call of it."""
    arguments = prepare.body.block.args
    read = {value for op in ops for value in _sources(op)}
    taken = [each for each in arguments if each in read]
    body = Block(arg_types=[each.type for each in taken])
    mapper: dict[SSAValue, SSAValue] = dict(zip(taken, body.args, strict=True))
    for own, each in zip(body.args, taken, strict=True):
        own.name_hint = each.name_hint
    for op in ops:
        _copy(op, mapper, body)
    body.add_op(ReturnOp())
    name = name_of_part(number)
    types = FunctionType.from_lists([each.type for each in taken], [])
    part = FuncOp(name, types, Region(body))
    marks = prepare.arg_attrs
    assert marks is not None
    part.arg_attrs = ArrayAttr(marks.data[each.index] for each in taken)
    hand_on_location(prepare, part)
    module = prepare.parent_block()
    assert module is not None
    module.insert_op_before(part, prepare)
    call = CallOp(name, taken, [])
    hand_on_location(prepare, call)
    return call


def _copy(op: Operation, mapper: dict[SSAValue, SSAValue], body: Block) -> None:
    """Append a copy of an op, after copies of the views and constants that it reads."""
    for value in values_read(op):
        if value not in mapper and isinstance(value, OpResult):
            _copy(value.op, mapper, body)
    body.add_op(op.clone(mapper))
