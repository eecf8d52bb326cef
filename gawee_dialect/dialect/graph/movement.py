"""Ops that move elements to other positions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.equation import DefinedOp
from gawee_dialect.dialect.evaluated import EvaluatedOp
from gawee_dialect.dialect.types import ElementClass, is_signed_number, tensor_shape

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


class MovedOp(DefinedOp, MovementOp, ABC):
    """An op whose equation says where each element of the result stood: it is moved as stored."""

    SIZES: ClassVar[str] = ""
    """The property that has the sizes of the result."""

    def computed(self, element: Attribute) -> Attribute:
        return element


class ViewOp(MovedOp, ABC):
    """An op whose result has the elements of its input, in row-major order."""

    EQUATION: ClassVar = "y[...] = x[...]"

    def views(self) -> Sequence[Sequence[int]]:
        return [tensor_shape(self.output)]

    def same(self) -> SSAValue | None:
        """op %x (to its own shape) -> %x"""
        return self.operands[0] if self.operands[0].type == self.output.type else None


def limited(shape: Sequence[int]) -> str:
    """Return an index an axis of a result of some shape, and how many values each has."""
    return ", ".join(f"i{axis} < {size}" for axis, size in enumerate(shape))


def moved(axis: int, offset: int, stride: int = 1) -> str:
    """Return where the index of an axis reads that begins at an offset."""
    step = f"i{axis}" if abs(stride) == 1 else f"i{axis}*{abs(stride)}"
    if stride < 0:
        return f"{offset} - {step}"
    return f"{step} + {offset}" if offset > 0 else f"{step} - {-offset}" if offset else step


def number(value: float, element: Attribute) -> str:
    """Return an integer of an element type; of i1, a condition."""
    return ("0 == 0" if value else "0 == 1") if element == i1 else str(value)
