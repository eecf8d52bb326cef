"""A PyTorch model compiled by one call, which takes and returns tensors without copying them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gawee_dialect.backend.compiled import CompiledModel
from gawee_dialect.code_options import CodeOptions
from gawee_dialect.frontends.npu_ir.extract import extract_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.frontends.npu_ir.pytorch import Module, Tensor
from gawee_dialect.pytorch.execute import ir_model, named_inputs, used_weights
from gawee_dialect.pytorch.tensors import Array, array_of_tensor, tensor_of_array

if TYPE_CHECKING:
    from gawee_dialect.passes.insertion import Insertion


class CompiledTorch:
    """A callable on tensors: `y = compiled(x)`, a tuple where the model returns several.

    Inputs and weights are read where PyTorch has them, outputs are written where the tensors that
    are returned have them. `compiled.native` is the same on NumPy arrays.
    """

    def __init__(
        self,
        ir: NPU_IR,
        weights: Mapping[str, object],
        options: CodeOptions | None = None,
        *,
        passes: Sequence[Insertion] = (),
        cache: bool = True,
    ) -> None:
        self.ir = ir
        self.native: CompiledModel = ir_model(ir, weights).compile(
            options, passes=passes, cache=cache
        )

    def rebind(self, weights: Mapping[str, object]) -> None:
        """Take other weights, a state_dict; nothing is compiled again.

        What was computed from weights ahead of calls is computed again: after a model was trained
        further in place, rebind it.
        """
        needed = {buffer.name for buffer in self.native.parameters}
        bound = used_weights(self.ir, weights)
        self.native.rebind({name: array for name, array in bound.items() if name in needed})

    def __call__(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        """Compute the outputs; raises GaweeError for inputs that do not fit."""
        results = tuple(self.run(inputs))
        return results[0] if len(results) == 1 else results

    def run(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Compute all outputs in order; raises GaweeError for inputs that do not fit."""
        arrays: dict[str, Array] = {}
        for name, tensor in zip(named_inputs(self.ir, list(inputs)), inputs, strict=True):
            arrays[name] = array_of_tensor(tensor, f"input '{name}'")
        return [tensor_of_array(each) for each in self.native.run(arrays).values()]


def compile_torch(
    model: Module,
    example_inputs: Sequence[object],
    options: CodeOptions | None = None,
    *,
    passes: Sequence[Insertion] = (),
    cache: bool = True,
    decompose: bool = True,
) -> CompiledTorch:
    """Extract a model, import it and compile it with its own weights, for this processor.

    model: a torch.nn.Module in `eval()` mode, with its weights.
    example_inputs: the positional arguments of `forward`; their shapes are those of every call.
    options, passes, cache: as for `Model.compile`.

    Raises ExportError and ConversionError for a model that cannot be extracted or imported.
    """
    ir = extract_ir(model, example_inputs, strict=False, decompose=decompose)
    state: Callable[[], Mapping[str, object]] = getattr(model, "state_dict")
    return CompiledTorch(ir, state(), options, passes=passes, cache=cache)
