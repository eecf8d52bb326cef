"""Run NPU_IR graphs by PyTorch itself: each node is one call, rebuilt by the op's schema."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from gawee_dialect.diagnostics import Diagnostic, first_line
from gawee_dialect.frontends.npu_ir.aten.registry import is_in_place
from gawee_dialect.frontends.npu_ir.errors import ExecutionError
from gawee_dialect.frontends.npu_ir.importer import result_positions
from gawee_dialect.frontends.npu_ir.ir import (
    GETITEM,
    LIST_NONE_MASKS,
    LIST_SIZES,
    NPU_IR,
    OpNode,
    place_text,
)
from gawee_dialect.frontends.npu_ir.liveness import Liveness, read_inputs
from gawee_dialect.frontends.npu_ir.ops import find_executor
from gawee_dialect.frontends.npu_ir.pytorch import (
    SchemaArgument,
    Tensor,
    is_sequence,
    is_tensor,
    torch,
)
from gawee_dialect.pytorch.tensors import as_tensor, tensor_of_array
from gawee_dialect.pytorch.weights import weight_tensors

Observer = Callable[[OpNode, Sequence[Tensor]], None]
"""Sees every node that ran, and its outputs."""


def run_aten(
    ir: NPU_IR,
    inputs: Mapping[str, Tensor],
    weights: object = None,
    constants: Mapping[str, object] | None = None,
    observe: Observer | None = None,
) -> list[Tensor]:
    """Run a graph; returns its outputs.

    A function of `register_executor` comes before PyTorch's own. Values are let go after the last
    node that reads them. Raises ExecutionError for a weight or a constant that is missing, for an
    op that nothing runs, and for a call that PyTorch refuses.
    """
    with torch().no_grad():
        return _Run(ir, inputs, weights, constants or {}).run(observe)


class _Run:
    def __init__(
        self,
        ir: NPU_IR,
        inputs: Mapping[str, Tensor],
        weights: object,
        constants: Mapping[str, object],
    ) -> None:
        self.ir = ir
        self.liveness = Liveness(ir)
        self.values: dict[str, Tensor] = dict(inputs)
        if any(is_in_place(node.op_type) for node in ir.nodes):
            # The caller's tensors are not the graph's to write.
            clone = torch().clone
            self.values = {name: clone(each) for name, each in inputs.items()}
        self._add_weights(weight_tensors(weights, ir), constants)

    def _add_weights(
        self, weights: Mapping[str, object], constants: Mapping[str, object]
    ) -> None:
        own = {name: tensor_of_array(each.data) for name, each in self.ir.constants.items()}
        problems: list[Diagnostic] = []
        for placeholder, weight in self.ir.placeholders():
            if not self.liveness.is_read(placeholder):
                continue
            places = (constants, own, weights)
            found = next((place for place in places if weight.name in place), None)
            if found is None:
                text = f"expected weight '{weight.name}' (placeholder '{placeholder}'), got none"
                problems.append(Diagnostic(text))
                continue
            self.values[placeholder] = as_tensor(found[weight.name])
        if problems:
            raise ExecutionError(problems)

    def run(self, observe: Observer | None) -> list[Tensor]:
        for index, node in enumerate(self.ir.nodes):
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
        inputs = [self.values[each.name] for each in read_inputs(node)]
        executor = find_executor(node.op_type)
        try:
            if executor is not None:
                return [each for each in executor(inputs, dict(node.attrs)) if is_tensor(each)]
            if node.op_type == GETITEM:
                return inputs
            return _outputs(node, call_op(node, inputs))
        except ExecutionError:
            raise
        except Exception as error:
            text = f"'{node.op_type}' node cannot be run: {first_line(error)}"
            raise ExecutionError(Diagnostic(text, place_text(node.place), node.name)) from error


def _outputs(node: OpNode, result: object) -> Sequence[Tensor]:
    if is_tensor(result):
        return [result]
    if not is_sequence(result):
        return []
    return [each for i in result_positions(node) if is_tensor(each := result[i])]


def call_op(node: OpNode, inputs: Sequence[Tensor]) -> object:
    """Call the op of a node; raises ExecutionError where PyTorch has no such op."""
    overload = _find_overload(node)
    schema: Sequence[SchemaArgument] = getattr(overload, "_schema").arguments
    positional, keywords = _Arguments(node, inputs).rebuild(schema)
    return overload(*positional, **keywords)


def _find_overload(node: OpNode) -> Callable[..., object]:
    namespace, _, rest = node.op_type.replace("::", ".").partition(".")
    name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch().ops, namespace, None), name, None)
    found = getattr(packet, overload or "default", None)
    if found is None:
        raise ExecutionError(
            Diagnostic(
                f"unsupported op '{node.op_type}': PyTorch has none of that name",
                place_text(node.place),
                node.name,
                f"register_executor('{node.op_type}') runs it",
            )
        )
    return found


class _Arguments:
    """The arguments of one call, as `ir.py` says they are written."""

    def __init__(self, node: OpNode, inputs: Sequence[Tensor]) -> None:
        self.attrs = node.attrs
        self.inputs = iter(inputs)
        self.left = len(inputs)
        sizes, masks = node.attrs.get(LIST_SIZES), node.attrs.get(LIST_NONE_MASKS)
        self.sizes = iter(sizes if isinstance(sizes, list) else [])
        self.masks = iter(masks if isinstance(masks, list) else [])

    def rebuild(
        self, schema: Sequence[SchemaArgument]
    ) -> tuple[list[object], dict[str, object]]:
        positional: list[object] = []
        keywords: dict[str, object] = {}
        by_position = True
        for argument in schema:
            found, value = self._argument(argument)
            if not found:
                by_position = False
            elif by_position and not argument.kwarg_only:
                positional.append(value)
            else:
                keywords[argument.name] = value
        return positional, keywords

    def _argument(self, argument: SchemaArgument) -> tuple[bool, object]:
        kind = str(argument.type)
        if argument.name in self.attrs:
            return True, _decoded(self.attrs[argument.name], argument.name)
        if "Tensor" in kind and "List" in kind:
            size = next(self.sizes, None)
            return (False, None) if size is None else (True, list(self._tensors(size, kind)))
        if "Tensor" in kind and self.left:
            return True, self._next()
        return False, None

    def _next(self) -> Tensor:
        self.left -= 1
        return next(self.inputs)

    def _tensors(self, size: object, kind: str) -> Iterator[Tensor | None]:
        assert isinstance(size, int)
        mask = next(self.masks, None) if "Optional" in kind else None
        entries = mask if isinstance(mask, list) else [False] * size
        yield from (None if absent else self._next() for absent in entries)


def _decoded(value: object, name: str) -> object:
    """Return an attribute as PyTorch takes it: dtypes and the like are not text there."""
    if name == "device":
        return "cpu"
    if isinstance(value, str) and value.startswith("torch."):
        return getattr(torch(), value.removeprefix("torch."))
    return value
