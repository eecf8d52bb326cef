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
            names = [each.name for region in inner.regions for each in region.walk()]
            if isinstance(inner, GenericOp) and "arith.maximumf" in names:
                inner.attributes["gawee.keep"] = UnitAttr()
