"""What a wrong pass is: a change of a module at some level, and what has to be said about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

RULE = "is wrong where no run shows it: "


@dataclass(frozen=True)
class Wrong(ModulePass):
    """A pass that is one function."""

    name = "wrong"
    change: Callable[[ModuleOp], None]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.change(op)


@dataclass(frozen=True)
class Keeping(Wrong):
    """One that declares to keep NaN and infinities."""

    special_values: ClassVar[bool] = True


@dataclass(frozen=True)
class WrongPass:
    """A wrong pass after some passes of a module."""

    module: str = field(repr=False)
    change: ModulePass = field(repr=False)
    check: str = ""
    """What the message of `--check-each` has in it; empty where it sees nothing."""

    proof: str = ""
    """What the message of `--prove-each` has in it; empty where it sees nothing."""

    before: str = ""
    is_race: bool = False
    """Whether a proof, which has threads, sees it by chance."""
