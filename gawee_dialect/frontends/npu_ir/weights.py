"""The arrays of a graph's weights, from a file or from memory, by their names in the graph."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.frontends.npu_ir.ir import (
    NPU_IR,
    AttributeValue,
    Constant,
    TensorMeta,
    WeightLoadError,
    place_text,
)
from gawee_dialect.located_json import JsonValue
from gawee_dialect.parameters import MemoryStore, ParameterStore, open_archive
from gawee_dialect.parameters.store import Array, ParameterProblem

# Data of constants as nested lists: `{"data": [[1.0, 0.0]], "dtype": "float32"}`.


# What holds each dtype in memory. Complex numbers are written as pairs in a last axis.
_HOLDERS = {
    **{name: name for name in ("float16", "float32", "float64", "bool")},
    **{name: name for name in ("int8", "int16", "int32", "int64", "uint8")},
    "bfloat16": "float32",
    "complex64": "float32",
    "complex128": "float64",
}

_NON_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class DataProblem(Exception):
    """What is wrong with the data of one constant, in one line."""


def read_constant(entry: JsonValue) -> Constant:
    """Return a constant of a file; raises DataProblem for data that is ragged or does not fit."""
    if not isinstance(entry, dict):
        raise DataProblem("expected an object of 'data' and 'dtype'")
    dtype = entry.get("dtype")
    if "data" not in entry or not isinstance(dtype, str):
        raise DataProblem("expected an object of 'data' and 'dtype'")
    dtype = dtype.removeprefix("torch.")
    if dtype not in _HOLDERS:
        raise DataProblem(f"unsupported dtype '{dtype}'; supported: {', '.join(_HOLDERS)}")
    data = entry["data"]
    holder = np.dtype(_HOLDERS[dtype])
    shape = _shape(data)
    flat = [_number(value, holder) for value in _leaves(data, shape)]
    try:
        array = np.array(flat, dtype=holder).reshape(shape)
    except OverflowError as error:
        raise DataProblem(f"expected numbers in the range of {dtype}") from error
    if dtype.startswith("complex"):
        if shape[-1:] != (2,):
            raise DataProblem(f"expected pairs of numbers for {dtype}")
        array = array.view(dtype).reshape(shape[:-1])
    return Constant(array, dtype)


def _shape(data: JsonValue) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(data, list):
        shape.append(len(data))
        data = data[0] if data else None
        if shape[-1] == 0:
            break
    return tuple(shape)


def _leaves(data: JsonValue, shape: tuple[int, ...]) -> Iterator[JsonValue]:
    """Yield the numbers of nested lists; raises DataProblem where lists differ in length."""
    if not shape:
        if isinstance(data, list):
            raise DataProblem("expected lists of one depth, got ragged data")
        yield data
        return
    if not isinstance(data, list) or len(data) != shape[0]:
        raise DataProblem("expected lists of one length, got ragged data")
    for entry in data:
        yield from _leaves(entry, shape[1:])


def _number(value: JsonValue, holder: np.dtype[np.generic]) -> bool | int | float:
    if holder.kind == "f" and isinstance(value, str) and value in _NON_FINITE:
        return _NON_FINITE[value]
    wanted = {"b": bool | int, "i": int, "u": int, "f": int | float}[holder.kind]
    if not isinstance(value, wanted) or not isinstance(value, bool | int | float):
        raise DataProblem(f"expected numbers of {holder.name}, got {value!r}")
    return value


def constant_data(constant: Constant) -> AttributeValue:
    """Return the data of a constant as it is written."""
    array = constant.data
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    data: AttributeValue = array.tolist()
    return data


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
