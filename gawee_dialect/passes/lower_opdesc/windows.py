"""Convolutions and pools: padding of descriptions is [top, left, bottom, right], as ours is."""

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from gawee_dialect.dialect.arrangement import TransposeOp
from gawee_dialect.dialect.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.pool import AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.shape import CatOp, ReshapeOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.passes.lower_opdesc.site import Meaning, NoMeaning, Site


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
