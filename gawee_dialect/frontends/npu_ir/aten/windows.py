"""Convolutions and poolings: what is computed of each window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import AddOp
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp
from gawee_dialect.dialect.types import element_type, is_unsigned, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import in_signed, mul, scaled
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.registry import Ints, Number, Refusal

# Convolutions.


def per_axis(values: Ints, axes: int, what: str) -> list[int]:
    """Return one number for each spatial axis; one number alone stands for all."""
    if len(values) not in (1, axes):
        raise Refusal(f"expected {what} of {axes} entries, got {list(values)}")
    return list(values) * (axes if len(values) == 1 else 1)


def batched(
    emit: Emitter, input: SSAValue, rank: int, function: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """Apply a function of batches of a rank, also to one image without a batch axis."""
    shape = tensor_shape(input)
    if len(shape) != rank - 1:
        return function(input)
    result = function(emit.reshape(input, (1, *shape)))
    return emit.reshape(result, tensor_shape(result)[1:])


@register_op("aten.convolution")
def convolution(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> SSAValue:
    """A convolution, or a transposed one, over one to three spatial axes"""
    rank, element = len(tensor_shape(weight)), element_type(input)
    if is_unsigned(element):  # the low bits of a convolution of wider integers
        input, weight = emit.cast(input, i32), emit.cast(weight, i32)
        bias = None if bias is None else emit.cast(bias, i32)
    strides, pads, dilations, outside = (
        per_axis(values, rank - 2, what)
        for what, values in (
            ("stride", stride),
            ("padding", padding),
            ("dilation", dilation),
            ("output_padding", output_padding),
        )
    )

    def apply(value: SSAValue) -> SSAValue:
        both = (*pads, *pads)
        if not transposed:
            window = ConvOp(
                value,
                weight,
                bias,
                strides=strides,
                padding=both,
                dilations=dilations,
                groups=groups,
            )
            return emit(window)
        return emit(
            ConvTransposeOp(
                value,
                weight,
                bias,
                strides=strides,
                padding=both,
                output_padding=outside,
                dilations=dilations,
                groups=groups,
            )
        )

    return emit.cast(batched(emit, input, rank, apply), element)


@register_op("aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default")
def conv(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    groups: int = 1,
) -> SSAValue:
    """A convolution"""
    return convolution(emit, input, weight, bias, stride, padding, dilation, False, (0,), groups)


@register_op("aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding")
def conv_named_padding(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Ints = (1,),
    padding: str = "valid",
    dilation: Ints = (1,),
    groups: int = 1,
) -> SSAValue:
    """A convolution that is padded to keep its size (`same`; the smaller half first), or not"""
    if padding == "valid":
        return conv(emit, input, weight, bias, stride, (0,), dilation, groups)
    if padding != "same":
        raise Refusal(f"unsupported padding '{padding}'; supported: valid, same")
    kernel = tensor_shape(weight)[2:]
    dilations = per_axis(dilation, len(kernel), "dilation")
    total = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    both = [*(each // 2 for each in total), *(each - each // 2 for each in total)]
    strides = per_axis(stride, len(kernel), "stride")

    def apply(value: SSAValue) -> SSAValue:
        window = ConvOp(
            value, weight, bias, strides=strides, padding=both, dilations=dilations, groups=groups
        )
        return emit(window)

    return batched(emit, input, len(kernel) + 2, apply)


@register_op("aten._conv_depthwise2d")
def conv_depthwise(
    emit: Emitter,
    self: SSAValue,
    weight: SSAValue,
    kernel_size: Ints,
    bias: SSAValue | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
) -> SSAValue:
    """A convolution of each channel on its own"""
    channels = tensor_shape(self)[-3]
    return conv(emit, self, weight, bias, stride, padding, dilation, channels)


@register_op("aten.conv_transpose1d", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")
def conv_transpose(
    emit: Emitter,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    output_padding: Ints = (0,),
    groups: int = 1,
    dilation: Ints = (1,),
) -> SSAValue:
    """A transposed convolution"""
    return convolution(
        emit, input, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


# The elements of each window of a pooling, where their positions or dilated means are results.

Indices = NDArray[np.int64]
MAX_ELEMENTS = 1 << 24
"""Of all windows of a channel: the position of each is a constant of the graph."""


@dataclass(frozen=True)
class Windows:
    """Which elements windows have: `coordinates` is axes x kernel elements x windows."""

    sizes: tuple[int, ...]
    """Of the image."""
    outputs: tuple[int, ...]
    coordinates: Indices
    padded: Sequence[int]
    """Where the padding behind each axis ends."""

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which elements are in the image."""
        ends = np.reshape(self.sizes, (-1, 1, 1))
        return np.all((self.coordinates >= 0) & (self.coordinates < ends), axis=0)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which elements are in the image or in its padding."""
        return np.all(self.coordinates < np.reshape(self.padded, (-1, 1, 1)), axis=0)

    def flat(self, *, columns_first: bool = False) -> Indices:
        """Return positions in the image of elements that are inside, 0 for others."""
        order = range(len(self.sizes)) if not columns_first else range(len(self.sizes))[::-1]
        total = np.zeros(self.coordinates.shape[1:], np.int64)
        for axis in order:
            total = total * self.sizes[axis] + self.coordinates[axis]
        return np.where(self.inside, total, 0)

    def elements(self, emit: Emitter, x: SSAValue, outside: Number) -> SSAValue:
        """Return batch x channels x kernel elements x windows."""
        batch, channels = tensor_shape(x)[:2]
        count = prod(self.sizes)
        flat = emit.reshape(x, (batch, channels, count))
        if not self.inside.all():
            more = emit.full((batch, channels, 1), outside, element_type(x))
            flat = emit(CatOp([flat, more], dim=2))
        places = np.where(self.inside, self.flat(), count)
        return emit(GatherOp(flat, emit.array(places, i64), axis=2))

    def shaped(self, emit: Emitter, x: SSAValue, value: SSAValue) -> SSAValue:
        """Return what is batch x channels x windows as an image."""
        return emit.reshape(value, (*tensor_shape(x)[:2], *self.outputs))


def windows_of(
    sizes: tuple[int, ...],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    *,
    ceil: bool,
) -> Windows:
    """Return the windows of an image of some sizes, pads before all axes and then behind them."""
    axes: list[Indices] = []
    elements = 1
    padded = [size + after for size, after in zip(sizes, pads[len(sizes) :], strict=True)]
    for axis, size in enumerate(sizes):
        before = pads[axis]
        extent, whole = dilations[axis] * (kernel[axis] - 1) + 1, padded[axis] + before
        room = whole - extent
        count = (-(-room // strides[axis]) if ceil else room // strides[axis]) + 1
        if ceil and (count - 1) * strides[axis] >= size + before:
            count -= 1
        if count < 1:
            raise Refusal(f"expected window extent ({extent}) to fit the padded input ({whole})")
        elements *= count * kernel[axis]
        if elements > MAX_ELEMENTS:
            raise Refusal(f"expected at most {MAX_ELEMENTS} elements of all windows of a channel")
        starts = np.arange(count) * strides[axis] - before
        axes.append(np.arange(kernel[axis])[:, None] * dilations[axis] + starts)
    return _windows_of_axes(sizes, axes, padded)


def adaptive_windows_of(sizes: tuple[int, ...], outputs: Sequence[int]) -> Windows:
    """Return the windows of an adaptive pooling: parts of an image of about one size."""
    axes: list[Indices] = []
    for size, count in zip(sizes, outputs, strict=True):
        place = np.arange(count)
        first, last = place * size // count, -(-(place + 1) * size // count)
        widest = int((last - first).max())
        each = np.arange(widest)[:, None] + first
        axes.append(np.where(each < last, each, -1))
    return _windows_of_axes(sizes, axes, sizes)


def _windows_of_axes(
    sizes: tuple[int, ...], axes: Sequence[Indices], padded: Sequence[int]
) -> Windows:
    """Return windows from the coordinates (kernel elements x windows) of each axis."""
    rank = len(sizes)
    kernel, outputs = (tuple(each.shape[index] for each in axes) for index in (0, 1))
    grids: list[Indices] = []
    for axis, each in enumerate(axes):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = each.shape
        grids.append(np.broadcast_to(each.reshape(shape), (*kernel, *outputs)))
    coordinates = np.stack(grids).reshape(rank, prod(kernel), prod(outputs))
    return Windows(sizes, outputs, coordinates, padded)


def places_of_maxima(
    emit: Emitter, x: SSAValue, windows: Windows, *, columns_first: bool = False
) -> SSAValue:
    """Return where the maximum of each window is, counted in elements of its channel's image."""
    inside, count = windows.inside, prod(windows.outputs)
    # What is outside stands for the first element inside, so that it is never chosen for itself.
    rows = np.where(inside, np.arange(len(inside))[:, None], inside.argmax(axis=0))
    columns = np.arange(count)
    flat = emit.reshape(x, (*tensor_shape(x)[:2], prod(windows.sizes)))
    elements = emit(GatherOp(flat, emit.array(windows.flat()[rows, columns], i64), axis=2))
    first = emit(ArgMaxOp(elements, axis=2))
    table = windows.flat(columns_first=columns_first)[rows, columns]
    place = emit(AddOp(mul(emit, first, count), emit.array(columns, i64)))
    found = emit(GatherOp(emit.array(table.reshape(-1), i64), place, axis=0))
    return windows.shaped(emit, x, found)


MaxPool: TypeAlias = Callable[..., SSAValue]


def max_pool(axes: int) -> MaxPool:
    """Return the mapping of max pooling over so many axes."""

    def mapping(
        emit: Emitter,
        self: SSAValue,
        kernel_size: Ints,
        stride: Ints = (),
        padding: Ints = (0,),
        dilation: Ints = (1,),
        ceil_mode: bool = False,
    ) -> SSAValue:
        kernel = per_axis(kernel_size, axes, "kernel_size")
        pads = per_axis(padding, axes, "padding")

        def window(value: SSAValue) -> Operation:
            return MaxPoolOp(
                value,
                kernel=kernel,
                strides=per_axis(stride or kernel, axes, "stride"),
                padding=(*pads, *pads),
                dilations=per_axis(dilation, axes, "dilation"),
                ceil_mode=ceil_mode,
            )

        return batched(emit, self, axes + 2, lambda value: in_signed(emit, window, value))

    return mapping


def max_pool_with_indices(axes: int) -> Callable[..., tuple[SSAValue, SSAValue | None]]:
    """Return the mapping of max pooling, and of where the maxima are if anything reads that."""

    def mapping(
        emit: Emitter,
        self: SSAValue,
        kernel_size: Ints,
        stride: Ints = (),
        padding: Ints = (0,),
        dilation: Ints = (1,),
        ceil_mode: bool = False,
    ) -> tuple[SSAValue, SSAValue | None]:
        pool = max_pool(axes)
        result = pool(emit, self, kernel_size, stride, padding, dilation, ceil_mode)
        if not emit.is_used(1):
            return result, None
        kernel = per_axis(kernel_size, axes, "kernel_size")
        pads = per_axis(padding, axes, "padding")
        windows = windows_of(
            tensor_shape(self)[-axes:],
            kernel,
            per_axis(stride or kernel, axes, "stride"),
            per_axis(dilation, axes, "dilation"),
            (*pads, *pads),
            ceil=ceil_mode,
        )
        return result, _places(emit, self, axes, windows)

    return mapping


def _places(emit: Emitter, value: SSAValue, axes: int, windows: Windows) -> SSAValue:
    return batched(emit, value, axes + 2, lambda batch: places_of_maxima(emit, batch, windows))


def avg_pool(axes: int) -> Callable[..., SSAValue]:
    """Return the mapping of average pooling over so many axes."""

    def mapping(
        emit: Emitter,
        self: SSAValue,
        kernel_size: Ints,
        stride: Ints = (),
        padding: Ints = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> SSAValue:
        kernel = per_axis(kernel_size, axes, "kernel_size")
        pads = per_axis(padding, axes, "padding")
        if divisor_override is not None and ceil_mode:
            raise Refusal("unsupported divisor_override with ceil_mode=True")

        def apply(value: SSAValue) -> SSAValue:
            window = AvgPoolOp(
                value,
                kernel=kernel,
                strides=per_axis(stride or kernel, axes, "stride"),
                padding=(*pads, *pads),
                ceil_mode=ceil_mode,
                count_include_pad=count_include_pad or divisor_override is not None,
            )
            return emit(window)

        result = batched(emit, self, axes + 2, apply)
        if divisor_override is None:
            return result
        return scaled(emit, result, prod(kernel) / divisor_override)

    return mapping


def adaptive_avg_pool(axes: int) -> Callable[..., SSAValue]:
    """Return the mapping of adaptive average pooling over so many axes."""

    def mapping(emit: Emitter, self: SSAValue, output_size: Ints) -> SSAValue:
        size = per_axis(output_size, axes, "output_size")
        return batched(
            emit, self, axes + 2, lambda value: emit(AdAvgPoolOp(value, output_size=size))
        )

    return mapping


def adaptive_max_pool(axes: int) -> Callable[..., tuple[SSAValue, SSAValue | None]]:
    """Return the mapping of adaptive max pooling, and of where the maxima are if that is read."""

    def mapping(
        emit: Emitter, self: SSAValue, output_size: Ints
    ) -> tuple[SSAValue, SSAValue | None]:
        size = per_axis(output_size, axes, "output_size")
        result = batched(
            emit, self, axes + 2, lambda value: emit(AdMaxPoolOp(value, output_size=size))
        )
        if not emit.is_used(1):
            return result, None
        windows = adaptive_windows_of(tensor_shape(self)[-axes:], size)
        return result, _places(emit, self, axes, windows)

    return mapping


for _axes in (1, 2, 3):
    register_op(f"aten.max_pool{_axes}d")(max_pool(_axes))
    register_op(f"aten.max_pool{_axes}d_with_indices")(max_pool_with_indices(_axes))
    register_op(f"aten.avg_pool{_axes}d")(avg_pool(_axes))
    register_op(f"aten.adaptive_avg_pool{_axes}d")(adaptive_avg_pool(_axes))
    register_op(f"aten.adaptive_max_pool{_axes}d")(adaptive_max_pool(_axes))

for _axes in (2, 3):
    register_op(f"aten._adaptive_avg_pool{_axes}d")(adaptive_avg_pool(_axes))
