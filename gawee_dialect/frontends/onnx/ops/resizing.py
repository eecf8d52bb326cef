"""Resampling."""

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.open_size import is_open, least
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.frontends.onnx.registry import MAX_SIZE, check_size, register_op
from gawee_dialect.frontends.op_mapping.emitter import Emitter, axis_of, permuted, where
from gawee_dialect.frontends.op_mapping.registry import (
    Floats,
    Ints,
    KnownFloatsOrNone,
    KnownIntsOrNone,
    Refusal,
)

Floating = NDArray[np.float64]

ROUNDING: dict[str, Callable[[Floating], Floating]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


BLENDING = {
    **{("linear", 1): "linear", ("linear", 2): "bilinear", ("linear", 3): "linear"},
    ("cubic", 2): "bicubic",
}
"""The mode of an image's or a sequence's interpolation, by ONNX's mode and the spatial axes."""

HALF_PIXEL = ("half_pixel", "pytorch_half_pixel")
"""Coordinates that are the same where more than one element is made."""

BY_POSITION = {
    ("nearest", "asymmetric", "floor"): "nearest",
    ("nearest", "half_pixel", "round_prefer_ceil"): "nearest_exact",
}
"""The mode that takes the same elements at all sizes."""

TORCH_CUBIC = -0.75


def positions(old: int, new: int, scale: float, mode: str, roi: tuple[float, float]) -> Floating:
    """Return where each element of the output lies in the input; raises Refusal for a mode."""
    x = np.arange(new, dtype=np.float64)
    length = scale * old
    if mode == "half_pixel":
        return (x + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        adjust = new / length
        centre = old / 2
        return centre * (1 - adjust) + (x + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (x + 0.5) / scale - 0.5 if new > 1 else np.zeros(new)
    if mode == "align_corners":
        return x * (old - 1) / (length - 1) if length > 1 else np.zeros(new)
    if mode == "asymmetric":
        return x / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        if new > 1:
            return start * (old - 1) + x * (end - start) * (old - 1) / (length - 1)
        return np.full(new, 0.5 * (start + end) * (old - 1))
    raise Refusal(f"unsupported coordinate_transformation_mode '{mode}'")


def _cubic(distance: Floating, a: float) -> Floating:
    x = np.abs(distance)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def weights_of(
    at: Floating,
    old: int,
    mode: str,
    scale: float,
    *,
    antialias: bool,
    cubic: float,
    exclude: bool,
) -> Floating:
    """Return the matrix (new x old) of one axis: how much of each element an output takes."""
    shrink = min(scale, 1.0) if antialias else 1.0
    reach = 1 if mode == "linear" else 2
    check_size(reach / shrink)
    span = int(np.ceil(reach / shrink))
    check_size(len(at) * max(old, span, 256))
    matrix = np.zeros((len(at), old))
    for row, x in enumerate(at):
        base = int(np.floor(x))
        taken = np.arange(base - span + 1, base + span + 1)
        distance = (taken - x) * shrink
        if mode == "linear":
            part = np.maximum(0, 1 - np.abs(distance))
        else:
            part = _cubic(distance, cubic)
        if exclude:
            part = np.where((taken < 0) | (taken >= old), 0, part)
        if antialias or exclude:
            part = part / part.sum()
        np.add.at(matrix[row], np.clip(taken, 0, old - 1), part)
    return matrix


def along(emit: Emitter, value: SSAValue, axis: int, matrix: Floating) -> SSAValue:
    """Return a tensor with one axis multiplied by a matrix (new x old)."""
    rank = len(tensor_shape(value))
    order = [each for each in range(rank) if each != axis] + [axis]
    moved = permuted(emit, value, order)
    weights = emit.array(matrix, element_type(value))
    made = emit(MatMulOp(moved, weights))
    return permuted(emit, made, [order.index(each) for each in range(rank)])


def interpolated(
    emit: Emitter,
    x: SSAValue,
    axis_sizes: Mapping[int, tuple[float, int]],
    mode: str,
    coordinates: str,
    rounding: Callable[[Floating], Floating],
) -> SSAValue | None:
    """Resize all spatial axes by one op, where it takes the same elements; None elsewhere.

    `axis_sizes` has the scale and the new size of each axis that is resized.
    """
    old = tensor_shape(x)
    spatial = range(2, len(old))
    sizes = [axis_sizes.get(axis, (1.0, old[axis])) for axis in range(len(old))]
    if len(old) not in (3, 4, 5) or any(sizes[a] != (1, old[a]) for a in (0, 1)):
        return None
    fits = all(
        factor * old[a] == size and size > 1 for a, (factor, size) in enumerate(sizes[2:], 2)
    )
    new = [sizes[axis][1] for axis in spatial]
    if mode == "nearest":
        if coordinates == "tf_crop_and_resize" or not all(
            _takes_whole_steps(old[axis], *sizes[axis], coordinates, rounding) for axis in spatial
        ):
            return None
        return emit(InterpolateOp(x, size=new, mode="nearest"))
    blended = BLENDING.get((mode, len(spatial)))
    corners = coordinates == "align_corners"
    if blended is None or not (fits and (corners or coordinates in HALF_PIXEL)):
        return None
    return emit(InterpolateOp(x, size=new, mode=blended, align_corners=corners))


def _require_modes(mode: str, nearest_mode: str) -> None:
    if mode not in ("nearest", "linear", "cubic"):
        raise Refusal(f"unsupported mode '{mode}'; supported: nearest, linear, cubic")
    if nearest_mode not in ROUNDING:
        raise Refusal(
            f"unsupported nearest_mode '{nearest_mode}'; supported: {', '.join(ROUNDING)}"
        )


def _takes_whole_steps(
    old: int, scale: float, new: int, coordinates: str, rounding: Callable[[Floating], Floating]
) -> bool:
    """Whether output d is element floor(d * old / new)."""
    at = np.clip(rounding(positions(old, new, scale, coordinates, (0.0, 1.0))), 0, old - 1)
    return bool((at == np.arange(new) * old // new).all())


@register_op("Resize", since=11)
def resize(
    emit: Emitter,
    x: SSAValue,
    roi: KnownFloatsOrNone = None,
    scales: KnownFloatsOrNone = None,
    sizes: KnownIntsOrNone = None,
    antialias: int = 0,
    axes: Ints | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> SSAValue:
    """Another size by the nearest element, by lines or by cubics; all figures are known"""
    shape = tensor_shape(x)
    chosen = list(range(len(shape))) if axes is None else [axis_of(x, axis) for axis in axes]
    old = [shape[axis] for axis in chosen]
    if is_open((*old, *(sizes or ()))):
        made = dict(zip(chosen, _open_targets(old, scales, sizes), strict=True))
        how = mode, coordinate_transformation_mode, nearest_mode
        others = antialias, exclude_outside, cubic_coeff_a, keep_aspect_ratio_policy
        return _of_open_sizes(emit, x, made, how, others == (0, 0, TORCH_CUBIC, "stretch"))
    factors, new = _targets(old, scales, sizes, keep_aspect_ratio_policy)
    region = [0.0] * len(chosen) + [1.0] * len(chosen)
    if roi and coordinate_transformation_mode == "tf_crop_and_resize":
        region = list(roi)
    if len(region) != 2 * len(chosen):
        raise Refusal(f"expected roi of {2 * len(chosen)} numbers, got {len(region)}")
    _require_modes(mode, nearest_mode)
    axis_sizes = dict(zip(chosen, zip(factors, new, strict=True), strict=True))
    blends = not antialias and not exclude_outside and cubic_coeff_a == TORCH_CUBIC
    if mode == "nearest" or blends:
        whole = interpolated(
            emit, x, axis_sizes, mode, coordinate_transformation_mode, ROUNDING[nearest_mode]
        )
        if whole is not None:
            return whole
    outside = np.zeros([1] * len(shape), bool)
    for index, axis in enumerate(chosen):
        ends = region[index], region[len(chosen) + index]
        at = positions(old[index], new[index], factors[index], coordinate_transformation_mode, ends)
        if coordinate_transformation_mode == "tf_crop_and_resize":
            beyond = (at < 0) | (at > old[index] - 1)
            outside = outside | beyond.reshape([-1 if a == axis else 1 for a in range(len(shape))])
        elif new[index] == old[index] and factors[index] == 1:
            continue
        if mode == "nearest":
            places = np.clip(ROUNDING[nearest_mode](at), 0, old[index] - 1).astype(np.int64)
            x = emit(GatherOp(x, emit.array(places, i64), axis=axis))
        else:
            matrix = weights_of(
                at,
                old[index],
                mode,
                factors[index],
                antialias=bool(antialias),
                cubic=cubic_coeff_a,
                exclude=bool(exclude_outside),
            )
            x = along(emit, x, axis, matrix)
    return _extrapolated(emit, x, outside, extrapolation_value)


_NUMBERS = "expected sizes that are numbers, where axes are resized otherwise than by PyTorch"


def _open_targets(old: Sequence[int], scales: Floats | None, sizes: Ints | None) -> Sequence[int]:
    """Return the size of each axis that is resized, where some sizes are open."""
    if not scales:
        return sizes or ()
    if not all(scale.is_integer() for scale in scales):
        raise Refusal(_NUMBERS)
    return [size * int(scale) for size, scale in zip(old, scales, strict=True)]


def _of_open_sizes(
    emit: Emitter,
    x: SSAValue,
    targets: Mapping[int, int],
    how: tuple[str, str, str],
    is_plain: bool,
) -> SSAValue:
    """Resize all spatial axes by one op, whose positions are computed when it runs."""
    shape, (mode, coordinates, _) = tensor_shape(x), how
    new = [targets.get(axis, size) for axis, size in enumerate(shape)]
    corners = coordinates == "align_corners"
    chosen = BY_POSITION.get(how)
    if chosen is None and (corners or coordinates in HALF_PIXEL):
        chosen = BLENDING.get((mode, len(shape) - 2))
    alone = coordinates == "pytorch_half_pixel" and min(map(least, new[2:]), default=1) == 1
    if (
        not is_plain
        or chosen is None
        or alone
        or len(shape) not in (3, 4, 5)
        or new[:2] != [*shape[:2]]
    ):
        raise Refusal(_NUMBERS)
    return emit(InterpolateOp(x, size=new[2:], mode=chosen, align_corners=corners))


def _extrapolated(emit: Emitter, x: SSAValue, outside: NDArray[np.bool_], value: float) -> SSAValue:
    if not outside.any():
        return x
    check_size(prod(tensor_shape(x)))
    mask = emit.array(np.broadcast_to(outside, tensor_shape(x)).copy(), i1)
    return where(emit, mask, value, x)


def _targets(
    old: Sequence[int], scales: Floats | None, sizes: Ints | None, policy: str
) -> tuple[list[float], list[int]]:
    """Return the scale and the size of each axis that is resized."""
    given = scales or sizes
    if given and (len(given) != len(old) or not all(0 < each <= MAX_SIZE for each in given)):
        raise Refusal(f"expected {len(old)} positive scales or sizes, got {list(given)}")
    if 0 in old:
        raise Refusal(f"expected axes that have elements, got {list(old)}")
    if scales:
        check_size(max(o * s for o, s in zip(old, scales, strict=True)))
        return list(scales), [int(np.floor(o * s)) for o, s in zip(old, scales, strict=True)]
    if not sizes:
        raise Refusal("expected scales or sizes, got none")
    factors = [size / o for size, o in zip(sizes, old, strict=True)]
    if policy == "stretch":
        return factors, list(sizes)
    one = min(factors) if policy == "not_larger" else max(factors)
    return [one] * len(old), [int(np.floor(one * o + 0.5)) for o in old]


@register_op("Resize")
def resize_before(
    emit: Emitter, x: SSAValue, scales: KnownFloatsOrNone, mode: str = "nearest"
) -> SSAValue:
    """As it was in opset 10, and Upsample"""
    how = "asymmetric"
    return resize(
        emit,
        x,
        scales=scales,
        coordinate_transformation_mode=how,
        mode=mode,
        nearest_mode="floor",
    )


register_op("Upsample")(resize_before)
