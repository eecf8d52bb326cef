"""Which values are known before any input is: what parameters and constants alone decide."""

from collections.abc import Iterable

from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import Linalg
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from gawee_dialect.analysis.effects import values_read
from gawee_dialect.dialect.entry import WEIGHTS, ArgumentKind, argument_kinds
from gawee_dialect.dialect.native_code import is_computed_once
from gawee_dialect.passes.dead_code import NO_EFFECTS, fixed_effects


def is_pure(op: Operation) -> bool:
    """Whether an op does nothing but compute its results.

    xDSL's linalg ops don't state their effects; those with results work on tensors, so have none.
    """
    if fixed_effects(type(op)) == NO_EFFECTS:
        return True
    is_linalg = bool(op.results) and op.dialect_name() == Linalg.name
    return is_linalg or is_side_effect_free(op) or is_computed_once(op)


KNOWN_EARLY = (*WEIGHTS, ArgumentKind.PREPARED)
"""The arguments that are the same for every run."""


class ParameterAnalysis:
    """Says of each value whether it is computed from parameters and constants alone.

    1. An argument is, if it is marked as parameter, constant or prepared; others are inputs.
    2. The result of a pure op is, if all that the op reads is.

    Answers are kept, so that queries on every value of a graph take linear time. They stay true
    while rewrites keep the meaning of values.
    """

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool] = {}

    def is_known_early(self, value: SSAValue) -> bool:
        """Whether a value depends on no input."""
        known = self._known.get(value)
        if known is not None:
            return known
        # Not recursive: a graph may be deeper than Python's stack.
        stack = [value]
        while stack:
            current = stack[-1]
            pending = self._decide(current)
            if pending is None:
                stack.pop()
            else:
                stack.append(pending)
        return self._known[value]

    def is_read_late(self, value: SSAValue, result: SSAValue) -> bool:
        """Whether a value that depends on no input is read for a result that does: a weight."""
        return self.is_known_early(value) and not self.is_known_early(result)

    def _decide(self, value: SSAValue) -> SSAValue | None:
        """Record the answer for a value, or return a value whose answer has to come first."""
        if value in self._known:
            return None
        if isinstance(value, BlockArgument):
            self._record_arguments(value.block)
            return None
        owner = value.owner
        assert isinstance(owner, Operation)
        if not is_pure(owner):
            self._known[value] = False
            return None
        pending: SSAValue | None = None
        for operand in values_read(owner):
            known = self._known.get(operand)
            if known is None:
                pending = operand if pending is None else pending
            elif not known:
                self._known[value] = False
                return None
        if pending is None:
            self._known[value] = True
        return pending

    def _record_arguments(self, block: Block) -> None:
        function = block.parent_op()
        self._known.update((argument, False) for argument in block.args)
        if not isinstance(function, FuncOp) or block is not function.body.first_block:
            return
        for argument, kind in zip(block.args, argument_kinds(function), strict=True):
            self._known[argument] = kind in KNOWN_EARLY


def describe(value: SSAValue) -> str:
    """Name a value in a reason: the op that makes it, or the argument it is."""
    owner = value.owner
    return f"'{owner.name}'" if isinstance(owner, Operation) else "a function argument"


def reader_count(value: SSAValue) -> int:
    """Return how many operands a value is; the function's return counts too."""
    return len(list(value.uses))


def reason_against_readers(op: Operation) -> str | None:
    """Return why others may need the result of an op that is folded; None where they do not."""
    readers = reader_count(op.results[0])
    if readers == 1:
        return None
    return f"expected the result of '{op.name}' to have one reader, got {readers}"


def reason_against_computed(
    analysis: ParameterAnalysis, what: str, values: Iterable[SSAValue | None]
) -> str | None:
    """Return why values are known only when the network runs; None where all are before."""
    for value in values:
        if value is not None and not analysis.is_known_early(value):
            return (
                f"expected {what} to be computed from parameters and constants alone, "
                f"got {describe(value)}"
            )
    return None
