"""How each op becomes a node: the table `WRITERS`, the reverse of `READERS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import floor

from xdsl.ir import Operation, SSAValue

from gawee_dialect.dialect.graph.conv import ConvOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, ReluOp, SubOp
from gawee_dialect.dialect.graph.matmul import MatMulOp
from gawee_dialect.dialect.graph.movement import CatOp, FlattenOp, IdentityOp
from gawee_dialect.dialect.graph.normalization import BatchNormOp
from gawee_dialect.dialect.graph.pool import AdAvgPoolOp, AvgPoolOp, MaxPoolOp, WindowPoolOp
from gawee_dialect.dialect.graph.python_value import GetAttrOp, GetItemOp
from gawee_dialect.dialect.graph.resize import InterpolateOp
from gawee_dialect.dialect.types import tensor_shape
from gawee_dialect.frontends.gawee_json.ops import same_padding
from gawee_dialect.frontends.gawee_json.schema import own_ops
from gawee_dialect.frontends.op_mapping.registry import Refusal


@dataclass(frozen=True)
class NodeText:
    """What a node says of an op: its op_type, inputs, attributes, and weights by their key."""

    op_type: str
    inputs: Sequence[SSAValue]
    attributes: dict[str, object] = field(default_factory=dict[str, object])
    weights: dict[str, SSAValue | None] = field(default_factory=dict[str, SSAValue | None])


def _symmetric_padding(padding: Sequence[int]) -> list[int]:
    top, left, bottom, right = padding
    if (top, left) != (bottom, right):
        raise Refusal(f"cannot be written as JSON because padding {list(padding)} is not symmetric")
    return [top, left]


def _conv_padding(op: ConvOp, kernel: Sequence[int]) -> list[int] | str:
    padding, strides = op.padding.get_values(), op.strides.get_values()
    same = same_padding(kernel, op.dilations.get_values())
    if padding[:2] != padding[2:] and padding == same and strides == (1, 1):
        return "same"
    return _symmetric_padding(padding)


def _write_conv(op: ConvOp) -> NodeText:
    features, _, *kernel = tensor_shape(op.weight)
    attributes: dict[str, object] = {
        "out_channels": features,
        "kernel_size": kernel,
        "stride": list(op.strides.get_values()),
        "padding": _conv_padding(op, kernel),
        "dilation": list(op.dilations.get_values()),
        "groups": op.groups.value.data,
    }
    return NodeText("Conv", [op.input], attributes, {"weight": op.weight, "bias": op.bias})


def _write_matmul(op: MatMulOp) -> NodeText:
    out_features, in_features = tensor_shape(op.weight)
    attributes: dict[str, object] = {"in_features": in_features, "out_features": out_features}
    return NodeText("MatMul", [op.input], attributes, {"weight": op.weight, "bias": op.bias})


def _write_batch_norm(op: BatchNormOp) -> NodeText:
    if (op.scale is None) != (op.bias is None):
        raise Refusal("cannot be written as JSON because it has only one of scale and bias")
    attributes: dict[str, object] = {
        "num_features": tensor_shape(op.mean)[0],
        "eps": op.eps.value.data,
        "affine": op.scale is not None,
        "track_running_stats": True,
    }
    # In the order in which the reader makes their arguments.
    weights = {
        "running_mean": op.mean,
        "running_var": op.variance,
        "weight": op.scale,
        "bias": op.bias,
    }
    return NodeText("BatchNormalization", [op.input], attributes, weights)


def _window(op: MaxPoolOp | AvgPoolOp) -> dict[str, object]:
    return {
        "kernel_size": list(op.kernel.get_values()),
        "stride": list(op.strides.get_values()),
        "padding": _symmetric_padding(op.padding.get_values()),
        "ceil_mode": bool(op.ceil_mode.value.data),
    }


def _write_max_pool(op: MaxPoolOp) -> NodeText:
    dilation = {"dilation": list(op.dilations.get_values())}
    return NodeText("MaxPool", [op.input], _window(op) | dilation)


def _write_avg_pool(op: AvgPoolOp) -> NodeText:
    include = {"count_include_pad": bool(op.count_include_pad.value.data)}
    return NodeText("AvgPool", [op.input], _window(op) | include)


def _write_ad_avg_pool(op: AdAvgPoolOp) -> NodeText:
    return NodeText("AdAvgPool", [op.input], {"output_size": list(op.output_size.get_values())})


def _write_flatten(op: FlattenOp) -> NodeText:
    start_dim, end_dim = op.start_dim.value.data, op.end_dim.value.data
    return NodeText("flatten", [op.input], {"start_dim": start_dim, "end_dim": end_dim})


def _write_cat(op: CatOp) -> NodeText:
    return NodeText("cat", op.inputs, {"dim": op.dim.value.data})


def _write_interpolate(op: InterpolateOp) -> NodeText:
    if op.float_positions is not None:
        raise Refusal("cannot be written as JSON because it has float_positions")
    attributes: dict[str, object] = {"mode": op.mode.data.replace("_", "-")}
    if op.align_corners is not None:
        attributes["align_corners"] = True
    size = op.size.get_values()
    if op.scales is None:
        attributes["size"] = list(size)
    else:
        scales = op.scales.get_values()
        spatial = tensor_shape(op.input)[2:]
        scaled = tuple(floor(own * scale) for own, scale in zip(spatial, scales, strict=True))
        if scaled != size:
            raise Refusal(
                f"cannot be written as JSON because scales {list(scales)} give size "
                f"{list(scaled)}, not {list(size)}"
            )
        attributes["scale_factor"] = list(scales)
    return NodeText("interpolate", [op.input, *op.size_from], attributes)


def _write_getattr(op: GetAttrOp) -> NodeText:
    return NodeText("getattr", [op.input], {"name": op.attribute.data})


def _write_getitem(op: GetItemOp) -> NodeText:
    return NodeText("getitem", [op.input], {"index": op.index.data})


def _plain(op_type: str) -> Callable[[Operation], NodeText]:
    """Return the writer of an op that has nothing but operands."""
    return lambda op: NodeText(op_type, op.operands)


WRITERS: dict[type[Operation], Callable[..., NodeText]] = {
    ConvOp: _write_conv,
    MatMulOp: _write_matmul,
    BatchNormOp: _write_batch_norm,
    ReluOp: _plain("Relu"),
    MaxPoolOp: _write_max_pool,
    AvgPoolOp: _write_avg_pool,
    AdAvgPoolOp: _write_ad_avg_pool,
    IdentityOp: _plain("Identity"),
    AddOp: _plain("Add"),
    SubOp: _plain("Sub"),
    MulOp: _plain("Mul"),
    FlattenOp: _write_flatten,
    CatOp: _write_cat,
    InterpolateOp: _write_interpolate,
    GetAttrOp: _write_getattr,
    GetItemOp: _write_getitem,
}
"""Functions of one op of the key's class."""


def write_op(op: Operation) -> NodeText:
    """Say an op as a node; raises Refusal where JSON cannot say it."""
    if isinstance(op, ConvOp | WindowPoolOp | AdAvgPoolOp | InterpolateOp):
        rank = len(tensor_shape(op.input))
        if rank != 4:
            raise Refusal(f"cannot be written as JSON because its input has rank {rank}, not 4")
    own = {each.op: each.write for each in own_ops().values()}
    writers = {**WRITERS, **own}
    writer = writers.get(type(op))
    if writer is None:
        raise Refusal(
            "cannot be written as JSON; supported: "
            + ", ".join(f"'{supported.name}'" for supported in writers)
        )
    return writer(op)
