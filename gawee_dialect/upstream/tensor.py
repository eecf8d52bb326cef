"""The tensor dialect with ops that xDSL lacks, and two that it refuses too much of."""

from collections.abc import Sequence
from math import prod
from typing import Self

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, TensorType, i64
from xdsl.dialects.utils import DynamicIndexList, verify_dynamic_index_list
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import tensor_shape, tensor_type


@irdl_op_definition
class GenerateOp(IRDLOperation):
    """A tensor whose elements a body computes from their indices. xDSL has no such op.

    ```mlir
    %t = tensor.generate {
    ^bb0(%i: index, %j: index):
      %0 = arith.addi %i, %j : index
      tensor.yield %0 : index
    } : tensor<3x5xindex>
    ```

    Constraints:
      C1: the body has an index for each axis.
      C2: as many sizes are given as the type leaves open.
    """

    name = "tensor.generate"

    sizes = var_operand_def(IndexType())
    result = result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure())

    def __init__(self, sizes: Sequence[SSAValue], result: Attribute, body: Region):
        super().__init__(operands=[sizes], result_types=[result], regions=[body])

    def verify_(self) -> None:
        shape = tensor_shape(self.result)
        if list(self.body.block.arg_types) != [IndexType()] * len(shape):
            raise VerifyException(f"expected a body of {len(shape)} indices")
        if len(self.sizes) != sum(size < 0 for size in shape):
            raise VerifyException(
                f"expected {sum(size < 0 for size in shape)} sizes, got {len(self.sizes)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        sizes = [parser.resolve_operand(name, IndexType()) for name in names or ()]
        body = parser.parse_region()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(sizes, parser.parse_type(), body)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        if self.sizes:
            printer.print_string(" ")
            printer.print_list(self.sizes, printer.print_ssa_value)
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


class PadOp(tensor.PadOp):
    """Padding; what is padded by a size of run time may have a static type after it.

    That is how tiles are filled up to one size; xDSL requires such a type to be dynamic.

    ```mlir
    %p = tensor.pad %x low[0, 0] high[%n, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<?x5xf32> to tensor<3x5xf32>
    ```

    Constraints:
      C1: there is padding for each axis, and an index of the body.
      C2: where source and padding are static, the result is as large as both.
      C3: padding of run time is an operand.
    """

    name = "tensor.pad"

    def verify_(self) -> None:
        blocks = len(self.region.blocks)
        if blocks != 1:
            raise VerifyException(f"expected a body of one block, got {blocks}")
        for name in ("static_low", "static_high"):
            if name not in self.properties:
                raise VerifyException(f"expected property '{name}'")
        for sizes, operands in ((self.static_low, self.low), (self.static_high, self.high)):
            verify_dynamic_index_list(sizes.get_values(), operands, DYNAMIC_INDEX)
        source, result = tensor_shape(self.source), tensor_shape(self.result)
        low, high = self.static_low.get_values(), self.static_high.get_values()
        indices = len(self.region.block.args)
        if not len(low) == len(high) == indices == len(source) == len(result):
            raise VerifyException(f"expected padding, an index and a size for {len(source)} axes")
        for axis, sizes in enumerate(zip(source, low, high, strict=True)):
            if DYNAMIC_INDEX not in sizes and sum(sizes) != result[axis]:
                raise VerifyException(
                    f"expected axis {axis} of the result to have {sum(sizes)} elements, "
                    f"got {result[axis]}"
                )


def is_padding_computed(op: tensor.PadOp) -> bool:
    """Whether a body of padding computes what it yields, of its indices or of other values."""
    block = op.region.block
    end = block.last_op
    assert isinstance(end, tensor.YieldOp)
    owner = end.operands[0].owner
    if isinstance(owner, Operation):
        return owner.parent is block and bool(owner.operands)
    return owner is block


class ReshapeOp(tensor.ReshapeOp):
    """A tensor in another shape, which a tensor says; xDSL refuses sizes of run time.

    ```mlir
    %r = tensor.reshape %x(%s) : (tensor<4x3xf32>, tensor<2xindex>) -> tensor<?x6xf32>
    ```

    Constraints:
      C1: the shape has a size for each axis of the result.
      C2: the result has the elements of the source.
    """

    name = "tensor.reshape"

    def verify_(self) -> None:
        source, result = tensor_type(self.source), tensor_type(self.result)
        if tensor_shape(self.shape) != (result.get_num_dims(),):
            raise VerifyException(
                f"expected a shape of {result.get_num_dims()} sizes, got '{self.shape.type}'"
            )
        old, new = source.get_shape(), result.get_shape()
        is_as_large = min((*old, *new), default=0) < 0 or prod(old) == prod(new)
        if source.element_type != result.element_type or not is_as_large:
            raise VerifyException(f"expected the elements of '{source}', got '{result}'")


@irdl_op_definition
class ParallelInsertSliceOp(IRDLOperation):
    """Put a slice into a tensor that the iterations of `scf.forall` share. xDSL has no such op.

    ```mlir
    tensor.parallel_insert_slice %x into %o[%i, 0] [1, 5] [1, 1]
      : tensor<1x5xf32> into tensor<7x5xf32>
    ```

    Constraints:
      C1: there is an offset, a size and a stride for each axis of what is inserted into.
      C2: those of run time are operands.
    """

    name = "tensor.parallel_insert_slice"

    source = operand_def(TensorType)
    dest = operand_def(TensorType)
    offsets = var_operand_def(IndexType())
    sizes = var_operand_def(IndexType())
    strides = var_operand_def(IndexType())
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    custom_directives = (DynamicIndexList,)
    assembly_format = (
        "$source `into` $dest ``"
        "custom<DynamicIndexList>($offsets, $static_offsets)"
        "custom<DynamicIndexList>($sizes, $static_sizes)"
        "custom<DynamicIndexList>($strides, $static_strides)"
        "attr-dict `:` type($source) `into` type($dest)"
    )

    def verify_(self) -> None:
        rank = len(tensor_shape(self.dest))
        numbers = (self.static_offsets, self.static_sizes, self.static_strides)
        if any(len(each) != rank for each in numbers):
            raise VerifyException(f"expected an offset, a size and a stride for {rank} axes")
        operands = (self.offsets, self.sizes, self.strides)
        for static, dynamic in zip(numbers, operands, strict=True):
            verify_dynamic_index_list(static.get_values(), dynamic, DYNAMIC_INDEX)


OWN = {each.name: each for each in (PadOp, ReshapeOp)}
"""What takes the place of ops of xDSL."""

TENSOR = Dialect(
    "tensor",
    [
        *(OWN.get(op.name, op) for op in tensor.Tensor.operations),
        GenerateOp,
        ParallelInsertSliceOp,
    ],
    list(tensor.Tensor.attributes),
)
"""xDSL's dialect and two ops that it lacks, with ours in the place of two of its own."""


# Slices that leave out axes of one element.


def kept_axes(sizes: Sequence[int], shape: Sequence[int]) -> list[int]:
    """Return the axes of a box that are axes of a slice of it, whose shape may leave out ones.

    `sizes` and `shape` have DYNAMIC_INDEX where a size is not known. From the left, an axis is left
    out where its size is another than the next one of the shape, as in upstream's verifier.
    """
    kept: list[int] = []
    for axis, size in enumerate(sizes):
        if len(kept) < len(shape) and size == shape[len(kept)]:
            kept.append(axis)
    return list(range(len(sizes))) if len(sizes) == len(shape) else kept
