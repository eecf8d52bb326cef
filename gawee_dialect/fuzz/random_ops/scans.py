"""Random recurrences."""

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from gawee_dialect.dialect.elementwise import AddOp
from gawee_dialect.dialect.kernel import YieldOp
from gawee_dialect.dialect.scan import ScanOp
from gawee_dialect.fuzz.draw import Draw
from gawee_dialect.fuzz.random_ops.values import FLOATS, value


def scan(draw: Draw) -> Operation:
    """Draw a recurrence of up to two states over up to two sequences."""
    element, steps = draw.one_of(FLOATS), draw.size()
    dims, states, sequences = draw.shape(), draw.integer(0, 2), draw.integer(0, 2)
    state, now = TensorType(element, dims), TensorType(element, draw.shape())
    block = Block(arg_types=[*[state] * states, *[now] * sequences])
    following: list[SSAValue] = []
    for index in range(states):
        total = AddOp(block.args[index], block.args[0])
        block.add_op(total)
        following += total.results
    # What is made: what the steps take, and the state as it was before.
    block.add_op(YieldOp(*following, *block.args))
    return ScanOp(
        [value(element, dims) for _ in range(states)],
        [value(element, [steps, *now.get_shape()]) for _ in range(sequences)],
        Region(block),
        steps=steps,
        reverse=draw.chance(),
    )
