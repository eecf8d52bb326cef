"""Comparisons and choices, with PyTorch's promotion of mixed element types."""

from xdsl.ir import SSAValue

from gawee_dialect.dialect.comparison import CompareOp, WhereOp
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.promotion import promoted, to_bool
from gawee_dialect.frontends.op_mapping.schema import Operand


def compared(emit: Emitter, lhs: Operand, rhs: Operand, predicate: str) -> SSAValue:
    """Return whether each pair of elements compares as the predicate says."""
    return emit(CompareOp(*promoted(emit, lhs, rhs), predicate=predicate))


def where(emit: Emitter, condition: SSAValue, self: Operand, other: Operand) -> SSAValue:
    """Choose by a condition."""
    return emit(WhereOp(to_bool(emit, condition), *promoted(emit, self, other)))
