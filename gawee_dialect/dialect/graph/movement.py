"""Ops that move elements to other positions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.types import ElementClass, is_signed_number

INDICES = ElementClass("i32, i64", lambda element: element in (i32, i64))
ORDERED = ElementClass("f16, f32, f64, signless integers of more than one bit", is_signed_number)


def integers(values: Sequence[int]) -> DenseArrayBase[I64]:
    """Make the attribute of a list of integers."""
    return DenseArrayBase.from_list(i64, values)


def integer(value: int) -> IntegerAttr[I64]:
    """Make the attribute of one integer."""
    return IntegerAttr(value, i64)


class MovementOp(EvaluatedOp, ABC):
    """An op whose result is made of the elements of its operands, wherever they stood."""

    def same(self) -> SSAValue | None:
        """Return the value that the op leaves as it is, None where it changes something."""
        return None

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """op that changes nothing -> its operand, and op(constants) -> constant"""
        same = self.same()
        return super().fold() if same is None else (same,)
