"""The weights that a graph of NPU_IR reads, from a state_dict, arrays or a file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from gawee_dialect.diagnostics import Diagnostic, did_you_mean
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, Constant, ExecutionError
from gawee_dialect.frontends.npu_ir.liveness import Liveness
from gawee_dialect.frontends.npu_ir.weights import bind_weights, load_weights
from gawee_dialect.pytorch.tensors import Array, as_array, tensors_as_arrays

Weights: TypeAlias = Mapping[str, object] | str | Path | None
"""A state_dict, arrays by the names of one, or a file."""


def with_constants(ir: NPU_IR, constants: Mapping[str, object]) -> NPU_IR:
    """Return a graph with other data of some constants.

    Raises ExecutionError for a name that is no constant or weight, and for another shape.
    """
    given: dict[str, Constant] = {}
    known = {weight.name: weight for weight in ir.weights}
    for name, value in constants.items():
        meta, array = known.get(name), as_array(value, f"constant '{name}'")
        if meta is None:
            hint = did_you_mean(name, known, f"the graph has {len(known)} others")
            raise ExecutionError(Diagnostic(f"unknown constant '{name}'", hint=hint))
        if array.shape != meta.shape:
            wanted, got = shape_text(meta.shape), shape_text(array.shape)
            raise ExecutionError(f"expected constant '{name}' of shape {wanted}, got {got}")
        given[name] = Constant(array.astype(meta.dtype), meta.dtype)
    return replace(ir, constants={**ir.constants, **given})


def used_weights(ir: NPU_IR, weights: Weights) -> dict[str, Array]:
    """Return the arrays of the weights that nodes read, and of constants, by their names.

    Raises as `ir_model` does.
    """
    liveness = Liveness(ir)
    read = {weight.name for name, weight in ir.placeholders() if liveness.is_read(name)}
    used = replace(ir, weights=[weight for weight in ir.weights if weight.name in read])
    if weights is None:
        lacking = [each.name for each in used.weights if each.name not in ir.constants]
        if lacking:
            raise ExecutionError(
                Diagnostic(
                    f"expected {len(lacking)} weights for '{ir.model_name}' ('{lacking[0]}' is the "
                    "first), got none",
                    hint="give a state_dict or the path of a file; for constants that were on the "
                    "meta device constants= or gawee-run --constants",
                )
            )
        return bind_weights(used, {})
    if isinstance(weights, Mapping):
        return bind_weights(used, tensors_as_arrays(weights))
    return bind_weights(used, load_weights(weights))
