"""Ops that a user wants left alone: marked with the discardable attribute `gawee.keep`.

    %y = linalg.generic {...} {gawee.keep} ...

`form-kernels` neither makes a kernel of such an op nor fuses anything with it: it becomes the plain
loops that linalg says. What a pass makes of a marked op is marked too.
"""

from xdsl.ir import Operation

KEEP = "gawee.keep"
KEPT = f"it is marked '{KEEP}'"
"""The reason for which a pattern declines such an op."""


def is_kept(*ops: Operation) -> bool:
    """Whether any of some ops is to be left alone."""
    return any(KEEP in op.attributes for op in ops)


def hand_on_mark(source: Operation, op: Operation) -> None:
    """Mark what was made for a marked op."""
    if is_kept(source):
        op.attributes[KEEP] = source.attributes[KEEP]
