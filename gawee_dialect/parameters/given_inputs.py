"""Inputs as users give them: an array, a tensor, some in a sequence, or a mapping by name."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeGuard

import numpy as np
from xdsl.utils.exceptions import VerifyException

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import ArgumentKind, EntryArgument
from gawee_dialect.dialect.types import dtype_name, is_shaped, shape_text
from gawee_dialect.parameters.store import Array
from gawee_dialect.python_numbers import as_array, is_array, parts_of_array

# Seeded arrays for inputs and parameters that are not given.


def random_array(
    shape: Sequence[int], dtype: np.dtype[np.generic], generator: "np.random.Generator"
) -> Array:
    """Return standard normal floats, bits for bool, or integers from 0 to 9."""
    if dtype.kind == "f":
        return np.asarray(generator.standard_normal(shape)).astype(dtype)
    high = 2 if dtype.kind == "b" else 10
    return np.asarray(generator.integers(0, high, shape)).astype(dtype)


class Described(Protocol):
    """What an array is to be like."""

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> Sequence[int]: ...

    @property
    def dtype(self) -> np.dtype[np.generic]: ...


def random_inputs(inputs: Iterable[Described], seed: int = 0) -> dict[str, Array]:
    """Return an array for each input by name, the same ones for the same seed."""
    generator = np.random.default_rng(seed)
    return {each.name: random_array(each.shape, each.dtype, generator) for each in inputs}


def random_parameters(weights: Iterable[Described], seed: int = 0) -> dict[str, Array]:
    """Return a seeded array for each weight by name: small normal numbers, positive variances."""
    generator = np.random.default_rng(seed)
    arrays: dict[str, Array] = {}
    for each in weights:
        array = random_array(each.shape, each.dtype, generator)
        if each.dtype.kind == "f":
            fan_in = max(1, int(np.prod(each.shape[1:])))
            array = (array / np.sqrt(fan_in)).astype(each.dtype)
        arrays[each.name] = np.abs(array) + 1 if each.name.endswith("running_var") else array
    return arrays


# Arrays that users give, in the shape and dtype that is wanted.


KINDS = {"b": "bool", "i": "integer", "u": "integer", "f": "float", "c": "complex"}
"""NumPy's kinds of numbers, which no conversion may change."""


def same_kind(dtype: np.dtype[np.generic], other: np.dtype[np.generic]) -> bool:
    """Whether two dtypes are of one kind of numbers, such as float64 and float32."""
    return dtype.kind in KINDS and KINDS[dtype.kind] == KINDS.get(other.kind)


def fitted(
    what: str, array: Array, shape: Sequence[int], dtype: np.dtype[np.generic], origin: str = ""
) -> Array:
    """Return an array in a dtype: Python's float64 and int64 become what is wanted.

    Complex numbers are pairs in a last axis, where that is wanted.

    `what` names it and `origin` says where it is from, in messages. Raises GaweeError for another
    shape, another kind of number, and for numbers that the dtype cannot hold.
    """
    if tuple(shape) == (*array.shape, 2):
        array = parts_of_array(array)
    if array.shape != tuple(shape):
        raise GaweeError(
            f"expected {what} of shape {shape_text(shape)}, got {shape_text(array.shape)}{origin}"
        )
    if array.dtype == dtype:
        return np.ascontiguousarray(array).reshape(shape)
    kind = KINDS.get(array.dtype.kind)
    if not same_kind(array.dtype, dtype):
        hint = f"array.astype('{dtype}') makes it one" if kind in ("integer", "float") else None
        raise GaweeError(
            Diagnostic(f"expected {what} of dtype {dtype}, got {array.dtype}{origin}", hint=hint)
        )
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(array, dtype).reshape(shape)
    lost = converted != array if kind == "integer" else np.isinf(converted) & ~np.isinf(array)
    if lost.any():
        value = array[lost].flat[0]
        raise GaweeError(f"expected {what} of dtype {dtype}, got {value} in it{origin}")
    return converted


Inputs: TypeAlias = object
"""An array or a tensor where there is one input; a list or tuple in order; a mapping by name."""


class Wanted(Protocol):
    """An input: its name, shape and NumPy dtype."""

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[np.generic]: ...


@dataclass(frozen=True)
class WantedInput:
    """An input of an entry function."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]

    @staticmethod
    def of(arguments: Iterable[EntryArgument]) -> "list[WantedInput]":
        """Describe the inputs among arguments, as far as NumPy has their types."""
        found: list[WantedInput] = []
        for each in arguments:
            if each.kind not in (ArgumentKind.INPUT, ArgumentKind.UPDATED):
                continue
            type = each.type
            shape = type.get_shape() if is_shaped(type) else ()
            with suppress(VerifyException):
                dtype = np.dtype(dtype_name(type.element_type if is_shaped(type) else type))
                found.append(WantedInput(each.name, shape, dtype))
        return found


def is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether inputs are by name."""
    return isinstance(value, Mapping)


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Whether inputs are in order."""
    return isinstance(value, list | tuple)


def inputs_by_name(names: Sequence[str], given: Inputs) -> Mapping[str, object]:
    """Return inputs by name; raises GaweeError where there are more than the network takes."""
    if is_mapping(given):
        return given
    values: Sequence[object] = given if is_sequence(given) else [given]
    if len(values) > len(names):
        hint = (
            f"inputs: {', '.join(names) or 'none'}; a list has one input after the other, "
            "numpy.array(...) makes an array of numbers"
        )
        message = f"expected at most {len(names)} inputs, got {len(values)}"
        raise GaweeError(Diagnostic(message, hint=hint))
    return dict(zip(names, values, strict=False))


def given_arrays(expected: Sequence[Wanted], given: Inputs) -> dict[str, object]:
    """Return inputs by name, each as an array of the dtype that is expected, where it can be one.

    A tensor shares its memory. The rule for dtypes is that of `fitted`: numbers stay of their kind.
    What is no array, or of another kind or shape, is as it was given. Raises GaweeError.
    """
    wanted = {each.name: each for each in expected}
    return {
        name: _given_array(wanted[name], value) if name in wanted else value
        for name, value in inputs_by_name([*wanted], given).items()
    }


def shapes_of(expected: Sequence[Wanted], given: Inputs) -> Mapping[str, Sequence[int]]:
    """Return the shapes of inputs by name, of all that are arrays or tensors."""
    arrays = given_arrays(expected, given)
    return {name: each.shape for name, each in arrays.items() if is_array(each)}


def _given_array(wanted: Wanted, value: object) -> object:
    array = value if is_array(value) else _as_array(wanted, value)
    if is_array(array) and array.dtype != wanted.dtype and same_kind(array.dtype, wanted.dtype):
        return fitted(f"input '{wanted.name}'", array, array.shape, wanted.dtype)
    return array


def _as_array(wanted: Wanted, value: object) -> object:
    """Return an array of a tensor or a number; other values as they are."""
    if hasattr(value, "__dlpack__"):
        return _array_of_tensor(wanted.name, value)
    return number_as_array(wanted, value)


def number_as_array(wanted: Wanted, value: object) -> object:
    """Return an array of a number that is given for a scalar; other values as they are."""
    if is_array(value):
        return value
    if type(value).__module__ == "numpy":  # a scalar of it
        return getattr(np, "asarray")(value)
    number = None if wanted.shape or value is None else as_array(value, wanted.dtype)
    return value if number is None else number


def _array_of_tensor(name: str, value: object) -> object:
    from gawee_dialect.pytorch.tensors import array_of_tensor, is_tensor_if_loaded

    if is_tensor_if_loaded(value):
        return array_of_tensor(value, f"input '{name}'")
    return getattr(np, "from_dlpack")(value)
