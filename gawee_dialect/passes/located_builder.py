"""A builder of ops that take the place of another one."""

from xdsl.builder import Builder
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint

from gawee_dialect.locations import hand_on_location


def located_builder(source: Operation, point: InsertPoint | None = None) -> Builder:
    """Return what inserts ops at a point, before an op where none is said, with that op's place."""
    builder = Builder(point or InsertPoint.before(source))
    builder.operation_insertion_handler = [lambda new: hand_on_location(source, new)]
    return builder
