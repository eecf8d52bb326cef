"""The arrays of a graph's weights, from a file or from memory, by their names in the graph."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.frontends.npu_ir.errors import WeightLoadError
from gawee_dialect.frontends.npu_ir.ir import NPU_IR, TensorMeta, place_text
from gawee_dialect.parameters import MemoryStore, ParameterStore, open_archive
from gawee_dialect.parameters.store import Array, ParameterProblem


def load_weights(path: str | Path) -> ParameterStore:
    """Open a file of weights; raises WeightLoadError where it cannot be read."""
    try:
        return open_archive(path)
    except GaweeError as error:
        raise WeightLoadError(error.diagnostics) from error


@dataclass(frozen=True)
class WeightReport:
    """What fits a graph and what does not, before any data is read."""

    found: Mapping[str, str]
    """From the name of a weight to the name under which the store has it."""

    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    extra: list[str] = field(default_factory=list[str])
    """What the store has and the graph does not use, such as one of two names of tied weights."""


def check_weights(ir: NPU_IR, store: Mapping[str, Array]) -> WeightReport:
    """Hold weights against a graph: missing, wrong shape, wrong dtype, all at once; and extra ones.

    Constants that the graph carries may be missing, and so may what no node reads; where the store
    has them, it counts.
    """
    described = store if isinstance(store, ParameterStore) else MemoryStore(store)
    found: dict[str, str] = {}
    problems: list[Diagnostic] = []
    names = set(described)  # the store's own values would read the data
    needed = _read_weights(ir) - set(ir.constants)
    for weight in ir.weights:
        own = next((name for name in _candidates(ir, weight, described) if name in names), None)
        if own is not None:
            found[weight.name] = own
            problems.extend(_misfits(weight, own, described))
        elif weight.name in needed:
            problems.append(_missing(ir, weight, described))
    extra = [name for name in described if name not in set(found.values())]
    return WeightReport(found, problems, extra)


def bind_weights(
    ir: NPU_IR, store: Mapping[str, Array], *, strict: bool = False
) -> dict[str, Array]:
    """Return the array of every weight and constant of a graph, by its name in `weights`.

    Weights that no node reads are among them where the store has them. Raises WeightLoadError that
    lists every weight that is missing or of another shape or dtype; with `strict` also what the
    store has and the graph does not.
    """
    report = check_weights(ir, store)
    extra = [Diagnostic(f"unknown weight '{name}' for '{ir.model_name}'") for name in report.extra]
    problems = [*report.problems, *(extra if strict or report.problems else ())]
    if problems:
        raise WeightLoadError(problems)
    described = store if isinstance(store, ParameterStore) else MemoryStore(store)
    arrays: dict[str, Array] = {
        name: constant.array for name, constant in ir.constants.items() if name not in report.found
    }
    try:
        arrays.update((name, described[own]) for name, own in report.found.items())
    except ParameterProblem as problem:
        message = f"cannot read weights: {problem}"
        raise WeightLoadError(Diagnostic(message, problem.place)) from problem
    return arrays


def _read_weights(ir: NPU_IR) -> set[str]:
    read = {each.name for node in ir.nodes for each in node.inputs}
    read |= {each.name for each in ir.graph_outputs}
    return {weight.name for placeholder, weight in ir.placeholders() if placeholder in read}


def _candidates(ir: NPU_IR, weight: TensorMeta, store: ParameterStore) -> Iterator[str]:
    """Yield under which names a store may have a weight."""
    yield weight.name
    yield from (
        placeholder for placeholder, name in ir.weight_name_mapping.items() if name == weight.name
    )
    # Without a mapping the placeholder says enough: `p_fc_weight` is `fc.weight`.
    if weight.name not in ir.weight_name_mapping.values() and weight.name[:2] in ("p_", "b_", "c_"):
        wanted = weight.name[2:].lower()
        same = [name for name in store if name.replace(".", "_").lower() == wanted]
        yield from same if len(same) == 1 else ()


def _missing(ir: NPU_IR, weight: TensorMeta, store: ParameterStore) -> Diagnostic:
    placeholders = [key for key, name in ir.weight_name_mapping.items() if name == weight.name]
    known = f" ('{placeholders[0]}' in the graph)" if placeholders else ""
    hint = did_you_mean(weight.name, store, f"there are {len(store)} other names")
    if placeholders and placeholders[0].startswith("c_"):
        hint = "it was made on the meta device, without data; give it, or use register_buffer()"
    message = f"expected weights to have '{weight.name}'{known}, got none"
    return Diagnostic(message, place_text(weight.place), hint=hint)


def _misfits(weight: TensorMeta, own: str, store: ParameterStore) -> Iterator[Diagnostic]:
    what, place = f"weight '{weight.name}'", place_text(weight.place)
    try:
        got = store.describe(own)
    except ParameterProblem as problem:
        yield Diagnostic(f"{what}: {problem}", place)
        return
    if got.shape != weight.shape:
        wanted = shape_text(weight.shape)
        yield Diagnostic(f"expected {what} of shape {wanted}, got {shape_text(got.shape)}", place)
    if got.dtype != weight.dtype:
        yield Diagnostic(f"expected {what} of dtype {weight.dtype}, got {got.dtype}", place)
