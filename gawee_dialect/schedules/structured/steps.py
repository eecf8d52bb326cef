"""The steps that change ops of linalg, each in its place in a module."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from xdsl.builder import Builder
from xdsl.dialects import arith, linalg, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.operation import KEEP
from gawee_dialect.dialect.types import is_tensor, tensor_shape, tensor_type
from gawee_dialect.hints import isa
from gawee_dialect.schedules.steps import INTEGER_DIVISIONS, Argument, IllegalStep, Step
from gawee_dialect.schedules.structured import loops
from gawee_dialect.schedules.structured.boxes import (
    Size,
    before,
    begun,
    box_of,
    empty,
    erase_unused,
    extents,
    maps_of,
    mixed,
    num_parallel,
    on_box,
    part,
    shape_of,
    with_operands,
)
from gawee_dialect.schedules.structured.loops import loops_around, tile
from gawee_dialect.upstream.arith import number_constant

# Compute a producer in the tiles of what reads it.


def fuse(op: Operation, producer: LinalgStructuredOperation, name: str) -> None:
    """Compute what a tile reads of a producer inside of the loops of the tile.

    Where several ops of the tile read the same part, it is computed once; what reads the producer
    elsewhere still has all of it.
    """
    loops = loops_around(op)
    if not loops:
        raise IllegalStep("expected loops over tiles: the step tile(...) makes some")
    reads = [
        use.operation for use in producer.results[0].uses if loops[0].is_ancestor(use.operation)
    ]
    slices = [each for each in reads if isinstance(each, tensor.ExtractSliceOp)]
    if not reads:
        raise IllegalStep(f"expected a producer that the tile reads, got '{name}'")
    if len(slices) < len(reads):
        raise IllegalStep(f"expected a tile that reads a part of '{name}', got one that reads all")
    computed: list[tuple[tensor.ExtractSliceOp, SSAValue]] = []
    for slice in sorted(slices, key=_place):
        same = (value for other, value in computed if _is_same(other, slice))
        value = next(same, None)
        if value is None:
            value = _part_of(before(slice), producer, slice)
            computed.append((slice, value))
        slice.result.replace_all_uses_with(value)
    for slice in slices:
        erase_unused(slice)
    erase_unused(producer)


def _place(op: Operation) -> int:
    assert op.parent is not None
    return op.parent.get_operation_index(op)


def _is_same(first: tensor.ExtractSliceOp, second: tensor.ExtractSliceOp) -> bool:
    is_before = first.parent is second.parent
    return (
        is_before
        and first.operands[1:] == second.operands[1:]
        and (first.properties == second.properties)
    )


def _part_of(
    builder: Builder, producer: LinalgStructuredOperation, slice: tensor.ExtractSliceOp
) -> SSAValue:
    """Insert a producer on the points of a part of its result; return the part."""
    written = maps_of(producer)[-1]
    dims = [expr.position for expr in written.results if isinstance(expr, AffineDimExpr)]
    if len(dims) < len(written.results):
        raise IllegalStep(f"expected a producer that writes along dimensions, got map '{written}'")
    sizes = extents(producer)
    offsets: list[Size] = [0] * len(sizes)
    begins = mixed(slice.static_offsets, slice.offsets)
    for dim, begin, size in zip(dims, begins, mixed(slice.static_sizes, slice.sizes), strict=True):
        offsets[dim], sizes[dim] = begin, size
    begins, parts = box_of(builder, written, offsets, sizes)
    init = producer.outputs[0]
    place = empty(builder, init, parts)
    return on_box(
        builder, producer, offsets, sizes, begun(builder, init, begins, parts, place)
    ).results[0]


# Make dimensions of an op larger, so that tiles are whole.


def pad(op: LinalgStructuredOperation, names: Sequence[str], multiples: Mapping[int, int]) -> None:
    """Have dimensions so many more points that a multiple of these are theirs."""
    maps, sizes, wanted = maps_of(op), extents(op), dict[int, int]()
    for dim, multiple in multiples.items():
        size = sizes[dim]
        if multiple < 1:
            raise IllegalStep(f"expected a multiple of 1 or more, got {multiple}")
        if not isinstance(size, int):
            raise IllegalStep(f"expected a size that is known of {names[dim]}")
        if dim not in num_parallel(op) or any(_is_joined(map, dim) for map in maps):
            raise IllegalStep(f"expected an axis of the output, got {names[dim]}")
        wanted[dim] = ceil(size / multiple) * multiple
    if any(inner.name in INTEGER_DIVISIONS for inner in op.body.block.ops):
        raise IllegalStep("expected no division of integers, which zeros may stop")
    builder = before(op)
    operands = [
        _padded(builder, value, map, wanted) for value, map in zip(op.operands, maps, strict=True)
    ]
    new = builder.insert(with_operands(op, operands)).results[0]
    shape = tensor_shape(op.results[0])
    result = part(builder, new, [0] * len(shape), shape)
    op.results[0].replace_all_uses_with(result)
    erase_unused(op)


def _is_joined(map: AffineMap, dim: int) -> bool:
    """Whether an axis goes along a dimension and others."""
    others = [expr for expr in map.results if not isinstance(expr, AffineDimExpr)]
    return dim in used_dims(AffineMap(map.num_dims, 0, tuple(others)))


def _padded(
    builder: Builder, value: SSAValue, map: AffineMap, wanted: Mapping[int, int]
) -> SSAValue:
    if not is_tensor(value.type):
        return value
    was = tensor_shape(value)
    shape = [
        wanted.get(expr.position, size) if isinstance(expr, AffineDimExpr) else size
        for expr, size in zip(map.results, was, strict=True)
    ]
    owner = value.owner
    if isinstance(owner, tensor.EmptyOp):
        return empty(builder, value, shape)
    if isinstance(owner, linalg.ops.FillOp):
        filled = with_operands(owner, [owner.inputs[0], empty(builder, value, shape)])
        return builder.insert(filled).results[0]
    if shape == list(was):
        return value
    element = tensor_type(value).element_type
    block = Block(arg_types=[IndexType()] * len(shape))
    zero = builder.insert(_zero(element)).result
    block.add_op(tensor.YieldOp(zero))
    more = [size - before for size, before in zip(shape, was, strict=True)]
    low = [0] * len(shape)
    type = TensorType(element, shape)
    op = builder.insert(tensor.PadOp(value, (), (), Region(block), low, more, type))
    op.result.name_hint = value.name_hint
    return op.result


def _zero(element: Attribute) -> arith.ConstantOp:
    if isa(element, AnyFloat):
        return number_constant(FloatAttr(0.0, element))
    if isa(element, IntegerType):
        return number_constant(IntegerAttr(0, element))
    raise IllegalStep(f"expected numbers, got '{element}'")


# Copies of what a tile reads and writes, near to where it is computed.


def copied(builder: Builder, value: SSAValue, into: SSAValue) -> SSAValue:
    """Insert a copy that passes leave alone."""
    copy = linalg.ops.CopyOp([value], [into], [into.type])
    copy.attributes[KEEP] = UnitAttr()
    copy.results[0].name_hint = value.name_hint
    return builder.insert(copy).results[0]


def stage(op: LinalgStructuredOperation, input: int) -> None:
    """Copy what a tile reads of an input into memory of the tile's own."""
    inputs = op.inputs
    if not 0 <= input < len(inputs) or not is_tensor(inputs[input].type):
        raise IllegalStep(f"expected one of {len(inputs)} inputs, got {input}")
    builder, value = before(op), inputs[input]
    op.operands[input] = copied(builder, value, empty(builder, value, shape_of(value)))


def bufferize_at(op: LinalgStructuredOperation) -> None:
    """Compute a tile of the output in memory of its own, and copy it to its place then."""
    init = op.outputs[0]
    builder, fill = before(op), init.owner
    place = fill.outputs[0] if isinstance(fill, linalg.ops.FillOp) else init
    own = empty(builder, init, shape_of(init))
    if isinstance(fill, linalg.ops.FillOp):
        own = builder.insert(with_operands(fill, [fill.inputs[0], own])).results[0]
    elif not isinstance(init.owner, tensor.EmptyOp):
        own = copied(builder, init, own)
    new = builder.insert(with_operands(op, [*op.inputs, own]))
    op.results[0].replace_all_uses_with(copied(builder, new.results[0], place))
    erase_unused(op)


@dataclass(frozen=True)
class Target:
    """The op that a step is about, and what its arguments mean."""

    op: LinalgStructuredOperation
    names: Sequence[str]
    """Of its dimensions."""
    find: Callable[[str], LinalgStructuredOperation]
    """Returns another op by its name, or raises GaweeError."""
    threads: int

    def by_dim(self, sizes: Mapping[str, Argument]) -> dict[int, int]:
        """Return numbers by the dimensions that they are of; raises IllegalStep."""
        unknown = next((each for each in sizes if each not in self.names), None)
        if unknown is not None:
            raise IllegalStep(f"expected one of {', '.join(self.names)}, got '{unknown}'")
        return {self.names.index(each): int(size) for each, size in sizes.items()}


Take = Callable[[Target, Sequence[str], Mapping[str, Argument]], None]


def _fuse(target: Target, producers: Sequence[str], _: Mapping[str, Argument]) -> None:
    for each in producers:
        fuse(target.op, target.find(each), each)


def _stage(target: Target, inputs: Sequence[str], keywords: Mapping[str, Argument]) -> None:
    for each in (*inputs, *keywords.values()):
        stage(target.op, int(each))


def _parallelize(target: Target, names: Sequence[str], _: Mapping[str, Argument]) -> None:
    dims = {dim for dim in target.names if names and names[0].partition(" by ")[0] == dim}
    reduced = [each for each in dims if target.names.index(each) not in num_parallel(target.op)]
    if reduced:
        raise IllegalStep(f"expected a parallel dimension, got {reduced[0]}")
    loops.parallelize(target.op, names, target.threads)


def _peel(target: Target, names: Sequence[str], _: Mapping[str, Argument]) -> None:
    for each in names:
        loops.peel(target.op, each)


TAKEN: Mapping[str, Take] = {
    "tile": lambda target, _, sizes: tile(target.op, target.names, target.by_dim(sizes)),
    "pad": lambda target, _, sizes: pad(target.op, target.names, target.by_dim(sizes)),
    "fuse": _fuse,
    "stage": _stage,
    "bufferize_at": lambda target, _, __: bufferize_at(target.op),
    "interchange": lambda target, names, _: loops.interchange(target.op, names),
    "parallelize": _parallelize,
    "peel": _peel,
}
"""What each step does; others are about the loops of the kernel that an op in its tile becomes."""


def is_structured(step: Step) -> bool:
    """Whether a step changes ops of linalg; loops over points are those of a kernel."""
    if step.name in ("interchange", "parallelize"):
        return all(" by " in str(each) for each in step.arguments)
    return step.name in TAKEN


def take(step: Step, target: Target) -> None:
    """Change an op as a step says; raises IllegalStep, where the module may be half changed."""
    try:
        TAKEN[step.name](target, [str(each) for each in step.arguments], dict(step.keywords))
    except IllegalStep as error:
        raise IllegalStep(f"cannot take the step {step}: {error}") from error
