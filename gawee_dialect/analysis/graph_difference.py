"""Where two graphs differ, names of values and locations aside."""

from collections.abc import Mapping
from itertools import zip_longest

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

Numbers = dict[SSAValue, int]
"""Values of both graphs, counted in the order in which they are defined."""


def first_difference(first: ModuleOp, second: ModuleOp) -> Operation | None:
    """Return the first op of a module that another one says otherwise; None where all are alike."""
    numbers: Numbers = {}
    count = 0
    for op, other in zip_longest(first.walk(), second.walk()):
        if op is None or other is None:
            return op or other
        if _said(op, numbers) != _said(other, numbers):
            return op
        defined, others = _defined(op), _defined(other)
        for same in zip(defined, others, strict=True):
            numbers.update(dict.fromkeys(same, count))
            count += 1
    return None


def _defined(op: Operation) -> list[SSAValue]:
    blocks = (block for region in op.regions for block in region.blocks)
    return [*op.results, *(value for block in blocks for value in block.args)]


def _said(op: Operation, numbers: Mapping[SSAValue, int]) -> object:
    return (
        op.name,
        [numbers.get(value) for value in op.operands],
        [value.type for value in _defined(op)],
        [len(region.blocks) for region in op.regions],
        op.properties,
        op.attributes,
    )
