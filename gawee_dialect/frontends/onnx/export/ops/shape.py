"""Shapes, the order of elements, parts of tensors, and resampling."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import Attribute as Type

from gawee_dialect.dialect.graph.constant import IotaOp, TriOp
from gawee_dialect.dialect.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
)
from gawee_dialect.dialect.graph.movement import (
    BroadcastToOp,
    CatOp,
    FlattenOp,
    ReshapeOp,
    ReverseOp,
    TileOp,
    TransposeOp,
)
from gawee_dialect.dialect.graph.resize import GridSampleOp, InterpolateOp
from gawee_dialect.dialect.graph.slicing import PadOp, SliceOp
from gawee_dialect.dialect.open_size import is_open
from gawee_dialect.dialect.types import dtype_name, element_type, tensor_shape, tensor_type
from gawee_dialect.frontends.onnx.export.ops.contraction import sizes
from gawee_dialect.frontends.onnx.export.ops.elementwise import ONNX_DTYPES
from gawee_dialect.frontends.onnx.export.registry import (
    Attribute,
    ExportedValue,
    Figures,
    Given,
    Nodes,
    exports,
)
from gawee_dialect.frontends.op_mapping.registry import Refusal

BEFORE_ALL = int(np.iinfo(np.int64).min)
"""Where a range with negative steps ends behind the first element: -1 would be the last."""
MAX_CONSTANT = 1 << 16
"""Positions of up to so many elements are written out, as ONNX has no op that makes them."""


@exports(ReshapeOp)
def reshape(nodes: Nodes, op: ReshapeOp) -> None:
    """Another shape, whose zeros are sizes"""
    shape = tensor_shape(op.result)
    zeros: dict[str, Attribute] = {"allowzero": 1} if 0 in shape else {}
    nodes("Reshape", [op.input, sizes(shape, "shape")], op.results, **zeros)


@exports(FlattenOp)
def flatten(nodes: Nodes, op: FlattenOp) -> None:
    """ONNX's Flatten makes a matrix; other ones are reshapes"""
    shape, made = tensor_shape(op.input), tensor_shape(op.result)
    if len(made) == 2 and made[0] == shape[0] and len(shape) > 1:
        nodes("Flatten", [op.input], op.results, axis=1)
        return
    zeros: dict[str, Attribute] = {"allowzero": 1} if 0 in made else {}
    nodes("Reshape", [op.input, sizes(made, "shape")], op.results, **zeros)


@exports(TransposeOp)
def transpose(nodes: Nodes, op: TransposeOp) -> None:
    """Axes in another order"""
    nodes("Transpose", [op.input], op.results, perm=list(op.permutation.get_values()))


@exports(CatOp)
def cat(nodes: Nodes, op: CatOp) -> None:
    """Tensors one after the other"""
    nodes("Concat", list(op.inputs), op.results, axis=op.dim.value.data)


@exports(BroadcastToOp)
def broadcast_to(nodes: Nodes, op: BroadcastToOp) -> None:
    """Repeated to a shape"""
    nodes("Expand", [op.input, sizes(tensor_shape(op.result), "shape")], op.results)


@exports(TileOp)
def tile(nodes: Nodes, op: TileOp) -> None:
    """Repeated along each axis"""
    nodes("Tile", [op.input, sizes(op.repeats.get_values(), "repeats")], op.results)


@exports(ReverseOp)
def reverse(nodes: Nodes, op: ReverseOp) -> None:
    """A slice with steps of -1"""
    axes = list(op.axes.get_values())
    first = np.iinfo(np.int64).min
    nodes(
        "Slice", [op.input, *_ranges([-1] * len(axes), [first] * len(axes), axes, -1)], op.results
    )


def _ranges(
    starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], *steps: int
) -> list[Given]:
    every = [sizes([*steps] * len(axes), "steps")] if steps else []
    return [sizes(starts, "starts"), sizes(ends, "ends"), sizes(axes, "axes"), *every]


@exports(SliceOp)
def slice_ranges(nodes: Nodes, op: SliceOp) -> None:
    """Ranges of the axes that it cuts"""
    offsets, lengths, strides = (each.get_values() for each in (op.offsets, op.sizes, op.strides))
    taken = list(zip(offsets, lengths, strides, strict=True))
    shape = tensor_shape(op.input)
    axes = [axis for axis, size in enumerate(shape) if taken[axis] != (0, size, 1)]
    starts = [offsets[axis] for axis in axes]
    ends = [_end(*taken[axis]) for axis in axes]
    steps = [strides[axis] for axis in axes]
    stepped: list[Given] = [sizes(steps, "steps")] if any(each != 1 for each in steps) else []
    nodes("Slice", [op.input, *_ranges(starts, ends, axes), *stepped], op.results)


def _end(offset: int, length: int, stride: int) -> int:
    """Return where a range ends: behind its last element, where it starts if it has none."""
    if not length:
        return offset
    end = offset + (length - 1) * stride + (1 if stride > 0 else -1)
    return end if end >= 0 else BEFORE_ALL


PAD_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}


@exports(PadOp)
def pad(nodes: Nodes, op: PadOp) -> None:
    """Elements put around"""
    pads = sizes([*op.low.get_values(), *op.high.get_values()], "pads")
    inputs: list[Given] = [op.input, pads]
    if op.value is not None:
        value = op.value.value.data
        inputs.append(Figures("value", np.asarray(value, dtype_name(element_type(op.input)))))
    nodes("Pad", inputs, op.results, mode=PAD_MODES[op.mode.data])


@exports(TriOp)
def tri(nodes: Nodes, op: TriOp) -> None:
    """The upper or the lower triangle of matrices"""
    diagonal = Figures("k", np.asarray(op.diagonal.value.data, np.int64))
    nodes("Trilu", [op.input, diagonal], op.results, upper=int(bool(op.upper.value.data)))


@exports(IotaOp)
def iota(nodes: Nodes, op: IotaOp) -> None:
    """Positions, written out"""
    type = tensor_type(op.result)
    shape, axis = type.get_shape(), op.axis.value.data
    led = [size if a == axis % len(shape) else 1 for a, size in enumerate(shape)]
    if is_open(led):
        line = _line_of_open_size(nodes, led, type.element_type)
    else:
        if not is_open(shape) and prod(shape) > MAX_CONSTANT:
            raise Refusal(f"cannot be written as ONNX with more than {MAX_CONSTANT} elements")
        row = np.arange(shape[axis], dtype=dtype_name(type.element_type))
        line = nodes.constant(row.reshape(led))
    nodes("Expand", [line, sizes(shape, "shape")], op.results)


def _line_of_open_size(nodes: Nodes, shape: Sequence[int], element: Type) -> ExportedValue:
    """Return positions along the axis of a shape that has another size than 1."""
    count = nodes("Squeeze", [sizes([prod(shape)], "count")], TensorType(i64, []))
    first, step = Figures("start", np.asarray(0)), Figures("delta", np.asarray(1))
    row = nodes("Range", [first, count, step], TensorType(i64, [prod(shape)]))
    number = ONNX_DTYPES[dtype_name(element)]
    cast = nodes("Cast", [row], TensorType(element, [prod(shape)]), to=number)
    return nodes("Reshape", [cast, sizes(shape, "shape")], TensorType(element, shape))


LINEAR: dict[str, Attribute] = {
    "mode": "linear",
    "coordinate_transformation_mode": "half_pixel",
}
RESAMPLING: dict[str, dict[str, Attribute]] = {
    "nearest": {
        "mode": "nearest",
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    },
    "nearest_exact": {
        "mode": "nearest",
        "coordinate_transformation_mode": "half_pixel",
        "nearest_mode": "round_prefer_ceil",
    },
    "linear": LINEAR,
    "bilinear": LINEAR,
    "bicubic": {
        "mode": "cubic",
        "coordinate_transformation_mode": "half_pixel",
        "cubic_coeff_a": -0.75,
    },
}
"""How Resize says what a mode of resampling means."""


@exports(InterpolateOp)
def interpolate(nodes: Nodes, op: InterpolateOp) -> None:
    """Resize, by scales where they are given, else by sizes"""
    how = dict(RESAMPLING[op.mode.data])
    if op.align_corners is not None:
        how["coordinate_transformation_mode"] = "align_corners"
    if op.scales is None:
        target: list[Given] = [None, sizes(tensor_shape(op.result), "sizes")]
    else:
        scales = np.array([1, 1, *op.scales.get_values()], np.float32)
        target = [Figures("scales", scales)]
    nodes("Resize", [op.input, None, *target], op.results, **how)


@exports(GridSampleOp)
def grid_sample(nodes: Nodes, op: GridSampleOp) -> None:
    """Images at positions of a grid"""
    mode = {"bilinear": "linear", "nearest": "nearest"}[op.mode.data]
    corners = int(op.align_corners is not None)
    how: dict[str, Attribute] = {"mode": mode, "padding_mode": op.padding_mode.data}
    nodes("GridSample", [op.input, op.grid], op.results, **how, align_corners=corners)


# Gathering and scattering.


@exports(GatherOp)
def gather(nodes: Nodes, op: GatherOp) -> None:
    """Slices along an axis"""
    nodes("Gather", [op.input, op.indices], op.results, axis=op.axis.value.data)


@exports(GatherElementsOp)
def gather_elements(nodes: Nodes, op: GatherElementsOp) -> None:
    """Elements along an axis"""
    nodes("GatherElements", [op.input, op.indices], op.results, axis=op.axis.value.data)


@exports(GatherNdOp)
def gather_nd(nodes: Nodes, op: GatherNdOp) -> None:
    """Slices at positions"""
    batch = op.batch_dims.value.data
    nodes("GatherND", [op.input, op.indices], op.results, batch_dims=batch)


@exports(ScatterElementsOp)
def scatter_elements(nodes: Nodes, op: ScatterElementsOp) -> None:
    """Elements put along an axis"""
    given = [op.input, op.indices, op.updates]
    axis, how = op.axis.value.data, op.reduction.data
    nodes("ScatterElements", given, op.results, axis=axis, reduction=how)


@exports(ScatterNdOp)
def scatter_nd(nodes: Nodes, op: ScatterNdOp) -> None:
    """Slices put to positions"""
    given = [op.input, op.indices, op.updates]
    nodes("ScatterND", given, op.results, reduction=op.reduction.data)
