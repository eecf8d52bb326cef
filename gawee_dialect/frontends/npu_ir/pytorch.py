"""The parts of PyTorch that extraction uses, imported when needed, with complete types."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import Diagnostic, GaweeError


class Tensor(Protocol):
    """A tensor; on the meta device, and where it is a fake, it has no data."""

    @property
    def shape(self) -> Sequence[object]: ...

    @property
    def dtype(self) -> object: ...

    @property
    def device(self) -> object: ...

    @property
    def requires_grad(self) -> bool: ...

    @property
    def is_cpu(self) -> bool: ...

    def is_inference(self) -> bool: ...

    def data_ptr(self) -> int: ...

    def element_size(self) -> int: ...

    def stride(self) -> Sequence[int]: ...

    def permute(self, *dims: int) -> "Tensor": ...

    def contiguous(self) -> "Tensor": ...

    def detach(self) -> "Tensor": ...

    def cpu(self) -> "Tensor": ...

    def copy_(self, other: Self) -> object: ...

    def float(self) -> "Tensor": ...

    def numpy(self) -> NDArray[np.generic]: ...


class Module(Protocol):
    """A torch.nn.Module."""

    def modules(self) -> "Iterable[Module]": ...

    def named_modules(self) -> "Iterable[tuple[str, Module]]": ...

    def register_buffer(self, name: str, tensor: None, persistent: bool) -> None: ...

    def named_parameters(
        self, *, remove_duplicate: bool = True
    ) -> Iterable[tuple[str, Tensor]]: ...

    def named_buffers(self, *, remove_duplicate: bool = True) -> Iterable[tuple[str, Tensor]]: ...


class Node(Protocol):
    """A node of an FX graph; `meta["val"]` is what it makes, as fake tensors."""

    name: str
    op: str
    target: object
    args: tuple[object, ...]
    kwargs: Mapping[str, object]
    meta: dict[str, object]

    @property
    def all_input_nodes(self) -> "Sequence[Node]": ...

    @property
    def users(self) -> "Mapping[Node, None]": ...


class FxGraph(Protocol):
    """An FX graph."""

    @property
    def nodes(self) -> Iterable[Node]: ...

    def placeholder(self, name: str) -> Node: ...

    def call_function(self, function: object, args: tuple[object, ...]) -> Node: ...

    def node_copy(self, node: Node, arg_transform: "Callable[[Node], object]") -> Node: ...

    def output(self, result: object) -> Node: ...


class SchemaArgument(Protocol):
    """One argument of an op's schema."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> object: ...

    @property
    def kwarg_only(self) -> bool: ...


class GraphArgument(Protocol):
    """What the signature of a program calls an input or output; a number is called nothing."""

    @property
    def name(self) -> str: ...


class Spec(Protocol):
    """What one input or output of a program is."""

    @property
    def kind(self) -> object: ...

    @property
    def arg(self) -> GraphArgument: ...

    @property
    def target(self) -> str | None: ...


class Signature(Protocol):
    """What the inputs and outputs of a program are."""

    @property
    def input_specs(self) -> Sequence[Spec]: ...

    @property
    def output_specs(self) -> Sequence[Spec]: ...


class GraphModule(Protocol):
    """A graph with the sub-graphs that its nodes may name as attributes."""

    @property
    def graph(self) -> FxGraph: ...


class Exported(Protocol):
    """What torch.export makes, by what its users call of it."""

    def module(self) -> Module: ...


class Program(Exported, Protocol):
    """What torch.export makes."""

    @property
    def graph_module(self) -> GraphModule: ...

    @property
    def graph_signature(self) -> Signature: ...

    @property
    def constants(self) -> Mapping[str, object]: ...

    @property
    def range_constraints(self) -> Mapping[object, object]: ...

    @property
    def example_inputs(self) -> tuple[Sequence[object], Mapping[str, object]] | None: ...

    def run_decompositions(self, decomp_table: Mapping[object, object]) -> "Program": ...


@cache
def torch() -> ModuleType:
    """Import PyTorch; raises GaweeError where it is not installed."""
    try:
        return import_module("torch")
    except ModuleNotFoundError as error:
        raise GaweeError(
            Diagnostic(
                "expected PyTorch to be installed, got no module 'torch'",
                hint="pip install 'gawee-dialect[torch]'",
            )
        ) from error


def is_tensor(value: object) -> TypeGuard[Tensor]:
    """Whether a value is a tensor."""
    return isinstance(value, torch().Tensor)


def is_module(value: object) -> TypeGuard[Module]:
    """Whether a value is a torch.nn.Module."""
    return isinstance(value, torch().nn.Module)


def is_program(value: object) -> TypeGuard[Program]:
    """Whether a value is what torch.export made."""
    return isinstance(value, torch().export.ExportedProgram)


def is_node(value: object) -> TypeGuard[Node]:
    """Whether a value is a node of an FX graph."""
    return isinstance(value, torch().fx.Node)


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def kind_of(spec: Spec) -> str:
    """Return what an input or output of a program is: `PARAMETER`, `BUFFER_MUTATION`."""
    return str(getattr(spec.kind, "name"))


def is_graph_module(value: object) -> TypeGuard[GraphModule]:
    """Whether a value is a graph of FX with its sub-graphs."""
    return isinstance(value, torch().fx.GraphModule)


def library_folder() -> str:
    """Return the folder of PyTorch's own files."""
    return str(Path(str(torch().__file__)).parent)


def has_data(tensor: Tensor) -> bool:
    """Whether a tensor has numbers: it is neither a fake nor on the meta device."""
    fake = import_module("torch._subclasses.fake_tensor").FakeTensor
    return not isinstance(tensor, fake) and str(tensor.device) != "meta"


def torch_name(value: object) -> str:
    """Return PyTorch's name of a dtype without its prefix: `float32`."""
    return str(value).removeprefix("torch.")


def resolved(tensor: Tensor) -> Tensor:
    """Return a tensor whose numbers are those in memory: `z.conj().imag` is negated when read."""
    for resolve in ("resolve_conj", "resolve_neg"):
        tensor = getattr(tensor, resolve)()
    return tensor


def array_of(tensor: Tensor) -> NDArray[np.generic]:
    """Return a tensor's data as an array of its own shape; bfloat16 becomes float32."""
    plain = resolved(tensor.detach().cpu())
    plain = plain.float() if torch_name(plain.dtype) == "bfloat16" else plain
    return np.array(plain.numpy())
