"""Whether every value is defined before it is used, which xDSL's verifier does not check.

1. In a block, ops come in order: an op may use arguments, and results of the ops before it.
2. A block sees what the blocks see that control must pass on the way to it, its dominators.
3. A region sees what its op sees, and nothing where that is isolated from above. What is defined
   inside is gone behind it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

Misuse = tuple[Operation, int]
"""An op, and the number of its operand that is not defined before it."""


def misuses(module: ModuleOp) -> Iterator[Misuse]:
    """Yield every operand that is not defined where it is used, in the order of the text.

    Blocks that no control reaches may use anything.
    """
    yield from _in_op(module, set())


@cache
def is_isolated(kind: type[Operation]) -> bool:
    """Whether what is inside of an op uses no values from outside."""
    return kind.has_trait(IsolatedFromAbove)


def _in_op(op: Operation, visible: set[SSAValue]) -> Iterator[Misuse]:
    for number, operand in enumerate(op.operands):
        if operand not in visible:
            yield op, number
    if op.regions and is_isolated(type(op)):
        visible = set()
    for region in op.regions:
        if isinstance(op, ModuleOp):  # its ops have no order
            visible = visible.union(*(each.results for each in region.ops))
        yield from _in_region(region, visible)


def _in_region(region: Region, visible: set[SSAValue]) -> Iterator[Misuse]:
    if region.first_block is None:
        return
    alone = region.first_block is region.last_block
    children: Tree = {} if alone else _dominator_tree(region)
    # A block is left when those that it dominates were seen: the second visit takes it back.
    pending: list[tuple[Block, Sequence[SSAValue] | None]] = [(region.first_block, None)]
    while pending:
        block, defined = pending.pop()
        if defined is not None:
            visible.difference_update(defined)
            continue
        values: list[SSAValue] = list(block.args)
        visible.update(values)
        for op in block.ops:
            yield from _in_op(op, visible)
            visible.update(op.results)
            values.extend(op.results)
        pending.append((block, values))
        pending.extend((child, None) for child in reversed(children.get(block, ())))


Tree = dict[Block, list[Block]]


def _dominator_tree(region: Region) -> Tree:
    """Return the blocks that each block dominates immediately.

    The algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    *others, entry = order = _postorder(region)
    number = {block: index for index, block in enumerate(order)}
    before = _predecessors(order)
    immediate = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(others):
            known = [each for each in before[block] if each in immediate]
            found = reduce(lambda left, right: _common(left, right, immediate, number), known)
            changed |= immediate.get(block) is not found
            immediate[block] = found
    children: Tree = {}
    for block in reversed(others):
        children.setdefault(immediate[block], []).append(block)
    return children


def _common(
    left: Block, right: Block, immediate: Mapping[Block, Block], number: Mapping[Block, int]
) -> Block:
    """Return the nearest block that dominates both."""
    while left is not right:
        if number[left] < number[right]:
            left = immediate[left]
        else:
            right = immediate[right]
    return left


def _predecessors(blocks: Sequence[Block]) -> Tree:
    before: Tree = {block: [] for block in blocks}
    for block in blocks:
        for successor in _successors(block):
            before[successor].append(block)
    return before


def _successors(block: Block) -> Sequence[Block]:
    return () if block.last_op is None else block.last_op.successors


def _postorder(region: Region) -> list[Block]:
    """Return the blocks that are reached from the first one, each behind those it leads to."""
    assert region.first_block is not None
    order: list[Block] = []
    seen = {region.first_block}
    pending = [(region.first_block, iter(_successors(region.first_block)))]
    while pending:
        block, rest = pending[-1]
        following = next((each for each in rest if each not in seen), None)
        if following is None:
            order.append(block)
            pending.pop()
        else:
            seen.add(following)
            pending.append((following, iter(_successors(following))))
    return order
