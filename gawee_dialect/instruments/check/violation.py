"""What a static rule finds."""

from dataclasses import dataclass

from xdsl.ir import Operation


@dataclass(frozen=True)
class Violation:
    """What an op says of itself that is not so."""

    op: Operation
    message: str
