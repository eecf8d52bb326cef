"""Loops over tiles around an op of linalg: made, put in another order, given to threads, peeled.

Loops go over parts of the op's dimensions, with the op on slices; a last tile may be by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.builder import Builder
from xdsl.dialects import affine, linalg, scf, tensor
from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.graph.scan import (
    BATCH_MARK,
    MARK,
    THREADS_MARK,
    is_batch_loop,
    is_step_loop,
)
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.schedules.steps import IllegalStep
from gawee_dialect.schedules.structured.boxes import (
    Size,
    apply,
    before,
    begun,
    box_of,
    empty,
    erase_unused,
    extents,
    index_of,
    insert_slice,
    known,
    maps_of,
    mixed,
    num_parallel,
    on_box,
    part,
    put,
    with_operands,
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


def find(op: Operation, name: str) -> scf.ForOp:
    """Return a loop over tiles that an op is in, by its name; raises IllegalStep."""
    loops = loops_around(op)
    found = [loop for loop in loops if loop_name(loop) == name]
    if len(found) != 1:
        known_names = ", ".join(str(loop_name(each)) for each in loops) or "none"
        raise IllegalStep(f"expected one of the loops {known_names}, got '{name}'")
    return found[0]


def interchange(op: Operation, names: Sequence[str]) -> None:
    """Put loops, with nothing between them, into this order, into the places that they have."""
    wanted = [find(op, name) for name in names]
    if len({*names}) < len(names):
        raise IllegalStep("expected each loop once")
    places = sorted(wanted, key=lambda loop: len(loops_around(loop)))
    for outer, inner in pairwise(places):
        _check_perfect(outer, inner)
    said = [_Said(loop) for loop in wanted]
    for loop, new in zip(places, said, strict=True):
        new.write(loop)
    bodies = {new.counter: loop.body.block.args[0] for loop, new in zip(places, said, strict=True)}
    uses = [(use, bodies[counter]) for counter in bodies for use in list(counter.uses)]
    for use, counter in uses:
        use.operation.operands[use.index] = counter
    for loop in places:
        mark(loop)


class _Said:
    """What makes a loop another one: its bounds, its name and its counter."""

    def __init__(self, loop: scf.ForOp) -> None:
        self.bounds = (known(loop.ub), known(loop.step))
        self.names, self.counter = names_of(loop), loop.body.block.args[0]
        self.hint = self.counter.name_hint

    def write(self, loop: scf.ForOp) -> None:
        """Have another loop be this one, but for its counter."""
        builder = before(loop)
        end, step = (index_of(builder, each) for each in self.bounds)
        loop.operands[1], loop.operands[2] = end, step
        loop.attributes.pop(REDUCES, None)
        loop.attributes |= self.names
        loop.body.block.args[0].name_hint = self.hint


def _check_perfect(outer: scf.ForOp, inner: scf.ForOp) -> None:
    """Raise IllegalStep unless the body of a loop is another one whose bounds are numbers."""
    others = [
        each
        for each in outer.body.block.ops
        if each is not inner and each.name not in ("arith.constant", "scf.yield")
    ]
    if inner.parent is not outer.body.block or others:
        what = f"'{others[0].name}'" if others else "a loop"
        raise IllegalStep(f"expected nothing between the loops, got {what}")
    if not isinstance(known(inner.ub), int) or not isinstance(known(outer.ub), int):
        raise IllegalStep("expected loops whose ends are numbers")


def peel(op: Operation, name: str) -> None:
    """Give the last tile of a loop, which is smaller, code of its own; all others are whole."""
    loop = find(op, name)
    end, step = known(loop.ub), known(loop.step)
    if not isinstance(end, int) or not isinstance(step, int):
        raise IllegalStep("expected a loop whose end is a number")
    rest = end % step
    if rest == 0:
        raise IllegalStep(f"expected a last tile that is smaller, got {end} by {step}")
    builder = before(loop)
    counter, carried = loop.body.block.args
    start = loop.iter_args[0]
    if end > step:
        block = Block(arg_types=[counter.type, carried.type])
        block.args[0].name_hint, block.args[1].name_hint = counter.name_hint, carried.name_hint
        first, last, by = (index_of(builder, each) for each in (0, end - rest, step))
        main = builder.insert(scf.ForOp(first, last, by, [start], Region(block)))
        main.attributes |= names_of(loop)
        mark(main)
        copy = _Specialized({counter: block.args[0], carried: block.args[1]})
        copy.body(Builder(InsertPoint.at_end(block)), loop.body.block, end - rest, step)
        start = main.results[0]
    whole = _Specialized({counter: end - rest, carried: start})
    (result,) = whole.values(builder, loop.body.block, end, step)
    loop.results[0].replace_all_uses_with(result)
    assert loop.parent is not None
    loop.parent.erase_op(loop)


class _Specialized:
    """A copy of a body with sizes that have become numbers."""

    def __init__(self, new: dict[SSAValue, Size]) -> None:
        self.new = new

    def body(self, builder: Builder, block: Block, end: Size, step: int) -> None:
        """Write a body, with its end."""
        builder.insert(scf.YieldOp(*self.values(builder, block, end, step)))

    def values(self, builder: Builder, block: Block, end: Size, step: int) -> list[SSAValue]:
        """Write the ops of a body; return what it yields. `end` and `step` are its loop's."""
        counter = self.new.get(block.args[0], block.args[0])
        for op in block.ops:
            match op:
                case scf.YieldOp():
                    return [self._value(builder, each) for each in op.operands]
                case affine.MinOp() if op.operands[0] is block.args[0]:
                    self.new[op.result] = self._tile_size(builder, counter, end, step)
                case affine.ApplyOp():
                    values = dict(enumerate(map(self._size, op.operands)))
                    self.new[op.result] = apply(builder, op.map.data.results[0], values)
                case tensor.ExtractSliceOp() | tensor.InsertSliceOp():
                    self._slice(builder, op)
                case tensor.EmptyOp():
                    sizes = [self._size(each) for each in op.dynamic_sizes]
                    self._empty(builder, op, sizes)
                case LinalgStructuredOperation():
                    operands = [self._value(builder, each) for each in op.operands]
                    self._set(op, builder.insert(with_operands(op, operands)))
                case scf.ForOp():
                    self._loop(builder, op)
                case _:
                    for operand in op.operands:
                        self.new[operand] = self._value(builder, operand)
                    self._set(op, builder.insert(op.clone(self._values())))
        raise AssertionError("a body has an end")

    @staticmethod
    def _tile_size(builder: Builder, counter: Size, end: Size, step: int) -> Size:
        if isinstance(counter, int):
            assert isinstance(end, int)
            return min(step, end - counter)
        return tile_size(builder, counter, end, step)

    def _values(self) -> dict[SSAValue, SSAValue]:
        return {old: new for old, new in self.new.items() if isinstance(new, SSAValue)}

    def _size(self, value: SSAValue) -> Size:
        return self.new.get(value, value)

    def _value(self, builder: Builder, value: SSAValue) -> SSAValue:
        return index_of(builder, self._size(value))

    def _set(self, op: Operation, new: Operation) -> None:
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            self.new[old] = result

    def _slice(self, builder: Builder, op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> None:
        offsets = self._sizes(mixed(op.static_offsets, op.offsets))
        sizes = self._sizes(mixed(op.static_sizes, op.sizes))
        source = self._value(builder, op.source)
        if isinstance(op, tensor.ExtractSliceOp):
            result = part(builder, source, offsets, sizes)
            result.name_hint = result.name_hint or op.result.name_hint
            self.new[op.result] = result
        else:
            into = self._value(builder, op.dest)
            self._set(op, builder.insert(insert_slice(source, into, offsets, sizes)))

    def _sizes(self, sizes: Sequence[Size]) -> list[Size]:
        return [self._size(each) if isinstance(each, SSAValue) else each for each in sizes]

    def _empty(self, builder: Builder, op: tensor.EmptyOp, dynamic: Sequence[Size]) -> None:
        given = iter(dynamic)
        shape = tensor_type(op.tensor).get_shape()
        sizes: list[Size] = [next(given) if size < 0 else size for size in shape]
        self.new[op.tensor] = empty(builder, op.tensor, sizes)

    def _loop(self, builder: Builder, op: scf.ForOp) -> None:
        start = self._value(builder, op.iter_args[0])
        end, step = self._size(op.ub), known(op.step)
        end = known(end) if isinstance(end, SSAValue) else end
        assert isinstance(step, int)
        counter, carried = op.body.block.args
        block = Block(arg_types=[counter.type, start.type])
        block.args[0].name_hint, block.args[1].name_hint = counter.name_hint, carried.name_hint
        first, last, by = (index_of(builder, each) for each in (0, end, step))
        new = builder.insert(scf.ForOp(first, last, by, [start], Region(block)))
        new.attributes |= names_of(op)
        mark(new)
        self.new |= {counter: block.args[0], carried: block.args[1]}
        self.body(Builder(InsertPoint.at_end(block)), op.body.block, end, step)
        self._set(op, new)


def parallelize(op: LinalgStructuredOperation, names: Sequence[str], threads: int) -> None:
    """Share the tiles of the outermost loop among threads, each of which computes whole ones."""
    loops = loops_around(op)
    outermost = str(loop_name(loops[0])) if loops else "none"
    if [outermost] != list(names):
        raise IllegalStep(f"expected the outermost loop, {outermost}, got {', '.join(names)}")
    loop = loops[0]
    end, step = known(loop.ub), known(loop.step)
    if not is_batch_loop(loop) or not isinstance(end, int) or not isinstance(step, int):
        raise IllegalStep("expected tiles of one size: the step peel(...) makes them so")
    builder = before(loop)
    counter = loop.body.block.args[0]
    inside = Builder(InsertPoint.at_start(loop.body.block))
    uses = list(counter.uses)
    point = apply(inside, AffineDimExpr(0) * step, {0: counter})
    for use in uses:
        use.operation.operands[use.index] = index_of(inside, point)
    loop.operands[1], loop.operands[2] = index_of(builder, end // step), index_of(builder, 1)
    loop.attributes[THREADS_MARK] = IntegerAttr(min(threads, end // step), i64)
