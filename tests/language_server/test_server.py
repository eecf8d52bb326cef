"""gawee-lsp as editors have it: the server is a process, and the tests speak the protocol with it."""

import asyncio
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

LONGEST = 60
"""Seconds that an answer may take on a busy machine; none is measured here."""

MODULE = """\
func.func @scale(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gawee.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}) -> (tensor<2x3xf32> {gawee.output = "y"}) {
  %y = func.call @scale(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.add %y, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}
"""

LOOPS = """\
func.func @twice(%m: memref<5xf32>, %low: index, %high: index, %step: index) {
  scf.for %i = %low to %high step %step {
    %v = memref.load %m[%i] : memref<5xf32>
    memref.store %v, %m[%i] : memref<5xf32>
  }
  scf.for %i = %low to %high step %step {
    %v = memref.load %m[%i] : memref<5xf32>
    memref.store %v, %m[%i] : memref<5xf32>
  }
  func.return
}
"""

DROP_RELU = '''\
from dataclasses import dataclass
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from gawee_dialect.dialect.graph.elementwise import ReluOp
from gawee_dialect.passes.rewrite_pass import Pattern, RewritePass


class Drop(Pattern):
    """gawee.relu x -> x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        rewriter.replace_op(op, [], [op.input])


@dataclass(frozen=True)
class DropRelu(RewritePass):
    """Drop every relu."""

    name = "drop-relu"
    patterns = (Drop,)
'''


class Editor:
    """What an editor does with the server, one request after another."""

    def __init__(self, *flags: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("test", "1")
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self._news = asyncio.Event()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda params: self._published(params)
        )
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self._message(params))
        server = (sys.executable, "-m", "gawee_dialect.tools.gawee_lsp", *flags)
        self.wait(self.client.start_io(*server))
        parameters = types.InitializeParams(types.ClientCapabilities())
        self.capabilities = self.wait(self.client.initialize_async(parameters)).capabilities
        self.client.initialized(types.InitializedParams())

    def _published(self, params: types.PublishDiagnosticsParams) -> None:
        self.published.setdefault(params.uri, []).append(params)
        self._news.set()

    def _message(self, params: types.ShowMessageParams) -> None:
        self.messages.append(params.message)
        self._news.set()

    def wait(self, coroutine):
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, LONGEST))

    def until(self, is_true) -> None:
        async def news() -> None:
            while not is_true():
                self._news.clear()
                await self._news.wait()

        self.wait(news())

    def close(self) -> None:
        self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        self.wait(self.client.stop())
        self.loop.close()


class Text:
    """A file that is open in the editor; places are told by what stands there."""

    def __init__(self, editor: Editor, path: Path, text: str) -> None:
        self.editor, self.client, self.text = editor, editor.client, text
        self.uri, self._version = path.as_uri(), 1
        path.write_text(text)
        item = types.TextDocumentItem(self.uri, "mlir", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        self.id = types.TextDocumentIdentifier(self.uri)

    def replace(self, old: str, new: str) -> None:
        """Type in the place of something that stands there once."""
        start = self.text.index(old)
        change = types.TextDocumentContentChangePartial(self.range(start, start + len(old)), new)
        self.text = self.text.replace(old, new, 1)
        self._version += 1
        versioned = types.VersionedTextDocumentIdentifier(self._version, self.uri)
        parameters = types.DidChangeTextDocumentParams(versioned, [change])
        self.client.text_document_did_change(parameters)

    def problems(self) -> list[str]:
        """Return what is wrong with the version that was opened or typed last, as `2:8 message`."""
        known = len(self.editor.published.get(self.uri, ()))
        self.editor.until(lambda: len(self.editor.published.get(self.uri, ())) > known)
        found = self.editor.published[self.uri][-1].diagnostics
        return [
            f"{each.range.start.line + 1}:{each.range.start.character + 1} {each.message}"
            for each in found
        ]

    def position(self, offset: int) -> types.Position:
        before = self.text[:offset]
        line = before[before.rfind("\n") + 1 :]
        return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)

    def range(self, start: int, end: int) -> types.Range:
        return types.Range(self.position(start), self.position(end))

    def at(self, marked: str) -> types.Position:
        """Return the place of `|` in a part of the text."""
        return self.position(self.text.index(marked.replace("|", "")) + marked.index("|"))

    def part(self, place: types.Range) -> str:
        """Return what stands from `line:column` on, and where: `1:17 %a`."""
        line = self.text.splitlines()[place.start.line].encode("utf-16-le")
        part = line[2 * place.start.character : 2 * place.end.character].decode("utf-16-le")
        return f"{place.start.line + 1}:{place.start.character + 1} {part}"

    def hover(self, marked: str) -> str:
        found = self.editor.wait(
            self.client.text_document_hover_async(types.HoverParams(self.id, self.at(marked)))
        )
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def definition(self, marked: str) -> str:
        parameters = types.DefinitionParams(self.id, self.at(marked))
        found = self.editor.wait(self.client.text_document_definition_async(parameters))
        if found is None:
            return ""
        assert isinstance(found, types.Location)
        return self.part(found.range)

    def references(self, marked: str, *, declaration: bool = True) -> list[str]:
        context = types.ReferenceContext(include_declaration=declaration)
        parameters = types.ReferenceParams(context, self.id, self.at(marked))
        found = self.editor.wait(self.client.text_document_references_async(parameters))
        return [self.part(each.range) for each in found or ()]

    def complete(self, marked: str) -> dict[str, types.CompletionItem]:
        parameters = types.CompletionParams(self.id, self.at(marked))
        found = self.editor.wait(self.client.text_document_completion_async(parameters))
        assert isinstance(found, types.CompletionList)
        return {each.label: each for each in found.items}

    def rename(self, marked: str, name: str) -> str:
        """Return the text after a rename."""
        parameters = types.RenameParams(
            position=self.at(marked), new_name=name, text_document=self.id
        )
        edit = self.editor.wait(self.client.text_document_rename_async(parameters))
        lines = self.text.splitlines(keepends=True)
        assert edit is not None
        assert edit.changes is not None
        for each in reversed(edit.changes[self.uri]):
            start, end = each.range.start, each.range.end
            line = lines[start.line]
            lines[start.line] = line[: start.character] + each.new_text + line[end.character :]
        return "".join(lines)


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    editor = Editor()
    yield editor
    editor.close()


numbers = count()


@pytest.fixture
def open_text(editor: Editor, tmp_path: Path):
    return lambda text: Text(editor, tmp_path / f"module{next(numbers)}.mlir", text)


def test_a_correct_module_has_no_problems(open_text) -> None:
    assert open_text(MODULE).problems() == []


def test_an_error_of_the_parser_is_at_its_token_as_one_types(open_text) -> None:
    text = open_text(MODULE)
    text.problems()

    text.replace("gawee.add %y, %x :", "gawee.add %y, %w :")

    assert text.problems() == ["7:22 use of undefined value '%w'"]


def test_a_mended_error_is_gone(open_text) -> None:
    text = open_text(MODULE.replace("gawee.relu", "gawee.rely"))
    before = text.problems()

    text.replace("gawee.rely", "gawee.relu")

    assert before == ["2:8 'gawee.rely' op is not registered\nhint: did you mean 'gawee.relu'?"]
    assert text.problems() == []


def test_an_error_of_the_verifier_is_at_its_op(open_text) -> None:
    wrong = MODULE.replace(
        "(tensor<2x3xf32>) -> tensor<2x3xf32>\n  func",
        "(tensor<2x3xf32>) -> tensor<3x2xf32>\n  func",
        1,
    )
    wrong = wrong.replace("func.return %0 : tensor<2x3xf32>", "func.return %0 : tensor<3x2xf32>")
    wrong = wrong.replace("-> tensor<2x3xf32> {", "-> tensor<3x2xf32> {", 1)

    problems = open_text(wrong).problems()

    assert problems[0].startswith("2:3 'gawee.relu' op expected result type")


def test_each_chunk_of_a_split_file_has_its_own_errors(open_text) -> None:
    wrong = MODULE.replace("gawee.relu", "gawee.rely")

    problems = open_text(f"{MODULE}// -----\n{wrong}// -----\n{wrong}").problems()

    assert [each.split()[0] for each in problems] == ["12:8", "22:8"]


def test_columns_are_in_units_of_utf_16(open_text) -> None:
    text = open_text(MODULE.replace('gawee.input = "x"', 'gawee.input = "größe 🦆"'))
    text.problems()

    text.replace('"größe 🦆"}) -> (tensor<2x3xf32>', '"größe 🦆"}) -> (tensor<2x3yf32>')

    (problem,) = text.problems()
    column = len(text.text.splitlines()[4].split("2x3y")[0].encode("utf-16-le")) // 2 + 1
    assert column <= int(problem.split()[0].split(":")[1]) <= column + 4


def test_hover_on_an_op_shows_its_page(open_text) -> None:
    page = open_text(MODULE).hover("gawee.re|lu")

    assert page.startswith("### `gawee.relu`")
    assert "operand `input`" in page


def test_hover_on_a_value_shows_its_type(open_text) -> None:
    text = open_text(MODULE)
    text.problems()

    assert text.hover("add %y|,") == "```mlir\n%y : tensor<2x3xf32>\n```"


def test_hover_on_a_symbol_shows_the_line_that_defines_it(open_text) -> None:
    text = open_text(MODULE)
    text.problems()

    assert "func.func @scale(%a: tensor<2x3xf32>)" in text.hover("call @sc|ale")


def test_a_value_and_a_symbol_lead_to_their_definitions(open_text) -> None:
    text = open_text(MODULE)
    text.problems()

    assert text.definition("%y, %|x") == "5:17 %x"
    assert text.definition("call @|scale") == "1:11 @scale"
    assert text.definition("ten|sor<2x3xf32> {gawee.input") == ""


def test_values_of_one_name_in_two_regions_are_two(open_text) -> None:
    text = open_text(LOOPS)
    text.problems()

    second = text.references("step %step {\n    %v = memref.load %m[%|i] : memref<5xf32>\n")

    assert second == ["2:11 %i", "3:25 %i", "4:25 %i"]


def test_references_may_leave_out_the_definition(open_text) -> None:
    text = open_text(MODULE)
    text.problems()

    assert text.references("func.call @|scale", declaration=False) == ["6:18 @scale"]
    assert text.references("@main(%|x") == ["5:17 %x", "6:25 %x", "7:22 %x"]


def test_rename_changes_one_value_in_all_its_places(open_text) -> None:
    text = open_text(LOOPS)
    text.problems()

    renamed = text.rename("to %high step %step {\n    %v = memref.load %m[%|i]", "column")

    assert renamed.count("%column") == 3
    assert renamed.count("%i") == 3


def test_rename_of_a_symbol_reaches_its_calls(open_text) -> None:
    text = open_text(MODULE)
    text.problems()

    renamed = text.rename("@sc|ale", "@clamp")

    assert renamed == MODULE.replace("@scale", "@clamp")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x", "there is a '%x' already, in line 5"),
        ("two words", "expected a name, got 'two words'"),
        ("7up", "expected a name, got '7up'"),
    ],
)
def test_rename_refuses_names_that_are_none_or_taken(open_text, name: str, message: str) -> None:
    text = open_text(MODULE)
    text.problems()

    with pytest.raises(JsonRpcException, match=message):
        text.rename("%|z =", name)


def test_rename_right_after_a_key_beside_names(open_text) -> None:
    text = open_text(MODULE)
    assert text.problems() == []

    text.replace("gawee.relu %a", "gawee.relu    %a")

    assert text.rename("%|a:", "b").count("%b") == 2


def test_rename_refuses_a_text_that_cannot_be_parsed(open_text) -> None:
    text = open_text(MODULE)
    text.problems()
    text.replace("gawee.add", "gawee.ad")
    text.problems()

    with pytest.raises(JsonRpcException, match="cannot rename in a text that cannot be parsed"):
        text.rename("%|y,", "w")


def test_a_name_of_another_function_is_free(open_text) -> None:
    text = open_text(MODULE)
    text.problems()

    assert "func.return %a" in text.rename("%|z =", "a")


def test_what_was_known_holds_while_the_text_is_broken(open_text) -> None:
    text = open_text(MODULE)
    text.problems()
    text.replace("  %0 = gawee.relu", "  %broken = gawee.\n  %0 = gawee.relu")
    text.problems()

    assert text.definition("add %y|,") == "7:3 %y"
    assert text.hover("%0| :") == "```mlir\n%0 : tensor<2x3xf32>\n```"


def test_ops_are_completed_by_their_dialect(open_text) -> None:
    text = open_text(MODULE)
    text.problems()
    text.replace("  %z = gawee.add", "  %w = gawee.m\n  %z = gawee.add")

    found = text.complete("= gawee.m|")

    assert found["gawee.matmul"].text_edit.range.start == text.at("%w = |gawee.m\n")
    assert found["gawee.matmul"].detail
    assert not any(name.startswith("linalg") for name in found)


def test_dialects_are_completed_at_the_beginning_of_an_op(open_text) -> None:
    text = open_text(MODULE)
    text.problems()
    text.replace("  %z = gawee.add", "  lin\n  %z = gawee.add")

    assert {"linalg", "scf", "gawee.relu"} <= text.complete("  lin|\n").keys()


def test_values_are_completed_where_they_are_visible(open_text) -> None:
    text = open_text(LOOPS)
    text.problems()
    text.replace("  func.return", "  memref.store %\n  func.return")

    found = text.complete("memref.store %|\n")

    assert list(found) == ["%step", "%high", "%low", "%m"]
    assert found["%m"].detail == "memref<5xf32>"


def test_symbols_are_completed_after_their_sign(open_text) -> None:
    text = open_text(MODULE)
    text.problems()
    text.replace("call @scale", "call @")

    assert list(text.complete("call @|(")) == ["@scale", "@main"]


def test_attributes_and_keywords_of_an_op_are_completed(open_text) -> None:
    text = open_text(MODULE)
    text.problems()
    text.replace(
        "  %z = gawee.add",
        '  %p = "gawee.conv"(%x) <{\n  %c = gawee.conv %x, %x st\n  %z = gawee.add',
    )

    assert {"strides", "padding"} <= text.complete("<{|\n").keys()
    assert text.complete("<{|\n")["strides"].text_edit.new_text == "strides = "
    assert {"strides", "padding", "groups"} <= text.complete("%x st|\n").keys()


def test_regions_can_be_folded(open_text, editor: Editor) -> None:
    text = open_text(LOOPS)
    text.problems()

    found = editor.wait(
        editor.client.text_document_folding_range_async(types.FoldingRangeParams(text.id))
    )

    assert found is not None
    assert sorted((each.start_line, each.end_line) for each in found) == [(0, 9), (1, 3), (5, 7)]


def check(text: Text, editor: Editor, title: str) -> None:
    """Take the code action of a title."""
    context = types.CodeActionContext(diagnostics=[])
    parameters = types.CodeActionParams(text.id, text.range(0, 0), context)
    actions = editor.wait(editor.client.text_document_code_action_async(parameters))
    (action,) = (each for each in actions or () if each.title == title)
    assert isinstance(action, types.Command)
    arguments = types.ExecuteCommandParams(action.command, action.arguments)
    editor.messages.clear()
    editor.wait(editor.client.workspace_execute_command_async(arguments))
    editor.until(lambda: bool(editor.messages))


CHECK = "check pass 'drop-relu' of drop.py on this module"


def test_a_pass_that_changes_what_is_computed_is_shown_at_the_op(
    open_text, editor: Editor, tmp_path: Path
) -> None:
    (tmp_path / "drop.py").write_text(DROP_RELU)
    text = open_text(
        MODULE.replace("func.call @scale(%x)", "gawee.relu %x").replace(
            "%x) : (tensor", "%x : (tensor"
        )
    )
    text.problems()

    check(text, editor, CHECK)

    (problem,) = editor.published[text.uri][-1].diagnostics
    assert "pass 'drop-relu' moved output 'y'" in problem.message
    assert "drop-relu" in editor.messages[-1]


def test_a_pass_that_raises_is_shown_in_its_file(open_text, editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "drop.py"
    path.write_text(DROP_RELU.replace("[op.input]", "[op.inputs]"))
    text = open_text(MODULE)
    text.problems()

    check(text, editor, CHECK)

    (problem,) = editor.published[path.as_uri()][-1].diagnostics
    assert problem.range.start.line == 11
    assert "AttributeError" in problem.message


def test_a_pass_that_keeps_what_is_computed_says_so(
    open_text, editor: Editor, tmp_path: Path
) -> None:
    (tmp_path / "drop.py").write_text(DROP_RELU.replace("[], [op.input]", "ReluOp(op.input)"))
    text = open_text(MODULE.replace("gawee.relu", "gawee.neg"))
    text.problems()

    check(text, editor, CHECK)

    assert editor.messages == ["gawee: pass 'drop-relu' leaves what the module computes as it was"]


def test_ops_of_loaded_files_are_known(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    (op,) = (root / "tests" / "language_server" / "inputs").glob("*.py")
    editor = Editor("--load", str(op))
    try:
        text = Text(editor, tmp_path / "own.mlir", MODULE.replace("gawee.relu", "mine.copy"))

        assert text.problems() == []
        assert "mine.copy" in text.hover("mine.co|py")
    finally:
        editor.close()
