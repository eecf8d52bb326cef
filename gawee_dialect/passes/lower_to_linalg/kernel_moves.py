"""Where a kernel that moves over spatial axes reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineExpr


@dataclass(frozen=True)
class KernelMoves:
    """How a kernel moves over spatial axes."""

    strides: Sequence[int]
    dilations: Sequence[int]

    @property
    def axes(self) -> int:
        """The number of spatial axes."""
        return len(self.strides)

    def positions(self, first_out: int, first_kernel: int) -> list[AffineExpr]:
        """Return the input position along each axis, of the loops over results and the kernel."""
        along = enumerate(zip(self.strides, self.dilations, strict=True))
        return [
            scaled(first_out + axis, stride) + scaled(first_kernel + axis, dilation)
            for axis, (stride, dilation) in along
        ]


def scaled(loop: int, factor: int) -> AffineExpr:
    """Make the affine expression of a loop times a constant."""
    dim = AffineExpr.dimension(loop)
    return dim if factor == 1 else dim * factor
