"""Models that keep state: tensors that a call reads and changes become inputs and outputs."""

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager

from gawee_dialect.frontends.npu_ir.extract import graph_of
from gawee_dialect.frontends.npu_ir.ir import NPU_IR
from gawee_dialect.frontends.npu_ir.pytorch import Module, is_tensor
from gawee_dialect.frontends.npu_ir.trace import (
    StateChange,
    check_mutations,
    decomposed,
    export,
    kind_of,
)


def extract_with_state(
    model: Module, example_inputs: Sequence[object], *, decompose: bool = True
) -> tuple[NPU_IR, Sequence[str]]:
    """Trace a model; return its graph, and the names of the tensors that calls change.

    Those are the last inputs of the graph; its first outputs are, in the same order, what they are
    changed to. Raises as `extract_ir` does; a graph that is not decomposed changes nothing.
    """
    plain: list[str] = []
    while True:
        try:
            with _as_buffers(model, plain):
                return _extract(model, example_inputs, decompose)
        except StateChange as change:
            found = [name for name in change.names if name not in plain and _has(model, name)]
            if not found or not decompose:
                raise
            plain += found


def _extract(
    model: Module, example_inputs: Sequence[object], decompose: bool
) -> tuple[NPU_IR, Sequence[str]]:
    traced = export(model, example_inputs, {})
    # What a graph changes in place is known when it is functional.
    functional = decomposed(traced, ())
    check_mutations(functional, of_buffers=decompose)
    program = functional if decompose else traced
    outputs = program.graph_signature.output_specs
    changed = [str(spec.target) for spec in outputs if kind_of(spec) == "BUFFER_MUTATION"]
    ir = graph_of(program, model, type(model).__name__, changed)
    # Inputs are in the order of the model's buffers, outputs in that of the changes.
    targets = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs}
    state = ir.graph_inputs[len(ir.graph_inputs) - len(changed) :]
    names = [str(targets[each.name]) for each in state]
    ir.graph_outputs[: len(changed)] = [ir.graph_outputs[changed.index(name)] for name in names]
    return ir, names


def _owner(model: Module, name: str) -> tuple[Module | None, str]:
    path, _, attribute = name.rpartition(".")
    named = dict(model.named_modules())
    return named.get(path), attribute


def _has(model: Module, name: str) -> bool:
    """Whether a name is that of a tensor which a module holds as an attribute."""
    owner, attribute = _owner(model, name)
    return owner is not None and is_tensor(vars(owner).get(attribute))


@contextmanager
def _as_buffers(model: Module, names: Collection[str]) -> Generator[None]:
    """Make attributes buffers that no state_dict has: torch.export takes changes of buffers."""
    made: list[tuple[Module, str, object]] = []
    try:
        for name in names:
            owner, attribute = _owner(model, name)
            assert owner is not None
            tensor = vars(owner).pop(attribute)
            made.append((owner, attribute, tensor))
            owner.register_buffer(attribute, None, persistent=False)
            setattr(owner, attribute, tensor)
        yield
    finally:
        for owner, attribute, tensor in made:
            delattr(owner, attribute)
            setattr(owner, attribute, tensor)
