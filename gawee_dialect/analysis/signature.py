"""What a function takes and what comes of it, at whatever level of the IR it is.

On tensors a function returns its outputs; on buffers, and in the llvm dialect, it writes them to
arguments. The marks on arguments say which is which (`dialect/entry.py`). Functions on buffers that
were written by hand have none: there a buffer that is written is `updated`, any other an input.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from gawee_dialect.diagnostics import Diagnostic, GaweeError
from gawee_dialect.dialect.entry import (
    MAIN,
    PREPARE,
    WEIGHTS,
    ArgumentKind,
    EntryArgument,
    entry_arguments,
    find_entry,
    is_public,
    output_names,
    workspace_size_name,
)
from gawee_dialect.dialect.index_check import IndexCheck
from gawee_dialect.upstream.walk import all_ops

# The functions of a module that own buffers: those that a caller outside of it runs.


def entries(module: ModuleOp) -> list[FuncOp]:
    """Return the functions that only a caller outside of the module runs: they own buffers.

    What says how large the workspace of another one is has none.
    """
    calls = [op for op in all_ops(module) if type(op) is CallOp]
    others = {call.callee.string_value() for call in calls}
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    others |= {workspace_size_name(each.sym_name.data) for each in functions}
    return [each for each in functions if is_public(each) and each.sym_name.data not in others]


@dataclass(frozen=True)
class Signature:
    """The arguments of a function by what they are for, and the names of what it returns."""

    function: Operation
    arguments: Sequence[EntryArgument]
    returned: Sequence[str]
    checks: Mapping[int, IndexCheck]
    """The results that are no outputs, but report indices."""

    @staticmethod
    def of(function: Operation) -> "Signature":
        """Read the marks on a function's arguments; see what it does with the others."""
        arguments = entry_arguments(function)
        if isinstance(function, FuncOp):
            arguments = _told_apart(function, arguments)
        if not isinstance(function, FuncOp):
            return Signature(function, tuple(arguments), (), {})
        marks = enumerate(function.res_attrs or ())
        checks = ((index, IndexCheck.of(attributes)) for index, attributes in marks)
        told = {index: check for index, check in checks if check is not None}
        return Signature(function, tuple(arguments), tuple(output_names(function)), told)

    def of_kind(self, *kinds: ArgumentKind) -> Sequence[EntryArgument]:
        """Return the arguments of some kinds, in order."""
        return tuple(each for each in self.arguments if each.kind in kinds)

    @property
    def inputs(self) -> Sequence[EntryArgument]:
        """What a caller passes; may pass, where it is updated."""
        return self.of_kind(ArgumentKind.INPUT, ArgumentKind.UPDATED)

    @property
    def outputs(self) -> Sequence[str]:
        """The names of all that comes of a call: what is left in buffers, and what is returned."""
        written = self.of_kind(ArgumentKind.OUTPUT, ArgumentKind.UPDATED)
        returned = (each for index, each in enumerate(self.returned) if index not in self.checks)
        return (*(each.name for each in written), *returned)


def _told_apart(function: FuncOp, arguments: Sequence[EntryArgument]) -> Sequence[EntryArgument]:
    """Return the arguments, unmarked buffers as `updated` where the function writes them."""
    module = function.parent_op()
    unmarked = {
        each.index: function.body.blocks[0].args[each.index]
        for each in arguments
        if not each.is_marked and isinstance(each.type, MemRefType)
    }
    if not unmarked or not isinstance(module, ModuleOp):
        return arguments
    from xdsl.dialects.memref import ViewOp

    from gawee_dialect.analysis.effects import WrittenBuffers

    written = set(WrittenBuffers(module).of(function))
    # A view of bytes counts as a buffer of its own there: the planned ones are.
    written |= {each.owner.source for each in written if isinstance(each.owner, ViewOp)}
    updated = {index for index, value in unmarked.items() if value in written}
    return [
        replace(each, kind=ArgumentKind.UPDATED) if each.index in updated else each
        for each in arguments
    ]


@dataclass(frozen=True)
class Entry:
    """How a module is run: its entry function, and `@prepare` where that takes prepared values."""

    main: Signature
    prepare: Signature | None = None

    @staticmethod
    def of(module: ModuleOp, name: str = MAIN) -> "Entry":
        """Describe the functions that a run calls; raises GaweeError where one is missing."""
        main = Signature.of(_function(module, name))
        if name == PREPARE or not main.of_kind(ArgumentKind.PREPARED):
            return Entry(main)
        return Entry(main, Signature.of(_function(module, PREPARE)))

    @property
    def called(self) -> Sequence[Signature]:
        """The functions that are called, in this order."""
        return (self.main,) if self.prepare is None else (self.prepare, self.main)

    @property
    def weights(self) -> Sequence[EntryArgument]:
        """The parameters and constants that the functions take, each name once."""
        found = {each.name: each for called in self.called for each in called.of_kind(*WEIGHTS)}
        return tuple(found.values())

    @property
    def arguments(self) -> Sequence[EntryArgument]:
        """What runs the module must be given: inputs, parameters and constants, each name once."""
        return (*self.main.of_kind(ArgumentKind.INPUT), *self.weights)


def _function(module: ModuleOp, name: str) -> Operation:
    function = find_entry(module, name)
    if function is None:
        functions = ", ".join(_names(module)) or "no function"
        raise GaweeError(f"expected a function '@{name}', got {functions}")
    if not function.regions[0].blocks:
        raise GaweeError(Diagnostic.at(function, f"expected '@{name}' to have a body"))
    return function


def _names(module: ModuleOp) -> Iterable[str]:
    for op in module.ops:
        name = op.properties.get("sym_name")
        if op.name in ("func.func", "llvm.func") and isinstance(name, StringAttr):
            yield f"'@{name.data}'"
