"""NPU_IR: a graph of PyTorch's ATen ops with shapes and dtypes, and without weights.

**Values.** A value has a name that is unique in the graph. Graph inputs are named as the arguments
of `forward`; parameters, buffers and lifted constants by their placeholder (`p_fc_weight`,
`b_running_mean`, `c_mask`), which `weight_name_mapping` maps to the name in `weights`, the
state_dict's (`fc.weight`); tied weights are listed once, by the first name. A node with one result
names it like itself; one that returns a tuple or a list names the results `<node>_<i>`, where i
counts what is not a tensor as well.

An input of a node refers to its value by `name`. `producer_node` and `producer_output_idx` say the
same again: the node and the position in its `outputs`; for a graph input its own name and 0, for a
weight None.

**op_type** is `aten.conv2d.default` (namespace, name, overload) or `<built-in function getitem>`.
A getitem lists all results of its producer as inputs; `selected_input` is the one it stands for.

**attrs.** A node is one call of its op by the op's schema. Tensor arguments are `inputs`, flat, in
the order of the schema, keyword arguments included. All other arguments are in `attrs` by the name
that the schema gives them. What extraction writes:

| argument | in `attrs` |
|---|---|
| not a tensor, given | its value under the argument's name |
| not given | absent: the schema's default |
| optional tensor (`Tensor?`, `Tensor[]?`) that is None or not given | null under its name, always |
| number where the schema says Tensor | the number under its name |
| lists of tensors | `_tensor_list_sizes`: how many inputs each list takes, one entry a list |
| None inside lists of tensors | `_tensor_list_none_masks`: one mask a list, true where None |
| dtype | `"torch.float32"` |
| layout, memory format | `"torch.strided"`, `"torch.contiguous_format"` |
| device | `"cpu"` |
| infinite or NaN number | the float itself; in JSON `"inf"`, `"-inf"`, `"nan"` |
| complex number | `{"real": 0.0, "imag": 2.0}` |
| size that is open | the `OpenSize`; in JSON `{"size": "batch * length"}` |
| end of a slice that has none | 9223372036854775807, or null where the call had None |
| getitem | `index`: the position in what its producer returned |

Attributes are JSON values and sizes, so a graph read back equals the one that was written.

**Sizes** in shapes are numbers, or forms of names (`dialect/open_size.py`), in JSON as text:
`["batch", "2 * length", 8]`. `sizes` of the graph says which values a name may have:
`{"batch": "1 to 32"}`.

**Control flow.** A node of op_type `torch.cond` or `torch.while_loop` has two `graphs`, in the
layout of the file's own: `true_graph` and `false_graph`, which take all inputs but the first, the
condition; or `cond_graph` and `body_graph`, which take all inputs. `carried` in `attrs` says how
many of these are the state of a loop: its body returns them, and so does the node.

**To rebuild a call**, walk the schema's arguments. For each: `attrs` has its name: that is the
value. Otherwise, where its type is `Tensor` or `Tensor?`: the next input; where it is a list of
tensors: as many inputs as the next entry of `_tensor_list_sizes` says, with None put where the mask
is true. Otherwise, or where no input is left: the default. Older files have no nulls; for those
"no input is left" decides, as their writer did.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import bf16

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.dialect.open_size import OpenSize, SizeName
from gawee_dialect.dialect.types import dtype_name


class ExportError(GaweeError):
    """The model cannot be traced: weights not on the meta device, control flow on data."""


class ConversionError(GaweeError):
    """The traced graph has something that the format cannot say, such as a dynamic shape."""


class SerializationError(GaweeError):
    """A file is no graph, or a graph contradicts itself; lists every problem."""


class ExecutionError(GaweeError):
    """A graph cannot be run on what it was given."""


class WeightLoadError(GaweeError):
    """A file of weights cannot be read, or does not fit the graph."""


AttributeValue: TypeAlias = (
    bool | int | float | str | list["AttributeValue"] | dict[str, "AttributeValue"] | None
)
"""What `attrs` hold: JSON values; floats may be infinite or NaN."""

Attributes: TypeAlias = dict[str, AttributeValue]

Place: TypeAlias = tuple[str, int, int]
"""File, line and column, the last two from 1."""


def place_text(place: Place | None) -> str | None:
    """Return a place as messages spell it."""
    return None if place is None else f"{place[0]}:{place[1]}:{place[2]}"


GETITEM = "<built-in function getitem>"
"""The op_type of taking one result of a node that has many."""

MODULE = "module"
"""The key of a node that names the module of the model that called it, as in its state_dict."""

SIZE = "size"
"""The only key of an attribute in JSON that is a size which is open."""

COND, WHILE_LOOP = "torch.cond", "torch.while_loop"
"""The op_types of nodes that decide when a graph is run: one of two, or a second after the first
again and again."""

CARRIED = "carried"
"""How many of the inputs of a `torch.while_loop` are its state; the others stay the same."""

LIST_SIZES = "_tensor_list_sizes"
LIST_NONE_MASKS = "_tensor_list_none_masks"


@dataclass
class TensorMeta:
    """One tensor: its name, its shape, and PyTorch's name of its dtype without `torch.`."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    producer_node: str | None = None
    producer_output_idx: int = 0
    extra: Attributes = field(default_factory=dict[str, AttributeValue], repr=False)
    """Keys of the file that this version does not have; they are written again."""
    place: Place | None = field(default=None, compare=False, repr=False)


@dataclass
class OpNode:
    """One call of an op; the module's docstring says what `attrs` holds."""

    name: str
    op_type: str
    inputs: list[TensorMeta]
    outputs: list[TensorMeta]
    attrs: Attributes = field(default_factory=dict[str, AttributeValue])
    extra: Attributes = field(default_factory=dict[str, AttributeValue], repr=False)
    place: Place | None = field(default=None, compare=False, repr=False)
    """Where the node is written: in a file that was read, or in the source of the model."""
    graphs: dict[str, "NPU_IR"] = field(default_factory=dict[str, "NPU_IR"])
    """What a node of control flow runs: graphs of its inputs, without weights of their own."""

    @property
    def qualified_name(self) -> str:
        """The module that the node is called in, and its name: `layer1.0.conv1.conv2d_1`."""
        module = self.extra.get(MODULE)
        return f"{module}.{self.name}" if isinstance(module, str) and module else self.name


@dataclass
class Constant:
    """The data of a lifted constant; bfloat16, which NumPy lacks, is held as float32."""

    data: NDArray[np.generic]
    dtype: str

    @property
    def array(self) -> NDArray[np.generic]:
        """The data in its own dtype; raises VerifyException for bfloat16 without ml_dtypes."""
        return self.data.astype(dtype_name(bf16)) if self.dtype == "bfloat16" else self.data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return NotImplemented
        same = self.dtype == other.dtype and self.data.shape == other.data.shape
        return same and self.data.tobytes() == other.data.tobytes()


class Limit(NamedTuple):
    """What an axis of an input may have, where its form takes more numbers than the model."""

    input: str
    axis: int
    name: SizeName

    def check(self, size: object) -> None:
        """Raise ExecutionError for a size out of range."""
        if isinstance(size, int) and not self.name.holds(size):
            text = f"expected size '{self.name.name}' of {self.name.range_text()}"
            raise ExecutionError(f"{text}, got {size}")


@dataclass
class NPU_IR:
    """A whole graph; `nodes` are in the order they run."""

    nodes: list[OpNode]
    graph_inputs: list[TensorMeta]
    graph_outputs: list[TensorMeta]
    weights: list[TensorMeta]
    weight_name_mapping: dict[str, str] = field(default_factory=dict[str, str])
    """From placeholder to the name in `weights`."""
    model_name: str = "model"
    pytorch_version: str = ""
    constants: dict[str, Constant] = field(default_factory=dict[str, Constant])
    """Data of the lifted constants among `weights`, by name there; those without data lack."""
    extra: Attributes = field(default_factory=dict[str, AttributeValue], repr=False)
    place: Place | None = field(default=None, compare=False, repr=False)
    limits: list[Limit] = field(default_factory=list[Limit], compare=False, repr=False)
    """Ranges that the names of sizes do not say; files have those of the names alone."""

    def __repr__(self) -> str:
        from gawee_dialect.frontends.npu_ir.npu_ir_graph import ir_view
        from gawee_dialect.inspection.notebook import graph_line

        return f"<NPU_IR '{self.model_name}': {graph_line(ir_view(self))}>"

    def _repr_html_(self) -> str:
        from gawee_dialect.frontends.npu_ir.npu_ir_graph import ir_view
        from gawee_dialect.inspection.notebook import graph_html

        return graph_html(f"NPU_IR '{self.model_name}'", ir_view(self))

    def save(self, path: str | Path) -> None:
        """Write the graph as JSON; raises SerializationError where it is not valid."""
        from gawee_dialect.frontends.npu_ir.json_text import save_ir

        save_ir(self, path)

    @staticmethod
    def load(path: str | Path) -> "NPU_IR":
        """Read a graph from JSON; raises SerializationError that lists what is wrong."""
        from gawee_dialect.frontends.npu_ir.json_text import load_ir

        return load_ir(path)

    @property
    def size_names(self) -> Sequence[SizeName]:
        """The names of the sizes of inputs that are open, sorted."""
        sizes = (size for each in self.graph_inputs for size in each.shape)
        return sorted({name for size in sizes if isinstance(size, OpenSize) for name in size.names})

    def size_numbers(self, shapes: Mapping[str, Sequence[int]]) -> Mapping[str, int]:
        """Return the number of each name, from the shapes of inputs; raises GaweeError."""
        from gawee_dialect.analysis.open_sizes import solved_sizes

        names = self.size_names
        named = {each.name: each.shape for each in self.graph_inputs}
        return solved_sizes(named, shapes, names) if names else {}

    def placeholders(self) -> Iterator[tuple[str, TensorMeta]]:
        """Yield every name under which nodes may use a weight, and the weight.

        These are its placeholders, and its own name where nothing else has that.
        """
        by_name = {weight.name: weight for weight in self.weights}
        taken = {*self.weight_name_mapping, *(each.name for each in self.graph_inputs)}
        taken.update(each.name for node in self.nodes for each in node.outputs)
        yield from ((name, weight) for name, weight in by_name.items() if name not in taken)
        for placeholder, name in self.weight_name_mapping.items():
            if name in by_name:
                yield placeholder, by_name[name]


def selected_input(getitem: OpNode) -> TensorMeta | None:
    """Return the input that a getitem stands for; None where its index is out of range.

    The index is a position in what the producer returned. That is the position in `inputs` unless
    the producer returned things that are not tensors, which the names of its results leave out.
    """
    index = getitem.attrs.get("index")
    if not isinstance(index, int):
        return None
    producer = getitem.inputs[0].producer_node if getitem.inputs else None
    named = [each for each in getitem.inputs if each.name == f"{producer}_{index}"]
    if named:
        return named[0]
    return getitem.inputs[index] if 0 <= index < len(getitem.inputs) else None
