"""A node as the call of PyTorch's op that it came from, and what that call makes of shapes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.frontends.npu_ir.errors import ConversionError
from gawee_dialect.frontends.npu_ir.ir import (
    GETITEM,
    LIST_NONE_MASKS,
    LIST_SIZES,
    AttributeValue,
    OpNode,
    TensorMeta,
    selected_input,
)
from gawee_dialect.frontends.npu_ir.pytorch import (
    SchemaArgument,
    Tensor,
    is_sequence,
    is_tensor,
    torch,
    torch_name,
)

Op = Callable[..., object]

TensorOf = Callable[[TensorMeta], object]
"""Returns the tensor that an input stands for."""


def find_op(node: OpNode) -> Op:
    """Return PyTorch's op of a node; raises ConversionError where there is none of that name."""
    namespace, _, rest = node.op_type.partition(".")
    name, _, overload = rest.partition(".")
    packet: object = getattr(getattr(torch().ops, namespace), name, None) if name else None
    found: Op | None = getattr(packet, overload or "default", None)
    if found is None:
        known: Callable[[], Sequence[str]] = getattr(packet, "overloads", tuple[str])
        hint = f"overloads: {', '.join(known())}" if known() else None
        raise ConversionError(
            Diagnostic(f"unknown op '{node.op_type}' of PyTorch", node=node.name, hint=hint)
        )
    return found


def schema_of(op: Op) -> Sequence[SchemaArgument]:
    """Return the arguments of an op's schema, in order."""
    arguments: Sequence[SchemaArgument] = getattr(op, "_schema").arguments
    return arguments


@dataclass
class _Tensors:
    """The inputs of a node, and its lists of tensors, taken in the order of the schema."""

    inputs: list[object]
    sizes: list[int]
    masks: list[list[bool]]
    one_mask_a_list: bool

    def take(self) -> Iterator[object]:
        """Yield the next input, where there is one."""
        if self.inputs:
            yield self.inputs.pop(0)

    def take_list(self, *, optional: bool) -> Iterator[list[object]]:
        """Yield the next list, where there is one."""
        if not self.sizes:
            return
        size = self.sizes.pop(0)
        tensors, self.inputs = self.inputs[:size], self.inputs[size:]
        if self.masks and (self.one_mask_a_list or optional):
            remaining = iter(tensors)
            tensors = [None if absent else next(remaining) for absent in self.masks.pop(0)]
        yield tensors


def rebuild_call(
    node: OpNode, schema: Sequence[SchemaArgument], tensor_of: TensorOf, device: str
) -> tuple[list[object], dict[str, object]]:
    """Return positional and keyword arguments of a node's call, as `ir.py` says.

    Devices that the call names become `device`.
    """
    tensors = _tensors(node, tensor_of)
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for index, argument in enumerate(schema):
        # Once an argument is left out, those after it can only be given by name.
        positional = not argument.kwarg_only and len(args) == index
        for value in _given(node, argument, tensors, device):
            if positional:
                args.append(value)
            else:
                kwargs[argument.name] = value
    return args, kwargs


def _tensors(node: OpNode, tensor_of: TensorOf) -> _Tensors:
    sizes, masks = node.attrs.get(LIST_SIZES, []), node.attrs.get(LIST_NONE_MASKS, [])
    # Validation has checked both; without it what is no list is as if it were not there.
    sizes = sizes if isa(sizes, list[int]) else []
    masks = masks if isa(masks, list[list[bool]]) else []
    inputs = [tensor_of(each) for each in node.inputs]
    return _Tensors(inputs, list(sizes), list(masks), len(masks) == len(sizes))


def _given(
    node: OpNode, argument: SchemaArgument, tensors: _Tensors, device: str
) -> Iterator[object]:
    """Yield the value of an argument, where the call gives it."""
    kind = str(argument.type)
    if argument.name in node.attrs:
        yield _decoded(node.attrs[argument.name], kind, device)
    elif "List" in kind and "Tensor" in kind:
        yield from tensors.take_list(optional="Optional[Tensor]" in kind)
    elif "Tensor" in kind:
        yield from tensors.take()


def _decoded(value: AttributeValue, kind: str, device: str) -> object:
    if isinstance(value, str) and "Device" in kind:
        return device
    if isinstance(value, str) and value.startswith("torch."):
        return getattr(torch(), value.removeprefix("torch."), value)
    return value


def call_aten(node: OpNode, tensor_of: TensorOf, device: str) -> list[Tensor]:
    """Call PyTorch's op of a node; return the tensors that it makes, in order.

    Raises ConversionError where PyTorch does not have the op, and what the op raises.
    """
    if node.op_type == GETITEM:
        selected = selected_input(node)
        chosen = None if selected is None else tensor_of(selected)
        return [chosen] if is_tensor(chosen) else []
    op = find_op(node)
    args, kwargs = rebuild_call(node, schema_of(op), tensor_of, device)
    result = op(*args, **kwargs)
    results = result if is_sequence(result) else [result]
    return [each for each in results if is_tensor(each)]


def infer_with_pytorch(node: OpNode) -> Sequence[tuple[tuple[int, ...], str]] | None:
    """Return shapes and dtypes that PyTorch makes of a node's inputs, without computing anything.

    None for an op that PyTorch does not have or cannot run without data. Raises GaweeError where
    the op refuses its inputs. A hook for `validate_ir`.
    """
    library = torch()

    # Some ops return other shapes on the meta device than where they run.
    def fake(tensor: TensorMeta) -> object:
        return library.empty(tensor.shape, dtype=getattr(library, tensor.dtype), device="cpu")

    try:
        with import_module("torch._subclasses.fake_tensor").FakeTensorMode():
            results = call_aten(node, fake, "cpu")
    except (ConversionError, NotImplementedError):
        return None
    except Exception as error:
        raise GaweeError(f"'{node.op_type}' call: {first_line(error)}") from error
    return [
        (tuple(size for size in each.shape if isinstance(size, int)), torch_name(each.dtype))
        for each in results
    ]
