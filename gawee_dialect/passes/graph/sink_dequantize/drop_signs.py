"""Bytes with a sign become those without, where all that reads them widens them."""

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, i8, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.dense import array_of, dense_of
from gawee_dialect.dialect.evaluated import constant_of
from gawee_dialect.dialect.graph.activation import ClipOp
from gawee_dialect.dialect.graph.arithmetic import RoundOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.elementwise import AddOp, SubOp
from gawee_dialect.dialect.types import element_type, integer_range, tensor_shape, ui8
from gawee_dialect.passes.graph.layer import hand_on_identity
from gawee_dialect.passes.rewrite_pass import Pattern
from gawee_dialect.passes.tensors.parameter_analysis import ParameterAnalysis

SIGNED = integer_range(i8)
MORE = 128
"""By how much a byte without a sign is more than the one of the same rank that has one."""
WIDE = i32, f32


class DropSigns(Pattern):
    """cast(clip(round(x) + z)) : i8, less z -> cast(clip(round(x) + (z + 128))) : ui8, less z + 128

    Products of bytes take those of activations without a sign, as they lie in memory.
    """

    def __init__(self) -> None:
        self._analysis = ParameterAnalysis()

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        clip = op.input.owner
        readers = [use.operation for use in op.result.uses]
        if element_type(op.result) != i8 or not isinstance(clip, ClipOp):
            self.missed(op, "expected numbers that are clipped to what bytes with a sign hold")
            return
        low, high = (None if end is None else end.value.data for end in (clip.min, clip.max))
        if low is None or high is None or not SIGNED[0] <= low <= high <= SIGNED[1]:
            self.missed(op, f"expected bounds within {SIGNED}, got {low} and {high}")
            return
        found = rounded_sum(clip.input)
        if found is None or self._analysis.is_known_early(op.result):
            self.missed(op, "expected a rounded number of an input, and a whole constant")
            return
        if not all(
            isinstance(each, CastOp) and element_type(each.result) in WIDE for each in readers
        ):
            self.missed(op, "expected readers that widen all of it")
            return
        rounded, zero = found
        more = _plus(rounded, zero + MORE, rewriter)
        clipped = rewriter.insert(ClipOp(more, min=low + MORE, max=high + MORE)).result
        unsigned = CastOp(clipped, ui8)
        hand_on_identity(op, unsigned)
        rewriter.insert(unsigned)
        for reader in readers:
            assert isinstance(reader, CastOp)
            self._read(reader, unsigned.result, rewriter)

    def _read(self, reader: CastOp, unsigned: SSAValue, rewriter: PatternRewriter) -> None:
        """Have readers of a byte with a sign read one without, less 128."""
        at = InsertPoint.before(reader)
        wide = rewriter.insert(CastOp(unsigned, i32), at).result
        for use in list(reader.result.uses):
            less = use.operation
            zero = None if not isinstance(less, SubOp) or use.index else _whole_number(less.rhs)
            if zero is not None and element_type(reader.result) == i32:
                value = _plus(wide, -zero - MORE, rewriter, at)
                rewriter.replace(less, (), [value])
        if reader.result.uses:
            value = _plus(wide, -MORE, rewriter, at)
            if element_type(reader.result) != i32:
                value = rewriter.insert(CastOp(value, element_type(reader.result)), at).result
            rewriter.replace(reader, (), [value])


def rounded_sum(value: SSAValue) -> tuple[SSAValue, int] | None:
    """Return a rounded number, and the whole number that is added to it."""
    zero = 0
    if isinstance(value.owner, AddOp):
        found = _whole_number(value.owner.rhs)
        if found is None:
            return None
        value, zero = value.owner.lhs, found
    return (value, zero) if isinstance(value.owner, RoundOp) else None


def _whole_number(value: SSAValue) -> int | None:
    """Return the whole number that all of a constant is, which is a scalar."""
    constant = constant_of(value)
    if constant is None or tensor_shape(value):
        return None
    number = float(array_of(constant).flat[0])
    return int(number) if number.is_integer() else None


def _plus(
    value: SSAValue, number: int, rewriter: PatternRewriter, at: InsertPoint | None = None
) -> SSAValue:
    """Insert a sum with a whole number, or a difference of integers."""
    if number == 0:
        return value
    element = element_type(value)
    difference = element == i32
    less = np.asarray(-number if difference else number, np.int32 if difference else np.float32)
    constant = dense_of(less, TensorType(element, []))
    other = rewriter.insert(ConstantOp(constant), at).result
    return rewriter.insert((SubOp if difference else AddOp)(value, other), at).result
