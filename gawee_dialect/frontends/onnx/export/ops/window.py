"""Convolutions and poolings."""

from collections.abc import Sequence

from gawee_dialect.dialect.graph.conv import ConvOp, ConvTransposeOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AdMaxPoolOp, AvgPoolOp, MaxPoolOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.onnx.export.registry import Attribute, Nodes, exports
from gawee_dialect.frontends.op_mapping.registry import Refusal


def _window(op: ConvOp | ConvTransposeOp) -> dict[str, Attribute]:
    return {
        "kernel_shape": list(tensor_shape(op.weight)[2:]),
        "strides": list(op.strides.get_values()),
        "pads": list(op.padding.get_values()),
        "dilations": list(op.dilations.get_values()),
        "group": op.groups.value.data,
    }


@exports(ConvOp)
def conv(nodes: Nodes, op: ConvOp) -> None:
    """A convolution"""
    nodes("Conv", [op.input, op.weight, op.bias], op.results, **_window(op))


@exports(ConvTransposeOp)
def conv_transpose(nodes: Nodes, op: ConvTransposeOp) -> None:
    """A transposed convolution"""
    outside = list(op.output_padding.get_values())
    window = {**_window(op), "output_padding": outside}
    nodes("ConvTranspose", [op.input, op.weight, op.bias], op.results, **window)


def _pool(op: MaxPoolOp | AvgPoolOp) -> dict[str, Attribute]:
    return {
        "kernel_shape": list(op.kernel.get_values()),
        "strides": list(op.strides.get_values()),
        "pads": list(op.padding.get_values()),
        "ceil_mode": int(bool(op.ceil_mode.value.data)),
    }


@exports(MaxPoolOp)
def max_pool(nodes: Nodes, op: MaxPoolOp) -> None:
    """The maximum of each window"""
    dilations = list(op.dilations.get_values())
    nodes("MaxPool", [op.input], op.results, **_pool(op), dilations=dilations)


@exports(AvgPoolOp)
def avg_pool(nodes: Nodes, op: AvgPoolOp) -> None:
    """The mean of each window"""
    include = int(bool(op.count_include_pad.value.data))
    nodes("AveragePool", [op.input], op.results, **_pool(op), count_include_pad=include)


@exports(AdAvgPoolOp)
def ad_avg_pool(nodes: Nodes, op: AdAvgPoolOp) -> None:
    """The mean of windows of one size; ONNX has no others"""
    _adaptive(nodes, op, "AveragePool", "GlobalAveragePool")


@exports(AdMaxPoolOp)
def ad_max_pool(nodes: Nodes, op: AdMaxPoolOp) -> None:
    """The maximum of windows of one size; ONNX has no others"""
    _adaptive(nodes, op, "MaxPool", "GlobalMaxPool")


def _adaptive(nodes: Nodes, op: AdAvgPoolOp | AdMaxPoolOp, name: str, whole: str) -> None:
    sizes, wanted = tensor_shape(op.input)[2:], op.output_size.get_values()
    if all(each == 1 for each in wanted):
        nodes(whole, [op.input], op.results)
        return
    window = _even_windows(sizes, wanted)
    nodes(name, [op.input], op.results, kernel_shape=window, strides=window)


def _even_windows(sizes: Sequence[int], wanted: Sequence[int]) -> list[int]:
    if any(size % each for size, each in zip(sizes, wanted, strict=True)):
        raise Refusal(
            f"cannot be written as ONNX because its windows, {list(sizes)} to {list(wanted)}, "
            "differ in size"
        )
    return [size // each for size, each in zip(sizes, wanted, strict=True)]
