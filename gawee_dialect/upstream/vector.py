"""Ops of the vector dialect that passes make often, and that xDSL's constructors do not make."""

from collections.abc import Sequence

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.hints import isa


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
