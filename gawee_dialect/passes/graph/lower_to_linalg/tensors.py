"""Ops that make, pad, reshape and copy whole tensors; each function returns the new value."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    float_attribute,
    is_unsigned,
    tensor_shape,
)
from gawee_dialect.hints import isa
from gawee_dialect.upstream import linalg
from gawee_dialect.upstream.arith import number_constant

Groups = Sequence[Sequence[int]]
"""A reassociation: for each axis of the smaller shape, the axes of the larger one it stands for."""


def constant(builder: Builder, value: float, element: Attribute) -> SSAValue:
    """Make a scalar constant of a number type; arith has none of unsigned ones."""
    if isinstance(element, AnyFloat):
        number = float_attribute(value, element)
    elif is_unsigned(element):
        assert isa(element, IntegerType)
        signless = constant(builder, value, IntegerType(element.width.data))
        return builder.insert(UnrealizedConversionCastOp.get([signless], [element])).results[0]
    else:
        assert isa(element, IntegerType | IndexType)
        number = IntegerAttr(int(value), element)
    return builder.insert(number_constant(number)).result


def zero(builder: Builder, element: Attribute) -> SSAValue:
    """Make the scalar zero of an element type."""
    return constant(builder, 0, element)


def lowest(builder: Builder, element: Attribute) -> SSAValue:
    """Make the scalar that no other of its type is below: -inf, or the lowest integer."""
    if isa(element, IntegerType):
        return constant(builder, -(1 << (element.width.data - 1)), element)
    return constant(builder, float("-inf"), element)


def highest(builder: Builder, element: Attribute) -> SSAValue:
    """Make the scalar that no other of its type is above: inf, or the highest integer."""
    if isa(element, IntegerType):
        return constant(builder, (1 << (element.width.data - 1)) - 1, element)
    return constant(builder, float("inf"), element)


def empty(builder: Builder, type: AnyTensor, like: SSAValue | None = None) -> SSAValue:
    """Make a tensor whose elements are still to be written; as large as another where dynamic."""
    sizes = () if like is None else dynamic_sizes(builder, like)
    # Every op of a network needs one: xDSL's constructor looks up how it is put together.
    op = tensor.EmptyOp.create(operands=sizes, result_types=[type])
    return named_part(builder, builder.insert(op).tensor, "init")


def named_part(builder: Builder, value: SSAValue, part: str) -> SSAValue:
    """Name what an op is computed from, `%conv1_init`, so that its result alone has its name."""
    if builder.name_hint is not None:
        value.name_hint = f"{builder.name_hint}_{part}"
    return value


def dynamic_sizes(builder: Builder, value: SSAValue) -> list[SSAValue]:
    """Return the sizes of a tensor that its type leaves open, by tensor.dim."""
    open_axes = [axis for axis, size in enumerate(tensor_shape(value)) if size < 0]
    axes = [constant(builder, axis, IndexType()) for axis in open_axes]
    return [
        builder.insert(
            tensor.DimOp.build(operands=[value, axis], result_types=[IndexType()])
        ).result
        for axis in axes
    ]


def filled(
    builder: Builder, value: SSAValue, type: AnyTensor, like: SSAValue | None = None
) -> SSAValue:
    """Make a tensor with one scalar everywhere; as large as another where it is dynamic."""
    init = empty(builder, type, like)
    return named_part(
        builder, builder.insert(linalg.FillOp([value], [init], [type])).res[0], "init"
    )


def broadcast(
    builder: Builder, source: SSAValue, type: AnyTensor, dimensions: Sequence[int]
) -> SSAValue:
    """Repeat a tensor along new axes: `dimensions` are those axes of `type`."""
    init = empty(builder, type)
    new_axes = DenseArrayBase.from_list(i64, dimensions)
    return builder.insert(linalg.BroadcastOp(source, init, new_axes)).results[0]


def padded(
    builder: Builder, source: SSAValue, low: Sequence[int], high: Sequence[int], value: SSAValue
) -> SSAValue:
    """Surround a tensor with a scalar; the source itself where there is nothing to add."""
    if not any(low) and not any(high):
        return source
    shape = [sum(sizes) for sizes in zip(tensor_shape(source), low, high, strict=True)]
    block = Block(arg_types=[IndexType()] * len(shape))
    block.add_op(tensor.YieldOp(value))
    type = TensorType(element_type(source), shape)
    op = tensor.PadOp(source, (), (), Region(block), low, high, type)
    return named_part(builder, builder.insert(op).result, "padded")


def _groups_attribute(groups: Groups) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr(ArrayAttr(IntegerAttr(axis, i64) for axis in group) for group in groups)


def collapsed(builder: Builder, source: SSAValue, groups: Groups, shape: Sequence[int]) -> SSAValue:
    """Join groups of adjacent axes into one axis each."""
    op = tensor.CollapseShapeOp(
        operands=[source],
        result_types=[TensorType(element_type(source), shape)],
        properties={"reassociation": _groups_attribute(groups)},
    )
    return builder.insert(op).result


def expanded(builder: Builder, source: SSAValue, groups: Groups, shape: Sequence[int]) -> SSAValue:
    """Split axes into groups of adjacent axes, one group an axis."""
    type = TensorType(element_type(source), shape)
    op = tensor.ExpandShapeOp(source, (), _groups_attribute(groups), shape, type)
    return builder.insert(op).result


def pair(values: Sequence[int]) -> DenseIntElementsAttr:
    """Make the attribute that named ops take strides and dilations in."""
    return DenseIntElementsAttr.from_list(TensorType(i64, [len(values)]), values)
