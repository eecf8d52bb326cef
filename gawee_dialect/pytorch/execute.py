"""Run NPU_IR graphs, by any of three engines.

- `native`: imported, lowered, and compiled to machine code;
- `interpreter`: imported, and run by the NumPy meaning of the dialect's ops;
- `aten`: node by node by PyTorch itself, which also runs ops that this project does not know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from gawee_dialect.diagnostics import Diagnostic, did_you_mean
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.frontends.npu_ir.errors import ExecutionError
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, Constant
from gawee_dialect.frontends.npu_ir.liveness import Liveness
from gawee_dialect.frontends.npu_ir.weights import bind_weights, load_weights
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.pytorch.tensors import (
    Array,
    as_array,
    as_tensor,
    is_tensor_if_loaded,
    tensor_of_array,
    tensors_as_arrays,
)

ENGINES = ("native", "interpreter", "aten")

Inputs: TypeAlias = Sequence[object] | Mapping[str, object]
"""Arrays or tensors, in the order of the graph's inputs or by their names."""

Weights: TypeAlias = Mapping[str, object] | str | Path | None
"""A state_dict, arrays by the names of one, or a file."""


def ir_model(
    ir: NPU_IR, weights: Weights = None, constants: Mapping[str, object] | None = None
) -> Model:
    """Return a graph with its weights as a Model, which runs at any level, compiles, can be saved.

    weights: by the names of the state_dict; a file's are read when they are needed.
    constants: of lifted constants, by name; they come before the graph's own data.

    Raises ConversionError where the graph cannot be imported, WeightLoadError that lists every
    weight that is missing or of another shape or dtype, ExecutionError for a constant without data.
    """
    graph = with_constants(ir, constants or {})
    return Model(import_ir(graph), used_weights(graph, weights), name=ir.model_name)


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


def named_inputs(ir: NPU_IR, inputs: Inputs) -> dict[str, object]:
    """Return inputs by name; raises ExecutionError where there are too many or too few."""
    names = [each.name for each in ir.graph_inputs]
    if isinstance(inputs, Mapping):
        missing = [name for name in names if name not in inputs]
        unknown = [name for name in inputs if name not in names]
        if missing or unknown:
            raise ExecutionError(
                f"expected inputs {', '.join(names)}, got {', '.join(inputs) or 'none'}"
            )
        return {name: inputs[name] for name in names}
    if len(inputs) != len(names):
        raise ExecutionError(
            Diagnostic(
                f"expected {len(names)} inputs, got {len(inputs)}",
                hint=f"inputs of the graph: {', '.join(names)}",
            )
        )
    return dict(zip(names, inputs, strict=True))


def execute_ir(
    ir: NPU_IR,
    inputs: Inputs,
    weights: Weights = None,
    *,
    constants: Mapping[str, object] | None = None,
    engine: str = "native",
) -> tuple[object, ...]:
    """Run a graph; returns its outputs in order: tensors where an input is one, else arrays.

    weights: a state_dict, arrays by name, or the path of a file of them.
    constants: data of constants that the graph has none for, or other data than it has.

    Raises ConversionError for a graph that the engine cannot run, ExecutionError for inputs and
    constants that are missing or too many, and GaweeError for shapes and dtypes that do not fit.
    """
    given = named_inputs(ir, inputs)
    with_tensors = any(is_tensor_if_loaded(value) for value in given.values())
    if engine == "aten":
        from gawee_dialect.pytorch.aten_engine import run_aten

        graph = with_constants(ir, constants or {})
        tensors = {name: as_tensor(value) for name, value in given.items()}
        results = run_aten(graph, tensors, used_weights(graph, weights))
        return tuple(results) if with_tensors else tuple(as_array(each) for each in results)
    if engine not in ENGINES:
        raise ExecutionError(f"unsupported engine '{engine}'; supported: {', '.join(ENGINES)}")
    model = ir_model(ir, weights, constants)
    level = Level.LLVM if engine == "native" else Level.GAWEE
    arrays = {name: as_array(value, f"input '{name}'") for name, value in given.items()}
    outputs = model.run(arrays, level).values()
    return tuple(tensor_of_array(each) if with_tensors else each for each in outputs)
