"""All ops of a module at once: xDSL's walk takes a generator for each region around an op."""

from xdsl.ir import Operation, Region


def all_ops(root: Operation) -> list[Operation]:
    """Return an op and all ops inside, each before those in its regions, as `walk` yields them."""
    found: list[Operation] = [root]
    for region in root.regions:
        _add_inner(region, found)
    return found


def inner_ops(region: Region) -> list[Operation]:
    """Return the ops of a region and all ops inside, in the same order."""
    found: list[Operation] = []
    _add_inner(region, found)
    return found


def _add_inner(region: Region, found: list[Operation]) -> None:
    block = region.first_block
    while block is not None:
        op = block.first_op
        while op is not None:
            found.append(op)
            for inner in op.regions:
                _add_inner(inner, found)
            op = op.next_op
        block = block.next_block


def kinds_of(root: Operation) -> frozenset[type[Operation]]:
    """Return the classes of an op and all ops inside."""
    return frozenset(map(type, all_ops(root)))
