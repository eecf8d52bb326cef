"""The server that editors start: requests are answered from the last reading of a text.

A version is read in another thread, once nothing was typed for a moment. Requests do not wait for
that: names that were known have moved along with the edit (`name_index`).
"""

import asyncio
import gc
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path
from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from gawee_dialect.diagnostics import Diagnostic
from gawee_dialect.garbage_collection import no_garbage_collection
from gawee_dialect.inspection.op_page import docstring, op_section
from gawee_dialect.language_server.document import (
    SOURCE,
    STDIN,
    Document,
    Occurrence,
    Reading,
    Stale,
    check_pass,
    find_op,
    passes_beside,
    read,
)
from gawee_dialect.universe import make_context

# What can stand at a place of a text: ops, their attributes and keywords, values and symbols.


MOST = 200
"""Values that are offered at once, the nearest first: a graph has thousands."""

NAME = re.compile(r"[%@][\w$.-]*$")
OP = re.compile(r"""(?:^|=|[{:])\s*"?([a-z_][\w.]*)?$""")
PLAIN = re.compile(r"[A-Za-z_]\w*$|$")
KEYWORD = re.compile(r"`([a-z_]+)`")

TRIGGERS = (".", "%", "@", "{")
"""Characters after which editors send a request by themselves."""


def completions(document: Document, offset: int, ctx: Context) -> types.CompletionList:
    """Return what can stand at an offset."""
    before = document.before(offset)
    name = NAME.search(before)
    op_name = document.op_on_line(offset)
    op = OP.search(before)
    if name is not None:
        found = _names(document, offset, name[0])
        return _list(document, offset, name[0], islice(found, MOST), is_incomplete=True)
    if op_name is not None and not before.rstrip().endswith(op_name):
        word = PLAIN.search(before)
        kind = find_op(ctx, op_name)
        prefix = "" if word is None else word[0]
        return _list(document, offset, prefix, () if kind is None else _parts(kind, before))
    if op is not None:
        return _list(document, offset, op[1] or "", _ops(ctx, op[1] or ""))
    return types.CompletionList(False, [])


def _list(
    document: Document,
    offset: int,
    prefix: str,
    items: Iterable[types.CompletionItem],
    *,
    is_incomplete: bool = False,
) -> types.CompletionList:
    """Have items take the place of what was typed, whatever the editor takes for a word."""
    place = document.range(offset - len(prefix), offset)
    found = list(items)
    for item in found:
        item.text_edit = types.TextEdit(place, item.insert_text or item.label)
        item.insert_text = None
    return types.CompletionList(is_incomplete, found)


def _names(document: Document, offset: int, prefix: str) -> Iterator[types.CompletionItem]:
    """Yield the values or symbols, by the first character, that can be used at an offset."""
    symbols = prefix.startswith("@")
    found: Iterator[Occurrence] = (
        document.index.symbols() if symbols else document.index.visible(offset)
    )
    kind = types.CompletionItemKind.Function if symbols else types.CompletionItemKind.Variable
    for number, each in enumerate(found):
        text = each.name.text
        if text.startswith(prefix):
            detail = ", ".join(map(str, each.name.types))
            yield types.CompletionItem(text, kind=kind, detail=detail, sort_text=f"{number:06}")


def _ops(ctx: Context, prefix: str) -> Iterator[types.CompletionItem]:
    """Yield the ops of the dialect that was typed, or else the dialects and the ops of gawee."""
    dialect, dot, _ = prefix.partition(".")
    if not dot:
        for name in sorted(ctx.registered_dialect_names):
            yield types.CompletionItem(name, kind=types.CompletionItemKind.Module)
        dialect = "gawee"
    found = ctx.get_optional_dialect(dialect)
    for op in () if found is None else found.operations:
        detail = docstring(op).partition("\n")[0]
        yield types.CompletionItem(op.name, kind=types.CompletionItemKind.Class, detail=detail)


def _parts(op: type[Operation], before: str) -> Iterator[types.CompletionItem]:
    """Yield the attributes of an op where a dictionary is open, else the words of its format."""
    if before.count("{") > before.count("}"):
        if issubclass(op, IRDLOperation):
            definition = op.get_irdl_definition()
            for name in (*definition.properties, *definition.attributes):
                yield types.CompletionItem(
                    name, kind=types.CompletionItemKind.Property, insert_text=f"{name} = "
                )
        return
    assembly = getattr(op, "assembly_format", None)
    for word in dict.fromkeys(KEYWORD.findall(assembly) if isinstance(assembly, str) else ()):
        yield types.CompletionItem(word, kind=types.CompletionItemKind.Keyword)


QUIET = 0.1
"""Seconds without a key before a version is read."""

SWITCH = 0.001
"""Seconds after which the thread that reads lets the one that answers go on."""

CHECK = "gawee.checkPass"

VALUE = re.compile(r"%([A-Za-z_$.-][\w$.-]*|\d+)")
SYMBOL = re.compile(r"@[A-Za-z_][\w$.]*")


class GaweeServer(LanguageServer):
    """The documents that are open; `loaded` are the files whose passes and ops are known."""

    documents: dict[str, Document]
    loaded: Sequence[Path]
    context: Context
    _tasks: dict[str, asyncio.Task[None]]

    def begin(self, loaded: Sequence[str], *, allow_unregistered: bool) -> None:
        """Initialize the server before the first text; to be called once."""
        self.documents, self._tasks = {}, {}
        self.loaded = [Path(each).resolve() for each in loaded]
        self.context = make_context()
        self._allow_unregistered = allow_unregistered
        self._reader = ThreadPoolExecutor(max_workers=1)
        sys.setswitchinterval(SWITCH)
        gc.collect()
        gc.freeze()  # or every collection would walk what was imported

    def update(self, uri: str) -> None:
        """Take the newest version of a text, and have it read."""
        text = self.workspace.get_text_document(uri).source
        known = self.documents.get(uri)
        if known is None:
            self.documents[uri] = Document(uri, text, self.workspace.position_codec)
        else:
            known.edit(text)
            self._tasks[uri].cancel()
        self._tasks[uri] = asyncio.ensure_future(self._read(self.documents[uri]))

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._tasks.pop(uri).cancel()
        del self.documents[uri]
        self.publish(uri, [])

    async def read(self, uri: str) -> Document:
        """Return a document when what is known of it is of its newest version."""
        await asyncio.wait([self._tasks[uri]])
        return self.documents[uri]

    async def _read(self, document: Document) -> None:
        await asyncio.sleep(QUIET)
        text, name = document.text, self.workspace.get_text_document(document.uri).path

        def contexts() -> Context:
            return make_context(allow_unregistered=self._allow_unregistered)

        def reading() -> Reading:
            with no_garbage_collection():
                found = read(contexts, text, name, lambda: document.text is not text)
            gc.collect()  # the IR; one short pause instead of many while it is built
            return found

        # What `--load` added is known in the context of the server alone.
        run = partial(copy_context().run, reading)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._reader, run)
        except Stale:
            return
        if document.text is text:
            document.take(found)
            self.publish(document.uri, document.problems())

    def publish(self, uri: str, problems: Sequence[types.Diagnostic]) -> None:
        """Show the problems of a text, in the place of those it had."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, problems))


def opened(server: GaweeServer, params: types.DidOpenTextDocumentParams) -> None:
    """Begin with a text."""
    server.update(params.text_document.uri)


def changed(server: GaweeServer, params: types.DidChangeTextDocumentParams) -> None:
    """Go on with its next version."""
    server.update(params.text_document.uri)


def closed(server: GaweeServer, params: types.DidCloseTextDocumentParams) -> None:
    """End with it."""
    server.close(params.text_document.uri)


def _at(server: GaweeServer, uri: str, position: types.Position) -> tuple[Document, int]:
    document = server.documents[uri]
    return document, document.offset(position)


def hover(server: GaweeServer, params: types.HoverParams) -> types.Hover | None:
    """Show the page of an op, the types of a value, or the line that defines a symbol."""
    document, offset = _at(server, params.text_document.uri, params.position)
    found = document.index.at(offset)
    if found is not None:
        place = document.range(found.start, found.end)
        return _shown(f"```mlir\n{_description(document, found)}\n```", place)
    word = document.word_at(offset)
    op = None if word is None else find_op(server.context, word[0])
    return None if word is None or op is None else _shown(op_section(op), word[1])


def _shown(text: str, place: types.Range) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), place)


def _description(document: Document, found: Occurrence) -> str:
    if found.name.types:
        return f"{found.name.text} : {', '.join(map(str, found.name.types))}"
    defined = document.index.definition(found.name)
    if defined is None:
        return f"{found.name.text} is not defined in this text"
    return document.line(document.line_of(defined.start)).strip()


def complete(server: GaweeServer, params: types.CompletionParams) -> types.CompletionList:
    """Offer what can stand here."""
    document, offset = _at(server, params.text_document.uri, params.position)
    return completions(document, offset, server.context)


def definition(server: GaweeServer, params: types.DefinitionParams) -> types.Location | None:
    """Return where a value or a symbol is defined."""
    document, offset = _at(server, params.text_document.uri, params.position)
    found = document.index.at(offset)
    defined = None if found is None else document.index.definition(found.name)
    return None if defined is None else document.location(defined)


def references(server: GaweeServer, params: types.ReferenceParams) -> list[types.Location]:
    """Return the uses of a value or a symbol, and its definition if the request includes it."""
    document, offset = _at(server, params.text_document.uri, params.position)
    found = document.index.at(offset)
    every = () if found is None else document.index.of(found.name)
    wanted = params.context.include_declaration
    return [document.location(each) for each in every if wanted or not each.is_definition]


def prepare_rename(server: GaweeServer, params: types.PrepareRenameParams) -> types.Range | None:
    """Return what a new name would take the place of."""
    document, offset = _at(server, params.text_document.uri, params.position)
    found = document.index.at(offset)
    return None if found is None else document.range(found.start, found.end)


async def rename(server: GaweeServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Give a value or a symbol another name, wherever it stands.

    Raises JsonRpcInvalidParams where that is no name, or the name of something else.
    """
    document = server.documents[params.text_document.uri]
    if not document.index.is_complete:
        document = await server.read(params.text_document.uri)
    if not document.index.is_complete:
        raise JsonRpcInvalidParams("cannot rename in a text that cannot be parsed")
    found = document.index.at(document.offset(params.position))
    if found is None:
        return None
    sigil, pattern = found.name.text[0], VALUE if found.name.text[0] == "%" else SYMBOL
    text = sigil + params.new_name.removeprefix(sigil)
    if pattern.fullmatch(text) is None:
        raise JsonRpcInvalidParams(f"expected a name, got '{params.new_name}'")
    clash = document.index.clashing(found.name, text)
    if clash is not None:
        line = document.line_of(clash.start) + 1
        raise JsonRpcInvalidParams(f"there is a '{text}' already, in line {line}")
    edits = [
        types.TextEdit(document.range(each.start, each.end), text)
        for each in document.index.of(found.name)
    ]
    return types.WorkspaceEdit({document.uri: edits})


def folding(server: GaweeServer, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Return the regions that can be folded."""
    return list(server.documents[params.text_document.uri].folds())


def code_actions(server: GaweeServer, params: types.CodeActionParams) -> list[types.Command]:
    """Offer to check each pass of the files beside a module, and of loaded files, on the module."""
    uri = params.text_document.uri
    folder = Path(server.workspace.get_text_document(uri).path).parent
    return [
        types.Command(
            f"check pass '{found.name}' of {found.path.name} on this module",
            CHECK,
            arguments=[uri, str(found.path), found.name],
        )
        for found in passes_beside(folder, server.loaded)
    ]


async def run_check(server: GaweeServer, uri: str, path: str, name: str) -> None:
    """Check a pass on a module; show what is wrong in both files, and report the result."""
    document = server.documents[uri]
    text = document.text
    errors = await check_pass(Path(path), name, text)
    if document.text is not text:
        server.window_show_message(_message("the module changed while it was checked"))
        return
    in_pass = [each for each in errors if (each.place or "").startswith(f"{path}:")]
    in_module = [each for each in errors if each not in in_pass]
    server.publish(uri, [*document.problems(), *map(document.problem, in_module)])
    try:
        source = Path(path).read_text()
    except OSError:
        source = ""
    of_pass = Document(from_fs_path(path) or path, source, server.workspace.position_codec)
    server.publish(of_pass.uri, [of_pass.problem(each) for each in in_pass])
    server.window_show_message(_verdict(name, errors))


def _verdict(name: str, errors: Sequence[Diagnostic]) -> types.ShowMessageParams:
    if not errors:
        return _message(f"pass '{name}' leaves what the module computes as it was")
    first = errors[0]
    place = "" if first.place is None else first.place.removeprefix(STDIN) + ": "
    return _message(place.lstrip(":") + first.message, types.MessageType.Error)


def _message(
    text: str, kind: types.MessageType = types.MessageType.Info
) -> types.ShowMessageParams:
    return types.ShowMessageParams(kind, f"{SOURCE}: {text}")


def make_server(loaded: Sequence[str], *, allow_unregistered: bool) -> GaweeServer:
    """Make a server with all of its requests."""
    server = GaweeServer("gawee-lsp", version("gawee-dialect"))
    server.begin(loaded, allow_unregistered=allow_unregistered)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(changed)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(closed)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(definition)
    server.feature(types.TEXT_DOCUMENT_REFERENCES)(references)
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(prepare_rename)
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(rename)
    server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)(folding)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION)(code_actions)
    options = types.CompletionOptions(trigger_characters=TRIGGERS)
    server.feature(types.TEXT_DOCUMENT_COMPLETION, options)(complete)
    server.command(CHECK)(run_check)
    return server
