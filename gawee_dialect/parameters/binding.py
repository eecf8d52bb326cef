"""Find the array of every parameter that a function takes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.dialect.types import dtype_name, is_shaped, shape_text
from gawee_dialect.hints import isa
from gawee_dialect.identifiers import free_name
from gawee_dialect.parameters.data_files import RawFolder, require_regular
from gawee_dialect.parameters.store import (
    Array,
    ArrayDescription,
    MemoryStore,
    MissingParameter,
    ParameterProblem,
    ParameterStore,
)
from gawee_dialect.upstream.printing import resource_name

# Constants that MLIR text holds as resources, as parameters of the function that uses them.


def take_resources(function: FuncOp) -> Mapping[str, Array]:
    """Make every resource that a function uses a parameter of it; return their arrays by name.

    Changes the function in place. Constants of other functions stay as they are.

        %w = arith.constant dense_resource<weight> : tensor<2xf32>
        ->
        func.func @main(..., %w: tensor<2xf32> {gawee.parameter = "weight"})
    """
    marks = list(function.arg_attrs or [DictionaryAttr({})] * len(function.args))
    arguments: dict[DenseIntOrFPElementsAttr, SSAValue] = {}
    arrays: dict[str, Array] = {}
    for op in [op for op in function.walk() if op.name == "arith.constant"]:
        value = op.properties["value"]
        resource = resource_name(value) if isa(value, DenseIntOrFPElementsAttr) else None
        if resource is None or not isa(value, DenseIntOrFPElementsAttr):
            continue
        if value not in arguments:
            name = free_name(resource, arrays)
            arrays[name] = _array(value)
            arguments[value] = _argument(function, op)
            index = len(marks)
            marks.append(
                EntryArgument(index, ArgumentKind.PARAMETER, name, value.type).attributes()
            )
        op.results[0].replace_all_uses_with(arguments[value])
        op.detach()
        op.erase()
    if arrays:
        function.arg_attrs = ArrayAttr(marks)
        function.update_function_type()
    return arrays


def _argument(function: FuncOp, op: Operation) -> SSAValue:
    block, (result,) = function.body.blocks[0], op.results
    argument = block.insert_arg(result.type, len(block.args), op.location)
    argument.name_hint = result.name_hint
    return argument


def _array(value: DenseIntOrFPElementsAttr) -> Array:
    element: Attribute = value.get_element_type()
    array = np.frombuffer(value.data.data, dtype_name(element))
    return array.reshape(value.get_shape())


LISTED = 3
"""Weights that are not there are named one by one up to so many."""


def open_parameters(path: str | Path, weights: Sequence[EntryArgument]) -> ParameterStore:
    """Open a place of weights: a folder of raw files, or a file of many arrays.

    `weights` say which files of a folder hold which parameters. Raises GaweeError where there is
    nothing at the path, or nothing of these.
    """
    path = Path(path)
    return RawFolder(path, weights) if path.is_dir() else open_archive(path)


def open_archive(path: str | Path) -> ParameterStore:
    """Open a file of many arrays: .npz, .safetensors, PyTorch's .pt, .pth and .bin, UWEF's .json.

    Raises GaweeError where there is no such file, and for others.
    """
    from gawee_dialect.parameters.archives import SUFFIXES, NpzFile, SafetensorsFile, TorchFile
    from gawee_dialect.parameters.uwef import SUFFIX as UWEF_SUFFIX
    from gawee_dialect.parameters.uwef import UwefFile

    path = Path(path)
    if not path.exists():
        raise GaweeError(f"cannot read weights: there is no '{path}'")
    require_regular(path)
    if path.suffix == ".npz":
        return NpzFile(path)
    if path.suffix == ".safetensors":
        return SafetensorsFile(path)
    if path.suffix in SUFFIXES:
        return TorchFile(path)
    if path.suffix == UWEF_SUFFIX:
        return UwefFile(path)
    raise GaweeError(
        f"unsupported weights '{path}'; supported: a folder of raw files, .npz, .safetensors, "
        + ", ".join((*SUFFIXES, UWEF_SUFFIX))
    )


def bind_parameters(
    weights: Sequence[EntryArgument], store: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the array of every parameter and large constant that is wanted, by name.

    Raises GaweeError as `checked_parameters` does, and where data cannot be read.
    """
    return dict(checked_parameters(weights, store))


def checked_parameters(
    weights: Sequence[EntryArgument], store: Mapping[str, Array]
) -> ParameterStore:
    """Return a store of every parameter and large constant that is wanted, and of no other.

    No data is read. Raises GaweeError that lists every shape and dtype that differs, every file
    that is too long or too short, and what the store lacks: every name, or of many their number.
    """
    if not isinstance(store, ParameterStore):
        store = MemoryStore(store)
    found = {each.name: _found(each.name, store) for each in weights}
    absent = [name for name, each in found.items() if isinstance(each, ABSENT)]
    listed = len(absent) <= LISTED
    problems = [] if listed else [missing_weights(absent, len(weights))]
    for each in weights:
        if listed or each.name not in absent:
            problems += _check(each, found[each.name], store)
    if problems:
        raise GaweeError(problems)
    described = {name: each for name, each in found.items() if isinstance(each, ArrayDescription)}
    return _CheckedStore(store, described)


class _CheckedStore(ParameterStore):
    """Some names of a store, as they are described; data that cannot be read is a GaweeError."""

    def __init__(self, store: ParameterStore, described: Mapping[str, ArrayDescription]) -> None:
        self._store, self.names, self._described = store, described, described

    def describe(self, name: str) -> ArrayDescription:
        return self._described[name]

    def __getitem__(self, name: str) -> Array:
        if name not in self.names:
            raise KeyError(name)
        try:
            return self._store[name]
        except ParameterProblem as problem:
            message = f"cannot read weights: {problem}"
            raise GaweeError(Diagnostic(message, problem.place)) from problem

    def __contains__(self, name: object) -> bool:
        return name in self.names


def missing_weights(absent: Sequence[str], wanted: int) -> Diagnostic:
    """Return one message for many weights that are not there."""
    names = ", ".join(f"'{name}'" for name in absent[:LISTED])
    got = f"{wanted - len(absent)} of them" if len(absent) < wanted else "none"
    others = f" and {len(absent) - LISTED} others" if len(absent) > LISTED else ""
    return Diagnostic(
        f"expected {wanted} weights, got {got}: there is no {names}{others}",
        hint="--weights PATH says where they are; to run without them, gawee-run --weights random",
    )


ABSENT = (KeyError, MissingParameter)

Found = ArrayDescription | KeyError | ParameterProblem
"""What a store has of a name, or why it has nothing."""


def _found(name: str, store: ParameterStore) -> Found:
    try:
        return store.describe(name)
    except (KeyError, ParameterProblem) as problem:
        return problem


def _check(argument: EntryArgument, found: Found, store: ParameterStore) -> Iterator[Diagnostic]:
    """Yield what is wrong with a parameter's data."""
    problem = _problem(argument, found, store)
    if problem is not None:
        yield problem


def _problem(argument: EntryArgument, found: Found, store: ParameterStore) -> Diagnostic | None:
    what = f"{argument.kind} '{argument.name}'"
    type = argument.type
    if not is_shaped(type):
        return Diagnostic(f"expected {what} to be a tensor or a buffer, got '{type}'")
    if isinstance(found, KeyError):
        hint = did_you_mean(argument.name, store, f"there are {len(store)} other names")
        return Diagnostic(f"expected weights to have {what}, got none", hint=hint)
    if isinstance(found, ParameterProblem):
        return Diagnostic(f"{what}: {found}")
    try:
        dtype = dtype_name(type.element_type)
    except VerifyException as problem:
        return Diagnostic(f"{what}: {problem}")
    if found.shape != type.get_shape():
        wanted, got = shape_text(type.get_shape()), shape_text(found.shape)
        return Diagnostic(f"expected {what} of shape {wanted}, got {got}")
    if found.dtype != dtype:
        return Diagnostic(f"expected {what} of dtype {dtype}, got {found.dtype}")
    return None
