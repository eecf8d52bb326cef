"""Ops that make, pad, reshape and copy whole tensors; each function returns the new value."""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnrealizedConversionCastOp,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from gawee_dialect.dialect.open_size import OpenSize, is_open, without_names
from gawee_dialect.dialect.operation import integers
from gawee_dialect.dialect.types import (
    AnyTensor,
    element_type,
    float_attribute,
    is_unsigned,
    tensor_shape,
)
from gawee_dialect.hints import isa
from gawee_dialect.passes.graph.lower_to_linalg.open_sizes import mixed_sizes, size_value
from gawee_dialect.upstream import linalg
from gawee_dialect.upstream.arith import number_constant

Groups = Sequence[Sequence[int]]
"""A reassociation: for each axis of the smaller shape, the axes of the larger one it stands for."""


def constant(builder: Builder, value: float, element: Attribute) -> SSAValue:
    """Make a scalar of a number type: a constant, or a size that is open.

    Arith has no constants of unsigned types.
    """
    if isinstance(value, OpenSize):
        return _of_size(builder, size_value(builder, value), element)
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


def _of_size(builder: Builder, size: SSAValue, element: Attribute) -> SSAValue:
    if isinstance(element, IndexType):
        return size
    if not isinstance(element, AnyFloat):
        return builder.insert(arith.IndexCastOp(size, element)).result
    whole = builder.insert(arith.IndexCastOp(size, i64)).result
    return builder.insert(arith.SIToFPOp(whole, element)).result


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
    sizes = open_values(builder, type)
    if not sizes and like is not None:
        sizes = dynamic_sizes(builder, like)
    # Every op of a network needs one: xDSL's constructor looks up how it is put together.
    op = tensor.EmptyOp.create(operands=sizes, result_types=[type])
    return named_part(builder, builder.insert(op).tensor, "init")


def open_values(builder: Builder, type: AnyTensor) -> Sequence[SSAValue]:
    """Return the sizes of a type that are forms of names; none of a static one."""
    return mixed_sizes(builder, type.get_shape())[1] if is_open(type.get_shape()) else ()


def named_part(builder: Builder, value: SSAValue, part: str) -> SSAValue:
    """Name what an op is computed from, `%conv1_init`, so that its result alone has its name."""
    if builder.name_hint is not None:
        value.name_hint = f"{builder.name_hint}_{part}"
    return value


def dynamic_sizes(builder: Builder, value: SSAValue) -> list[SSAValue]:
    """Return the sizes of a tensor that its type leaves open, by tensor.dim."""
    shape = without_names(tensor_shape(value))
    open_axes = [axis for axis, size in enumerate(shape) if size == DYNAMIC_INDEX]
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
    block = Block(arg_types=[element_type(source), element_type(init)])
    block.add_op(linalg.YieldOp.create(operands=[block.args[0]]))
    # xDSL's constructor makes five times as many calls.
    op = linalg.BroadcastOp.create(
        operands=[source, init],
        result_types=[init.type],
        properties={"dimensions": integers(i64, tuple(dimensions))},
        regions=[Region(block)],
    )
    return builder.insert(op).results[0]


def padded(
    builder: Builder, source: SSAValue, low: Sequence[int], high: Sequence[int], value: SSAValue
) -> SSAValue:
    """Surround a tensor with a scalar; the source itself where there is nothing to add."""
    if not any(low) and not any(high):
        return source
    shape = [sum(sizes) for sizes in zip(tensor_shape(source), low, high, strict=True)]
    block = Block(arg_types=[IndexType()] * len(shape))
    block.add_op(tensor.YieldOp.create(operands=[value]))
    op = tensor.PadOp.create(
        operands=[source],
        result_types=[TensorType(element_type(source), shape)],
        properties={
            "static_low": integers(i64, tuple(low)),
            "static_high": integers(i64, tuple(high)),
            AttrSizedOperandSegments.attribute_name: integers(i32, (1, 0, 0)),
        },
        regions=[Region(block)],
    )
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
    static, values = mixed_sizes(builder, shape)
    op = tensor.ExpandShapeOp(source, values, _groups_attribute(groups), static, type)
    return builder.insert(op).result


def box(
    builder: Builder,
    source: SSAValue,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> SSAValue:
    """Cut a box out of a tensor."""
    type = TensorType(element_type(source), sizes)
    return builder.insert(
        tensor.ExtractSliceOp.build(
            operands=[source, *_values(builder, offsets, sizes, strides)],
            properties=_static(offsets, sizes, strides),
            result_types=[type],
        )
    ).result


def inserted(
    builder: Builder,
    part: SSAValue,
    whole: SSAValue,
    offsets: Sequence[int],
    strides: Sequence[int] | None = None,
) -> SSAValue:
    """Put a part into a tensor."""
    sizes = tensor_shape(part)
    steps = [1] * len(sizes) if strides is None else strides
    return builder.insert(
        tensor.InsertSliceOp.build(
            operands=[part, whole, *_values(builder, offsets, sizes, steps)],
            properties=_static(offsets, sizes, steps),
            result_types=[whole.type],
        )
    ).result


def _values(builder: Builder, *lists: Sequence[int]) -> list[list[SSAValue]]:
    return [mixed_sizes(builder, each)[1] for each in lists]


def _static(*lists: Sequence[int]) -> dict[str, Attribute]:
    names = ("static_offsets", "static_sizes", "static_strides")
    return {
        name: integers(i64, tuple(without_names(each)))
        for name, each in zip(names, lists, strict=True)
    }


def pair(values: Sequence[int]) -> DenseIntElementsAttr:
    """Make the attribute that named ops take strides and dilations in."""
    return _pair(tuple(values))


@lru_cache(maxsize=256)
def _pair(values: tuple[int, ...]) -> DenseIntElementsAttr:
    return DenseIntElementsAttr.from_list(TensorType(i64, [len(values)]), values)
