"""Write a graph whose sizes have names for numbers of them."""

from dataclasses import dataclass
from typing import ClassVar, Self

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from gawee_dialect.analysis.open_sizes import check_sizes, open_names, write_sizes
from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.passes.numerics import EXACT, Numerics


@dataclass(frozen=True)
class SpecializeSizes(ModulePass):
    """Write a graph whose sizes are open for numbers of some or all of them.

    The options are the names: `specialize-sizes{batch=4 length=128}`. Names that none is given for
    stay open.

    Requires: each number is in the range of its name.

    rewrite:
        func.func @main(%x: tensor<?x?xf32> {gawee.sizes = ["batch", "length"]}) ...
          %y = gawee.reshape %x shape ["batch * length"] : (tensor<?x?xf32>) -> tensor<?xf32>
        ->   for {batch=4 length=128}
        func.func @main(%x: tensor<4x128xf32>) ...
          %y = gawee.reshape %x shape [512] : (tensor<4x128xf32>) -> tensor<512xf32>
    """

    name = "specialize-sizes"
    numerics: ClassVar[Numerics] = EXACT
    takes_open_sizes: ClassVar[bool] = True

    sizes: tuple[str, ...] = ()
    """Numbers by name: `batch=4`."""

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        """Take every option but `sizes` for the name of a size."""
        own = spec.parameters.get("sizes", ())
        named = (
            f"{name}={','.join(map(str, values))}"
            for name, values in spec.parameters.items()
            if name != "sizes"
        )
        return cls((*map(str, own), *named))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        given = dict(map(_size, self.sizes))
        check_sizes(open_names(op), given, some=True)
        write_sizes(op, given)


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not name or not (number.isascii() and number.isdigit()):
        raise GaweeError(f"expected a size such as batch=4, got '{text}'")
    return name, int(number)
