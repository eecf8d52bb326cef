"""The vector dialect with ops that xDSL lacks, and ops that its constructors do not make."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    I1,
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.hints import isa


@irdl_op_definition
class YieldOp(IRDLOperation):
    """What the region of a `vector.mask` returns. xDSL has no such op."""

    name = "vector.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict ($values^ `:` type($values))?"


@irdl_op_definition
class MaskOp(IRDLOperation):
    """An op on vectors, done in the lanes that a mask has set. xDSL has no such op.

    What its results have in other lanes is the `otherwise` value, or not said without one.

    ```mlir
    %1 = vector.mask %m { vector.transfer_read %t[%i], %p : tensor<?xf32>, vector<8xf32> }
       : vector<8xi1> -> vector<8xf32>
    ```

    Constraints:
      C1: the region has one op, whose results are what is yielded.
    """

    name = "vector.mask"

    mask = operand_def(VectorType[I1])
    otherwise = opt_operand_def()
    masked = var_result_def()
    body = region_def("single_block")

    def verify_(self) -> None:
        *ops, last = self.body.block.ops
        if not isinstance(last, YieldOp) or [each.results for each in ops] != [
            tuple(last.operands)
        ]:
            raise VerifyException("expected one op that is masked")

    @property
    def op(self) -> Operation:
        """The op that is masked."""
        assert self.body.block.first_op is not None
        return self.body.block.first_op

    @classmethod
    def parse(cls, parser: Parser) -> "MaskOp":
        operands = [parser.parse_unresolved_operand()]
        if parser.parse_optional_punctuation(","):
            operands.append(parser.parse_unresolved_operand())
        region = parser.parse_region()
        last = region.block.last_op
        if last is not None and not isinstance(last, YieldOp):
            region.block.add_op(YieldOp.build(operands=[last.results]))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        mask = parser.parse_type()
        results: list[Attribute] = []
        if parser.parse_optional_punctuation("->"):
            results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = parser.resolve_operands(
            operands, [mask, *results[: len(operands) - 1]], parser.pos
        )
        return cls.create(
            operands=values, result_types=results, attributes=attributes, regions=[region]
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(" ")
        printer.print_region(self.body, print_block_terminators=False)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.mask.type)
        if self.results:
            printer.print_string(" -> ")
            printer.print_list(self.result_types, printer.print_attribute)


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """A vector combined along some of its axes, and with what there was. xDSL has no such op.

    ```mlir
    %1 = vector.multi_reduction <add>, %v, %start [1] : vector<4x8xf32> to vector<4xf32>
    ```

    Constraints:
      C1: the result has the axes that are not reduced.
    """

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "vector.multi_reduction"

    source = operand_def(VectorType)
    start = operand_def(T)
    result = result_def(T)
    kind = prop_def(CombiningKindAttr)
    reduction_dims = prop_def(DenseArrayBase.constr(i64))
    traits = traits_def(Pure())

    assembly_format = (
        "$kind `,` $source `,` $start attr-dict $reduction_dims `:` type($source) `to` type($start)"
    )

    def verify_(self) -> None:
        assert isa(self.source.type, VectorType[Attribute])
        dims = self.reduction_dims.get_values()
        kept = [n for axis, n in enumerate(self.source.type.get_shape()) if axis not in dims]
        got = self.result.type
        shape = list(got.get_shape()) if isa(got, VectorType[Attribute]) else []
        if shape != kept:
            raise VerifyException(f"expected a result of {kept}, got {shape}")


VECTOR = Dialect(
    "vector",
    [*vector.Vector.operations, YieldOp, MaskOp, MultiReductionOp],
    list(vector.Vector.attributes),
)
"""xDSL's dialect and three ops that it lacks."""


def reduction(
    source: SSAValue, kind: CombiningKindFlag, start: SSAValue | None = None
) -> vector.ReductionOp:
    """Make the op that combines all lanes of a vector, and `start` where there is one.

    xDSL's constructor gives the result the type of the vector.
    """
    assert isa(source.type, VectorType[Attribute])
    return vector.ReductionOp.build(
        operands=[source, start],
        result_types=[source.type.element_type],
        properties={"kind": CombiningKindAttr(kind)},
    )


def zeros(type: VectorType[Attribute]) -> arith.ConstantOp:
    """Make a constant vector of zeros, of floats or of integers."""
    if isa(type, VectorType[AnyFloat]):
        return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [0.0]))
    assert isa(type, VectorType[IntegerType])
    return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [0]))


def strided_load(
    buffer: SSAValue, indices: Sequence[SSAValue], lanes: int, axis: int, step: int = 1
) -> list[Operation]:
    """Make the ops that read lanes which do not lie side by side; the last one is the vector.

    Lane i is the element at `indices`, that of `axis` moved on by i * step. There is no instruction
    for it that is faster than the loads one by one.

        %p = arith.addi %i, %c2 : index
        %e = memref.load %x[%p, %j] : memref<8x8xf32>
        %v = vector.insert %e, %u [1] : f32 into vector<4xf32>
    """
    assert isa(buffer.type, MemRefType[Attribute])
    vector_type = VectorType(buffer.type.element_type, [lanes])
    ops: list[Operation] = [zeros(vector_type)]
    for lane in range(lanes):
        result = ops[-1].results[0]
        distance = arith.ConstantOp(IntegerAttr(lane * step, IndexType()))
        place = arith.AddiOp(indices[axis], distance)
        moved = list(indices)
        moved[axis] = place.result
        element = memref.LoadOp.get(buffer, moved)
        ops += [distance, place, element, vector.InsertOp(element.res, result, [lane])]
    return ops
