"""For the tests of places: a pass that keeps activations out of kernels, before they are formed."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.linalg import GenericOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class KeepRelu(ModulePass):
    """Mark every linalg.generic that takes a maximum."""

    name = "keep-relu"
    place: ClassVar[str] = "before=form-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            body = inner.body.block.ops if isinstance(inner, GenericOp) else ()
            if any(each.name == "arith.maximumf" for each in body):
                inner.attributes["gawee.keep"] = UnitAttr()
