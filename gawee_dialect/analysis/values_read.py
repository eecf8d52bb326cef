"""What an op reads: its operands, and the values from around it that its regions use."""

from xdsl.ir import Block, Operation, SSAValue

from gawee_dialect.upstream.walk import inner_ops


def captured_values(op: Operation) -> list[SSAValue]:
    """Return the values from around an op that its regions use, as often as they do."""
    found: list[SSAValue] = []
    for region in op.regions:
        for inner in inner_ops(region):
            block = inner.parent
            for operand in inner.operands:
                # Most are made in the block that they are used in.
                owner = operand.owner
                if owner is block or (not isinstance(owner, Block) and owner.parent is block):
                    continue
                if not is_inside(operand, op):
                    found.append(operand)
    return found


def values_read(op: Operation) -> list[SSAValue]:
    """Return the operands of an op, and the values its regions capture."""
    return [*op.operands, *captured_values(op)]


def is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether a value is made inside of an op."""
    owner = value.owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    return parent is not None and op.is_ancestor(parent)
