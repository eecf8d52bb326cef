"""Inputs that lie side by side along another dimension than the vector's.

Squares of them are loaded as they lie, and turned in registers.

    for each of 16 points: 16 loads of a lane   ->   16 loads of vectors, 4 x 16 shuffles
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DenseArrayBase, VectorType, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.kernels.structured_kernel import StructuredKernel, element_of
from gawee_dialect.hints import isa
from gawee_dialect.passes.buffers.lower_kernels_to_loops.accesses import (
    LANE,
    Access,
    Lanes,
    LinearIndex,
)
from gawee_dialect.passes.buffers.lower_kernels_to_loops.open_tiles import allocate
from gawee_dialect.passes.buffers.lower_linalg_to_loops import constant_index

MakeAccess = Callable[[Builder, int, Sequence[LinearIndex], Lanes], Access]
"""Returns where an input is at a point, by its number."""


@dataclass(frozen=True)
class Turned:
    """An input that was loaded for a whole tile: an array of vectors, one for each point."""

    array: SSAValue
    dim: int
    """The dimension that the points are along."""

    def load(self, builder: Builder, counters: Mapping[int, SSAValue]) -> SSAValue:
        """Return the vector of a point."""
        return builder.insert(memref.LoadOp.get(self.array, [counters[self.dim]])).res


def load_turned(
    builder: Builder,
    op: StructuredKernel,
    index: int,
    first: Sequence[LinearIndex],
    dims: tuple[int, int],
    lanes: Lanes,
    access: MakeAccess,
) -> Turned | None:
    """Load a square of an input, from its first point on, and turn it.

    `dims` are the vector's dimension and the other one. None where the input is side by side along
    the former already, or not along the latter.
    """
    along, other = dims
    start = list(first)
    start[along] += LANE
    if access(builder, index, start, lanes).is_in_row:
        return None
    rows: list[SSAValue] = []
    for row in range(lanes.count):
        place = list(first)
        place[along] += LinearIndex(row)
        place[other] += LANE
        at = access(builder, index, place, lanes)
        if not at.is_in_row:
            return None
        rows.append(at.load())
    type: Attribute = lanes.type(element_of(op.inputs[index]))
    array = allocate(builder, op, type, [lanes.count], "turned")
    for number, value in enumerate(transposed(builder, rows)):
        place_in_array = [constant_index(builder, number)]
        builder.insert(memref.StoreOp.get(value, array, place_in_array))
    return Turned(array, other)


def transposed(builder: Builder, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """Exchange rows and lanes of as many vectors as they have lanes, a power of two.

    Quarters at first: the upper right one and the lower left one change places, in the quarters
    again, down to single lanes.
    """
    count, result = len(rows), list(rows)
    distance = count // 2
    while distance:
        lower = [lane & distance for lane in range(count)]
        upper_mask = [count + lane - distance if lower[lane] else lane for lane in range(count)]
        lower_mask = [count + lane if lower[lane] else lane + distance for lane in range(count)]
        for row in range(count):
            if row & distance:
                continue
            pair = result[row], result[row + distance]
            result[row] = _shuffled(builder, *pair, upper_mask)
            result[row + distance] = _shuffled(builder, *pair, lower_mask)
        distance //= 2
    return result


def _shuffled(builder: Builder, lhs: SSAValue, rhs: SSAValue, mask: Sequence[int]) -> SSAValue:
    assert isa(lhs.type, VectorType[Attribute])
    lanes = DenseArrayBase.from_list(i64, mask)
    return builder.insert(vector.ShuffleOp(lhs, rhs, lanes, result_type=lhs.type)).result
