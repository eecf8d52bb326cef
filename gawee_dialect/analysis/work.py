"""The amount of work that an op is: arithmetic and memory traffic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from gawee_dialect.dialect.types import element_bytes


@dataclass(frozen=True)
class Work:
    """FLOPs and bytes of an op or of several.

    `footprint` is how many different bytes they touch; `element_bits` the size of what they
    compute.
    """

    flops: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    footprint: int = 0
    element_bits: int = 0

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.read_bytes + self.write_bytes

    @property
    def intensity(self) -> float:
        """FLOPs a byte; 0 where no byte moves."""
        return self.flops / self.bytes if self.bytes else 0.0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.flops + other.flops,
            self.read_bytes + other.read_bytes,
            self.write_bytes + other.write_bytes,
            self.footprint + other.footprint,
            max(self.element_bits, other.element_bits),
        )


def total(parts: Iterable[Work]) -> Work:
    """Return the work of several ops together, each on data of its own."""
    return sum(parts, Work())


def shaped(type: Attribute) -> TensorType[Attribute] | MemRefType[Attribute] | None:
    """Return a tensor or memref type of static shape as such, None for any other type."""
    if not isa(type, TensorType[Attribute] | MemRefType[Attribute]):
        return None
    return type if type.has_static_shape() else None


def size_of(value: SSAValue) -> int:
    """Return the bytes of a tensor's or a memref's elements; 0 for any other value."""
    type = shaped(value.type)
    return 0 if type is None else prod(type.get_shape()) * element_bytes(type.element_type)


def bits_of(values: Iterable[SSAValue]) -> int:
    """Return the bits of the widest element of some values."""
    types = (shaped(value.type) for value in values)
    return max((8 * element_bytes(type.element_type) for type in types if type), default=0)


def traffic(flops: int, reads: Sequence[SSAValue], writes: Sequence[SSAValue]) -> Work:
    """Return the work that reads some values whole, computes, and writes others whole.

    A value that is named twice is one piece of memory, and moves once.
    """
    return Work(
        flops,
        sum(map(size_of, set(reads))),
        sum(map(size_of, set(writes))),
        sum(map(size_of, {*reads, *writes})),
        bits_of(writes),
    )


def copying(value: SSAValue) -> Work:
    """Return the work that copies all elements of a value to another place."""
    size = size_of(value)
    return Work(0, size, size, 2 * size, bits_of([value]))
