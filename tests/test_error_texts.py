"""Every error that a user can read has a test: some file of tests/ holds how its text begins.

A message of the sources is compared by its first four words; what an f-string fills in matches
any text.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "gawee_dialect").rglob("*.py"))
TEST_SUFFIXES = {".py", ".mlir", ".json"}

# Which argument of a call is an error text, by the name of what is called.
MESSAGE_ARGUMENT = {
    "require": 1,
    "GaweeError": 0,
    "Diagnostic": 0,
    "Diagnostic.at": 1,
    "VerifyException": 0,
    "WeightLoadError": 0,
    "DataProblem": 0,
    "Unsayable": 0,
    "refusal": 1,
}
FILLED_IN = "\0"


def template(node: ast.expr) -> str | None:
    """Return a message with FILLED_IN for what is filled in; None where it is not a literal."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else FILLED_IN for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (template(node.left) or FILLED_IN) + (template(node.right) or FILLED_IN)
    return None


def called_name(call: ast.Call) -> str:
    match call.func:
        case (
            ast.Name(id=name) | ast.Attribute(value=ast.Name(id="diagnostics" | "types"), attr=name)
        ):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
        case _:
            return ""


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the template of every error text in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or called_name(node) not in MESSAGE_ARGUMENT:
            continue
        position = MESSAGE_ARGUMENT[called_name(node)]
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        argument = node.args[position] if len(node.args) > position else keywords.get("message")
        text = None if argument is None else template(argument)
        # A text that is filled in from its first word on is another message, handed on.
        if text is not None and text.strip(FILLED_IN + " :'"):
            yield node.lineno, text


def words_of(text: str) -> str:
    """Return the first four words of a text, without what is filled in at their ends."""
    return " ".join(text.split()[:4]).strip(":;,.' " + FILLED_IN)


def is_tested(text: str) -> bool:
    """Whether a test holds the beginning of a message, or of its longest fixed part.

    The second is for messages that begin with what is filled in, and for tables of tests.
    """
    longest = max(text.split(FILLED_IN), key=lambda part: len(part.split()))
    parts = [text, longest] if len(longest.split()) >= 3 else [text]
    return any(holds(words_of(part)) for part in parts)


@cache
def holds(words: str) -> bool:
    """Whether some test has words, of which some are filled in."""
    if FILLED_IN not in words:
        return words in texts_of_tests()
    pattern = ".+?".join(map(re.escape, words.split(FILLED_IN)))
    return re.search(pattern, texts_of_tests()) is not None


@cache
def texts_of_tests() -> str:
    paths = (path for path in (ROOT / "tests").rglob("*") if path.suffix in TEST_SUFFIXES)
    text = "\n".join(path.read_text() for path in paths if path != Path(__file__))
    # pytest's `match=` escapes brackets, and long messages are continued on the next line.
    text = re.sub(r'"\s*\n\s*f?r?"', "", text.replace("\\", ""))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(dict.fromkeys(lines))


def test_every_error_text_is_tested() -> None:
    untested = [
        f"{path.relative_to(ROOT)}:{line}: {text.replace(FILLED_IN, '{}')}"
        for path in FILES
        for line, text in messages(path)
        if not is_tested(text)
    ]

    if untested:
        pytest.fail("\n  ".join(["no test has the text of:", *untested]), pytrace=False)
