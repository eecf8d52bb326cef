"""Copies of what a tile reads and writes, near to where it is computed."""

from xdsl.builder import Builder
from xdsl.dialects import linalg, tensor
from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import SSAValue

from gawee_dialect.dialect.operation import KEEP
from gawee_dialect.dialect.types import is_tensor
from gawee_dialect.schedules.steps import IllegalStep
from gawee_dialect.schedules.structured.boxes import (
    before,
    empty,
    erase_unused,
    shape_of,
    with_operands,
)


def copied(builder: Builder, value: SSAValue, into: SSAValue) -> SSAValue:
    """Insert a copy that passes leave alone."""
    copy = linalg.ops.CopyOp([value], [into], [into.type])
    copy.attributes[KEEP] = UnitAttr()
    copy.results[0].name_hint = value.name_hint
    return builder.insert(copy).results[0]


def stage(op: LinalgStructuredOperation, input: int) -> None:
    """Copy what a tile reads of an input into memory of the tile's own."""
    inputs = op.inputs
    if not 0 <= input < len(inputs) or not is_tensor(inputs[input].type):
        raise IllegalStep(f"expected one of {len(inputs)} inputs, got {input}")
    builder, value = before(op), inputs[input]
    op.operands[input] = copied(builder, value, empty(builder, value, shape_of(value)))


def bufferize_at(op: LinalgStructuredOperation) -> None:
    """Compute a tile of the output in memory of its own, and copy it to its place then."""
    init = op.outputs[0]
    builder, fill = before(op), init.owner
    place = fill.outputs[0] if isinstance(fill, linalg.ops.FillOp) else init
    own = empty(builder, init, shape_of(init))
    if isinstance(fill, linalg.ops.FillOp):
        own = builder.insert(with_operands(fill, [fill.inputs[0], own])).results[0]
    elif not isinstance(init.owner, tensor.EmptyOp):
        own = copied(builder, init, own)
    new = builder.insert(with_operands(op, [*op.inputs, own]))
    op.results[0].replace_all_uses_with(copied(builder, new.results[0], place))
    erase_unused(op)
