"""All ops of a module at once: xDSL's walk takes a generator for each region around an op."""

from xdsl.ir import Operation


def all_ops(root: Operation) -> list[Operation]:
    """Return an op and all ops inside, each before those in its regions, as `walk` yields them."""
    found: list[Operation] = [root]
    _add_inner(root, found)
    return found


def _add_inner(op: Operation, found: list[Operation]) -> None:
    for region in op.regions:
        block = region.first_block
        while block is not None:
            inner = block.first_op
            while inner is not None:
                found.append(inner)
                if inner.regions:
                    _add_inner(inner, found)
                inner = inner.next_op
            block = block.next_block


def kinds_of(root: Operation) -> frozenset[type[Operation]]:
    """Return the classes of an op and all ops inside."""
    return frozenset(map(type, all_ops(root)))
