"""The text of a module function by function, such that texts before and after a pass compare."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import StringIO

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.upstream.printing import ModulePrinter, OpForms, TextOptions

OWN = "module attributes"
"""Under which name the attributes of the module itself are."""


@dataclass(eq=False, repr=False)
class LastingNumbers(ModulePrinter):
    """A printer that gives a value without a name the same number every time.

    Otherwise every op that is inserted would be a difference in all lines behind it.
    """

    numbers: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    offsets: dict[Operation, tuple[int, int]] = field(
        default_factory=dict[Operation, tuple[int, int]]
    )
    """Where the text of each op begins and ends."""

    def unnamed(self, value: SSAValue) -> str:
        return self.numbers.setdefault(value, str(len(self.numbers)))

    def print_op(self, op: Operation) -> None:
        assert isinstance(self.stream, StringIO)
        start = self.stream.tell()
        super().print_op(op)
        self.offsets[op] = start, self.stream.tell()


@dataclass(frozen=True)
class FunctionText:
    """A function's text, a digest of the constants that it leaves out, and where its ops are."""

    text: str = ""
    elided: bytes = b""
    offsets: Mapping[Operation, tuple[int, int]] = field(
        default_factory=dict[Operation, tuple[int, int]], compare=False
    )
    unprinted: int | None = None
    """Of a function that was not printed: a number that is another one for every state of it."""


def prints_all(op: Operation) -> bool:
    """Whether to print an op of a module: yes."""
    return True


class FunctionTexts:
    """Prints a module again and again; a value keeps its number while it lives.

    A function is printed anew only where something in it changed: otherwise its `FunctionText` is
    the object that it was. What is to be compared later is noted by `note`, before it changes.
    """

    def __init__(self, text: TextOptions) -> None:
        self._text = text
        self._numbers: dict[str, dict[SSAValue, str]] = {}
        self._type_texts: dict[Attribute, str] = {}
        self._forms = OpForms()
        self._known: dict[str, FunctionText] = {}
        self._states: dict[str, list[object]] = {}
        self._new: dict[str, Operation] = {}
        """Ops that were not there when the state of all was noted last."""
        self._own = FunctionText()
        self._unprinted = 0

    def of(
        self, module: ModuleOp, is_printed: Callable[[Operation], bool] = prints_all
    ) -> dict[str, FunctionText]:
        """Return the text of each op of the module by its symbol, and of the module itself.

        Of an op that is not to be printed it says only whether that is as it was.
        """
        ops = {key(op, position): op for position, op in enumerate(module.ops)}
        own = ", ".join(f"{name} = {value}" for name, value in module.attributes.items())
        self._own = FunctionText(own)
        self._new = {}
        self._states = {name: state for name, state in self._states.items() if name in ops}
        self._known = {
            name: self._kept_or_printed(name, op, is_printed) for name, op in ops.items()
        }
        return self._texts()

    def note(self) -> None:
        """Note the state of what is new; without it, a change of that counts as one in any case."""
        self._states |= {name: state_of(op) for name, op in self._new.items()}
        self._new = {}

    def _texts(self) -> dict[str, FunctionText]:
        return {OWN: self._own, **self._known}

    def print_rest(
        self, module: ModuleOp, is_printed: Callable[[Operation], bool]
    ) -> dict[str, FunctionText]:
        """Return the texts of a module that is as it was, of ops that were not printed then too."""
        texts = self._texts()
        for position, op in enumerate(module.ops):
            name = key(op, position)
            if texts[name].unprinted and is_printed(op):
                texts[name] = self._printed(name, op)
                self._known[name] = texts[name]
        return texts

    def _kept_or_printed(
        self, name: str, op: Operation, is_printed: Callable[[Operation], bool]
    ) -> FunctionText:
        known, wanted = self._known.get(name), is_printed(op)
        stays = self._stays(name, op)
        if stays and known is not None and not (wanted and known.unprinted):
            return known
        if wanted:
            return self._printed(name, op)
        self._unprinted += 1
        return FunctionText(unprinted=self._unprinted)

    def _stays(self, name: str, op: Operation) -> bool:
        """Whether an op is as it was when its state was noted."""
        before = self._states.get(name)
        if before is None or before[0] is not op:
            self._new[name] = op
            return False
        now = self._states[name] = state_of(op)
        return before == now

    def _printed(self, name: str, op: Operation) -> FunctionText:
        stream = StringIO()
        printer = LastingNumbers(
            stream,
            print_generic_format=self._text.generic,
            print_debuginfo=self._text.locations,
            elide_larger_than=self._text.elide_larger_than,
            numbers=self._numbers.setdefault(name, {}),
            type_texts=self._type_texts,
            forms=self._forms,
        )
        printer.print_op(op)
        return FunctionText(stream.getvalue(), printer.elided, printer.offsets)


def symbol_of(op: Operation) -> str | None:
    """Return the symbol of an op of a module, None where it has none."""
    symbol = op.get_attr_or_prop("sym_name")
    return symbol.data if isinstance(symbol, StringAttr) else None


def key(op: Operation, position: int) -> str:
    """Return the name of an op of a module: `@main`, or its place where it has no symbol."""
    symbol = symbol_of(op)
    return f"{op.name} {position}" if symbol is None else f"@{symbol}"


def state_of(op: Operation) -> list[object]:
    """Return all that the text and the places of an op and those in it depend on.

    Two such lists are compared in far less time than a text is printed: ops, blocks and values are
    equal where they are the same object, attributes mostly are that too.
    """
    state: list[object] = []
    pending: list[Operation] = [op]
    while pending:
        each = pending.pop()
        state += (each, each.location, *each.operands)
        if each.next_op is None and each.successors:  # at the end of a block, if any
            state += each.successors
        if each.properties:
            state += each.properties
            state += each.properties.values()
        if each.attributes:
            state.append("attributes")  # which properties are not
            state += each.attributes
            state += each.attributes.values()
        for value in each.results:
            state += (value.type, value.name_hint)
        for region in each.regions:
            for block in region.blocks:
                # With the order of all ops: which of them are in this block.
                state += (block, block.name_hint, block.first_op, block.last_op)
                for value in block.args:
                    state += (value, value.type, value.name_hint)
                inner = block.first_op
                while inner is not None:
                    pending.append(inner)
                    inner = inner.next_op
    return state
