"""Where the buffers of a function are in its workspace, and from which op to which they live."""

from collections.abc import Iterator
from typing import TypedDict

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from gawee_dialect.dialect.types import dense_bytes
from gawee_dialect.hints import isa
from gawee_dialect.passes.plan_memory import find_workspace, users_through_views


class BufferJson(TypedDict):
    """A buffer: the value's name, its bytes in the workspace, and ops by number."""

    name: str | None
    offset: int
    bytes: int
    first: int
    last: int


def buffers_json(function: FuncOp) -> list[BufferJson]:
    """Return the views of a function's workspace; none where memory is not planned."""
    workspace = None if function.body.blocks.first is None else find_workspace(function)
    if workspace is None or len(function.body.blocks) != 1:
        return []
    numbers = {op: number for number, op in enumerate(function.body.block.ops)}
    views = (use.operation for use in workspace.uses)
    found = (_buffer(op, numbers) for op in views if isinstance(op, memref.ViewOp))
    return sorted(
        (each for each in found if each is not None),
        key=lambda buffer: (buffer["first"], buffer["offset"]),
    )


def _buffer(view: memref.ViewOp, numbers: dict[Operation, int]) -> BufferJson | None:
    offset, type = view.byte_shift.owner, view.result.type
    if not isinstance(offset, arith.ConstantOp) or not isa(type, MemRefType[Attribute]):
        return None
    assert isinstance(offset.value, IntegerAttr)
    used = list(_positions(view, numbers))
    return {
        "name": view.result.name_hint,
        "offset": offset.value.value.data,
        "bytes": dense_bytes(type.get_shape(), type.element_type),
        "first": min(used, default=numbers[view]),
        "last": max(used, default=numbers[view]),
    }


def _positions(view: memref.ViewOp, numbers: dict[Operation, int]) -> Iterator[int]:
    for user in users_through_views(view.result):
        op: Operation | None = user
        while op is not None and op not in numbers:
            op = op.parent_op()
        if op is not None:
            yield numbers[op]
