"""Run NPU_IR graphs, by any of three engines.

- `native`: imported, lowered, and compiled to machine code;
- `interpreter`: imported, and run by the NumPy meaning of the dialect's ops;
- `aten`: node by node by PyTorch itself, which also runs ops that this project does not know.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.dialect.entry import ArgumentKind
from gawee_dialect.frontends.npu_ir.errors import ExecutionError
from gawee_dialect.frontends.npu_ir.importer import import_ir, large_constants
from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.parameters.joined import joined
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
    """Return a graph as a Model, which runs at any level, compiles, and can be saved.

    weights: by the names of the state_dict; a file's are read when they are needed.
    constants: of lifted constants, by name; they come before the graph's own data.

    Raises ConversionError where the graph cannot be imported.
    """
    module = import_ir(ir)
    model = Model(module, name=ir.model_name)
    places = [tensors_as_arrays(constants or {}), large_constants(ir)]
    if isinstance(weights, Mapping):
        places.append(tensors_as_arrays(weights))
    elif weights is not None:
        from gawee_dialect.parameters import open_parameters

        places.append(open_parameters(weights, model.function))
    model.parameters = joined(*places)
    _check_given(model, weights)
    return model


def _check_given(model: Model, weights: Weights) -> None:
    """Raise ExecutionError where no weights are given at all, or constants without data."""
    lacking = [
        each
        for each in model.arguments
        if each.kind in (ArgumentKind.PARAMETER, ArgumentKind.CONSTANT)
        and each.name not in model.parameters
    ]
    problems = [
        Diagnostic(
            f"expected data of constant '{each.name}', got none",
            hint="it was on the meta device when the graph was extracted; give it with constants=, "
            "or gawee-run --constants",
        )
        for each in lacking
        if each.kind is ArgumentKind.CONSTANT
    ]
    if weights is None and len(lacking) > len(problems):
        count = len(lacking) - len(problems)
        problems.append(Diagnostic(f"expected weights ('{lacking[0].name}', {count} in all)"))
    if problems:
        raise ExecutionError(problems)


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

        tensors = {name: as_tensor(value) for name, value in given.items()}
        results = run_aten(ir, tensors, weights, constants)
        return tuple(results) if with_tensors else tuple(as_array(each) for each in results)
    if engine not in ENGINES:
        raise ExecutionError(f"unsupported engine '{engine}'; supported: {', '.join(ENGINES)}")
    model = ir_model(ir, weights, constants)
    level = Level.LLVM if engine == "native" else Level.GAWEE
    arrays = {name: as_array(value, f"input '{name}'") for name, value in given.items()}
    outputs = model.run(arrays, level).values()
    return tuple(tensor_of_array(each) if with_tensors else each for each in outputs)


def outputs_as_arrays(outputs: Sequence[object]) -> list[Array]:
    """Return outputs as arrays."""
    return [as_array(each, f"output {index}") for index, each in enumerate(outputs)]
