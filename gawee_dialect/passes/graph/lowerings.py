"""What lowers each op of the dialect, as the pattern table of `lower-to-linalg` says."""

import inspect
from collections.abc import Mapping
from typing import get_args

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from gawee_dialect.dialect import GRAPH_LEVEL
from gawee_dialect.dialect.operation import InferredOp
from gawee_dialect.passes.graph.canonicalize import CanonicalizePass
from gawee_dialect.passes.graph.lower_to_linalg import LowerToLinalg


def matched_ops(pattern: type[RewritePattern]) -> tuple[type[Operation], ...]:
    """Return the op classes in the annotation that chooses what a pattern sees.

    Empty for a pattern that is not written with `op_type_rewrite_pattern`.
    """
    # The decorator keeps the function that it wraps in its closure.
    wrapped = inspect.getclosurevars(pattern.match_and_rewrite).nonlocals.get("func")
    if wrapped is None:
        return ()
    _, op, _ = inspect.signature(wrapped, eval_str=True).parameters.values()
    classes = get_args(op.annotation) or (op.annotation,)
    return tuple(cls for cls in classes if inspect.isclass(cls) and issubclass(cls, Operation))


def lowering_of(op: type[Operation]) -> str | None:
    """Return the name of what lowers an op: a pattern of `lower-to-linalg`, None for nothing.

    An op without tensor results has no lowering: `canonicalize` has to fold it before.
    """
    if not issubclass(op, InferredOp):
        return CanonicalizePass.name
    patterns = (each for each in LowerToLinalg.patterns if issubclass(op, matched_ops(each)))
    return next((pattern.__name__ for pattern in patterns), None)


def lowerings() -> Mapping[str, str | None]:
    """Return what lowers each op of a graph, by the op's name."""
    return {op.name: lowering_of(op) for op in GRAPH_LEVEL}
