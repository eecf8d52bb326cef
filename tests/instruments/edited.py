"""Wrong passes as edits of a module's text: what was lowered, with one thing changed."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.upstream.printing import TextOptions, module_text
from tests.instruments.checking import parse


@dataclass(frozen=True, init=False)
class Edited(ModulePass):
    """Replace the first text of one kind in the module's text, which keeps all places."""

    name = "edited"
    edits: tuple[tuple[str, str], ...]

    def __init__(self, *edits: tuple[str, str]) -> None:
        object.__setattr__(self, "edits", edits)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        text = module_text(op, TextOptions(locations=True))
        for old, new in self.edits:
            assert old in text, text
            text = text.replace(old, new, 1)
        changed = parse(text)
        (block,) = changed.body.blocks
        changed.body.detach_block(block)
        op.body.detach_block(op.body.block)
        op.body.add_block(block)
