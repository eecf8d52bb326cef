"""What each shipped operator is in gawee ops."""

from collections.abc import Callable, Mapping, Sequence
from math import e, prod
from random import Random
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue

from gawee_dialect.dialect.dense import dense_of
from gawee_dialect.dialect.graph.activation import ClipOp, LeakyReluOp, SigmoidOp
from gawee_dialect.dialect.graph.arithmetic import ExpOp, MaximumOp, MinimumOp, PowOp, RsqrtOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.constant import ConstantOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementwise import AddOp, BinaryOp, DivOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.logic import CompareOp, WhereOp
from gawee_dialect.dialect.graph.movement import BroadcastToOp, CatOp, ReshapeOp, TransposeOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.graph.order import SortOp
from gawee_dialect.dialect.graph.pool import AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp, ReduceMaxOp, ReduceSumOp, SoftmaxOp
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.graph.slicing import PadOp, SliceOp
from gawee_dialect.dialect.types import (
    DTYPE_NAMES,
    AnyTensor,
    element_type,
    tensor_shape,
    tensor_type,
)
from gawee_dialect.opdesc.described_op import DescribedOp

# One described op while it is lowered: its operands and parameters, and the ops made for it.


MAX_CONSTANT = 16_000_000
"""Of a constant in the module; larger tensors come from a file."""


class NoMeaning(Exception):
    """Why this use of an operator is no gawee op."""


class Site:
    """A described op and what is made in its place."""

    def __init__(self, op: DescribedOp) -> None:
        self.op = op
        self.params = op.checked().params
        self.made: list[Operation] = []

    def input(self, arg_name: str) -> SSAValue:
        """Return the operand of an argument."""
        return self.op.input(arg_name)

    def shape(self, arg_name: str) -> tuple[int, ...]:
        """Return the shape of an argument's operand."""
        return tensor_type(self.input(arg_name)).get_shape()

    def result_type(self, index: int = 0) -> AnyTensor:
        """Return the type of a result."""
        return tensor_type(self.op.results[index])

    def add(self, op: Operation) -> SSAValue:
        """Add an op; returns its first result."""
        self.made.append(op)
        return op.results[0]

    def constant(
        self, values: Sequence[float], shape: Sequence[int], element: Attribute
    ) -> SSAValue:
        """Add a constant; one value is that of every element."""
        # NumPy is imported only where data is made.
        import numpy as np

        count = prod(shape)
        if count > MAX_CONSTANT:
            raise NoMeaning(f"expected a constant of at most {MAX_CONSTANT} elements, got {count}")
        if element not in DTYPE_NAMES:
            raise NoMeaning(f"expected a supported element type, got '{element}'")
        array = np.array(values, np.float64)
        array = np.broadcast_to(array, shape) if len(values) == 1 else array.reshape(shape)
        return self.add(ConstantOp(dense_of(array, TensorType(element, shape))))

    def integer(self, name: str) -> int:
        """Return the value of a parameter that is an int."""
        value = self.params[name]
        assert isinstance(value, int)
        return value

    def number(self, name: str) -> float:
        """Return the value of a parameter that is a number."""
        value = self.params[name]
        assert isinstance(value, int | float)
        return float(value)

    def text(self, name: str) -> str:
        """Return the value of a parameter that is a string."""
        value = self.params[name]
        assert isinstance(value, str)
        return value

    def integers(self, name: str) -> list[int]:
        """Return the elements of a parameter that is an array of int."""
        return [int(each) for each in self.numbers(name)]

    def numbers(self, name: str) -> list[float]:
        """Return the elements of a parameter that is an array of numbers."""
        value = self.params[name]
        assert isinstance(value, tuple)
        return [each for each in value if isinstance(each, int | float)]


Meaning: TypeAlias = Callable[[Site], Sequence[SSAValue]]


def _reshape(site: Site) -> Sequence[SSAValue]:
    return [site.add(ReshapeOp(site.input("src"), shape=site.integers("dims")))]


def _transpose(site: Site) -> Sequence[SSAValue]:
    return [site.add(TransposeOp(site.input("src"), permutation=site.integers("axes")))]


def _slice(site: Site) -> Sequence[SSAValue]:
    sizes = list(site.shape("src"))
    offsets = [0] * len(sizes)
    axis = site.integer("axis")
    offsets[axis], sizes[axis] = site.integer("start"), site.integer("len")
    return [site.add(SliceOp(site.input("src"), offsets=offsets, sizes=sizes))]


def _concat(site: Site) -> Sequence[SSAValue]:
    return [site.add(CatOp([site.input("src1"), site.input("src2")], dim=site.integer("axis")))]


def _resize(site: Site) -> Sequence[SSAValue]:
    """Return a resampling over the axes behind batch and channels, which keep their sizes."""
    before, after = site.shape("src"), site.result_type().get_shape()
    if len(before) not in (3, 4, 5) or before[:2] != after[:2]:
        raise NoMeaning(
            f"expected a tensor of rank 3 to 5 whose first two sizes stay, got {list(before)} "
            f"to {list(after)}"
        )
    linear = {3: "linear", 4: "bilinear", 5: "trilinear"}[len(before)]
    mode = "nearest" if site.text("mode") == "TL_NEAREST" else linear
    return [site.add(InterpolateOp(site.input("src"), size=after[2:], mode=mode))]


def _maxreduce(site: Site) -> Sequence[SSAValue]:
    axis = site.integer("axis")
    return [site.add(ReduceMaxOp(site.input("src"), axes=[axis], keep_dims=True))]


def _maxreduce_arg(site: Site) -> Sequence[SSAValue]:
    where = site.add(ArgMaxOp(site.input("src"), axis=site.integer("axis"), keep_dims=True))
    return [*_maxreduce(site), site.add(CastOp(where, i32))]


def _sorted(site: Site) -> SortOp:
    descending = site.text("dir") == "TL_SORT_DIR_DESCENDING"
    op = SortOp(site.input("src_key"), axis=0, descending=descending)
    site.add(op)
    return op


def _sort1d(site: Site) -> Sequence[SSAValue]:
    return [_sorted(site).results[0]]


def _sort1d_by_key(site: Site) -> Sequence[SSAValue]:
    keys, order = _sorted(site).results
    return [keys, site.add(GatherOp(site.input("src_val"), order, axis=0))]


def _pick1d(site: Site) -> Sequence[SSAValue]:
    stride, count = site.integer("stride"), site.integer("len")
    groups = site.shape("src")[0] // stride
    whole = SliceOp(site.input("src"), offsets=[0], sizes=[groups * stride])
    table = site.add(ReshapeOp(site.add(whole), shape=[groups, stride]))
    chosen = site.add(SliceOp(site.input("src_index"), offsets=[0], sizes=[count]))
    picked = site.add(GatherOp(table, chosen, axis=0))
    return [site.add(ReshapeOp(picked, shape=[count * stride]))]


def _ldmr(site: Site) -> Sequence[SSAValue]:
    more = site.result_type().get_shape()[1] - site.shape("src")[1]
    return [site.add(PadOp(site.input("src"), low=[0, 0], high=[0, more]))]


ARRANGEMENT: Mapping[str, Meaning] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "concat": _concat,
    "resize": _resize,
    "upsample": _resize,
    "maxreduce": _maxreduce,
    "maxreduce_arg": _maxreduce_arg,
    "sort1d": _sort1d,
    "sort1d_by_key": _sort1d_by_key,
    "pick1d": _pick1d,
    "ldmr": _ldmr,
}


# Tensors of data that a description says.

MAX_ELEMENTS = 1_000_000
"""Of a constant with data of its own; more come from a file."""


def _filled(site: Site, values: Sequence[float]) -> Sequence[SSAValue]:
    type_ = site.result_type()
    return [site.constant(values, type_.get_shape(), type_.element_type)]


def _zeros(site: Site) -> Sequence[SSAValue]:
    return _filled(site, [0])


def _create(site: Site) -> Sequence[SSAValue]:
    """Return random data where a range is given, the same in every run; else the data itself."""
    if site.params["from_file"] is True:
        raise NoMeaning(
            "expected its data in the IR, got a file; a graph has it as an argument of @main"
        )
    low, high = site.numbers("ran")
    data, count = site.numbers("data"), prod(site.result_type().get_shape())
    if low < high:
        if count > MAX_ELEMENTS:
            raise NoMeaning(f"expected at most {MAX_ELEMENTS} random elements, got {count}")
        random = Random(0)
        data = [random.uniform(low, high) for _ in range(count)]
    if len(data) != count and data != [0]:
        raise NoMeaning(f"expected data of {count} elements, got {len(data)}")
    return _filled(site, data)


def _arange(site: Site) -> Sequence[SSAValue]:
    count = site.result_type().get_shape()[0]
    if count > MAX_ELEMENTS:
        raise NoMeaning(f"expected at most {MAX_ELEMENTS} elements, got {count}")
    start, step = site.number("start"), site.number("step")
    return _filled(site, [start + step * index for index in range(count)])


CREATION: Mapping[str, Meaning] = {
    "create": _create,
    "zeros": _zeros,
    "arange": _arange,
    "rearange": _arange,
}


# Boxes of detectors: YOLOv3's layers and SqueezeDet's differences to anchors.


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


# Activations, arithmetic and normalization.


_ELEW: Mapping[str, type[BinaryOp]] = {
    "TL_MUL": MulOp,
    "TL_DIV": DivOp,
    "TL_SUM": AddOp,
    "TL_SUB": SubOp,
    "TL_MAX": MaximumOp,
    "TL_MIN": MinimumOp,
    "TL_POW": PowOp,
}


def _unary(make: type[ReluOp] | type[SigmoidOp]) -> Meaning:
    return lambda site: [site.add(make(site.input("src")))]


def _lrelu(site: Site) -> Sequence[SSAValue]:
    return [site.add(LeakyReluOp(site.input("src"), alpha=site.number("negslope")))]


def _softmax(site: Site) -> Sequence[SSAValue]:
    return [site.add(SoftmaxOp(site.input("src"), axis=site.integer("axis")))]


def _elew(site: Site) -> Sequence[SSAValue]:
    make = _ELEW[site.text("elew_op")]
    return [site.add(make(site.input("src1"), site.input("src2")))]


def _batchnorm(site: Site) -> Sequence[SSAValue]:
    names = ("src", "mean", "var", "scale", "offset")
    operands = [site.input(name) for name in names]
    return [site.add(BatchNormOp(*operands, eps=site.number("epsilon")))]


def _bn2scale(site: Site) -> Sequence[SSAValue]:
    """Return what a batch norm multiplies by and adds: scale / sqrt(var + epsilon), and so on."""
    shape = site.shape("src_var")
    epsilon = site.constant([site.number("epsilon")], shape, f32)
    deviation = site.add(RsqrtOp(site.add(AddOp(site.input("src_var"), epsilon))))
    scale = site.add(MulOp(site.input("src_scale"), deviation))
    moved = site.add(MulOp(site.input("src_mean"), scale))
    shift = site.add(SubOp(site.input("src_offset"), moved))
    return [scale, shift, site.constant([1], shape, f32)]


def _submean(site: Site) -> Sequence[SSAValue]:
    """Return channels first, less their mean: in f32, and then in the dtype that is asked for."""
    channels = site.shape("src")[2]
    if channels != 3:
        raise NoMeaning(f"expected a picture of 3 channels, got {channels}")
    value = site.add(TransposeOp(site.input("src"), permutation=[2, 0, 1]))
    value = _cast(site, value, f32)
    mean = site.constant(site.numbers("mean"), [3, 1, 1], f32)
    means = site.add(BroadcastToOp(mean, shape=tensor_shape(value)))
    return [_cast(site, site.add(SubOp(value, means)), site.result_type().element_type)]


def _cast(site: Site, value: SSAValue, element: Attribute) -> SSAValue:
    return value if element_type(value) == element else site.add(CastOp(value, element))


def _dot_product(site: Site) -> Sequence[SSAValue]:
    product = site.add(MulOp(site.input("src1"), site.input("src2")))
    return [site.add(ReshapeOp(site.add(ReduceSumOp(product)), shape=[1]))]


def _same(site: Site) -> Sequence[SSAValue]:
    return [site.input("src")]


def _nothing(site: Site) -> Sequence[SSAValue]:
    """Print nothing: what is printed is an output of the graph."""
    return []


POINTWISE: Mapping[str, Meaning] = {
    "relu": _unary(ReluOp),
    "sigmoid": _unary(SigmoidOp),
    "lrelu": _lrelu,
    "softmax": _softmax,
    "elew": _elew,
    "batchnorm": _batchnorm,
    "bn2scale_wts_cpu": _bn2scale,
    "submean": _submean,
    "dot_product": _dot_product,
    "forward": _same,
    "svmr": _same,
    "print": _nothing,
    "fprint": _nothing,
}


# Convolutions and pools: padding of descriptions is [top, left, bottom, right], as ours is.


def _conv2d(site: Site) -> Sequence[SSAValue]:
    return [
        site.add(
            ConvOp(
                site.input("src"),
                site.input("weight"),
                site.input("bias"),
                strides=site.integers("stride"),
                padding=site.integers("padding"),
                dilations=site.integers("dilation"),
                groups=site.integer("group"),
            )
        )
    ]


def _deconv2d(site: Site) -> Sequence[SSAValue]:
    return [
        site.add(
            ConvTransposeOp(
                site.input("src"),
                site.input("weight"),
                site.input("bias"),
                strides=site.integers("stride"),
                padding=site.integers("padding"),
                output_padding=site.integers("output_padding"),
                dilations=site.integers("dilation"),
                groups=site.integer("group"),
            )
        )
    ]


def _maxpool2d(site: Site) -> Sequence[SSAValue]:
    size, stride, padding = (site.integers(name) for name in ("size", "stride", "padding"))
    return [site.add(MaxPoolOp(site.input("src"), kernel=size, strides=stride, padding=padding))]


def _avgpool2d(site: Site) -> Sequence[SSAValue]:
    pool = AvgPoolOp(
        site.input("src"),
        kernel=site.integers("size"),
        strides=site.integers("stride"),
        padding=site.integers("padding"),
        count_include_pad=False,
    )
    return [site.add(pool)]


def _rows(*names: str) -> Meaning:
    """Return the convolution of rows, each [width, channel]: of a picture as high as there are."""

    def lower(site: Site) -> Sequence[SSAValue]:
        width, channels = site.shape(names[0])
        height, window = site.shape("weight")[2:]
        if height != len(names):
            raise NoMeaning(f"expected windows of height {len(names)}, got {height}x{window}")
        rows = [_row(site, name, channels, width) for name in names]
        picture = rows[0] if len(rows) == 1 else site.add(CatOp(rows, dim=2))
        left, right = site.integers("padding")
        conv = ConvOp(
            picture,
            site.input("weight"),
            site.input("bias"),
            strides=[1, site.integer("stride")],
            padding=[0, left, 0, right],
            groups=site.integer("group"),
        )
        result = site.add(conv)
        features, out_width = tensor_shape(result)[1], tensor_shape(result)[3]
        flat = site.add(ReshapeOp(result, shape=[features, out_width]))
        return [site.add(TransposeOp(flat, permutation=[1, 0]))]

    return lower


def _row(site: Site, name: str, channels: int, width: int) -> SSAValue:
    turned = site.add(TransposeOp(site.input(name), permutation=[1, 0]))
    return site.add(ReshapeOp(turned, shape=[1, channels, 1, width]))


WINDOWS: Mapping[str, Meaning] = {
    "conv2d": _conv2d,
    "deconv2d": _deconv2d,
    "maxpool2d": _maxpool2d,
    "avgpool2d": _avgpool2d,
    "conv1x1_dpu": _rows("src"),
    "conv3x3_dpu": _rows("src1", "src2", "src3"),
}
