"""A PyTorch model as NPU_IR: traced by torch.export, without a look at the data of its weights."""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.dialect.open_size import OpenSize
from gawee_dialect.frontends.npu_ir.convert import Converter
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, Constant, ExportError, Limit, TensorMeta
from gawee_dialect.frontends.npu_ir.pytorch import (
    GraphModule,
    Module,
    Node,
    Program,
    Spec,
    Tensor,
    array_of,
    has_data,
    is_sequence,
    is_tensor,
    kind_of,
    torch,
    torch_name,
)
from gawee_dialect.frontends.npu_ir.quotients import sizes_of_graph
from gawee_dialect.frontends.npu_ir.symbols import (
    Names,
    expression,
    is_symbol,
    names_of_symbols,
    sizes_of,
)
from gawee_dialect.frontends.npu_ir.trace import check_mutations, decomposed, export, one_trace

SHOWN = 5
"""How many tensors an error about devices names."""

_KINDS = {"PARAMETER": "p_", "BUFFER": "b_", "CONSTANT_TENSOR": "c_"}
"""Kinds of placeholders that are weights, and how PyTorch names them."""


class NoDataWarning(UserWarning):
    """A constant of the model has no data, which must be given when the graph runs."""


def extract_ir(
    model: Module,
    example_inputs: Sequence[object],
    *,
    model_name: str | None = None,
    strict: bool = True,
    decompose: bool = True,
    example_kwargs: Mapping[str, object] | None = None,
    keep: Sequence[str] = (),
    dynamic_shapes: object = None,
) -> NPU_IR:
    """Trace a model and return its graph: ops, shapes and dtypes, no weights.

    model: a torch.nn.Module, in `eval()` mode, on the meta device.
    example_inputs: the positional arguments of `forward`, tensors on the meta device.
    model_name: what the graph is called; the name of the model's class by default.
    strict: whether weights or inputs elsewhere than on the meta device are refused.
    decompose: whether ops are taken apart into PyTorch's core ATen ops; otherwise the ops are
        those that `forward` calls.
    keep: ops that are not taken apart, such as `aten.scaled_dot_product_attention`.
    dynamic_shapes: the sizes of inputs that stay open, as torch.export takes them.

    Raises ExportError for a model that cannot be traced, ConversionError for a graph with shapes
    that depend on data or with calls that the format cannot say. Warns where a constant has no
    data.
    """
    if strict:
        _check_devices(model, (example_inputs, example_kwargs))
    with one_trace:
        program = export(model, example_inputs, example_kwargs or {}, dynamic_shapes)
        check_mutations(program)
        if decompose:
            program = decomposed(program, keep)
            check_mutations(program)
        call = example_inputs, example_kwargs or {}
        names = names_of_symbols(program, model, *call, dynamic_shapes)
        return graph_of(program, model, model_name or type(model).__name__, names=names)


def _named_tensors(model: Module, inputs: object) -> Iterator[tuple[str, Tensor]]:
    yield from ((f"parameter '{name}'", each) for name, each in model.named_parameters())
    yield from ((f"buffer '{name}'", each) for name, each in model.named_buffers())
    leaves: Sequence[object] = torch().utils._pytree.tree_leaves(inputs)
    tensors = (leaf for leaf in leaves if is_tensor(leaf))
    yield from ((f"input {index}", each) for index, each in enumerate(tensors))


def _check_devices(model: Module, inputs: object) -> None:
    elsewhere = [
        f"{what} on '{tensor.device}'"
        for what, tensor in _named_tensors(model, inputs)
        if str(tensor.device) != "meta"
    ]
    if elsewhere:
        more = f", and {len(elsewhere) - SHOWN} more" if len(elsewhere) > SHOWN else ""
        raise ExportError(
            Diagnostic(
                "expected weights and inputs on the meta device, got "
                f"{', '.join(elsewhere[:SHOWN])}{more}",
                hint='build the model under `with torch.device("meta"):`, or use model.to("meta"); '
                "strict=False takes any device",
            )
        )


def graph_of(
    program: Program,
    model: Module,
    model_name: str,
    changed: Collection[str] = (),
    names: Names | None = None,
    part: GraphModule | None = None,
) -> NPU_IR:
    """Convert a traced program of a model.

    changed: buffers that the program changes; they become the last inputs of the graph, and what
        they are changed to its first outputs.
    names: of symbols, which stand for sizes that are open.
    part: of the program's graph, with inputs of the same names, to be converted in its place.
    """
    graph = part or program.graph_module
    inputs = {node.name for node in graph.graph.nodes if node.op == "placeholder"}
    given = [each for each in program.graph_signature.input_specs if each.arg.name in inputs]
    specs = {
        spec.arg.name: spec
        for spec in given
        if kind_of(spec) in _KINDS and spec.target not in changed
    }
    state = {spec.arg.name for spec in given if spec.target in changed}
    tokens = {spec.arg.name for spec in given if kind_of(spec) == "TOKEN"}
    ir = NPU_IR([], [], [], [], {}, model_name, str(torch().__version__))
    tied = _first_names(model)
    sizes = sizes_of(names or {}) if part is not None else sizes_of_graph(graph, names or {})
    converter = Converter(sizes)
    for node in graph.graph.nodes:
        if node.op != "placeholder":
            continue
        if node.name in tokens:
            converter.add_token(node)
            continue
        spec = specs.get(node.name)
        meta = converter.add_placeholder(node, weight=spec is not None)
        if meta is not None and spec is not None:
            _add_weight(ir, meta, tied.get(spec.target or "", spec.target or ""))
        elif meta is not None:
            ir.graph_inputs.append(meta)
            ir.limits += _limits(node, meta, names or {})
    ir.graph_inputs.sort(key=lambda meta: meta.name in state)
    outputs = converter.convert(graph)
    ir.nodes = converter.nodes
    ir.graph_outputs = [
        TensorMeta(each.name, each.shape, each.dtype) for each in _tensors_in(outputs)
    ]
    _add_constants(ir, program, model, specs, tied)
    return ir


def _limits(node: Node, meta: TensorMeta, names: Names) -> Iterator[Limit]:
    """Yield which axes of an input have sizes that are names to the model, and digits here."""
    value = node.meta.get("val")
    for axis, size in enumerate(value.shape if is_tensor(value) else ()):
        name = names.get(expression(size)) if is_symbol(size) else None
        if name is not None and OpenSize.named(name) != meta.shape[axis]:
            yield Limit(meta.name, axis, name)


def _first_names(model: Module) -> Mapping[str, str]:
    """Return, for every name of a weight, the first name of the same tensor: weights are tied."""
    first: dict[int, str] = {}
    names: dict[str, str] = {}
    for tensors in (model.named_parameters, model.named_buffers):
        for name, tensor in tensors(remove_duplicate=False):
            names[name] = first.setdefault(id(tensor), name)
    return names


def _add_weight(ir: NPU_IR, meta: TensorMeta, name: str) -> None:
    if name not in ir.weight_name_mapping.values():
        ir.weights.append(TensorMeta(name, meta.shape, meta.dtype))
    ir.weight_name_mapping[meta.name] = name


def _tensors_in(value: object) -> Iterator[TensorMeta]:
    if isinstance(value, TensorMeta):
        yield value
    elif is_sequence(value):
        for entry in value:
            yield from _tensors_in(entry)


def _add_constants(
    ir: NPU_IR,
    program: Program,
    model: Module,
    specs: Mapping[str, Spec],
    tied: Mapping[str, str],
) -> None:
    """Add data of what no state_dict has: lifted constants, buffers that are not persistent."""
    buffers = dict(model.named_buffers(remove_duplicate=False))
    for spec in specs.values():
        assert spec.target is not None
        kind = kind_of(spec)
        persistent = getattr(spec, "persistent", None) is not False
        if kind == "PARAMETER" or (kind == "BUFFER" and persistent):
            continue
        tensor = program.constants.get(spec.target) if kind != "BUFFER" else buffers[spec.target]
        if is_tensor(tensor) and has_data(tensor):
            name = tied.get(spec.target, spec.target)
            ir.constants[name] = Constant(array_of(tensor), torch_name(tensor.dtype))
        else:
            warnings.warn(_no_data(kind, spec.target), NoDataWarning, stacklevel=4)


def _no_data(kind: str, name: str) -> str:
    if kind == "BUFFER":
        return (
            f"buffer '{name}' is not persistent and has no data on the meta device: no state_dict "
            "has it either; register it with persistent=True, or give it when the graph runs"
        )
    return (
        f"constant '{name}' has no data on the meta device; use self.register_buffer(), "
        "or give it when the graph runs"
    )
