"""Where an op comes from: a file position, and the name of the graph node it was made from.

A location is `"file":line:column`, or `"node name"("file":line:column)` for ops made from a graph.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseResourceAttr,
    FileLineColLoc,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerType,
    LocationAttr,
    NameLoc,
    ShapedType,
    StringAttr,
    TensorType,
    UnknownLoc,
    f64,
)
from xdsl.ir import Attribute, Operation
from xdsl.parser import AttrParser, Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind, StringLiteral

from gawee_dialect.hints import isa
from gawee_dialect.resources import resource_elements, split_resources


def file_location(file: str, line: int, column: int, node: str | None = None) -> LocationAttr:
    """Make the location of a place in a text, both numbers from 1, with the node's name if any."""
    location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))
    return location if node is None else NameLoc(StringAttr(node), location)


def _children(location: Attribute) -> Iterable[Attribute]:
    match location:
        case NameLoc():
            return (location.location,)
        case FusedLoc():
            assert isa(location.locations, ArrayAttr[Attribute])
            return location.locations
        case _:
            return ()


def place(location: Attribute) -> str | None:
    """Return `file:line:column` of a location, None where it is unknown."""
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}:{location.column.data}"
    places = (place(child) for child in _children(location))
    return next((found for found in places if found is not None), None)


def node_name(location: Attribute) -> str | None:
    """Return the graph node that a location names, None where there is none."""
    if isinstance(location, NameLoc):
        return location.desc.data
    names = (node_name(child) for child in _children(location))
    return next((found for found in names if found is not None), None)


def hand_on_location(source: Operation, op: Operation) -> None:
    """Give an op, and all ops inside it, the source's location wherever they have none."""
    if isinstance(source.location, UnknownLoc):
        return
    for inner in op.walk():
        if isinstance(inner.location, UnknownLoc):
            inner.location = source.location


_LOCATION_ALIAS = re.compile(r"^(#[\w$.-]+)\s*=\s*(loc\(.*\))[ \t]*$", re.MULTILINE)


class LocatedParser(Parser):
    """xDSL's parser, which also gives ops without an explicit `loc(...)` their place in the text.

    `line_offset` is the number of lines before the text in its file (`--split-input-file`).
    """

    # xDSL prints a float that 6 decimals can't say as its bits, such as 0x7F800000. Inside dense<>
    # it reads them as an integer: 2139095040.0 instead of infinity. The only hook is not public.
    class _TensorLiteralElement(
        Parser._TensorLiteralElement  # pyright: ignore[reportPrivateUsage]
    ):
        def to_type(
            self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType
        ) -> int | float | tuple[int, int] | tuple[float, float]:
            if isinstance(type, AnyFloat) and self.span.text.startswith("0x"):
                bits = self.to_int(parser).to_bytes(type.size, "little")
                return type.unpack(bits, 1)[0]
            return super().to_type(parser, type)

    def __init__(
        self, ctx: Context, input: str, name: str = "<unknown>", line_offset: int = 0
    ) -> None:
        input, self._blobs = split_resources(input)
        self._locations = dict(_LOCATION_ALIAS.findall(input))
        super().__init__(ctx, input, name)
        self._name = name
        self._line_offset = line_offset
        self._line_starts = [0, *(index + 1 for index, char in enumerate(input) if char == "\n")]

    def parse_optional_str_literal(self) -> str | None:
        # xDSL escapes what is not printable ASCII, and takes every escape but a few for bytes:
        # without this, a node called "größe" could be printed and not be read again.
        text = super().parse_optional_str_literal()
        if text is not None or self._current_token.kind is not MLIRTokenKind.BYTES_LIT:
            return text
        try:
            text = StringLiteral.from_span(self._current_token.span).bytes_contents.decode()
        except UnicodeDecodeError:
            return None
        self.parse_bytes_literal()
        return text

    def _parse_optional_builtin_parametrized_attr(self) -> Attribute | None:
        if self.parse_optional_keyword("dense_resource"):
            return self._parse_resource_elements()
        return super()._parse_optional_builtin_parametrized_attr()

    def _parse_resource_elements(self) -> Attribute:
        # xDSL keeps blobs in its builtin dialect: for the whole process, under names that a second
        # text changes.
        start = self.pos
        with self.in_angle_brackets():
            name = self.parse_optional_str_literal() or self.parse_identifier()
        self.parse_punctuation(":")
        type = self.parse_type()
        if not isinstance(type, ShapedType):
            self.raise_error(f"expected a shaped type of resource '{name}', got '{type}'", start)
        if not isa(type, TensorType[AnyDenseElement]):
            return DenseResourceAttr.from_params(name, type)
        try:
            elements = resource_elements(name, type, self._blobs)
        except ValueError as error:
            self.raise_error(str(error), start)
        return elements or DenseResourceAttr.from_params(name, type)

    def _parse_alias_def(self) -> None:
        # Locations are known before the text is read: upstream puts their names at the end.
        if self._current_token.text not in self._locations:
            super()._parse_alias_def()
            return
        self._consume_token()
        self.parse_punctuation("=")
        self.parse_optional_location()

    def _parse_location(self) -> LocationAttr:
        name = self._current_token.text
        if name not in self._locations:
            return super()._parse_location()
        self._consume_token()
        if name not in self.attribute_aliases:
            nested = LocatedParser(self.ctx, self._locations[name], self._name)
            nested._locations = self._locations
            nested.attribute_aliases = self.attribute_aliases
            location = nested.parse_optional_location()
            assert location is not None
            self.attribute_aliases[name] = location
        location = self.attribute_aliases[name]
        assert isinstance(location, LocationAttr)
        return location

    def parse_optional_float(self, *, allow_negative: bool = True) -> float | None:
        # A property of type f64 that 17 digits say without a point is printed as its bits too:
        # 0x412E848200000000 is 1000001.0. Our properties that are floats are all f64.
        if self._current_token.span.text.startswith("0x"):
            bits = self.parse_integer(allow_boolean=False, allow_negative=False)
            return f64.unpack(bits.to_bytes(f64.size, "little"), 1)[0]
        return super().parse_optional_float(allow_negative=allow_negative)

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            line = bisect_right(self._line_starts, start)
            column = start - self._line_starts[line - 1] + 1
            op.location = file_location(self._name, line + self._line_offset, column)
        return op
