"""Dense constants as read-only globals: a part of `bufferize`."""

from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from gawee_dialect.hints import isa
from gawee_dialect.locations import hand_on_location

GLOBAL_ALIGNMENT = 64
"""Bytes; as wide as the widest vector register that LLVM may load a constant into."""


@lru_cache(maxsize=4096)
def dense_type(element: Attribute, shape: tuple[int, ...]) -> MemRefType[Attribute]:
    """Return a dense, row-major memref type: a network has few, again and again."""
    return MemRefType(element, shape)


def buffer_type(type: Attribute) -> Attribute:
    """Return the dense, row-major memref type of a tensor type; other types stay."""
    if isa(type, TensorType[Attribute]):
        return dense_type(type.element_type, type.get_shape())
    return type


@dataclass
class Globals:
    """The read-only globals of a module, one for each distinct constant."""

    module: ModuleOp
    names: dict[DenseIntOrFPElementsAttr, str] = field(
        default_factory=dict[DenseIntOrFPElementsAttr, str]
    )

    def name_of(self, value: DenseIntOrFPElementsAttr, source: Operation) -> str:
        """Return the name of the global that holds `value`, made at its first use."""
        if value not in self.names:
            self.names[value] = f"constant_{len(self.names)}"
            global_op = memref.GlobalOp.get(
                StringAttr(self.names[value]),
                buffer_type(value.get_type()),
                value,
                constant=UnitAttr(),
                alignment=GLOBAL_ALIGNMENT,
            )
            hand_on_location(source, global_op)
            first = self.module.body.block.first_op
            assert first is not None
            self.module.body.block.insert_op_before(global_op, first)
        return self.names[value]
