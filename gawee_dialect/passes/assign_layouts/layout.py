"""How a tensor of channels and positions is stored: blocks of channels, a halo of zeros."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineExpr

CHANNEL_AXIS = 1


@dataclass(frozen=True)
class Layout:
    """A way to store a tensor [n, c, ...]: [n, c / block, ... + halo, block].

    `block` is 1 where channels are not blocked. `low` and `high` are how many elements of halo are
    before and behind the tensor's own along each of its axes.
    """

    block: int
    low: tuple[int, ...]
    high: tuple[int, ...]

    @staticmethod
    def plain(rank: int) -> "Layout":
        """Return the layout of a tensor as it is."""
        return Layout(1, (0,) * rank, (0,) * rank)

    @property
    def is_plain(self) -> bool:
        """Whether the tensor is stored as it is."""
        return self.block == 1 and not any(self.low) and not any(self.high)

    def with_halo(self, low: Sequence[int], high: Sequence[int]) -> "Layout":
        """Widen the halo to at least so much."""
        return replace(
            self,
            low=tuple(map(max, self.low, low)),
            high=tuple(map(max, self.high, high)),
        )

    def shape(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Return the stored shape of a tensor of these sizes."""
        stored = [a + size + b for a, size, b in zip(self.low, sizes, self.high, strict=True)]
        if self.block == 1:
            return tuple(stored)
        stored[CHANNEL_AXIS] = -(-stored[CHANNEL_AXIS] // self.block)
        return (*stored, self.block)

    def place(self, exprs: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        """Return where the element at some indices is stored."""
        stored = [
            expr + offset if offset else expr for expr, offset in zip(exprs, self.low, strict=True)
        ]
        if self.block == 1:
            return tuple(stored)
        channel = stored[CHANNEL_AXIS]
        stored[CHANNEL_AXIS] = channel // self.block
        return (*stored, channel % self.block)
