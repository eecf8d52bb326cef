"""Operators that say in MLIR what they compute: their function's body in the place of the op."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from gawee_dialect.opdesc.described_op import DescribedOp
from gawee_dialect.opdesc.mlir_body import mlir_function
from gawee_dialect.passes.inline import cloned_body


def inlined_body(op: DescribedOp) -> tuple[Sequence[Operation], Sequence[SSAValue]]:
    """Return the ops that an op is, and its results; raises GaweeError where they do not fit.

    They are where the op is, in the graph and not in the description; results keep their names.
    """
    ops, results = cloned_body(mlir_function(op), op.operands)
    for old, new in zip(op.results, results, strict=True):
        if new.owner in ops:
            new.name_hint = old.name_hint
    for inner in (each for made in ops for each in made.walk()):
        inner.location = op.location
    return ops, results
