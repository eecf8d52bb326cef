"""Boxes of detectors: YOLOv3's layers and SqueezeDet's differences to anchors."""

from collections.abc import Mapping, Sequence
from math import e

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import ClipOp, SigmoidOp
from gawee_dialect.dialect.graph.arrangement import BroadcastToOp
from gawee_dialect.dialect.graph.comparison import CompareOp, WhereOp
from gawee_dialect.dialect.graph.elementary import ExpOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.shape import CatOp, ReshapeOp
from gawee_dialect.dialect.graph.slicing import SliceOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.graph.lower_opdesc.site import Meaning, Site


def _part(site: Site, value: SSAValue, axis: int, start: int, count: int) -> SSAValue:
    sizes = list(tensor_shape(value))
    offsets = [0] * len(sizes)
    offsets[axis], sizes[axis] = start, count
    return site.add(SliceOp(value, offsets=offsets, sizes=sizes))


def _scaled(site: Site, value: SSAValue, by: Sequence[float], axis: int) -> SSAValue:
    """Return a tensor times one number for each index of an axis."""
    shape = tensor_shape(value)
    thin = [len(by) if index == axis else 1 for index in range(len(shape))]
    factors = site.add(BroadcastToOp(site.constant(by, thin, f32), shape=shape))
    return site.add(MulOp(value, factors))


def _detect_yolov3(site: Site) -> Sequence[SSAValue]:
    """Return centers (sigmoid(t) + cell) * cell size, sizes exp(t) * anchor, corners, and scores.

    exp(t) is kept between 1e-9 and 50, as the operator does.
    """
    anchors = site.shape("anchors")[0]
    _, channels, height, width = site.shape("feature")
    each = channels // anchors
    cells = site.add(ReshapeOp(site.input("feature"), shape=[1, anchors, each, height, width]))
    place = site.add(SigmoidOp(_part(site, cells, 2, 0, 2)))
    columns = [float(column) for _ in range(height) for column in range(width)]
    rows = [float(row) for row in range(height) for _ in range(width)]
    grid = site.constant(columns + rows, [1, 1, 2, height, width], f32)
    moved = site.add(AddOp(place, site.add(BroadcastToOp(grid, shape=tensor_shape(place)))))
    cell = [site.integer("img_width") / width, site.integer("img_height") / height]
    centers = _scaled(site, moved, cell, axis=2)
    grown = site.add(ClipOp(site.add(ExpOp(_part(site, cells, 2, 2, 2))), min=1e-9, max=50.0))
    known = site.add(ReshapeOp(site.input("anchors"), shape=[1, anchors, 2, 1, 1]))
    sizes = site.add(MulOp(grown, site.add(BroadcastToOp(known, shape=tensor_shape(grown)))))
    half = _scaled(site, sizes, [0.5, 0.5], axis=2)
    corners = [site.add(SubOp(centers, half)), site.add(AddOp(centers, half))]
    boxes = site.add(CatOp(corners, dim=2))
    scores = [site.add(SigmoidOp(_part(site, cells, 2, *at))) for at in ((4, 1), (5, each - 5))]
    return [centers, sizes, boxes, *scores]


def _transform_bbox(site: Site) -> Sequence[SSAValue]:
    """Return corners inside of the picture: anchor center + delta * size, size * exp(delta).

    Above 1, exp(delta) goes on as a line, delta * e.
    """
    last = len(site.shape("src_delta")) - 1
    names = ("src_delta", "src_anchor")
    halves = [[_part(site, site.input(name), last, at, 2) for at in (0, 2)] for name in names]
    (moves, grows), (centers, sizes) = halves
    picture = site.integer("img_width"), site.integer("img_height")
    scale = [picture[0] / site.integer("width"), picture[1] / site.integer("height")]
    shifts = [site.integer("x_shift"), site.integer("y_shift")]
    shift = site.constant(shifts, [*[1] * last, 2], f32)
    center = site.add(AddOp(centers, site.add(MulOp(moves, sizes))))
    center = _scaled(site, center, scale, last)
    center = site.add(AddOp(center, site.add(BroadcastToOp(shift, shape=tensor_shape(center)))))
    ones = site.constant([1.0], tensor_shape(grows), f32)
    small = site.add(CompareOp(grows, ones, predicate="lt"))
    line = _scaled(site, grows, [e, e], last)
    size = site.add(MulOp(sizes, site.add(WhereOp(small, site.add(ExpOp(grows)), line))))
    half = _scaled(site, size, [each / 2 for each in scale], last)
    corners = [site.add(SubOp(center, half)), site.add(AddOp(center, half))]
    inside = [_inside(site, corner, picture, last) for corner in corners]
    return [site.add(CatOp(inside, dim=last))]


def _inside(site: Site, corner: SSAValue, picture: tuple[int, int], axis: int) -> SSAValue:
    """Return corners, x and y, moved to the nearest pixel of a picture."""
    parts = [
        site.add(ClipOp(_part(site, corner, axis, index, 1), min=0.0, max=float(size - 1)))
        for index, size in enumerate(picture)
    ]
    return site.add(CatOp(parts, dim=axis))


DETECTION: Mapping[str, Meaning] = {
    "detect_yolov3": _detect_yolov3,
    "transform_bboxSQD": _transform_bbox,
}
