"""The arguments of a call in an FX graph, as inputs and attributes of a node."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gawee_dialect.frontends.npu_ir.ir import (
    LIST_NONE_MASKS,
    LIST_SIZES,
    Attributes,
    AttributeValue,
    TensorMeta,
)
from gawee_dialect.frontends.npu_ir.pytorch import Node, SchemaArgument, is_node, is_sequence, torch

Resolve = Callable[[Node], Sequence[TensorMeta]]
"""Returns the tensors that a node of the FX graph made."""

_MISSING = object()


class Unsayable(Exception):
    """Why an argument cannot be written, in one line."""


@dataclass
class Call:
    """Inputs and attributes of one call, as `ir.py` says they are written."""

    resolve: Resolve
    inputs: list[TensorMeta] = field(default_factory=list[TensorMeta])
    attrs: Attributes = field(default_factory=dict[str, AttributeValue])
    sizes: list[AttributeValue] = field(default_factory=list[AttributeValue])
    masks: list[list[AttributeValue]] = field(default_factory=list[list[AttributeValue]])

    def add(self, argument: SchemaArgument, value: object) -> None:
        """Take one argument; raises Unsayable for what the format cannot say."""
        kind = str(argument.type)
        if value is _MISSING or value is None:
            # A null where a tensor could be, or a reader would take the next tensor for it.
            if "Tensor" in kind or value is None:
                self.attrs[argument.name] = None
        elif is_node(value) and "List" not in kind:
            self._add_tensor(argument, value)
        elif "Tensor" in kind and "List" in kind:
            self._add_list(argument, value)
        else:
            self.attrs[argument.name] = encode(value, argument.name)

    def _add_tensor(self, argument: SchemaArgument, value: Node) -> None:
        tensors = self.resolve(value)
        if len(tensors) != 1:
            raise Unsayable(f"expected argument '{argument.name}' to be a tensor")
        self.inputs.extend(tensors)

    def _add_list(self, argument: SchemaArgument, value: object) -> None:
        tensors: list[TensorMeta] = []
        mask: list[AttributeValue] = []
        for entry in self._entries(argument, value):
            found = [None] if entry is None else self.resolve(entry)
            tensors.extend(each for each in found if each is not None)
            mask.extend(each is None for each in found)
        self.inputs.extend(tensors)
        self.sizes.append(len(tensors))
        self.masks.append(mask)

    def _entries(self, argument: SchemaArgument, value: object) -> list[Node | None]:
        entries: list[Node | None] = []
        for entry in value if is_sequence(value) else [value]:
            if entry is not None and not is_node(entry):
                raise Unsayable(f"expected argument '{argument.name}' to be a list of tensors")
            entries.append(entry)
        return entries

    def finish(self) -> None:
        """Write what readers need to find the lists of tensors again."""
        if self.sizes:
            self.attrs[LIST_SIZES] = self.sizes
        if any(any(mask) for mask in self.masks):
            self.attrs[LIST_NONE_MASKS] = list(self.masks)


def call_arguments(node: Node, schema: Sequence[SchemaArgument], resolve: Resolve) -> Call:
    """Return the inputs and attributes of a call, in the order of its op's schema.

    Raises Unsayable for an argument that the format cannot say.
    """
    call = Call(resolve)
    for index, argument in enumerate(schema):
        if not argument.kwarg_only and index < len(node.args):
            call.add(argument, node.args[index])
        else:
            call.add(argument, node.kwargs.get(argument.name, _MISSING))
    call.finish()
    return call


def encode(value: object, name: str) -> AttributeValue:
    """Return an argument that is no tensor as a JSON value; raises Unsayable for others."""
    library = torch()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_sequence(value):
        return [encode(entry, name) for entry in value]
    if isinstance(value, library.dtype | library.device | library.layout | library.memory_format):
        return str(value)
    if is_node(value) or isinstance(value, library.SymInt | library.SymFloat | library.SymBool):
        raise Unsayable(f"expected argument '{name}' to be static, got '{value}'")
    raise Unsayable(f"unsupported argument '{name}' of type {type(value).__name__}")
