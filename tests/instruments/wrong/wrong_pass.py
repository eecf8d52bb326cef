"""What a wrong pass is: a change of a module at some level, and what has to be said about it."""

from collections.abc import Callable, Sequence
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
    takes_open_sizes: ClassVar[bool] = True
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
    watched: Sequence[ModulePass] = field(default=(), repr=False)
    """Passes before it that a check and a proof see, too."""

    is_race: bool = False
    """Whether numbers, which threads compute in a proof, show it by chance."""

    @property
    def breaks_rule(self) -> bool:
        """Whether a static rule says that it is wrong."""
        return RULE in self.check or "claim" in self.check

    @property
    def in_proof(self) -> str:
        """What a proof says: of numbers, else what a check says by a rule."""
        if self.proof or not self.breaks_rule:
            return self.proof
        return "pass 'edited' " if self.is_race else self.check
