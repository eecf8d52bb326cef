"""Which part of each operand a box of an op's points is about, as ops on tensors.

A size is a number, or a value of type index where a tile at the end is smaller.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import affine, linalg, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from gawee_dialect.analysis.index_bounds import constant_index
from gawee_dialect.dialect.affine_range import is_linear
from gawee_dialect.dialect.types import is_tensor, tensor_shape, tensor_type
from gawee_dialect.locations import hand_on_location
from gawee_dialect.schedules.steps import IllegalStep
from gawee_dialect.upstream.arith import index_constant

Size: TypeAlias = int | SSAValue


def before(op: Operation) -> Builder:
    """Return what inserts ops before an op, with its place."""
    builder = Builder(InsertPoint.before(op))
    builder.operation_insertion_handler = [lambda new: hand_on_location(op, new)]
    return builder


def index_of(builder: Builder, size: Size) -> SSAValue:
    """Return a size as a value of type index."""
    return size if isinstance(size, SSAValue) else builder.insert(index_constant(size)).result


def maps_of(op: LinalgStructuredOperation) -> list[AffineMap]:
    """Return the maps of an op's operands; raises IllegalStep where one is no sum."""
    maps = [attribute.data for attribute in op.get_indexing_maps()]
    wrong = next((map for map in maps if not is_linear(map)), None)
    if wrong is not None:
        raise IllegalStep(f"expected maps that are sums of multiples of dimensions, got '{wrong}'")
    return maps


def num_parallel(op: LinalgStructuredOperation) -> frozenset[int]:
    """Return the dimensions of an op that are parallel."""
    kinds = enumerate(op.get_iterator_types())
    return frozenset(dim for dim, kind in kinds if kind.data is IteratorType.PARALLEL)


def shape_of(value: SSAValue) -> list[Size]:
    """Return the sizes of a tensor's axes, those that are open as they were computed."""
    shape: list[Size] = list(tensor_shape(value))
    if DYNAMIC_INDEX not in shape:
        return shape
    match value.owner:
        case tensor.ExtractSliceOp(static_sizes=static, sizes=dynamic):
            return mixed(static, dynamic)
        case tensor.EmptyOp(dynamic_sizes=dynamic):
            given = iter(dynamic)
            return [next(given) if size == DYNAMIC_INDEX else size for size in shape]
        case LinalgStructuredOperation(outputs=outputs):
            return shape_of(outputs[0])
        case tensor.InsertSliceOp(dest=whole):
            return shape_of(whole)
        case scf.ForOp(iter_args=starts):  # loops over tiles carry one tensor
            return shape_of(starts[0])
        case Block() as body if isinstance(loop := body.parent_op(), scf.ForOp):
            return shape_of(loop.iter_args[0])
        case _:
            raise IllegalStep("expected sizes that are known where a tensor is made")


def mixed(static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[Size]:
    """Return numbers and values as one list."""
    given = iter(dynamic)
    return [next(given) if each == DYNAMIC_INDEX else each for each in static.get_values()]


def extents(op: LinalgStructuredOperation) -> list[Size]:
    """Return how many points each dimension has; raises IllegalStep where that is not known."""
    found: dict[int, Size] = {}
    for value, map in zip(op.operands, maps_of(op), strict=True):
        sizes = shape_of(value) if is_tensor(value.type) else ()
        for expr, size in zip(map.results, sizes, strict=False):
            if isinstance(expr, AffineDimExpr):
                found.setdefault(expr.position, size)
    dims = range(op.get_num_loops())
    lost = next((dim for dim in dims if dim not in found), None)
    if lost is not None:
        raise IllegalStep(f"expected an operand that d{lost} indexes alone")
    return [found[dim] for dim in dims]


def static_shape(sizes: Sequence[Size]) -> list[int]:
    """Return sizes as a type has them."""
    return [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]


def apply(builder: Builder, expr: AffineExpr, values: Mapping[int, Size]) -> Size:
    """Compute a sum of dimensions."""
    used = sorted({each.position for each in expr.dfs() if isinstance(each, AffineDimExpr)})
    open_dims = [dim for dim in used if isinstance(values[dim], SSAValue)]
    dims = {dim: AffineDimExpr(at) for at, dim in enumerate(open_dims)}
    count = max([-1, *used]) + 1
    new = [dims.get(dim) or AffineExpr.constant(_number(values.get(dim))) for dim in range(count)]
    replaced = expr.replace_dims_and_symbols(new, [])
    if not open_dims:
        return replaced.eval([], [])
    if isinstance(replaced, AffineDimExpr):
        return values[open_dims[0]]
    operands = [index_of(builder, values[dim]) for dim in open_dims]
    map = AffineMapAttr(AffineMap(len(operands), 0, (replaced,)))
    return builder.insert(affine.ApplyOp(operands, map)).result


def _number(value: Size | None) -> int:
    """Return a size that is a number; 0 of what the sum does not have."""
    return value if isinstance(value, int) else 0


def part(
    builder: Builder, value: SSAValue, offsets: Sequence[Size], sizes: Sequence[Size]
) -> SSAValue:
    """Return a part of a tensor; the tensor itself where that is all of it."""
    if list(sizes) == shape_of(value) and all(each == 0 for each in offsets):
        return value
    type = TensorType(tensor_type(value).element_type, static_shape(sizes))
    cut = tensor.ExtractSliceOp(value, offsets, sizes, [1] * len(sizes), type)
    cut.result.name_hint = value.name_hint
    return builder.insert(cut).result


def put(
    builder: Builder,
    value: SSAValue,
    into: SSAValue,
    offsets: Sequence[Size],
    sizes: Sequence[Size],
) -> SSAValue:
    """Return a tensor with another one as a part of it; that one where it is all of it."""
    if list(sizes) == shape_of(into) and all(each == 0 for each in offsets):
        return value
    return builder.insert(insert_slice(value, into, offsets, sizes)).result


def insert_slice(
    value: SSAValue, into: SSAValue, offsets: Sequence[Size], sizes: Sequence[Size]
) -> tensor.InsertSliceOp:
    """Make the op that puts a tensor into a part of another one."""
    lists = (offsets, sizes, [1] * len(sizes))
    open_sizes = [[each for each in list if isinstance(each, SSAValue)] for list in lists]
    return tensor.InsertSliceOp.build(
        operands=[value, into, *open_sizes],
        result_types=[into.type],
        properties={
            name: DenseArrayBase.from_list(i64, static_shape(list))
            for name, list in zip(
                ("static_offsets", "static_sizes", "static_strides"), lists, strict=True
            )
        },
    )


def box_of(
    builder: Builder, map: AffineMap, offsets: Sequence[Size], sizes: Sequence[Size]
) -> tuple[list[Size], list[Size]]:
    """Return where a box of points begins in an operand, and how large its part is."""
    first, last = dict(enumerate(offsets)), _one_less(sizes)
    begins: list[Size] = []
    parts: list[Size] = []
    for expr in map.results:
        begins.append(apply(builder, expr, first))
        if isinstance(expr, AffineDimExpr):
            parts.append(sizes[expr.position])
        else:
            parts.append(_extent(builder, expr, last, sizes))
    return begins, parts


def _one_less(sizes: Sequence[Size]) -> dict[int, int]:
    return {dim: size - 1 for dim, size in enumerate(sizes) if isinstance(size, int)}


def _extent(
    builder: Builder, expr: AffineExpr, last: Mapping[int, int], sizes: Sequence[Size]
) -> Size:
    """Return how many elements the values of a sum span: the last one, less the first, and one."""
    count = len(sizes)
    zero = expr.eval([0] * count, [])
    slopes = [expr.eval([int(at == dim) for at in range(count)], []) - zero for dim in range(count)]
    if min(slopes, default=0) < 0:
        raise IllegalStep(f"expected a map that does not run backwards, got '{expr}'")
    most: dict[int, Size] = {dim: last.get(dim, size) for dim, size in enumerate(sizes)}
    dims = [AffineDimExpr(dim) if dim in last else AffineDimExpr(dim) - 1 for dim in range(count)]
    span = expr.replace_dims_and_symbols(dims, []) + (1 - zero)
    return apply(builder, span, most)


def on_box(
    builder: Builder,
    op: LinalgStructuredOperation,
    offsets: Sequence[Size],
    sizes: Sequence[Size],
    init: SSAValue,
) -> LinalgStructuredOperation:
    """Insert an op on a box of its points; `init` is what its part of the output was before."""
    inputs: list[SSAValue] = []
    for value, map in zip(op.inputs, maps_of(op), strict=False):
        if not is_tensor(value.type):
            inputs.append(value)
            continue
        begins, parts = box_of(builder, map, offsets, sizes)
        inputs.append(part(builder, value, begins, parts))
    new = with_operands(op, [*inputs, init])
    builder.insert(new)
    _move_indices(new, offsets)
    return new


def with_operands(
    op: LinalgStructuredOperation, operands: Sequence[SSAValue]
) -> LinalgStructuredOperation:
    """Return an op on other operands; its result has the type of the last one."""
    new = type(op).create(
        operands=operands,
        result_types=[operands[-1].type],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        regions=[region.clone() for region in op.regions],
    )
    new.results[0].name_hint = op.results[0].name_hint
    hand_on_location(op, new)
    return new


def _move_indices(op: LinalgStructuredOperation, offsets: Sequence[Size]) -> None:
    """Have the indices that a body reads be those of the whole op."""
    found = [each for each in op.body.block.ops if isinstance(each, linalg.ops.IndexOp)]
    for index in found:
        offset = offsets[index.dim.value.data]
        if offset != 0:
            builder = Builder(InsertPoint.after(index))
            moved = apply(
                builder, AffineDimExpr(0) + AffineDimExpr(1), {0: index.result, 1: offset}
            )
            assert isinstance(moved, SSAValue)
            user = moved.owner
            index.result.replace_uses_with_if(moved, lambda use: use.operation is not user)


def empty(builder: Builder, like: SSAValue, sizes: Sequence[Size]) -> SSAValue:
    """Return a tensor of such sizes that holds nothing yet."""
    type = TensorType(tensor_type(like).element_type, static_shape(sizes))
    dynamic = [size for size in sizes if isinstance(size, SSAValue)]
    return builder.insert(tensor.EmptyOp(dynamic, type)).tensor


def begun(
    builder: Builder,
    init: SSAValue,
    offsets: Sequence[Size],
    sizes: Sequence[Size],
    place: SSAValue,
) -> SSAValue:
    """Return what a part of an output is before: a number, nothing, or a part of a tensor.

    `place` is a tensor of the part's size, which may take the number.
    """
    owner = init.owner
    if isinstance(owner, linalg.ops.FillOp):
        return builder.insert(with_operands(owner, [owner.inputs[0], place])).results[0]
    if isinstance(owner, tensor.EmptyOp):
        return place
    return part(builder, init, offsets, sizes)


def erase_unused(op: Operation) -> None:
    """Erase an op without uses, and what it alone used of fills and tensors without numbers."""
    if any(result.uses for result in op.results):
        return
    owners = [value.owner for value in op.operands]
    parent = op.parent
    assert parent is not None
    parent.erase_op(op)
    for owner in owners:
        if isinstance(owner, linalg.ops.FillOp | tensor.EmptyOp) and owner.parent is not None:
            erase_unused(owner)


def known(value: SSAValue) -> Size:
    """Return a number where a value is a constant."""
    number = constant_index(value)
    return value if number is None else number
