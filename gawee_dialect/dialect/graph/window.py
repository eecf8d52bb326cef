"""The arithmetic of sliding windows, shared by convolution and pooling."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.utils.exceptions import VerifyException

from gawee_dialect.dialect.types import (
    AnyTensor,
    require,
    require_length,
    require_non_negative,
    require_positive,
)

SPATIAL_RANKS = (3, 4, 5)
"""The ranks of (batch, channels, ...) with one, two or three spatial axes."""


def spatial_axes(type: AnyTensor) -> int:
    """Return how many spatial axes (batch, channels, ...) has: 1, 2 or 3.

    Raises VerifyException for another number.
    """
    rank = type.get_num_dims()
    if rank not in SPATIAL_RANKS:
        raise VerifyException(f"expected input of rank 3, 4 or 5, got rank {rank} ('{type}')")
    return rank - 2


def default_window(
    axes: int,
    strides: Sequence[int] | None,
    padding: Sequence[int] | None,
    dilations: Sequence[int] | None,
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Fill in what a window op's caller left out: strides and dilations of one, no padding."""
    return (
        (1,) * axes if strides is None else strides,
        (0,) * (2 * axes) if padding is None else padding,
        (1,) * axes if dilations is None else dilations,
    )


def padding_pairs(padding: Sequence[int]) -> list[tuple[int, int]]:
    """Return (before, after) of each axis from padding that lists all befores, then all afters."""
    axes = len(padding) // 2
    return list(zip(padding[:axes], padding[axes:], strict=True))


def check_window(
    axes: int,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
) -> None:
    """Check the attributes of a window over some axes; `padding` lists befores, then afters.

    Raises VerifyException for a wrong number of entries, for a kernel, stride or dilation below
    one, and for negative padding.
    """
    require_length("kernel", kernel, axes)
    require_length("strides", strides, axes)
    require_length("padding", padding, 2 * axes)
    require_length("dilations", dilations, axes)
    require_positive("kernel", kernel)
    require_positive("strides", strides)
    require_positive("dilations", dilations)
    require_non_negative("padding", padding)


def window_extent(kernel: int, dilation: int) -> int:
    """Return how many input elements a dilated window spans."""
    return dilation * (kernel - 1) + 1


def window_count(
    size: int, kernel: int, stride: int, padding: tuple[int, int], dilation: int, ceil_mode: bool
) -> int:
    """Return how many windows fit along one axis of `size` elements.

    With `ceil_mode` a last, partial window is counted if it starts inside the input or its left
    padding (the rule of PyTorch and ONNX). Raises VerifyException where not even one window fits.
    """
    before, after = padding
    padded, extent = size + before + after, window_extent(kernel, dilation)
    require(
        extent <= padded,
        f"expected window extent ({extent}) to fit the padded input ({padded})",
    )
    if not ceil_mode:
        return (padded - extent) // stride + 1
    count = -((extent - padded) // stride) + 1
    return count - 1 if (count - 1) * stride >= size + before else count


@dataclass(frozen=True)
class WindowPlaces:
    """How equations name the elements of windows: `counts` of them along each spatial axis."""

    counts: Sequence[int]
    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    padding: Sequence[int]

    @property
    def outer(self) -> str:
        """The indices of windows, with their sizes."""
        return ", ".join(f"i{axis} < {size}" for axis, size in enumerate(self.counts))

    @property
    def inner(self) -> str:
        """The indices within a window, with their sizes."""
        return ", ".join(f"k{axis} < {size}" for axis, size in enumerate(self.kernel))

    @property
    def inner_names(self) -> str:
        """The indices within a window."""
        return ", ".join(f"k{axis}" for axis in range(len(self.kernel)))

    @property
    def places(self) -> str:
        """Where in the input an element of a window is."""
        along = zip(self.strides, self.dilations, self.padding, strict=False)
        return ", ".join(
            f"i{axis}*{stride} + k{axis}*{dilation} - {before}"
            for axis, (stride, dilation, before) in enumerate(along)
        )


def window_shape(
    spatial: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool = False,
) -> tuple[int, ...]:
    """Return the spatial sizes of a window op's result; see `window_count`."""
    along = zip(spatial, kernel, strides, padding_pairs(padding), dilations, strict=True)
    return tuple(window_count(*axis, ceil_mode) for axis in along)


def transposed_shape(
    spatial: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, ...]:
    """Return the spatial sizes of a transposed convolution's result.

    Raises VerifyException where the padding leaves nothing of an axis.
    """
    sizes: list[int] = []
    along = zip(spatial, kernel, strides, padding_pairs(padding), dilations, strict=True)
    for axis, (size, window, stride, (before, after), dilation) in enumerate(along):
        full = (size - 1) * stride + window_extent(window, dilation) + output_padding[axis]
        require(
            size >= 1 and full > before + after,
            f"expected padding ({before} and {after}) to be less than the result without it "
            f"({max(full, 0)})",
        )
        sizes.append(full - before - after)
    return tuple(sizes)
