"""Make dimensions of an op larger, so that tiles are whole."""

from collections.abc import Mapping, Sequence
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
)
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from gawee_dialect.dialect.affine_range import used_dims
from gawee_dialect.dialect.types import is_tensor, tensor_shape, tensor_type
from gawee_dialect.hints import isa
from gawee_dialect.schedules.steps import INTEGER_DIVISIONS, IllegalStep
from gawee_dialect.schedules.structured.boxes import (
    before,
    empty,
    erase_unused,
    extents,
    maps_of,
    num_parallel,
    part,
    with_operands,
)
from gawee_dialect.upstream.arith import number_constant


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
