"""Print how many ops of each name there are, and change nothing."""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gawee_dialect.passes.numerics import EXACT, Numerics


@dataclass(frozen=True)
class CountOps(ModulePass):
    """Print how many ops of each name there are, and change nothing."""

    name = "count-ops"
    numerics: ClassVar[Numerics] = EXACT
    takes_open_sizes: ClassVar[bool] = True

    dialect: str = "gawee"
    """Only ops of this dialect count."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = [each.name for each in op.walk()]
        counts = Counter(name for name in names if name.startswith(f"{self.dialect}."))
        for name, count in counts.most_common():
            print(f"{count:4} {name}", file=sys.stderr)
