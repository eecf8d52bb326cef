"""MLIR text as modules whose ops have places, and whose mistakes have places and hints.

xDSL's parser leaves ops without a place, takes exponential time for a string without an end, and
ends in other exceptions than its own for numbers that it cannot hold (docs/xdsl.md).
"""

import re
from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ComplexType,
    DenseResourceAttr,
    IndexType,
    IntegerType,
    LocationAttr,
    ModuleOp,
    ShapedType,
    TensorType,
    UnknownLoc,
    f64,
)
from xdsl.ir import Attribute, AttributeInvT, Block, Operation, SSAValue, TypeAttribute
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRTokenKind,
    StringLiteral,
)

from gawee_dialect.diagnostics import Diagnostic, GaweeError, first_line, nearest
from gawee_dialect.hints import isa
from gawee_dialect.locations import file_location, line_starts
from gawee_dialect.upstream.printing import resource_elements, split_resources

SHOWN = 20
"""Characters of what stands in the place of an op that its message shows."""

MAX_WIDTH = (1 << 24) - 1
"""Bits of an integer, as in MLIR."""

MAX_DIGITS = 4300
"""Of a number, as Python reads them."""
NUMBERS = (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.HASH_IDENT)

_TOKEN = re.compile(
    r"(?:\s++|//[^\n]*+)*+"
    r"(?:([A-Za-z_][A-Za-z0-9_$.]*)"
    r"|(->|\{(?!-#)|[-:,()\[\]<>=}+*?|/])"
    r"|([%#!^](?!-\})(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))"
    r"|([0-9]+)(?![0-9.x]))",
    re.ASCII,
)
"""What most tokens are: a bare identifier, punctuation, a prefixed identifier, or an integer."""

_KINDS = {
    **KIND_BY_PUNCTUATION_SPELLING,
    "%": MLIRTokenKind.PERCENT_IDENT,
    "#": MLIRTokenKind.HASH_IDENT,
    "!": MLIRTokenKind.EXCLAMATION_IDENT,
    "^": MLIRTokenKind.CARET_IDENT,
}

_BARE, _PUNCTUATION, _PREFIXED = 1, 2, 3
"""Groups of a token."""

_VALUE = re.compile(r"%([\w$.-]+)")
_LOCATION_ALIAS = re.compile(r"^(#[\w$.-]+)\s*=\s*(loc\(.*\))[ \t]*$", re.MULTILINE)


class LinearLexer(MLIRLexer):
    """xDSL's lexer, but that a string without an end is refused in linear time, and long numbers.

    xDSL's rule has two ways to take each character of a string, and tries all of them. It takes
    characters one by one, and half of the time of reading a text: most tokens are found by one
    regular expression, all others by its rules.
    """

    _unescaped_characters_regex = re.compile(
        r'"[^"\\\n\v\f]*(?:\\(?:["nt\\]|[0-9A-Fa-f]{2})[^"\\\n\v\f]*)*"'
    )

    def lex(self) -> Token[MLIRTokenKind]:
        found = _TOKEN.match(self.input.content, self.pos)
        if found is not None:
            group = found.lastindex
            assert group is not None
            start, self.pos = found.span(group)
            if group == _BARE:
                kind = MLIRTokenKind.BARE_IDENT
            elif group == _PUNCTUATION:
                kind = _KINDS[found[group]]
            elif group == _PREFIXED:
                kind = _KINDS[self.input.content[start]]
            else:
                kind = MLIRTokenKind.INTEGER_LIT
            token = Token(kind, Span(start, self.pos, self.input))
        else:
            token = super().lex()
        if token.kind in NUMBERS and len(token.span) > MAX_DIGITS:
            raise ParseError(token.span, f"expected a number of at most {MAX_DIGITS} digits")
        return token


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
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(LinearLexer(Input(input, name)))
        self._name = name
        self._line_offset = line_offset
        self._line_starts = line_starts(input)
        self._text = input
        self._first_uses: dict[str, Span] = {}
        self._replaced: list[tuple[str, SSAValue]] = []
        self._any_width = False

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

    @contextmanager
    def _builtin(self) -> Generator[None]:
        """Refuse what the constructors of xDSL's own attributes and types do not take."""
        try:
            yield
        except (ValueError, NotImplementedError) as error:
            self.raise_error(first_line(error) if str(error) else "unsupported element type")
        except ZeroDivisionError:
            self.raise_error("expected elements of at least one bit")

    def _parse_optional_builtin_parametrized_attr(self) -> Attribute | None:
        if self.parse_optional_keyword("dense_resource"):
            return self._parse_resource_elements()
        with self._builtin():
            return super()._parse_optional_builtin_parametrized_attr()

    def _parse_optional_complex(
        self,
    ) -> tuple[tuple[float, float] | tuple[int, int] | tuple[bool, bool], Span] | None:
        try:
            return super()._parse_optional_complex()
        except AssertionError:  # of xDSL, for any other token than the bracket
            self.raise_error("expected ')' behind a complex number")

    def _parse_optional_builtin_parametrized_type(self) -> TypeAttribute | None:
        with self._builtin():
            return super()._parse_optional_builtin_parametrized_type()

    def _parse_file_metadata_dictionary(self) -> None:
        with self._builtin():
            super()._parse_file_metadata_dictionary()

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

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        width = self._builtin_integer_type_regex.match(self._current_token.text)
        if width is not None and (len(width[1]) > 8 or int(width[1]) > MAX_WIDTH):
            self.raise_error(f"expected an integer of at most {MAX_WIDTH} bits")
        return super()._parse_optional_integer_or_float_type()

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

    def parse_optional_integer(
        self, allow_boolean: bool = True, allow_negative: bool = True
    ) -> int | None:
        # Ops keep what their formats read as i64; numbers of attributes are as wide as they say.
        start = self.pos
        value = super().parse_optional_integer(allow_boolean, allow_negative)
        if value is not None and not self._any_width and not -(1 << 63) <= value < 1 << 64:
            self.raise_error("expected an integer of at most 64 bits", start)
        return value

    def parse_optional_number(self, *, allow_boolean: bool = False) -> int | float | None:
        self._any_width = True
        try:
            return super().parse_optional_number(allow_boolean=allow_boolean)
        finally:
            self._any_width = False

    def parse_optional_float(self, *, allow_negative: bool = True) -> float | None:
        # A property of type f64 that 17 digits say without a point is printed as its bits too:
        # 0x412E848200000000 is 1000001.0. Our properties that are floats are all f64.
        if self._current_token.span.text.startswith("0x"):
            bits = self.parse_integer(allow_boolean=False, allow_negative=False)
            return f64.unpack(bits.to_bytes(f64.size, "little"), 1)[0]
        return super().parse_optional_float(allow_negative=allow_negative)

    def _line_column(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line + self._line_offset, offset - self._line_starts[line - 1] + 1

    def place(self, offset: int) -> str:
        """Return `file:line:column` of an offset in the text."""
        line, column = self._line_column(offset)
        return f"{self._name}:{line}:{column}"

    def parse_operation(self) -> Operation:
        start = self.pos
        try:
            op = super().parse_operation()
        except ValueError as error:  # a number that the constructor of xDSL's op does not take
            self.raise_error(first_line(error), start)
        if isinstance(op.location, UnknownLoc):
            op.location = file_location(self._name, *self._line_column(start))
        return op

    def _check_block_name(self) -> None:
        name = self._current_token.text
        if name.startswith("^") and not Block.is_valid_name(name[1:]):
            self.raise_error(f"expected a block name that begins with a letter, got '{name}'")

    def parse_optional_successor(self) -> Block | None:
        self._check_block_name()
        return super().parse_optional_successor()

    def _parse_block(self) -> Block:
        start = self._current_token.span
        self._check_block_name()
        try:
            return super()._parse_block()
        except KeyError as error:  # xDSL forgets the place of one that was used before
            self.raise_error(f"expected block '^{error.args[0]}' to be defined once", start)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        try:
            return super()._get_op_by_name(name)
        except ParseError as error:
            where = self.place(self._text.rfind(name, 0, self.pos))
            hint = nearest(name, self._ops_like(name))
            message = f"'{name}' op is not registered"
            raise GaweeError(Diagnostic(message, where, hint=hint)) from error

    def _ops_like(self, name: str) -> Iterator[str]:
        """Yield the ops of the dialects that are loaded, and of the one that the name may mean."""
        dialects = list(self.ctx.registered_dialect_names)
        for near in get_close_matches(name.partition(".")[0], dialects, n=1, cutoff=0.7):
            self.ctx.get_dialect(near)
        yield from (op.name for op in self.ctx.loaded_ops)

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        if operand.operand_name not in self.ssa_values:
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        forward = self.forward_ssa_references.get(name, {}).values()
        self._replaced += [(name, each) for each in forward]
        super()._register_ssa_definition(name, values, span)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            if self._current_token.kind is MLIRTokenKind.EOF and self.forward_ssa_references:
                raise GaweeError(map(self._undefined, self.forward_ssa_references)) from error
            if not error.msg.startswith("Could not parse entire input"):
                raise
            word = self._current_token.text[:SHOWN]
            message = f"expected an op, got '{word}'"
            raise GaweeError(Diagnostic(message, self.place(self.pos))) from error
        self._verify_replaced()
        return module

    def _verify_replaced(self) -> None:
        # An op that takes a value before its regions are read is no use of it yet: xDSL leaves the
        # op without its operand where a region defines a value of that name.
        for name, value in self._replaced:
            if value.first_use is not None:
                self.raise_error(
                    f"expected operand '%{name}' to be defined before it is used",
                    self._first_uses[name],
                )

    def _undefined(self, name: str) -> Diagnostic:
        known = set(_VALUE.findall(self._text)) - set(self.forward_ssa_references)
        where = self.place(self._first_uses[name].start)
        hint = nearest(f"%{name}", (f"%{each}" for each in known))
        return Diagnostic(f"use of undefined value '%{name}'", where, hint=hint)
