"""A graph as inspection sees it: names, shapes and uses; no format, no weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from gawee_dialect.dialect.types import shape_text


@dataclass(frozen=True)
class TensorView:
    """One value or weight; what is no tensor has shape `()` and its type as dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """How many elements it has; a scalar has one."""
        return prod(self.shape)

    @property
    def text(self) -> str:
        """Its shape as labels spell it: 1x3x8x8, or `scalar`."""
        return shape_text(self.shape)


@dataclass(frozen=True)
class NodeView:
    """One node: `inputs` are names of values or weights, `outputs` what it makes."""

    name: str
    op: str
    inputs: Sequence[str]
    outputs: Sequence[TensorView]


@dataclass(frozen=True)
class GraphView:
    """A whole graph; nodes in the order they run."""

    name: str
    inputs: Sequence[TensorView]
    outputs: Sequence[TensorView]
    weights: Sequence[TensorView]
    nodes: Sequence[NodeView]
    weight_of: Mapping[str, str] = field(default_factory=dict[str, str])
    """From the name under which nodes use a weight to its name in `weights`."""

    output_values: Sequence[str] = ()
    """Which value each output is, where that has another name."""

    @property
    def returned(self) -> Sequence[tuple[TensorView, str]]:
        """Every output, and the name of the value that it is."""
        values = self.output_values or [output.name for output in self.outputs]
        return list(zip(self.outputs, values, strict=True))
