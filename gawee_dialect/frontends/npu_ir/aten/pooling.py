"""Poolings."""

from collections.abc import Callable
from math import prod
from typing import TypeAlias

from xdsl.ir import SSAValue

from gawee_dialect.dialect.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import scaled
from gawee_dialect.frontends.npu_ir.aten.convolution import batched, per_axis
from gawee_dialect.frontends.npu_ir.aten.registry import register_op
from gawee_dialect.frontends.npu_ir.aten.windows import (
    Windows,
    adaptive_windows_of,
    places_of_maxima,
    windows_of,
)
from gawee_dialect.frontends.op_mapping.emitter import Emitter
from gawee_dialect.frontends.op_mapping.refusal import Refusal
from gawee_dialect.frontends.op_mapping.schema import Ints

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

        def apply(value: SSAValue) -> SSAValue:
            window = MaxPoolOp(
                value,
                kernel=kernel,
                strides=per_axis(stride or kernel, axes, "stride"),
                padding=(*pads, *pads),
                dilations=per_axis(dilation, axes, "dilation"),
                ceil_mode=ceil_mode,
            )
            return emit(window)

        return batched(emit, self, axes + 2, apply)

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
