"""Tokens of MLIR text, found by one regular expression, are those of xDSL's lexer."""

import random
import string
from pathlib import Path

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from gawee_dialect.upstream.located_parser import LinearLexer
from tests.effort import part_of

TEXTS = sorted((Path(__file__).parent.parent / "filecheck").rglob("*.mlir"))
PIECES = '#!%^-}{>.0x1e+ab_$"/\n :@'


class SlowLexer(MLIRLexer):
    """xDSL's own, but for strings without an end, which it takes exponential time for."""

    _unescaped_characters_regex = LinearLexer._unescaped_characters_regex


def tokens(lexer: MLIRLexer) -> list[object]:
    """Return kinds and places of all tokens, and the mistake that ends them."""
    found: list[object] = []
    kind = None
    while kind is not MLIRTokenKind.EOF:
        try:
            token = lexer.lex()
        except ParseError as error:
            return [*found, (error.span.start, error.msg)]
        kind = token.kind
        found.append((kind, token.span.start, token.span.end))
    return found


def assert_same(text: str) -> None:
    expected, got = (tokens(kind(Input(text, "in"))) for kind in (SlowLexer, LinearLexer))
    assert got == expected, text


def test_texts_and_damaged_texts_have_the_tokens_that_xdsl_finds() -> None:
    chance = random.Random(0)
    for path in part_of(TEXTS):
        text = path.read_text()[:3000]
        assert_same(text)
        for _ in range(5):
            place = chance.randrange(len(text))
            damage = "".join(chance.choices(string.printable + "é²", k=chance.randrange(4)))
            rest = text[place + chance.randrange(3) : place + 60]
            assert_same(text[max(0, place - 40) : place] + damage + rest)


def test_pieces_of_tokens_have_the_tokens_that_xdsl_finds() -> None:
    chance = random.Random(0)
    for _ in range(2000):
        assert_same("".join(chance.choices(PIECES, k=8)))
