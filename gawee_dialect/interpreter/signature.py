"""How a function is called: which argument takes which array, and where its outputs are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from gawee_dialect.dialect.entry import (
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    output_names,
)
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.dialect.types import shape_text
from gawee_dialect.interpreter.arrays import Array, ShapedType, dtype_of


@dataclass(frozen=True)
class Signature:
    """The arguments of a function by what they are for.

    A function in destination-passing form writes its outputs into arguments marked `gawee.output`
    and may use one marked `gawee.workspace`; any other returns its outputs.
    """

    function: FuncOp
    inputs: tuple[EntryArgument, ...]
    destinations: Mapping[int, str]
    workspaces: frozenset[int]
    checks: Mapping[int, IndexCheck]
    """Destinations, or results where there are none, that get the worst indices of an op."""

    @staticmethod
    def of(function: FuncOp) -> "Signature":
        """Read the marks on a function's arguments."""
        destinations: dict[int, str] = {}
        workspaces: set[int] = set()
        for index, attributes in enumerate(function.arg_attrs or ()):
            marker = attributes.data.get("gawee.output")
            if isinstance(marker, StringAttr):
                destinations[index] = marker.data
            if "gawee.workspace" in attributes.data:
                workspaces.add(index)
        checks = index_checks(function.arg_attrs) or index_checks(function.res_attrs)
        own = {*destinations, *workspaces, *index_checks(function.arg_attrs)}
        inputs = tuple(
            argument for argument in entry_arguments(function) if argument.index not in own
        )
        return Signature(function, inputs, destinations, frozenset(workspaces), checks)

    @property
    def names(self) -> frozenset[str]:
        """The names of all arrays that the caller passes."""
        return frozenset(
            argument.name for argument in self.inputs if argument.kind is not ArgumentKind.PREPARED
        )

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs, in order: returned ones or destinations."""
        if self.destinations:
            return list(self.destinations.values())
        names = enumerate(output_names(self.function))
        return [name for index, name in names if index not in self.checks]

    @property
    def needs_prepared(self) -> bool:
        """Whether an argument is a value that `@prepare` computes."""
        return any(argument.kind is ArgumentKind.PREPARED for argument in self.inputs)

    def problems(self, arrays: Mapping[str, Array]) -> Iterable[str]:
        """Say what is wrong with the arrays passed by name, one message per problem."""
        for argument in self.inputs:
            if argument.kind is ArgumentKind.PREPARED:
                continue
            what = f"{argument.kind} '{argument.name}'"
            if argument.name not in arrays:
                yield f"expected {what}, got none"
            else:
                yield from array_problems(what, arrays[argument.name], argument.type)


def index_checks(marks: ArrayAttr[DictionaryAttr] | None) -> Mapping[int, IndexCheck]:
    """Return which arguments or results tell of indices, by their attributes."""
    found = ((index, IndexCheck.of(attributes)) for index, attributes in enumerate(marks or ()))
    return {index: check for index, check in found if check is not None}


def array_problems(what: str, array: Array, type: Attribute) -> Iterable[str]:
    """Say where an array's shape or dtype differs from a type."""
    dtype = dtype_of(type)
    if array.dtype != dtype:
        yield f"expected {what} of dtype {dtype.name}, got {array.dtype.name}"
    shape = type.get_shape() if isa(type, ShapedType) else ()
    if tuple(np.shape(array)) != shape:
        yield f"expected {what} of shape {shape_text(shape)}, got {shape_text(np.shape(array))}"
