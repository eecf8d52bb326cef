"""What an operation says, names of values and locations aside: equal for what compiles the same."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue


class Fingerprints:
    """Writes operations; what attributes look like is found out once."""

    def __init__(self) -> None:
        self._texts: dict[Attribute, str] = {}

    def of(self, op: Operation, *, name: str = "") -> str:
        """Return the text of an op, which is called `name` where it is a symbol."""
        return "\n".join(_Writer(self, name).lines(op))

    def attributes(self, attributes: Mapping[str, Attribute]) -> str:
        """Return the text of attributes by name, in the order of their names."""
        return ", ".join([f"{name} = {self.text(attributes[name])}" for name in sorted(attributes)])

    def text(self, attribute: Attribute) -> str:
        """Return the text of an attribute."""
        found = self._texts.get(attribute)
        if found is None:
            found = self._texts[attribute] = str(attribute)
        return found


class _Writer:
    """Numbers the values and blocks of one op."""

    def __init__(self, texts: Fingerprints, name: str):
        self.texts, self.name = texts, name
        self.values: dict[SSAValue, int] = {}
        self.blocks: dict[Block, int] = {}

    def lines(self, op: Operation) -> Iterator[str]:
        """Yield a line for the op, and those of what is inside of it."""
        properties = dict(op.properties)
        if self.name:
            properties.pop("sym_name", None)
        targets = ", ".join(map(self._label, op.successors)) if op.successors else ""
        stated = self.texts.attributes(properties) if properties else ""
        others = self.texts.attributes(op.attributes) if op.attributes else ""
        yield (
            f"{self._defined(op.results)} = {op.name} {self.name} ({self._used(op.operands)}) "
            f"[{targets}] <{stated}> {{{others}}}"
        )
        self.name = ""
        for region in op.regions:
            yield "("
            for block in region.blocks:
                yield f"{self._label(block)} {self._defined(block.args)}"
                for inner in block.ops:
                    yield from self.lines(inner)
            yield ")"

    def _label(self, block: Block) -> str:
        return f"^{self.blocks.setdefault(block, len(self.blocks))}"

    def _number(self, value: SSAValue) -> str:
        # In the order of their first use: what a block uses may be defined in a later one.
        return f"%{self.values.setdefault(value, len(self.values))}"

    def _used(self, values: Iterable[SSAValue]) -> str:
        return ", ".join(map(self._number, values))

    def _defined(self, values: Iterable[SSAValue]) -> str:
        return ", ".join([f"{self._number(each)}: {self.texts.text(each.type)}" for each in values])


# Where two graphs differ, names of values and locations aside.

Numbers = dict[SSAValue, int]
"""Values of both graphs, counted in the order in which they are defined."""


def first_difference(first: ModuleOp, second: ModuleOp) -> Operation | None:
    """Return the first op of a module that another one says otherwise; None where all are alike."""
    numbers: Numbers = {}
    count = 0
    for op, other in zip_longest(first.walk(), second.walk()):
        if op is None or other is None:
            return op or other
        if _said(op, numbers) != _said(other, numbers):
            return op
        defined, others = _defined(op), _defined(other)
        for same in zip(defined, others, strict=True):
            numbers.update(dict.fromkeys(same, count))
            count += 1
    return None


def _defined(op: Operation) -> list[SSAValue]:
    blocks = (block for region in op.regions for block in region.blocks)
    return [*op.results, *(value for block in blocks for value in block.args)]


def _said(op: Operation, numbers: Mapping[SSAValue, int]) -> object:
    return (
        op.name,
        [numbers.get(value) for value in op.operands],
        [value.type for value in _defined(op)],
        [len(region.blocks) for region in op.regions],
        op.properties,
        op.attributes,
    )
