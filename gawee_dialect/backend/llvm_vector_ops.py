"""Ops of the llvm dialect on vectors as instructions of LLVM IR."""

from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.backend.llvm_values import type_suffix
from gawee_dialect.hints import isa
from gawee_dialect.upstream import llvm_vector as ours


class Operands(Protocol):
    """How the function that is being written spells its values, and calls intrinsics."""

    def typed(self, value: SSAValue) -> str:
        """Return how an operand is spelt, with its type."""
        ...

    def call(
        self,
        op: Operation,
        name: str,
        arguments: Sequence[SSAValue],
        *,
        intrinsic: bool,
        notes: Sequence[str] = (),
    ) -> str:
        """Return a call; `notes` are attributes of the arguments, one text each."""
        ...


def vector_text(op: Operation, operands: Operands) -> str | None:
    """Return the instruction of an op on vectors, None for any other op."""
    match op:
        case llvm.InsertElementOp():
            return "insertelement " + ", ".join(map(operands.typed, op.operands))
        case ours.ExtractElementOp():
            return "extractelement " + ", ".join(map(operands.typed, op.operands))
        case llvm.ShuffleVectorOp():
            return _shuffle(op, operands)
        case ours.MaskedLoadOp():
            name = f"llvm.masked.load.{type_suffix(op.res.type)}.p0"
            notes = (_aligned(op.alignment), "", "")
            return operands.call(op, name, op.operands, intrinsic=True, notes=notes)
        case ours.MaskedStoreOp():
            name = f"llvm.masked.store.{type_suffix(op.value.type)}.p0"
            notes = ("", _aligned(op.alignment), "")
            return operands.call(op, name, op.operands, intrinsic=True, notes=notes)
        case _:
            return None


def _shuffle(op: llvm.ShuffleVectorOp, operands: Operands) -> str:
    assert isa(op.mask, DenseArrayBase[IntegerType])
    lanes = op.mask.get_values()
    mask = ", ".join(f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in lanes)
    vectors = f"{operands.typed(op.v1)}, {operands.typed(op.v2)}"
    return f"shufflevector {vectors}, <{len(lanes)} x i32> <{mask}>"


def _aligned(alignment: Attribute) -> str:
    return f"align {alignment.value.data}" if isa(alignment, IntegerAttr) else ""
