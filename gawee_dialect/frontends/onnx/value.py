"""What the names of a graph stand for while it is imported."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from gawee_dialect.frontends.onnx.model import Array


@dataclass(eq=False)
class Value:
    """What a name of the graph stands for: a tensor, elements that are known, or both."""

    name: str
    tensor: SSAValue | None = None
    elements: Array | None = None
    offered: Array | None = None
    """Elements of an input, or computed from those of inputs, for importers that need constants."""
    sources: Sequence[str] = ()
    """The inputs that it is computed of, if by nodes of known sizes alone."""

    @property
    def known(self) -> Array | None:
        """The elements, offered ones as well."""
        return self.offered if self.elements is None else self.elements


Scope: TypeAlias = dict[str, Value]
