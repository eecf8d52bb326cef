"""Canonicalization of resampling."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp, PythonValueType
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.rewrite_pass import Pattern

# Evaluation of the Python code that a tracer left behind, on static shapes.

StaticValue: TypeAlias = int | tuple[int, ...]

_INTEGER = re.compile(r"-?\d+")
_SLICE = re.compile(r"slice\((None|-?\d+), (None|-?\d+), (None|-?\d+)\)")


def static_value(value: SSAValue) -> StaticValue | None:
    """Return what a chain of getattr and getitem gives; None where it can't be known.

    Only shapes are known: `x.shape`, its items and its slices.
    """
    indices: list[str] = []
    while isinstance(item := value.owner, GetItemOp):
        indices.append(item.index.data)
        value = item.input
    if not isinstance(item, GetAttrOp) or item.attribute.data != "shape":
        return None
    current: StaticValue | None = tensor_shape(item.input)
    for index in reversed(indices):
        if not isinstance(current, tuple):
            return None
        current = item_of(current, index)
    return current


def item_of(values: tuple[int, ...], index: str) -> StaticValue | None:
    """Return `values[index]` for an index as Python spells it; None where there is no such item."""
    if _INTEGER.fullmatch(index):
        position = int(index)
        return values[position] if -len(values) <= position < len(values) else None
    match = _SLICE.fullmatch(index)
    if match is None:
        return None
    start, stop, step = (None if bound == "None" else int(bound) for bound in match.groups())
    return None if step == 0 else values[slice(start, stop, step)]


class SizeFromConstants(Pattern):
    """interpolate size_from getitem(getattr(%x, "shape"), ...) -> size_from two i64 constants

    The size itself is static already, so an entry that can't be evaluated is the size too.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: InterpolateOp, rewriter: PatternRewriter) -> None:
        if not any(isinstance(value.type, PythonValueType) for value in op.size_from):
            self.missed(op, "expected size_from to hold a Python value, got tensors")
            return
        size = op.size.get_values()
        computed = [entry for value in op.size_from for entry in entries_of(value)]
        if not is_possibly(computed, size):
            self.missed(op, f"expected size_from ({computed}) to be the size ({list(size)})")
            return
        constants = [rewriter.insert(i64_scalar(entry)).result for entry in size]
        scales = None if op.scales is None else op.scales.get_values()
        rewriter.replace(
            op,
            InterpolateOp(
                op.input,
                size=size,
                mode=op.mode.data,
                align_corners=op.align_corners is not None,
                scales=scales,
                float_positions=op.float_positions is not None,
                size_from=constants,
            ),
        )


def entries_of(value: SSAValue) -> Sequence[int | None]:
    """Return the sizes that one value of `size_from` stands for, None for what is unknown."""
    static = static_value(value)
    return static if isinstance(static, tuple) else (static,)


def is_possibly(computed: Sequence[int | None], size: Sequence[int]) -> bool:
    """Whether computed sizes may be the static ones; a single one counts for every axis."""
    entries = [*computed] * len(size) if len(computed) == 1 else computed
    return len(entries) == len(size) and all(
        entry in (None, static) for entry, static in zip(entries, size, strict=True)
    )


def i64_scalar(number: int) -> ConstantOp:
    """Make a constant i64 scalar."""
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i64, []), [number]))
