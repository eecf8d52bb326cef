"""Readable names in LLVM IR text: those of the source where it has some, else what an op does."""

import re

from xdsl.dialects import llvm
from xdsl.ir import Block, Region, SSAValue

RENAMED = {"getelementptr": "ptr", "icmp": "cond", "fcmp": "cond"}
"""Names for results of ops whose own name says little."""


def clean(name: str) -> str:
    """Return a name with only the characters that an LLVM identifier may have unquoted."""
    return re.sub(r"[^A-Za-z0-9._$-]", "_", name)


class Names:
    """The names of one function: values and blocks share one set."""

    readable = True
    """Whether the text is for people, so that comments are for them too."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, str] = {}
        self.blocks: dict[Block, str] = {}
        self._taken: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """Return a name nobody else has, made from a hint."""
        name = clean(hint)
        if name[:1].isdigit():
            name = f"v{name}"
        count = self._taken.get(name)
        if count is None:
            self._taken[name] = 0
            return name
        while (numbered := f"{name}.{count + 1}") in self._taken:
            count += 1
        self._taken[name] = count + 1
        self._taken[numbered] = 0
        return numbered

    def name_value(self, value: SSAValue, fallback: str) -> str:
        """Name a value, and return how an operand spells it."""
        hint = value.name_hint or RENAMED.get(fallback, fallback.removeprefix("intr."))
        self.values[value] = f"%{self.fresh(hint)}"
        return self.values[value]

    def name_blocks(self, region: Region) -> None:
        """Name the blocks: a loop's are called after its induction variable."""
        names: dict[Block, str] = {region.blocks[0]: "entry"}
        for block in region.blocks:
            last = block.last_op
            if isinstance(last, llvm.CondBrOp) and block.args and block.args[0].name_hint:
                variable = block.args[0].name_hint
                names.setdefault(block, f"loop.{variable}")
                names.setdefault(last.then_block, f"body.{variable}")
                names.setdefault(last.else_block, f"done.{variable}")
        for block in region.blocks:
            self.blocks[block] = self.fresh(names.get(block, "block"))


class NumberedNames(Names):
    """Names by order alone: the same for two functions that differ in names alone."""

    readable = False

    def name_value(self, value: SSAValue, fallback: str) -> str:
        """Number a value, and return how an operand spells it."""
        name = self.values[value] = f"%v{len(self.values)}"
        return name

    def name_blocks(self, region: Region) -> None:
        """Number the blocks."""
        for index, block in enumerate(region.blocks):
            self.blocks[block] = f"b{index}"
