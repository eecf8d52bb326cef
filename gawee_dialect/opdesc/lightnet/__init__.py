"""The operators of LightNet, described by ourselves: the dialect `lightnet`, in `*.op` files."""

from functools import cache
from pathlib import Path

from xdsl.ir import Dialect

from gawee_dialect.opdesc.described_op import DescribedOp, op_class
from gawee_dialect.opdesc.description import DEFAULT_DIALECT
from gawee_dialect.opdesc.read import read_descriptions


@cache
def lightnet_dialect() -> Dialect:
    """Return the shipped ops; raises GaweeError where the parser of C is not installed."""
    ops: list[type[DescribedOp]] = []
    for path in sorted(Path(__file__).parent.glob("*.op")):
        ops += [op_class(DEFAULT_DIALECT, each) for each in read_descriptions(path).operators]
    return Dialect(DEFAULT_DIALECT, list(ops))


def is_shipped(op: DescribedOp) -> bool:
    """Whether an op is one of these, not one of a user's under the same name."""
    return type(op) in lightnet_dialect().operations
