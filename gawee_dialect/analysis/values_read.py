"""What an op reads: its operands, and the values from around it that its regions use."""

from xdsl.ir import Block, Operation, SSAValue


def captured_values(op: Operation) -> list[SSAValue]:
    """Return the values from around an op that its regions use, as often as they do."""
    return [
        operand
        for inner in op.walk()
        if inner is not op
        for operand in inner.operands
        if not is_inside(operand, op)
    ]


def values_read(op: Operation) -> list[SSAValue]:
    """Return the operands of an op, and the values its regions capture."""
    return [*op.operands, *captured_values(op)]


def is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether a value is made inside of an op."""
    owner = value.owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    return parent is not None and op.is_ancestor(parent)
