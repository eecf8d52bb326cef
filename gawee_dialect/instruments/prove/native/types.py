"""What types become where a float is an exact number: four doubles, the value and three residues.

A vector of n floats is four vectors of n doubles in registers, and n groups of four doubles in
memory. All of memory is stretched by one factor, so that what overlapped does, and nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    ModuleOp,
    VectorType,
    f64,
    i8,
)
from xdsl.dialects.llvm import (
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
    LLVMStructType,
    LLVMVoidType,
)
from xdsl.ir import Attribute

from gawee_dialect.dialect.types import element_bytes
from gawee_dialect.hints import isa

PARTS = 4
"""The doubles of a number: its value, then its residues."""

DOUBLE = 8

_FLOATS = {16: "half", 32: "float", 64: "double"}


def lane_of(type: Attribute) -> Attribute:
    """Return the type of a vector's lanes, any other type as it is."""
    return type.element_type if isa(type, VectorType[Attribute]) else type


def lanes_of(type: Attribute) -> int | None:
    """Return how many lanes a vector has, None of a scalar."""
    return type.get_shape()[0] if isa(type, VectorType[Attribute]) else None


def spelled(type: Attribute) -> str:
    """Return LLVM IR's spelling of a scalar of numbers, or of a vector."""
    lane, lanes = lane_of(type), lanes_of(type)
    text = _FLOATS[lane.bitwidth] if isinstance(lane, AnyFloat) else str(lane)
    return text if lanes is None else f"<{lanes} x {text}>"


def suffix_of(type: Attribute) -> str:
    """Return how names of functions spell a type: `f32`, `v16i8`."""
    lane, lanes = lane_of(type), lanes_of(type)
    return f"{lane}" if lanes is None else f"v{lanes}{lane}"


def is_float(type: Attribute) -> bool:
    """Whether values of a type are exact numbers: floats, and vectors of them."""
    return isinstance(lane_of(type), Float16Type | Float32Type | Float64Type)


def in_registers(type: Attribute) -> Attribute:
    """Return what a value is of: four doubles, or vectors of them, for floats."""
    if is_float(type):
        lanes = lanes_of(type)
        return LLVMArrayType(PARTS, f64 if lanes is None else VectorType(f64, [lanes]))
    return type


def function_type(type: LLVMFunctionType) -> LLVMFunctionType:
    """Return the type of a function of exact numbers."""
    output = None if isinstance(type.output, LLVMVoidType) else in_registers(type.output)
    return LLVMFunctionType([in_registers(each) for each in type.inputs], output)


@dataclass(frozen=True)
class Memory:
    """How memory is stretched."""

    factor: int
    """How many bytes there are for each byte that there was."""

    @staticmethod
    def of(module: ModuleOp, dtypes: Iterable[np.dtype[np.generic]]) -> "Memory":
        """Choose the factor by the smallest float, of values or of arguments.

        That must hold four doubles.
        """
        values = (value for op in module.walk() for value in (*op.results, *op.operands))
        halves = any(isinstance(lane_of(value.type), Float16Type) for value in values)
        smallest = 2 if halves or any(each == np.float16 for each in dtypes) else 4
        return Memory(PARTS * DOUBLE // smallest)

    def doubles(self, type: Attribute) -> int:
        """Return how many doubles a float takes."""
        return self.factor * element_bytes(lane_of(type)) // DOUBLE

    def bytes_of(self, type: Attribute) -> int:
        """Return how many bytes a scalar or a vector takes."""
        return self.factor * element_bytes(lane_of(type)) * (lanes_of(type) or 1)

    def in_memory(self, type: Attribute) -> Attribute:
        """Return a type of the size that a value has in memory; pointers are what they were."""
        match type:
            case LLVMPointerType():
                return type
            case LLVMArrayType():
                return LLVMArrayType(type.size.data, self.in_memory(type.type))
            case LLVMStructType():
                return LLVMStructType.from_type_list([self._field(each) for each in type.types])
            case _:
                return LLVMArrayType(self.bytes_of(type), i8)

    def _field(self, type: Attribute) -> Attribute:
        # Such that a field of doubles is aligned.
        if is_float(type) or isa(lane_of(type), IntegerType):
            return LLVMArrayType(-(-self.bytes_of(type) // DOUBLE), f64)
        return self.in_memory(type)
