"""The entry function that a graph becomes, argument by argument and op by op."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, LocationAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from gawee_dialect.analysis.open_sizes import mark_sizes
from gawee_dialect.dialect.entry import MAIN, ArgumentKind, EntryArgument, output_attributes
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import AnyTensor, tensor_shape
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.identifiers import name_hint

INLINE_ELEMENTS = 4096
"""Constants of up to so many elements are written in the IR; larger ones are arguments."""


class EntryFunction:
    """A function under construction; `emit` appends ops to it."""

    def __init__(self) -> None:
        self.block = Block()
        self.emit = Emitter(self.block)
        self.arguments: list[EntryArgument] = []

    def add_argument(
        self, kind: ArgumentKind, name: str, type: AnyTensor, path: str | None = None
    ) -> SSAValue:
        """Append an argument; return its value."""
        index = len(self.arguments)
        self.arguments.append(EntryArgument(index, kind, name, type, path))
        value = self.block.insert_arg(type, index)
        value.name_hint = name_hint(name)
        return value

    def module(self, outputs: Sequence[SSAValue], names: Sequence[str]) -> ModuleOp:
        """Finish the function; return the module that holds it, not verified yet.

        Ops that nothing reads are left out; an output whose name is taken gets a number.
        """
        function = self.finished(outputs, unique_names(names)[: len(outputs)])
        self._erase_unused()
        if any(is_open(tensor_shape(each)) for each in function.args):
            mark_sizes(function)
        return ModuleOp([function])

    def located_module(
        self, outputs: Sequence[SSAValue], names: Sequence[str], location: LocationAttr
    ) -> ModuleOp:
        """Finish the function as it is; return the module that holds it, at a location."""
        function = self.finished(outputs, names)
        module = ModuleOp([function])
        for op in (self.block.last_op, function, module):
            assert op is not None  # the block ends in a return
            op.location = location
        return module

    def finished(self, outputs: Sequence[SSAValue], names: Sequence[str]) -> FuncOp:
        """Return the function, which returns some values."""
        self.block.add_op(ReturnOp(*outputs))
        inputs = [argument.type for argument in self.arguments]
        return FuncOp(
            MAIN,
            FunctionType.from_lists(inputs, [value.type for value in outputs]),
            Region(self.block),
            arg_attrs=ArrayAttr(argument.attributes() for argument in self.arguments),
            res_attrs=output_attributes(names),
        )

    def _erase_unused(self) -> None:
        # Transposed weights, for example, which linear layers use as they are stored.
        for op in reversed(list(self.block.ops)):
            if op.results and not any(result.uses for result in op.results):
                op.detach()
                op.erase()


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names made different: the second `y` becomes `y_2`, or what is free after it."""
    taken, used, counts = set(names), set[str](), dict[str, int]()
    unique: list[str] = []
    for name in names:
        candidate = name
        if name in used:
            count = counts.get(name, 1) + 1
            while (candidate := f"{name}_{count}") in used or candidate in taken:
                count += 1
            counts[name] = count
        used.add(candidate)
        unique.append(candidate)
    return unique
