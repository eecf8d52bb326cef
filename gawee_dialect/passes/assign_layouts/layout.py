"""How a tensor of channels and positions is stored: blocks of channels, a halo of zeros."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

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
        blocks, rest = whole_blocks(stored[CHANNEL_AXIS], self.block)
        stored[CHANNEL_AXIS] = blocks + rest // self.block if blocks else rest // self.block
        return (*stored, rest % self.block)


def whole_blocks(channel: AffineExpr, block: int) -> tuple[AffineExpr | None, AffineExpr]:
    """Return how many blocks are before a channel of a group, and which one of those it is.

    32 * g + f is channel f behind 2 * g blocks of 16; None where the channel has no such form.
    """
    group = channel_in_group(channel)
    if group is None or group.size % block:
        return None, channel
    blocks: AffineExpr = AffineDimExpr(group.group)
    if group.size > block:
        blocks = blocks * (group.size // block)
    return blocks, AffineDimExpr(group.channel)


class ChannelInGroup(NamedTuple):
    """The form of a channel that is one of some in each group: size * group + channel."""

    size: int
    group: int
    channel: int


def channel_in_group(expr: AffineExpr) -> ChannelInGroup | None:
    """Return the dimensions of `d0 * 32 + d1`, None for other expressions."""
    match expr:
        case AffineBinaryOpExpr(
            AffineBinaryOpKind.Add,
            AffineBinaryOpExpr(
                AffineBinaryOpKind.Mul, AffineDimExpr() as group, AffineConstantExpr() as size
            ),
            AffineDimExpr() as channel,
        ):
            return ChannelInGroup(size.value, group.position, channel.position)
        case _:
            return None
