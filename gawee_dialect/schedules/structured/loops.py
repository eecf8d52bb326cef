"""What is done to loops over tiles: another order, threads, a last tile by itself."""

from collections.abc import Sequence
from itertools import pairwise

from xdsl.builder import Builder
from xdsl.dialects import affine, scf, tensor
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint

from gawee_dialect.dialect.graph.scan import THREADS_MARK, is_batch_loop
from gawee_dialect.dialect.types import tensor_type
from gawee_dialect.schedules.steps import IllegalStep
from gawee_dialect.schedules.structured.boxes import (
    Size,
    apply,
    before,
    empty,
    index_of,
    insert_slice,
    known,
    mixed,
    part,
    with_operands,
)
from gawee_dialect.schedules.structured.tile import (
    REDUCES,
    loop_name,
    loops_around,
    mark,
    names_of,
    tile_size,
)


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
