"""A compiled PyTorch model as a callable on tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pickle import PicklingError
from typing import TYPE_CHECKING, TypeAlias

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, ExecutionError
from gawee_dialect.frontends.npu_ir.pytorch import Tensor, is_tensor
from gawee_dialect.frontends.op_mapping.registry import value_text
from gawee_dialect.python_numbers import array_of_parts, parts_of_array
from gawee_dialect.pytorch.execute import ir_model, named_inputs
from gawee_dialect.pytorch.explanation import LeftOp
from gawee_dialect.pytorch.graph_weights import used_weights
from gawee_dialect.pytorch.tensors import array_of_tensor, leaves, tensor_of_array

if TYPE_CHECKING:
    from gawee_dialect.passes.insertion import Insertion

Passes: TypeAlias = "Sequence[Insertion]"
"""Passes that go in beside those of the options."""


class CompiledTorch:
    """A callable on tensors: `y = compiled(x)`, a tuple where the model returns several.

    Inputs and weights are read where PyTorch has them, outputs are written where the tensors that
    are returned have them. `compiled.native` is the same on NumPy arrays.

    `known` is, by their positions, what of the arguments is no tensor: it is part of the graph, and
    may be given or left out. `state` are tensors of the model that calls change: the last inputs of
    the graph and its first outputs. They are read when a call begins and written when it ends.
    `images` are the axes of the inputs that have any number of images, by their names.
    """

    def __init__(
        self,
        ir: NPU_IR,
        weights: Mapping[str, object],
        options: CodeOptions | None = None,
        *,
        passes: Passes = (),
        cache: bool = True,
        known: Mapping[int, object] | None = None,
        state: Sequence[Callable[[], Tensor]] = (),
        images: Mapping[str, int] | None = None,
    ) -> None:
        self._take(ir, known, state)
        model = ir_model(ir, weights)
        if images is None:
            sizes = {each.name: (each.low, each.high) for each in ir.size_names}
            self._native = model.compile(options, passes=passes, cache=cache, sizes=sizes or None)
        else:
            self._native = model.compile(options, passes=passes, cache=cache, dynamic_batch=images)

    def _take(
        self, ir: NPU_IR, known: Mapping[int, object] | None, state: Sequence[Callable[[], Tensor]]
    ) -> None:
        """Take what a call needs to know."""
        self.ir = ir
        self.state = list(state)
        count = len(ir.graph_inputs) - len(self.state)
        self._called = replace(ir, graph_inputs=ir.graph_inputs[:count])
        self.known = dict(known or {})

    @property
    def native(self) -> CompiledModel:
        """The same on NumPy arrays; raises GaweeError where PyTorch runs ops between parts."""
        return self._native

    @property
    def left(self) -> Sequence[LeftOp]:
        """The ops that PyTorch runs between parts: none, unless data decide a size."""
        return ()

    def __repr__(self) -> str:
        return f"<CompiledTorch '{self.ir.model_name}': {self._native.summary}>"

    def _repr_html_(self) -> str:
        return getattr(self.ir, "_repr_html_")()

    def __reduce__(self) -> str:
        raise PicklingError(
            "cannot pickle a CompiledTorch: its weights are the tensors of a live model; pickle "
            "its graph (compiled.ir) and a state_dict"
        )

    def rebind(self, weights: Mapping[str, object]) -> None:
        """Take other weights, a state_dict; nothing is compiled again.

        What was computed from weights ahead of calls is computed again: after a model was trained
        further in place, rebind it.
        """
        needed = {buffer.name for buffer in self._native.parameters}
        bound = used_weights(self.ir, weights)
        arrays = {name: parts_of_array(array) for name, array in bound.items() if name in needed}
        self._native.rebind(arrays)

    def __call__(self, *inputs: object) -> Tensor | tuple[Tensor, ...]:
        """Compute the outputs; raises GaweeError for inputs that do not fit."""
        results = tuple(self.run(inputs))
        return results[0] if len(results) == 1 else results

    def run(self, inputs: Sequence[object]) -> list[Tensor]:
        """Compute all outputs in order; raises GaweeError for inputs that do not fit."""
        state = [current() for current in self.state]
        given = named_inputs(self._called, self._tensors(inputs))
        held = self.ir.graph_inputs[len(given) :]
        given |= {meta.name: each for meta, each in zip(held, state, strict=True)}
        tensors: dict[str, Tensor] = {}
        for name, tensor in given.items():
            if not is_tensor(tensor):
                got = value_text(tensor)
                raise ExecutionError(f"expected input '{name}' to be a tensor, got {got}")
            tensors[name] = tensor
        results = self._results(tensors)
        for tensor, new in zip(state, results[: len(state)], strict=True):
            tensor.detach().copy_(new)
        return results[len(state) :]

    def _results(self, given: Mapping[str, Tensor]) -> list[Tensor]:
        """Compute the graph's outputs, new state first, of its inputs by their names."""
        for limit in self.ir.limits:
            limit.check(given[limit.input].shape[limit.axis])
        arrays = {
            name: parts_of_array(array_of_tensor(each, f"input '{name}'"))
            for name, each in given.items()
        }
        results = zip(self._native.run(arrays).values(), self.ir.graph_outputs, strict=True)
        return [tensor_of_array(array_of_parts(each, meta.dtype)) for each, meta in results]

    def _tensors(self, inputs: Sequence[object]) -> list[object]:
        """Return what of the arguments is a tensor; raises ExecutionError for other numbers."""
        if all(is_tensor(each) for each in inputs):
            return list(inputs)
        given = leaves(inputs)
        if not self.known or len(given) != len(self.known) + len(self._called.graph_inputs):
            return given
        for index, known in self.known.items():
            if is_tensor(given[index]) or given[index] != known:
                raise ExecutionError(
                    Diagnostic(
                        f"expected argument {index + 1} to be {value_text(known)}, as in the "
                        f"example inputs, got {value_text(given[index])}",
                        hint="what is no tensor is part of the graph; give what changes as one",
                    )
                )
        return [each for index, each in enumerate(given) if index not in self.known]
