"""Whether ops do the same but for locations.

xDSL's `is_structurally_equivalent` does not ask for the types of results, so that conversions to
f16 and to bf16 are the same to it. It also makes views and generators for each op.
"""

from collections.abc import Mapping

from xdsl.ir import Block, Operation, Region, SSAValue

Same = dict[int, SSAValue | Block]
"""What values and blocks of the first are in the second, by their identity."""


def same_values(values: Mapping[SSAValue, SSAValue]) -> Same:
    """Return what is known before ops are compared."""
    return {id(value): other for value, other in values.items()}


def are_equivalent(op: Operation, other: Operation, same: Same) -> bool:
    """Whether two ops, and all inside, do the same to values that are the same; `same` learns."""
    # `operands` makes a view each time.
    used, others = op._operands, other._operands  # pyright: ignore[reportPrivateUsage]
    if len(used) != len(others) or not _say_the_same(op, other):
        return False
    for value, wanted in zip(used, others, strict=True):
        if same.get(id(value), value) is not wanted:
            return False
    if [same.get(id(each), each) for each in op.successors] != [*other.successors]:
        return False
    for region, alike in zip(op.regions, other.regions, strict=True):
        if not are_equivalent_regions(region, alike, same):
            return False
    for result, alike in zip(op.results, other.results, strict=True):
        same[id(result)] = alike
    return True


def _say_the_same(op: Operation, other: Operation) -> bool:
    """Whether two ops are the same but for what they read and what is inside."""
    if type(op) is not type(other) or len(op.regions) != len(other.regions):
        return False
    if op.attributes != other.attributes or op.properties != other.properties:
        return False
    return [each.type for each in op.results] == [each.type for each in other.results]


def are_equivalent_regions(region: Region, other: Region, same: Same) -> bool:
    """Whether two regions do the same, as `are_equivalent` says it."""
    blocks, others = [*region.blocks], [*other.blocks]
    if len(blocks) != len(others):
        return False
    for block, alike in zip(blocks, others, strict=True):
        if [each.type for each in block.args] != [each.type for each in alike.args]:
            return False
        same[id(block)] = alike
        same.update(zip(map(id, block.args), alike.args, strict=True))
    return all([_do_the_same(*pair, same) for pair in zip(blocks, others, strict=True)])


def _do_the_same(block: Block, other: Block, same: Same) -> bool:
    op, alike = block.first_op, other.first_op
    while op is not None and alike is not None:
        if not are_equivalent(op, alike, same):
            return False
        op, alike = op.next_op, alike.next_op
    return op is alike
