"""An ONNX model as plain Python data: what the importer reads, whatever file it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import SSAValue

from gawee_dialect.dialect.open_size import SizeName
from gawee_dialect.located_json import JsonValue

Array = NDArray[np.generic]


def is_array(value: object) -> TypeGuard[Array]:
    """Whether an attribute is a tensor."""
    return isinstance(value, np.ndarray)


@dataclass(frozen=True)
class OnnxNode:
    """One node; an input or output that is left out has no name.

    Attributes are numbers, text, lists of them, arrays and graphs.
    """

    name: str
    op_type: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Mapping[str, object] = field(default_factory=dict[str, object])
    domain: str = ""
    metadata: Mapping[str, JsonValue] | None = None
    """What a file says of the node besides, nested."""
    serialized: bytes | None = None
    """The NodeProto of an op that nothing is registered for: the standard may have a function."""
    overload: str = ""
    """Which of the model's functions of this op type it calls."""

    @property
    def full_type(self) -> str:
        """The op type with its domain, where that is not the default one."""
        return self.op_type if self.domain in ("", "ai.onnx") else f"{self.domain}.{self.op_type}"

    @property
    def function_name(self) -> str:
        """The name of the model's function that the node calls, if there is one."""
        return f"{self.full_type}:{self.overload}" if self.overload else self.full_type


@dataclass(frozen=True)
class OnnxValue:
    """The type of a value: NumPy's name of its dtype, and sizes, of which some have names only."""

    name: str
    dtype: str
    shape: Sequence[int | str] | None


@dataclass(frozen=True)
class OnnxGraph:
    """A graph, or the body of a node of control flow."""

    name: str
    nodes: Sequence[OnnxNode]
    inputs: Sequence[OnnxValue]
    outputs: Sequence[OnnxValue]
    initializers: Mapping[str, Array] = field(default_factory=dict[str, Array])


@dataclass(frozen=True)
class OnnxFunction:
    """A function of the model: nodes over formal inputs; attributes with defaults."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Mapping[str, object]
    nodes: Sequence[OnnxNode]
    opsets: Mapping[str, int]


@dataclass(frozen=True)
class AttributeReference:
    """In a function's body: the attribute of the call that has this name."""

    name: str


@dataclass(frozen=True)
class OnnxModel:
    """A graph, the versions of its op sets by domain, and its functions as nodes name them."""

    graph: OnnxGraph
    opsets: Mapping[str, int]
    functions: Mapping[str, OnnxFunction] = field(default_factory=dict[str, OnnxFunction])
    ranges: Mapping[str, SizeName] = field(default_factory=dict[str, SizeName])
    """What the file says of sizes that have names."""


# The element types of ONNX.

DTYPES = {
    **{1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64"},
    **{9: "bool", 10: "float16", 11: "float64"},
}
"""NumPy's names of the numbers that TensorProto.DataType has."""


# What the names of a graph stand for while it is imported.


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
