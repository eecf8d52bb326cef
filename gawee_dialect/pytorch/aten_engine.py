"""Run NPU_IR graphs by PyTorch itself: each node is one call of its op."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gawee_dialect.diagnostics import Diagnostic, first_line
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.frontends.npu_ir.aten.registry import is_in_place
from gawee_dialect.frontends.npu_ir.aten_call import call_aten
from gawee_dialect.frontends.npu_ir.errors import ConversionError, ExecutionError
from gawee_dialect.frontends.npu_ir.ir import (
    CARRIED,
    COND,
    NPU_IR,
    AttributeValue,
    OpNode,
    TensorMeta,
    place_text,
)
from gawee_dialect.frontends.npu_ir.liveness import Liveness, read_inputs
from gawee_dialect.frontends.npu_ir.ops import find_executor
from gawee_dialect.frontends.npu_ir.pytorch import Tensor, is_tensor, torch
from gawee_dialect.pytorch.tensors import as_tensor

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
