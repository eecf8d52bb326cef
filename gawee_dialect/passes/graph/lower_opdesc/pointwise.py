"""Activations, arithmetic and normalization."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.activation import LeakyReluOp, SigmoidOp
from gawee_dialect.dialect.graph.along_axis import SoftmaxOp
from gawee_dialect.dialect.graph.arithmetic import MaximumOp, MinimumOp, PowOp
from gawee_dialect.dialect.graph.arrangement import BroadcastToOp, TransposeOp
from gawee_dialect.dialect.graph.cast import CastOp
from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.elementary import RsqrtOp
from gawee_dialect.dialect.graph.elementwise import AddOp, BinaryOp, DivOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.graph.pool import AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.graph.reduction import ReduceSumOp
from gawee_dialect.dialect.graph.shape import CatOp, ReshapeOp
from gawee_dialect.dialect.types import element_type, tensor_shape
from gawee_dialect.passes.graph.lower_opdesc.site import Meaning, NoMeaning, Site

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
    """Return channels first, less their mean: in f32, and then in the dtype of the result."""
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
