"""A function that returns the right values in the wrong order."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class SwappedOutputs(ModulePass):
    """Return the outputs in reverse order."""

    name = "swapped-outputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for end in op.walk():
            if isinstance(end, ReturnOp):
                end.operands = tuple(reversed(end.operands))
