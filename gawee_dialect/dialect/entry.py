"""The entry function: what its arguments and results are called, and which are parameters.

    func.func @main(%x: tensor<1x3x8x8xf32> {gawee.input = "x"},
                    %w: tensor<4x3x3x3xf32> {gawee.parameter = "conv.weight",
                                             gawee.path = "weights/conv_weight_0.bin"})
        -> (tensor<1x4x6x6xf32> {gawee.output = "conv"})

`gawee.constant` marks a graph constant too large to be written in the IR; `gawee.prepared` a value
that `@prepare` computes from the parameters once, by the index of its result. A result marked
`gawee.indices` is no output: it tells of run-time indices (`index_check.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from gawee_dialect.dialect.index_check import MARK

MAIN = "main"
"""The function that a network runs; some files call it `forward`."""

PREPARE = "prepare"
"""The function that computes prepared values from parameters, once per load."""


class ArgumentKind(StrEnum):
    """What an entry argument is; the value is the attribute `gawee.<kind>` that says so."""

    INPUT = "input"
    PARAMETER = "parameter"
    CONSTANT = "constant"
    PREPARED = "prepared"


@dataclass(frozen=True)
class EntryArgument:
    """One argument of the entry function: its position, kind, name, type and file, if any."""

    index: int
    kind: ArgumentKind
    name: str
    type: Attribute
    path: str | None = None

    def attributes(self) -> DictionaryAttr:
        """Return the argument attributes that say what this argument is."""
        entries: dict[str, Attribute] = {f"gawee.{self.kind}": StringAttr(self.name)}
        if self.path is not None:
            entries["gawee.path"] = StringAttr(self.path)
        return DictionaryAttr(entries)


def find_function(module: ModuleOp, name: str = MAIN) -> FuncOp | None:
    """Return the function of a name at the module's top level, None where there is none."""
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    return next((function for function in functions if function.sym_name.data == name), None)


def _attribute_of(attributes: ArrayAttr[DictionaryAttr] | None, index: int) -> DictionaryAttr:
    return DictionaryAttr({}) if attributes is None else attributes.data[index]


def entry_arguments(function: FuncOp) -> list[EntryArgument]:
    """Describe every argument; one that nothing marks is an input named as in the text."""
    arguments: list[EntryArgument] = []
    for index, value in enumerate(function.body.block.args):
        attributes = _attribute_of(function.arg_attrs, index).data
        kind, name = ArgumentKind.INPUT, value.name_hint or f"arg{index}"
        for candidate in ArgumentKind:
            marker = attributes.get(f"gawee.{candidate}")
            if isinstance(marker, StringAttr):
                kind, name = candidate, marker.data
            elif isinstance(marker, IntegerAttr):
                kind, name = candidate, str(marker.value.data)
        path = attributes.get("gawee.path")
        arguments.append(
            EntryArgument(
                index, kind, name, value.type, path.data if isinstance(path, StringAttr) else None
            )
        )
    return arguments


def output_names(function: FuncOp) -> list[str]:
    """Return the name of every result: its `gawee.output`, or `output<i>`."""
    names: list[str] = []
    for index in range(len(function.function_type.outputs)):
        marker = _attribute_of(function.res_attrs, index).data.get("gawee.output")
        names.append(marker.data if isinstance(marker, StringAttr) else f"output{index}")
    return names


def result_attributes(function: FuncOp) -> list[DictionaryAttr]:
    """Return what marks every result: an output's name, or which indices it tells of."""
    return [
        own if MARK in own.data else DictionaryAttr({"gawee.output": StringAttr(name)})
        for name, own in (
            (name, _attribute_of(function.res_attrs, index))
            for index, name in enumerate(output_names(function))
        )
    ]


def output_attributes(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    """Return the result attributes that give results their names."""
    return ArrayAttr(DictionaryAttr({"gawee.output": StringAttr(name)}) for name in names)
