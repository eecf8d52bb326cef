"""The arithmetic of sliding windows, shared by convolution and pooling."""

from collections.abc import Sequence

from gawee_dialect.dialect.types import (
    require,
    require_length,
    require_non_negative,
    require_positive,
)


def check_window(
    kernel: Sequence[int], strides: Sequence[int], padding: Sequence[int], dilations: Sequence[int]
) -> None:
    """Check the attributes of a 2-D window; `padding` is (top, left, bottom, right).

    Raises VerifyException for a wrong number of entries, for a kernel, stride or dilation below
    one, and for negative padding.
    """
    require_length("kernel", kernel, 2)
    require_length("strides", strides, 2)
    require_length("padding", padding, 4)
    require_length("dilations", dilations, 2)
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


def window_shape(
    spatial: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool = False,
) -> tuple[int, int]:
    """Return the (height, width) of a 2-D window op's result; see `window_count`."""
    top, left, bottom, right = padding
    height = window_count(spatial[0], kernel[0], strides[0], (top, bottom), dilations[0], ceil_mode)
    width = window_count(spatial[1], kernel[1], strides[1], (left, right), dilations[1], ceil_mode)
    return height, width
