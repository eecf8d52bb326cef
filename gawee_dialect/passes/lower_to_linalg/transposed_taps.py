"""Which elements of input and kernel the results of a transposed convolution read along an axis."""

from dataclasses import dataclass

from xdsl.ir.affine import AffineExpr

from gawee_dialect.passes.lower_to_linalg.kernel_moves import scaled


@dataclass(frozen=True)
class Blocks:
    """An axis as blocks of one result of each phase, where each phase has as many taps."""

    stride: int
    taps: int
    """Elements of the kernel that each result reads."""
    first: int
    """Where in the input the first block begins to read; below zero where that is outside."""
    blocks: int
    offset: int
    """Where in the first block the first result is."""
    is_moved: bool
    """Whether the second phase of a block reads one element further on than the first."""

    @staticmethod
    def of(kernel: int, stride: int, before: int, results: int) -> "Blocks":
        """Return the blocks of an axis: the stride divides the kernel; `before` is cut off."""
        start, rest = divmod(before, stride)
        is_moved = stride == 2 and rest == 1  # else the first block would be cut in two
        offset, taps = 0 if is_moved else rest, kernel // stride
        blocks = -(-(offset + results) // stride)
        return Blocks(stride, taps, start - taps + 1, blocks, offset, is_moved)

    @property
    def reach(self) -> int:
        """How many elements of the input all blocks read together."""
        return self.blocks + self.taps - 1 + self.is_moved

    def element(self, phase: int, tap: int | None) -> AffineExpr:
        """Return which element of the kernel a phase reads, of the loops over phases and taps."""
        place = scaled(phase, -1) + 1 if self.is_moved else AffineExpr.dimension(phase)
        if tap is None:
            return place
        return place + scaled(tap, -self.stride) + self.stride * (self.taps - 1)


@dataclass(frozen=True)
class Taps:
    """What the results of one phase along an axis read."""

    results: int
    count: int
    """Elements of the kernel that each result reads; 0 where it reads nothing."""
    last: int
    """The last of these elements, which goes with the first element of the input."""
    step: int
    """How far apart in the kernel they are."""
    position: int
    """Where in the input the first result begins to read; below zero where that is outside."""
    dilation: int
    """How far apart in the input the elements are that a result reads."""

    @staticmethod
    def of(phase: int, size: int, kernel: int, stride: int, dilation: int, before: int) -> "Taps":
        """Return the taps of the results `phase`, `phase + stride`, ... of an axis of a size."""
        start, rest = divmod(phase + before, stride)
        found = [tap for tap in range(kernel) if (dilation * tap - rest) % stride == 0]
        results = len(range(phase, size, stride))
        if not found:
            return Taps(results, 0, 0, 1, start, 1)
        step = found[1] - found[0] if len(found) > 1 else 1
        position = start - (dilation * found[-1] - rest) // stride
        apart = dilation * step // stride if len(found) > 1 else 1
        return Taps(results, len(found), found[-1], step, position, apart)

    @property
    def reach(self) -> int:
        """How many elements of the input all results read together."""
        return self.results + self.dilation * (self.count - 1) if self.count else 0
