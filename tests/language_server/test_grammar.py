"""The TextMate grammar gives each part of a line the scope that themes colour it by.

Every pattern is one `match`, so a tokenizer is a loop: the first pattern that matches soonest wins.
"""

import json
import re
from pathlib import Path

import pytest

GRAMMAR = Path(__file__).parents[2] / "editors" / "vscode" / "mlir.tmLanguage.json"
PATTERNS = json.loads(GRAMMAR.read_text())["patterns"]
COMPILED = [(re.compile(each["match"]), each) for each in PATTERNS]


def scopes(line: str) -> dict[str, str]:
    """Return the scope of each token of a line, without the language at its end."""
    found: dict[str, str] = {}
    place = 0
    while place < len(line):
        matches = [
            (match, each) for regex, each in COMPILED if (match := regex.search(line, place))
        ]
        matches = [(match, each) for match, each in matches if match[0]]
        if not matches:
            break
        match, pattern = min(matches, key=lambda pair: pair[0].start())
        names = {"0": {"name": pattern["name"]}} if "name" in pattern else pattern["captures"]
        for group, scope in names.items():
            found[match[int(group)]] = scope["name"].removesuffix(".mlir")
        place = match.end()
    return found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "  %c0 = gawee.conv %x, %w#1 strides [2, 1] groups 1 : (tensor<1x?x9xf32>) -> f32 // note",
            {
                "%c0": "variable.other.value",
                "gawee.conv": "entity.name.function.op",
                "%w#1": "variable.other.value",
                "strides": "keyword.other",
                "2": "constant.numeric",
                "tensor": "storage.type.shaped",
                "1x?x9x": "constant.numeric.shape",
                "f32": "storage.type",
                "->": "keyword.operator",
                "// note": "comment.line.double-slash",
            },
        ),
        (
            'func.func @main(%x: !llvm.ptr {gawee.input = "a \\" // b", value = dense<0.5> : i8}) {',
            {
                "func.func": "entity.name.function.op",
                "@main": "entity.name.type.symbol",
                "!llvm.ptr": "storage.type.dialect",
                "gawee.input": "entity.other.attribute-name",
                '"a \\" // b"': "string.quoted.double",
                "value": "entity.other.attribute-name",
                "dense": "constant.language",
                "0.5": "constant.numeric",
                "i8": "storage.type",
            },
        ),
        (
            '^bb1(%i: index): "llvm.br"(%i)[^bb1] : #map',
            {
                "^bb1": "entity.name.label.block",
                '"llvm.br"': "entity.name.function.op",
                "index": "storage.type",
                "#map": "constant.other.attribute",
            },
        ),
    ],
)
def test_tokens_have_their_scopes(line: str, expected: dict[str, str]) -> None:
    found = scopes(line)

    assert {token: found.get(token) for token in expected} == expected


def test_scopes_are_of_the_language() -> None:
    assert all(f"{each['name']}".endswith(".mlir") for each in PATTERNS if "name" in each)


def test_the_extension_names_files_that_are_there() -> None:
    package = json.loads((GRAMMAR.parent / "package.json").read_text())
    (language,), (grammar,) = (
        package["contributes"]["languages"],
        package["contributes"]["grammars"],
    )

    for path in (package["main"], language["configuration"], grammar["path"]):
        assert (GRAMMAR.parent / path).is_file()
    assert grammar["language"] == language["id"]


def test_the_page_installs_the_extension_of_this_version() -> None:
    package = json.loads((GRAMMAR.parent / "package.json").read_text())
    page = (GRAMMAR.parents[2] / "docs" / "editor.md").read_text()

    assert f"{package['name']}-{package['version']}.vsix" in page
