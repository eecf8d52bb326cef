"""Operands of ops that have several groups of them, found without reading the sizes each time."""

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptOperandDef, VarOperandDef

AnyOp = TypeVar("AnyOp", bound=IRDLOperation)


@lru_cache(maxsize=1024)
def _starts(sizes: bytes) -> tuple[int, ...]:
    """Return where each group begins, and last where all end; `sizes` are an array of i32."""
    starts = [0]
    for (size,) in struct.iter_unpack("<i", sizes):
        starts.append(starts[-1] + size)
    return tuple(starts)


class _Group:
    """The operands of one name: those of xDSL's accessor, which reads the sizes each time."""

    def __init__(self, number: int):
        self.number = number

    def __get__(self, op: Operation, kind: object = None) -> SSAValue | Sequence[SSAValue] | None:
        sizes = op.properties[AttrSizedOperandSegments.attribute_name]
        assert isinstance(sizes, DenseArrayBase)
        starts = _starts(sizes.data.data)
        return self.taken(op, starts[self.number], starts[self.number + 1])

    def __set__(self, op: Operation, value: object) -> None:
        raise NotImplementedError("operands are changed by their place: `op.operands[0] = value`")

    def taken(self, op: Operation, start: int, end: int) -> SSAValue | Sequence[SSAValue] | None:
        """Return the operands from one place to another; all of them are not copied."""
        values = op._operands  # pyright: ignore[reportPrivateUsage]
        return values if end - start == len(values) else values[start:end]


class _Single(_Group):
    """An operand that is there once, or not at all."""

    def taken(self, op: Operation, start: int, end: int) -> SSAValue | None:
        return op._operands[start] if start < end else None  # pyright: ignore[reportPrivateUsage]


def quick_operands(kind: type[AnyOp]) -> type[AnyOp]:
    """Let an op class with segments as a property find its operands by sizes that are known."""
    for number, (name, definition) in enumerate(kind.get_irdl_definition().operands):
        several = isinstance(definition, VarOperandDef) and not isinstance(
            definition, OptOperandDef
        )
        setattr(kind, name, (_Group if several else _Single)(number))
    return kind
