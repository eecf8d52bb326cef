"""The interface of ops that compute one tensor or buffer over an iteration space."""

import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    MemRefType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    opt_operand_def,
    opt_result_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from gawee_dialect.dialect.kernels.algorithm import Algorithm
from gawee_dialect.dialect.size_list import SIZE_LIST, SizesAttr
from gawee_dialect.dialect.types import is_shaped, require


@lru_cache(maxsize=4096)
def _numbers(data: bytes) -> tuple[int, ...]:
    """Return the numbers of an array of i64: a kernel's sizes are read again and again."""
    return struct.unpack(f"<{len(data) // 8}q", data)


def require_scalar_ops(name: str, region: Region) -> None:
    """Require that every op of a region computes one scalar; raises VerifyException."""
    for op in region.block.ops:
        made = [result.type for result in op.results]
        require(
            op is region.block.last_op
            or (len(made) == 1 and not is_shaped(made[0]) and not op.regions),
            f"expected ops that compute a scalar in '{name}', got '{op.name}'",
        )


class WritesOutputBuffer(MemoryEffect):
    """A kernel on tensors has no effect; one on buffers reads its inputs and writes its output."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        if op.results:
            return set()
        return {EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)}


class StructuredKernel(IRDLOperation, ABC):
    """What layouts, bufferization, outlining, cost, profile and tuning need of every kernel.

    1. The iteration space is `sizes`, of which the first `num_parallel` dimensions are parallel.
    2. `maps` are of the `inputs` and, last, of the output: which element a point is about. A pass that
       stores an operand in another layout replaces it, and its map, by `with_operands`.
    3. `packed` operands have no map: their form is the op's own, and no pass changes it.
    4. On buffers the op has an output operand in the place of a result, which no input overlaps,
       and memory of `scratch_types` to itself.
    5. `flops` is the arithmetic that it does; what it reads and writes is its operands, whole.
    6. `algorithm` is how it computes, with all that there is to choose about it.

    A pass makes loops of it on buffers: `lower-kernels-to-loops`, or one that is named after the
    algorithm, `lower-NAME-to-loops`.
    """

    bounds = prop_def(SIZE_LIST)
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])

    inputs = var_operand_def(TensorType | MemRefType)
    output = opt_operand_def(MemRefType)
    result = opt_result_def(TensorType)

    traits = traits_def(WritesOutputBuffer())

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of points along each dimension, of which some may be open."""
        bounds = self.bounds
        return bounds.get_values() if isinstance(bounds, SizesAttr) else _numbers(bounds.data.data)

    @property
    @abstractmethod
    def num_parallel(self) -> int:
        """How many dimensions are parallel; they come first."""

    @property
    def maps(self) -> tuple[AffineMap, ...]:
        """The maps of the inputs and, last, of the output, over all dimensions."""
        return tuple([map.data for map in self.indexing_maps.data])

    @property
    def target(self) -> SSAValue:
        """What is computed: the result, or the output operand."""
        value = self.result if self.output is None else self.output
        assert value is not None
        return value

    @property
    def target_shape(self) -> Sequence[int]:
        """The shape of the output, with the forms of sizes that are open."""
        return shape_of(self.target)

    @property
    def packed(self) -> Sequence[SSAValue]:
        """The operands whose form is the op's own."""
        return ()

    @property
    def has_zeros_outside(self) -> bool:
        """Whether elements of the output that no point is about are zero."""
        return True

    @property
    def scratch_types(self) -> Sequence[MemRefType[Attribute]]:
        """The memory that the op needs on buffers, beside its operands."""
        return ()

    @property
    @abstractmethod
    def flops(self) -> int:
        """The number of floating-point or integer operations on elements."""

    @property
    @abstractmethod
    def algorithm(self) -> Algorithm:
        """How the op computes, and what is chosen about that."""

    def packed_types(self, algorithm: Algorithm) -> Sequence[TensorType[Attribute]]:
        """Return the types of the packed operands under another choice."""
        return ()

    @abstractmethod
    def with_operands(
        self,
        inputs: Sequence[SSAValue],
        output: SSAValue | TensorType[Attribute],
        *,
        maps: Sequence[AffineMap] | None = None,
        packed: Sequence[SSAValue] | None = None,
        scratch: Sequence[SSAValue] = (),
        values: Mapping[SSAValue, SSAValue] | None = None,
        algorithm: Algorithm | None = None,
    ) -> "StructuredKernel":
        """Make the same op on other operands, tensors or buffers; its own where none are given.

        `values` says what stands for the values from outside that its regions use. `algorithm` is
        another choice for the same kind of op, which the packed operands are then of.
        """


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Return the shape of a tensor or buffer."""
    assert is_shaped(value.type)
    return value.type.get_shape()


def element_of(value: SSAValue) -> Attribute:
    """Return the element type of a tensor or buffer."""
    assert is_shaped(value.type)
    return value.type.element_type
