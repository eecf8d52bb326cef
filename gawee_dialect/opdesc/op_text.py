"""The text form of descriptions: `name { key: value }` and `name : base { ... }`.

    dialect "mine"
    slice { optype: "slice", params: [{arg_name: "axis", ge: 0}] }
    slice_cpu : slice { optype: "slice_cpu", arch: "cpu", params: [{ge: -}] }

A derived operator is merged over its base, field by field in objects and index by index in arrays;
the value `-` takes an inherited one away. Strings in single or back quotes are raw.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

from gawee_dialect.diagnostics import Diagnostic, GaweeError, did_you_mean
from gawee_dialect.located_json import (
    MAX_DEPTH,
    MAX_NAME,
    Deleted,
    Fields,
    Items,
    Node,
    Reader,
    Scalar,
    begins_with,
)
from gawee_dialect.source import Source

MAX_OPERATORS = 1000

MAX_MERGED = 200_000
"""Values that all operators of a text inherit together."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DIALECT = re.compile(r'dialect[ \t]*"([A-Za-z_]\w*)"', re.ASCII)


def is_op_text(text: str) -> bool:
    """Whether a text is of this form: JSON begins with a bracket."""
    return begins_with(text, _NAME)


class OpTextReader(Reader):
    """Easy JSON whose keys need no quotes, with raw strings and with `-`."""

    what = "operator text"

    def key(self) -> str:
        if self.peek() == '"':
            return super().key()
        return self.name()

    def name(self) -> str:
        """Read an identifier."""
        self.skip_space()
        match = _NAME.match(self.text, self.position)
        if match is None:
            raise self.error(f"expected a name, got {self.found()}")
        if len(match[0]) > MAX_NAME:
            message = f"expected a name of at most {MAX_NAME} characters, got {len(match[0])}"
            raise self.error(message)
        self.position = match.end()
        return match[0]

    def scalar(self) -> Scalar:
        character, start = self.peek(), self.position
        if character == "`" or (character == "'" and not self.text.startswith("'''", start)):
            return self._raw_string(character)
        if character == "-" and not self.text[start + 1 : start + 2].isdigit():
            self.position += 1
            return Scalar(Deleted(), start)
        return super().scalar()

    def _raw_string(self, quote: str) -> Scalar:
        start = self.position
        end = self.text.find(quote, start + 1)
        if end < 0:
            raise self.error(f"expected a {quote} that closes this text, got none", start)
        self.position = end + 1
        return Scalar(self.text[start + 1 : end], start, ((0, start + 1),))


@dataclass(frozen=True)
class _Block:
    name: str
    base: str | None
    fields: Fields
    base_offset: int


def decode_op_text(text: str, name: str) -> tuple[Mapping[str, Fields], str | None, Source]:
    """Decode operators by name, each with what it inherits; and the dialect, if the text says it.

    Raises GaweeError, located in the text: for what is none, for a name that occurs twice, and for
    every base that is not there, or that is derived from the operator itself.
    """
    reader = OpTextReader(text, name)
    blocks: dict[str, _Block] = {}
    dialect = _dialect(reader)
    while reader.peek():
        start = reader.position
        block = _read_block(reader)
        if block.name in blocks:
            raise reader.error(f"expected operators to differ, got '{block.name}' twice", start)
        if len(blocks) == MAX_OPERATORS:
            raise reader.error(f"expected at most {MAX_OPERATORS} operators, got more", start)
        blocks[block.name] = block
        while reader.take(",") or reader.take(";"):
            pass
    return _resolved(blocks, reader.source), dialect, reader.source


def _dialect(reader: OpTextReader) -> str | None:
    """Read the name of the dialect that a text may begin with: `dialect "mine"`."""
    reader.skip_space()
    match = _DIALECT.match(reader.text, reader.position)
    if match is None:
        return None
    reader.position = match.end()
    return match[1]


def _read_block(reader: OpTextReader) -> _Block:
    name = reader.name()
    base, base_offset = None, reader.position
    if reader.take(":"):
        reader.skip_space()
        base_offset = reader.position
        base = reader.name()
    reader.skip_space()
    return _Block(name, base, reader.object(MAX_DEPTH), base_offset)


def _resolved(blocks: Mapping[str, _Block], source: Source) -> dict[str, Fields]:
    problems: list[Diagnostic] = []
    done: dict[str, Fields] = {}
    broken: set[str] = set()
    merger = _Merger(source)

    def resolve(start: str) -> None:
        last = blocks[start]
        chain = {start: last}
        while last.base is not None and last.base not in done:
            problem = _base_problem(last.base, last, chain, blocks)
            if problem is not None:
                message, hint = problem
                problems.append(Diagnostic(message, source.place(last.base_offset), hint=hint))
            if problem is not None or last.base in broken:
                broken.update(chain)
                return
            last = blocks[last.base]
            chain[last.name] = last
        for block in reversed(chain.values()):
            inherited = Fields({}, 0) if block.base is None else done[block.base]
            merged = merger.merged(inherited, block.fields)
            assert isinstance(merged, Fields)
            done[block.name] = merged

    for name in blocks:
        if name not in done:
            resolve(name)
    if problems:
        raise GaweeError(problems)
    return {name: done[name] for name in blocks}


def _base_problem(
    base: str, block: _Block, chain: Mapping[str, _Block], blocks: Mapping[str, _Block]
) -> tuple[str, str | None] | None:
    if base not in blocks:
        hint = did_you_mean(base, blocks, "an operator of the same file can be a base")
        return f"unknown base '{base}' of operator '{block.name}'", hint
    if base in chain:
        return f"expected operator '{base}' not to be derived from itself", None
    return None


@dataclass
class _Merger:
    """Lays operators over their bases; counts, since a long chain over a large base is no work."""

    source: Source
    left: int = MAX_MERGED

    def merged(self, base: Node, over: Node) -> Node:
        """Return a value with another laid over it."""
        if isinstance(base, Fields) and isinstance(over, Fields):
            return self._fields(base, over)
        if isinstance(base, Items) and isinstance(over, Items):
            return self._items(base, over)
        return self.without(over)

    def without(self, node: Node) -> Node:
        """Return a value that is laid over nothing: what it takes away was not there."""
        if isinstance(node, Fields):
            return self._fields(Fields({}, 0), node)
        return self._items(Items((), 0), node) if isinstance(node, Items) else node

    def _count(self, size: int, offset: int) -> None:
        self.left -= size
        if self.left < 0:
            message = f"cannot read operator text: expected to inherit at most {MAX_MERGED} values"
            raise GaweeError(Diagnostic(message, self.source.place(offset)))

    def _fields(self, base: Fields, over: Fields) -> Fields:
        self._count(len(base.fields) + len(over.fields), over.offset)
        fields = dict(base.fields)
        for key, value in over.fields.items():
            if _is_deleted(value):
                fields.pop(key, None)
            else:
                fields[key] = (
                    self.merged(fields[key], value) if key in fields else self.without(value)
                )
        return Fields(fields, over.offset, {**base.keys, **over.keys})

    def _items(self, base: Items, over: Items) -> Items:
        self._count(len(base.items) + len(over.items), over.offset)
        items = list(base.items[len(over.items) :])
        pairs = zip_longest(base.items[: len(over.items)], over.items)
        laid = [
            self.without(value) if inherited is None else self.merged(inherited, value)
            for inherited, value in pairs
            if not _is_deleted(value)
        ]
        return Items([*laid, *items], over.offset)


def _is_deleted(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, Deleted)
