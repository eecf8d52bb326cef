"""Plainer ops: properties at their defaults, optional operands left out."""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import (
    I64,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptOperandDef, OptPropertyDef
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.scan import ScanOp
from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.reduce.draft import body_ops, copy_of, keep_ops
from gawee_dialect.reduce.links import Slot, axis

PLAIN_ENTRIES = {
    **{"kernel": 1, "strides": 1, "dilations": 1, "padding": 0, "output_padding": 0},
    **{"offsets": 0, "low": 0, "high": 0, "repeats": 1},
}
"""The default of every entry of a property that is a list of integers."""

PLAIN_FLAGS = {"ceil_mode": False}
"""The default of a property that is a flag."""

PLAIN_INTEGERS = {"k": 1}
"""The least of a property that is one integer, for what is above it."""

Change = dict[str, Attribute | None]


def plainer_properties(op: Operation) -> Iterator[Change]:
    """Yield changes of an op's properties towards their defaults.

    All lists at once first, since padding may only go together with the kernel; then each list,
    each entry of it, and the rest.
    """
    plain = {
        name: DenseArrayBase.from_list(i64, [default] * len(value))
        for name, default in PLAIN_ENTRIES.items()
        if isa(value := op.properties.get(name), DenseArrayBase[IntegerType])
    }
    if any(op.properties[name] != value for name, value in plain.items()):
        yield {**plain}
    yield from _plainer_entries(op)
    yield from _plainer_flags(op)
    for name, least in PLAIN_INTEGERS.items():
        value = op.properties.get(name)
        if isa(value, IntegerAttr[I64]) and value.value.data > least:
            yield {name: IntegerAttr(least, i64)}


def _plainer_entries(op: Operation) -> Iterator[Change]:
    for name, default in PLAIN_ENTRIES.items():
        value = op.properties.get(name)
        if not isa(value, DenseArrayBase[IntegerType]):
            continue
        entries = list(value.get_values())
        wrong = [index for index, entry in enumerate(entries) if entry != default]
        for changed in (wrong, *([index] for index in wrong)):
            new = [default if index in changed else entry for index, entry in enumerate(entries)]
            if new != entries:
                yield {name: DenseArrayBase.from_list(i64, new)}


def _plainer_flags(op: Operation) -> Iterator[Change]:
    for name, default in PLAIN_FLAGS.items():
        if name in op.properties and op.properties[name] != BoolAttr.from_bool(default):
            yield {name: BoolAttr.from_bool(default)}
    if isinstance(op, IRDLOperation):
        for name, definition in op.get_irdl_definition().properties.items():
            if isinstance(definition, OptPropertyDef) and name in op.properties:
                yield {name: None}


def one_group(op: Operation) -> dict[Slot, int] | None:
    """Return the sizes that leave one group of a grouped convolution; None for other ops."""
    if not isinstance(op, ConvOp) or op.groups.value.data == 1:
        return None
    features, channels, *_ = tensor_shape(op.weight)
    groups = op.groups.value.data
    if features == tensor_shape(op.input)[1] and features // groups != channels:
        return None  # one class of both: it cannot take two sizes
    return {axis(op.input, 1): channels, axis(op.weight, 0): features // groups}


def without_operand(module: ModuleOp, source: FuncOp) -> Iterator[ModuleOp]:
    """Yield copies of a module in which one op of a function lacks an optional operand."""
    for index, op in enumerate(body_ops(source)):
        for name in _optional_operands(op):
            candidate = _without(module, source, index, name)
            if candidate is not None:
                yield candidate


def _optional_operands(op: Operation) -> Sequence[str]:
    """Return the names of the optional operands that an op of the dialect has."""
    if not isinstance(op, GaweeOp):
        return ()
    operands = op.get_irdl_definition().operands
    optional = [name for name, operand in operands if isinstance(operand, OptOperandDef)]
    return [name for name in optional if _operands(op, name)]


def _operands(op: IRDLOperation, name: str) -> Sequence[SSAValue]:
    value: object = getattr(op, name)
    if isa(value, SSAValue):
        return (value,)
    return value if isa(value, Sequence[SSAValue]) else ()


def _without(module: ModuleOp, source: FuncOp, index: int, left_out: str) -> ModuleOp | None:
    copy, function = copy_of(module, source)
    op = body_ops(function)[index]
    assert isinstance(op, GaweeOp)
    names = [name for name, _ in op.get_irdl_definition().operands]
    segments = AttrSizedOperandSegments.attribute_name
    new = type(op).build(
        operands=[() if name == left_out else _operands(op, name) for name in names],
        result_types=op.result_types,
        properties={name: value for name, value in op.properties.items() if name != segments},
        attributes=op.attributes,
    )
    new.location, new.output.name_hint = op.location, op.output.name_hint
    Rewriter.replace_op(op, new)
    return keep_ops(copy, function, lambda _: True)


# Bodies of recurrences, with an op less: what it makes is there already.


def inner_ops(function: FuncOp) -> Sequence[Operation]:
    """Return the ops of all bodies of scans, in order, without those that end them."""
    bodies = [op.body.block for op in function.walk() if isinstance(op, ScanOp)]
    return [op for block in bodies for op in block.ops if op is not block.last_op]


def without_inner_op(module: ModuleOp, function: FuncOp) -> Iterator[ModuleOp]:
    """Yield copies of a module without one op of a body, the last one first.

    A value of its type takes the place of its result: an operand, or what a step is given.
    """
    for index in reversed(range(len(inner_ops(function)))):
        places = len(_replacements(inner_ops(function)[index]))
        for place in range(places):
            copy, found = copy_of(module, function)
            op = inner_ops(found)[index]
            op.results[0].replace_all_uses_with(_replacements(op)[place])
            _erase_dead(op)
            yield copy


def _replacements(op: Operation) -> Sequence[SSAValue]:
    """Return what may stand for the one result of an op."""
    block = op.parent
    if len(op.results) != 1 or block is None:
        return ()
    known = dict.fromkeys((*op.operands, *block.args))
    return [value for value in known if value.type == op.results[0].type]


def _erase_dead(op: Operation) -> None:
    """Erase a dead op, and those of its block that only it used."""
    owners = [operand.owner for operand in op.operands]
    block = op.parent
    op.detach()
    op.erase()
    for owner in owners:
        if isinstance(owner, Block) or owner.parent is not block:
            continue
        if not any(each.first_use for each in owner.results):
            _erase_dead(owner)
