"""Write on every op of the graph how many bytes its results take."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from gawee_dialect.dialect.operation import GaweeOp
from gawee_dialect.dialect.types import is_tensor, shaped_bytes
from gawee_dialect.passes.numerics import EXACT, Numerics


@dataclass(frozen=True)
class AnnotateBytes(ModulePass):
    """Write on every op of the graph how many bytes its results take."""

    name = "annotate-bytes"
    numerics: ClassVar[Numerics] = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if isinstance(each, GaweeOp):
                types = [result.type for result in each.results]
                size = sum(shaped_bytes(type) for type in types if is_tensor(type))
                each.attributes["mine.bytes"] = IntegerAttr(size, i64)
