"""Run NPU_IR graphs, by any of three engines.

- `native`: imported, lowered, and compiled to machine code;
- `interpreter`: imported, and run by the NumPy meaning of the dialect's ops;
- `aten`: node by node by PyTorch itself, which also runs ops that this project does not have.
"""

from collections.abc import Mapping

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.frontends.npu_ir.importer import import_ir
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, ExecutionError
from gawee_dialect.levels import Level
from gawee_dialect.model import Model
from gawee_dialect.parameters.given_inputs import Inputs, is_mapping, is_sequence
from gawee_dialect.python_numbers import array_of_parts, parts_of_array
from gawee_dialect.pytorch.graph_weights import Weights, used_weights, with_constants
from gawee_dialect.pytorch.tensors import (
    as_array,
    as_tensor,
    is_tensor_if_loaded,
    tensor_of_array,
)

ENGINES = ("native", "interpreter", "aten")


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
    bound = {name: parts_of_array(each) for name, each in used_weights(graph, weights).items()}
    return Model(import_ir(graph), bound, name=ir.model_name)


def named_inputs(ir: NPU_IR, inputs: Inputs) -> dict[str, object]:
    """Return inputs by name; raises ExecutionError where there are too many or too few."""
    names = [each.name for each in ir.graph_inputs]
    if is_mapping(inputs):
        missing = [name for name in names if name not in inputs]
        unknown = [name for name in inputs if name not in names]
        if missing or unknown:
            raise ExecutionError(
                f"expected inputs {', '.join(names)}, got {', '.join(inputs) or 'none'}"
            )
        return {name: inputs[name] for name in names}
    values = inputs if is_sequence(inputs) else [inputs]
    if len(values) != len(names):
        raise ExecutionError(
            Diagnostic(
                f"expected {len(names)} inputs, got {len(values)}",
                hint=f"inputs of the graph: {', '.join(names)}",
            )
        )
    return dict(zip(names, values, strict=True))


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
    arrays = {
        name: parts_of_array(as_array(value, f"input '{name}'")) for name, value in given.items()
    }
    results = zip(model.run(arrays, level).values(), ir.graph_outputs, strict=True)
    outputs = (array_of_parts(each, meta.dtype) for each, meta in results)
    return tuple(tensor_of_array(each) if with_tensors else each for each in outputs)
