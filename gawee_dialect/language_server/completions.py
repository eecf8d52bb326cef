"""What can stand at a place of a text: ops, their attributes and keywords, values and symbols."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from lsprotocol import types
from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from gawee_dialect.inspection.op_page import docstring
from gawee_dialect.language_server.document import Document, find_op
from gawee_dialect.language_server.name_index import Occurrence

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
