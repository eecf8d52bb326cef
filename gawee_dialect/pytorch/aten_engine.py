"""Run NPU_IR graphs by PyTorch itself: each node is one call of the op that it came from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from xdsl.utils.hints import isa

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.frontends.npu_ir.aten.registry import is_in_place
from gawee_dialect.frontends.npu_ir.ir import (
    CARRIED,
    COND,
    GETITEM,
    LIST_NONE_MASKS,
    LIST_SIZES,
    NPU_IR,
    AttributeValue,
    ConversionError,
    ExecutionError,
    OpNode,
    TensorMeta,
    place_text,
    selected_input,
)
from gawee_dialect.frontends.npu_ir.liveness import Liveness, read_inputs
from gawee_dialect.frontends.npu_ir.ops import find_executor
from gawee_dialect.frontends.npu_ir.pytorch import (
    SchemaArgument,
    Tensor,
    is_sequence,
    is_tensor,
    torch,
    torch_name,
)
from gawee_dialect.pytorch.tensors import as_tensor

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
    if isinstance(value, dict) and isa(value, dict[str, int | float]):
        return complex(value["real"], value["imag"])
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


Observer = Callable[[OpNode, Sequence[Tensor]], None]
"""Sees every node that ran, and its outputs."""


def run_aten(
    ir: NPU_IR,
    inputs: Mapping[str, Tensor],
    weights: Mapping[str, object],
    observe: Observer | None = None,
) -> list[Tensor]:
    """Run a graph on inputs by name, with weights by the names of the state_dict.

    A function of `register_executor` comes before PyTorch's own op. Values are let go after the
    last node that reads them. Raises ExecutionError for an op that nothing runs, and for a call
    that PyTorch refuses.
    """
    with torch().no_grad():
        return _Run(ir, inputs, weights).run(observe)


def _at(value: AttributeValue, sizes: Mapping[str, int]) -> AttributeValue:
    """Return an attribute in which open sizes are numbers."""
    if isinstance(value, list):
        return [_at(each, sizes) for each in value]
    return value.at(sizes) if isinstance(value, OpenSize) else value


class _Run:
    def __init__(
        self, ir: NPU_IR, inputs: Mapping[str, Tensor], weights: Mapping[str, object]
    ) -> None:
        self.ir = ir
        self.liveness = Liveness(ir)
        shapes = {
            name: [size for size in each.shape if isinstance(size, int)]
            for name, each in inputs.items()
        }
        self.sizes = ir.size_numbers(shapes)
        self.values: dict[str, Tensor] = dict(inputs)
        if any(is_in_place(node.op_type) for node in ir.nodes):
            # The caller's tensors are not the graph's to write.
            clone: Callable[[Tensor], Tensor] = torch().clone
            self.values = {name: clone(each) for name, each in inputs.items()}
        for placeholder, weight in ir.placeholders():
            if weight.name in weights:
                self.values[placeholder] = as_tensor(weights[weight.name])

    def run(self, observe: Observer | None) -> list[Tensor]:
        for index, node in enumerate(self.ir.nodes):
            if index not in self.liveness.live:
                continue
            results = self._results(node)
            for output, value in zip(node.outputs, results, strict=True):
                self.values[output.name] = value
            if observe is not None:
                observe(node, results)
            for each in (*read_inputs(node), *node.outputs):
                if not self.liveness.read_after(each.name, index):
                    self.values.pop(each.name, None)
        return [self.values[output.name] for output in self.ir.graph_outputs]

    def _results(self, node: OpNode) -> Sequence[Tensor]:
        executor = find_executor(node.op_type)
        if self.sizes:
            node = replace(node, attrs={k: _at(v, self.sizes) for k, v in node.attrs.items()})
        try:
            if node.graphs:
                results = self._decided(node)
            elif executor is None:
                results = call_aten(node, self._tensor, "cpu")
            else:
                inputs = [self.values[each.name] for each in node.inputs]
                made = executor(inputs, dict(node.attrs))
                results = [each for each in made if is_tensor(each)]
        except ConversionError as error:
            text = f"{error.diagnostics[0].message}, which nothing is registered to run"
            hint = f"register_executor('{node.op_type}') registers a function"
            raise self._error(node, text, hint) from error
        except Exception as error:
            raise self._error(node, f"'{node.op_type}' node: {first_line(error)}") from error
        if len(results) != len(node.outputs):
            text = f"'{node.op_type}' node made {len(results)} tensors"
            raise self._error(node, f"expected {len(node.outputs)} outputs, {text}")
        return results

    def _decided(self, node: OpNode) -> Sequence[Tensor]:
        """Run the branch that a condition chooses, or steps until a test fails."""
        values = [self.values[each.name] for each in node.inputs]
        first, second = node.graphs.values()
        if node.op_type == COND:
            return _called(first if bool(values[0]) else second, values[1:])
        carried = node.attrs[CARRIED]
        assert isinstance(carried, int)
        state, same = values[:carried], values[carried:]
        while bool(_called(first, [*state, *same])[0]):
            state = _called(second, [*state, *same])
        return state

    def _tensor(self, meta: TensorMeta) -> Tensor:
        return self.values[meta.name]

    def _error(self, node: OpNode, text: str, hint: str | None = None) -> ExecutionError:
        return ExecutionError(Diagnostic(text, place_text(node.place), node.name, hint))


def _called(graph: NPU_IR, values: Sequence[Tensor]) -> list[Tensor]:
    names = [each.name for each in graph.graph_inputs]
    return _Run(graph, dict(zip(names, values, strict=True)), {}).run(None)
