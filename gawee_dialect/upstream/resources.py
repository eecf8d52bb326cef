"""Constants that MLIR text holds in a section of its own, after the module.

    %w = arith.constant dense_resource<weight> : tensor<2xf32>
    {-# dialect_resources: { builtin: { weight: "0x040000000000803F00000040" } } #-}

A blob is its alignment (4 bytes, little-endian) and the elements as they lie in memory.
https://mlir.llvm.org/docs/LangRef/#resources

xDSL keeps blobs for the whole process, under names that a second module may have too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import AnyDenseElement, BytesAttr, DenseIntOrFPElementsAttr, TensorType

from gawee_dialect.dialect.types import dense_bytes

ALIGNMENT_BYTES = 4
ALIGNMENT = 64
"""Bytes that printed blobs ask for: as wide as the widest vector register."""

_BEGIN, _END = "{-#", "#-}"
_BARE = re.compile(r"[A-Za-z_][\w.$-]*")
# A name begins where none goes on: else each letter of a long one is tried as the first.
_ENTRY = re.compile(r"((?<![\w.$-])[A-Za-z_][\w.$-]*|\"[^\"]*\")\s*:\s*\"0x([0-9A-Fa-f]*)\"")


class ResourceBytes(bytes):
    """The elements of a dense constant that has a name of its own in the text.

    xDSL's attributes cannot be derived from, so that the name goes with what they hold.
    """

    resource: str

    @staticmethod
    def named(name: str, elements: bytes) -> "ResourceBytes":
        """Return elements with a name."""
        named = ResourceBytes(elements)
        named.resource = name
        return named


def resource_name(attribute: DenseIntOrFPElementsAttr) -> str | None:
    """Return the name of a constant that was read from the section of resources, or None."""
    elements = attribute.data.data
    return elements.resource if isinstance(elements, ResourceBytes) else None


@dataclass
class Resources:
    """What the section of resources of a text has to hold."""

    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def add(self, name: str, elements: bytes) -> str:
        """Return the name of a constant in this text: its own, or one that is free."""
        free, number = name, 0
        while self.blobs.setdefault(free, elements) != elements:
            number += 1
            free = f"{name}_{number}"
        return _spelled(free)

    def section(self) -> str:
        """Return the section, empty where the text has no resource."""
        if not self.blobs:
            return ""
        head = ALIGNMENT.to_bytes(ALIGNMENT_BYTES, "little")
        entries = ",\n".join(
            f'      {_spelled(name)}: "0x{(head + elements).hex().upper()}"'
            for name, elements in self.blobs.items()
        )
        return (
            f"\n{_BEGIN}\n  dialect_resources: {{\n    builtin: {{\n"
            f"{entries}\n    }}\n  }}\n{_END}\n"
        )


def _spelled(name: str) -> str:
    return name if _BARE.fullmatch(name) else f'"{name}"'


def _bytes(digits: str) -> bytes | None:
    return None if len(digits) % 2 else bytes.fromhex(digits)[ALIGNMENT_BYTES:]


def split_resources(text: str) -> tuple[str, Mapping[str, bytes | None]]:
    """Return a text without its section of resources, and the blobs of the section by name.

    A blob of an odd number of digits is None: no bytes, as is known where its name is used.
    What is cut keeps its lines, so that all that follows keeps its place.
    """
    begin, end = text.find(_BEGIN), text.rfind(_END)
    if begin < 0 or end < begin:
        return text, {}
    section = text[begin : end + len(_END)]
    blobs = {name.strip('"'): _bytes(digits) for name, digits in _ENTRY.findall(section)}
    lines = "\n" * section.count("\n")
    return text[:begin] + lines + text[end + len(_END) :], blobs


def resource_elements(
    name: str, type: TensorType[AnyDenseElement], blobs: Mapping[str, bytes | None]
) -> DenseIntOrFPElementsAttr | None:
    """Return the constant of a resource, None where the text does not hold it.

    Raises ValueError where its size is not that of the type, and where it is no whole bytes.
    """
    if name not in blobs:
        return None
    blob, expected = blobs[name], dense_bytes(type.get_shape(), type.element_type)
    if blob is None:
        raise ValueError(f"expected pairs of digits in resource '{name}', got an odd number")
    if len(blob) != expected:
        raise ValueError(f"expected {expected} bytes in resource '{name}', got {len(blob)}")
    return DenseIntOrFPElementsAttr(type, BytesAttr(ResourceBytes.named(name, blob)))
