"""Walk an op of linalg in tiles: loops over parts of its dimensions, with the op on slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import affine, linalg, scf
from xdsl.dialects.builtin import AffineMapAttr, IndexType, StringAttr, UnitAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.graph.scan import BATCH_MARK, MARK, is_batch_loop, is_step_loop
from gawee_dialect.schedules.steps import IllegalStep
from gawee_dialect.schedules.structured.boxes import (
    Size,
    before,
    begun,
    box_of,
    erase_unused,
    extents,
    index_of,
    known,
    maps_of,
    num_parallel,
    on_box,
    part,
    put,
)

LOOP = "gawee.loop"
"""The attribute of a loop over tiles that says what it is called: `m by 6`."""
REDUCES = "gawee.reduces"
"""The attribute of one over tiles of a reduction: each adds to what those before it made."""


def loop_name(loop: Operation) -> str | None:
    """Return what a loop over tiles is called; None for any other op."""
    name = loop.attributes.get(LOOP)
    return name.data if isinstance(name, StringAttr) else None


def names_of(loop: Operation) -> dict[str, Attribute]:
    """Return what a loop over tiles is called, and whether it reduces: what copies of it keep."""
    return {each: loop.attributes[each] for each in (LOOP, REDUCES) if each in loop.attributes}


def loops_around(op: Operation) -> list[scf.ForOp]:
    """Return the loops over tiles that an op is in, from the outermost on."""
    found: list[scf.ForOp] = []
    parent = op.parent_op()
    while isinstance(parent, scf.ForOp) and loop_name(parent) is not None:
        found.insert(0, parent)
        parent = parent.parent_op()
    return found


def tile_size(builder: Builder, counter: SSAValue, end: Size, step: int) -> Size:
    """Return how many points a tile has: fewer at the end, where the step does not divide."""
    if isinstance(end, int) and end % step == 0:
        return step
    first = AffineDimExpr(0)
    if isinstance(end, int):
        rest, operands = AffineConstantExpr(end) - first, [counter]
    else:
        rest, operands = AffineDimExpr(1) - first, [counter, end]
    map = AffineMap(len(operands), 0, (rest, AffineConstantExpr(step)))
    size = builder.insert(affine.MinOp(operands, AffineMapAttr(map)))
    size.result.name_hint = "size"
    return size.result


def mark(loop: scf.ForOp) -> None:
    """Say that the body of a loop has kernels, where all of its tiles have one size.

    Those of a tile at the end that is smaller are loops as linalg says them. Tiles of parallel
    dimensions are like parts of a batch: none reads what another one makes.
    """
    end, step = known(loop.ub), known(loop.step)
    outer = loops_around(loop)
    is_whole = isinstance(end, int) and isinstance(step, int) and end % step == 0
    for name, holds in ((MARK, is_step_loop), (BATCH_MARK, is_batch_loop)):
        loop.attributes.pop(name, None)
        if is_whole and all(map(holds, outer)) and (name == MARK or REDUCES not in loop.attributes):
            loop.attributes[name] = UnitAttr()


@dataclass(frozen=True)
class _Nest:
    """Loops under construction around an op."""

    op: LinalgStructuredOperation
    sizes: Sequence[Size]
    steps: Sequence[tuple[int, int]]
    """Which dimension each loop is over, by how many points."""
    names: Sequence[str]
    init: SSAValue | None
    """What the output is before, where each tile begins with it by itself."""

    def build(
        self, builder: Builder, around: Sequence[SSAValue], carried: SSAValue, depth: int = 0
    ) -> SSAValue:
        """Insert the loops from a depth on; return the output."""
        if depth == len(self.steps):
            return self._tile(builder, around, carried)
        dim, step = self.steps[depth]
        block = Block(arg_types=[IndexType(), carried.type])
        inner = Builder(InsertPoint.at_end(block))
        inner.operation_insertion_handler = builder.operation_insertion_handler
        counter, argument = block.args
        counter.name_hint, argument.name_hint = self.names[dim], carried.name_hint
        first, end, by = (index_of(builder, each) for each in (0, self.sizes[dim], step))
        loop = builder.insert(scf.ForOp(first, end, by, [carried], Region(block)))
        loop.attributes[LOOP] = StringAttr(f"{self.names[dim]} by {step}")
        if dim not in num_parallel(self.op):
            loop.attributes[REDUCES] = UnitAttr()
        mark(loop)
        inner.insert(scf.YieldOp(self.build(inner, [*around, counter], argument, depth + 1)))
        return loop.results[0]

    def _tile(self, builder: Builder, counters: Sequence[SSAValue], whole: SSAValue) -> SSAValue:
        offsets: list[Size] = [0] * len(self.sizes)
        sizes = list(self.sizes)
        for (dim, step), counter in zip(self.steps, counters, strict=True):
            offsets[dim] = counter
            sizes[dim] = tile_size(builder, counter, self.sizes[dim], step)
        begins, parts = box_of(builder, maps_of(self.op)[-1], offsets, sizes)
        before = part(builder, whole, begins, parts)
        if self.init is not None:
            before = begun(builder, self.init, begins, parts, before)
        new = on_box(builder, self.op, offsets, sizes, before)
        return put(builder, new.results[0], whole, begins, parts)


def tile(op: LinalgStructuredOperation, names: Sequence[str], steps: Mapping[int, int]) -> None:
    """Walk dimensions of an op in parts of so many points, by new loops in this order."""
    sizes = extents(op)
    for dim, step in steps.items():
        size = sizes[dim]
        if step < 1 or (isinstance(size, int) and step > size):
            wanted = size if isinstance(size, int) else "the tile's size"
            raise IllegalStep(
                f"expected a step of 1 to {wanted} in '{names[dim]} by {step}', got {step}"
            )
    if len(op.results) != 1:
        raise IllegalStep(f"expected an op with one result, got {len(op.results)}")
    init = op.outputs[0]
    begins = init.owner if isinstance(init.owner, linalg.ops.FillOp) else None
    by_itself = begins is not None and steps.keys() <= num_parallel(op)
    carried = begins.outputs[0] if begins is not None and by_itself else init
    nest = _Nest(op, sizes, list(steps.items()), names, init if by_itself else None)
    result = nest.build(before(op), [], carried)
    op.results[0].replace_all_uses_with(result)
    erase_unused(op)
